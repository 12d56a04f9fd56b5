"""The memory of a started Pyodide (tools/wasm/snapshot.mjs), smaller to send: without what its module, which every page loads too, holds of it.

A third of it is the module's constants, as they were when it was instantiated. Where they lie in both files they are taken out by XOR, which
leaves zeros; the page puts them back the same way (static/js/python.js).
"""
from __future__ import annotations

from typing import NamedTuple

__all__ = ["Share", "data_of", "shares", "without"]

MAGIC = b"\0asm"
LEAST = 512  # bytes of a segment that are worth a word in the manifest: Pyodide 0.29 has one of 3.5 MB, 314 ten thousand
PAGE = 65536  # bytes of WebAssembly's memory
BASE = 1024  # where Emscripten puts the constants of a main module that other modules are linked to
DATA = 11  # the section
END, CONSTANT, GLOBAL, ADD = 0x0B, 0x41, 0x23, 0x6A  # instructions: end, i32.const, global.get, i32.add


class Share(NamedTuple):
    """Bytes that two files have in common, or nearly: `length` of them at `at` in the snapshot and `begin` in the module."""

    at: int
    begin: int
    length: int


def shares(snapshot: bytes, module: bytes) -> list[Share]:
    """Where constants of the module lie in the snapshot. Ahead of the memory, which is whole pages, a snapshot has some bytes of its own."""
    head = len(snapshot) % PAGE
    return [
        Share(head + address, begin, length)
        for address, begin, length in data_of(module) if length >= LEAST and head + address + length <= len(snapshot)
    ]


def without(snapshot: bytes, module: bytes, shared: list[Share]) -> bytes:
    """The snapshot with zeros where it and the module agree; doing it again gives the snapshot back."""
    rest = bytearray(snapshot)
    for at, begin, length in shared:
        both = int.from_bytes(rest[at : at + length], "little") ^ int.from_bytes(module[begin : begin + length], "little")
        rest[at : at + length] = both.to_bytes(length, "little")
    return bytes(rest)


def data_of(module: bytes) -> list[tuple[int, int, int]]:
    """Of each segment of constants its address in memory, its place in the module's file, and its length.

    Raises:
        ValueError: this is not a module.
    """
    if module[:4] != MAGIC:
        raise ValueError(f"memory: this is not a WebAssembly module. Got a file that begins with {module[:4]!r}, expected {MAGIC!r}.")
    at, found = 8, []
    while at < len(module):
        section, at = module[at], at + 1
        size, at = number(module, at)
        if section == DATA:
            count, segment = number(module, at)
            for _ in range(count):
                kind, segment = number(module, segment)
                if kind == 2:  # names the memory, of which there is one
                    _, segment = number(module, segment)
                address, segment = place(module, segment) if kind != 1 else (-1, segment)  # 1 is copied by the program, if at all
                length, segment = number(module, segment)
                if address >= 0:
                    found.append((address, segment, length))
                segment += length
        at += size
    return found


def place(module: bytes, at: int) -> tuple[int, int]:
    """What an expression makes of constants and of the module's base, and where it ends; -1 where there is something else in it."""
    address, known = 0, True
    while module[at] != END:
        instruction, at = module[at], at + 1
        if instruction in (CONSTANT, GLOBAL):
            value, at = number(module, at)
            address += value if instruction == CONSTANT else BASE
        else:
            known = known and instruction == ADD
    return address if known else -1, at + 1


def number(module: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte, at = module[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
