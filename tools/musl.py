"""Wheels for Linux with musl (Alpine) on x86-64, compiled and tested here: tensor, autograd, ops-cpu.

    python tools/musl.py                    build into wheelhouse/musl/, then the conformance kit and the suites of the three
    python tools/musl.py --kit softmax      build, then what of the kit has this in its name
    python tools/musl.py --build            build alone

This machine's gcc compiles against Debian's musl (tools/debian.py), for Python 3.11; everything else of a wheel is that of glibc's. No registry has a
Python that runs on musl, so one is compiled from Debian's source, once, for the tests.
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
from wheels import CACHE

TRIPLET = "x86_64-linux-musl"
# Debian's libstdc++ asks for glibc's version. What kernels take of it is in headers alone, which want nothing else of the C library.
NOT_GLIBC = "-D__GLIBC_PREREQ(a,b)=0"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="store_true", help="test nothing")
    parser.add_argument("--kit", metavar="EXPRESSION", help="of the tests only these of the conformance kit, as pytest's -k")
    parser.add_argument("--isas", default="all", help="instruction sets of the kernels, as WHERRY_ISAS (default: all)")
    arguments = parser.parse_args()
    root = debian.musl()
    system = System("musl", (f"-DCMAKE_C_COMPILER={compiler(root, 'gcc')}", f"-DCMAKE_CXX_COMPILER={compiler(root, 'g++')}"), TRIPLET, "linux_x86_64",
                    (CACHE / "musl-python" / "usr" / "bin" / "python3.11",), ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"))
    made = system.wheels(arguments.isas)
    if arguments.build:
        return 0
    python(root)
    return system.test(made, arguments.kit)


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


def python(root: Path) -> None:
    """CPython 3.11 for musl, in .cache/musl-python."""
    home = CACHE / "musl-python"
    if home.exists():
        return
    source = debian.source("3.11")
    print("musl: compiling Python 3.11 ...", flush=True)
    environment = {**os.environ, "CC": str(compiler(root, "gcc")), "READELF": "/usr/bin/readelf", "AR": "ar", "RANLIB": "ranlib", "CFLAGS": "-O1 -g0"}
    for command in (
        ["./configure", "-q", "--build=x86_64-linux-gnu", f"--host={TRIPLET}", f"--with-build-python={sys.executable}", "--prefix=/usr",
         "--disable-test-modules", "--without-ensurepip", "--disable-ipv6", "ac_cv_file__dev_ptmx=yes", "ac_cv_file__dev_ptc=no"],
        ["make", "-s", f"-j{os.cpu_count()}"],
        ["make", "-s", "install", f"DESTDIR={home.with_name('fresh-musl-python')}"],
    ):
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}\nmusl: Python failed to build")
    home.with_name("fresh-musl-python").rename(home)


if __name__ == "__main__":
    sys.exit(main())
