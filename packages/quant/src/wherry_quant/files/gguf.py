"""GGUF, the files of llama.cpp: their settings and tensors, also those in blocks of few bits.

The head of a file is read with a bound on everything: how many settings, tensors, axes and bytes, how deep lists are nested, and every tensor
has to lie inside the file. Values are mapped and not copied; nothing is allocated because a number in the head says so.

Source: the specification of GGUF and of its blocks (ggml), versions 2 and 3, little-endian.
"""
from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from wherry_quant.files.weights import QuantizedWeight
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_train.pickle_reader import FileFormatError

__all__ = ["GGUFFile", "GGUFTensor", "load_gguf"]

Array = np.ndarray[Any, Any]

_MOST_SETTINGS, _MOST_TENSORS, _MOST_NAME, _MOST_AXES, _DEEPEST = 1 << 16, 1 << 16, 1 << 10, 4, 4


class _Type(NamedTuple):
    name: str
    block: int  # values of a block
    size: int  # bytes of a block
    dtype: Any = None  # of plain values


_TYPES = {
    0: _Type("F32", 1, 4, np.dtype("<f4")), 1: _Type("F16", 1, 2, np.dtype("<f2")), 28: _Type("F64", 1, 8, np.dtype("<f8")),
    24: _Type("I8", 1, 1, np.dtype("i1")), 25: _Type("I16", 1, 2, np.dtype("<i2")), 26: _Type("I32", 1, 4, np.dtype("<i4")),
    27: _Type("I64", 1, 8, np.dtype("<i8")), 30: _Type("BF16", 1, 2), 2: _Type("Q4_0", 32, 18), 8: _Type("Q8_0", 32, 34),
    12: _Type("Q4_K", 256, 144), 14: _Type("Q6_K", 256, 210),
}
_OTHER = {
    3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 13: "Q5_K", 15: "Q8_K", 16: "IQ2_XXS", 20: "IQ4_NL", 23: "IQ4_XS",
    39: "MXFP4",
}
_PLAIN = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _LIST = 8, 9


class _Head:
    """Reads the head of a file, and goes no further than its end."""

    def __init__(self, data: Any) -> None:
        self.data, self.at, self.end = data, 0, len(data)

    def take(self, size: int) -> bytes:
        if size < 0 or size > self.end - self.at:
            raise _damaged(f"{size} bytes are missing at {self.at}: it has {self.end}")
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self, most: int | None = None) -> str:
        size = self.number("<Q")
        if most is not None and size > most:
            raise _damaged(f"a name of {size} bytes: at most {most} are read")
        raw = self.take(size)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise _damaged("a text is not UTF-8") from None

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind in _PLAIN:
            return self.number(_PLAIN[kind])
        if kind == _STRING:
            return self.text()
        if kind != _LIST or depth >= _DEEPEST:
            raise _damaged(f"a setting of kind {kind}, or lists inside of lists {depth} times")
        kind, count = self.number("<I"), self.number("<Q")
        least = struct.calcsize(_PLAIN[kind]) if kind in _PLAIN else 8
        if kind not in _PLAIN and kind not in (_STRING, _LIST):
            raise _damaged(f"a list of kind {kind}")
        if count > (self.end - self.at) // least:
            raise _damaged(f"a list of {count} values in {self.end - self.at} bytes")
        if kind in _PLAIN:
            return np.frombuffer(self.take(count * least), np.dtype(_PLAIN[kind])).tolist()
        return [self.value(kind, depth + 1) for _ in range(count)]


class GGUFTensor:
    """A tensor of a GGUF file, on the file's memory.

    Attributes:
        name: in the file.
        kind: "F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_K", "Q6_K", or another plain type.
        shape: with the axis that changes fastest last; a matrix is `[out, in]`.
        dtype: the name of the values' dtype; of blocks their kind.
        nbytes: what it takes in the file.
    """

    def __init__(self, name: str, kind: _Type, shape: tuple[int, ...], data: Any) -> None:
        if not isinstance(kind, _Type):
            raise InvalidTypeError(f"GGUFTensor: a file makes it. Got {short(kind)} for its kind, expected a type of GGUF. Call load_gguf.")
        self.name, self.kind, self.shape = name, kind.name, shape
        self._kind, self._data = kind, data

    @property
    def dtype(self) -> str:
        return "bfloat16" if self.kind == "BF16" else self.kind if self._kind.dtype is None else str(self._kind.dtype.name)

    @property
    def nbytes(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"GGUFTensor({self.name!r}, {self.kind}, {list(self.shape)})"

    def numpy(self) -> Array:
        """The values: float32 for blocks and bfloat16, else the file's dtype."""
        if self._kind.dtype is not None:
            return np.frombuffer(self._data, self._kind.dtype).reshape(self.shape)
        if self.kind == "BF16":
            return (np.frombuffer(self._data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(self.shape)
        with np.errstate(over="ignore", invalid="ignore"):  # scales of a damaged file may be infinite
            return _VALUES[self.kind](self._blocks()).reshape(self.shape)

    def quantized(self) -> QuantizedWeight:
        """A matrix of blocks as whole numbers `[in, out]` with scales, which kernels of integers take as they are.

        Raises:
            FileFormatError: a scale is not finite.
            ValueError: not a matrix of Q8_0, Q4_0 or Q6_K. Blocks of Q4_K have minima that are not whole numbers: `numpy()` has their values.
        """
        if self.kind not in _CODES or len(self.shape) != 2:
            raise InvalidArgumentError(
                f"GGUFTensor.quantized: only matrices of {', '.join(_CODES)} are whole numbers with scales. Got {self!r}, expected one of them. "
                f"Take its values with numpy()."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            codes, scales, bits = _CODES[self.kind](self._blocks())
        if not np.isfinite(scales).all():
            raise _damaged(f"{self.name!r} has scales that are not finite")
        rows, columns = self.shape
        group = codes.shape[-1]
        return QuantizedWeight(
            np.ascontiguousarray(codes.reshape(rows, columns).T), np.ascontiguousarray(scales.reshape(rows, columns // group).T), None, bits, group
        )

    def _blocks(self) -> Array:
        return np.frombuffer(self._data, np.uint8).reshape(-1, self._kind.size)


class GGUFFile(Mapping[str, GGUFTensor]):
    """The tensors of a GGUF file by name, and its settings.

    Args:
        path: of the file, or its bytes.

    Attributes:
        settings: what the file says of the model: names, sizes, the tokenizer.

    Raises:
        FileFormatError: the file is damaged, or contradicts itself.
        NotImplementedError: a tensor has a type that is not read.

    Examples:
        >>> import struct
        >>> name = b"weight"
        >>> head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", len(name)) + name + struct.pack("<IQIQ", 1, 4, 0, 0)
        >>> values = struct.pack("<4f", 1, 2, 3, 4)
        >>> file = wherry.quant.GGUFFile(head + bytes(-len(head) % 32) + values)
        >>> file["weight"], file["weight"].numpy().tolist()
        (GGUFTensor('weight', F32, [4]), [1.0, 2.0, 3.0, 4.0])
    """

    def __init__(self, path: Any) -> None:
        if isinstance(path, (bytes, bytearray, memoryview)):
            data: Any = memoryview(path)
        else:
            with open(path, "rb") as file:
                if not file.seek(0, 2):
                    raise _damaged("it is empty")
                data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        head = _Head(data)
        if head.take(4) != b"GGUF":
            raise _damaged("it does not begin with GGUF")
        version = head.number("<I")
        if version not in (2, 3):
            raise _damaged(f"it is of version {version}: 2 and 3 are read, little-endian")
        tensors, settings = head.number("<Q"), head.number("<Q")
        if tensors > _MOST_TENSORS or settings > _MOST_SETTINGS:
            raise _damaged(f"it has {tensors} tensors and {settings} settings: at most {_MOST_TENSORS} and {_MOST_SETTINGS} are read")
        self.settings: dict[str, Any] = {}
        for _ in range(settings):
            name = head.text(1 << 16)
            self.settings[name] = head.value(head.number("<I"))
        self._tensors = dict(_tensors(head, tensors, self.settings.get("general.alignment", 32)))

    def __getitem__(self, name: str) -> GGUFTensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def _tensors(head: _Head, count: int, alignment: Any) -> Iterator[tuple[str, GGUFTensor]]:
    if not isinstance(alignment, int) or isinstance(alignment, bool) or not 8 <= alignment <= 1 << 20 or alignment % 8:
        raise _damaged(f"tensors are aligned to {short(alignment)} bytes")
    found = []
    for _ in range(count):
        name = head.text(_MOST_NAME)
        axes = head.number("<I")
        if axes > _MOST_AXES:
            raise _damaged(f"{name!r} has {axes} axes: at most {_MOST_AXES} are read")
        shape = tuple(head.number("<Q") for _ in range(axes))[::-1]
        code, offset = head.number("<I"), head.number("<Q")
        if 0 in shape:
            raise _damaged(f"{name!r} of shape {list(shape)} has no values")
        if code not in _TYPES:
            if code in _OTHER:
                raise UnimplementedError(
                    f"GGUFFile: blocks of this type are not read. Got {_OTHER[code]} in {name!r}, expected one of "
                    f"{', '.join(kind.name for kind in _TYPES.values())}. Quantize the model to Q4_0, Q8_0, Q4_K or Q6_K."
                )
            raise _damaged(f"{name!r} is of type {code}, which there is not")
        found.append((name, _TYPES[code], shape, offset))
    start = -(-head.at // alignment) * alignment
    taken: list[tuple[int, int]] = []
    for name, kind, shape, offset in found:
        size = math.prod(shape)
        if size % kind.block or (shape and shape[-1] % kind.block):
            raise _damaged(f"{name!r} of shape {list(shape)} has no whole blocks of {kind.block}")
        length = size // kind.block * kind.size
        if offset % alignment or start + offset + length > head.end:
            raise _damaged(f"{name!r} has {length} bytes at {start + offset}, of {head.end}")
        taken.append((offset, offset + length))
        yield name, GGUFTensor(name, kind, shape, head.data[start + offset : start + offset + length])
    taken.sort()
    if len({name for name, *_ in found}) != count or any(a[1] > b[0] for a, b in zip(taken, taken[1:], strict=False)):
        raise _damaged("tensors have the same name, or lie on each other")


def load_gguf(path: Any) -> dict[str, Any]:
    """The tensors of a GGUF file as float32 Tensors (plain types keep theirs), by the names they have there.

    Args:
        path: of the file, or its bytes.

    Raises:
        FileFormatError: the file is damaged, or contradicts itself.
        NotImplementedError: a tensor has a type that is not read.
    """
    from wherry_tensor.functions.creation import to_tensor

    return {name: to_tensor(tensor.numpy()) for name, tensor in GGUFFile(path).items()}


def _damaged(why: str) -> FileFormatError:
    return FileFormatError(f"GGUFFile: the file is damaged: {why}. Got such a file, expected one that llama.cpp reads. Download it again.")


# Blocks: arrays of bytes `[blocks, size]` to whole numbers `[blocks, groups, values of a group]` and scales `[blocks, groups]`.


def _halves(raw: Array) -> Array:
    return np.ascontiguousarray(raw).view("<f2").astype(np.float32)


def _q8_0(blocks: Array) -> tuple[Array, Array, int]:
    return np.ascontiguousarray(blocks[:, 2:]).view(np.int8)[:, None], _halves(blocks[:, :2]), 8


def _q4_0(blocks: Array) -> tuple[Array, Array, int]:
    packed = blocks[:, 2:]
    return np.concatenate([packed & 15, packed >> 4], axis=1)[:, None], _halves(blocks[:, :2]), 4


def _q6_k(blocks: Array) -> tuple[Array, Array, int]:
    low = blocks[:, :128].reshape(-1, 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], axis=2)  # halves of 128 values, then nibbles, of 64
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32) >> np.array([0, 2, 4, 6], np.uint8).reshape(1, 1, 4, 1) & 3
    codes = (low.reshape(-1, 16, 16) | high.reshape(-1, 16, 16) << 4).astype(np.int8) - np.int8(32)
    return codes, _halves(blocks[:, 208:]) * np.ascontiguousarray(blocks[:, 192:208]).view(np.int8).astype(np.float32), 6


def _values(read: Callable[[Array], tuple[Array, Array, int]], zero: int = 0) -> Callable[[Array], Array]:
    def values(blocks: Array) -> Array:
        codes, scales, _bits = read(blocks)
        return np.asarray((codes.astype(np.float32) - zero) * scales[:, :, None])

    return values


def _q4_k_values(blocks: Array) -> Array:
    d, minimum, packed = _halves(blocks[:, :2]), _halves(blocks[:, 2:4]), blocks[:, 4:16].reshape(-1, 3, 4)
    first, second, last = packed[:, 0], packed[:, 1], packed[:, 2]
    scales = np.concatenate([first & 63, last & 15 | first >> 2 & 48], axis=1).astype(np.float32) * d
    minima = np.concatenate([second & 63, last >> 4 | second >> 2 & 48], axis=1).astype(np.float32) * minimum
    codes = blocks[:, 16:].reshape(-1, 4, 1, 32) >> np.array([0, 4], np.uint8).reshape(1, 1, 2, 1) & 15
    return np.asarray(codes.reshape(-1, 8, 32).astype(np.float32) * scales[:, :, None] - minima[:, :, None])


_CODES = {"Q8_0": _q8_0, "Q4_0": _q4_0, "Q6_K": _q6_k}
_VALUES = {"Q8_0": _values(_q8_0), "Q4_0": _values(_q4_0, 8), "Q6_K": _values(_q6_k), "Q4_K": _q4_k_values}
