"""Makes a wheel of LibCST's Python for Pyodide: with it, programs of the Playground import wherry_migrate.

    python tools/wasm/libcst_wheel.py 0.29     the Pyodide that it is for; into .cache/wasm/libcst

LibCST's own parser is compiled Rust, of which PyPI has no build for browsers. Releases up to 1.8 have another one, in Python, for the language
up to 3.8, so this takes one of those from the wheel for Linux and leaves out what is compiled and what wherry_migrate does not use.
"""
from __future__ import annotations

import base64
import hashlib
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import build

VERSION = "1.8.2"
PYTHON = "3.13"  # what is compiled in it is for another Python than some Pyodides have, and is left out
OF_NO_USE = re.compile(r"/tests?/|/native\.|^libcst/(codemod|codegen|display|testing|tool\.py)|\.pyi$|/RECORD$|/entry_points\.txt$")
TAG = "py3-none-any"


def make(target: build.Target) -> None:
    with tempfile.TemporaryDirectory() as work:
        build.run([target.host / "python", "-m", "pip", "download", "-qq", "--no-deps", "--only-binary", ":all:",
                   "--platform", "manylinux_2_28_x86_64", "--python-version", PYTHON, "-d", work, f"libcst=={VERSION}"])
        (whole,) = Path(work).glob("*.whl")
        with zipfile.ZipFile(whole) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if not OF_NO_USE.search(name) and not name.endswith("/")}
    facts = f"libcst-{VERSION}.dist-info"
    files[f"{facts}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: Wherry\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    rows = [f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items()]
    files[f"{facts}/RECORD"] = "".join([*rows, f"{facts}/RECORD,,\n"]).encode()
    folder = target.kept("libcst")
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("*.whl"):
        earlier.unlink()
    with zipfile.ZipFile(folder / f"libcst-{VERSION}-{TAG}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 2, 2, 0, 0, 0)), content, zipfile.ZIP_DEFLATED, 9)


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    make(build.TARGETS[sys.argv[1]])
