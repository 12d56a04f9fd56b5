"""Compiles the kernels (`python -m wherry_ops_cuda build`, or `check`, which keeps nothing), and tells which of NVIDIA's libraries they use
(`libraries`).
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from wherry_ops_cuda import building


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m wherry_ops_cuda", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="compile the kernels for GPUs, or for the emulator")
    build.add_argument("--architectures", nargs="+", default=None, metavar="CC",
                       help="compute capabilities, as 90 for 9.0; names such as hopper; all; auto: those of this machine's GPUs "
                            "(default: $CUDA_ARCH_NAME, else $CMAKE_CUDA_ARCHITECTURES, else all)")
    build.add_argument("--emulate", choices=("fast", "checked"), help="for the emulator instead, with g++")
    build.add_argument("--output", type=Path, default=None, help="the library (default: where set_device('gpu') looks)")
    build.add_argument("--registers", type=Path, help="write the registers of each kernel to this file, or with --check compare with it")
    build.add_argument("--check", action="store_true", help="exit 1 when a kernel takes more registers than the file says")
    build.add_argument("--strict", action="store_true", help="refuse kernels that spill registers or use local memory (so does --check)")
    build.add_argument("--jobs", type=int, default=None, help="how many compilers run at once")
    check = commands.add_parser("check", help="whether nvcc takes the kernels: their PTX, which is thrown away, in a tenth of the time of build")
    check.add_argument("--architecture", type=int, default=90, metavar="CC", help="a compute capability, as 90 for 9.0 (default: 90)")
    check.add_argument("--jobs", type=int, default=None, help="how many compilers run at once")
    commands.add_parser("libraries", help="which of NVIDIA's libraries are found and used")
    chosen = parser.parse_args(arguments)
    if chosen.command == "libraries":
        return _libraries()
    if chosen.command == "check":
        return _check(chosen.architecture, chosen.jobs)
    output = chosen.output or building.default_path()
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        if chosen.emulate:
            building.build_for_emulator(output, chosen.emulate, chosen.jobs)
            registers: building.Registers = {}
        else:
            architectures = building.architectures_for(" ".join(chosen.architectures) if chosen.architectures else None)
            registers = building.build_for_gpus(output, architectures, chosen.jobs, strict=chosen.strict or chosen.check)
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    if chosen.registers and not chosen.emulate:
        if chosen.check:
            return _compare(registers, chosen.registers)
        chosen.registers.write_text("".join(f"{count:4d} {name}\n" for name, count in registers.items()))
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB" + (f", {len(registers)} kernels" if registers else ""))
    return 0


def _check(architecture: int, jobs: int | None) -> int:
    try:
        count = building.check_sources(architecture, jobs)
    except (FileNotFoundError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"nvcc takes {count} files for {architecture / 10:g}")
    return 0


def _libraries() -> int:
    from wherry_ops_cuda import column, libraries
    from wherry_tensor import device

    column.register()
    lines = libraries.describe()
    print("\n".join(lines) if lines else device.unavailable["gpu"])
    return 0 if lines else 1


def _compare(registers: building.Registers, file: Path) -> int:
    known = {name: int(count) for count, name in (line.split(maxsplit=1) for line in file.read_text().splitlines())}
    worse = [f"{name}: {count} registers, {known[name]} before" for name, count in registers.items() if name in known and count > known[name]]
    new = [name for name in registers if name not in known]
    for text in [*worse, *(f"{name}: not in {file}" for name in new)]:
        print(text, file=sys.stderr)
    if worse or new:
        print(f"Where that is meant, write {file} again: the same command without --check.", file=sys.stderr)
    return 1 if worse or new else 0


if __name__ == "__main__":
    sys.exit(main())
