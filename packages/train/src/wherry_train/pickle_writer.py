"""Writes plain data and arrays as a pickle, which Python's own `pickle` reads.

Python's pickler would write arrays as NumPy pickles them. That changed with NumPy 2, whose pickles
older ones cannot read; and it copies every array before it is written. Here the arrays of all NumPys look
like those of NumPy 1, which all can read, and go straight from memory to the file.

Only data is written: containers, numbers, text, arrays and tensors. Anything else could not be
loaded again, as loading runs no code.
"""
from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Protocol

from wherry_tensor import ops
from wherry_tensor._core import Tensor, reinterpreted, uint8
from wherry_tensor.arguments import numpy_module
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["MAX_DEPTH", "TENSOR_CODES", "BareTensor", "PickleWriter", "bytes_of", "is_key"]

MAX_DEPTH = 200  # of containers within containers; each takes a few levels of Python's 1000
_PART = 1000  # items that one opcode appends
_DIRECT = 1 << 16  # bytes; smaller pieces are put together before they are written

TENSOR_CODES = {  # how NumPy calls the dtypes of tensors; bfloat16 is kept in the bits of uint16, as Paddle does
    "bool": "b1",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "float16": "f2",
    "bfloat16": "u2",
    "float32": "f4",
    "float64": "f8",
    "complex64": "c8",
    "complex128": "c16",
}


class WritableFile(Protocol):
    """What is written to."""

    def write(self, data: Any, /) -> Any: ...


class PickleWriter:
    """Writes one object with `protocol` 2, 3 or 4.

    A tensor is written as the pair of its name and its values, or, with `bare_tensors`, as its values.
    """

    def __init__(self, file: WritableFile, protocol: int) -> None:
        self._file = file
        self._protocol = protocol
        self._pending = bytearray()
        self._memo: dict[Any, int] = {}
        self._alive: list[Any] = []  # what the memo knows by its id
        self._open: set[int] = set()
        self._depth = 0

    def write(self, value: Any) -> None:
        """Write `value`, to the end of the pickle."""
        self._pending += b"\x80" + bytes([self._protocol])
        self._save(value)
        self._pending += b"."
        self._flush()

    def _flush(self) -> None:
        self._file.write(bytes(self._pending))
        self._pending.clear()

    def _save(self, value: Any) -> None:
        put = self._pending
        kind = type(value)
        if value is None:
            put += b"N"
        elif kind is bool:
            put += b"\x88" if value else b"\x89"
        elif kind is int:
            self._int(value)
        elif kind is float:
            put += b"G" + struct.pack(">d", value)
        elif kind is str:
            self._text(value)
        elif isinstance(value, Tensor):
            self._named(value)
        elif kind is BareTensor:
            self._tensor(value.tensor)
        elif kind in _containers:
            self._container(value, kind)
        elif kind is bytes:
            self._bytes(value)
        elif kind is complex:
            self._call("builtins", "complex", value.real, value.imag)
        elif kind is bytearray:
            self._call("builtins", "bytearray", bytes(value))
        elif kind is slice:
            self._call("builtins", "slice", value.start, value.stop, value.step)
        elif kind is range:
            self._call("builtins", "range", value.start, value.stop, value.step)
        else:
            self._numpy(value)
        if len(self._pending) > _DIRECT:
            self._flush()

    # Containers.

    def _container(self, value: Any, kind: type) -> None:
        key = id(value)
        if key in self._open:
            raise InvalidArgumentError(
                f"save: a {kind.__name__} contains itself. Got a circle of containers, expected a tree. Break the circle."
            )
        if self._get(key):
            return
        if self._depth >= MAX_DEPTH:
            raise InvalidArgumentError(
                f"save: the containers are nested too deeply. Got more than {MAX_DEPTH} levels, expected fewer. Flatten them."
            )
        self._open.add(key)
        self._depth += 1
        put = self._pending
        if kind is tuple:
            self._tuple(value)
            if value:
                self._put(key, value)
        elif kind is list:
            put += b"]"
            self._put(key, value)
            self._parts(value, b"e")
        elif kind is dict:
            put += b"}"
            self._put(key, value)
            self._parts(value.items(), b"u", pairs=True)
        elif kind is OrderedDict:
            self._global("collections", "OrderedDict")
            put += b")R"
            self._put(key, value)
            self._parts(value.items(), b"u", pairs=True)
        elif self._protocol < 4:
            self._call("builtins", kind.__name__, [_checked_key(item, kind.__name__, "item") for item in value])
            self._put(key, value)
        elif kind is set:
            put += b"\x8f"
            self._put(key, value)
            self._parts([_checked_key(item, "set", "item") for item in value], b"\x90")
        else:
            put += b"("
            for item in value:
                self._save(_checked_key(item, "frozenset", "item"))
            self._pending += b"\x91"
            self._put(key, value)
        self._depth -= 1
        self._open.discard(key)

    def _tuple(self, items: tuple[Any, ...]) -> None:
        if not items:
            self._pending += b")"
            return
        if len(items) > 3:
            self._pending += b"("
        for item in items:
            self._save(item)
        self._pending += (b"\x85", b"\x86", b"\x87")[len(items) - 1] if len(items) <= 3 else b"t"

    def _parts(self, items: Iterable[Any], opcode: bytes, pairs: bool = False) -> None:
        count = 0
        for item in items:
            if count % _PART == 0:
                self._pending += opcode + b"(" if count else b"("
            if pairs:
                self._save(_checked_key(item[0], "dict", "key"))
                self._save(item[1])
            else:
                self._save(item)
            count += 1
        if count:
            self._pending += opcode

    # Numbers and text.

    def _int(self, value: int) -> None:
        put = self._pending
        if 0 <= value < 256:
            put += b"K" + bytes([value])
        elif 0 <= value < 65536:
            put += b"M" + struct.pack("<H", value)
        elif -(1 << 31) <= value < 1 << 31:
            put += b"J" + struct.pack("<i", value)
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            put += b"\x8a" + bytes([len(data)]) if len(data) < 256 else b"\x8b" + struct.pack("<i", len(data))
            put += data

    def _text(self, value: str) -> None:
        if self._get(("text", value)):
            return
        data = value.encode("utf-8", "surrogatepass")
        self._sized(data, b"\x8c" if self._protocol >= 4 else b"", b"X", b"\x8d")
        self._put(("text", value))

    def _bytes(self, value: Any) -> None:
        if self._protocol >= 3:
            self._sized(value, b"C", b"B", b"\x8e")
        else:  # which has text only; NumPy's arrays hold such bytes too
            self._global("_codecs", "encode")
            self._sized(str(value, "latin1").encode(), b"", b"X", b"\x8d")
            self._text("latin1")
            self._pending += b"\x86R"

    def _sized(self, data: Any, short: bytes, medium: bytes, long: bytes) -> None:
        count = len(data)
        put = self._pending
        if short and count < 256:
            put += short + bytes([count])
        elif count < 1 << 32:
            put += medium + struct.pack("<I", count)
        elif self._protocol >= 4:
            put += long + struct.pack("<Q", count)
        else:
            raise InvalidArgumentError(
                f"save: protocol {self._protocol} has no room for this. Got {count} bytes in one piece, expected fewer than "
                f"{1 << 32}. Use protocol=4, the default."
            )
        if count < _DIRECT:
            put += data
        else:
            self._flush()
            self._file.write(data)

    # Arrays.

    def _named(self, tensor: Tensor) -> None:
        self._global("builtins", "tuple")
        self._text(tensor.name)
        self._tensor(tensor)
        self._pending += b"\x86\x85R"

    def _tensor(self, tensor: Tensor) -> None:
        self._array(tuple(tensor.shape), TENSOR_CODES[tensor.dtype.name], bytes_of(tensor), False)

    def _array(self, shape: tuple[int, ...], code: str, data: Any, fortran: bool) -> None:
        self._global("numpy.core.multiarray", "_reconstruct")
        self._global("numpy", "ndarray")
        self._pending += b"K\x00\x85"
        self._bytes(b"b")
        self._pending += b"\x87R(K\x01"
        self._tuple(shape)
        self._dtype(code)
        self._pending += b"\x88" if fortran else b"\x89"
        self._bytes(data)
        self._pending += b"tb"

    def _dtype(self, code: str) -> None:
        if self._get(("dtype", code)):
            return
        self._global("numpy", "dtype")
        self._text(code)
        self._pending += b"\x89\x88\x87R("
        size = int(code[1:])
        if code[0] in "SU":
            width = size * 4 if code[0] == "U" else size
            state = (3, "<" if code[0] == "U" else "|", None, None, None, width, 4 if code[0] == "U" else 1, 8 * (code[0] == "U"))
        else:
            state = (3, "|" if size == 1 else "<", None, None, None, -1, -1, 0)
        for item in state:
            self._save(item)
        self._pending += b"tb"
        self._put(("dtype", code))

    def _numpy(self, value: Any) -> None:
        numpy = numpy_module()
        if numpy is not None and isinstance(value, numpy.ndarray):
            if self._get(id(value)):
                return
            code = _code(value.dtype)
            fortran = value.flags.f_contiguous and not value.flags.c_contiguous
            plain = numpy.asarray(value.T if fortran else value, dtype=value.dtype.newbyteorder("<"), order="C")
            self._array(value.shape, code, memoryview(plain.reshape(-1).view(numpy.uint8)) if plain.size else b"", fortran)
            self._put(id(value), value)
        elif numpy is not None and isinstance(value, numpy.generic):
            self._global("numpy.core.multiarray", "scalar")
            self._dtype(_code(value.dtype))
            self._bytes(numpy.asarray(value, dtype=value.dtype.newbyteorder("<")).tobytes())
            self._pending += b"\x86R"
        elif numpy is not None and isinstance(value, numpy.dtype):
            self._dtype(_code(value))
        else:
            raise _not_data(value)

    # Names and what was written before.

    def _call(self, module: str, name: str, *arguments: Any) -> None:
        self._global(module, name)
        self._tuple(arguments)
        self._pending += b"R"

    def _global(self, module: str, name: str) -> None:
        key = (module, name)
        if self._get(key):
            return
        if self._protocol >= 4:
            self._text(module)
            self._text(name)
            self._pending += b"\x93"
        else:
            if self._protocol == 2:  # whose names are those of Python 2
                module, name = _names_of_python_2.get((module, name), ("__builtin__" if module == "builtins" else module, name))
            self._pending += f"c{module}\n{name}\n".encode()
        self._put(key)

    def _get(self, key: Any) -> bool:
        at = self._memo.get(key)
        if at is None:
            return False
        self._pending += b"h" + bytes([at]) if at < 256 else b"j" + struct.pack("<I", at)
        return True

    def _put(self, key: Any, alive: Any = None) -> None:
        at = self._memo[key] = len(self._memo)
        if alive is not None:
            self._alive.append(alive)
        if self._protocol >= 4:
            self._pending += b"\x94"
        else:
            self._pending += b"q" + bytes([at]) if at < 256 else b"r" + struct.pack("<I", at)


_KEY_PARTS = 1000
_keys = frozenset({int, float, str, bool, type(None), bytes, complex, range})


def is_key(value: Any) -> bool:
    """Whether a value may be a dict's key or a set's item in a file: one that compares and hashes without running code, and
    quickly: tuples of tuples that stand in each other many times have few bytes in a file, and take ages to hash."""
    waiting, seen = [value], 0
    while waiting and seen <= _KEY_PARTS:
        part = waiting.pop()
        seen += 1
        kind = type(part)
        if kind is tuple or kind is frozenset:
            if len(part) > _KEY_PARTS:
                return False
            waiting += part
        elif kind not in _keys and not _is_number(part):
            return False
    return not waiting and seen <= _KEY_PARTS


def _is_number(value: Any) -> bool:
    numpy = numpy_module() if type(value).__module__ == "numpy" else None
    return numpy is not None and isinstance(value, (numpy.number, numpy.bool_, numpy.str_, numpy.bytes_))


def _checked_key(value: Any, container: str, role: str) -> Any:
    if type(value) is not str and not is_key(value):
        raise InvalidTypeError(
            f"save: the {role} of a {container} would not be loaded again. Got a {type(value).__name__}, expected text, numbers, "
            f"or tuples of them with fewer than {_KEY_PARTS} parts. "
            + (f"Save the {container} as a list." if role == "item" else "Save the pairs as a list of tuples.")
        )
    return value


def bytes_of(tensor: Tensor) -> Any:
    """The memory of a tensor, row by row; that of a copy where it is laid out otherwise."""
    if not tensor.size:
        return b""
    flat = ops.reshape(tensor.detach(), (tensor.size,))
    if not flat.is_contiguous():
        flat = ops.copy(flat)
    return memoryview(flat if flat.dtype is uint8 else reinterpreted(flat, uint8))


class BareTensor:
    """A tensor to be written as an array, without its name."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


_names_of_python_2 = {("builtins", "range"): ("__builtin__", "xrange")}
_containers = frozenset({tuple, list, dict, OrderedDict, set, frozenset})


def _code(dtype: Any) -> str:
    if dtype.kind in "biufcSU" and dtype.fields is None and dtype.subdtype is None and dtype.itemsize:
        return f"{dtype.kind}{dtype.itemsize // 4 if dtype.kind == 'U' else dtype.itemsize}"
    raise InvalidTypeError(
        f"save: an array holds other things than numbers and text. Got dtype {dtype}, expected bool, integers, floats, complex "
        f"numbers or text. Convert it, with array.tolist() for instance."
    )


def _not_data(value: Any) -> InvalidTypeError:
    kind = type(value)
    return InvalidTypeError(
        f"save: this is not plain data. Got {kind.__module__}.{kind.__qualname__}, expected tensors, arrays, numbers, text, and "
        f"list, tuple, dict, OrderedDict or set of them. Save what it consists of: loading makes no objects of other classes, "
        f"as that would run code."
    )
