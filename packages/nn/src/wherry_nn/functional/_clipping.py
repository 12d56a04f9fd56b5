"""FLAGS_paddle_clip: softmax, log_softmax and cross entropy as Paddle's kernels for CPUs compute them.

Those take a number that lies more than 64 below the largest for one that lies 64 below it, so no loss is larger than 64 and no probability
smaller than 1.6e-28. The gradient is that of the numbers as they are. A program that is being captured keeps the ops as they are.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Op, Tensor

__all__ = ["clipping"]

_FARTHEST = 64.0


def clipping(op: Op) -> Callable[..., Any]:
    """`op`, a kind of softmax of its first argument along its last, of numbers that are clipped."""
    return lambda x, *others: op(_clipped(x, others[-1]), *others)


def _clipped(x: Any, axis: int) -> Any:
    if not isinstance(x, Tensor) or _core.is_symbolic(x) or not x.dtype.is_floating or not x.size or not 0 <= axis < x.ndim:
        return x  # what is wrong with it, the op says
    least = ops.reduce_max(x.detach(), axes=(axis,), keepdim=True) - _FARTHEST
    low = ops.less_than(x.detach(), least)
    if not low.any():
        return x
    x = ops.where(ops.isinf(x), least, x)
    through = x - x.detach()  # zeros, through which the gradient goes; the sum of a difference would round to what is left of 1e30
    return ops.where(low, least + through, x)
