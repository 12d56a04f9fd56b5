"""What a WebAssembly side module asks of Pyodide's main module, checked before it runs.

    python tools/wasm/imports.py PYODIDE_FOLDER MODULE.so...

A missing symbol links and loads silently and ends the interpreter at the first call, so it has to be found
here: each import must be exported by the main module, be in its JavaScript, or belong to dynamic linking.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

# What the loader itself provides to every side module.
OF_THE_LOADER = {"memory", "__indirect_function_table", "__stack_pointer", "__memory_base", "__table_base", "__c_longjmp",
                 "__cpp_exception"}
FUNCTION, TABLE, MEMORY, GLOBAL, TAG = range(5)


class Reader:
    """The bytes of a module, read from the front."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 8  # after the magic number and the version

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def number(self) -> int:
        """An unsigned LEB128."""
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return result

    def name(self) -> str:
        length = self.number()
        self.at += length
        return self.content[self.at - length:self.at].decode()

    def limits(self) -> None:
        if self.byte() & 1:
            self.number()
        self.number()


def imports_and_exports(path: Path) -> tuple[list[str], set[str]]:
    """Names that a module imports and exports (sections 2 and 7 of the binary format)."""
    reader = Reader(path.read_bytes())
    imported: list[str] = []
    exported: set[str] = set()
    while reader.at < len(reader.content):
        section, length = reader.byte(), reader.number()
        end = reader.at + length
        if section == 2:
            for _ in range(reader.number()):
                reader.name()
                imported.append(reader.name())
                skip_type(reader, reader.byte())
        elif section == 7:
            for _ in range(reader.number()):
                exported.add(reader.name())
                reader.byte()
                reader.number()
        reader.at = end
    return imported, exported


def skip_type(reader: Reader, kind: int) -> None:
    if kind == FUNCTION:
        reader.number()
    elif kind == TABLE:
        reader.byte()
        reader.limits()
    elif kind == MEMORY:
        reader.limits()
    elif kind == GLOBAL:
        reader.byte()
        reader.byte()
    elif kind == TAG:
        reader.byte()
        reader.number()
    else:
        raise ValueError(f"import of kind {kind}, expected 0 to 4: is this a WebAssembly module?")


def unresolved(pyodide: Path, module: Path) -> list[str]:
    """Imports of `module` that the Pyodide in this folder does not provide."""
    _, provided = imports_and_exports(pyodide / "pyodide.asm.wasm")
    glue = next(pyodide.glob("pyodide.asm.*js")).read_text()
    imported, own = imports_and_exports(module)
    known = provided | own | OF_THE_LOADER
    return [name for name in imported if name not in known and not re.search(rf"\b_?{re.escape(name)}\b", glue)]


def main() -> None:
    pyodide, *modules = map(Path, sys.argv[1:])
    bad = {module: missing for module in modules if (missing := unresolved(pyodide, module))}
    for module, missing in bad.items():
        print(f"{module}: Pyodide has no {', '.join(missing)}")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
