"""Side-by-side speed: `python benchmarks/run.py core --torch PYTHON --paddle PYTHON`.

Every framework lives in a process of its own (its thread pool would disturb the others) and all are
asked for the same case in turn, several rounds long; the table has the median of each framework and
the ratio of ours to theirs. Absolute times depend on the machine, ratios much less.

`python benchmarks/run.py limit` prints what the machine can do at most, measured by loops that do nothing else. Where a case file says
what its cases cannot do without (`work`), their rows have "of the limit": the least time that takes, by ours; the limit is measured in turn
with the frameworks, and the best of the rounds counts.

With `--memory` the table has the peak memory of each case beyond what the import needs, each case and
framework in a fresh process.
"""
from __future__ import annotations

import argparse
import datetime
import importlib
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
# What users get: every framework chooses its own number of threads.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS") and k != "FLAGS_paddle_num_threads"}


class Worker:
    def __init__(self, framework: str, python: str, module: str) -> None:
        self.process = subprocess.Popen([python, str(HERE / "worker.py"), module, framework], cwd=HERE, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
        line = self.process.stdout.readline()
        self.cases = line.rstrip("\n").split("\t") if line.strip() else []
        if not line:
            raise SystemExit(f"the {framework} worker did not start; see its message above")

    def time(self, case: str, seconds: float) -> float:
        # The threads of the one measured before still spin for up to 200 ms, waiting for more work.
        time.sleep(0.3)
        self.process.stdin.write(f"{seconds}\t{case}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=30)


def in_a_fresh_process(what: str, framework: str, python: str, module: str, case: str) -> float:
    """`--memory`: bytes of the peak; `--first`: seconds of the first call."""
    command = [python, str(HERE / "worker.py"), module, framework, what, case]
    done = subprocess.run(command, cwd=HERE, text=True, check=True, stdout=subprocess.PIPE, env=ENVIRONMENT)
    return float(done.stdout.splitlines()[-1])


def human(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def megabytes(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


def limits_of(threads: int | None, seconds: float = 0.2):
    """What this machine can do at most, by so many threads (by those that Wherry takes by itself)."""
    import wherry
    from wherry_ops_cpu import limits

    return limits.measure(threads or wherry.get_num_threads(), seconds)


def print_limits(threads: int | None) -> None:
    """The table of `run.py limit`, for one thread and for all."""
    import wherry

    both = [limits_of(1), limits_of(threads)]
    x = wherry.ones([1])
    calls, found = 20000, []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            x + x
        found.append((time.perf_counter() - start) / calls)
    print(f"{platform.machine()}, {both[0].isa} kernels, Python {platform.python_version()}, {datetime.date.today()}\n")
    print("| what | " + " | ".join(f"{one.threads} thread{'s' * (one.threads > 1)}" for one in both) + " |")
    print("|---|---|---|")
    for dtype in both[0].multiply_adds:
        print(f"| multiply-adds of {dtype}, 10^9 a second | " + " | ".join(f"{one.multiply_adds[dtype] / 1e9:.1f}" for one in both) + " |")
    for what in both[0].bandwidth:
        print(f"| {what}, GB a second | " + " | ".join(f"{one.bandwidth[what] / 1e9:.1f}" for one in both) + " |")
    print("| waking the threads | " + " | ".join(human(one.waking) for one in both) + " |")
    print(f"| an empty call: `x + x` of [1] | {human(min(found))} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", help="the cases: NAME of a file cases_NAME.py beside this one; limit: what the machine can do at most")
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--paddle", help="a Python that has real Paddle")
    parser.add_argument("--numpy", default=sys.executable, help="a Python that has NumPy")
    parser.add_argument("--onnx", help="of graph and quant: a Python that has PyTorch and ONNX Runtime (of quant: ONNX Runtime alone)")
    parser.add_argument("--before", metavar="PYTHON", help="a Python with another version of Wherry, for a column of its own")
    parser.add_argument("--threads", type=int, help="of every framework; without it each takes what it takes by itself")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="for each case, framework and round")
    parser.add_argument("--only", default="", help="a regular expression that cases must match")
    parser.add_argument("--memory", action="store_true", help="peak memory in place of time")
    parser.add_argument("--first", action="store_true", help="time of the first call in a process of its own, in place of later ones")
    options = parser.parse_args()
    if options.module == "limit":
        return print_limits(options.threads)

    pythons = {"wherry": sys.executable, "torch": options.torch, "paddle": options.paddle, "numpy": options.numpy, "onnx": options.onnx}
    pythons["before"] = options.before
    if options.threads:
        ENVIRONMENT.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "FLAGS_paddle_num_threads"), str(options.threads)))
    if options.module == "predictor":
        pythons |= {"oneDNN": options.paddle}
    if options.module == "extension":
        pythons |= {"built-in": sys.executable}
    if options.module == "graph":  # the same library without passes, and without a program
        pythons |= {"plan": sys.executable, "eager": sys.executable}
    if options.module == "quant":
        pythons |= {"float": sys.executable}
    if options.module in ("static", "attention"):
        pythons |= {"eager": sys.executable}
    workers = {name: Worker(name, python, f"cases_{options.module}") for name, python in pythons.items() if python}
    work_of = getattr(importlib.import_module(f"cases_{options.module}"), "work", None)
    limits = bool(work_of) and not (options.memory or options.first)
    peers = [name for name, worker in workers.items() if name != "wherry" and worker.cases]
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
          f"{datetime.date.today()}; median of {options.rounds} interleaved rounds\n")
    print("| case | wherry |" + " of the limit |" * limits + "".join(f" {p} | ratio |" for p in peers))
    print("|---|---|" + "---|" * limits + "---|---|" * len(peers))
    shown = megabytes if options.memory else human
    apart = "--memory" if options.memory else "--first" if options.first else ""
    for case in workers["wherry"].cases:
        if not re.search(options.only, case):
            continue
        having = [name for name, worker in workers.items() if case in worker.cases]
        found: dict[str, list[float]] = {name: [] for name in having}
        work, least = work_of(case) if limits else None, []
        for _ in range(options.rounds):
            for name in having:
                found[name].append(
                    in_a_fresh_process(apart, name, pythons[name], f"cases_{options.module}", case) if apart
                    else workers[name].time(case, options.seconds)
                )
            if work:  # the best that the host lets through in this minute: neighbours take half of a core and give it back
                least.append(limits_of(options.threads, 0.02).seconds(**work))
        middle = {name: statistics.median(found[name]) for name in having}
        row = [case, shown(middle["wherry"])]
        if limits:
            row.append(f"{min(least) / middle['wherry']:.0%}".replace("%", " %") if least else "")
        for peer in peers:
            row += [shown(middle[peer]), f"{middle['wherry'] / middle[peer]:.2f}"] if peer in middle else ["", ""]
        print("| " + " | ".join(row) + " |", flush=True)
    for worker in workers.values():
        worker.close()


if __name__ == "__main__":
    main()
