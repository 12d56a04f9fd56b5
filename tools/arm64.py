"""Wheels for Linux on arm64, compiled here with clang and tested by qemu: tensor, autograd, ops-cpu.

    python tools/arm64.py                    build into wheelhouse/arm64/, then the conformance kit and the suites of the three
    python tools/arm64.py --kit softmax      build, then what of the kit has this in its name
    python tools/arm64.py --build            build alone

The libraries are compiled against Debian's arm64 (tools/debian.py), for Python 3.11; everything else of a wheel is that of x86-64.
Needed: clang 19, lld 19 and llvm-strip.
"""
from __future__ import annotations

import argparse
import sys

import debian
from cross import System
from package_table import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="store_true", help="test nothing")
    parser.add_argument("--kit", metavar="EXPRESSION", help="of the tests only these of the conformance kit, as pytest's -k")
    arguments = parser.parse_args()
    root = debian.arm64()
    options = (f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'tools' / 'arm64.cmake'}", f"-DPython_INCLUDE_DIR={root / 'usr' / 'include' / 'python3.11'}")
    system = System("arm64", options, "aarch64-linux-gnu", "linux_aarch64", (debian.qemu(), "-L", root, root / "usr" / "bin" / "python3.11"),
                    ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
                    f"clang-19 --target=aarch64-linux-gnu --sysroot={root} -fuse-ld=lld")
    made = system.wheels()
    return 0 if arguments.build else system.test(made, arguments.kit)


if __name__ == "__main__":
    sys.exit(main())
