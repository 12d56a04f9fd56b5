"""Builds the wheels of the packages, once per Python and only when their sources changed.

    python tools/wheels.py build                   every package, for every Python that is found
    python tools/wheels.py build tensor            this package and what it needs
    python tools/wheels.py install autograd        for the running Python: build, then install

Wheels go to wheelhouse/; tox and the Makefile install from there. A wheel that serves every Python
(pure, or built for the stable ABI) is built by the oldest one alone. The build tools live in a
virtual environment of their own per Python under .cache/, so that nothing is downloaded twice; that
pip's ordinary isolated build works too is tested in tests/test_packaging.py.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEELHOUSE = ROOT / "wheelhouse"
CACHE = ROOT / ".cache"
PYTHONS = ("3.11", "3.12", "3.13")
BUILD_TOOLS = ("scikit-build-core>=0.11", "cython>=3.1", "ninja", "hatchling", "cmake>=3.25")

# In the order of their layers: each needs only packages above it. Compiled packages read the
# headers of `tensor`, so these count as their sources.
PACKAGES = {
    "tensor": (),
    "ops-cpu": ("tensor",),
    "autograd": ("tensor",),
    "nn": ("tensor", "autograd"),
    "train": ("tensor", "autograd", "nn"),
    "vision": ("tensor", "autograd", "nn", "train"),
    "wherry": ("tensor", "ops-cpu", "autograd", "nn", "train", "vision"),
    "web": ("tensor", "ops-cpu", "autograd", "nn", "train", "vision", "wherry"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("build", "install"))
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, []], metavar="package", help="default: all")
    arguments = parser.parse_args()
    packages = needed(arguments.packages or list(PACKAGES))
    if arguments.action == "build":
        for python in available_pythons():
            build(python, packages)
    else:
        install(build(sys.executable, packages))


def folder_of(package: str) -> Path:
    """Where its sources are."""
    return ROOT / package if package == "web" else ROOT / "packages" / package


def needed(packages: list[str]) -> list[str]:
    """The packages with what they need, lowest layer first."""
    wanted = set(packages)
    for package in packages:
        wanted.update(PACKAGES[package])
    return [package for package in PACKAGES if package in wanted]


def available_pythons() -> list[str]:
    """Interpreters of the supported versions, oldest first."""
    found = []
    for version in PYTHONS:
        probe = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"
        try:
            answer = subprocess.run([f"python{version}", "-c", probe], capture_output=True, text=True)
        except FileNotFoundError:
            continue
        if answer.returncode == 0 and answer.stdout.split("\n")[0] == version:
            found.append(answer.stdout.split("\n")[1])
    if not found:
        sys.exit(f"no Python among {', '.join(PYTHONS)} was found. Install one of them and try again.")
    return found


def build(python: str, packages: list[str]) -> list[Path]:
    """Build the wheels that `python` lacks; returns one for each package."""
    wheels = []
    for package in packages:
        digest = digest_of(package)
        wheels.append(wheel_for(python, package, digest) or build_one(python, package, digest))
    return wheels


def build_one(python: str, package: str, digest: str) -> Path:
    version = tag_of(python)
    tools = build_environment(python)
    started = time.monotonic()
    print(f"wheels: building {package} for {version} ...", flush=True)
    fresh = CACHE / "fresh-wheels" / f"{package}-{version}"
    shutil.rmtree(fresh, ignore_errors=True)
    environment = {**os.environ, "PATH": f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    # ccache then finds again what another clone of this repository has compiled.
    environment.setdefault("CCACHE_BASEDIR", str(ROOT))
    environment.setdefault("CCACHE_NOHASHDIR", "1")
    done = subprocess.run(
        [tools / "bin" / "python", "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-cache-dir",
         "--wheel-dir", fresh, folder_of(package)],
        capture_output=True, text=True, env=environment,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{done.stderr}\nwheels: {package} for {version} failed to build")
    (wheel,) = fresh.glob("*.whl")
    WHEELHOUSE.mkdir(exist_ok=True)
    for entry, text in records():
        if text["package"] == package and serves(text["wheel"], version):
            (WHEELHOUSE / text["wheel"]).unlink(missing_ok=True)
            entry.unlink()
    shutil.move(wheel, WHEELHOUSE / wheel.name)
    record = {"package": package, "wheel": wheel.name, "digest": digest}
    (WHEELHOUSE / f"{wheel.name}.json").write_text(json.dumps(record))
    size = (WHEELHOUSE / wheel.name).stat().st_size / 1e6
    print(f"wheels: {wheel.name}, {size:.1f} MB, {time.monotonic() - started:.0f} s", flush=True)
    return WHEELHOUSE / wheel.name


def install(wheels: list[Path]) -> None:
    """Install wheels into the running Python, and what they depend on."""
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    # First ours without an index, so that no package of the same name from elsewhere can win; then
    # whatever third parties they declare. The version stays while sources change: always reinstall.
    subprocess.run([*pip, "--no-index", "--no-deps", "--force-reinstall", *wheels], check=True)
    subprocess.run([*pip, *wheels], check=True)


def build_environment(python: str) -> Path:
    """A virtual environment with the build tools, made when it is first needed."""
    path = CACHE / f"build-{tag_of(python)}"
    done = path / "ready"
    if not (done.exists() and done.read_text() == repr(BUILD_TOOLS)):
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run([python, "-m", "venv", path], check=True)
        subprocess.run([path / "bin" / "python", "-m", "pip", "install", "-qq", *BUILD_TOOLS], check=True)
        done.write_text(repr(BUILD_TOOLS))
    return path


def wheel_for(python: str, package: str, digest: str) -> Path | None:
    """The wheel of these very sources that `python` can install."""
    for _, record in records():
        path = WHEELHOUSE / record["wheel"]
        if (record["package"], record["digest"]) == (package, digest) and serves(record["wheel"], tag_of(python)):
            if path.exists():
                return path
    return None


def records() -> list[tuple[Path, dict[str, str]]]:
    """What is in the wheelhouse: a file beside each wheel says what it was built from."""
    return [(entry, json.loads(entry.read_text())) for entry in sorted(WHEELHOUSE.glob("*.whl.json"))]


def serves(wheel: str, tag: str) -> bool:
    """Whether a wheel of this name installs in the Python of this tag."""
    python, abi, _ = wheel.removesuffix(".whl").split("-")[-3:]
    return tag == python or python == "py3" or abi == "abi3"


def tag_of(python: str) -> str:
    """`cp311` and the like."""
    if python == sys.executable:
        return f"cp{sys.version_info.major}{sys.version_info.minor}"
    if python not in _tags:
        probe = "import sys; print('cp%d%d' % sys.version_info[:2])"
        _tags[python] = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=True).stdout.strip()
    return _tags[python]


_tags: dict[str, str] = {}


def digest_of(package: str) -> str:
    """Digest of everything that goes into a package's wheel."""
    folder = folder_of(package)
    files = {path for path in folder.rglob("*") if path.is_file() and is_source(path.relative_to(folder))}
    if compiled(folder):
        tensor = ROOT / "packages" / "tensor" / "src"
        files.update(path for path in tensor.rglob("*") if path.suffix in (".h", ".pxd"))
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_source(path: Path) -> bool:
    """Whether a file of a package's folder counts: neither what was built nor its tests."""
    derived = path.suffix in (".so", ".pyc") or "_vendored" in path.parts or "__pycache__" in path.parts
    return not derived and path.parts[0] not in ("build", "tests")


def compiled(folder: Path) -> bool:
    """Whether a package has anything to compile."""
    backend = tomllib.loads((folder / "pyproject.toml").read_text())["build-system"]["requires"]
    return any(requirement.startswith("scikit-build-core") for requirement in backend)


if __name__ == "__main__":
    main()
