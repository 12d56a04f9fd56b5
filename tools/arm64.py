"""Wheels for Linux on arm64, compiled here with clang and tested by qemu: tensor, autograd, ops-cpu.

    python tools/arm64.py                    build into wheelhouse/arm64/, then the conformance kit and the suites of the three
    python tools/arm64.py --kit softmax      build, then what of the kit has this in its name
    python tools/arm64.py --build            build alone

The libraries are compiled against Debian's arm64 (tools/debian.py), for Python 3.11; everything else of a wheel is that of x86-64.
Needed: clang 19, lld 19 and llvm-strip.
"""
from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import debian
from package_table import ROOT, packages
from wheels import CACHE, EPOCH, WHEELHOUSE, build, build_environment, platform_tag, tagged

NAMES = ("tensor", "autograd", "ops-cpu")
BUILD = ROOT / "build" / "arm64"
SHELF = WHEELHOUSE / "arm64"
FLOOR = "manylinux_2_28_aarch64"  # what pip is told that the machine takes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="store_true", help="test nothing")
    parser.add_argument("--kit", metavar="EXPRESSION", help="of the tests only these of the conformance kit, as pytest's -k")
    arguments = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        sys.exit(f"arm64: Debian's Python for arm64 is 3.11. Got Python {sys.version.split()[0]}; run this with python3.11.")
    system = debian.arm64()
    made = [wheel_of(name, x86, system) for name, x86 in zip(NAMES, build(sys.executable, list(NAMES)), strict=True)]
    for wheel in made:
        print(f"arm64: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0 if arguments.build else test(made, system, arguments.kit)


def wheel_of(name: str, x86: Path, system: Path) -> Path:
    """The wheel of a package with libraries for arm64 in place of those for x86-64."""
    tools = build_environment(sys.executable)
    compiled(name, tools, system)
    SHELF.mkdir(parents=True, exist_ok=True)
    for old in SHELF.glob(f"{packages()[name].module}-*.whl"):
        old.unlink()
    unpacked = SHELF / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with zipfile.ZipFile(x86) as archive:
        archive.extractall(unpacked)
    for library in list(unpacked.rglob("*.so")):
        shutil.copy2(stripped(name, library.name.partition(".")[0]), library.with_name(library.name.replace("x86_64-", "aarch64-")))
        if "x86_64-" in library.name:
            library.unlink()
    (tags,) = unpacked.glob("*.dist-info/WHEEL")
    tags.write_text(re.sub(r"manylinux\w+|linux_x86_64", "linux_aarch64", tags.read_text()))
    subprocess.run([tools / "bin" / "python", "-m", "wheel", "pack", "--dest-dir", SHELF, unpacked], check=True, capture_output=True,
                   env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
    shutil.rmtree(unpacked)
    (fresh,) = SHELF.glob(f"{packages()[name].module}-*.whl")
    return tagged(fresh, tools, "--platform-tag", platform_tag(fresh, tools))


def compiled(name: str, tools: Path, system: Path) -> None:
    """Compile the libraries of a package into build/arm64/."""
    environment = {**os.environ, "PATH": f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}", "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    configure = [
        "cmake", "-G", "Ninja", "-S", packages()[name].folder, "-B", BUILD / name, f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'tools' / 'arm64.cmake'}",
        f"-DPython_EXECUTABLE={tools / 'bin' / 'python'}", f"-DPython_INCLUDE_DIR={system / 'usr' / 'include' / 'python3.11'}", "-DWHERRY_ISAS=all",
    ]
    for command in (configure, ["cmake", "--build", BUILD / name]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}\narm64: {name} failed to build")


def stripped(name: str, module: str) -> Path:
    """The library of a module, without its symbols for debuggers."""
    (library,) = [path for path in BUILD.joinpath(name).glob(f"{module}*.so") if ".stripped" not in path.name]
    strip = next((tool for tool in ("llvm-strip-19", "llvm-strip") if shutil.which(tool)), None)
    if strip is None:
        sys.exit("arm64: llvm-strip is not installed. Type  apt-get install llvm-19")
    target = library.with_name(f"{module}.stripped.so")
    subprocess.run([strip, "--strip-unneeded", "-o", target, library], check=True)
    return target


def test(made: list[Path], system: Path, kit: str | None) -> int:
    """Run the tests by qemu; returns the status of the first run that fails."""
    site = CACHE / "arm64-site"
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", site, "--only-binary", ":all:"]
    platforms = [f"--platform={tag}" for tag in (FLOOR, "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")]
    subprocess.run([*command, *platforms, "--python-version", "3.11", *made, "pytest", "hypothesis"], check=True)
    python = [debian.qemu(), "-L", system, system / "usr" / "bin" / "python3.11"]
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    runs = [["--pyargs", "wherry_tensor.testing", "-k", kit]] if kit else [run for name in NAMES for run in packages()[name].tests]
    statuses = [subprocess.run([*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *run], cwd=ROOT, env=environment).returncode for run in runs]
    return next((status for status in statuses if status), 0)


if __name__ == "__main__":
    sys.exit(main())
