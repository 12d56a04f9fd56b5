"""Reading places along an axis, so that gradients of a whole image are one pass over it.

`gather` serves any index of any dtype; its gradient adds single elements where the axis is the last
one. Floating tensors go through `resample`, whose gradient sums each place once.
"""
from __future__ import annotations

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64

__all__ = ["add_at_places", "at_places", "clipped", "whole"]


def at_places(x: Tensor, places: Tensor, axis: int) -> Tensor:
    """`x` at `places`, 1-D and int64, along `axis`."""
    if x.stop_gradient or not x.dtype.is_floating:
        return ops.gather(x, places, axis)
    return ops.resample(x, *_single(places, x), axis)


def add_at_places(x: Tensor, places: Tensor, shape: tuple[int, ...], axis: int) -> Tensor:
    """Zeros of this shape, with each slice of `x` along `axis` added at its place."""
    like = ops.broadcast_to(ops.full(shape=(), value=0, dtype=x.dtype), shape)
    if not x.dtype.is_floating:
        return ops.gather_vjp(x, places, like, axis)
    return ops.resample_vjp(x, *_single(places, x), like, axis)


def _single(places: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Places as columns of one, and their weights of 1."""
    count = places.shape[0]
    return ops.reshape(places, (count, 1)), ops.full(shape=(count, 1), value=1, dtype=x.dtype)


def clipped(places: Tensor, size: int) -> Tensor:
    """Places, none of them outside [0, size)."""
    return ops.clip(places, whole(0), whole(size - 1))


def whole(value: int) -> Tensor:
    """A 0-d int64 tensor."""
    return _core.scalar(value, int64)
