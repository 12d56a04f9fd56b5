#!/usr/bin/env bash
# Everything that needs a GPU, in one command: builds the kernels for it, runs the conformance kit on it, compares training with the cpu's,
# looks at memory with compute-sanitizer where that is, and times Wherry beside PyTorch where that is installed.
#
#   benchmarks/gpu.sh                     all of it; run it again to go on where it stopped
#   benchmarks/gpu.sh --minutes 7         starts nothing new after seven minutes; exit status 75 says that there is more to do
#   benchmarks/gpu.sh --emulate           the same steps at small sizes on the emulator: no GPU, times that mean nothing
#   benchmarks/gpu.sh --only time-matmul  one part, also when it is done
#   benchmarks/gpu.sh --list              the parts
#
# Nothing is fetched. PYTHON is a Python that imports wherry, wherry_ops_cuda, wherry_tensor's kit and pytest (default: build/dev/venv/bin/python where a
# checkout has one, else python3); nvcc of CUDA 13 has to be there. No part takes eight minutes: one that does is ended and counts as failed.
# Results: gpu-results/results.md and results.json (--out FOLDER), and what each part said in FOLDER/PART.log.
set -u
cd "$(dirname "$0")/.."
python=${PYTHON:-$([ -x build/dev/venv/bin/python ] && echo build/dev/venv/bin/python || echo python3)}
out=gpu-results minutes=0 only="" emulate=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2; shift ;;
    --minutes) minutes=$2; shift ;;
    --only) only=$2; shift ;;
    --emulate) emulate=(--emulate) ;;
    --list) exec "$python" benchmarks/gpu.py parts ;;
    *) echo "gpu.sh: unknown option '$1'; see the top of $0" >&2; exit 2 ;;
  esac
  shift
done
mkdir -p "$out"
failed=0 more=0
for part in ${only:-$("$python" benchmarks/gpu.py parts)}; do
  [ -z "$only" ] && [ -f "$out/$part.done" ] && continue
  if [ "$minutes" -gt 0 ] && [ $SECONDS -ge $((minutes * 60)) ]; then more=1; break; fi
  begun=$SECONDS
  if timeout -k 10 470 "$python" benchmarks/gpu.py run "$part" --out "$out" "${emulate[@]}" >"$out/$part.log" 2>&1; then
    echo "$part: done, $((SECONDS - begun)) s"
  else
    echo "$part: failed after $((SECONDS - begun)) s, see $out/$part.log"
    tail -n 3 "$out/$part.log"
    failed=1
  fi
done
"$python" benchmarks/gpu.py table --out "$out"
[ $more = 1 ] && exit 75
exit $failed
