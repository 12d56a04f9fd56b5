"""`wherry doctor`: reports what is installed and what runs, and the commands that install what is missing."""
from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ._missing import BELOW

OPTIONAL = {"wherry-web": "pages where a model runs in the browser: `wherry serve`", "pillow": "reading and writing images"}
MODULES = {"pillow": "PIL"}
GIB = 2.0**30


def report() -> int:
    """Print the report; returns how many things are missing or broken."""
    faults: list[str] = []
    for title, lines in (("Programs", programs()), ("Packages", installed(faults)), ("Processor", processor(faults)), ("Memory", memory())):
        print(title)
        for line in lines:
            print(f"  {line}")
    print("A step of training")
    print(f"  {training_step(faults)}")
    if faults:
        print("\nTo mend it:")
        for fault in faults:
            print(f"  {fault}")
    return len(faults)


def programs() -> Iterator[str]:
    libc = " ".join(part for part in platform.libc_ver() if part)
    yield f"Python {platform.python_version()} at {sys.executable}"
    yield f"{platform.system()} {platform.release()} on {platform.machine()}{', ' + libc if libc else ''}"


def installed(faults: list[str]) -> Iterator[str]:
    """A line for each package, with its version and its folder; what is missing or too old goes to `faults`."""
    wanted = requirements()
    for project in ("wherry", *BELOW, "numpy"):
        version, place = version_of(project), place_of(project)
        if version is None:
            faults.append(f"pip install {project}")
            yield f"{project:<17} not installed: pip install {project}"
        elif project in wanted and numbers(version) < numbers(wanted[project]):
            faults.append(f"pip install --upgrade {project}")
            yield f"{project:<17} {version}, older than {wanted[project]}, which wherry needs: pip install --upgrade {project}"
        else:
            yield f"{project:<17} {version:<9} {place}"
    for project, purpose in OPTIONAL.items():
        version = version_of(project)
        said = f"{version:<9} {place_of(project)}" if version else f"not installed (for {purpose}): pip install {project}"
        yield f"{project:<17} {said}"


def requirements() -> dict[str, str]:
    """The versions that the installed wherry asks for; empty when it is run from its sources."""
    try:
        lines = importlib.metadata.requires("wherry") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {found[1]: found[2] for line in lines if (found := re.match(r"([\w-]+)\s*>=\s*([\d.]+)", line))}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def module_of(project: str) -> str:
    return MODULES.get(project, project.replace("-", "_"))


def version_of(project: str) -> str | None:
    """The version of an installed project, or of a package that is found by its path; None where there is neither."""
    try:
        return importlib.metadata.version(project)
    except importlib.metadata.PackageNotFoundError:
        pass
    try:
        return str(getattr(importlib.import_module(module_of(project)), "__version__", "without a version"))
    except ImportError:
        return None


def place_of(project: str) -> str:
    found = importlib.util.find_spec(module_of(project))
    return str(Path(found.origin).parent) if found and found.origin else ""


def processor(faults: list[str]) -> Iterator[str]:
    try:
        import wherry_ops_cpu
        from wherry_tensor import get_num_threads
    except ImportError as error:
        yield f"unknown: {error}"
        return
    chosen, supported = wherry_ops_cpu.chosen_isa(), wherry_ops_cpu.supported_isas()
    asked = os.environ.get("WHERRY_CPU_ISA")
    yield f"instruction set   {chosen}{f' (WHERRY_CPU_ISA={asked})' if asked else ''}; possible here: {', '.join(supported)}"
    may_use = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    set_by = [f"{name}={os.environ[name]}" for name in ("FLAGS_paddle_num_threads", "OMP_NUM_THREADS") if name in os.environ]
    yield (
        f"threads           {get_num_threads()} of {may_use} cores that the process may use, {os.cpu_count()} in the machine"
        f"{'; ' + ', '.join(set_by) if set_by else ''}"
    )
    yield "GPU               not supported yet"


def memory() -> Iterator[str]:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        sizes = dict(re.findall(r"(\w+):\s+(\d+) kB", meminfo.read_text()))
        yield f"machine           {int(sizes['MemTotal']) * 1024 / GIB:.1f} GiB, {int(sizes['MemAvailable']) * 1024 / GIB:.1f} GiB available"
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = Path(name).read_text().strip() if Path(name).exists() else "max"
        if limit.isdigit() and int(limit) < 1 << 60:
            yield f"limit             {int(limit) / GIB:.1f} GiB for this group of processes"
    if sys.platform != "emscripten":
        import shutil

        yield f"disk              {shutil.disk_usage(Path.cwd()).free / GIB:.1f} GiB free in the current folder"


def training_step(faults: list[str]) -> str:
    """Train `y = 2 x` for one step and report whether the numbers are right."""
    try:
        import wherry

        weight = wherry.to_tensor([[0.5]], stop_gradient=False)
        x, y = wherry.to_tensor([[1.0], [2.0]]), wherry.to_tensor([[2.0], [4.0]])
        loss = ((x @ weight - y) ** 2).mean()
        loss.backward()
        got = [round(float(loss), 4), round(float(weight.grad or 0.0), 4)]
    except Exception as error:  # any error is part of the report
        faults.append("pip install --force-reinstall wherry")
        return f"failed: {type(error).__name__}: {error}"
    if got != [5.625, -7.5]:
        faults.append("set WHERRY_CPU_ISA=baseline and try again: the kernels of this instruction set give wrong numbers here")
        return f"gave wrong numbers: loss and gradient {got}, expected [5.625, -7.5]"
    return "gives the right loss and gradient"
