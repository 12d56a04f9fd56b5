"""What the tools that compile wheels for another system here share (arm64.py, musl.py): everything but the libraries is that of x86-64."""
from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from package_table import ROOT, packages
from wheels import CACHE, EPOCH, WHEELHOUSE, build, build_environment, platform_tag, tagged

NAMES = ("tensor", "autograd", "ops-cpu")


@dataclasses.dataclass(frozen=True)
class System:
    """A system that libraries are compiled for.

    Args:
        name: of the folders in build/ and wheelhouse/.
        options: for CMake.
        suffix: of the names of libraries, such as "x86_64-linux-musl"; those of the stable ABI have none.
        machine: in the names of wheels, before auditwheel has looked.
        python: the interpreter, and what has to stand before it to run it here.
        platforms: the tags that pip takes wheels of others from.
        compiler: the C compiler of tests that compile for the system; that of this machine where there is none.
    """

    name: str
    options: tuple[str, ...]
    suffix: str
    machine: str
    python: tuple[str | Path, ...]
    platforms: tuple[str, ...]
    compiler: str = "cc"

    def wheels(self, isas: str = "all") -> list[Path]:
        """Build the wheels of NAMES."""
        if sys.version_info[:2] != (3, 11):
            sys.exit(f"{self.name}: the Python that these wheels are for is 3.11. Got Python {sys.version.split()[0]}; run this with python3.11.")
        made = [self.wheel_of(name, x86, isas) for name, x86 in zip(NAMES, build(sys.executable, list(NAMES)), strict=True)]
        for wheel in made:
            print(f"{self.name}: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
        return made

    def wheel_of(self, name: str, x86: Path, isas: str) -> Path:
        """The wheel of a package with libraries for this system in place of those for x86-64 with glibc."""
        tools = build_environment(sys.executable)
        self.compile(name, tools, isas)
        shelf = WHEELHOUSE / self.name
        shelf.mkdir(parents=True, exist_ok=True)
        for old in shelf.glob(f"{packages()[name].module}-*.whl"):
            old.unlink()
        unpacked = shelf / "unpacked"
        shutil.rmtree(unpacked, ignore_errors=True)
        with zipfile.ZipFile(x86) as archive:
            archive.extractall(unpacked)
        for library in list(unpacked.rglob("*.so")):
            target = library.with_name(library.name.replace("x86_64-linux-gnu", self.suffix))
            shutil.copy2(self.stripped(name, library.name.partition(".")[0]), target)
            if target != library:
                library.unlink()
        (tags,) = unpacked.glob("*.dist-info/WHEEL")
        tags.write_text(re.sub(r"manylinux\w+|linux_x86_64", self.machine, tags.read_text()))
        subprocess.run([tools / "bin" / "python", "-m", "wheel", "pack", "--dest-dir", shelf, unpacked], check=True, capture_output=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
        shutil.rmtree(unpacked)
        (fresh,) = shelf.glob(f"{packages()[name].module}-*.whl")
        return tagged(fresh, tools, "--platform-tag", platform_tag(fresh, tools))

    def compile(self, name: str, tools: Path, isas: str) -> None:
        """Compile the libraries of a package into build/<name of the system>/."""
        environment = {**os.environ, "PATH": f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}", "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
        folder = ROOT / "build" / self.name / name
        configure = ["cmake", "-G", "Ninja", "-S", packages()[name].folder, "-B", folder, f"-DPython_EXECUTABLE={tools / 'bin' / 'python'}",
                     f"-DWHERRY_ISAS={isas}", *self.options]
        for command in (configure, ["cmake", "--build", folder]):
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{done.stdout}{done.stderr}\n{self.name}: {name} failed to build")

    def stripped(self, name: str, module: str) -> Path:
        """The library of a module, without its symbols for debuggers."""
        (library,) = [path for path in (ROOT / "build" / self.name / name).glob(f"{module}*.so") if ".stripped" not in path.name]
        strip = next((tool for tool in ("llvm-strip-19", "llvm-strip") if shutil.which(tool)), None)
        if strip is None:
            sys.exit(f"{self.name}: llvm-strip is not installed. Type  apt-get install llvm-19")
        target = library.with_name(f"{module}.stripped.so")
        subprocess.run([strip, "--strip-unneeded", "-o", target, library], check=True)
        return target

    def test(self, made: list[Path], kit: str | None) -> int:
        """Run the conformance kit, or what of it has `kit` in its name, and the suites; returns the status of the first run that fails."""
        site = CACHE / f"{self.name}-site"
        shutil.rmtree(site, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", site, "--only-binary", ":all:"]
        platforms = [f"--platform={tag}" for tag in self.platforms]
        subprocess.run([*command, *platforms, "--python-version", "3.11", *made, "pytest", "hypothesis"], check=True)
        environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "CC": self.compiler}
        if "-L" in self.python:  # programs that tests start find the system's libraries, too
            environment["QEMU_LD_PREFIX"] = str(self.python[self.python.index("-L") + 1])
        if not _starts(self.python[-1], environment):
            print(f"wheels: this kernel does not start programs of {self.name} by itself, so tests that start a Python fail. Debian's "
                  f"qemu-user-binfmt makes it do so.", file=sys.stderr)
        runs = [["--pyargs", "wherry_tensor.testing", "-k", kit]] if kit else [run for name in NAMES for run in packages()[name].tests]
        pytest = [*self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        statuses = [subprocess.run([*pytest, *run], cwd=ROOT, env=environment).returncode for run in runs]
        return next((status for status in statuses if status), 0)


def _starts(python: str | Path, environment: dict[str, str]) -> bool:
    """Whether the interpreter of the system runs without an emulator before it."""
    try:
        return subprocess.run([python, "-c", ""], env=environment, capture_output=True).returncode == 0
    except OSError:  # of another machine
        return False
