"""Builds Pillow's wheel for Pyodide from its source: with it, programs in a page read and write pictures.

    python tools/wasm/pillow_wheel.py 0.29     the Pyodide that it is for; into .cache/wasm/pillow

Neither npm nor PyPI has one for browsers. It takes half a minute, once. Pyodide's main module has zlib, so PNG works, and all that Pillow
reads and writes without a library, such as BMP, GIF and PPM; JPEG, WebP and text take libraries that no registry has for browsers either.
"""
from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import build
import debian

VERSION = "12.3.0"
WITHOUT = ("jpeg", "tiff", "freetype", "raqm", "lcms", "webp", "jpeg2000", "imagequant", "xcb", "avif")


def make(target: build.Target) -> None:
    folder = target.kept("pillow")
    tools = target.host
    build.run([tools / "python", "-m", "pip", "install", "-qq", "unearth", "pybind11"])
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        # Not `pip download`, which would build the native wheel to look at its metadata.
        build.run([tools / "unearth", f"pillow=={VERSION}", "--no-binary", "--download", work], cwd=work)
        (archive,) = Path(work).glob("pillow-*.tar.gz")
        shutil.unpack_archive(archive, work)
        source = Path(work) / f"pillow-{VERSION}"
        environment = build.emscripten()
        environment |= {"CFLAGS": "-O2", "CXXFLAGS": "-O2", "PATH": f"{tools}{os.pathsep}{environment['PATH']}",
                        "PYODIDE_XBUILDENV_PATH": str(target.cross), "ZLIB_ROOT": str(zlib(Path(work)))}
        build.run([tools / "pyodide", "build", source, "--no-isolation", "--skip-dependency-check", "--outdir", folder,
                   *(f"-C{feature}=disable" for feature in WITHOUT)], env=environment, cwd=source)
    (wheel,) = folder.glob("*.whl")
    build.check(wheel, target)


def zlib(work: Path) -> Path:
    """A folder with zlib's headers, and a library without content: its functions are Pyodide's."""
    headers = debian.unpacked(["zlib1g-dev"], work / "zlib1g-dev", "trixie", "amd64", follow=False)
    root = work / "zlib"
    for part in ("include", "lib"):
        (root / part).mkdir(parents=True)
    for name in ("zlib.h", "zconf.h"):
        (header,) = headers.rglob(name)
        shutil.copy(header, root / "include")
    (root / "lib" / "libz.a").write_bytes(b"!<arch>\n")
    return root


if __name__ == "__main__":
    make(build.TARGETS[sys.argv[1]])
