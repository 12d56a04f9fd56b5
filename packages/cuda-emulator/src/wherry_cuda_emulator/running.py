"""Programs in CUDA C++, built for the emulator and run: what the command `cuda-emulator` and the pytest plug-in share."""
from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from wherry_cuda_emulator.building import compile
from wherry_cuda_emulator.control import Measure, measures

__all__ = ["Ended", "build", "run", "table"]

_SAYS = "cuda emulator: "


class Ended(NamedTuple):
    """How a program has ended.

    Attributes:
        status: its exit status; 1 if it was 0 and the emulator found something.
        output: what it printed.
        errors: what it wrote to its error output, the emulator's words included.
        report: the emulator's words alone; the empty text if it found nothing.
        measured: what kernels asked of memory, where that was asked for.
    """

    status: int
    output: str
    errors: str
    report: str
    measured: list[Measure]


def build(
    sources: Iterable[str | os.PathLike[str]], *, mode: str = "checked", include_dirs: Iterable[str | os.PathLike[str]] = (),
    define: Mapping[str, object] | None = None,
) -> Path:
    """Compile a program into the user's cache, `$XDG_CACHE_HOME/cuda-emulator` or `~/.cache/cuda-emulator`; what did not change is kept.

    Args:
        sources: `.cu`, `.cc` and `.cpp` files, one of which has a `main`.
        mode, include_dirs, define: as of `compile`.

    Returns:
        The program.

    Raises:
        FileNotFoundError: a source, a compiler or CUDA's headers are not there.
        RuntimeError: the compiler refused, or a source uses what is not emulated.
    """
    files = [Path(source).absolute() for source in sources]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"wherry_cuda_emulator: no such file. Got {str(file)!r}, expected a .cu, .cc or .cpp source.")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cuda-emulator"
    folders = [Path(folder).absolute() for folder in include_dirs]
    named = hashlib.sha256("\0".join([mode, *map(str, files), *map(str, folders), repr(sorted((define or {}).items()))]).encode()).hexdigest()[:16]
    return compile(files, cache / f"{files[0].stem}-{named}", mode=mode, include_dirs=folders, define=define, program=True)


def run(
    program: str | os.PathLike[str], arguments: Iterable[str] = (), *, order: str | int = "forward", eager: bool = False, measure: bool = False,
    timeout: float | None = None,
) -> Ended:
    """Run a program that `build` has made.

    Args:
        program: its path.
        arguments: what its `main` gets.
        order: "forward", "reverse", or a seed: the order of blocks, warps and lanes.
        eager: streams run at once, and not when somebody waits.
        measure: count what kernels ask of memory; a program of the checked build.
        timeout: seconds after which it is killed; None is never.

    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder) / "measured"
        environment = {**os.environ, "CUDA_EMULATOR_PROGRAM": "1", "CUDA_EMULATOR_ORDER": str(order)}
        if eager:
            environment["CUDA_EMULATOR_STREAMS"] = "eager"
        if measure:
            environment["CUDA_EMULATOR_MEASURE"] = str(counted)
        done = subprocess.run([os.fspath(program), *arguments], env=environment, capture_output=True, text=True, errors="replace", timeout=timeout)
        found = measures(counted.read_text()) if counted.is_file() else []
    report = "\n".join(line.removeprefix(_SAYS) for line in done.stderr.splitlines() if line.startswith(_SAYS))
    return Ended(done.returncode, done.stdout, done.stderr, report, found)


def table(found: list[Measure]) -> str:
    """What was measured, a line for each kernel: how far its accesses are coalesced, and the passes that conflicts of banks cost."""
    head = ("kernel", "launches", "threads", "loads", "coalesced", "stores", "coalesced", "atomics", "shared passes", "without conflicts")
    rows = [head]
    for one in found:
        part = [_share(traffic.least, traffic.sectors) for traffic in (one.loads, one.stores)]
        rows.append((one.kernel, f"{one.launches}", f"{one.threads}", f"{one.loads.requests}", part[0], f"{one.stores.requests}", part[1],
                     f"{one.atomics.requests}", f"{one.shared_passes}", f"{one.shared_least}"))
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]) for row in rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"
