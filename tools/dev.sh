#!/bin/bash
# Build the compiled parts of one package in place, for work on it: bash tools/dev.sh tensor|ops-cpu|autograd|program|extension
# Uses the interpreter $PYTHON, else the link build/dev/venv/bin/python, else the active one.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
package=$1
python=${PYTHON:-$( [ -x "$root/build/dev/venv/bin/python" ] && echo "$root/build/dev/venv/bin/python" || command -v python)}
build=$root/build/dev/$package
import=wherry_${package//-/_}
mkdir -p "$build"
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1   # what one clone has compiled serves the others
(
  flock 9   # one build of a package at a time
  cmake -S "$root/packages/$package" -B "$build" -G Ninja -DPython_EXECUTABLE="$python" -DCMAKE_BUILD_TYPE=Release "${@:2}" >"$build/configure.log" \
    || { cat "$build/configure.log"; exit 1; }
  cmake --build "$build" -j "${JOBS:-2}" | tail -n 5
  (cd "$build" && find . -maxdepth 2 -name '*.so' \( -path './*.so' -not -path './*/*' -o -path './lib/*.so' -o -path './run/*.so' \)) | while read -r so; do
    # A running process keeps the old file: replace by rename, never write into it.
    to=$root/packages/$package/src/$import/$(dirname "$so")
    mkdir -p "$to"
    cp "$build/$so" "$to/.$(basename "$so").new"
    mv -f "$to/.$(basename "$so").new" "$to/$(basename "$so")"
  done
) 9>"$build/.lock"
