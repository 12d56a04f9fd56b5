"""Changes of files at random, for the modes of tools/fuzz.py that read files: of bytes, and of what a format consists of.

A change of bytes alone rarely gets after the first check of a format with lengths in it. So a part of the changes takes a file apart
(an archive into its entries, a message of protocol buffers into fields, JSON into values, a pickle into opcodes, an array of NumPy or
a file of safetensors into head and values), changes one part and puts it together again, with lengths that fit.
"""
from __future__ import annotations

import functools
import io
import json
import pickletools
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from wherry_tensor.protobuf import LENGTH, ModelFileError, put_varint, take_length, take_varint

NUMBERS = (-1, 0, 1, 2, 3, 4, 7, 8, 16, 64, 255, 256, 65535, 10**6, 10**9, 2**31 - 1, 2**31, 2**32, 2**33, 2**40, 2**48, 2**62, 2**63 - 1, 2**63,
           2**64 - 1, -(2**31), -(2**63))
WORDS = ("", "x", "../x", "/etc/passwd", "\0", "é" * 40, "a" * 3000, "float32", "int64", "bool", "O", "os.system", "__reduce__")


def changed(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """`data` with a part other than it was."""
    if rng.random() < 0.6:
        for recognized, change in _FORMATS:
            if recognized(data):
                out = data
                for _ in range(rng.choice((1, 1, 1, 2, 3))):
                    out = change(rng, out, others) if recognized(out) else out
                return out or b"\0"
    return _numbers(rng, data) if rng.random() < 0.4 else _bytes(rng, data, others)


def _bytes(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(out) + 1)
        roll = rng.randrange(9)
        if roll == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif roll == 1 and at < len(out):
            out[at] = rng.randrange(256)
        elif roll == 2:
            del out[at:at + rng.choice((1, 2, 4, 30))]
        elif roll == 3:
            out[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 2, 4))))
        elif roll == 4:
            out[at:at + 4] = struct.pack("<i", rng.choice((-1, 0, 1, 255, 2**31 - 1, -(2**31), 10**6)))
        elif roll == 5:
            out[at:at + 8] = struct.pack("<q", rng.choice((-1, 0, 2**63 - 1, 2**32, 10**9)))
        elif roll == 6 and len(out) > 2:
            start = rng.randrange(len(out))
            out[at:at] = out[start:start + rng.choice((1, 3, 10, 60))]
        elif roll == 7:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            out[at:at + rng.choice((0, 5, 40))] = other[start:start + rng.choice((5, 40, 200))]
        else:
            del out[at:]
        if not out:
            return bytes([rng.randrange(256)])
    return bytes(out)


def _numbers(rng: random.Random, data: bytes) -> bytes:
    """Another number where a small one stands in four or eight bytes, as lengths, counts, types and places do."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        width = rng.choice((4, 8))
        places = range(min(len(out), rng.choice((64, 512, 4096))) - width)
        for _ in range(30 if places else 0):
            at = rng.choice(places)
            if 0 < int.from_bytes(out[at:at + width], "little") < 1 << 20:
                out[at:at + width] = (rng.choice(NUMBERS) % (1 << 8 * width)).to_bytes(width, "little")
                break
    return bytes(out)


def _value(rng: random.Random, old: Any) -> Any:
    """Another value of JSON."""
    if isinstance(old, int) and not isinstance(old, bool) and rng.random() < 0.7:
        return rng.choice((old + 1, old - 1, -old, old * 2, *NUMBERS))
    if isinstance(old, str) and rng.random() < 0.5:
        return rng.choice((old + "x", old[:-1], old * 2, *WORDS))
    kinds = (None, True, False, rng.choice(NUMBERS), 0.5, 1e300, rng.choice(WORDS), [], {}, [old], {"": old}, [old] * 50, [[[old]]], str(old)[:50])
    return rng.choice(kinds)


def change_json(rng: random.Random, root: Any) -> None:
    """Change a value in lists and dicts, in place."""
    at, depth = root, 0
    while isinstance(at, (dict, list)) and at:
        depth += 1
        key = rng.choice(list(at)) if isinstance(at, dict) else rng.randrange(len(at))
        inner = at[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.9 - 0.02 * depth:
            at = inner
            continue
        roll = rng.randrange(8)
        if roll == 0:
            del at[key]
        elif roll == 1 and isinstance(at, list):
            at[key:key] = [inner] * rng.choice((1, 1, 3, 200))
        elif roll == 2:
            other = rng.choice(list(at)) if isinstance(at, dict) else rng.randrange(len(at))
            at[key], at[other] = at[other], at[key]
        elif roll == 3 and isinstance(at, dict):
            at[rng.choice((*WORDS, *map(str, at)))] = at.pop(key)
        else:
            at[key] = _value(rng, inner)
        return


def _is_json(data: bytes) -> bool:
    return data[:1] in (b"{", b"[")


def _json(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    if rng.random() < 0.02:  # deeper than any reader's stack
        return b'{"a":' * rng.choice((1000, 100_000)) + data
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return _bytes(rng, data, others)
    change_json(rng, root)
    return json.dumps(root).encode("utf-8", "surrogatepass")


def _is_safetensors(data: bytes) -> bool:
    return data[8:9] == b"{" and int.from_bytes(data[:8], "little") < len(data)


def _safetensors(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    length = int.from_bytes(data[:8], "little")
    head = _json(rng, data[8:8 + length], others)
    return struct.pack("<Q", len(head)) + head + data[8 + length:]


def _is_npy(data: bytes) -> bool:
    return data[:6] == b"\x93NUMPY" and len(data) > 12


def _npy(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    length = int.from_bytes(data[8:10], "little")
    head = data[10:10 + length].decode("latin1")
    number = str(rng.choice((*NUMBERS, 10**30)))
    digits = [i for i, c in enumerate(head) if c.isdigit()]
    roll = rng.randrange(6)
    if roll < 3 and digits:
        at = rng.choice(digits)
        head = head[:at] + number + head[at + 1:]
    elif roll == 3:
        head = head.replace("(", "(" * rng.choice((2, 50, 3000)), 1)
    elif roll == 4:
        head = head.replace("<", rng.choice((">", "|", "=", "O", "<V", "<U")), 1)
    else:
        head = head.replace("False", rng.choice(("True", "2", "None", "[]", "9**9**9", "__import__('os')")), 1)
    raw = head.encode("latin1", "replace")
    return data[:8] + struct.pack("<H", len(raw) & 0xFFFF) + raw + data[10 + length:]


@functools.lru_cache(512)
def _opcodes(data: bytes) -> tuple[tuple[str, bytes], ...]:
    """The opcodes of the pickle that begins a file, and what follows."""
    found, places = [], []
    try:
        for code, _, at in pickletools.genops(data):
            found.append(code.name)
            places.append(at)
    except Exception:  # damaged before: what could be read is changed
        pass
    ends = [*places[1:], places[-1] + 1] if places else []
    return (*((name, data[a:b]) for name, a, b in zip(found, places, ends, strict=True)), ("", data[ends[-1] if ends else 0:]))


_NEVER = b"\xff" * 8  # a length that no file has
_HOSTILE = (
    b"cos\nsystem\n", b"cbuiltins\nexec\n", b"\x8c\x02os\x8c\x06system\x93", b"cnumpy\nload\n", b"R", b"b", b"\x81", b"\x85R",
    b"(", b"]", b"}", b"h\x00", b"q\x00", b"j\xff\xff\xff\x7f", b"r\xff\xff\xff\x7f", b"2", b"0", b"a", b"e", b"s", b"u", b"Q", b"\x94", b"t", b"1",
    b"\x8d" + _NEVER, b"\x95" + _NEVER, b"\x96" + _NEVER, b"\x8a\xff" + b"\x01" * 255, b"\x8b\xff\xff\xff\x7f", b"J\xff\xff\xff\xff",
    b"G\x7f\xf8" + bytes(6), b"]\x94h\x00a",
)
_PLAIN = (b"K\x00", b"K\xff", b"J\xff\xff\xff\x7f", b"M\xff\xff", b"N", b"\x88", b"\x89", b"C\x02ab", b"\x8c\x01x", b")", b"]", b"}")


def _is_pickle(data: bytes) -> bool:
    return data[:1] == b"\x80" and data[1:2] <= b"\x05"


def _pickle(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    parts = [raw for _, raw in _opcodes(data)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, roll = rng.randrange(len(parts)), rng.randrange(8)
        if roll == 0 and len(parts) > 1:
            del parts[at]
        elif roll == 1:
            parts[at:at] = [parts[at]] * rng.choice((1, 1, 5, 300))
        elif roll == 2:
            other = rng.randrange(len(parts))
            parts[at], parts[other] = parts[other], parts[at]
        elif roll == 3:
            parts.insert(at, rng.choice(_HOSTILE))
        elif roll == 4:
            parts[at] = rng.choice(_HOSTILE)
        elif roll == 5 and len(parts[at]) > 1:  # the argument of an opcode
            raw = bytearray(parts[at])
            width = min(len(raw) - 1, rng.choice((1, 4, 8)))
            raw[1:1 + width] = (rng.choice(NUMBERS) % (1 << 8 * width)).to_bytes(width, "little")
            parts[at] = bytes(raw)
        elif roll == 6:
            foreign = rng.choice(others)
            if _is_pickle(foreign):
                parts.insert(at, rng.choice(_opcodes(foreign))[1])
        else:
            parts[at] = rng.choice(_PLAIN)
    return b"".join(parts)


def _fields(data: bytes) -> list[tuple[int, int, int, int]]:
    """(start, end, tag, where its content begins) of the fields of a message; none where this is not a message."""
    found, at = [], 0
    try:
        while at < len(data):
            tag, inner = take_varint(data, at, len(data))
            if not 0 < tag < 1 << 29:
                return []
            kind = tag & 7
            if kind == LENGTH:
                inner, end = take_length(data, inner, len(data))
            else:
                end = take_varint(data, inner, len(data))[1] if kind == 0 else inner + {1: 8, 5: 4}.get(kind, len(data) + 1)
            if end > len(data):
                return []
            found.append((at, end, tag, inner))
            at = end
    except ModelFileError:
        return []
    return found


_top_fields = functools.lru_cache(4096)(_fields)


def _is_message(data: bytes) -> bool:
    return bool(_top_fields(data))


def _varint(value: int) -> bytes:
    out = bytearray()
    put_varint(out, value % (1 << 64))
    return bytes(out)


def _framed(tag: int, content: bytes) -> bytes:
    return _varint(tag) + _varint(len(content)) + content


# In one piece: a list of cases.
def _message(rng: random.Random, data: bytes, others: list[bytes], depth: int = 0) -> bytes:
    fields = _top_fields(data) if depth == 0 else _fields(data)
    if not fields:
        return _bytes(rng, data or b"\0", others)
    start, end, tag, inner = rng.choice(fields)
    whole, content = data[start:end], data[inner:end]
    if tag & 7 == LENGTH and len(content) > 1 and rng.random() < 0.85 - 0.04 * depth and _fields(content):
        return data[:start] + _framed(tag, _message(rng, content, others, depth + 1)) + data[end:]
    roll = rng.randrange(10)
    if roll == 0:
        put = b""
    elif roll == 1:
        put = whole * rng.choice((2, 2, 3, 100)) if len(whole) < 1000 else whole * 2
    elif roll == 2:  # another field of the message, or of another file
        a, b, *_ = rng.choice(fields)
        put = data[a:b]
    elif roll == 3:
        put = _varint(rng.choice((tag + 8, max(tag - 8, 1), tag ^ 1, tag ^ 2, rng.randrange(1, 400)))) + data[inner:end]
    elif roll == 4 and tag & 7 == LENGTH:  # in itself
        put = whole
        for _ in range(rng.choice((1, 2, 60, 1500)) if len(whole) < 200 else 1):
            put = _framed(tag, put)
    elif tag & 7 == LENGTH:
        word = rng.choice(WORDS).encode()
        packed = b"".join(_varint(rng.choice(NUMBERS)) for _ in range(rng.choice((1, 3, 12))))
        a, b, _, c = rng.choice(fields)
        put = _framed(tag, rng.choice((b"", word, packed, content[:-1], content + content[-4:], _bytes(rng, content or b"\0", others), data[c:b])))
    elif tag & 7 == 0:
        put = _varint(tag) + _varint(rng.choice((*NUMBERS, int.from_bytes(content[:1], "little") + 1)))
    else:
        put = data[start:inner] + rng.choice((b"\xff", b"\0", b"\x7f\xc0")) * len(content)
        put = put[:len(whole)]
    return data[:start] + put + data[end:]


def _is_zip(data: bytes) -> bool:
    return data[:4] == b"PK\x03\x04"


@functools.lru_cache(256)
def _entries(data: bytes) -> tuple[tuple[str, bytes, int], ...] | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return tuple((info.filename, archive.read(info), info.compress_type) for info in archive.infolist())
    except Exception:  # damaged before
        return None


def zipped(entries: list[tuple[str, bytes, int]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content, method in entries:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return out.getvalue()


def _zip(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    found = _entries(data)
    if not found:
        return _bytes(rng, data, others)
    entries = list(found)
    at, roll = rng.randrange(len(entries)), rng.randrange(12)
    name, content, method = entries[at]
    if roll == 0:
        del entries[at]
    elif roll == 1:
        entries[at] = (rng.choice((name + "x", "../" + name, "/" + name, rng.choice(entries)[0], name.upper(), "a/" * 100 + name)), content, method)
    elif roll == 2:  # a bomb
        entries[at] = (name, content[:200] + bytes(rng.choice((10**4, 10**5, 10**5, 3 * 10**6))), zipfile.ZIP_DEFLATED)
    elif roll == 3:
        entries[at] = (name, rng.choice(entries)[1], rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)))
    elif roll == 4:  # lengths, places and methods of the directory
        raw = bytearray(data)
        heads = [i for i in range(len(raw) - 4) if raw[i:i + 4] in (b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04")]
        place = rng.choice(heads) + rng.randrange(4, 44)
        width = rng.choice((2, 4))
        raw[place:place + width] = (rng.choice(NUMBERS) % (1 << 8 * width)).to_bytes(width, "little")
        return bytes(raw)
    elif roll == 5 and method == zipfile.ZIP_DEFLATED:
        entries[at] = (name, zlib.compress(content), method)
    else:
        entries[at] = (name, changed(rng, content or b"\0", others), method)
    return zipped(entries)


# The first that recognizes a file changes it; what nothing recognizes changes by its bytes.
_FORMATS: tuple[tuple[Callable[[bytes], bool], Callable[..., bytes]], ...] = (
    (_is_zip, _zip), (_is_npy, _npy), (_is_json, _json), (_is_safetensors, _safetensors), (_is_pickle, _pickle), (_is_message, _message),
)
