"""Reads the pickles of `save` and of Paddle, and nothing that could run code.

A pickle is a program for a small stack machine, and Python's machine can import and call anything. This
one knows the data: containers, numbers, text, NumPy's arrays. It is not a filter in front of Python's
machine, so what is not written here cannot happen.

What a file makes is bounded by its own size: a pickle may name one piece many times, so copies of pieces
are counted, and keys whose hashes collide are refused before looking them up takes long.
"""
from __future__ import annotations

import pickle
import struct
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError
from wherry_train.pickle_writer import MAX_DEPTH, TENSOR_CODES, is_key

__all__ = ["FileFormatError", "PickleReader", "StoredArray", "resolved"]

_WINDOW = 1 << 16  # bytes that are read ahead; larger pieces go straight to where they stay
_STEP = 1 << 24
_MAX_COPIES = 4  # how many times the size of the file its arrays, and the containers made of containers, may have in all
_FREE_COPIES = 1 << 16  # bytes that need no such reason
_MAX_COLLISIONS = 32  # keys that differ and have one hash
_MAX_AXES = 32  # of an array, the least that NumPys allow
_SMALL_INT = sys.hash_info.modulus  # ints between this and its negative are their own hashes

too_deep = (
    f"load: the containers are nested too deeply. Got more than {MAX_DEPTH} levels, expected fewer. The file was not written by save."
)


class FileFormatError(InvalidArgumentError, pickle.UnpicklingError):
    """A file is damaged, or asks for more than data."""


class _Mark:
    """A singleton that marks on the stack where the items of a container begin."""


class _Global:
    """A name that the pickle looked up."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name = name
        self.call = call


class Deferred:
    """Something whose value is made when everything has been read."""

    __slots__ = ()

    def value(self) -> Any:
        raise NotImplementedError


class StoredDtype:
    """A dtype of NumPy, by its code."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        self.code = code
        self.order = "<"

    @staticmethod
    def of(code: Any) -> StoredDtype:
        """The dtype with this code.

        Raises:
            FileFormatError: there is no such dtype.
        """
        if isinstance(code, str) and len(code) < 12:
            digits = code[1:]
            text = code[:1] in ("S", "U") and digits.isascii() and digits.isdecimal() and 0 < int(digits) < 1 << 29
            if code in _number_codes or text:
                return StoredDtype(code)
        raise FileFormatError(f"load: the file holds an array of dtype {_shown(code)}, expected numbers or text.")

    def set_state(self, state: Any) -> None:
        if not (isinstance(state, tuple) and len(state) >= 8 and state[1] in ("<", ">", "|", "=") and state[2:5] == (None,) * 3):
            raise FileFormatError("load: the file holds an array of records or objects, which is not plain data.")
        self.order = state[1]

    @property
    def itemsize(self) -> int:
        return int(self.code[1:]) * (4 if self.code[0] == "U" else 1)

    @property
    def numpy(self) -> Any:
        return _numpy().dtype(f"{'<' if self.order == '=' else self.order}{self.code}")


class StoredArray:
    """An array as it lies in the file: bytes, with a shape and a dtype."""

    __slots__ = ("data", "dtype", "fortran", "shape")

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = (0,)
        self.dtype = StoredDtype("u1")
        self.fortran = False
        self.data: Any = b""

    @property
    def cost(self) -> int:
        """Bytes that it takes."""
        return len(self.data)

    def set_state(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) not in (4, 5):
            raise FileFormatError("load: the file is damaged: an array without its parts.")
        shape, dtype, fortran, data = state[-4:]
        if not (
            isinstance(shape, tuple)
            and all(type(size) is int and size >= 0 for size in shape)
            and len(shape) <= _MAX_AXES
            and isinstance(dtype, StoredDtype)
            and _addressable(shape, dtype.itemsize)
        ):
            raise FileFormatError("load: the file is damaged: an array without shape or dtype.")
        if isinstance(data, str):  # of Python 2
            data = data.encode("latin1")
        if not isinstance(data, (bytes, bytearray, Blob)):
            raise FileFormatError("load: the file holds an array of objects, which is not plain data.")
        count = dtype.itemsize
        for size in shape:
            count *= size
        if count != len(data):
            raise FileFormatError(
                f"load: the file is damaged: an array of shape {list(shape)} and dtype {dtype.code} has {len(data)} bytes, "
                f"expected {count}."
            )
        self.shape, self.dtype, self.fortran, self.data = shape, dtype, bool(fortran), data

    def value(self) -> Any:
        """As a tensor; as an array of NumPy where no tensor can hold it (unsigned integers above 8 bits, text, ...)."""
        return self.tensor() if self.dtype.code in _tensor_names and len(self.shape) <= _core.MAX_RANK else self.numpy()

    def numpy(self) -> Any:
        """As an array of NumPy, with memory of its own."""
        np = _numpy()
        data: Any = memoryview(self.data.tensor()) if isinstance(self.data, Blob) else bytearray(self.data)
        flat = np.frombuffer(data, self.dtype.numpy) if len(data) else np.empty([0], self.dtype.numpy)
        return flat.reshape(self.shape, order="F" if self.fortran else "C")

    def tensor(self) -> Tensor:
        """As a tensor on the current device, with memory of its own. NumPy's uint16 are the bits of bfloat16, as Paddle keeps them."""
        x: Tensor = _core.to_device(self._on_cpu(), _core.get_current_device())
        return x

    def _on_cpu(self) -> Tensor:
        name = _tensor_names.get(self.dtype.code)
        if name is None:
            raise FileFormatError(
                f"load: the file holds an array that no tensor can hold. Got dtype {self.dtype.code}, expected one of "
                f"{', '.join(sorted(_tensor_names))}. Load it with return_numpy=True."
            )
        if len(self.shape) > _core.MAX_RANK:
            raise FileFormatError(
                f"load: the file holds an array that no tensor can hold. Got {len(self.shape)} axes, expected at most "
                f"{_core.MAX_RANK}. Load it with return_numpy=True."
            )
        dtype = as_dtype(name, "load")
        if self.dtype.order == ">":
            array = self.numpy()
            return _core.from_buffer(array.astype(array.dtype.newbyteorder("<")))
        shape = self.shape[::-1] if self.fortran else self.shape
        if len(self.data) == 0:
            return _core.uninitialized(self.shape, dtype)
        flat = self.data.tensor() if isinstance(self.data, Blob) else _core.from_buffer(self.data)
        if dtype.is_bool:
            flat = ops.cast(flat, dtype)  # a byte of the file may be anything, a bool is 0 or 1
        elif dtype is not flat.dtype:
            flat = _core.reinterpreted(flat, dtype)
        x = ops.reshape(flat, shape)
        return ops.copy(ops.transpose(x, tuple(range(len(shape) - 1, -1, -1)))) if self.fortran and len(shape) > 1 else x


_tensor_names = {code: name for name, code in TENSOR_CODES.items()}
_number_codes = frozenset(  # f12, f16, c24 and c32 are what NumPy calls longdouble, here or there
    "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 f12 f16 c8 c16 c24 c32".split()
)


def _addressable(shape: tuple[int, ...], itemsize: int) -> bool:
    """Whether an array's strides can be said in 63 bits; a size of 0 does not excuse the others."""
    for size in shape:
        itemsize *= max(size, 1)
    return itemsize < 1 << 63


class Blob:
    """Many bytes, which stand where a tensor can use them."""

    __slots__ = ("_bytes", "_used")

    def __init__(self, data: Tensor) -> None:
        self._bytes = data
        self._used = False

    def __len__(self) -> int:
        return self._bytes.shape[0]

    def tensor(self) -> Tensor:
        """A uint8 tensor of its own: the first time without a copy."""
        if self._used:
            return ops.copy(self._bytes)
        self._used = True
        return self._bytes

    def __bytes__(self) -> bytes:
        return memoryview(self._bytes).tobytes()


class ReadableFile(Protocol):
    """What is read from."""

    def read(self, count: int, /) -> bytes: ...

    def readinto(self, target: Any, /) -> int | None: ...


class PickleReader:
    """Reads one pickle from `file`, of which `size` bytes are left.

    Args:
        file: what to read from.
        size: how many bytes it has from here on.
        names: further functions that the pickle may call, by module and name, and values that it may name.
        persistent: makes a value of what stands for one outside of the pickle; None refuses these.
    """

    def __init__(
        self,
        file: ReadableFile,
        size: int,
        names: Mapping[tuple[str, str], Any] | None = None,
        persistent: Callable[[Any], Any] | None = None,
    ) -> None:
        self._file = file
        self._left = size
        self._more_names = {
            (module, name): _Global(f"{module}.{name}", made) if callable(made) else made
            for (module, name), made in (names or {}).items()
        }
        self._persistent = persistent
        self._claims_left = _MAX_COPIES * size + _FREE_COPIES
        self._by_hash: dict[int, list[Any]] = {}  # keys whose hash somebody may have chosen
        self._window = b""
        self._at = 0
        self.consumed = 0
        self._filled: list[Any] = []  # the containers that can be filled later
        self._depths: dict[int, tuple[Any, int]] = {}  # of tuples that hold tuples, by their id

    def read(self) -> Any:
        """The object, with StoredArray for arrays and Blob for many bytes; `resolved` makes it final.

        Raises:
            FileFormatError: it is damaged, or it is not plain data.
        """
        try:
            return _Machine(self).run()
        except FileFormatError:
            raise
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, struct.error, OverflowError, MemoryError) as error:
            raise FileFormatError(f"load: the file is damaged, at byte {self.consumed}: {error}.") from error

    def forget(self, kept: Any = None) -> None:
        """Empty the containers that were read, except for what `kept` holds.

        Python lets go of a list in a list in a list ... by going as deep. In a browser 10000 of them are deeper than
        its stack and end the tab, so they are emptied while they are held here.
        """
        if len(self._filled) > MAX_DEPTH:  # fewer cannot be too deep
            reached, waiting = set(), [kept]
            while waiting:
                part = waiting.pop()
                if isinstance(part, (dict, list, tuple)) and id(part) not in reached:
                    reached.add(id(part))
                    waiting += part.values() if isinstance(part, dict) else part
            for container in self._filled:
                if id(container) not in reached:
                    container.clear()
        self._filled.clear()
        self._depths.clear()

    def _tuple(self, items: Iterable[Any]) -> tuple[Any, ...]:
        made = tuple(items)
        depth = 1 + max((self._depths.get(id(item), (None, 1))[1] for item in made if type(item) is tuple), default=0)
        if depth > MAX_DEPTH:
            raise FileFormatError(too_deep)
        if depth > 1:
            self._depths[id(made)] = (made, depth)
        return made

    def _open(self, container: Any) -> Any:
        self._filled.append(container)
        return container

    def _claim(self, bytes_: int) -> None:
        """Count what was made of pieces that the file may name again and again."""
        self._claims_left -= bytes_
        if self._claims_left < 0:
            raise FileFormatError(
                f"load: the file asks for more memory than its size explains. Got pieces that are used so often that they make "
                f"more than {_MAX_COPIES} times the file, expected each array to have its own bytes. It was not written by save."
            )

    def _key(self, value: Any) -> Any:
        """What a dict is looked up by, or a set holds: plain values, which compare without running anything."""
        kind = type(value)
        # Hashes of text are randomized and small ints are their own hashes, so collisions cannot be chosen.
        if kind is str or kind is bytes or (kind is int and -_SMALL_INT < value < _SMALL_INT) or value is None:
            return value
        if not is_key(value):
            raise FileFormatError(f"load: the file has a key of type {_shown(value)}, expected text, numbers or short tuples of them.")
        if kind is tuple or kind is frozenset:
            self._claim(len(value))  # its parts are looked at each time
        same = self._by_hash.setdefault(hash(value), [])
        if value not in same:
            if len(same) >= _MAX_COLLISIONS:
                raise FileFormatError(
                    f"load: the file has keys that were chosen to be slow. Got more than {_MAX_COLLISIONS} different ones with "
                    f"the same hash, expected hardly any. It was not written by save."
                )
            same.append(value)
        return value

    # Bytes.

    def _take(self, count: int) -> bytes:
        """The next bytes."""
        end = self._at + count
        if end > len(self._window):
            if count > self._left:
                raise self._truncated(count)
            self._window = self._window[self._at :]
            self._at, end = 0, count
            while len(self._window) < count:
                more = self._file.read(min(_WINDOW + count, self._left - len(self._window)))
                if not more:
                    raise self._truncated(count)
                self._window += more
        found = self._window[self._at : end]
        self._at = end
        self._left -= count
        self.consumed += count
        return found

    def _line(self) -> str:
        line = bytearray()
        while (character := self._take(1)) != b"\n":
            line += character
            if len(line) > 1000:
                raise FileFormatError(f"load: the file is damaged, at byte {self.consumed}: a name without an end.")
        return line.decode()

    def _data(self, count: int) -> Any:
        """Bytes of the pickle's own: many of them as a Blob."""
        if count < _WINDOW:
            return self._take(count)
        if count > self._left:
            raise self._truncated(count)
        data = _core.uninitialized((count,), _core.uint8)
        target = memoryview(data)
        head = self._window[self._at : self._at + count]
        target[: len(head)] = head
        self._at += len(head)
        at = len(head)
        while at < count:
            got = self._file.readinto(target[at : at + _STEP])
            if not got:
                raise self._truncated(count)
            at += got
        self._left -= count
        self.consumed += count
        return Blob(data)

    def _truncated(self, count: int) -> FileFormatError:
        return FileFormatError(
            f"load: the file ends too early. Got {self._left} bytes at byte {self.consumed}, expected {count}. It was damaged, or "
            f"not written to the end. Load another copy."
        )

    def _text(self, count: int) -> str:
        return str(bytes(self._data(count)), "utf-8", "surrogatepass")

    def _found(self, module: Any, name: Any) -> Any:
        """What the pickle calls by a name."""
        known = None
        if type(module) is str and type(name) is str:
            known = self._more_names.get((module, name)) or _names.get((module, name))
        if known is None and isinstance(module, str) and module.split(".")[0] in ("torch", "torchvision"):
            raise FileFormatError(
                f"load: the file asks for {module}.{name}: it holds an object of PyTorch, whose class would run code. Got more than "
                f"tensors, numbers, text and containers, expected these. Write torch.save(model.state_dict(), path), and load that."
            )
        if known is None:
            raise FileFormatError(
                f"load: the file asks for {module}.{name}, which is not plain data. Only tensors, arrays, numbers, text and "
                f"containers are loaded, as anything else could run code. If the file is yours, save its contents as plain data."
            )
        return known


class _Machine:
    """The stack machine that a pickle is a program of: values, marks among them, and a memo of values that come again.

    Each opcode is a function of the table _OPCODES, but for the last one, ".", which `run` looks for. Calling them out of a dict takes no longer
    than comparing one opcode after the other took.
    """

    __slots__ = ("marks", "memo", "push", "reader", "stack", "take")

    def __init__(self, reader: PickleReader) -> None:
        self.reader, self.take = reader, reader._take
        self.stack: list[Any] = []
        self.push = self.stack.append
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value that the pickle makes."""
        take, opcodes = self.take, _OPCODES
        first = take(1)
        if first != b"\x80":
            raise FileFormatError(f"load: this is not a file of save. Got the first byte {first!r}, expected b'\\x80'.")
        protocol = take(1)[0]
        if not 2 <= protocol <= 5:
            raise FileFormatError(f"load: this is not a pickle. Got protocol {protocol}, expected 2 to 5.")
        while (op := take(1)) != b".":
            step = opcodes.get(op)
            if step is None:
                raise self.refused(op)
            step(self)
        if len(self.stack) != 1 or self.marks:
            raise FileFormatError("load: the file is damaged: values are left over at its end.")
        if isinstance(self.stack[0], _Global):
            raise FileFormatError(f"load: the file holds {self.stack[0].name} itself, which is not data.")
        return self.stack[0]

    def pop(self) -> Any:
        """The last value, which is not taken from in front of a mark."""
        if self.marks and self.marks[-1] == len(self.stack):
            raise FileFormatError(f"load: the file is damaged, at byte {self.reader.consumed}: a value is missing.")
        return self.stack.pop()

    def popped(self) -> list[Any]:
        """The values after the last mark."""
        at = self.marks.pop()
        items = self.stack[at:]
        del self.stack[at:]
        return items

    def number(self, form: str) -> Any:
        """The next number of the file, in a form of `struct`."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def refused(self, op: bytes) -> FileFormatError:
        return FileFormatError(
            f"load: the file asks for more than data. Got opcode {op!r} at byte {self.reader.consumed - 1}, expected those of "
            f"containers, numbers, text and arrays. It is damaged, or holds objects of a class; loading runs no code."
        )


_Step = Callable[[_Machine], None]
_OPCODES: dict[bytes, _Step] = {}


def _opcode(code: bytes) -> Callable[[_Step], _Step]:
    def register(step: _Step) -> _Step:
        _OPCODES[code] = step
        return step

    return register


_DOUBLE = struct.Struct(">d")

# Constants, numbers, text and bytes, each by its opcode; lambdas where all there is to say is how it is read.
_OPCODES |= {
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(True),
    b"\x89": lambda m: m.push(False),
    b")": lambda m: m.push(()),
    b"K": lambda m: m.push(m.take(1)[0]),
    b"M": lambda m: m.push(int.from_bytes(m.take(2), "little")),
    b"J": lambda m: m.push(int.from_bytes(m.take(4), "little", signed=True)),
    b"G": lambda m: m.push(_DOUBLE.unpack(m.take(8))[0]),
    b"\x8a": lambda m: m.push(int.from_bytes(m.take(m.take(1)[0]), "little", signed=True)),
    b"\x8b": lambda m: m.push(int.from_bytes(bytes(m.reader._data(m.number("<I"))), "little", signed=True)),
    b"\x8c": lambda m: m.push(str(m.take(m.take(1)[0]), "utf-8", "surrogatepass")),
    b"X": lambda m: m.push(m.reader._text(m.number("<I"))),
    b"\x8d": lambda m: m.push(m.reader._text(m.number("<Q"))),
    b"U": lambda m: m.push(str(m.take(m.take(1)[0]), "latin1")),
    b"T": lambda m: m.push(str(bytes(m.reader._data(m.number("<I"))), "latin1")),
    b"C": lambda m: m.push(m.take(m.take(1)[0])),
    b"B": lambda m: m.push(m.reader._data(m.number("<I"))),
    b"\x8e": lambda m: m.push(m.reader._data(m.number("<Q"))),
    b"\x96": lambda m: m.push(_bytearray(m.reader, m.reader._data(m.number("<Q")))),
}


# The memo, marks, and what is thrown away.
@_opcode(b"\x94")
def _memoize(m: _Machine) -> None:
    m.memo[len(m.memo)] = m.stack[-1]


def _put(m: _Machine, at: int) -> None:
    m.memo[at] = m.stack[-1]


_OPCODES |= {
    b"q": lambda m: _put(m, m.take(1)[0]),
    b"r": lambda m: _put(m, m.number("<I")),
    b"h": lambda m: m.push(m.memo[m.take(1)[0]]),
    b"j": lambda m: m.push(m.memo[m.number("<I")]),
    b"(": lambda m: m.marks.append(len(m.stack)),
    b"0": lambda m: _ignore(m.pop()),
    b"1": lambda m: _ignore(m.popped()),
    b"\x95": lambda m: _ignore(m.take(8)),  # the length of a frame; the opcodes in it say the same
}


def _ignore(value: Any) -> None:
    pass


# Containers.
_OPCODES |= {
    b"t": lambda m: m.push(m.reader._tuple(m.popped())),
    b"\x85": lambda m: m.push(m.reader._tuple((m.pop(),))),
    b"\x86": lambda m: m.push(m.reader._tuple((m.pop(), m.pop())[::-1])),
    b"\x87": lambda m: m.push(m.reader._tuple((m.pop(), m.pop(), m.pop())[::-1])),
    b"]": lambda m: m.push(m.reader._open([])),
    b"}": lambda m: m.push(m.reader._open({})),
    b"\x8f": lambda m: m.push(m.reader._open(set())),
    b"\x91": lambda m: m.push(frozenset(map(m.reader._key, m.popped()))),
}


@_opcode(b"e")
def _extend(m: _Machine) -> None:
    items = m.popped()
    _expect(m.stack[-1], list, b"e").extend(items)


@_opcode(b"a")
def _append(m: _Machine) -> None:
    item = m.pop()
    _expect(m.stack[-1], list, b"a").append(item)


@_opcode(b"u")
def _set_items(m: _Machine) -> None:
    items, key = m.popped(), m.reader._key
    target = _expect(m.stack[-1], dict, b"u")
    for i in range(0, len(items), 2):
        target[key(items[i])] = items[i + 1]


@_opcode(b"s")
def _set_item(m: _Machine) -> None:
    value, name = m.pop(), m.pop()
    _expect(m.stack[-1], dict, b"s")[m.reader._key(name)] = value


@_opcode(b"\x90")
def _add_items(m: _Machine) -> None:
    items = m.popped()
    _expect(m.stack[-1], set, b"\x90").update(map(m.reader._key, items))


# What has a name, and what is made by calling it.
@_opcode(b"c")
def _look_up_lines(m: _Machine) -> None:
    module = m.reader._line()
    m.push(m.reader._found(module, m.reader._line()))


@_opcode(b"\x93")
def _look_up(m: _Machine) -> None:
    name, module = m.pop(), m.pop()
    m.push(m.reader._found(module, name))


@_opcode(b"R")
def _call_named(m: _Machine) -> None:
    reader = m.reader
    arguments, function = m.pop(), m.pop()
    if not isinstance(function, _Global) or not isinstance(arguments, tuple):
        raise FileFormatError(f"load: the file calls {_shown(function)}, which is not a function that data needs.")
    result = function.call(reader, *arguments)
    if isinstance(result, (list, dict, set)):
        reader._open(result)
    reader._claim(_cost(result))
    m.push(reader._tuple(result) if type(result) is tuple else result)


@_opcode(b"b")
def _fill_in(m: _Machine) -> None:
    state, target = m.pop(), m.stack[-1]
    if type(target) is OrderedDict and m.reader._persistent is not None:
        return  # notes of PyTorch about its layers, which hang at the dict
    if not isinstance(target, (StoredArray, StoredDtype)):
        raise FileFormatError(
            f"load: the file fills in a {_shown(target)}, which is not plain data. Only tensors, arrays, numbers, "
            f"text and containers are loaded."
        )
    target.set_state(state)
    m.reader._claim(_cost(target))


@_opcode(b"Q")
def _outside(m: _Machine) -> None:
    if m.reader._persistent is None:
        raise m.refused(b"Q")
    m.push(m.reader._persistent(m.pop()))


def _cost(made: Any) -> int:
    """Bytes that were made; an item of a container counts as one, which it has at least in the file."""
    if isinstance(made, StoredArray):
        return made.cost
    return len(made) if isinstance(made, (bytes, bytearray, list, tuple, dict, set, frozenset)) else 16


def resolved(value: Any, array: Callable[[StoredArray], Any], pair: Callable[[str, StoredArray], Any]) -> Any:
    """`value` with its arrays made final: `array` makes a lone one, `pair` one that stands with its name.

    Raises:
        FileFormatError: it is nested too deeply, or holds something that is not data.
    """
    done: dict[int, Any] = {}
    alive: list[Any] = []  # what `done` knows by its id

    def walk(value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _atoms:
            return value
        known = id(value)
        if known in done:
            return done[known]
        alive.append(value)
        if depth > MAX_DEPTH:
            raise FileFormatError(too_deep)
        found: Any
        if kind is StoredArray:
            found = array(value)
        elif kind is tuple:
            if len(value) == 2 and type(value[0]) is str and type(value[1]) is StoredArray:
                found = pair(value[0], value[1])
            else:
                found = tuple([walk(item, depth + 1) for item in value])
        elif kind is list:
            found = done[known] = value
            for i, item in enumerate(value):
                if type(item) not in _atoms:
                    value[i] = walk(item, depth + 1)
        elif kind is dict or kind is OrderedDict:
            found = done[known] = value
            for key, item in value.items():
                if type(item) not in _atoms:
                    value[key] = walk(item, depth + 1)
        elif kind is Blob:
            found = bytes(value)
        elif isinstance(value, Deferred):
            found = value.value()
        elif kind is StoredDtype:
            found = value.numpy
        elif isinstance(value, _Global):
            raise FileFormatError(f"load: the file holds {value.name} itself, which is not data.")
        else:
            found = value
        done[known] = found
        return found

    return walk(value, 0)


_atoms = frozenset({int, float, str, bool, type(None), bytes, bytearray, complex, set, frozenset, range, slice})


# The names that a pickle may look up, and what they mean here.


def _reconstruct(reader: PickleReader, kind: Any, shape: Any, code: Any) -> StoredArray:
    if not (isinstance(kind, _Global) and kind.name == "numpy.ndarray"):
        raise FileFormatError(f"load: the file makes an array of class {_shown(kind)}, expected numpy.ndarray.")
    return StoredArray()


def _dtype(reader: PickleReader, code: Any, *unused: Any) -> StoredDtype:
    return StoredDtype.of(code)


def _scalar(reader: PickleReader, dtype: Any, data: Any) -> Any:
    array = StoredArray()
    array.set_state((1, (), dtype, False, data))
    reader._claim(array.cost)
    return array.numpy()[()]


def _from_buffer(reader: PickleReader, data: Any, dtype: Any, shape: Any, order: Any) -> StoredArray:
    array = StoredArray()
    array.set_state((1, shape, dtype, order == "F", data))
    return array


def _encode(reader: PickleReader, text: Any, encoding: Any = "utf-8") -> bytes:
    if isinstance(text, str) and encoding in ("latin1", "latin-1", "utf-8", "utf8", "ascii"):
        return text.encode(encoding)
    raise FileFormatError(f"load: the file encodes text in a way that data does not need: {_shown(encoding)}.")


def _made(kind: Callable[..., Any], *sources: type) -> Callable[..., Any]:
    def make(reader: PickleReader, *arguments: Any) -> Any:
        if len(arguments) > 1 or not all(type(argument) in sources for argument in arguments):
            raise FileFormatError(
                f"load: the file makes a {kind.__name__} of {', '.join(map(_shown, arguments))}, expected one container."  # type: ignore[attr-defined]
            )
        return kind(map(reader._key, arguments[0]) if arguments and kind in (set, frozenset) else arguments[0] if arguments else ())

    return make


def _ordered(reader: PickleReader, *arguments: Any) -> OrderedDict[Any, Any]:
    found: OrderedDict[Any, Any] = OrderedDict()
    for pairs in arguments[:1]:
        for key, value in _expect(pairs, list, b"R"):
            found[reader._key(key)] = value
    return found


def _complex(reader: PickleReader, real: Any = 0.0, imaginary: Any = 0.0) -> complex:
    return complex(_expect(real, float, b"R"), _expect(imaginary, float, b"R"))


def _bytearray(reader: PickleReader, data: Any = b"") -> bytearray:
    return bytearray(bytes(_expect(data, (bytes, bytearray, Blob), b"R")))


def _no_bytes(reader: PickleReader) -> bytes:
    return b""  # which protocol 2 cannot write otherwise


def _indices(kind: Any) -> Callable[..., Any]:
    def make(reader: PickleReader, *arguments: Any) -> Any:
        for argument in arguments:
            _expect(argument, (int, type(None)), b"R")
        return kind(*arguments)

    return make


def _only_named(reader: PickleReader, *arguments: Any) -> Any:
    raise FileFormatError("load: the file makes an empty array of its own, which is not how arrays are saved.")


_names: dict[tuple[str, str], _Global] = {}
for _modules, _name, _call in (
    (("numpy.core.multiarray", "numpy._core.multiarray"), "_reconstruct", _reconstruct),
    (("numpy.core.multiarray", "numpy._core.multiarray"), "scalar", _scalar),
    (("numpy.core.numeric", "numpy._core.numeric"), "_frombuffer", _from_buffer),
    (("numpy",), "ndarray", _only_named),
    (("numpy",), "dtype", _dtype),
    (("_codecs",), "encode", _encode),
    (("collections",), "OrderedDict", _ordered),
    (("builtins", "__builtin__"), "tuple", _made(tuple, tuple, list)),
    (("builtins", "__builtin__"), "list", _made(list, tuple, list)),
    (("builtins", "__builtin__"), "set", _made(set, tuple, list)),
    (("builtins", "__builtin__"), "frozenset", _made(frozenset, tuple, list)),
    (("builtins", "__builtin__"), "complex", _complex),
    (("builtins", "__builtin__"), "bytearray", _bytearray),
    (("builtins", "__builtin__"), "bytes", _no_bytes),
    (("builtins", "__builtin__"), "slice", _indices(slice)),
    (("builtins",), "range", _indices(range)),
    (("__builtin__",), "xrange", _indices(range)),
):
    for _module in _modules:
        _names[_module, _name] = _Global(f"{_module}.{_name}", _call)


def _expect(value: Any, kind: Any, op: bytes) -> Any:
    if isinstance(value, kind):
        return value
    raise FileFormatError(f"load: the file is damaged: opcode {op!r} meets {_shown(value)}.")


def _shown(value: Any) -> str:
    if isinstance(value, _Global):
        return value.name
    return type(value).__name__ if not isinstance(value, str) else repr(value[:60])


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:  # in a browser
        raise RuntimeError("load: the file holds arrays of NumPy, which is not installed. Install numpy.") from None
    return numpy
