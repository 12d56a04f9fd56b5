"""What takes the time of building from source: processor seconds of each file that is compiled.

    python benchmarks/compile_times.py                    all compiled packages, kernels for the baseline and for this processor
    python benchmarks/compile_times.py ops-cpu --isas native

It builds into a folder of its own, one file after the other and without ccache. Seconds of the processor, not of the clock: a busy machine
moves them by a tenth, not by a factor. Half of the sum is what two cores that do nothing else need at least.
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from package_table import packages  # noqa: E402
from wheels import build_environment  # noqa: E402

LAUNCHER = """#!{python}
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
out = sys.argv[sys.argv.index("-o") + 1]
open({log!r}, "a").write(f"{{used.ru_utime + used.ru_stime:.2f}} {{used.ru_maxrss // 1024}} {{out}}\\n")
sys.exit(status)
"""


def main() -> None:
    compiled = [name for name, package in packages().items() if package.compiled]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=compiled, metavar="package", help=f"of {', '.join(compiled)}")
    parser.add_argument("--isas", default="here", choices=("here", "native", "all"), help="instruction sets of the kernels")
    parser.add_argument("--most", type=int, default=12, help="how many files are shown")
    arguments = parser.parse_args()
    if unknown := set(arguments.packages) - set(compiled):
        parser.error(f"{', '.join(sorted(unknown))}: nothing of it is compiled. Expected some of {', '.join(compiled)}")
    rows = []
    for name in arguments.packages:
        rows += [(seconds, memory, name, file) for seconds, memory, file in measured(name, arguments.isas)]
    totals: Counter[str] = Counter()
    for seconds, _, name, file in rows:
        isa = re.search(r"kernels_(\w+)\.dir", file)
        totals[f"{name}, {isa[1]}" if isa else name] += seconds
    print("| package | processor seconds |\n|---|---|")
    for name, seconds in totals.most_common():
        print(f"| {name} | {seconds:.0f} |")
    print(f"| together | {sum(totals.values()):.0f} |\n")
    print("| file | processor seconds | MB |\n|---|---|---|")
    for seconds, memory, name, file in sorted(rows, reverse=True)[:arguments.most]:
        print(f"| {name}: {re.sub(r'CMakeFiles/|.dir(/csrc)?|.o$', '', file)} | {seconds:.1f} | {memory} |")


def measured(name: str, isas: str) -> list[tuple[float, int, str]]:
    """Seconds, megabytes and name of each object file of a package, built anew."""
    tools = build_environment(sys.executable) / "bin"
    with tempfile.TemporaryDirectory() as folder:
        log, launcher = Path(folder, "log"), Path(folder, "launcher")
        launcher.write_text(LAUNCHER.format(python=sys.executable, log=str(log)))
        launcher.chmod(0o755)
        configure = [tools / "cmake", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", f"-DPython_EXECUTABLE={tools / 'python'}",
                     f"-DCCACHE={launcher}", f"-DWHERRY_ISAS={isas}", "-S", packages()[name].folder, "-B", Path(folder, "build")]
        for command in (configure, [tools / "ninja", "-j1", "-C", Path(folder, "build")]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{done.stdout}{done.stderr}\ncompile_times: {name} failed to build")
        lines = [line.split(" ", 2) for line in log.read_text().splitlines()]
    return [(float(seconds), int(memory), file) for seconds, memory, file in lines]


if __name__ == "__main__":
    main()
