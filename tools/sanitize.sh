#!/usr/bin/env bash
# Builds the packages with AddressSanitizer and UndefinedBehaviorSanitizer into an environment of
# their own and runs the conformance kit (or what is given: pytest arguments, or `fuzz` and the arguments of
# tools/fuzz.py). `tox -e asan` calls it.
#
# Python itself is not instrumented, so the sanitizer is loaded in front of it; leaks are not looked
# for, because Python keeps memory until it exits. tests/test_memory.py looks for growth instead.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3.11}
environment=$root/.cache/sanitized
flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1"

if [ ! -e "$environment/ready" ]; then
    "$python" -m venv --clear "$environment"
    "$environment/bin/python" -m pip install -qq numpy onnx pytest hypothesis 'cython>=3.1' 'scikit-build-core>=0.11' ninja 'cmake>=3.25'
    touch "$environment/ready"
fi
for package in tensor ops-cpu autograd program extension; do
    echo "sanitize: building $package"
    PATH=$environment/bin:$PATH CFLAGS=$flags CXXFLAGS=$flags LDFLAGS=$flags \
        "$environment/bin/python" -m pip install -qq --no-build-isolation --no-deps --force-reinstall \
        -C build-dir="$root/build/sanitized/$package" -C install.strip=false "$root/packages/$package"
done

libraries="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
cd "$environment"   # so that tests see what is installed, not the sources
export LD_PRELOAD=$libraries ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
# -s: a finding ends the process, and what pytest has captured would be lost.
if [ "${1:-}" = fuzz ]; then
    sources=$(ls -d "$root"/packages/*/src | grep -vE '/(tensor|ops-cpu|autograd|program|extension|ops-cuda|cuda-emulator)/' | paste -sd:)
    PYTHONPATH=$sources bin/python "$root/tools/fuzz.py" "${@:2}"
elif [ $# -gt 0 ]; then
    PYTHONPATH=$(ls -d "$root"/packages/{nn,train}/src | paste -sd:) bin/python -m pytest -s -p no:cacheprovider "$@"
else
    bin/python -m pytest -s -p no:cacheprovider --pyargs wherry_tensor.testing
    bin/python -m wherry_tensor.testing.fuzz --calls "${FUZZ_CALLS:-100000}"
fi
