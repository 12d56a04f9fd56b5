"""Constants of a file: from its own bytes, or from a file beside it."""
from __future__ import annotations

import math
import os
import sys
from functools import cached_property
from typing import Any

import numpy as np

from wherry_onnx_files import proto
from wherry_onnx_files.elements import (
    BFLOAT16,
    STRING,
    bytes_of,
    decoded,
    dtype_of,
    from_codes,
    held_array,
    name_of,
    tensor_of_array,
)
from wherry_onnx_files.errors import OnnxFileError, UnreadableOp
from wherry_tensor import _core

__all__ = ["Folder", "array_of", "tensor_of"]

_FLOAT = 1  # float32


class Folder:
    """Where files with weights lie: beside the model, and nowhere else.

    Args:
        model: the path of the model; None where it did not come from a file.
        mapped: tensors lie in the files, mapped into memory, where they begin at a multiple of their items. Who writes to one gets a copy.
    """

    def __init__(self, model: str | None, mapped: bool = False) -> None:
        self.mapped = mapped
        self._model = None if model is None else os.path.abspath(model)

    @cached_property
    def path(self) -> str | None:
        """Its path without links; looked up when a file is needed, which takes longer than a small model."""
        return None if self._model is None else os.path.dirname(os.path.realpath(self._model))

    def read(self, name: str, offset: int, length: int | None, expected: int, what: str) -> Any:
        """`expected` bytes of a file, mapped into memory.

        Raises:
            OnnxFileError: the name leads out of the folder, there is no such file, or it is too short.
        """
        if self.path is None:
            raise OnnxFileError(
                f"onnx: {what} lies in the file {name!r} beside the model, and the model came as bytes. Got no folder, expected one. "
                f"Load it by its path."
            )
        path = os.path.realpath(os.path.join(self.path, name))
        if os.path.isabs(name) or "\0" in name or os.path.commonpath([path, self.path]) != self.path or not os.path.isfile(path):
            raise OnnxFileError(
                f"onnx: {what} lies in a file that is not there. Got {name!r}, expected a file in the folder of the model, {self.path!r}. "
                f"Copy it there; files elsewhere are not read."
            )
        size = os.path.getsize(path)
        if (length is not None and length != expected) or offset < 0 or offset + expected > size:
            raise OnnxFileError(
                f"onnx: {what} does not fit its file. Got {name!r} of {size} bytes with offset {offset} and length {length}, expected {expected} "
                f"bytes there. Copy both files from where they come from."
            )
        if not expected:
            return b""
        return np.memmap(path, np.uint8, "c" if self.mapped else "r", offset, (expected,))


def shape_of(dims: list[int], what: str) -> tuple[int, ...]:
    """Sizes that a tensor may have."""
    if len(dims) > _core.MAX_RANK or any(n < 0 or n >= 1 << 40 for n in dims):
        raise OnnxFileError(
            f"onnx: {what} has a shape that no tensor has. Got {dims[:20]}, expected up to {_core.MAX_RANK} sizes. Save the model again."
        )
    return tuple(dims)


# One walk over the places where a tensor may have its numbers.
def array_of(x: proto.Tensor, folder: Folder, what: str = "a tensor") -> np.ndarray:
    """The numbers of a tensor, as an array of the dtype that holds them (bits, uint16, for bfloat16).

    Raises:
        OnnxFileError: there are more or fewer numbers than its shape says, or they lie in no file.
        UnreadableOp: it holds text.
    """
    if x.data_type == STRING:
        raise UnreadableOp(f"onnx: {what} holds strings. Got {len(x.strings)} of them, expected numbers. Turn text into numbers before the model.")
    code = x.data_type
    dtype_of(code, what)
    shape = shape_of(x.dims, what)
    count = math.prod(shape)
    if x.location == 1 or x.external:
        entries = {entry.key: entry.value for entry in x.external}
        try:
            offset, length = int(entries.get("offset", 0)), int(entries["length"]) if "length" in entries else None
        except ValueError as error:
            raise OnnxFileError(f"onnx: {what} lies in another file at a place that is not a number. Got {entries}. Save the model again.") from error
        raw: Any = folder.read(entries.get("location", ""), offset, length, bytes_of(code, count), what)
        return decoded(raw, code, count).reshape(shape)
    if x.raw is not None:
        if len(x.raw) != bytes_of(code, count):
            raise OnnxFileError(
                f"onnx: {what} has too few or too many bytes. Got {len(x.raw)} for shape {list(shape)} of {name_of(code)}, expected "
                f"{bytes_of(code, count)}. Save the model again."
            )
        return decoded(x.raw, code, count).reshape(shape)
    values = _listed(x, code, count)
    if values.size != count:
        raise OnnxFileError(
            f"onnx: {what} has too few or too many numbers. Got {values.size}, expected {count} for shape {list(shape)}. Save the model again."
        )
    return values.reshape(shape)


def _listed(x: proto.Tensor, code: int, count: int) -> np.ndarray:
    if code in (1, 14):
        flat = np.asarray(x.floats, np.float32)
        return flat.view(np.complex64) if code == 14 and flat.size % 2 == 0 else flat
    if code in (11, 15):
        flat = np.asarray(x.doubles, np.float64)
        return flat.view(np.complex128) if code == 15 and flat.size % 2 == 0 else flat
    if code == 7:
        return np.asarray(x.int64s, np.int64)
    if code in (12, 13):
        return held_array(np.asarray([n & 0xFFFFFFFFFFFFFFFF for n in x.uint64s], np.uint64), code)
    codes = np.asarray(x.int32s, np.int64)
    if code in (21, 22, 23, 25, 26):
        return decoded(codes.astype(np.uint8).tobytes(), code, count)
    return from_codes(codes, code)


def tensor_of(x: proto.Tensor, folder: Folder, what: str = "a tensor") -> _core.Tensor:
    """A tensor with the numbers of one of the file; see `array_of`."""
    if x.data_type == _FLOAT and x.raw and x.location != 1 and not x.external and sys.byteorder == "little":  # mostly
        shape = shape_of(x.dims, what)
        if shape and len(x.raw) == 4 * math.prod(shape):
            made = _core.uninitialized(shape, _core.float32)
            memoryview(made).cast("B")[:] = x.raw
            return made  # type: ignore[no-any-return]
    array = array_of(x, folder, what)
    beside = folder.mapped and (x.location == 1 or x.external)
    if beside and array.size and array.flags.writeable and array.flags.aligned and array.dtype.kind in "if" and x.data_type != BFLOAT16:
        return _core.share_buffer(array)  # type: ignore[no-any-return]
    return tensor_of_array(array, x.data_type)


def sparse_array(x: proto.SparseTensor, folder: Folder, what: str, most: int) -> tuple[np.ndarray, int]:
    """A sparse constant as an array, and the type of its elements; it has at most `most` elements."""
    if x.values is None or x.indices is None:
        raise OnnxFileError(f"onnx: {what} is sparse and lacks values or indices. Expected both. Save the model again.")
    shape = shape_of(x.dims, what)
    if math.prod(shape) > most:
        raise OnnxFileError(f"onnx: {what} is sparse and too large. Got shape {list(shape)}, expected at most {most} elements. Save it dense.")
    values, indices = array_of(x.values, folder, what), array_of(x.indices, folder, what).astype(np.int64)
    out = np.zeros(shape, values.dtype)
    try:
        if indices.ndim == 2:
            out[tuple(indices.T)] = values
        else:
            out.reshape(-1)[indices] = values
    except (IndexError, ValueError) as error:
        raise OnnxFileError(f"onnx: {what} is sparse and does not fit: {error}. Save the model again.") from error
    return out, x.values.data_type
