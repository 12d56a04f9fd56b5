"""Sorting, searching and counting."""
from __future__ import annotations

from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, bool_, float32, float64, int32, int64
from wherry_tensor.arguments import flag, integer, one_axis, real_number, require_tensor, to_dtype
from wherry_tensor.dtype import promote_floating
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.ops.shapes import broadcast_shapes
from wherry_tensor.paddle_version import is_3
from wherry_tensor.sizes import equals, is_unknown, same_shapes
from wherry_tensor.spellings import spelled

__all__ = [
    "argsort",
    "bincount",
    "bucketize",
    "histogram",
    "kthvalue",
    "masked_select",
    "mode",
    "nonzero",
    "searchsorted",
    "sort",
    "topk",
]


def topk(
    x: Tensor, k: Any, axis: int | None = None, largest: bool = True, sorted: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) values along an axis, and where they are.

    Args:
        x: any real dtype.
        k: how many, an int or an integer tensor of one element.
        axis: in `[-rank, rank)`; None is the last.
        largest: False finds the smallest.
        sorted: whether the values come in order.

    Returns:
        Values, and their positions as int64. NaN counts as larger than every number.

    Shape:
        `[..., n, ...]` to `[..., k, ...]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `k` is not in `[1, n]`, or the axis is out of range.

    Source:
        `paddle.topk`.

    Examples:
        >>> values, indices = wherry.topk(wherry.to_tensor([1, 4, 2]), k=2)
        >>> print(values.tolist(), indices.tolist())
        [4, 2] [1, 2]
    """
    rank = require_tensor(x, "topk").ndim
    at = one_axis(-1 if axis is None else axis, rank, "topk")
    count = integer(k, "topk", "k")
    size = x.shape[at] if rank else 1
    if not is_unknown(count) and (count < 1 or 0 <= size < count):
        raise InvalidArgumentError(
            f"topk: k is out of range. Got k={count} for axis {at} of shape {x.shape}, expected k in [1, {size}]. "
            f"Lower k."
        )
    return ops.topk(x, k=count, axis=at, largest=flag(largest, "topk", "largest"), sorted=flag(sorted, "topk", "sorted"))


def sort(x: Tensor, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """`x` in order along an axis.

    Args:
        x: any real dtype.
        axis: in `[-rank, rank)`.
        descending: whether the largest come first.

    Returns:
        A copy. NaN counts as larger than every number; equal values keep their order.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or complex, `axis` not an int or `descending` not a bool (also a ValueError).
        ValueError: the axis is out of range.

    Source:
        `paddle.sort`.

    Examples:
        >>> print(wherry.sort(wherry.to_tensor([[3, 1, 2]])).tolist())
        [[1, 2, 3]]
    """
    return _sorted(x, axis, descending, "sort")[0]


def argsort(x: Tensor, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """The positions (int64) that put `x` in order along an axis; arguments as for `sort`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or complex, `axis` not an int or `descending` not a bool (also a ValueError).
        ValueError: the axis is out of range.

    Examples:
        >>> print(wherry.argsort(wherry.to_tensor([3, 1, 2])).tolist())
        [1, 2, 0]
    """
    return _sorted(x, axis, descending, "argsort")[1]


def _sorted(x: Any, axis: Any, descending: Any, op_name: str) -> tuple[Tensor, Tensor]:
    rank = require_tensor(x, op_name).ndim
    return ops.sort(x, axis=one_axis(axis, rank, op_name), descending=flag(descending, op_name, "descending"))


def kthvalue(
    x: Tensor, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The `k`-th smallest value along an axis, and where it is.

    Args:
        x: any real dtype.
        k: counts from 1.
        axis: in `[-rank, rank)`; None is the last.
        keepdim: keep the axis with size 1.

    Returns:
        Values, and their positions as int64.

    Shape:
        `[..., n, ...]` to two of `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `k` is not in `[1, n]`, or the axis is out of range.

    Source:
        `paddle.kthvalue`.

    Examples:
        >>> value, index = wherry.kthvalue(wherry.to_tensor([3.0, 1.0, 2.0]), 2)
        >>> print(value.item(), index.item())
        2.0 2
    """
    rank = require_tensor(x, "kthvalue").ndim
    at = one_axis(-1 if axis is None else axis, rank, "kthvalue")
    count = integer(k, "kthvalue", "k")
    size = x.shape[at] if rank else 1
    if count < 1 or (0 <= size < count):
        raise InvalidArgumentError(
            f"kthvalue: k is out of range. Got k={count} for axis {at} of shape {x.shape}, expected k in [1, {size}]. "
            f"k counts from 1, the smallest value."
        )
    if not is_unknown(size) and 2 * count <= size:  # the smaller half has it last, and needs no order of the rest
        values, indices = ops.topk(x, k=count, axis=at, largest=False, sorted=True)
    else:
        values, indices = ops.sort(x, axis=at, descending=False)
    if rank == 0:
        return values, indices
    if flag(keepdim, "kthvalue", "keepdim"):
        part = {"axes": (at,), "starts": (count - 1,), "ends": (count,), "steps": (1,)}
        return ops.copy(ops.slice(values, **part)), ops.copy(ops.slice(indices, **part))
    return ops.copy(ops.select(values, at, count - 1)), ops.copy(ops.select(indices, at, count - 1))


def mode(x: Tensor, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The mode: the most frequent value along an axis, and its last position; of several the smallest.

    Args:
        x: any real dtype.
        axis: in `[-rank, rank)`.
        keepdim: keep the axis with size 1.

    Returns:
        Values, and their positions as int64.

    Shape:
        `[..., n, ...]` to two of `[..., ...]`, or `[..., 1, ...]` with `keepdim`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: the axis is out of range or empty.

    Source:
        `paddle.mode`.

    Examples:
        >>> value, index = wherry.mode(wherry.to_tensor([1, 2, 2, 3]))
        >>> print(value.item(), index.item())
        2 2
    """
    rank = require_tensor(x, "mode").ndim
    at = one_axis(axis, rank, "mode")
    keep = flag(keepdim, "mode", "keepdim")
    if rank == 0:
        return ops.copy(x), _core.scalar(0, int64)
    size = x.shape[at]
    if equals(size, 0):
        raise InvalidArgumentError(
            f"mode: the axis has no values. Got axis {at} of shape {x.shape}, expected a size of 1 or more. Choose another axis."
        )
    whole = {"axes": (at,), "steps": (1,)}
    values, order = ops.sort(x.detach(), axis=at, descending=False)
    ones = ops.full_like(ops.slice(values, starts=(0,), ends=(1,), **whole), value=1, dtype=bool_)
    changes = ops.not_equal(
        ops.slice(values, starts=(1,), ends=(size,), **whole), ops.slice(values, starts=(0,), ends=(size - 1,), **whole)
    )
    # At each place: how far back its run of equal values starts. The end of the longest run is the mode's last one.
    steps = ops.reshape(ops.arange(start=0, step=1, length=size, dtype=int64), (size,) + (1,) * (rank - 1 - at))
    starts = ops.where(ops.concat(ones, changes, axis=at), steps, _core.scalar(0, int64))
    lengths = ops.subtract(steps, ops.cummax(starts, axis=at)[0])
    end = ops.argmax(lengths, axis=at, keepdim=True)
    index = ops.take_along_axis(order, end, axis=at)
    value = ops.take_along_axis(x, index, axis=at)
    return (value, index) if keep else (ops.squeeze(value, (at,)), ops.squeeze(index, (at,)))


def searchsorted(
    sorted_sequence: Tensor, values: Tensor, out_int32: bool = False, right: bool = False, name: str | None = None
) -> Tensor:
    """Where each value would have to be inserted to keep a sequence sorted.

    Args:
        sorted_sequence: ascending along the last axis; one sequence, or one for each row of `values`.
        values: what to look for.
        out_int32: give int32 instead of int64.
        right: among equal elements after the last, not before the first.

    Returns:
        Positions in `[0, n]`, of the shape of `values`.

    Shape:
        `sorted_sequence` `[..., n]` or `[n]`, `values` `[...]`, to the shape of `values`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError, as in Paddle).
        RuntimeError: the leading axes do not fit.

    Source:
        `paddle.searchsorted`.

    Examples:
        >>> sequence = wherry.to_tensor([1, 3, 5])
        >>> print(wherry.searchsorted(sequence, wherry.to_tensor([0, 3, 9])).tolist())
        [0, 1, 3]
    """
    return _searched(sorted_sequence, values, out_int32, right, "searchsorted")


def _searched(sequence: Any, values: Any, out_int32: Any, right: Any, op_name: str) -> Tensor:
    require_tensor(sequence, op_name, "sorted_sequence")
    require_tensor(values, op_name, "values")
    if sequence.dtype is not values.dtype:
        # Whole numbers of both are compared as floats when either is one.
        a, b = ((d if d.is_floating else float64 if d is int64 else float32) for d in (sequence.dtype, values.dtype))
        common = promote_floating(a, b) if sequence.dtype.is_floating or values.dtype.is_floating else int64
        sequence, values = to_dtype(sequence, common), to_dtype(values, common)
    if sequence.ndim != 1 and sequence.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            f"{op_name}: each row of values needs its sequence. Got sequences of shape {sequence.shape} and values of shape "
            f"{values.shape}, expected one sequence, or equal sizes in all axes but the last. Reshape the values."
        )
    found = ops.searchsorted(sequence, values, right=flag(right, op_name, "right"))
    return ops.cast(found, int32) if flag(out_int32, op_name, "out_int32") else found


def bucketize(
    x: Tensor, sorted_sequence: Tensor, out_int32: bool = False, right: bool = False, name: str | None = None
) -> Tensor:
    """`searchsorted` of `x` in one sequence, with the arguments in the other order.

    Shape:
        `[...]` to the same.

    Raises:
        ValueError: `sorted_sequence` is not 1-D.

    Source:
        `paddle.bucketize`.

    Examples:
        >>> print(wherry.bucketize(wherry.to_tensor([[0, 4]]), wherry.to_tensor([1, 3, 5])).tolist())
        [[0, 2]]
    """
    require_tensor(sorted_sequence, "bucketize", "sorted_sequence")
    if sorted_sequence.ndim != 1:
        raise InvalidArgumentError(
            f"bucketize: sorted_sequence must be 1-D. Got sorted_sequence of shape {sorted_sequence.shape}, expected [n]. "
            f"Use searchsorted for a sequence for each row."
        )
    return _searched(sorted_sequence, x, out_int32, right, "bucketize")


def nonzero(x: Tensor, as_tuple: bool = False) -> Any:
    """Where `x` is not zero (or false).

    Args:
        x: any dtype, rank 1 or more.
        as_tuple: give the coordinates of each axis apart.

    Returns:
        int64 `[count, rank]`, in the order of rows; with `as_tuple` a tuple of `rank` tensors `[count, 1]`.

    Shape:
        `[...]` of rank r to `[k, r]`, or with `as_tuple` r tensors of `[k, 1]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` is 0-d.

    Source:
        `paddle.nonzero`.

    Examples:
        >>> print(wherry.nonzero(wherry.to_tensor([[0, 1], [2, 0]])).tolist())
        [[0, 1], [1, 0]]
    """
    rank = require_tensor(x, "nonzero").ndim
    if rank == 0:
        raise InvalidArgumentError(
            "nonzero: a 0-d tensor has no positions. Got shape [], expected rank 1 or more. Compare x with 0 instead."
        )
    found = ops.nonzero(x)
    if not flag(as_tuple, "nonzero", "as_tuple"):
        return found
    if is_3():
        return tuple([ops.select(found, axis=1, index=axis) for axis in range(rank)])
    return tuple([ops.slice(found, (1,), (axis,), (axis + 1,), (1,)) for axis in range(rank)])


def masked_select(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """The elements of `x` where `mask` is true, in the order of rows.

    Args:
        x: any dtype.
        mask: bool; broadcasts with `x`.

    Returns:
        1-D, as long as there are true elements.

    Shape:
        `x` and `mask`, which broadcast, to `[k]`.

    Raises:
        TypeError: an argument is not a Tensor, or `mask` is not bool (also a ValueError, as in Paddle).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.masked_select`.

    Examples:
        >>> x = wherry.to_tensor([1, 2, 3])
        >>> print(wherry.masked_select(x, x > 1).tolist())
        [2, 3]
    """
    require_tensor(x, "masked_select")
    require_tensor(mask, "masked_select", "mask")
    if mask.dtype is not bool_:
        raise InvalidTypeError(
            f"masked_select: 'mask' must be true or false. Got dtype {mask.dtype.name}, expected bool. "
            f"Compare first, as in x > 0."
        )
    if not same_shapes(mask.shape, x.shape):
        shape = broadcast_shapes("masked_select", tuple(x.shape), tuple(mask.shape))
        x = x if tuple(x.shape) == shape else ops.broadcast_to(x, shape)
        mask = mask if tuple(mask.shape) == shape else ops.broadcast_to(mask, shape)
    return ops.masked_select(x, mask)


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0, name: str | None = None) -> Tensor:
    """How often each number from 0 on occurs.

    Args:
        x: int32 or int64, `[n]`, none negative.
        weights: `[n]`: what each occurrence counts; None counts 1.
        minlength: the least length of the result.

    Returns:
        int64 without weights; float32 for float32 weights, float64 for others.

    Shape:
        `[n]` to `[max(x) + 1]`, at least `minlength`.

    Raises:
        TypeError: `x` is not a Tensor of int32 or int64 (also a ValueError).
        ValueError: `x` is not 1-D or holds a negative real_number, weights have another shape, or `minlength` is negative.

    Source:
        `paddle.bincount`.

    Examples:
        >>> print(wherry.bincount(wherry.to_tensor([1, 2, 1])).tolist())
        [0, 2, 1]
    """
    require_tensor(x, "bincount")
    if weights is not None:
        require_tensor(weights, "bincount", "weights")
    return ops.bincount(x, weights, minlength=integer(minlength, "bincount", "minlength"))


def histogram(input: Tensor, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None) -> Tensor:
    """Histogram: how many elements fall into each of `bins` equal parts of a range.

    Args:
        input: integers or floats, any shape.
        bins: how many parts.
        min: where the range starts.
        max: where it ends, included. If both are 0 it is the range of the elements.

    Returns:
        int64 `[bins]`. Elements outside of the range do not count.

    Shape:
        `[...]` to `[bins]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `bins` is below 1, or `min` above `max`.

    Source:
        `paddle.histogram`.

    Examples:
        >>> print(wherry.histogram(wherry.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist())
        [0, 2, 1, 0]
    """
    require_tensor(input, "histogram", "input")
    low, high = real_number(min, "histogram", "min"), real_number(max, "histogram", "max")
    return ops.histogram(input, bins=integer(bins, "histogram", "bins"), min=low, max=high)


spelled(globals())
