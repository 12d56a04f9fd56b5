"""Python for pages: Pyodide's core and our wheels as one zip, which `make wasm` makes. Bundles that train have them, and so do the pages of web/."""
from __future__ import annotations

import ast
import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["PYODIDE_FILES", "SNAPSHOT", "UNUSED", "core_files", "found", "modules", "version", "without_docstrings", "zipped"]

# What a page needs of the npm package; the script beside the module is called pyodide.asm.js until 0.29, pyodide.asm.mjs from 314 on.
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
SNAPSHOT = "snapshot.bin"  # of tools/wasm/snapshot.mjs, where somebody made one
# In a wheel, but of no use on a page: tests, headers, the engine of bundles, and what stands on NumPy, ONNX or processes.
UNUSED = re.compile(
    r"/testing/|\.(dist-info|data)/|\.(pyi|pyx|pxd|pxi|h|c|typed|d\.ts)$|^wherry_(pytest|migrate)/|^wherry/__main__|^wherry_export/(onnx|web/engine)/"
    r"|^wherry_vision/(image|transforms)"
    r"|^wherry_train/(io/|callbacks|checkpoint|metric|model|progress_bar|state|tables|arrays|by_name|diagnosis|first_step|foreign|notebook)"
)
# Where `make wasm` puts them, below the current folder; variables of the environment name other places.
PLACES = {"wheels": ("WHERRY_WASM_WHEELS", "wheelhouse/wasm"), "pyodide": ("WHERRY_PYODIDE", ".cache/wasm/pyodide")}
NEEDED = {"wheels": "wherry_tensor-*wasm32.whl", "pyodide": "pyodide.asm.wasm"}
WHAT = {"wheels": "the wheels for the browser", "pyodide": "the npm package pyodide, unpacked"}


def found(which: str, given: str | os.PathLike[str] | None) -> Path:
    """The folder with the wheels or with Pyodide.

    Args:
        which: "wheels" or "pyodide".
        given: where they are; None looks into the environment, then below the current folder.

    Raises:
        FileNotFoundError: they are not there.
    """
    variable, usual = PLACES[which]
    folder = Path(given if given is not None else os.environ.get(variable, usual))
    if not any(folder.glob(NEEDED[which])):
        raise FileNotFoundError(
            f"web: a bundle that trains brings {WHAT[which]} along. Got no {NEEDED[which]} in {folder.absolute()}, expected it there. `make wasm` "
            f"in a checkout makes {usual}; name another folder with {which}=, --{which} or {variable}."
        )
    return folder


def version(pyodide: Path) -> str:
    """Of Pyodide."""
    return str(json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"])


def core_files(pyodide: Path) -> tuple[str, ...]:
    """Names of what pages load of Pyodide: with the memory of one that has started, where the folder has it."""
    return tuple(name for name in (*PYODIDE_FILES, SNAPSHOT) if (pyodide / name).exists())


def modules(wheels: Iterable[Path]) -> dict[str, bytes]:
    """What pages use of wheels, by name: Python without docstrings."""
    files: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            files.update((name, archive.read(name)) for name in archive.namelist() if not UNUSED.search(name))
    return {name: without_docstrings(content) if name.endswith(".py") else content for name, content in files.items()}


def zipped(files: Mapping[str, bytes], compression: int) -> bytes:
    """A reproducible zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        # Files of a kind beside each other compress better.
        for name in sorted(files, key=lambda name: (Path(name).suffix, name)):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            bundle.writestr(entry, files[name], compression, 9)
    return buffer.getvalue()


def without_docstrings(source: bytes) -> bytes:
    """The same program without docstrings, which are half of the download and slow to parse."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree).encode()
