"""Reductions and scans: sums, extremes, statistics along axes, and running totals.

`axis` is one axis or several, each in `[-rank, rank)`; None and an empty list take all. Reducing
every axis gives a 0-d tensor.
"""
from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, bool_, float32, float64, int8, int16, int32, int64, uint8
from wherry_tensor.arguments import (
    MAX_RANK,
    Axes,
    among,
    axes_of,
    flag,
    floated,
    integer,
    number,
    one_axis,
    refused,
    require_tensor,
    to_dtype,
    truth,
)
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, LossyCastWarning, OutOfRangeError, short
from wherry_tensor.paddle_version import is_3
from wherry_tensor.sizes import is_unknown
from wherry_tensor.spellings import spelled
from wherry_tensor.tracebacks import warn

__all__ = [
    "add_n",
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "logcumsumexp",
    "logsumexp",
    "max",
    "mean",
    "median",
    "min",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "prod",
    "quantile",
    "std",
    "sum",
    "var",
]

_reduce_sum, _reduce_mean = ops.reduce_sum, ops.reduce_mean
_all_axes = [tuple(range(rank)) for rank in range(MAX_RANK + 1)]
_narrow = frozenset((uint8, int8, int16))  # sums of these keep the dtype, as in Paddle


def _prepared(x: Any, axis: Axes, keepdim: Any, op_name: str) -> tuple[tuple[int, ...], bool]:
    if isinstance(x, Tensor) and (keepdim is False or keepdim is True):
        rank = x.ndim
        if axis is None:
            return _all_axes[rank], keepdim
        if type(axis) is int and -rank <= axis < rank:
            return (axis % rank,), keepdim
    require_tensor(x, op_name)
    return axes_of(axis, x.ndim, op_name), flag(keepdim, op_name, "keepdim")


def sum(x: Tensor, axis: Axes = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Sum of elements along `axis`.

    Args:
        x: any dtype, any shape.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        dtype: cast `x` to this dtype first. None sums bool and int32 in int64.
        keepdim: keep each reduced axis with size 1.

    Returns:
        `dtype`; or int64 for bool, int32 and int64, and the dtype of `x` for all others.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`. The sum of nothing is 0.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError), or `dtype`
            is not a known dtype.
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.sum`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(wherry.sum(x, axis=0).numpy())
        [4. 6.]
    """
    if axis is None and dtype is None and keepdim is False and isinstance(x, Tensor):
        out = _reduce_sum(x, _all_axes[x.ndim], False)
        return ops.cast(out, dtype=x.dtype) if x.dtype in _narrow else out
    if dtype is True or dtype is False:  # sum(x, axis, keepdim), the order of PyTorch
        dtype, keepdim = None if keepdim is False else keepdim, dtype
    axes, keepdim = _prepared(x, axis, keepdim, "sum")
    if dtype is not None:
        wanted = as_dtype(dtype, "sum")
        return to_dtype(_reduce_sum(to_dtype(x, wanted), axes, keepdim), wanted)
    out = _reduce_sum(x, axes, keepdim)
    return ops.cast(out, dtype=x.dtype) if x.dtype in _narrow else out


def mean(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Arithmetic mean of elements along `axis`.

    Args:
        x: any dtype, any shape.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.

    Returns:
        The dtype of `x`, also for integers, whose means are cut toward 0 as in Paddle. The mean of nothing
        is NaN.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.mean`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(wherry.mean(x, axis=-1, keepdim=True).numpy())
        [[1.5]
         [3.5]]
    """
    axes, keepdim = _prepared(x, axis, keepdim, "mean")
    if not (x.dtype.is_floating or x.dtype.is_complex):
        warn(
            f"mean: the mean of {x.dtype.name} is of {x.dtype.name} too, as in Paddle, and loses its fraction. Cast first, as in "
            f"x.astype('float32').mean().",
            LossyCastWarning,
        )
    if x.dtype is bool_:
        return ops.reduce_any(x, axes, keepdim)  # as in Paddle: the quotient is True unless it is 0
    return _reduce_mean(x, axes, keepdim)


def prod(x: Tensor, axis: Axes = None, keepdim: bool = False, dtype: Any = None, name: str | None = None) -> Tensor:
    """Product of elements along `axis`.

    Args:
        x: any dtype, any shape; bool counts as int64.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.
        dtype: cast `x` to this dtype first.

    Returns:
        `dtype`, or that of `x`. The product of nothing is 1.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError), or `dtype`
            is not a known dtype.
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.prod`.

    Examples:
        >>> print(wherry.prod(wherry.to_tensor([2.0, 3.0, 4.0])).numpy())
        24.0
    """
    axes, keepdim = _prepared(x, axis, keepdim, "prod")
    if dtype is not None:
        x = to_dtype(x, as_dtype(dtype, "prod"))
    return ops.reduce_prod(to_dtype(x, int64) if x.dtype is bool_ else x, axes, keepdim)


def max(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Largest element along `axis`; NaN is larger than anything.

    Tied maxima each get the whole gradient; with `amax` they share it.

    Args:
        x: any dtype but complex; the reduced axes must not be empty.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.

    Returns:
        The dtype of `x`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool, or `x` is complex (also a ValueError).
        ValueError: an axis is repeated, out of range or empty.

    Source:
        `paddle.max`.

    Examples:
        >>> x = wherry.to_tensor([[1, 5], [4, 2]])
        >>> print(wherry.max(x, axis=1).numpy())
        [5 4]
    """
    axes, keepdim = _prepared(x, axis, keepdim, "max")
    return ops.reduce_max(x, axes, keepdim)


def min(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Smallest element along `axis`; NaN is smaller than anything. Arguments are those of `max`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool, or `x` is complex (also a ValueError).
        ValueError: an axis is repeated, out of range or empty.

    Source:
        `paddle.min`.

    Examples:
        >>> x = wherry.to_tensor([[1, 5], [4, 2]])
        >>> print(wherry.min(x, axis=1).numpy())
        [1 2]
    """
    axes, keepdim = _prepared(x, axis, keepdim, "min")
    return ops.reduce_min(x, axes, keepdim)


def amax(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Largest element along `axis`. Tied maxima share the gradient; else as `max`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool, or `x` is complex (also a ValueError).
        ValueError: an axis is repeated, out of range or empty.

    Source:
        `paddle.amax`.

    Examples:
        >>> x = wherry.to_tensor([0.9, 0.9, 0.1])
        >>> print(wherry.amax(x).numpy())
        0.9
    """
    axes, keepdim = _prepared(x, axis, keepdim, "amax")
    return ops.reduce_amax(x, axes, keepdim)


def amin(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Smallest element along `axis`. Tied minima share the gradient; else as `min`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool, or `x` is complex (also a ValueError).
        ValueError: an axis is repeated, out of range or empty.

    Source:
        `paddle.amin`.

    Examples:
        >>> x = wherry.to_tensor([0.9, 0.1, 0.1])
        >>> print(wherry.amin(x).numpy())
        0.1
    """
    axes, keepdim = _prepared(x, axis, keepdim, "amin")
    return ops.reduce_amin(x, axes, keepdim)


def all(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether all elements along `axis` are True (not 0).

    Args:
        x: any dtype, any shape.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.

    Returns:
        bool. All of nothing is True.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.all`.

    Examples:
        >>> x = wherry.to_tensor([[True, False], [True, True]])
        >>> print(wherry.all(x, axis=1).numpy())
        [False  True]
    """
    axes, keepdim = _prepared(x, axis, keepdim, "all")
    return ops.reduce_all(x, axes, keepdim)


def any(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether an element along `axis` is True (not 0). Arguments are those of `all`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.any`.

    Examples:
        >>> x = wherry.to_tensor([[True, False], [False, False]])
        >>> print(wherry.any(x, axis=1).numpy())
        [ True False]
    """
    axes, keepdim = _prepared(x, axis, keepdim, "any")
    return ops.reduce_any(x, axes, keepdim)


def _position(op: Any, x: Any, axis: Any, keepdim: Any, dtype: Any, op_name: str) -> Tensor:
    if axis is not None and (isinstance(axis, (float, str, list, tuple, bool)) or not hasattr(axis, "__index__")):
        raise TypeError(
            f"{op_name}: axis must be one int, or None. Got {short(axis)} ({type(axis).__name__}), expected an int in "
            f"[-rank, rank). Positions are found along one axis at a time."
        )
    if dtype is None:
        raise InvalidArgumentError(
            f"{op_name}: the value of 'dtype' could not be None. Got None, expected 'int32' or 'int64'. Leave it out for int64."
        )
    known = as_dtype(dtype, op_name)
    if known is not int64 and known is not int32:
        raise InvalidTypeError(
            f"{op_name}: the dtype of positions must be an integer one. Got dtype={known.name}, expected int32 or int64. Cast the result."
        )
    require_tensor(x, op_name)
    keepdim = flag(keepdim, op_name, "keepdim")
    rank = x.ndim
    if axis is None:
        out = op(ops.reshape(x, (x.size,)), 0, False)
        if keepdim:
            out = ops.reshape(out, (1,) * rank)
    elif rank:
        out = op(x, one_axis(axis, rank, op_name), keepdim)
    else:
        one_axis(axis, rank, op_name)
        out = op(ops.reshape(x, (1,)), 0, False)
    return to_dtype(out, known)


def argmax(
    x: Tensor, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Tensor:
    """Position of the largest element along `axis`, the first where several are as large.

    Args:
        x: any dtype but complex, not empty along `axis`.
        axis: one int in `[-rank, rank)`; None counts through all elements, row by row.
        keepdim: keep the axis (or all axes) with size 1.
        dtype: int32 or int64.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `axis` is not an int; or `x` is not a Tensor or complex, `keepdim` not a bool, or `dtype` neither int32
            nor int64 (these also a ValueError).
        ValueError: `axis` is out of range or empty, or `dtype` is None.

    Source:
        `paddle.argmax`.

    Examples:
        >>> x = wherry.to_tensor([[1, 5], [4, 2]])
        >>> print(wherry.argmax(x).numpy(), wherry.argmax(x, axis=0).numpy())
        1 [1 0]
    """
    return _position(ops.argmax, x, axis, keepdim, dtype, "argmax")


def argmin(
    x: Tensor, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Tensor:
    """Position of the smallest element along `axis`. Arguments are those of `argmax`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `axis` is not an int; or `x` is not a Tensor or complex, `keepdim` not a bool, or `dtype` neither int32
            nor int64 (these also a ValueError).
        ValueError: `axis` is out of range or empty, or `dtype` is None.

    Source:
        `paddle.argmin`.

    Examples:
        >>> x = wherry.to_tensor([[1, 5], [4, 2]])
        >>> print(wherry.argmin(x).numpy(), wherry.argmin(x, axis=0).numpy())
        0 [0 1]
    """
    return _position(ops.argmin, x, axis, keepdim, dtype, "argmin")


def logsumexp(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Logarithm of the sum of exponentials of `x` along `axis`, safe from overflow.

    Args:
        x: a floating dtype, any shape; bool and integers are cast to float32.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.

    Returns:
        The dtype of `x`, in nats (natural logarithm).

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError); `x` is complex.
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.logsumexp`; stabilised as in Blanchard, Higham & Higham (2021).

    Examples:
        >>> x = wherry.to_tensor([[1000.0, 1000.0]])  # exp(1000) alone is infinite
        >>> print(wherry.logsumexp(x, axis=1).numpy())
        [1000.693...]
    """
    axes, keepdim = _prepared(x, axis, keepdim, "logsumexp")
    try:
        return ops.logsumexp(x, axes, keepdim)
    except TypeError as error:
        return floated("logsumexp", lambda x: ops.logsumexp(x, axes, keepdim), x, error)


def var(
    x: Tensor, axis: Axes = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """Variance of elements along `axis`.

    Args:
        x: a floating dtype, any shape.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        unbiased: divide by n - 1 instead of n. One value varies by 0 either way, as in Paddle.
        keepdim: keep each reduced axis with size 1.

    Returns:
        The dtype of `x`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a floating Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.var`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 5.0]])
        >>> print(wherry.var(x, axis=1).numpy())
        [0.5 2. ]
    """
    return _variance(x, axis, unbiased, keepdim, "var")


def _variance(x: Any, axis: Axes, unbiased: Any, keepdim: Any, op_name: str) -> Tensor:
    axes, keepdim = _prepared(x, axis, keepdim, op_name)
    if not x.dtype.is_floating:
        raise InvalidTypeError(
            f"{op_name}: x must be floating. Got dtype {x.dtype.name}, expected float16, bfloat16, float32 or float64. "
            f"Cast it with x.astype('float32')."
        )
    return ops.variance(x, axes, keepdim, 1 if truth(unbiased, op_name, "unbiased") else 0)


def std(
    x: Tensor, axis: Axes = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """Standard deviation of elements along `axis`: the root of `var`, whose arguments it has.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a floating Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.std`.

    Examples:
        >>> print(wherry.std(wherry.to_tensor([1.0, 3.0, 5.0])).numpy())
        2.0
    """
    return ops.sqrt(_variance(x, axis, unbiased, keepdim, "std"))


def _require_tensor_type(x: Any, op_name: str) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{op_name}: the input x should be a Tensor. Got {type(x).__name__}, expected a Tensor. "
            f"Make one with to_tensor(x)."
        )


def _gathered(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """`x` with `axes` moved to the end and merged into one."""
    rank = x.ndim
    rest = [axis for axis in range(rank) if axis not in axes]
    shape = [x.shape[axis] for axis in rest]
    if rest != list(range(len(rest))):
        x = ops.transpose(x, tuple(rest) + axes)
    size = 1
    for n in x.shape[len(rest):]:
        size *= n
    return ops.reshape(x, (*shape, size))


def _kept(out: Tensor, axes: tuple[int, ...], keepdim: bool) -> Tensor:
    return ops.unsqueeze(out, axes) if keepdim and axes else out


def median(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Median of elements along `axis`: the middle one, or the mean of the two in the middle.

    Args:
        x: floating or integer, not empty.
        axis: one int in `[-rank, rank)`; None takes all elements.
        keepdim: keep the axis (or all axes) with size 1.

    Returns:
        The dtype of `x` if it is floating, else float32. NaN where there is a NaN.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor.
        ValueError: `x` is empty, or `axis` is not an int or out of range.

    Source:
        `paddle.median`.

    Examples:
        >>> print(wherry.median(wherry.to_tensor([3.0, 1.0, 2.0, 10.0])).numpy())
        2.5
    """
    _require_tensor_type(x, "median")
    keepdim = flag(keepdim, "median", "keepdim")
    if x.size == 0:
        raise InvalidArgumentError(
            f"median: the size of input x should not be 0. Got shape {x.shape}, expected at least one element. "
            f"Check that the data is not empty first."
        )
    axes = _all_axes[x.ndim] if axis is None else (one_axis(axis, x.ndim, "median"),) if x.ndim else ()
    if not x.dtype.is_floating:
        x = to_dtype(x, float32)
    rows = _gathered(x, axes)
    n = rows.shape[-1]
    last = rows.ndim - 1
    values, _ = ops.sort(rows, last, False)
    low, high = ops.select(values, last, (n - 1) // 2), ops.select(values, last, n // 2)
    if is_unknown(n):
        middle = ops.where(low == high, low, (low + high) / 2)  # of an odd number both are the one in the middle
    else:
        middle = low if n % 2 else (low + high) / 2
    spoilt = ops.isnan(ops.select(values, last, n - 1))  # NaN is sorted behind the numbers
    return _kept(ops.where(spoilt, ops.full_like(middle, float("nan"), x.dtype), middle), axes, keepdim)


def nanmedian(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Median of elements along `axis` that are not NaN.

    Args:
        x: floating or integer.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.

    Returns:
        The dtype of `x`; the mean of two integers is cut toward 0. NaN where all are NaN.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor, or `axis` is not an int (also a ValueError).
        ValueError: an axis is repeated or out of range, or `x` is empty.

    Source:
        `paddle.nanmedian`.

    Examples:
        >>> print(wherry.nanmedian(wherry.to_tensor([1.0, float("nan"), 2.0])).numpy())
        1.5
    """
    _require_tensor_type(x, "nanmedian")
    axes, keepdim = _prepared(x, axis, keepdim, "nanmedian")
    if x.size == 0:
        raise InvalidArgumentError(
            f"nanmedian: x is empty. Got shape {x.shape}, expected at least one element. Check the data first."
        )
    rows = _gathered(x, axes)
    last = rows.ndim - 1
    if not x.dtype.is_floating:
        n = rows.shape[-1]
        values, _ = ops.sort(rows, last, False)
        low, high = ops.select(values, last, (n - 1) // 2), ops.select(values, last, n // 2)
        total = to_dtype(low + high, float64) / 2
        return _kept(to_dtype(ops.trunc(total), x.dtype), axes, keepdim)
    lost = ops.isnan(rows)
    # Infinity in place of NaN sorts after every number, whatever the kernel does with NaN.
    values, _ = ops.sort(ops.where(lost, ops.full_like(rows, float("inf"), x.dtype), rows), last, False)
    count = _reduce_sum(to_dtype(ops.logical_not(lost), int64), (last,), True)
    zero = ops.full_like(count, 0, int64)
    low = ops.take_along_axis(values, ops.maximum((count - 1) // 2, zero), last)
    high = ops.take_along_axis(values, ops.minimum(count // 2, ops.maximum(count - 1, zero)), last)
    middle = ops.where(low == high, low, (low + high) / 2)  # inf + -inf is NaN, inf and inf is inf
    middle = ops.where(count == zero, ops.full_like(middle, float("nan"), x.dtype), middle)
    return _kept(ops.squeeze(middle, (last,)), axes, keepdim)


_BETWEEN = {  # of two neighbours and the share of the way from the first to the second
    "linear": lambda low, high, part: ops.where(part == 0.0, low, low + part * (high - low)),
    "lower": lambda low, high, part: low,
    "higher": lambda low, high, part: high,
    "midpoint": lambda low, high, part: ops.where(part == 0.0, low, low + 0.5 * (high - low)),
}


def _quantile(x: Any, q: Any, axis: Any, keepdim: Any, skip_nan: bool, op_name: str, interpolation: str = "linear") -> Tensor:
    _require_tensor_type(x, op_name)
    if isinstance(q, bool) or not isinstance(q, (int, float, list, tuple)):
        raise TypeError(
            f"{op_name}: Type of q should be int, float, list or tuple. Got {type(q).__name__}, expected probabilities in "
            f"[0, 1]. Convert a tensor with tolist()."
        )
    if not among(interpolation, ("nearest", *_BETWEEN)):
        raise InvalidArgumentError(
            f"{op_name}: unknown interpolation. Got {short(interpolation)}, expected 'linear', 'lower', 'higher', 'midpoint' or 'nearest'."
        )
    wanted = [number(p, op_name, "q") for p in (q if isinstance(q, (list, tuple)) else [q])]
    if not wanted:
        raise InvalidArgumentError(f"{op_name}: q should not be empty. Got [], expected at least one probability in [0, 1].")
    for p in wanted:
        if not 0 <= p <= 1:
            raise InvalidArgumentError(
                f"{op_name}: q should be in range [0, 1]. Got {p}, expected a probability. Divide percents by 100."
            )
    if x.dtype.is_complex:
        raise InvalidTypeError(
            f"{op_name}: complex numbers have no order. Got dtype {x.dtype.name}, expected a floating or integer one. Take x.abs() or x.real()."
        )
    axes, keepdim = _prepared(x, axis, keepdim, op_name)
    rows = to_dtype(_gathered(x, axes), float64)
    last = rows.ndim - 1
    if rows.shape[last] == 0 and 0 not in rows.shape[:last]:
        raise InvalidArgumentError(
            f"{op_name}: the reduced axes are empty. Got x of shape {x.shape} and axis={axis}, expected at least one element. Check the data first."
        )
    lost = ops.isnan(rows)
    values, _ = ops.sort(ops.where(lost, ops.full_like(rows, float("inf"), float64), rows), last, False)
    kept = _reduce_sum(to_dtype(ops.logical_not(lost), float64), (last,), True)
    if not skip_nan:
        kept = ops.broadcast_like(_core.scalar(rows.shape[-1], float64), kept)
    results = []
    for p in wanted:
        at = ops.clip((kept - 1.0) * float(p), ops.full_like(kept, 0.0, float64), None)
        below = ops.floor(at)
        low = ops.take_along_axis(values, to_dtype(below, int64), last)
        high = ops.take_along_axis(values, to_dtype(ops.ceil(at), int64), last)
        if interpolation == "nearest":
            out = ops.take_along_axis(values, to_dtype(_nearest_even(at), int64), last)
        else:
            out = _BETWEEN[interpolation](low, high, at - below)
        spoilt = kept == 0.0 if skip_nan else ops.reduce_any(lost, (last,), True)
        out = ops.where(spoilt, ops.full_like(out, float("nan"), float64), out)
        out = to_dtype(out, x.dtype) if x.dtype.is_floating and is_3() else out
        results.append(_kept(ops.squeeze(out, (last,)), axes, keepdim))
    if isinstance(q, (list, tuple)):
        return ops.concat(*[ops.unsqueeze(r, (0,)) for r in results], axis=0)
    return results[0]


def _nearest_even(at: Tensor) -> Tensor:
    """The nearest whole number; of two the even one."""
    up = ops.floor(at + 0.5)
    odd = ops.remainder(up, _core.scalar(2.0, float64)) != 0.0
    return ops.where(ops.logical_and(up - at == 0.5, odd), up - 1.0, up)


def quantile(
    x: Tensor, q: float | Sequence[float], axis: Axes = None, keepdim: bool = False, interpolation: str = "linear", name: str | None = None
) -> Tensor:
    """Quantiles: values below which the parts `q` of the elements along `axis` lie, interpolated linearly.

    Args:
        x: floating or integer.
        q: a probability in [0, 1], or a list or tuple of them.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.
        interpolation: what lies between two elements: "linear", "lower", "higher", "midpoint", or the "nearest" of them.

    Returns:
        float64. NaN where there is a NaN.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`. A list `q` puts its length in front.

    Raises:
        TypeError: `x` is not a Tensor or complex, or `q` neither a number nor a list or tuple of numbers.
        ValueError: `q` is empty or outside [0, 1], or an axis is repeated, out of range or empty.

    Source:
        `paddle.quantile`.

    Examples:
        >>> print(wherry.quantile(wherry.to_tensor([1.0, 2.0, 3.0, 4.0]), [0.25, 0.5]).numpy())
        [1.75 2.5 ]
    """
    return _quantile(x, q, axis, keepdim, False, "quantile", interpolation)


def nanquantile(
    x: Tensor, q: float | Sequence[float], axis: Axes = None, keepdim: bool = False, interpolation: str = "linear", name: str | None = None
) -> Tensor:
    """As `quantile`, of the elements that are not NaN; NaN where all are.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`. A list `q` puts its length in front.

    Raises:
        TypeError: `x` is not a Tensor or complex, or `q` neither a number nor a list or tuple of numbers.
        ValueError: `q` is empty or outside [0, 1], or an axis is repeated, out of range or empty.

    Source:
        `paddle.nanquantile`.

    Examples:
        >>> print(wherry.nanquantile(wherry.to_tensor([1.0, float("nan"), 3.0]), 0.5).numpy())
        2.0
    """
    return _quantile(x, q, axis, keepdim, True, "nanquantile", interpolation)


def _without_nan(x: Tensor) -> Tensor:
    return ops.where(ops.isnan(x), ops.full_like(x, 0, x.dtype), x)


def nansum(x: Tensor, axis: Axes = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Sum of elements along `axis`, NaN counted as 0. Arguments are those of `sum`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError), or `dtype`
            is not a known dtype.
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.nansum`.

    Examples:
        >>> print(wherry.nansum(wherry.to_tensor([1.0, float("nan"), 2.0])).numpy())
        3.0
    """
    require_tensor(x, "nansum")
    return sum(_without_nan(x), axis, dtype, keepdim)


def nanmean(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Mean of elements along `axis` that are not NaN; NaN where all are.

    Args:
        x: floating, any shape; an integer dtype gives its `mean`.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.

    Returns:
        The dtype of `x`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.nanmean`.

    Examples:
        >>> print(wherry.nanmean(wherry.to_tensor([1.0, float("nan"), 2.0])).numpy())
        1.5
    """
    axes, keepdim = _prepared(x, axis, keepdim, "nanmean")
    if not x.dtype.is_floating:
        return mean(x, axis, keepdim)
    count = _reduce_sum(to_dtype(ops.logical_not(ops.isnan(x)), x.dtype), axes, keepdim)
    return _reduce_sum(_without_nan(x), axes, keepdim) / count


def count_nonzero(x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """How many elements along `axis` are not 0.

    Args:
        x: any dtype, any shape.
        axis: one axis or several, each in `[-rank, rank)`; None takes them all.
        keepdim: keep each reduced axis with size 1.

    Returns:
        int64.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, `axis` not an int or `keepdim` not a bool (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.count_nonzero`.

    Examples:
        >>> print(wherry.count_nonzero(wherry.to_tensor([[0, 1], [2, 3]]), axis=1).numpy())
        [1 2]
    """
    axes, keepdim = _prepared(x, axis, keepdim, "count_nonzero")
    return _reduce_sum(to_dtype(x, bool_), axes, keepdim)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """Sum of several tensors of one shape and dtype.

    Args:
        inputs: a list or tuple of tensors, or one tensor.

    Returns:
        A new tensor of their shape and dtype.

    Shape:
        `[...]` as often as there are inputs to the same.

    Raises:
        TypeError: an input is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: there is no input, or shapes differ; an input without elements beside others is left out, as in Paddle.

    Source:
        `paddle.add_n`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0])
        >>> print(wherry.add_n([x, x, x]).numpy())
        [3. 6.]
    """
    if isinstance(inputs, Tensor):
        return ops.copy(inputs)
    if not isinstance(inputs, (list, tuple)):
        require_tensor(inputs, "add_n", "inputs")
    if not inputs:
        raise InvalidArgumentError("add_n: there is nothing to add. Got an empty list, expected at least one tensor.")
    for i, x in enumerate(inputs):
        require_tensor(x, "add_n", f"inputs[{i}]")
    inputs = [x for x in inputs if builtins.all(type(n) is not int or n for n in x.shape)] or inputs  # a Size is not an int
    for i, x in enumerate(inputs):
        if x.dtype is not inputs[0].dtype:
            raise refused("add_n", TypeError(), **{f"inputs[{j}]": y for j, y in enumerate(inputs)})
        single = {(), (1,)} >= {tuple(x.shape), tuple(inputs[0].shape)}
        if not single and (x.ndim != inputs[0].ndim or not _may_equal(x.shape, inputs[0].shape)):
            raise InvalidArgumentError(
                f"add_n: the inputs must have one shape. Got {inputs[0].shape} for inputs[0] and {x.shape} for inputs[{i}], "
                f"expected equal shapes: add_n does not broadcast. Use + for that."
            )
    total = inputs[0] if len(inputs) > 1 else ops.copy(inputs[0])
    for x in inputs[1:]:
        total = ops.add(total, x)
    return total


def _may_equal(a: list[int], b: list[int]) -> bool:
    return not builtins.any(m != n and m >= 0 and n >= 0 for m, n in zip(a, b))


def _scanned(x: Any, axis: Any, dtype: Any, op_name: str, error: type[Exception] = OutOfRangeError) -> tuple[Tensor, int]:
    """What to scan and along which axis: flattened without an axis, cast to `dtype`."""
    require_tensor(x, op_name)
    if dtype is not None:
        x = to_dtype(x, as_dtype(dtype, op_name))
    elif x.dtype is bool_:
        x = to_dtype(x, int64)
    if axis is None:
        return ops.reshape(x, (x.size,)), 0
    return x, one_axis(axis, x.ndim, op_name, error)


def _scan(op: Any, x: Tensor, axis: int, *attrs: Any) -> Any:
    """`op` along `axis`, also of a 0-d tensor, which is its own running total."""
    if x.ndim:
        return op(x, axis, *attrs)
    out = op(ops.reshape(x, (1,)), 0, *attrs)
    return tuple(ops.reshape(o, ()) for o in out) if isinstance(out, tuple) else ops.reshape(out, ())


def cumsum(x: Tensor, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """Running sums along `axis`.

    Args:
        x: any dtype; bool counts as int64.
        axis: one int in `[-rank, rank)`; None runs through all elements, row by row.
        dtype: cast `x` to this dtype first.

    Returns:
        `dtype`, or that of `x`.

    Shape:
        That of `x`; `[n]` for n elements without `axis`.

    Raises:
        TypeError: `x` is not a Tensor or `axis` is not an int (also a ValueError), or `dtype` is not a known dtype.
        IndexError: `axis` is out of range.

    Source:
        `paddle.cumsum`.

    Examples:
        >>> print(wherry.cumsum(wherry.to_tensor([[1, 2], [3, 4]]), axis=0).numpy())
        [[1 2]
         [4 6]]
    """
    x, axis = _scanned(x, axis, dtype, "cumsum")
    return _scan(ops.cumsum, x, axis, False)


def cumprod(x: Tensor, dim: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """Running products along `dim`.

    Args:
        x: any dtype; bool counts as int64.
        dim: one int in `[-rank, rank)`; it cannot be left out.
        dtype: cast `x` to this dtype first.

    Returns:
        `dtype` or that of `x`, in the shape of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `dim` is not an int (also a ValueError), or `dtype` is not a known dtype.
        ValueError: `dim` is out of range.

    Source:
        `paddle.cumprod`.

    Examples:
        >>> print(wherry.cumprod(wherry.to_tensor([1.0, 2.0, 3.0]), dim=0).numpy())
        [1. 2. 6.]
    """
    require_tensor(x, "cumprod")
    x, axis = _scanned(x, integer(dim, "cumprod", "dim"), dtype, "cumprod", InvalidArgumentError)
    return _scan(ops.cumprod, x, axis)


def logcumsumexp(x: Tensor, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """Logarithms of running sums of exponentials along `axis`, safe from overflow.

    Args:
        x: floating; bool and integers are cast to float32.
        axis: one int in `[-rank, rank)`; None runs through all elements, row by row.
        dtype: cast `x` to this dtype first.

    Returns:
        `dtype`, or that of `x`.

    Shape:
        That of `x`; `[n]` for n elements without `axis`.

    Raises:
        TypeError: `x` is not a Tensor or `axis` is not an int (also a ValueError), or the dtype is complex.
        IndexError: `axis` is out of range.

    Source:
        `paddle.logcumsumexp`.

    Examples:
        >>> print(wherry.logcumsumexp(wherry.to_tensor([0.0, 0.0]), axis=0).numpy())
        [0.        0.6931...]
    """
    require_tensor(x, "logcumsumexp")
    if dtype is None and (x.dtype.is_integer or x.dtype.is_bool):
        dtype = float32
    x, axis = _scanned(x, axis, dtype, "logcumsumexp")
    return _scan(ops.logcumsumexp, x, axis)


def _running_extreme(op: Any, x: Any, axis: Any, dtype: Any, op_name: str) -> tuple[Tensor, Tensor]:
    x, axis = _scanned(x, axis, None, op_name)
    known = as_dtype(dtype, op_name)
    if known is not int64 and known is not int32:
        raise InvalidTypeError(
            f"{op_name}: the dtype of positions must be an integer one. Got dtype={known.name}, expected int32 or int64. Cast the indices."
        )
    values, indices = _scan(op, x, axis)
    return values, to_dtype(indices, known)


def cummax(
    x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Running maxima along `axis`, and the positions where they were found.

    Args:
        x: any dtype but complex.
        axis: one int in `[-rank, rank)`; None runs through all elements, row by row.
        dtype: of the positions, int32 or int64.

    Returns:
        Values, in the dtype of `x`, and positions: the last one where values are equal.

    Shape:
        That of `x`; `[n]` for n elements without `axis`.

    Raises:
        TypeError: `x` is not a Tensor or complex, `axis` not an int, or `dtype` neither int32 nor int64 (also a ValueError).
        IndexError: `axis` is out of range.

    Source:
        `paddle.cummax`.

    Examples:
        >>> values, indices = wherry.cummax(wherry.to_tensor([1, 3, 2, 4]), axis=0)
        >>> print(values.numpy(), indices.numpy())
        [1 3 3 4] [0 1 1 3]
    """
    return _running_extreme(ops.cummax, x, axis, dtype, "cummax")


def cummin(
    x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Running minima along `axis`, and their positions. Arguments are those of `cummax`.

    Shape:
        `[...]` to two of the same; without `axis`, of `[size]`.

    Raises:
        TypeError: `x` is not a Tensor or complex, `axis` not an int, or `dtype` neither int32 nor int64 (also a ValueError).
        IndexError: `axis` is out of range.

    Source:
        `paddle.cummin`.

    Examples:
        >>> values, indices = wherry.cummin(wherry.to_tensor([3, 1, 2, 0]), axis=0)
        >>> print(values.numpy(), indices.numpy())
        [3 1 1 0] [0 1 1 3]
    """
    return _running_extreme(ops.cummin, x, axis, dtype, "cummin")


spelled(globals())
