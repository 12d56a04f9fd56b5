#!/bin/bash
# The wheel for one Python and this machine's architecture, into dist/.
#
#   bash ci/build.sh --python=3.11 [what pip wheel is to be told]
#
# In the image of ci/docker it is made to run on every Linux that the image stands for (auditwheel); elsewhere it fits this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

python=
rest=()
for argument in "$@"; do
  case $argument in
    --python=*) python=${argument#--python=} ;;
    *) rest+=("$argument") ;;
  esac
done
case $python in
  "") echo "build.sh: for which Python? Write --python=3.11" >&2 && exit 2 ;;
  */*) ;;
  *)
    tag=cp${python//./}
    if [ -x "/opt/python/$tag-$tag/bin/python" ]; then python=/opt/python/$tag-$tag/bin/python; else python=python$python; fi
    ;;
esac

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
"$python" -m pip wheel --no-deps --wheel-dir "$built" ${rest[@]+"${rest[@]}"} .
mkdir -p dist
if [ -n "${AUDITWHEEL_PLAT:-}" ]; then
  auditwheel repair --plat "$AUDITWHEEL_PLAT" --wheel-dir dist "$built"/*.whl
else
  cp "$built"/*.whl dist/
fi
