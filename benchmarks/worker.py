"""One framework in one process: answers requests to time a case.

Reads lines `<seconds>\t<case>` and prints the seconds of one call, the best estimate from as many calls
as fit into the given time. `run.py` talks to several workers in turn, so that they meet the same
machine in the same minute while only one of them works.

    worker.py cases_train wherry --memory CASE

prints instead the bytes of memory that a few calls of one case need beyond those after the import, and --first the seconds of its
first call (of a case that builds what it calls: of the call after the building).
"""
from __future__ import annotations

import importlib
import sys
import time


def calls_of_a_batch(function, shortest: float) -> int:
    """How many calls take longer than so many seconds, after a first one."""
    function()
    calls = 1
    while seconds_in_a_batch(function, calls) * calls <= shortest:
        calls *= 2
    return calls


def seconds_in_a_batch(function, calls: int) -> float:
    """Seconds of one of so many calls, one after the other."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def measure(function, seconds: float) -> float:
    """Seconds of one call: the median of batches that each last long enough for the clock."""
    calls, clock = calls_of_a_batch(function, min(0.002, seconds / 5)), time.perf_counter
    batches, end = [], clock() + seconds
    while clock() < end or len(batches) < 3:
        batches.append(seconds_in_a_batch(function, calls))
    return sorted(batches)[len(batches) // 2]


def resident(field: str) -> int:
    """Bytes of this process that lie in memory: now (VmRSS), or at most since it began (VmHWM)."""
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith(field)]
    return int(line.split()[1]) * 1024


def peak_memory(function) -> int:
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")  # forgets the peak of the import
    before = resident("VmRSS")
    for _ in range(5):
        function()
    return resident("VmHWM") - before


def first_call(case) -> float:
    function = case.build() if getattr(case, "build", None) else case
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    module, framework = sys.argv[1:3]
    cases = importlib.import_module(module).make("wherry" if framework == "before" else framework)
    if sys.argv[3:4] == ["--memory"]:
        print(peak_memory(cases[sys.argv[4]]) if sys.argv[4] in cases else "")
        return
    if sys.argv[3:4] == ["--first"]:
        print(first_call(cases[sys.argv[4]]))
        return
    print("\t".join(cases), flush=True)
    for line in sys.stdin:
        seconds, case = line.rstrip("\n").split("\t")
        print(repr(measure(cases[case], float(seconds))), flush=True)


if __name__ == "__main__":
    main()
