"""One element-wise op on a list of tensors, in one call from Python and, on a GPU, in one launch."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_tensor import _core
from wherry_tensor._core import DType, Op, Tensor

__all__ = ["on_each"]


def on_each(op: Op, xs: list[Tensor], *others: Any, attrs: Sequence[Any] = (), dtype: DType | None = None) -> list[Tensor]:
    """The results of an element-wise op on each of `xs`, without gradients.

    Args:
        op: has one output, of the shape of its first input.
        xs: the first inputs.
        others: the other inputs, each a list with a tensor for each of `xs`, or one tensor for all.
        attrs: the values of all attributes, in the order of the declaration.
        dtype: that of the results; None: that of `xs`.
    """
    if any(map(_core.is_symbolic, xs)):  # a program records values, not memory
        named = dict(zip(op.attr_names, attrs, strict=True))
        return [op(x, *(one[k] if isinstance(one, list) else one for one in others), **named) for k, x in enumerate(xs)]
    outs = [_core.uninitialized(x.shape, dtype or x.dtype, _core.device_of(x)) for x in xs]
    if outs:
        op.each_into((outs,), (xs, *others), tuple(attrs))
    return outs
