"""Pillow's images resized and recoloured by kernels that give the bytes which Pillow gives, on the memory of its images.

Pillow hands that memory out (the Arrow C data interface), so that nothing is copied. Images of more than 16 MB lie in several blocks: they are
resized by parts that are copied. It does so since 11.3, but up to 12 it crashes when the image is empty or lies in a mapped file.
"""
from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from wherry_tensor import Tensor, ops
from wherry_tensor._core import share_buffer
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import to_tensor

__all__ = ["MODES", "memory_of", "recolored", "resized"]

MODES = ("L", "La", "RGB", "RGBX", "RGBa", "CMYK", "HSV", "YCbCr")  # a byte, or four of them, each resized by itself


_PART = 1 << 22  # bytes: less than a block, and memory that is soon taken again


class _Array(ctypes.Structure):
    """`ArrowArray` of the interface, up to what is needed."""


_Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
]


class _Memory:
    """What NumPy makes an array of, and what keeps the memory."""

    def __init__(self, address: int, shape: tuple[int, ...], owner: Any) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": shape, "typestr": "|u1", "version": 3}
        self.owner = owner


@lru_cache(1)
def _shares() -> bool:
    return int(import_module("PIL").__version__.split(".")[0]) >= 13


@lru_cache(1)
def _address_in() -> Any:
    kind = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)  # holds the GIL
    return kind(("PyCapsule_GetPointer", ctypes.pythonapi))


def memory_of(image: Any) -> Tensor | None:
    """Bytes [H, W] or [H, W, 4] on the memory of an image, which they keep; None where Pillow does not hand it out in one block.

    Raises:
        ValueError: the image is closed.
    """
    if not _shares():
        return None
    image.load()
    width, height = image.size
    if not width or not height:
        return None
    try:
        capsule = image.__arrow_c_array__()[1]
    except ValueError:
        return None
    array = _Array.from_address(_address_in()(capsule, b"arrow_array"))
    items = array.children[0].contents if array.n_children else array
    shape = (height, width, 4) if array.n_children else (height, width)
    return share_buffer(np.asarray(_Memory(items.buffers[1], shape, capsule)))


def resized(image: Any, height: int, width: int, method: str) -> Any:
    """`image.resize` for modes in MODES; None where the memory is not to be had.

    Args:
        image: of Pillow, with pixels.
        height: of the result.
        width: of the result.
        method: one that smooths.
    """
    across, down = image.size
    passes = [(axis, size) for axis, size, before in ((1, width, across), (0, height, down)) if size != before]
    if height < down and down - height > 2 * (across - width):
        passes.reverse()  # since Pillow 13, and seen in how results are rounded
    new = _blank(image, (width, height))
    target = memory_of(new)
    if not passes or target is None:
        return None
    values = memory_of(image)
    if values is None:
        values = _in_parts(image, *passes.pop(0), method)
        if values is None:
            return None
    for axis, size in passes[:-1]:
        values = ops.resample_bytes.run((values,), (axis, size, method))
    if passes:
        ops.resample_bytes.run_into(target, (values,), (*passes[-1], method))
    else:
        ops.copy.run_into(target, (values,), ())
    new.info = image.info.copy()
    return new


def _in_parts(image: Any, axis: int, size: int, method: str) -> Tensor | None:
    """The first pass over an image that is not in one block: over copies of parts that are."""
    length, lines = image.size if axis == 1 else image.size[::-1]
    step = max(_PART // (4 * length), 1)
    parts = []
    for begin in range(0, lines, step):
        end = min(begin + step, lines)
        part = memory_of(image.crop((0, begin, length, end) if axis == 1 else (begin, 0, end, length)))
        if part is None:
            return None
        parts.append(ops.resample_bytes.run((part,), (axis, size, method)))
    return ops.concat.run(tuple(parts), (1 - axis,))


def recolored(image: Any, factor: float, kind: str) -> Any:
    """An image of mode RGB by the op `recolor`; None where the memory is not to be had."""
    values = memory_of(image)
    new = _blank(image, image.size)
    target = memory_of(new)
    if values is None or target is None:
        return None
    ops.recolor.run_into(target, (values, to_tensor(np.float32(min(factor, 1e30)), place="cpu")), (kind,))
    if kind == "saturation":
        new.info = image.info.copy()
    return new


def _blank(image: Any, size: tuple[int, int]) -> Any:
    """An image of this size and the mode of another, with any values."""
    return import_module("PIL.Image").new(image.mode, size, None)


explained(globals())
