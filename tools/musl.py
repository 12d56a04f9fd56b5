"""Wheels for Linux with musl (Alpine) on x86-64, compiled here: tensor, autograd, ops-cpu, into wheelhouse/musl/.

    python tools/musl.py
    python tools/musl.py --isas baseline     kernels for one instruction set alone

This machine's gcc compiles against Debian's musl (tools/debian.py), for Python 3.11; all else of a wheel is that of glibc's. They are not run: no
registry has a Python for musl.
"""
from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import debian
from cross import System

TRIPLET = "x86_64-linux-musl"
# Debian's libstdc++ asks for glibc's version. What kernels take of it is in headers alone, which want nothing else of the C library.
NOT_GLIBC = "-D__GLIBC_PREREQ(a,b)=0"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--isas", default="all", help="instruction sets of the kernels, as WHERRY_ISAS (default: all)")
    arguments = parser.parse_args()
    root = debian.musl()
    system = System("musl", (f"-DCMAKE_C_COMPILER={compiler(root, 'gcc')}", f"-DCMAKE_CXX_COMPILER={compiler(root, 'g++')}"), TRIPLET, "linux_x86_64",
                    (), ())
    system.wheels(arguments.isas)
    return 0


def compiler(root: Path, name: str) -> Path:
    """A program like gcc or g++ for musl."""
    libraries = root / "usr" / "lib" / TRIPLET
    specs = root / f"{name}.specs"
    text = (libraries / "musl-gcc.specs").read_text()
    for folder in (libraries, root / "usr" / "include" / TRIPLET):
        text = text.replace(f"/{folder.relative_to(root)}", str(folder))
    text = text.replace("-dynamic-linker /lib", f"-dynamic-linker {root}/lib")  # programs run here as well
    specs.write_text(text)
    own = [NOT_GLIBC] if name == "g++" else []
    if name == "g++":  # its own headers, which the specs leave out
        said = subprocess.run(["g++", "-E", "-v", "-x", "c++", os.devnull], check=True, capture_output=True, text=True).stderr
        own += [option for folder in re.findall(r"^ (/.*/c\+\+/\d+)$", said, re.MULTILINE) for option in ("-isystem", folder)]
    program = root / f"musl-{name}"
    program.write_text(f'#!/bin/sh\nexec {name} "$@" {shlex.join(own)} -specs {specs}\n')
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    sys.exit(main())
