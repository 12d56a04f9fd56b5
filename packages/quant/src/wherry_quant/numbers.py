"""Paddle's scales and the steps of the ops: where a scale belongs, and whole numbers of values.

Paddle's scale is the largest magnitude that fits, and a whole number counts steps of `scale / (2 ** (bits - 1) - 1)`; the ops, ONNX and the
kernels are given the step. Every conversion between the two is here.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["Places", "dequantize", "holder", "levels", "places_of", "quantize", "spread", "whole_numbers"]


def levels(bits: int) -> int:
    """The largest whole number of so many bits: 127 of 8."""
    return int(2 ** (bits - 1) - 1)


class Places(NamedTuple):
    """Where scales belong, as the ops take it: to all, to the places of an axis, or to groups along it."""

    axis: int | None
    group: int | None


def places_of(scales: Any, axis: int | None, group: int | None, what: str) -> Places:
    """Where scales of this shape belong: those of two axes are for groups of rows."""
    rank = len(scales.shape)
    if rank > 1:
        if not group or group < 1:
            raise InvalidArgumentError(
                f"{what}: scales of groups need the size of a group. Got scales of shape {list(scales.shape)} and group_size={group}, expected a "
                f"positive size."
            )
        return Places(0 if axis is None or axis < 0 else axis, group)
    if axis is None or axis < 0 or (rank == 1 and scales.shape[0] == 1 and axis == -1):
        if rank == 1 and scales.shape[0] != 1:
            raise InvalidArgumentError(
                f"{what}: many scales need an axis. Got scales of shape {list(scales.shape)} and quant_axis={axis}, expected the axis "
                f"along which they differ."
            )
        return Places(None, None)
    return Places(axis, None) if rank == 1 else Places(None, None)


def quantize(x: Tensor, step: Tensor, zero_point: Tensor | None, places: Places, bits: int) -> Tensor:
    """Whole numbers of `bits` bits, in int8 (int16 for more than 8)."""
    high = levels(bits)
    return ops.quantize_linear(  # type: ignore[no-any-return]
        x, step, zero_point, axis=places.axis, group=places.group, low=-high - 1, high=high, dtype=holder(bits)
    )


def dequantize(q: Tensor, step: Tensor, zero_point: Tensor | None, places: Places, dtype: Any = None) -> Tensor:
    """Values of whole numbers."""
    return ops.dequantize_linear(  # type: ignore[no-any-return]
        q, step, zero_point, axis=places.axis, group=places.group, dtype=step.dtype if dtype is None else dtype
    )


def holder(bits: int) -> Any:
    """The smallest dtype that whole numbers of so many bits fit into."""
    if not 1 < bits <= 16:
        raise InvalidArgumentError(f"quantization: so many bits are not possible. Got {bits}, expected 2 to 16.")
    return _core.int8 if bits <= 8 else _core.int16


def spread(scales: np.ndarray[Any, Any], shape: tuple[int, ...], places: Places) -> np.ndarray[Any, Any]:
    """Scales as an array that broadcasts against values of this shape."""
    if places.axis is None:
        return scales.reshape(())
    if places.group is not None:
        return np.repeat(scales, places.group, axis=places.axis).take(range(shape[places.axis]), axis=places.axis)
    return scales.reshape([-1 if axis == places.axis else 1 for axis in range(len(shape))])


def whole_numbers(
    values: np.ndarray[Any, Any], scales: np.ndarray[Any, Any], bits: int, places: Places, zero_point: np.ndarray[Any, Any] | None = None
) -> np.ndarray[Any, Any]:
    """`round(values / scales * levels)`, ties to even, as Paddle computes it of weights: in float32, by the reciprocal of the scale."""
    high = levels(bits)
    wide = spread(scales.astype(np.float32), values.shape, places)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out = np.rint(np.float32(high) * (np.float32(1) / wide) * values.astype(np.float32))
    if zero_point is not None:
        out = out + spread(zero_point.astype(np.float32), values.shape, places)
    return np.clip(np.nan_to_num(out, nan=0.0), -high - 1, high).astype(np.int8 if bits <= 8 else np.int16)
