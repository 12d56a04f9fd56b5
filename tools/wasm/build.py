"""Builds the packages as wheels for Pyodide and checks that they could load: `make wasm`.

    python tools/wasm/build.py             wheels into wheelhouse/wasm/
    python tools/wasm/build.py --test      and run the tests inside Pyodide, in Node; this Python needs wherry installed
    python tools/wasm/build.py --numpy     and NumPy's wheel, for programs of the Playground: minutes, once

With the official emsdk at hand, `pyodide build packages/tensor` works as it is. Where only package registries can be
reached this script makes the toolchain (toolchain.sh) and the cross-build environment (cross_environment.py) itself;
both stay under .cache/wasm. The packages know nothing of this beyond `if(EMSCRIPTEN)` in their CMake files.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
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

import imports  # noqa: E402
import package_table as table  # noqa: E402
import wheels as native  # noqa: E402

PYODIDE = "0.29.5"  # Python 3.13, Emscripten 4.0.9
CACHE = ROOT / ".cache" / "wasm"
WHEELHOUSE = ROOT / "wheelhouse" / "wasm"
# -Oz, which pyodide-build asks for, would take loops apart again: 4.6 times slower. Hidden symbols: those of two
# modules that have the same name would be taken for one.
FLAGS = "-O3 -fvisibility=hidden"
IN_BROWSER = [name for name, package in table.packages().items() if package.in_browser]
# What runs inside Pyodide beside tests/wasm, by pytest; NumPy is there for the tests.
SUITES = {
    "kit": ("--pyargs", "wherry_tensor.testing"),
    **{name: table.packages()[name].tests[0] for name in IN_BROWSER if name not in ("export", "extension")},
}  # onnx, and compilers, are not to be had there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", default=IN_BROWSER, help="default: all")
    parser.add_argument("--test", action="store_true", help="run the tests inside Pyodide too")
    parser.add_argument("--numpy", action="store_true", help="build NumPy's wheel too")
    parser.add_argument("--suite", action="append", choices=("page", *SUITES), help="of the tests only these; may be repeated")
    options = parser.parse_args()
    pyodide = pyodide_core()
    link = CACHE / "pyodide"  # an address without the version, for the server
    link.unlink(missing_ok=True)
    link.symlink_to(pyodide.name)
    if not (pyodide / "snapshot.bin").exists():
        run(["node", HERE / "snapshot.mjs", pyodide])  # pages start a second faster with it, and load 4 MB more
    built = [build(package, pyodide) for package in table.needed(options.packages)]
    failed = test(pyodide, built, options.suite or ["page", *SUITES]) if options.test else 0
    if options.numpy:
        numpy_wheel()
    for wheel in (CACHE / "numpy").glob("*.whl"):  # where it is, programs of the page Playground can import it
        shutil.copy(wheel, WHEELHOUSE / f"{wheel.name}.new")
        (WHEELHOUSE / f"{wheel.name}.new").replace(WHEELHOUSE / wheel.name)  # whole or not at all: a server may be running
    sys.exit(failed)


def numpy_wheel() -> Path:
    """NumPy for Pyodide, built where it is not."""
    script = HERE / "numpy_wheel.py"
    (wheel,) = once(CACHE / "numpy", script, [sys.executable, script, CACHE / "numpy"]).glob("*.whl")
    return wheel


def test(pyodide: Path, wheels: list[Path], suites: list[str]) -> int:
    """Run suites inside Pyodide, in Node; returns how many failed."""
    if not (CACHE / "pytest").exists():
        run([host() / "python", "-m", "pip", "download", "-qq", "--platform", "any", "--only-binary", ":all:",
             "-d", CACHE / "pytest", "pytest", "hypothesis"])
    testers = sorted((CACHE / "pytest").glob("*.whl"))
    failed = []

    def suite(name: str, wheels: list[Path], arguments: tuple[str, ...], relaxed: bool = True, **environment: str) -> None:
        print(f"wasm: testing {name}", flush=True)
        # Tests that nest lists 100,000 deep take more than Node's 984 KiB of stack; the system gives 8 MiB.
        node = ["node", "--stack-size=3900", *(["--experimental-wasm-relaxed-simd"] if relaxed else []), ROOT / "tests" / "wasm" / "run.mjs"]
        if subprocess.run([*node, pyodide, *wheels, "--", *arguments], env={**os.environ, **environment}).returncode:
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
        numpy = numpy_wheel()
        for name in suites:
            if name in SUITES:
                suite(name, [*wheels, *testers, numpy], SUITES[name])
    print(f"wasm: {'failed: ' + ', '.join(failed) if failed else 'all suites passed'}")
    return len(failed)


def build(package: str, pyodide: Path) -> Path:
    """The wheel of a package: compiled for WebAssembly, or pure Python as on every system."""
    digest = native.digest_of(package)
    record = WHEELHOUSE / f"{package}.json"
    if record.exists():
        known = json.loads(record.read_text())
        if known["digest"] == digest and (WHEELHOUSE / known["wheel"]).exists():
            return WHEELHOUSE / known["wheel"]
    started = time.monotonic()
    folder = table.packages()[package].folder
    with tempfile.TemporaryDirectory() as output:
        if table.packages()[package].compiled:
            cross_build(folder, Path(output), pyodide)
        else:
            run([host() / "python", "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-q", "-w", output, folder],
                env={**os.environ, "WHERRY_DEPENDENCIES": "index", "SOURCE_DATE_EPOCH": native.EPOCH})
        (wheel,) = Path(output).glob("*.whl")
        check(wheel, pyodide)
        WHEELHOUSE.mkdir(parents=True, exist_ok=True)
        if record.exists():
            (WHEELHOUSE / json.loads(record.read_text())["wheel"]).unlink(missing_ok=True)
        shutil.move(wheel, WHEELHOUSE / wheel.name)
    record.write_text(json.dumps({"wheel": wheel.name, "digest": digest}))
    size = (WHEELHOUSE / wheel.name).stat().st_size
    print(f"wasm: {wheel.name}, {size / 1e6:.2f} MB, {time.monotonic() - started:.0f} s", flush=True)
    return WHEELHOUSE / wheel.name


def cross_build(folder: Path, output: Path, pyodide: Path) -> None:
    environment = {**emscripten(), "CFLAGS": FLAGS, "CXXFLAGS": FLAGS, "SOURCE_DATE_EPOCH": native.EPOCH}
    environment["PATH"] = f"{host()}{os.pathsep}{environment['PATH']}"
    environment["PYODIDE_XBUILDENV_PATH"] = str(cross_environment(pyodide))
    environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    run([host() / "pyodide", "build", folder, "--no-isolation", "--skip-dependency-check", "--outdir", output,
         f"-Cbuild-dir={ROOT / 'build' / 'wasm' / folder.name}"], env=environment, cwd=folder)


def check(wheel: Path, pyodide: Path) -> None:
    """Stop if a module of the wheel imports what Pyodide lacks: it would only fail when called."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            if name.endswith((".so", ".wasm")):
                missing = imports.unresolved(pyodide, Path(archive.extract(name, folder)))
                if missing:
                    sys.exit(f"{wheel.name}: {name} imports {', '.join(missing)}, which Pyodide {PYODIDE} does not have")


def host() -> Path:
    """Programs of the environment that builds: the Python of Pyodide's version, pyodide-build, the build tools."""
    return native.tool_environment("python3.13", "pyodide", CACHE / "host") / "bin"


def pyodide_core() -> Path:
    """The npm package of Pyodide, unpacked."""
    folder = CACHE / f"pyodide-{PYODIDE}"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as download:
            run(["npm", "pack", "--silent", f"pyodide@{PYODIDE}", "--pack-destination", download])
            (archive,) = Path(download).glob("*.tgz")
            shutil.unpack_archive(archive, download)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(download) / "package", folder)
    return folder


def cross_environment(pyodide: Path) -> Path:
    script = HERE / "cross_environment.py"
    folder = CACHE / "cross"
    return once(folder, script, [host() / "python", script, pyodide, folder])


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
