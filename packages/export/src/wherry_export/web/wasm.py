"""Reading WebAssembly modules as a linker writes them, and removing functions from them.

`Module` reads the sections of a module. `shaken` gives a module without the functions and data that a program does not reach: their
places stay, so that no number of another function changes, and hold nothing. So each bundle gets a small module without a compiler on
the machine that exports.

The binary format: https://webassembly.github.io/spec/core/binary/; what a linker adds: tool-conventions, Linking.md.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable

__all__ = ["Module", "Reader", "custom_section", "leb", "shaken", "sleb"]

CUSTOM, TYPES, IMPORTS, FUNCTIONS, ELEMENTS, CODE, DATA = 0, 1, 2, 3, 9, 10, 11
NOTHING = bytes((0, 0, 0x0B))  # a body without locals: unreachable, end
HAS_MAXIMUM = 1  # of an imported memory; 3: and is shared
GAP = 8  # bytes: about what another piece of data costs
MAGIC = b"\0asm\1\0\0\0"


class Reader:
    """Bytes that are read from the front."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self.content, self.at = content, at

    def byte(self) -> int:
        """One byte."""
        self.at += 1
        return self.content[self.at - 1]

    def _leb128(self) -> tuple[int, int, int]:
        """A number in LEB128: its bits, how many there are, and its last byte."""
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return result, shift, byte

    def number(self) -> int:
        """An unsigned number."""
        return self._leb128()[0]

    def signed(self) -> int:
        """A signed number."""
        result, shift, last = self._leb128()
        return result - (1 << shift) if last & 0x40 else result

    def take(self, n: int) -> bytes:
        """The next `n` bytes."""
        self.at += n
        return self.content[self.at - n : self.at]

    def name(self) -> str:
        """A string with its length before it."""
        return self.take(self.number()).decode()


def leb(n: int) -> bytes:
    """An unsigned number in as few bytes as it takes."""
    out = bytearray()
    while True:
        n, low = n >> 7, n & 0x7F
        if not n:
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def sleb(n: int) -> bytes:
    """A signed number in as few bytes as it takes."""
    out = bytearray()
    while True:
        low = n & 0x7F
        n >>= 7
        if (n == 0 and not low & 0x40) or (n == -1 and low & 0x40):
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def custom_section(name: str, content: bytes) -> bytes:
    """A custom section, as it may stand at the end of a module."""
    body = leb(len(name.encode())) + name.encode() + content
    return bytes((CUSTOM,)) + leb(len(body)) + body


class Module:
    """A module, parsed as far as it is changed here.

    Attributes:
        sections: number and content of each, in order; of a custom one the name is part of the content.
        types: the index of the type of each function that the module defines.
        bodies: the code of each, without its length.
        n_imported: how many functions are imported: the numbers of the defined ones begin there.
        memory: (pages it begins with, most pages, offset in `written()` of the byte that says "shared") of an imported memory, or None.
        elements: the function at each place of the table, from `first_element` on.
        segments: (what stands before the bytes, the bytes) of each piece of data.
    """

    def __init__(self, content: bytes) -> None:
        if content[:8] != MAGIC:
            raise ValueError(f"wasm: this is not a WebAssembly module. Got {content[:8]!r} at its beginning, expected {MAGIC!r}.")
        self.sections: list[tuple[int, bytes]] = []
        reader = Reader(content, 8)
        while reader.at < len(content):
            number = reader.byte()
            self.sections.append((number, reader.take(reader.number())))
        self.n_imported, self.memory = self._imported()
        self.types = self._types()
        self.bodies = self._bodies()
        self.first_element, self.elements = self._elements()
        self.segments = self._segments()

    def section(self, number: int) -> bytes:
        """The content of a section; empty where there is none."""
        return next((content for at, content in self.sections if at == number), b"")

    def custom(self, name: str) -> bytes:
        """The content of a custom section after its name; empty where there is none."""
        for number, content in self.sections:
            if number == CUSTOM:
                reader = Reader(content)
                if reader.name() == name:
                    return content[reader.at :]
        return b""

    def _imported(self) -> tuple[int, tuple[int, int, int] | None]:
        content = self.section(IMPORTS)
        if not content:
            return 0, None
        reader, functions, memory = Reader(content), 0, None
        for _ in range(reader.number()):
            reader.name(), reader.name()
            kind = reader.byte()
            if kind == 0:
                reader.number()
                functions += 1
            elif kind == 2 and content[reader.at] == HAS_MAXIMUM:
                at = self._offset_of(IMPORTS) + reader.at
                reader.byte()
                memory = reader.number(), reader.number(), at
            else:
                raise ValueError(
                    f"wasm: the engine imports something else than functions and a memory with a maximum. Got kind {kind}, expected 0 or 2. "
                    f"Build it with tools/wasm/engine.py."
                )
        return functions, memory

    def _offset_of(self, number: int) -> int:
        """Where the content of a section begins in `written()`. Only for sections after which alone something may change."""
        at = len(MAGIC)
        for found, content in self.sections:
            if found != CUSTOM:
                at += 1 + len(leb(len(content)))
                if found == number:
                    return at
                at += len(content)
        raise ValueError(f"wasm: there is no section {number}.")

    def _types(self) -> list[int]:
        reader = Reader(self.section(FUNCTIONS))
        return [reader.number() for _ in range(reader.number())]

    def _bodies(self) -> list[bytes]:
        reader = Reader(self.section(CODE))
        return [reader.take(reader.number()) for _ in range(reader.number())]

    def _elements(self) -> tuple[int, list[int]]:
        reader = Reader(self.section(ELEMENTS))
        if reader.number() != 1 or reader.number() != 0 or reader.byte() != 0x41:
            raise ValueError("wasm: the engine has another table of functions than one that is filled once. Build it with tools/wasm/engine.py.")
        first = reader.signed()
        reader.byte()  # end of the expression
        return first, [reader.number() for _ in range(reader.number())]

    def _segments(self) -> list[tuple[bytes, bytes]]:
        reader, found = Reader(self.section(DATA)), []
        for _ in range(reader.number()):
            begin = reader.at
            if reader.number() != 0 or reader.byte() != 0x41:
                raise ValueError("wasm: the engine has data of another kind than at a fixed address. Build it with tools/wasm/engine.py.")
            reader.signed(), reader.byte()
            head = reader.content[begin : reader.at]
            found.append((head, reader.take(reader.number())))
        return found

    def addresses(self) -> list[int]:
        """Where in memory each piece of data begins."""
        return [Reader(head, 2).signed() for head, _ in self.segments]

    def written(self) -> bytes:
        """The bytes of the changed module, without custom sections."""
        changed = {
            FUNCTIONS: _vector(map(leb, self.types)),
            ELEMENTS: b"\1\0\x41" + sleb(self.first_element) + b"\x0b" + _vector(map(leb, self.elements)),
            CODE: _vector(leb(len(body)) + body for body in self.bodies),
            DATA: _vector(head + leb(len(data)) + data for head, data in self.segments),
        }
        out = bytearray(MAGIC)
        for number, content in self.sections:
            if number != CUSTOM:
                content = changed.get(number, content)
                out += bytes((number,)) + leb(len(content)) + content
        return bytes(out)


def _vector(items: Iterable[bytes]) -> bytes:
    parts = list(items)
    return leb(len(parts)) + b"".join(parts)


def shaken(content: bytes, functions: Collection[int], data: Collection[tuple[int, int, int]]) -> bytes:
    """Remove all but some functions and data from a module.

    Args:
        content: a module of `tools/wasm/engine.py`.
        functions: numbers of those that stay, as the module counts (imported ones first).
        data: (segment, offset, bytes) of what stays.
    """
    module = Module(content)
    kept = {f - module.n_imported for f in functions}
    dead = next((i for i in range(len(module.bodies)) if i not in kept), None)
    if dead is None:
        return module.written()
    for i in range(len(module.bodies)):
        if i not in kept:  # all alike: that compresses to nothing
            module.bodies[i], module.types[i] = NOTHING, module.types[dead]
    module.elements = [f if f - module.n_imported in kept else dead + module.n_imported for f in module.elements]
    begins, pieces = module.addresses(), []
    for segment, first, end in _joined(data):
        head = b"\0\x41" + sleb(begins[segment] + first) + b"\x0b"
        pieces.append((head, module.segments[segment][1][first:end]))
    module.segments = pieces
    return module.written()


def _joined(data: Collection[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """(segment, first, end) of the spans of data; those that are near each other as one."""
    spans: list[tuple[int, int, int]] = []
    for segment, offset, size in sorted(data):
        if spans and spans[-1][0] == segment and offset <= spans[-1][2] + GAP:
            spans[-1] = segment, spans[-1][1], max(spans[-1][2], offset + size)
        else:
            spans.append((segment, offset, offset + size))
    return spans
