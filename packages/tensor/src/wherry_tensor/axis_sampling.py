"""Indexing along one axis, so that the gradient of a whole image is one pass over it.

`gather` serves any index of any dtype; where the axis is the last one it takes, and its gradient adds, single elements.
Floating tensors go through `resample` there, and where there is a gradient, which sums each position once.
"""
from __future__ import annotations

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.sizes import is_unknown

__all__ = ["add_along", "clip_indices", "gather_along", "int64_scalar"]


def gather_along(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """`x` at `indices`, 1-D and int64, along `axis`."""
    if not x.dtype.is_floating or (x.stop_gradient and (axis != x.ndim - 1 or _core.is_symbolic(x) or x.size < 4096)):
        return ops.gather(x, indices, axis)
    return ops.resample(x, *_one_index_each(indices, x), axis)


def add_along(x: Tensor, indices: Tensor, shape: tuple[int, ...], axis: int) -> Tensor:
    """Zeros of this shape, with each slice of `x` along `axis` added at its index."""
    like = ops.broadcast_to(ops.full(shape=(), value=0, dtype=x.dtype), shape)
    if not x.dtype.is_floating:
        return ops.gather_vjp(x, indices, like, axis)
    return ops.resample_vjp(x, *_one_index_each(indices, x), like, axis)


def _one_index_each(indices: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The table of `resample` where each result is a single element: indices [n, 1] and weights of 1."""
    count = indices.shape[0]
    return ops.reshape(indices, (count, 1)), ops.full(shape=(count, 1), value=1, dtype=x.dtype)


def clip_indices(indices: Tensor, size: int) -> Tensor:
    """Indices, clipped to [0, size)."""
    return ops.clip(indices, int64_scalar(0), (size - 1).tensor(int64) if is_unknown(size) else int64_scalar(size - 1))  # type: ignore[attr-defined]


def int64_scalar(value: int) -> Tensor:
    """A 0-d int64 tensor."""
    return _core.scalar(value, int64)
