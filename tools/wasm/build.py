"""Builds the packages as wheels for Pyodide and checks that they could load: `make wasm`.

    python tools/wasm/build.py             wheels into wheelhouse/wasm/
    python tools/wasm/build.py --test      and run the tests inside Pyodide, in Node; this Python needs wherry installed
    python tools/wasm/build.py --numpy     and NumPy's wheel and Pillow's, for programs of the Playground: minutes, once
    python tools/wasm/build.py --for 314   for Pyodide 314 (Python 3.14), into wheelhouse/wasm-314/; pages have 0.29
    python tools/wasm/build.py index DIR   the wheels for every Pyodide as a folder that micropip and pip take for an index

With the official emsdk at hand, `pyodide build packages/tensor` works as it is. Where only package registries can be
reached this script makes the toolchain (toolchain.sh) and the cross-build environment (cross_environment.py) itself;
both stay under .cache/wasm. The packages know nothing of this beyond `if(EMSCRIPTEN)` in their CMake files.
"""
from __future__ import annotations

import argparse
import base64
import dataclasses
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tools"), str(HERE)]

import debian  # noqa: E402
import imports  # noqa: E402
import package_table as table  # noqa: E402
import release  # noqa: E402
import wheels as native  # noqa: E402

CACHE = ROOT / ".cache" / "wasm"


@dataclasses.dataclass(frozen=True)
class Target:
    """A Pyodide that wheels are built for.

    Args:
        name: how `--for` calls it.
        version: of the npm package.
        python: the one that it holds, and which builds for it.
        numpy: the version that is built for it.
    """

    name: str
    version: str
    python: str
    numpy: str

    def kept(self, name: str, parent: Path = CACHE) -> Path:
        """A folder of its own below .cache/wasm; those of the pages' Pyodide have plain names."""
        return parent / (name if self is PAGES else f"{name}-{self.name}")

    @property
    def wheelhouse(self) -> Path:
        return self.kept("wasm", ROOT / "wheelhouse")

    @functools.cached_property
    def host(self) -> Path:
        """Programs of the environment that builds: the Python of Pyodide's version, pyodide-build, the build tools."""
        python = shutil.which(f"python{self.python}") or str(debian.python(self.python))
        return native.tool_environment(python, "pyodide", self.kept("host")) / "bin"

    @functools.cached_property
    def core(self) -> Path:
        """The npm package of Pyodide, unpacked."""
        folder = CACHE / f"pyodide-{self.version}"
        if not folder.exists():
            with tempfile.TemporaryDirectory() as download:
                run(["npm", "pack", "--silent", f"pyodide@{self.version}", "--pack-destination", download])
                (archive,) = Path(download).glob("*.tgz")
                shutil.unpack_archive(archive, download)
                folder.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(Path(download) / "package", folder)
        return folder

    @functools.cached_property
    def tag(self) -> str:
        """The system in the names of wheels."""
        information = json.loads((self.core / "pyodide-lock.json").read_text())["info"]
        return f"pyemscripten_{information['abi_version']}_{information['arch']}"

    @functools.cached_property
    def cross(self) -> Path:
        script = HERE / "cross_environment.py"
        folder = self.kept("cross")
        return once(folder, script, [self.host / "python", script, self.core, folder])

    def numpy_wheel(self) -> Path:
        """NumPy for this Pyodide, built where it is not."""
        script = HERE / "numpy_wheel.py"
        (wheel,) = once(self.kept("numpy"), script, [sys.executable, script, self.name]).glob("*.whl")
        return wheel

    def pillow_wheel(self) -> Path:
        """Pillow for this Pyodide, built where it is not."""
        script = HERE / "pillow_wheel.py"
        (wheel,) = once(self.kept("pillow"), script, [sys.executable, script, self.name]).glob("*.whl")
        return wheel

    def libcst_wheel(self) -> Path:
        """LibCST's Python, which wherry_migrate rewrites programs with."""
        script = HERE / "libcst_wheel.py"
        (wheel,) = once(self.kept("libcst"), script, [sys.executable, script, self.name]).glob("*.whl")
        return wheel


PAGES = Target("0.29", "0.29.5", "3.13", "2.3.5")  # Emscripten 4.0.9. It starts faster than 314 and is smaller: benchmarks/RESULTS.md
NEXT = Target("314", "314.0.7", "3.14", "2.4.6")  # Emscripten 5.0.3
TARGETS = {target.name: target for target in (PAGES, NEXT)}
# In wheels, but of no use where nothing is compiled or type-checked. Pages fetch the engine of exported bundles when they export: docs/web-export.md.
OF_NO_USE = re.compile(r"\.(pyi|pyx|pxd|pxi|h|c|cmake)$|^wherry_export/web/engine/")
# -Oz, which pyodide-build asks for, would take loops apart again: 4.6 times slower. Hidden symbols: those of two
# modules that have the same name would be taken for one.
FLAGS = "-O3 -fvisibility=hidden"
ON_DEMAND = ["migrate"]  # not among what pages load: a program of the Playground imports it, with LibCST
IN_BROWSER = [name for name, package in table.packages().items() if package.in_browser]
# What runs inside Pyodide beside tests/wasm, by pytest; NumPy is there for the tests.
SUITES = {
    "kit": ("--pyargs", "wherry_tensor.testing"),
    **{name: table.packages()[name].tests[0] for name in IN_BROWSER if name not in ("export", "extension")},
}  # onnx, and compilers, are not to be had there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=IN_BROWSER, help="default: all; or  index DIR")
    parser.add_argument("--for", dest="target", choices=TARGETS, default=PAGES.name, help=f"the Pyodide that they are for; default: {PAGES.name}")
    parser.add_argument("--test", action="store_true", help="run the tests inside Pyodide too")
    parser.add_argument("--numpy", action="store_true", help="build NumPy's wheel and Pillow's too")
    parser.add_argument("--suite", action="append", choices=("page", *SUITES), help="of the tests only these; may be repeated")
    options = parser.parse_args()
    if options.packages[0] == "index":
        if len(options.packages) != 2:
            parser.error("index: which folder? Write  python tools/wasm/build.py index DIR")
        found = {wheel.name: wheel for target in TARGETS.values() for wheel in sorted(target.wheelhouse.glob("wherry*.whl"))}
        faults = [fault for wheel in found.values() for fault in release.faults_of(wheel)] + unlike()
        if faults or not found:
            sys.exit("\n".join(f"wasm: {fault}" for fault in faults) or "wasm: there are no wheels. Type  python tools/wasm/build.py  first.")
        release.write_index(Path(options.packages[1]), list(found.values()))  # pure wheels are the same for all
        return
    target = TARGETS[options.target]
    link = target.kept("pyodide")  # an address without the version, for the server
    link.unlink(missing_ok=True)
    link.symlink_to(target.core.name)
    if not (target.core / "snapshot.bin").exists():
        run(["node", HERE / "snapshot.mjs", target.core])  # pages start a second faster with it, and load 2.3 MB more
    built = [build(package, target) for package in table.needed(options.packages)]
    for package in ON_DEMAND:
        build(package, target)
    for record in target.wheelhouse.glob("*.json"):
        if record.stem not in {*table.needed(IN_BROWSER), *ON_DEMAND}:  # of a package that is not for pages any more
            (target.wheelhouse / json.loads(record.read_text())["wheel"]).unlink(missing_ok=True)
            record.unlink()
    failed = test(target, built, options.suite or ["page", *SUITES]) if options.test else 0
    if options.numpy:
        target.numpy_wheel()
        target.pillow_wheel()
    others = [wheel for name in ("numpy", "pillow") for wheel in target.kept(name).glob("*.whl")]
    for wheel in (*others, target.libcst_wheel()):  # programs of the page Playground can import what is there
        shutil.copy(wheel, target.wheelhouse / f"{wheel.name}.new")
        (target.wheelhouse / f"{wheel.name}.new").replace(target.wheelhouse / wheel.name)  # whole or not at all: a server may be running
    sys.exit(failed)


def unlike() -> list[str]:
    """What keeps the wheels of the Pyodides from lying in one index: an installer takes the newest version, which each has to have."""
    mine, others = (
        {wheel.name.split("-")[0]: wheel.name.split("-")[1] for wheel in target.wheelhouse.glob("wherry*.whl")} for target in (PAGES, NEXT)
    )
    return [
        f"the wheels for Pyodide {PAGES.name} and {NEXT.name} are not of the same state: {name} {mine.get(name)} and {others.get(name)}. "
        f"Type  python tools/wasm/build.py; python tools/wasm/build.py --for {NEXT.name}"
        for name in sorted({*mine, *others}) if mine and others and mine.get(name) != others.get(name)
    ]


def test(target: Target, wheels: list[Path], suites: list[str]) -> int:
    """Run suites inside Pyodide, in Node; returns how many failed."""
    if not (CACHE / "pytest").exists():
        run([target.host / "python", "-m", "pip", "download", "-qq", "--platform", "any", "--only-binary", ":all:",
             "-d", CACHE / "pytest", "pytest", "hypothesis"])
    testers = sorted((CACHE / "pytest").glob("*.whl"))
    failed = []

    def suite(name: str, wheels: list[Path], arguments: tuple[str, ...], relaxed: bool = True, **environment: str) -> None:
        print(f"wasm: testing {name}", flush=True)
        # Tests that nest lists 100,000 deep take more than Node's 984 KiB of stack; the system gives 8 MiB.
        node = ["node", "--stack-size=3900", *(["--experimental-wasm-relaxed-simd"] if relaxed else []), ROOT / "tests" / "wasm" / "run.mjs"]
        if subprocess.run([*node, target.core, *wheels, "--", *arguments], env={**os.environ, **environment}).returncode:
            failed.append(name)

    if "page" in suites:
        expected = ROOT / "build" / "wasm" / "expected.bin"
        expected.parent.mkdir(parents=True, exist_ok=True)
        run([sys.executable, ROOT / "tests" / "wasm" / "expected.py", expected])
        plain = [*wheels, *testers]
        suite("what a page does", plain, ("tests/wasm",))
        suite("what a page does, with the baseline kernels", plain, ("tests/wasm",), WHERRY_CPU_ISA="baseline")
        suite("what a page does, without relaxed SIMD", plain, ("tests/wasm",), relaxed=False)
    if any(name in SUITES for name in suites):
        numpy = target.numpy_wheel()
        for name in suites:
            if name in SUITES:
                suite(name, [*wheels, *testers, numpy], SUITES[name])
    print(f"wasm: {'failed: ' + ', '.join(failed) if failed else 'all suites passed'}")
    return len(failed)


def build(package: str, target: Target) -> Path:
    """The wheel of a package: compiled for WebAssembly, or pure Python as on every system."""
    digest = hashlib.sha256(f"{native.digest_of(package)} without {OF_NO_USE.pattern}".encode()).hexdigest()
    record = target.wheelhouse / f"{package}.json"
    if record.exists():
        known = json.loads(record.read_text())
        if known["digest"] == digest and (target.wheelhouse / known["wheel"]).exists():
            return target.wheelhouse / known["wheel"]
    started = time.monotonic()
    folder = table.packages()[package].folder
    with tempfile.TemporaryDirectory() as output:
        same = made_for_another(package, digest, target)
        if table.packages()[package].compiled:
            cross_build(folder, Path(output), target)
        elif same:
            shutil.copy(same, output)
        else:
            run([target.host / "python", "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-q", "-w", output, folder],
                env={**os.environ, "WHERRY_DEPENDENCIES": "index", "SOURCE_DATE_EPOCH": native.EPOCH})
        (wheel,) = Path(output).glob("*.whl")
        wheel = slim(wheel, target)
        check(wheel, target)
        target.wheelhouse.mkdir(parents=True, exist_ok=True)
        if record.exists():
            (target.wheelhouse / json.loads(record.read_text())["wheel"]).unlink(missing_ok=True)
        shutil.move(wheel, target.wheelhouse / wheel.name)
    record.write_text(json.dumps({"wheel": wheel.name, "digest": digest}))
    size = (target.wheelhouse / wheel.name).stat().st_size
    print(f"wasm: {wheel.name}, {size / 1e6:.2f} MB, {time.monotonic() - started:.0f} s", flush=True)
    return target.wheelhouse / wheel.name


def made_for_another(package: str, digest: str, target: Target) -> Path | None:
    """The wheel of the same sources for another Pyodide, if there is one: Python is the same for all."""
    for other in TARGETS.values():
        record = other.wheelhouse / f"{package}.json"
        if other is not target and record.exists() and (known := json.loads(record.read_text()))["digest"] == digest:
            return other.wheelhouse / known["wheel"]
    return None


def cross_build(folder: Path, output: Path, target: Target) -> None:
    environment = {**emscripten(), "CFLAGS": FLAGS, "CXXFLAGS": FLAGS, "SOURCE_DATE_EPOCH": native.EPOCH}
    environment["PATH"] = f"{target.host}{os.pathsep}{environment['PATH']}"
    environment["PYODIDE_XBUILDENV_PATH"] = str(target.cross)
    environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    run([target.host / "pyodide", "build", folder, "--no-isolation", "--skip-dependency-check", "--outdir", output,
         f"-Cbuild-dir={target.kept('wasm', ROOT / 'build') / folder.name}"], env=environment, cwd=folder)


def slim(wheel: Path, target: Target) -> Path:
    """The wheel without what is of no use in a tab. One that is then less than the wheel for every system gets a name of its own."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    kept = {name: content for name, content in files.items() if not OF_NO_USE.search(name)}
    smaller = wheel.with_name(re.sub(r"-none-\w+\.whl$", f"-none-{target.tag}.whl", wheel.name))
    if len(kept) == len(files) and (wheel.name.endswith("-none-any.whl") or smaller == wheel):
        return wheel
    (facts,) = (name for name in kept if name.endswith(".dist-info/WHEEL"))
    kept[facts] = re.sub(rb"-none-\w+\n", f"-none-{target.tag}\n".encode(), kept[facts])
    record = facts.replace("WHEEL", "RECORD")
    gone = {facts, *(files.keys() - kept.keys())}
    rows = [line for line in kept[record].decode().splitlines() if line.rsplit(",", 2)[0] not in gone]
    digest = base64.urlsafe_b64encode(hashlib.sha256(kept[facts]).digest()).rstrip(b"=").decode()
    kept[record] = "".join(f"{row}\n" for row in [*rows[:-1], f"{facts},sha256={digest},{len(kept[facts])}", rows[-1]]).encode()
    wheel.unlink()
    with zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in kept.items():
            entry = zipfile.ZipInfo(name, (2020, 2, 2, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return smaller


def check(wheel: Path, target: Target) -> None:
    """Stop if a module of the wheel imports what Pyodide lacks: it would only fail when called."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            if name.endswith((".so", ".wasm")):
                missing = imports.unresolved(target.core, Path(archive.extract(name, folder)))
                if missing:
                    sys.exit(f"{wheel.name}: {name} imports {', '.join(missing)}, which Pyodide {target.version} does not have")


def emscripten() -> dict[str, str]:
    """The environment in which `emcc` answers: the one that is there, or a toolchain of our own."""
    if shutil.which("emcc") and "EMSDK" in os.environ:
        return dict(os.environ)
    script = HERE / "toolchain.sh"
    folder = once(CACHE / "emscripten", script, ["bash", script, CACHE / "emscripten"])
    text = subprocess.run(["bash", "-c", f". {folder}/env.sh && env -0"], check=True, capture_output=True, text=True).stdout
    return dict(line.split("=", 1) for line in text.split("\0") if line)


def once(folder: Path, script: Path, command: list) -> Path:
    """Run what makes a folder, unless this very script has made it."""
    mark = folder.with_suffix(".made-by")
    digest = hashlib.sha256(script.read_bytes()).hexdigest()
    if not (folder.exists() and mark.exists() and mark.read_text() == digest):
        print(f"wasm: making {folder.relative_to(ROOT)} ...", flush=True)
        run(command)
        mark.write_text(digest)
    return folder


def run(command: list, **options) -> None:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, command))} failed")


if __name__ == "__main__":
    main()
