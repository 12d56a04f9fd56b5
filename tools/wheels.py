"""Builds the wheels of the packages, once per Python and only when their sources changed.

    python tools/wheels.py build                   every package, for every Python that is found
    python tools/wheels.py build tensor            this package and what it needs
    python tools/wheels.py install autograd        for the running Python: build, then install
    python tools/wheels.py install --for-tests nn  with what its extra `test` asks for
    python tools/wheels.py install --native web    kernels for this processor alone, in less than half of the time (wheelhouse/native/)
    python tools/wheels.py here wherry             what `pip install .` takes: for the running Python, kernels for this processor and the baseline
    python tools/wheels.py test nn -k conv         the tests of a package, with these arguments for pytest

Wheels go to wheelhouse/; tox, the Makefile and `pip install .` install from there. A wheel that serves every Python
(pure, or built for the stable ABI) is built by the oldest one alone. Several runs at once (tox run-parallel) build one after
the other. Wheels for this processor alone have a folder, a build folder and a tag of their own, and serve where --native is
said and nowhere else. The build tools live in a virtual environment of their own per Python under .cache/, so that nothing is downloaded twice; that
pip's ordinary isolated build works too is tested in tests/test_packaging.py. Which packages there are says package_table.py.
"""
from __future__ import annotations

import argparse
import contextlib
import email.parser
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from package_table import PYTHONS, ROOT, Package, needed, packages

WHEELHOUSE = ROOT / "wheelhouse"
CACHE = ROOT / ".cache"
PINS = ROOT / "tools" / "pins"  # of tools: versions, and digests of what pip may download
PIP = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
# Packages that know of the processor, and what is told to them: wheels that go elsewhere, those for this one alone, and those for this one
# that run on others, too. CMake remembers the choice, so each has a build folder.
Options = dict[str, list[str]]
FOR_ALL = {"ops-cpu": ["--config-settings", "cmake.define.WHERRY_ISAS=all"]}
NATIVE = {"ops-cpu": ["--config-settings", "cmake.define.WHERRY_ISAS=native", "--config-settings", "build-dir=build/native-{wheel_tag}"]}
HERE = {"ops-cpu": ["--config-settings", "cmake.define.WHERRY_ISAS=here", "--config-settings", "build-dir=build/here-{wheel_tag}"]}
NATIVE_TAG = "1native"  # in the name of the wheel; no index is to see it
NO_TOOLS = 3  # the status of a run that could not get the tools it builds with
REPORT_EVERY = 20  # seconds of compiling between two lines
EPOCH = "1580601600"  # what archives say of every file's time (2020-02-02, as hatchling): the same sources make the same bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("build", "install", "here", "test"))
    parser.add_argument("packages", nargs="*", metavar="package", help="folders of packages, or tox environments of theirs; default: all")
    parser.add_argument("--native", action="store_true", help="build what compiles for several instruction sets for this processor alone")
    parser.add_argument("--for-tests", action="store_true", help="install what the extra `test` of the packages asks for, too")
    arguments, rest = parser.parse_known_intermixed_args()  # options may stand before the packages
    chosen = [package_of(name) for name in (arguments.packages[:1] if arguments.action == "test" else arguments.packages)]
    if arguments.action == "test":
        sys.exit(test(chosen[0], [*arguments.packages[1:], *rest]))
    if rest:
        parser.error(f"unknown arguments: {' '.join(rest)}")
    names = [package.name for package in chosen] or list(packages())
    if arguments.action == "build":
        for python in available_pythons():
            build(python, needed(names))
        print(f"wheels: install them with  pip install wherry --find-links {WHEELHOUSE}")
        return
    if arguments.action == "here":
        build(sys.executable, needed(names), native=True, options=HERE)
        return
    tools = [tool for package in chosen for tool in package.for_tests] if arguments.for_tests else []
    wheels = build(sys.executable, needed([*names, *tools]), arguments.native)
    install(wheels, {package.project for package in chosen} if arguments.for_tests else set())


def readme(folder: Path) -> str:
    """What stands beside wheels: pip itself says only `from versions: none` to a Python that they are not for."""
    tags = [path.name.removesuffix(".whl").split("-")[-3:] for path in sorted(folder.glob("wherry*.whl"))]
    pythons = sorted({(int(python[2]), int(python[3:])) for python, abi, _ in tags if python == abi})
    systems = sorted({system for _, _, system in tags if system != "any"})
    said = ", ".join(f"{major}.{minor}" for major, minor in pythons) or "every version from " + PYTHONS[0]
    return f"""# Wheels of Wherry

They are for CPython {said}, on {", ".join(systems) or "any system"}.

    pip install wherry --find-links {folder.name}

Where pip answers "No matching distribution found for wherry-tensor", or for another of these packages, and "from versions: none", the
version (`python --version`) or the system is another one, or Python is the free-threaded build, for which there are no wheels. Then
install one of these versions, or build from the sources: `pip install .` in a clone.
"""


def package_of(name: str) -> Package:
    """The package of this folder's name, or of a tox environment such as py311-nn."""
    bare = re.sub(r"^py\d+-", "", name)
    if bare not in packages():
        sys.exit(f"wheels: there is no package {bare}. Got {name!r}, expected one of {', '.join(packages())}.")
    return packages()[bare]


def test(package: Package, arguments: list[str]) -> int:
    """Run the tests of an installed package; returns the exit status of the first run that fails."""
    elsewhere = () if sys.version_info[:2] == tuple(map(int, PYTHONS[0].split("."))) else package.one_python
    ignored = [f"--deselect={path}" if "::" in path else f"--ignore={ROOT / path}" for path in elsewhere]
    if "-m" not in arguments:  # what takes minutes: tox -e slow
        ignored += ["-m", "not slow"]
    statuses = [
        subprocess.run([sys.executable, "-m", "pytest", *run, *ignored, *arguments], cwd=ROOT).returncode
        for run in package.tests
        if not set(run) & set(elsewhere)
    ]
    none_collected = 5  # by -k in one of several runs: fine, as long as another had something to do
    if len(statuses) > 1 and any(status == 0 for status in statuses) and arguments:
        statuses = [status for status in statuses if status != none_collected]
    return next((status for status in statuses if status), 0)


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


def build(python: str, names: list[str], native: bool = False, options: Options = NATIVE) -> list[Path]:
    """Build the wheels that `python` lacks, several at a time; returns one for each package."""
    with one_at_a_time():
        return build_missing(python, names, native, options)


@contextlib.contextmanager
def one_at_a_time(what: str = "wheels") -> Iterator[None]:
    """Waits until no other process of this checkout builds (or installs): the second one then finds what the first has built."""
    CACHE.mkdir(exist_ok=True)
    with open(CACHE / f"{what}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_missing(python: str, names: list[str], native: bool, options: Options) -> list[Path]:
    digests = {package: digest_of(package) for package in names}
    wheels = {package: wheel_for(python, package, digest, native) for package, digest in digests.items()}
    missing = [package for package, wheel in wheels.items() if wheel is None]
    if missing:
        build_environment(python)
        # Nothing needs another one's wheel to be built. Those that compile longest begin: a single large file keeps one core
        # busy while the many of the kernels fill the other.
        missing.sort(key=lambda package: (packages()[package].compiled, len(list(packages()[package].folder.glob("csrc/*")))), reverse=True)
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            wheels |= zip(missing, pool.map(lambda package: build_one(python, package, digests[package], native, options), missing))
        (WHEELHOUSE / "README.md").write_text(readme(WHEELHOUSE))
    return [wheel for wheel in wheels.values() if wheel]


def build_one(python: str, package: str, digest: str, native: bool, options: Options = NATIVE) -> Path:
    native = native and package in NATIVE
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
    environment["WHERRY_PROGRESS"] = "off"  # said below
    environment["SOURCE_DATE_EPOCH"] = EPOCH
    environment["WHERRY_DEPENDENCIES"] = "index"  # not these folders: the wheels may go anywhere
    # -v passes on what the compiler's driver says, for the count of files.
    command = [tools / "bin" / "python", "-m", "pip", "wheel", "-v", "--no-build-isolation", "--no-deps", "--no-cache-dir",
               "--wheel-dir", fresh, *(options if native else FOR_ALL).get(package, ()), packages()[package].folder]
    run_pip(command, environment, package, version)
    (wheel,) = fresh.glob("*.whl")
    if native:
        wheel = tagged(wheel, tools, "--build", NATIVE_TAG)
    elif packages()[package].compiled and sys.platform == "linux":
        wheel = tagged(wheel, tools, "--platform-tag", platform_tag(wheel, tools))
    folder = shelf(native)
    with _shelf:
        folder.mkdir(parents=True, exist_ok=True)
        for entry, text in records(folder):
            if text["package"] == package and serves(text["wheel"], version):
                (folder / text["wheel"]).unlink(missing_ok=True)
                entry.unlink()
        shutil.move(wheel, folder / wheel.name)
        record = {"package": package, "wheel": wheel.name, "digest": digest, "processor": processor() if native else ""}
        (folder / f"{wheel.name}.json").write_text(json.dumps(record))
    size = (folder / wheel.name).stat().st_size / 1e6
    print(f"wheels: {wheel.name}, {size:.1f} MB, {time.monotonic() - started:.0f} s", flush=True)
    return folder / wheel.name


def run_pip(command: list[str | Path], environment: dict[str, str], package: str, version: str) -> None:
    """Run pip, which builds; tell now and then how far it is, and all that it has said where it fails."""
    said = []
    reported = started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as process:
        for line in process.stdout or ():
            said.append(line)
            step = re.match(r"\s*\[(\d+)/(\d+)\]", line)
            if step and time.monotonic() - reported > REPORT_EVERY:
                reported = time.monotonic()
                print(f"wheels: {package}: {step[1]} of {step[2]} files after {reported - started:.0f} s", flush=True)
    if process.returncode:
        # One of ours needs nothing around it.
        reason = re.search(r"(?s)CMake Error at [^\n]*\n\s+(Wherry: .*?)\n\s*(\n|Call Stack)", "".join(said))
        raise SystemExit(" ".join(reason[1].split()) if reason else f"{''.join(said)}\nwheels: {package} for {version} failed to build")


def shelf(native: bool) -> Path:
    """Where wheels for this processor alone are kept, or all others."""
    return WHEELHOUSE / "native" if native else WHEELHOUSE


def platform_tag(wheel: Path, tools: Path) -> str:
    """Which systems it runs on: those whose C library has the symbols that it needs."""
    said = subprocess.run([tools / "bin" / "auditwheel", "show", wheel], capture_output=True, text=True, check=True).stdout
    tag = re.search(r'consistent\s+with\s+the\s+following\s+platform\s+tag:\s+"(\w+)"', said)
    if not tag:
        sys.exit(f"wheels: auditwheel names no platform tag for {wheel.name}:\n{said}")
    return tag[1]


def tagged(wheel: Path, tools: Path, *tag: str) -> Path:
    """The wheel with another tag in its name."""
    command = [tools / "bin" / "python", "-m", "wheel", "tags", "--remove", *tag, wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
    return wheel.with_name(done.stdout.split()[-1])


_shelf = threading.Lock()  # one thread at a time changes the wheelhouse


def install(wheels: list[Path], with_tests_of: set[str]) -> None:
    """Install wheels into the running Python, and what they depend on.

    Most environments of tox hold the same things. So each wheel, and each set of third parties, is unpacked and compiled once per Python, below
    .cache/installed, and gets into an environment as hard links. What is there is exactly what pip would have installed.
    """
    others = third_parties(wheels, with_tests_of)
    trees = [tree(["--no-index", "--no-deps", str(wheel)], f"{wheel.name} {digest_of_file(wheel)}") for wheel in wheels]
    found = installed_by_others()
    before = [name for name in found if name.partition("_")[0] == "wherry"]
    if before:
        subprocess.run([sys.executable, "-m", "pip", "uninstall", "-qq", "-y", *before], check=True)
    mixed = len(found) > len(before)  # what tox has installed for the commands of an environment stays as it is: pip adds what is missing
    if others and not mixed:
        trees.append(tree_of_others(others))
    put_in_place(trees)
    if others and mixed:
        subprocess.run([*PIP, *others], check=True)


def installed_by_others() -> list[str]:
    """Names of what is installed in the running Python beside its own tools, and was not linked by this program."""
    ours = set(manifest()["files"])
    found = {
        path.name.partition("-")[0]: str((path / "METADATA").relative_to(sys.prefix))
        for path in Path(sysconfig.get_path("purelib")).glob("*.dist-info")
    }
    return [name for name, place in found.items() if place not in ours and name not in ("pip", "setuptools", "wheel")]


def manifest() -> dict[str, list[str]]:
    """The trees that are in the running Python, and their files."""
    path = Path(sys.prefix) / MANIFEST
    return json.loads(path.read_text()) if path.is_file() else {"trees": [], "files": []}


def third_parties(wheels: list[Path], with_tests_of: set[str]) -> list[str]:
    """What the wheels require of others, for this Python; that they fit to each other is checked on the way."""
    from pip._vendor.packaging.requirements import Requirement
    from pip._vendor.packaging.utils import canonicalize_name

    declared, versions = {}, {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            metadata = email.parser.Parser().parsestr(archive.read(name).decode())
        project = canonicalize_name(metadata["Name"])
        declared[project] = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
        versions[project] = metadata["Version"]
    extras = {project: {"", "test"} if project in with_tests_of else {""} for project in declared}
    found: set[str] = set()
    grown = True
    while grown:  # an extra of one package may ask for an extra of another
        before = (len(found), sum(map(len, extras.values())))
        for project, requirements in declared.items():
            for wanted in requirements:
                if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in extras[project]):
                    continue
                name = canonicalize_name(wanted.name)
                if name not in declared:
                    found.add(f"{wanted.name}{'[' + ','.join(sorted(wanted.extras)) + ']' if wanted.extras else ''}{wanted.specifier}")
                    continue
                extras[name] |= wanted.extras
                if not wanted.specifier.contains(versions[name], prereleases=True):
                    sys.exit(f"wheels: {project} does not fit. It requires {wanted}, and {name} here is {versions[name]}. Change its pyproject.toml.")
        grown = (len(found), sum(map(len, extras.values()))) != before
    return sorted(found)


def tree_of_others(requirements: list[str]) -> Path:
    """Third parties, installed on top of the largest set that is there already and holds nothing else."""
    wanted = set(requirements)
    smaller = [path for path in installed().glob("others-*") if (path / SET).is_file() and set((path / SET).read_text().splitlines()) < wanted]
    start = max(smaller, key=lambda path: len((path / SET).read_text().splitlines()), default=None)
    return tree(requirements, "\n".join(requirements), "others-", start)


def tree(arguments: list[str], key: str, prefix: str = "", start: Path | None = None) -> Path:
    """A folder with what pip installs of these arguments into the running Python, its scripts below bin/; made once."""
    path = installed() / f"{prefix}{hashlib.sha256(key.encode()).hexdigest()[:20]}"
    with one_at_a_time("installed"):
        if not path.is_dir():
            fresh = path.with_name(f"fresh-{path.name}")
            shutil.rmtree(fresh, ignore_errors=True)
            site = fresh / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
            if start:
                shutil.copytree(start, fresh, symlinks=True, copy_function=os.link)
                (fresh / SET).unlink()
            # Of what the folder holds already pip is told by PYTHONPATH; what this environment happens to have does not count.
            environment = {**os.environ, "PYTHONPATH": str(site)}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            own = [] if start else ["--ignore-installed"]
            subprocess.run([*PIP, "--no-warn-script-location", *own, "--prefix", str(fresh), *arguments], check=True, env=environment)
            if not site.is_dir():
                sys.exit(f"wheels: pip has put {key.splitlines()[0]} elsewhere. Expected it in {site}. Is {sys.prefix} a virtual environment?")
            (fresh / SET).write_text("".join(f"{line}\n" for line in key.splitlines()))
            fresh.rename(path)
    return path


def put_in_place(trees: list[Path]) -> None:
    """Link trees into the running Python; what an earlier run had linked goes first."""
    prefix = Path(sys.prefix)
    before = manifest()
    if before["trees"] == [path.name for path in trees]:
        return
    for name in before["files"]:
        (prefix / name).unlink(missing_ok=True)
    files = []
    for folder in trees:
        for source in sorted(folder.rglob("*")):
            name = source.relative_to(folder)
            target = prefix / name
            if source.is_dir() and not source.is_symlink():
                target.mkdir(parents=True, exist_ok=True)
            elif name.name != SET and not target.exists():
                if name.parts[0] == "bin":  # their first line names the interpreter of the environment that made them
                    text = source.read_bytes()
                    target.write_bytes(re.sub(rb"\A#!.*", b"#!" + sys.executable.encode(), text))
                    target.chmod(0o755)
                else:
                    linked(source, target)
                files.append(str(name))
    (prefix / MANIFEST).write_text(json.dumps({"trees": [path.name for path in trees], "files": files}))


def linked(source: Path, target: Path) -> None:
    """A hard link, or a copy where the two are on different file systems."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


SET = "holds.txt"  # in a tree: what it was made of
MANIFEST = "linked-by-wheels.json"


def installed() -> Path:
    """Where the trees of the running Python are."""
    path = CACHE / "installed" / tag_of(sys.executable)
    path.mkdir(parents=True, exist_ok=True)
    return path


def digest_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build_environment(python: str) -> Path:
    """A virtual environment with the build tools, made when it is first needed."""
    return tool_environment(python, "build", CACHE / f"build-{tag_of(python)}")


def tool_environment(python: str, pins: str, path: Path) -> Path:
    """A virtual environment with the tools of a file of pins, no others and no other bytes."""
    wanted = (PINS / f"{pins}.txt").read_text()
    done = path / "ready"
    if not (done.exists() and done.read_text() == wanted):
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run([python, "-m", "venv", path], check=True)
        command = [path / "bin" / "python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        if subprocess.run([*command, "--require-hashes", "-r", PINS / f"{pins}.txt"]).returncode:
            print(f"wheels: what tools/pins/{pins}.txt names could not be installed", file=sys.stderr)
            sys.exit(NO_TOOLS)
        done.write_text(wanted)
    return path


def wheel_for(python: str, package: str, digest: str, native: bool) -> Path | None:
    """The wheel of these very sources that `python` can install; one for this processor alone only if `native`."""
    for folder, processors in ((shelf(False), ("",)), (shelf(True), (processor(),) if native else ())):
        for _, record in records(folder):
            path = folder / record["wheel"]
            here = record.get("processor", "") in processors
            if here and (record["package"], record["digest"]) == (package, digest) and serves(record["wheel"], tag_of(python)):
                if path.exists():
                    return path
    return None


def records(folder: Path) -> list[tuple[Path, dict[str, str]]]:
    """What is on a shelf: a file beside each wheel says what it was built from."""
    return [(entry, json.loads(entry.read_text())) for entry in sorted(folder.glob("*.whl.json"))]


def processor() -> str:
    """What this machine's processor is and can do: where it changes, native wheels are built again."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # another system than Linux
        return f"{platform.machine()} {platform.processor()}"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(("flags", "Features"))), platform.machine())


def serves(wheel: str, tag: str) -> bool:
    """Whether a wheel of this name installs in the Python of this tag."""
    python, abi, _ = wheel.removesuffix(".whl").split("-")[-3:]
    return abi == tag or python == "py3" or (abi == "abi3" and not tag.endswith("t"))


def tag_of(python: str) -> str:
    """`cp311` and the like, `cp313t` of a Python without the lock."""
    if python not in _tags:
        probe = "import sys, sysconfig; print('cp%d%d' % sys.version_info[:2] + ('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''))"
        _tags[python] = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=True).stdout.strip()
    return _tags[python]


_tags: dict[str, str] = {}


def digest_of(package: str) -> str:
    """Digest of everything that goes into a package's wheel."""
    digest = hashlib.sha256()
    for path in sources_of(package):
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def sources_of(package: str) -> list[Path]:
    """Every file that goes into a package's wheel."""
    folder = packages()[package].folder
    files = {path for path in folder.rglob("*") if path.is_file() and is_source(path.relative_to(folder))}
    if packages()[package].compiled:
        tensor = ROOT / "packages" / "tensor" / "src"
        files.update(path for path in tensor.rglob("*") if path.suffix in (".h", ".pxd", ".cmake"))
    return sorted(files)


def is_source(path: Path) -> bool:
    """Whether a file of a package's folder counts: neither what was built nor its tests, nor what tools keep in hidden folders."""
    derived = path.suffix in (".so", ".pyc") or "_vendored" in path.parts or "__pycache__" in path.parts
    return not derived and path.parts[0] not in ("build", "tests") and not path.parts[0].startswith(".")


if __name__ == "__main__":
    main()
