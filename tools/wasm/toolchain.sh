#!/usr/bin/env bash
# Puts Emscripten 3.1.69 together from Debian's packages, for machines that reach no emsdk:
#
#   tools/wasm/toolchain.sh FOLDER     makes FOLDER/env.sh; source it, and `emcc` answers
#
# The compiler itself is clang-19 of this system. Emscripten's Python scripts, headers and Binaryen come from
# Debian trixie's packages, unpacked into FOLDER and not installed; Binaryen runs with the C library it was
# built for. The wheels that come out are for tests and for serving beside this repository; wheels to
# publish are built by `pyodide build` with the official emsdk, and need no change for that.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

missing=()
for program in clang-19 wasm-ld-19 llvm-readobj-19; do command -v $program > /dev/null || missing+=($program); done
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "missing: ${missing[*]}. Install them: sudo apt-get install clang-19 lld-19 llvm-19" >&2
        exit 1
    fi
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends clang-19 lld-19 llvm-19 > /dev/null
fi

rm -rf "$folder/apt" "$folder/debs" "$folder/root"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/debs" "$folder/root" "$folder/tools/bin"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" > "$folder/apt/sources.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=-
     -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$folder/debs" && "${apt[@]}" download emscripten=3.1.69+dfsg-3 binaryen libc6 libstdc++6 libgcc-s1)
for package in binaryen libc6 libstdc++6 libgcc-s1; do
    dpkg-deb -x "$folder"/debs/${package}_*.deb "$folder/root"
done
# Without its libraries: Pyodide's main module has them, and side modules link against that.
dpkg-deb --fsys-tarfile "$folder"/debs/emscripten_*.deb | tar -x -C "$folder/root" \
    --exclude=./usr/share/emscripten/test --exclude=./usr/share/emscripten/docs \
    --exclude=./usr/share/emscripten/cache/sysroot/lib ./usr/share/emscripten

root=$folder/root
for tool in wasm-opt wasm-emscripten-finalize wasm-metadce wasm-ctor-eval; do
    printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$root/usr/lib64/ld-linux-x86-64.so.2" \
        "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/$tool" > "$folder/tools/bin/$tool"
    chmod +x "$folder/tools/bin/$tool"
done
for tool in llvm-readobj llvm-nm llvm-ar; do ln -sf /usr/bin/$tool-19 "$folder/tools/bin/$tool"; done
cat > "$folder/emscripten.config" <<CONFIG
LLVM_ROOT = '/usr/bin'
BINARYEN_ROOT = '$folder/tools'
NODE_JS = '$(command -v node)'
FROZEN_CACHE = True
LLVM_ADD_VERSION = '19'
CLANG_ADD_VERSION = '19'
CONFIG
cat > "$folder/env.sh" <<ENV
export EM_CONFIG=$folder/emscripten.config PATH=$root/usr/share/emscripten:$folder/tools/bin:\$PATH
export SKIP_EMSCRIPTEN_VERSION_CHECK=1 PYODIDE_SKIP_EMSCRIPTEN_INSTALL=1
ENV
rm -rf "$folder/apt" "$folder/debs"
. "$folder/env.sh"
emcc --version | head -1
