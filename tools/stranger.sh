#!/bin/bash
# Plays the stranger: from dist/ (make release) through an upload to a local index into empty environments, for every Python that is here.
#
#     bash tools/stranger.sh             all of it
#     bash tools/stranger.sh 3.12        one Python
#     bash tools/stranger.sh arm64       wheelhouse/arm64 (tools/arm64.py --build), which goes to the index too, run by qemu
#     bash tools/stranger.sh browser     wheelhouse/wasm and wasm-314 (tools/wasm/build.py): micropip in Node and Chromium, by Python 3.11 with wherry[web] and playwright
#
# It uploads with twine to a pypiserver on this machine. Whatever is not ours comes from the index that pip is set up for.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dist=$root/dist
work=$(mktemp -d)
tools=$root/.cache/release/bin
pythons=${*:-3.11 3.12 3.13 3.14 arm64 browser}
# Under pyenv a Python answers by its name only when its version is selected, as in the Makefile.
if command -v pyenv >/dev/null; then
    PYENV_VERSION=$(pyenv versions --bare | grep -E '^3\.(11|12|13|14)\.[0-9]+$' | sort -V | paste -sd:)
    export PYENV_VERSION
fi
[ -f "$dist/SHA256SUMS" ] || { echo "stranger: dist/ has no SHA256SUMS. Type  make release  first."; exit 2; }
(cd "$dist" && sha256sum --quiet --check SHA256SUMS)

mkdir "$work/index"
"$tools/pypi-server" run --interface 127.0.0.1 --port 0 --authenticate . --passwords . "$work/index" >"$work/index.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 50); do  # the port is the system's choice
    port=$("$tools/python" - "$server" <<'FIND' || true
import sys
listening = {row.split()[9]: int(row.split()[1].split(":")[1], 16) for row in open("/proc/net/tcp").readlines()[1:] if row.split()[3] == "0A"}
import os
for name in os.listdir(f"/proc/{sys.argv[1]}/fd"):
    inode = os.readlink(f"/proc/{sys.argv[1]}/fd/{name}").removeprefix("socket:[").rstrip("]")
    if inode in listening:
        print(listening[inode])
FIND
    )
    [ -n "$port" ] && break
    sleep 0.2
done
[ -n "$port" ] || { cat "$work/index.log"; echo "stranger: the index does not answer"; exit 1; }
address=http://127.0.0.1:$port
upload() { TWINE_USERNAME=a TWINE_PASSWORD=a "$tools/twine" upload --non-interactive --disable-progress-bar --repository-url "$address/" "$@"; }
upload "$dist"/*.whl "$dist"/*.tar.gz >"$work/upload.log" 2>&1 || { cat "$work/upload.log"; exit 1; }
echo "stranger: uploaded $(ls "$work/index" | wc -l) files to a local index"

failed=0
try() {  # NAME COMMAND...
    local name=$1 started=$SECONDS
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "stranger: $name: yes, $((SECONDS - started)) s"
    else
        cat "$work/said"
        echo "stranger: $name: NO"
        failed=1
    fi
}
environment() { rm -rf "$work/env" && "$1" -m venv "$work/env"; }
install() { "$work/env/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: --extra-index-url "$address/simple/" "$@"; }
trains='import wherry as paddle; x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False); (x @ x.T).sum().backward(); print(x.grad.tolist())'
adds='import wherry_tensor as w; print((w.to_tensor([1.0]) + w.to_tensor([2.0])).tolist())'
all() { install wherry && "$work/env/bin/python" -c "$trains" | grep -q 2.0 && "$work/env/bin/wherry" doctor; }
few() { install wherry-tensor wherry-ops-cpu && "$work/env/bin/python" -c "$adds" | grep -q 3.0; }
pages() { install "wherry[web]" && "$work/env/bin/python" -m wherry serve --help | grep -q -- --models; }
kit() { install pytest hypothesis && "$work/env/bin/python" -m pytest -q -x --pyargs wherry_tensor.testing -k "softmax or add"; }
alone() { install wherry-cuda-emulator && "$work/env/bin/python" -c "import wherry_cuda_emulator"; }
with_uv() { uv venv -q --python "$1" "$work/env" --clear && uv pip install -q --python "$work/env/bin/python" --index-strategy unsafe-best-match --extra-index-url "$address/simple/" wherry && "$work/env/bin/python" -c "$trains"; }

# Of what is compiled for arm64 there are tensor, autograd and the kernels. pip runs here and installs for the other machine.
arm64_python() { PYTHONPATH=$work/arm64 PYTHONDONTWRITEBYTECODE=1 "$qemu" -L "$system" "$system/usr/bin/python3.11" "$@"; }
arm64() {
    local platform platforms=()
    for platform in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014; do platforms+=(--platform "${platform}_aarch64"); done
    qemu=$(python3.11 "$root/tools/debian.py" qemu) && system=$(python3.11 "$root/tools/debian.py" arm64) && upload "$root"/wheelhouse/arm64/*.whl &&
        install --target "$work/arm64" "${platforms[@]}" --python-version 3.11 wherry-tensor wherry-ops-cpu wherry-autograd pytest hypothesis &&
        arm64_python -c "import platform; print(platform.machine())" | grep -q aarch64 && arm64_python -c "$adds" | grep -q 3.0 &&
        arm64_python -m pytest -q -p no:cacheprovider --pyargs wherry_tensor.testing -k "kernel and softmax"
}
browser() { install "wherry[web]" pytest playwright && "$work/env/bin/python" -m pytest -q -rs -p no:cacheprovider "$root/tests/browser/test_micropip.py"; }
beside() {  # NAME FOLDER: with wheels that dist/ has not
    if compgen -G "$root/wheelhouse/$2/wherry_tensor-*.whl" >/dev/null; then
        environment python3.11 && try "$1" "$1"
    else
        echo "stranger: wheelhouse/$2 has no wheels, so $1 is not tried"
    fi
}

for version in $pythons; do
    case $version in
        arm64) beside arm64 arm64 && continue ;;
        browser) beside browser wasm && continue ;;
    esac
    python=$(command -v "python$version" || true)
    if [ -z "$python" ] || ! "$python" -c "" 2>/dev/null; then
        echo "stranger: Python $version is not here"
        continue
    fi
    environment "$python" && try "$version: pip install wherry-tensor wherry-ops-cpu" few
    try "$version: the conformance kit of the installed package" kit
    environment "$python" && try "$version: pip install wherry" all
    try "$version: pip install \"wherry[web]\"" pages
    environment "$python" && try "$version: pip install wherry-cuda-emulator" alone
    if command -v uv >/dev/null; then
        try "$version: uv pip install wherry" with_uv "$python"
    fi
done
exit $failed
