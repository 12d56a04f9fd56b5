"""What `import wherry` costs: seconds of a cold import, resident memory after it, bytes of the wheels.

    python benchmarks/footprint.py [WHEELHOUSE]

Each import runs in a process of its own; the interpreter's start is measured and taken off. Bytecode
is there before, as pip leaves it after installing.
"""
from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RSS = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        measure()


def measure() -> None:
    seconds("import wherry")  # writes the bytecode
    bare, full = [], []
    for _ in range(11):
        bare.append(seconds("pass"))
        full.append(seconds("import wherry"))
    print(f"import wherry: {statistics.median(full) - statistics.median(bare):.3f} s beyond the interpreter")
    for code in ("pass", "import wherry", "import wherry as w; w.rand([64, 64]) @ w.rand([64, 64])"):
        kib = int(subprocess.run([sys.executable, "-c", f"{code}\n{RSS}"], check=True, capture_output=True, text=True).stdout)
        print(f"resident after `{code}`: {kib / 1024:.1f} MB")
    wheels = sorted(Path(sys.argv[1] if len(sys.argv) > 1 else "wheelhouse").glob("*.whl"))
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    ours = [w for w in wheels if tag in w.name or "abi3" in w.name or "py3-none" in w.name]
    for wheel in ours:
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    print(f"together: {sum(w.stat().st_size for w in ours) / 1e6:.2f} MB")


main()
