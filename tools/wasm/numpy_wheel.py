"""Builds NumPy's wheel for Pyodide from its source: the packages' own tests compare with it.

    python tools/wasm/numpy_wheel.py 0.29      the Pyodide that it is for; into .cache/wasm/numpy

Nothing on a page needs NumPy, and Pyodide publishes wheels of it where its own downloads can be reached; this is for
machines that only reach package registries. It takes minutes, once. Meson asks the compiler what it can link, so
Emscripten needs the libraries that our own modules do without (they link against Pyodide's).
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import build

EMSCRIPTEN = "3.1.69+dfsg-3"


def make(target: build.Target) -> None:
    folder = target.kept("numpy")
    environment = build.emscripten()
    if "EMSDK" not in os.environ:
        libraries(build.CACHE / "emscripten")
        scripts = build.CACHE / "emscripten" / "root" / "usr" / "share" / "emscripten"
        if not (scripts / "node_modules" / "acorn").exists():  # what links executables reads their JavaScript
            build.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save", "acorn@8"], cwd=scripts)
    tools = target.host
    build.run([tools / "python", "-m", "pip", "install", "-qq", "unearth"])
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        # Not `pip download`, which would build the native wheel to look at its metadata.
        build.run([tools / "unearth", f"numpy=={target.numpy}", "--no-binary", "--download", work], cwd=work)
        (archive,) = Path(work).glob("numpy-*.tar.gz")
        shutil.unpack_archive(archive, work)
        cross = subprocess.run([tools / "python", "-c", "import pyodide_build; print(pyodide_build.__path__[0])"],
                               check=True, capture_output=True, text=True).stdout.strip()
        environment |= {"CFLAGS": "-O2", "CXXFLAGS": "-O2", "PATH": f"{tools}{os.pathsep}{environment['PATH']}",
                        "PYODIDE_XBUILDENV_PATH": str(target.cross)}
        source = Path(work) / f"numpy-{target.numpy}"
        settings = (f"--cross-file={cross}/tools/emscripten.meson.cross", "-Dblas=none", "-Dlapack=none", "-Dallow-noblas=true")
        build.run([tools / "pyodide", "build", source, "--outdir", folder, "-Cbuild-dir=build",
                   *(f"-Csetup-args={setting}" for setting in settings)], env=environment, cwd=source)


def libraries(emscripten: Path) -> None:
    """Unpack the libraries of the toolchain that toolchain.sh put together without them."""
    root = emscripten / "root"
    scripts = root / "usr" / "share" / "emscripten"
    if not (scripts / "cache" / "sysroot" / "lib").exists():
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
        name = f"emscripten_{EMSCRIPTEN}_all.deb"
        with tempfile.TemporaryDirectory() as work:
            archive = Path(work) / name
            build.run(["curl", "-fsSL", "-o", archive, f"{mirror}/pool/main/e/emscripten/{name}"])
            # Those for link-time optimisation and for 64-bit memory make up most of the 1.5 GB.
            build.run(["bash", "-c", f"dpkg-deb --fsys-tarfile {archive} | tar -x -C {root} --exclude='*lto' --exclude='*wasm64*' "
                       "./usr/share/emscripten/cache/sysroot/lib"])


if __name__ == "__main__":
    make(build.TARGETS[sys.argv[1]])
