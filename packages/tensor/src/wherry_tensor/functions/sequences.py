"""Integrals by the trapezoidal rule, and combinations of elements."""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor._core import Tensor, float16, float32, float64
from wherry_tensor.arguments import integer, one_axis, require_room, require_tensor, to_dtype
from wherry_tensor.dtype import promote_floating
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.creation import arange
from wherry_tensor.functions.movement import concat, diff, reshape, slice, unsqueeze
from wherry_tensor.functions.positions import index_select
from wherry_tensor.functions.reduction import cumsum, sum
from wherry_tensor.functions.search import nonzero
from wherry_tensor.spellings import spelled

__all__ = ["combinations", "cumulative_trapezoid", "trapezoid"]

_floats = (float16, float32, float64)
_END = 1 << 61  # beyond every size


def trapezoid(y: Tensor, x: Tensor | None = None, dx: Any = None, axis: int = -1, name: str | None = None) -> Tensor:
    """The integral of samples along an axis by the trapezoidal rule.

    Args:
        y: the samples: float16, float32 or float64.
        x: where they were taken, in the shape of `y` or `[n]`, along `axis`; floating.
        dx: the distance between samples, a number or a tensor, if `x` is not given; 1 by default.
        axis: in `[-rank, rank)`.

    Returns:
        The wider dtype of `y` and `x` (or `dx`).

    Shape:
        `[..., n, ...]` to `[..., ...]`.

    Raises:
        TypeError: `y` or `x` is not a Tensor or not floating (also a ValueError).
        ValueError: both `x` and `dx` are given, `y` is 0-d, the axis is out of range, or the shapes do not broadcast.

    Source:
        `paddle.trapezoid`.

    Examples:
        >>> y = wherry.to_tensor([4.0, 5.0, 6.0])
        >>> print(wherry.trapezoid(y).item(), wherry.trapezoid(y, wherry.to_tensor([1.0, 2.0, 4.0])).item())
        10.0 15.5
    """
    parts, at = _trapezoids("trapezoid", y, x, dx, axis)
    return sum(parts, at)


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, dx: Any = None, axis: int = -1, name: str | None = None) -> Tensor:
    """The running integral of samples along an axis by the trapezoidal rule.

    Args:
        y: the samples: float16, float32 or float64.
        x: where they were taken, in the shape of `y` or `[n]`, along `axis`; floating.
        dx: the distance between samples, a number or a tensor, if `x` is not given; 1 by default.
        axis: in `[-rank, rank)`.

    Returns:
        The wider dtype of `y` and `x` (or `dx`).

    Shape:
        `[..., n, ...]` to `[..., n - 1, ...]`.

    Raises:
        TypeError: `y` or `x` is not a Tensor or not floating (also a ValueError).
        ValueError: both `x` and `dx` are given, `y` is 0-d, the axis is out of range, or the shapes do not broadcast.

    Source:
        `paddle.cumulative_trapezoid`.

    Examples:
        >>> print(wherry.cumulative_trapezoid(wherry.to_tensor([4.0, 5.0, 6.0])).numpy())
        [ 4.5 10. ]
    """
    parts, at = _trapezoids("cumulative_trapezoid", y, x, dx, axis)
    return cumsum(parts, at)


def _trapezoids(op_name: str, y: Any, x: Any, dx: Any, axis: Any) -> tuple[Tensor, int]:
    """The area between each two neighbours, and the axis along which they lie."""
    if x is not None and dx is not None:
        raise InvalidArgumentError(
            f"{op_name}: x and dx exclude each other. Got both x and dx, expected one of them at most. Leave dx out."
        )
    for one, what in (y, "y"), (x, "x"):
        if one is not None or what == "y":
            _require_floats(op_name, one, what)
    if not y.ndim:
        raise InvalidArgumentError(f"{op_name}: y is 0-d. Got y of shape [], expected rank 1 or more. Use reshape.")
    at = one_axis(axis, y.ndim, op_name)
    step: Any = 1.0
    if x is not None:
        step = diff(reshape(x, [-1] + [1] * (y.ndim - 1 - at)) if x.ndim == 1 else x, axis=at - y.ndim)
    elif isinstance(dx, Tensor):
        step = _require_floats(op_name, dx, "dx")
    elif dx is not None and (isinstance(dx, bool) or not isinstance(dx, (int, float))):
        raise InvalidTypeError(
            f"{op_name}: dx must be one number. Got dx={short(dx)}, expected a number or a Tensor. Use x for places."
        )
    elif dx is not None:
        step = float(dx)
    if isinstance(step, Tensor):
        dtype = promote_floating(y.dtype, step.dtype)
        y, step = to_dtype(y, dtype), to_dtype(step, dtype)
    return (slice(y, [at], [0], [-1]) + slice(y, [at], [1], [_END])) * step * 0.5, at


def _require_floats(op_name: str, one: Any, what: str) -> Tensor:
    if require_tensor(one, op_name, what).dtype not in _floats:
        raise InvalidTypeError(
            f"{op_name}: {what} must hold floating numbers. Got dtype {one.dtype.name}, expected float16, float32 or float64. "
            f"Cast it with astype('float32')."
        )
    return one


def combinations(x: Tensor, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Tensor:
    """All combinations of `r` elements of a vector, in the order of the elements.

    Args:
        x: `[n]`, any dtype.
        r: how many are chosen.
        with_replacement: whether an element may be chosen again.

    Returns:
        One row for each choice, in the dtype of `x`; `[0]` for r = 0, as in Paddle.

    Shape:
        `[n]` to `[m, r]`.

    Raises:
        TypeError: `x` is not a vector (also a ValueError).
        ValueError: `r` is negative or not an int.

    Source:
        `paddle.combinations`.

    Examples:
        >>> print(wherry.combinations(wherry.to_tensor([1, 2, 3])).tolist())
        [[1, 2], [1, 3], [2, 3]]
    """
    if require_tensor(x, "combinations").ndim != 1:
        raise InvalidTypeError(
            f"combinations: x must be 1-D. Got x of shape {x.shape}, expected [n]. Use x.flatten() to choose among all elements."
        )
    if not isinstance(r, int) or isinstance(r, bool) or r < 0:
        raise InvalidArgumentError(
            f"combinations: r is not a count. Got r={short(r)}, expected an int of 0 or more. Use 2 for pairs."
        )
    if r == 0:
        return slice(x, [0], [0], [0])
    n = x.shape[0]
    if type(n) is int and r > 1:
        among = n + r - 1 if with_replacement else n
        logarithm = math.lgamma(among + 1) - math.lgamma(r + 1) - math.lgamma(among - r + 1) if r <= among else 0.0
        require_room(8.0 * r * math.exp(min(logarithm, 100.0)), "combinations", f"{r} of {n} elements")
    places = arange(n)
    chosen = unsqueeze(places, 1)
    for _ in range(integer(r, "combinations", "r") - 1):
        # Each choice so far with every place that may follow its last one.
        if type(chosen.shape[0]) is int and not chosen.shape[0]:
            break  # nothing follows any more, however long the choices are to be
        last = slice(chosen, [1], [-1], [_END])
        row, following = nonzero(last <= places if with_replacement else last < places, as_tuple=True)
        chosen = concat([index_select(chosen, row.flatten(), 0), following], 1)
    return reshape(index_select(x, chosen.flatten(), 0), [-1, r])


spelled(globals())
