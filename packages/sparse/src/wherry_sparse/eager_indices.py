"""Indices that are known when a program is captured.

The indices of a sparse tensor determine how many elements a result has, and which elements meet. For given indices (a constant matrix, points
that do not move) all of this is computed while the program is captured: its sizes are then known, and it holds only what is done with values.
Indices that an op of the program computes are part of it, as any tensor is.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from wherry_tensor._core import Op, Tensor, is_symbolic, pop_layer, push_layer, topmost_layer
from wherry_tensor.explained import explained
from wherry_tensor.sizes import has_sizes

__all__ = ["eager_indices"]

Function = TypeVar("Function", bound=Callable[..., Any])


class _EagerIndices:
    """A dispatch layer above that of a capture: ops whose inputs are all integers with data run at once."""

    def __init__(self, below: Any) -> None:
        self.below = below

    def __call__(self, op: Op, inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]) -> Any:
        if not op.random and all(map(_is_known_index, inputs)) and not any(map(has_sizes, attrs)):
            return op.run(inputs, attrs)
        return self.below(op, inputs, attrs)

    def into(self, op: Op, outs: tuple[Tensor, ...], inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]) -> Any:
        return self.below.into(op, outs, inputs, attrs)


def _is_known_index(x: Tensor | None) -> bool:
    return x is None or not (is_symbolic(x) or x.dtype.is_floating or x.dtype.is_complex)


def eager_indices(function: Function) -> Function:
    """Let `function` compute known indices at once, also under a capture."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        below = topmost_layer()
        if below is None or type(below) is _EagerIndices:
            return function(*args, **kwargs)
        layer = _EagerIndices(below)
        push_layer(layer)
        try:
            return function(*args, **kwargs)
        finally:
            pop_layer(layer)

    return wrapped  # type: ignore[return-value]


explained(globals())
