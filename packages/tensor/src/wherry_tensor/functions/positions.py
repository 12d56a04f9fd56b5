"""Gather, scatter, masks, diagonals, unique values, one-hot: reading and writing at given positions."""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Op, Tensor, bool_, from_values, int32, int64
from wherry_tensor.arguments import (
    among,
    fitted,
    flag,
    index_tensor,
    integer,
    integers_of,
    looked_up,
    one_axis,
    refused,
    require_tensor,
    shape_argument,
    tensors_of,
    to_dtype,
    truth,
)
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError, short
from wherry_tensor.functions.movement import stack
from wherry_tensor.ops.shapes import UNKNOWN, broadcast_shapes
from wherry_tensor.sizes import has_sizes, is_unknown
from wherry_tensor.spellings import spelled
from wherry_tensor.static_builder import described

__all__ = [
    "diagonal",
    "diagonal_scatter",
    "fill_diagonal_",
    "fill_diagonal_tensor",
    "fill_diagonal_tensor_",
    "gather",
    "gather_nd",
    "index_add",
    "index_add_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "index_sample",
    "index_select",
    "masked_fill",
    "masked_fill_",
    "multiplex",
    "one_hot",
    "put_along_axis",
    "put_along_axis_",
    "scatter",
    "scatter_",
    "scatter_nd",
    "scatter_nd_add",
    "select_scatter",
    "shard_index",
    "take",
    "take_along_axis",
    "unique",
    "unique_consecutive",
]

_reshape, _unsqueeze, _copy, _gather, _broadcast_to = ops.reshape, ops.unsqueeze, ops.copy, ops.gather, ops.broadcast_to


# Reading at positions.


def _flat_index(index: Any, op_name: str) -> Tensor:
    """An index of shape [n]; Paddle also takes [n, 1]."""
    index_tensor(index, op_name)
    if index.ndim == 2 and index.shape[1] == 1:
        return _reshape(index, (index.shape[0],))
    if index.ndim > 1:
        raise InvalidArgumentError(
            f"{op_name}: 'index' must be a list of positions. Got shape {index.shape}, expected [n] or [n, 1]. "
            f"Flatten it, or use x[index], which takes any shape."
        )
    return index


def gather(x: Tensor, index: Tensor, axis: Any = None, name: str | None = None) -> Tensor:
    """Slices of `x` at the positions `index` along an axis.

    Args:
        x: any dtype, rank 1 or more.
        index: int32 or int64, of shape `[n]`, `[n, 1]` or `[]`. Negative positions count from the end.
        axis: in `[-rank, rank)`, an int or an integer tensor; None is 0.

    Shape:
        `[..., size, ...]` to `[..., n, ...]`; a 0-d index drops the axis.

    Raises:
        IndexError: a position or the axis is out of range.
        TypeError: an argument is not a Tensor, or `index` is not of int32 or int64 (also a ValueError, as in Paddle).
        ValueError: `index` has another shape.

    Source:
        `paddle.gather`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2], [3, 4], [5, 6]])
        >>> print(wherry.gather(x, wherry.to_tensor([2, 0])).tolist())
        [[5, 6], [1, 2]]
    """
    rank = require_tensor(x, "gather").ndim
    at = 0 if axis is None else one_axis(axis, rank, "gather", OutOfRangeError)
    index = _flat_index(index, "gather")
    if rank == 0:
        raise InvalidArgumentError(
            "gather: a 0-d tensor has no positions. Got x of shape [], expected rank 1 or more. Use x itself."
        )
    return looked_up("gather", _gather, x, index, at)


def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """Elements (or slices) of `x` at positions given by several coordinates.

    Args:
        x: any dtype.
        index: int32 or int64; its last axis holds the coordinates in the first axes of `x`.

    Shape:
        x `[d0, ..., dn]` and index `[..., k]` to `[..., dk, ..., dn]`.

    Raises:
        IndexError: a position is out of range.
        TypeError: an argument is not a Tensor, or `index` is not of int32 or int64 (also a ValueError, as in Paddle).
        ValueError: there are more coordinates than axes.

    Source:
        `paddle.gather_nd`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2], [3, 4]])
        >>> print(wherry.gather_nd(x, wherry.to_tensor([[0, 1], [1, 0]])).tolist())
        [2, 3]
    """
    require_tensor(x, "gather_nd")
    return looked_up("gather_nd", ops.gather_nd, x, index_tensor(index, "gather_nd"))


def index_select(x: Tensor, index: Tensor, axis: int = 0, name: str | None = None) -> Tensor:
    """Slices of `x` at the positions `index` along an axis.

    Args:
        x: any dtype, rank 1 or more.
        index: int32 or int64, of shape `[n]`. Negative positions count from the end.
        axis: in `[-rank, rank)`.

    Shape:
        `x` `[..., n, ...]`, `index` `[k]`, to `[..., k, ...]`.

    Raises:
        IndexError: a position or the axis is out of range.
        TypeError: an argument is not a Tensor, or `index` is not of int32 or int64 (also a ValueError, as in Paddle).
        ValueError: `index` has another shape.

    Source:
        `paddle.index_select`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> print(wherry.index_select(x, wherry.to_tensor([2, 0]), axis=1).tolist())
        [[3, 1], [6, 4]]
    """
    rank = require_tensor(x, "index_select").ndim
    at = one_axis(axis, rank, "index_select", OutOfRangeError)
    return looked_up("index_select", _gather, x, _vector_index(_flat_index(index, "index_select"), "index_select"), at)


def _vector_index(index: Tensor, op_name: str) -> Tensor:
    if index.ndim != 1:
        raise InvalidArgumentError(
            f"{op_name}: 'index' must be a list of positions. Got shape {index.shape}, expected [n]. "
            f"Use unsqueeze for a single position."
        )
    return index


def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """From each row of `x` the elements at the positions in the same row of `index`.

    Args:
        x: `[N, M]`, any dtype.
        index: `[N, K]`, int32 or int64.

    Returns:
        `[N, K]`.

    Shape:
        `x` `[B, n]`, `index` `[B, k]`, to `[B, k]`.

    Raises:
        IndexError: a position is out of range.
        TypeError: an argument is not a Tensor, or `index` is not of int32 or int64 (also a ValueError, as in Paddle).
        ValueError: the arguments are not matrices with equally many rows.

    Source:
        `paddle.index_sample`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> print(wherry.index_sample(x, wherry.to_tensor([[0, 2], [1, 1]])).tolist())
        [[1, 3], [5, 5]]
    """
    require_tensor(x, "index_sample")
    index_tensor(index, "index_sample")
    if x.ndim != 2 or index.ndim != 2 or (x.shape[0] != index.shape[0] and -1 not in (x.shape[0], index.shape[0])):
        raise InvalidArgumentError(
            f"index_sample: x and index must be matrices with equally many rows. Got shapes {x.shape} and {index.shape}, "
            f"expected [N, M] and [N, K]. Use take_along_axis for other ranks."
        )
    return looked_up("index_sample", ops.take_along_axis, x, index, 1)


def take_along_axis(arr: Tensor, indices: Tensor, axis: int, broadcast: bool = True) -> Tensor:
    """For each place in `indices`, the element of `arr` at the same place but, along `axis`, at the position it holds.

    Args:
        arr: any dtype.
        indices: int32 or int64, of the rank of `arr`. Negative positions count from the end.
        axis: in `[-rank, rank)`.
        broadcast: whether the axes other than `axis` broadcast against each other; else those of
            `indices` may be smaller.

    Returns:
        The shape of the (broadcast) `indices`.

    Shape:
        `arr` `[..., n, ...]`, `indices` `[..., k, ...]`, to `[..., k, ...]`.

    Raises:
        IndexError: a position is out of range.
        TypeError: an argument is not a Tensor, or `indices` is not of int32 or int64 (also a ValueError, as in Paddle).
        ValueError: the ranks differ, or the axis is out of range.

    Source:
        `paddle.take_along_axis`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> print(wherry.take_along_axis(x, wherry.to_tensor([[2], [0]]), axis=1).tolist())
        [[3], [4]]
    """
    arr, indices, at = _along(arr, indices, axis, broadcast, "take_along_axis", expand=True)
    return looked_up("take_along_axis", ops.take_along_axis, arr, indices, at)


def _along(
    arr: Any, indices: Any, axis: Any, broadcast: Any, op_name: str, expand: bool
) -> tuple[Tensor, Tensor, int]:
    rank = require_tensor(arr, op_name, "arr").ndim
    index_tensor(indices, op_name, "indices")
    if indices.ndim != rank:
        raise InvalidArgumentError(
            f"{op_name}: 'indices' and 'arr' must have one rank. Got shapes {indices.shape} and {arr.shape}, expected rank "
            f"{rank} for both. Add axes with unsqueeze."
        )
    at = one_axis(axis, rank, op_name)
    if rank == 0:
        return arr, indices, at
    if not flag(broadcast, op_name, "broadcast"):
        return arr, indices, at
    have, want = arr.shape, indices.shape
    if not expand:
        # What is written to keeps its shape, so only the indices broadcast.
        target = [*have]
        target[at] = want[at]
        return arr, indices if want == target else _fit_along(indices, target, arr, op_name), at
    others = [size if axis != at else 1 for axis, size in enumerate(have)]
    target = list(broadcast_shapes(op_name, tuple(others), tuple([1 if a == at else n for a, n in enumerate(want)])))
    target[at] = want[at]
    source = [have[at] if axis == at else size for axis, size in enumerate(target)]
    arr = arr if source == have else _broadcast_to(arr, tuple(source))
    return arr, indices if target == want else _broadcast_to(indices, tuple(target)), at


def _fit_along(indices: Tensor, target: list[int], arr: Tensor, op_name: str) -> Tensor:
    if any(UNKNOWN not in (a, b) and a not in (1, b) for a, b in zip(indices.shape, target, strict=True)):
        raise InvalidArgumentError(
            f"{op_name}: 'indices' does not broadcast to 'arr'. Got shapes {indices.shape} and {arr.shape}, expected "
            f"{target} or sizes of 1. Pass broadcast=False to write to a part of arr."
        )
    return _broadcast_to(indices, tuple(target))


def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """Elements of the flattened `x`.

    Args:
        x: any dtype.
        index: int32 or int64, any shape.
        mode: what happens to positions out of range: "raise", "wrap" (modulo the size), or "clip" (to the
            first or last; negative ones to the first).

    Returns:
        The shape of `index`.

    Shape:
        `x` `[...]`, `index` `[...]`, to the shape of `index`.

    Raises:
        IndexError: a position is out of range and `mode` is "raise".
        TypeError: an argument is not a Tensor, or `index` is not of int32 or int64 (also a ValueError).
        ValueError: the mode is unknown.

    Source:
        `paddle.take`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> print(wherry.take(x, wherry.to_tensor([[0, -1]])).tolist())
        [[1, 6]]
    """
    if not among(mode, ("raise", "wrap", "clip")):
        raise InvalidArgumentError(
            f"take: unknown mode. Got mode={short(mode)}, expected 'raise', 'wrap' or 'clip'. Use 'raise' to find mistakes."
        )
    require_tensor(x, "take")
    index_tensor(index, "take")
    flat = _reshape(x, (-1,))
    count = flat.shape[0]
    # Of an empty x, whose places are refused below, the only ones are taken for those of one element.
    size = count.tensor(index.dtype) if is_unknown(count) else _core.scalar(max(count, 1), index.dtype)
    if mode == "wrap":
        index = ops.remainder(index, size)
    elif mode == "clip":
        index = ops.clip(index, _core.scalar(0, index.dtype), ops.subtract(size, _core.scalar(1, index.dtype)))
    return looked_up("take", _gather, flat, index, 0)


# Writing at positions.


def _same_dtype(op_name: str, x: Tensor, name: str, value: Any) -> Tensor:
    require_tensor(value, op_name, name)
    if value.dtype is not x.dtype:
        raise refused(op_name, TypeError(), **{"x": x, name: value})
    return value


def _scatter_inputs(x: Any, index: Any, updates: Any, op_name: str) -> tuple[Tensor, Tensor]:
    require_tensor(x, op_name)
    index = _flat_index(index, op_name)
    _same_dtype(op_name, x, "updates", updates)
    if index.ndim == 0:
        index = _reshape(index, (1,))
        if updates.ndim == x.ndim - 1:
            updates = _unsqueeze(updates, (0,))
    return index, updates


def scatter(x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True, name: str | None = None) -> Tensor:
    """`x` with some of its rows replaced.

    Args:
        x: any dtype, rank 1 or more.
        index: int32 or int64, of shape `[n]`, `[n, 1]` or `[]`: which rows.
        updates: `[n, ...]`, the dtype of `x`: the new rows.
        overwrite: True: of several updates of a row the last counts. False: they are added up (and the
            old row does not count).

    Shape:
        `x` `[n, ...]`, `index` `[k]`, `updates` `[k, ...]`, to the shape of `x`.

    Raises:
        IndexError: a row is out of range.
        TypeError: an argument is not a Tensor, or the dtypes do not fit (also a ValueError, as in Paddle).
        ValueError: the shapes do not fit.

    Source:
        `paddle.scatter`.

    Examples:
        >>> x, rows = wherry.zeros([3, 2]), wherry.ones([2, 2])
        >>> print(wherry.scatter(x, wherry.to_tensor([2, 2]), rows, overwrite=False).tolist())
        [[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]]
    """
    index, updates = _scatter_inputs(x, index, updates, "scatter")
    return ops.scatter(x, index, updates, overwrite=flag(overwrite, "scatter", "overwrite"))


def _writing(op: Op, x: Tensor) -> Any:
    """What a form with an underscore calls: `op` that writes over `x`, in static mode `op`."""
    return op if described(x) else partial(op.into, (x,))


def scatter_(x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True, name: str | None = None) -> Tensor:
    """`scatter` in place.

    Shape:
        As of `scatter`.

    Raises:
        IndexError: a row is out of range.
        TypeError: an argument is not a Tensor, `index` is not of int32 or int64, or `updates` has another dtype than `x` (also a
            ValueError).
        ValueError: the shapes do not fit, or `x` is a leaf that asks for gradients.

    Examples:
        >>> x = wherry.zeros([3])
        >>> print(wherry.scatter_(x, wherry.to_tensor([1]), wherry.ones([1])).tolist())
        [0.0, 1.0, 0.0]
    """
    index, updates = _scatter_inputs(x, index, updates, "scatter_")
    return _writing(ops.scatter, x)(x, index, updates, overwrite=flag(overwrite, "scatter_", "overwrite"))


def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """`x` with `updates` added at positions given by several coordinates; repeats add up.

    Args:
        x: any dtype but bool.
        index: int32 or int64; its last axis holds the coordinates in the first axes of `x`.
        updates: the dtype of `x`, of the shape that `gather_nd(x, index)` has.

    Shape:
        `x` `[...]`, `index` `[..., d]`, `updates` `[..., *x.shape[d:]]`, to the shape of `x`.

    Raises:
        IndexError: a position is out of range.
        TypeError: an argument is not a Tensor, or the dtypes do not fit (also a ValueError, as in Paddle).
        ValueError: the shapes do not fit.

    Source:
        `paddle.scatter_nd_add`.

    Examples:
        >>> x = wherry.zeros([3])
        >>> print(wherry.scatter_nd_add(x, wherry.to_tensor([[1], [1]]), wherry.ones([2])).tolist())
        [0.0, 2.0, 0.0]
    """
    require_tensor(x, "scatter_nd_add")
    index_tensor(index, "scatter_nd_add")
    return ops.scatter_nd_add(x, index, _same_dtype("scatter_nd_add", x, "updates", updates))


def scatter_nd(index: Tensor, updates: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of `shape` with `updates` added at positions given by several coordinates.

    Shape:
        `index` `[..., d]`, `updates` `[..., *shape[d:]]`, to `shape`.

    Raises:
        IndexError: a position is out of range.
        TypeError: `index` is not a Tensor of int32 or int64, `updates` not a Tensor or bool, or `shape` not made of ints (also a
            ValueError).
        ValueError: a size is negative, or the shapes do not fit.

    Examples:
        >>> print(wherry.scatter_nd(wherry.to_tensor([[1], [1]]), wherry.ones([2]), [3]).tolist())
        [0.0, 2.0, 0.0]
    """
    require_tensor(updates, "scatter_nd", "updates")
    sizes = integers_of(shape_argument(shape, "scatter_nd"), "scatter_nd", "shape")
    return scatter_nd_add(ops.full(shape=sizes, value=0, dtype=updates.dtype), index, updates)


def _index_add_inputs(x: Any, index: Any, axis: Any, value: Any, op_name: str) -> tuple[Tensor, Tensor, int]:
    rank = require_tensor(x, op_name).ndim
    at = one_axis(axis, rank, op_name, OutOfRangeError)
    return _vector_index(_flat_index(index, op_name), op_name), _same_dtype(op_name, x, "value", value), at


def index_add(x: Tensor, index: Tensor, axis: int, value: Tensor, name: str | None = None) -> Tensor:
    """`x` with slices of `value` added at the positions `index` along an axis; repeats add up.

    Args:
        x: any dtype but bool.
        index: int32 or int64, `[n]`.
        axis: in `[-rank, rank)`.
        value: the dtype of `x` and its shape, but for n at `axis`.

    Shape:
        `x` `[..., n, ...]`, `index` `[k]`, `value` `[..., k, ...]`, to the shape of `x`.

    Raises:
        IndexError: a position or the axis is out of range.
        TypeError: an argument is not a Tensor, or the dtypes do not fit (also a ValueError, as in Paddle).
        ValueError: the shapes do not fit.

    Source:
        `paddle.index_add`.

    Examples:
        >>> x = wherry.zeros([2, 3])
        >>> print(wherry.index_add(x, wherry.to_tensor([0, 0]), 1, wherry.ones([2, 2])).tolist())
        [[2.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    """
    index, value, at = _index_add_inputs(x, index, axis, value, "index_add")
    return looked_up("index_add", ops.index_add, x, index, value, axis=at)


def index_add_(x: Tensor, index: Tensor, axis: int, value: Tensor, name: str | None = None) -> Tensor:
    """`index_add` in place.

    Shape:
        As of `index_add`.

    Raises:
        IndexError: a position or the axis is out of range.
        TypeError: an argument is not a Tensor, `index` is not of int32 or int64, or the dtypes do not fit (also a ValueError).
        ValueError: the shapes do not fit, or `x` is a leaf that asks for gradients.

    Examples:
        >>> x = wherry.zeros([3])
        >>> print(wherry.index_add_(x, wherry.to_tensor([1, 1]), 0, wherry.ones([2])).tolist())
        [0.0, 2.0, 0.0]
    """
    index, value, at = _index_add_inputs(x, index, axis, value, "index_add_")
    return looked_up("index_add_", _writing(ops.index_add, x), x, index, value, axis=at)


def _index_fill_inputs(x: Any, index: Any, axis: Any, value: Any, op_name: str) -> tuple[Tensor, Tensor, int]:
    rank = require_tensor(x, op_name).ndim
    at = one_axis(axis, rank, op_name, OutOfRangeError)
    index = _vector_index(_flat_index(index, op_name), op_name)
    return index, _fill_tensor(x, value, op_name), at


def _fill_tensor(x: Tensor, value: Any, op_name: str) -> Tensor:
    """A number or a tensor of one element as a 0-d tensor of the dtype of `x`."""
    if isinstance(value, Tensor):
        if value.size != 1:
            raise InvalidArgumentError(
                f"{op_name}: 'value' must be one number. Got a Tensor of shape {value.shape}, expected one element. "
                f"Use where or index_put to write several."
            )
        _same_dtype(op_name, x, "value", value)
        return _reshape(value, ())
    if isinstance(value, (int, float, complex)):
        return _core.scalar(fitted(value, x.dtype, op_name), x.dtype)
    raise InvalidTypeError(
        f"{op_name}: 'value' must be one number. Got {type(value).__name__}, expected an int, a float or a Tensor of one "
        f"element. Convert it first."
    )


def index_fill(x: Tensor, index: Tensor, axis: int, value: Any, name: str | None = None) -> Tensor:
    """`x` with the slices at the positions `index` along an axis filled with one value.

    Shape:
        `x` `[..., n, ...]`, `index` `[k]`, to the shape of `x`.

    Raises:
        IndexError: a position or the axis is out of range.
        TypeError: `x` or `index` is not a Tensor, `index` is not of int32 or int64, or `value` is neither a number nor a tensor
            of the dtype of `x` (also a ValueError).
        ValueError: `index` has more than one axis, or `value` more than one element.

    Examples:
        >>> print(wherry.index_fill(wherry.zeros([2, 3]), wherry.to_tensor([0, 2]), 1, 7.0).tolist())
        [[7.0, 0.0, 7.0], [7.0, 0.0, 7.0]]
    """
    index, value, at = _index_fill_inputs(x, index, axis, value, "index_fill")
    return looked_up("index_fill", ops.index_put, x, value, index, axes=(at,), accumulate=False)


def index_fill_(x: Tensor, index: Tensor, axis: int, value: Any, name: str | None = None) -> Tensor:
    """`index_fill` in place.

    Shape:
        As of `index_fill`.

    Raises:
        IndexError: a position or the axis is out of range.
        TypeError: `x` or `index` is not a Tensor, `index` is not of int32 or int64, or `value` is neither a number nor a tensor
            of the dtype of `x` (also a ValueError).
        ValueError: `index` has more than one axis, `value` more than one element, or `x` is a leaf that asks for gradients.

    Examples:
        >>> print(wherry.index_fill_(wherry.zeros([3]), wherry.to_tensor([0]), 0, 7.0).tolist())
        [7.0, 0.0, 0.0]
    """
    index, value, at = _index_fill_inputs(x, index, axis, value, "index_fill_")
    return looked_up("index_fill_", _writing(ops.index_put, x), x, value, index, axes=(at,), accumulate=False)


def _index_put_inputs(x: Any, indices: Any, value: Any, op_name: str) -> tuple[list[Tensor], Tensor]:
    from wherry_tensor.functions.indexing import check_mask, one_index_dtype, positions_of, require_index_broadcast

    require_tensor(x, op_name)
    tensors: list[Tensor] = []
    for index in tensors_of(indices, op_name, "indices"):
        if index.dtype is bool_:
            check_mask(x, index, len(tensors))
            tensors += positions_of(index)
        else:
            tensors.append(index_tensor(index, op_name, "indices"))
    if len(tensors) > x.ndim:
        raise InvalidArgumentError(
            f"{op_name}: there are more indices than axes. Got {len(tensors)} for x of shape {x.shape}, expected at most "
            f"{x.ndim}. Each integer tensor stands for one axis, a mask for as many as it has."
        )
    _same_dtype(op_name, x, "value", value)
    require_index_broadcast(tensors)
    return one_index_dtype(tensors), value


def index_put(
    x: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: bool = False, name: str | None = None
) -> Tensor:
    """`x` with `value` written (or added) at positions given by one index tensor for each of the first axes.

    Args:
        x: any dtype.
        indices: a tuple or list of int32 or int64 tensors, which broadcast together, or of bool masks.
        value: the dtype of `x`; broadcasts to the shape of `x[indices]`.
        accumulate: True adds to what is there, and repeats add up.

    Shape:
        `x` `[...]`, index tensors that broadcast together, `value` that broadcasts to what they choose, to
        the shape of `x`.

    Raises:
        IndexError: a position is out of range.
        TypeError: an argument is not a Tensor, or the dtypes do not fit (also a ValueError, as in Paddle).
        ValueError: the shapes do not fit.

    Source:
        `paddle.index_put`.

    Examples:
        >>> x, at = wherry.zeros([2, 2]), (wherry.to_tensor([0, 0]), wherry.to_tensor([1, 1]))
        >>> print(wherry.index_put(x, at, wherry.ones([2]), accumulate=True).tolist())
        [[0.0, 2.0], [0.0, 0.0]]
    """
    tensors, value = _index_put_inputs(x, indices, value, "index_put")
    accumulate = flag(accumulate, "index_put", "accumulate")
    axes = tuple(range(len(tensors)))
    return looked_up("index_put", ops.index_put, x, value, *tensors, axes=axes, accumulate=accumulate)


def index_put_(
    x: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: bool = False, name: str | None = None
) -> Tensor:
    """`index_put` in place.

    Shape:
        As of `index_put`.

    Raises:
        IndexError: a position is out of range.
        TypeError: `indices` is not a list or tuple of index tensors, or `value` not a tensor of the dtype of `x` (also a
            ValueError).
        ValueError: there are more indices than axes, the shapes do not fit, or `x` is a leaf that asks for gradients.

    Examples:
        >>> x = wherry.zeros([3])
        >>> print(wherry.index_put_(x, [wherry.to_tensor([1])], wherry.to_tensor(5.0)).tolist())
        [0.0, 5.0, 0.0]
    """
    tensors, value = _index_put_inputs(x, indices, value, "index_put_")
    accumulate = flag(accumulate, "index_put_", "accumulate")
    axes = tuple(range(len(tensors)))
    return looked_up("index_put_", _writing(ops.index_put, x), x, value, *tensors, axes=axes, accumulate=accumulate)


_PUT_WAYS = {"assign": "assign", "add": "add", "mul": "multiply", "multiply": "multiply"}


def put_along_axis(
    arr: Tensor,
    indices: Tensor,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """`arr` with `values` put where `take_along_axis` would read.

    Args:
        arr: any dtype.
        indices: int32 or int64, of the rank of `arr`.
        values: a number, or a tensor of the dtype of `arr` that broadcasts to the shape of `indices`.
        axis: in `[-rank, rank)`.
        reduce: "assign", "add", "mul" or "multiply", "mean", "amax", "amin": how values that meet at one
            place are put together.
        include_self: whether the old value of `arr` is one of them.
        broadcast: whether `indices` broadcasts to the shape of `arr` in the axes other than `axis`.

    Shape:
        `arr` `[..., n, ...]`, `indices` `[..., k, ...]`, to the shape of `arr`.

    Raises:
        IndexError: a position is out of range.
        TypeError: an argument is not a Tensor, or the dtypes do not fit (also a ValueError, as in Paddle).
        ValueError: the ranks differ, the axis is out of range, or `reduce` is unknown.

    Source:
        `paddle.put_along_axis`.

    Examples:
        >>> x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(wherry.put_along_axis(x, wherry.to_tensor([[0], [1]]), 9.0, axis=1).tolist())
        [[9.0, 2.0], [3.0, 9.0]]
    """
    index, value, at = _put_inputs(arr, indices, values, axis, broadcast, "put_along_axis")
    return _put(arr, index, value, at, reduce, include_self, "put_along_axis")


def _put_inputs(
    arr: Any, indices: Any, values: Any, axis: Any, broadcast: Any, op_name: str
) -> tuple[Tensor, Tensor, int]:
    arr, index, at = _along(arr, indices, axis, broadcast, op_name, expand=False)
    if not isinstance(values, Tensor):
        return index, _fill_tensor(arr, values, op_name), at
    return index, _same_dtype(op_name, arr, "values", values), at


def _put(arr: Tensor, index: Tensor, value: Tensor, at: int, reduce: Any, include_self: Any, op_name: str) -> Tensor:
    if not among(reduce, ("assign", "add", "mul", "multiply", "mean", "amax", "amin")):
        raise InvalidArgumentError(
            f"{op_name}: unknown reduce. Got reduce={short(reduce)}, expected 'assign', 'add', 'mul', "
            f"'multiply', 'mean', 'amax' or 'amin'. Use 'assign' to replace."
        )
    include_self = flag(include_self, op_name, "include_self")
    if reduce in _PUT_WAYS:
        way = _PUT_WAYS[reduce]
        if not include_self and way != "assign":
            neutral = _core.scalar(0 if way == "add" else 1, arr.dtype)
            arr = ops.put_along_axis(arr, index, neutral, axis=at, reduce="assign")
        return ops.put_along_axis(arr, index, value, axis=at, reduce=way)
    if reduce == "mean":
        one = _core.scalar(1, arr.dtype)
        zero = _core.scalar(0, arr.dtype)
        start = arr if include_self else ops.put_along_axis(arr, index, zero, axis=at, reduce="assign")
        count = ops.full_like(arr, value=1, dtype=arr.dtype)
        if not include_self:
            count = ops.put_along_axis(count, index, zero, axis=at, reduce="assign")
        count = ops.put_along_axis(count, index, one, axis=at, reduce="add")
        total = ops.put_along_axis(start, index, value, axis=at, reduce="add")
        return ops.divide(total, count) if arr.dtype.is_floating or arr.dtype.is_complex else ops.floor_divide(total, count)
    # The last value written to a place stays, so those in order leave their extreme.
    values, order = ops.sort(_broadcast_to(value, tuple(index.shape)), axis=at, descending=reduce == "amin")
    put = ops.put_along_axis(arr, ops.take_along_axis(index, order, axis=at), values, axis=at, reduce="assign")
    if not include_self:
        return put
    return ops.maximum(arr, put) if reduce == "amax" else ops.minimum(arr, put)


def put_along_axis_(
    arr: Tensor,
    indices: Tensor,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """`put_along_axis` in place.

    Shape:
        As of `put_along_axis`.

    Raises:
        IndexError: a position is out of range.
        TypeError: an argument is not a Tensor, `indices` is not of int32 or int64, or `values` has another dtype than `arr` (also
            a ValueError).
        ValueError: the ranks differ, the shapes do not fit, the axis is out of range, `reduce` is unknown, or `arr` is a leaf
            that asks for gradients.

    Examples:
        >>> x = wherry.zeros([1, 3])
        >>> print(wherry.put_along_axis_(x, wherry.to_tensor([[1]]), 9.0, axis=1).tolist())
        [[0.0, 9.0, 0.0]]
    """
    index, value, at = _put_inputs(arr, indices, values, axis, broadcast, "put_along_axis_")
    if isinstance(reduce, str) and reduce in _PUT_WAYS and include_self is True:
        return _writing(ops.put_along_axis, arr)(arr, index, value, axis=at, reduce=_PUT_WAYS[reduce])
    return _writing(_copy, arr)(_put(arr, index, value, at, reduce, include_self, "put_along_axis_"))


def _mask_of(x: Any, mask: Any, op_name: str) -> Tensor:
    require_tensor(x, op_name)
    require_tensor(mask, op_name, "mask")
    if mask.dtype is not bool_:
        raise InvalidTypeError(
            f"{op_name}: 'mask' must be true or false. Got dtype {mask.dtype.name}, expected bool. Compare first, as in x > 0."
        )
    return mask


def masked_fill(x: Tensor, mask: Tensor, value: Any, name: str | None = None) -> Tensor:
    """`x` with one value where `mask` is true.

    Args:
        x: any dtype.
        mask: bool; broadcasts against `x`.
        value: a number, or a tensor of one element of the dtype of `x`.

    Shape:
        `x` and `mask` to the shape they broadcast to.

    Raises:
        TypeError: `x` or `mask` is not a Tensor, `mask` is not bool, or `value` has another dtype (also a ValueError, as in Paddle).
        ValueError: `mask` does not broadcast, or `value` has several elements.

    Source:
        `paddle.masked_fill`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0, 3.0])
        >>> print(wherry.masked_fill(x, x > 1.5, 0.0).tolist())
        [1.0, 0.0, 0.0]
    """
    return ops.where(_mask_of(x, mask, "masked_fill"), _fill_tensor(x, value, "masked_fill"), x)


def masked_fill_(x: Tensor, mask: Tensor, value: Any, name: str | None = None) -> Tensor:
    """`masked_fill` in place; `mask` broadcasts to the shape of `x`.

    Shape:
        `x` `[...]`, and `mask` that broadcasts to it, to the shape of `x`.

    Raises:
        TypeError: `mask` is not bool, or `value` neither a number nor a tensor of the dtype of `x` (also a ValueError).
        ValueError: `mask` does not broadcast to the shape of `x`, `value` has several elements, or `x` is a leaf that asks for
            gradients.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0, 3.0])
        >>> print(wherry.masked_fill_(x, x > 1.5, 0.0).tolist())
        [1.0, 0.0, 0.0]
    """
    return _writing(ops.where, x)(_mask_of(x, mask, "masked_fill_"), _fill_tensor(x, value, "masked_fill_"), x)


def select_scatter(x: Tensor, values: Tensor, axis: int, index: int, name: str | None = None) -> Tensor:
    """`x` with the slice at `index` along an axis replaced.

    Args:
        x: any dtype.
        values: the shape of `x` without `axis`, and its dtype (else cast to it).
        axis: in `[-rank, rank)`.
        index: in `[-size, size)`.

    Shape:
        `x` `[..., n, ...]`, `values` `[..., ...]`, to the shape of `x`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        IndexError: axis or index is out of range.
        RuntimeError: `values` has another shape.

    Source:
        `paddle.select_scatter`.

    Examples:
        >>> print(wherry.select_scatter(wherry.zeros([2, 2]), wherry.ones([2]), 1, 0).tolist())
        [[1.0, 0.0], [1.0, 0.0]]
    """
    rank = require_tensor(x, "select_scatter").ndim
    require_tensor(values, "select_scatter", "values")
    at = one_axis(axis, rank, "select_scatter", OutOfRangeError)
    shape = x.shape
    place = integer(index, "select_scatter", "index")
    if rank == 0 or (shape[at] >= 0 and not -shape[at] <= place < shape[at]):
        raise OutOfRangeError(
            f"select_scatter: index is out of range. Got index={place} for axis {at} of shape {shape}, expected one in "
            f"[{-shape[at] if rank else 0}, {shape[at] if rank else 0}). Indices count from 0."
        )
    if values.shape != shape[:at] + shape[at + 1 :]:
        raise RuntimeError(
            f"select_scatter: the values do not have the shape of the slice. Got {values.shape}, expected "
            f"{shape[:at] + shape[at + 1 :]}, x of shape {shape} without axis {at}. Reshape or expand them."
        )
    value = _unsqueeze(to_dtype(values, x.dtype), (at,))
    end = place + 1 if place != -1 else shape[at]
    return ops.slice_put(x, value, axes=(at,), starts=(place,), ends=(end,), steps=(1,))


# Diagonals.


def diagonal_axes(x: Any, axis1: Any, axis2: Any, op_name: str) -> tuple[int, int]:
    rank = require_tensor(x, op_name).ndim
    if rank < 2:
        raise OutOfRangeError(
            f"{op_name}: x has fewer than two axes. Got x of shape {x.shape}, expected rank 2 or more. Unsqueeze x first."
        )
    a = one_axis(axis1, rank, op_name, OutOfRangeError, "axis1")
    b = one_axis(axis2, rank, op_name, OutOfRangeError, "axis2")
    if a == b:
        raise InvalidArgumentError(
            f"{op_name}: axis1 and axis2 are the same axis. Got axis1={axis1} and axis2={axis2} for rank {rank}, expected "
            f"different ones. Change one of them."
        )
    return a, b


def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The diagonal of each matrix that two axes of `x` form.

    Args:
        x: any dtype, rank 2 or more.
        offset: which diagonal: 0 the main one, positive ones above it, negative ones below.
        axis1: the axis of the rows.
        axis2: the axis of the columns.

    Returns:
        A view: `x` without the two axes, and the diagonal last.

    Shape:
        `[..., rows, columns]` to `[..., k]`; the diagonal is the last axis.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        IndexError: an axis is out of range.
        ValueError: the axes are the same.

    Source:
        `paddle.diagonal`.

    Examples:
        >>> print(wherry.diagonal(wherry.to_tensor([[1, 2], [3, 4]])).tolist())
        [1, 4]
    """
    a, b = diagonal_axes(x, axis1, axis2, "diagonal")
    return ops.diagonal(x, integer(offset, "diagonal", "offset"), a, b)


def diagonal_scatter(
    x: Tensor, y: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """`x` with `y` on a diagonal; arguments as for `diagonal`, whose shape `y` has.

    Shape:
        `x` `[..., rows, columns]`, `y` `[..., k]`, to the shape of `x`.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or `offset` is not an int (also a ValueError).
        IndexError: `x` has fewer than two axes, or an axis is out of range.
        ValueError: the two axes are the same, or `y` does not have the shape of the diagonal.

    Examples:
        >>> print(wherry.diagonal_scatter(wherry.zeros([2, 2]), wherry.ones([2])).tolist())
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return _with_diagonal(x, y, offset, axis1, axis2, "diagonal_scatter")


def _with_diagonal(x: Any, y: Any, offset: Any, axis1: Any, axis2: Any, op_name: str) -> Tensor:
    a, b = diagonal_axes(x, axis1, axis2, op_name)
    _same_dtype(op_name, x, "y", y)
    place = {"offset": integer(offset, op_name, "offset"), "axis1": a, "axis2": b}
    want = ops.diagonal(x.detach(), **place).shape if not _core.is_symbolic(x) else y.shape
    if y.shape != want:
        raise InvalidArgumentError(
            f"{op_name}: y does not have the shape of the diagonal. Got {y.shape}, expected {want}. Reshape or expand it."
        )
    on_diagonal = ops.diagonal_vjp(ops.full_like(y, value=1, dtype=bool_), x, **place)
    return ops.where(on_diagonal, ops.diagonal_vjp(y, x, **place), x)


def fill_diagonal_tensor(x: Tensor, y: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None) -> Tensor:
    """`diagonal_scatter` under the name of the Tensor method.

    Shape:
        `x` `[..., rows, columns]`, `y` `[..., k]`, to the shape of `x`.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or `offset` is not an int (also a ValueError).
        IndexError: `x` has fewer than two axes, or an axis is out of range.
        ValueError: the two axes are the same, or `y` does not have the shape of the diagonal.

    Examples:
        >>> print(wherry.zeros([2, 2]).fill_diagonal_tensor(wherry.ones([2])).tolist())
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return _with_diagonal(x, y, offset, dim1, dim2, "fill_diagonal_tensor")


def fill_diagonal_tensor_(
    x: Tensor, y: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Tensor:
    """`fill_diagonal_tensor` in place.

    Shape:
        As of `fill_diagonal_tensor`.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or `offset` is not an int (also a ValueError).
        IndexError: `x` has fewer than two axes, or an axis is out of range.
        ValueError: the two axes are the same, or `y` does not have the shape of the diagonal;
            `x` is a leaf that asks for gradients.

    Examples:
        >>> print(wherry.zeros([2, 2]).fill_diagonal_tensor_(wherry.ones([2])).tolist())
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return _writing(_copy, x)(_with_diagonal(x, y, offset, dim1, dim2, "fill_diagonal_tensor_"))


def fill_diagonal_(x: Tensor, value: Any, offset: int = 0, wrap: bool = False, name: str | None = None) -> Tensor:
    """`x` with one value on its diagonal, in place.

    Args:
        x: rank 2, or of several axes of one size, of which the elements with all indices equal are meant.
        value: a number.
        offset: which diagonal of a matrix.
        wrap: whether the diagonal of a tall matrix starts anew below a gap of one row, as in NumPy.

    Shape:
        `[...]` to the same.

    Raises:
        ValueError: `x` has fewer than two axes, or more of different sizes.

    Source:
        `paddle.Tensor.fill_diagonal_`.

    Examples:
        >>> print(wherry.zeros([2, 3]).fill_diagonal_(7.0).tolist())
        [[7.0, 0.0, 0.0], [0.0, 7.0, 0.0]]
    """
    shape = require_tensor(x, "fill_diagonal_").shape
    rank = len(shape)
    value = _fill_tensor(x, value, "fill_diagonal_")
    offset = integer(offset, "fill_diagonal_", "offset")
    wrap = flag(wrap, "fill_diagonal_", "wrap")
    if rank < 2 or (rank > 2 and len(set(shape)) > 1):
        raise InvalidArgumentError(
            f"fill_diagonal_: x has no diagonal. Got shape {shape}, expected rank 2, or equal sizes in more axes. "
            f"Use fill_diagonal_tensor_ for two of several axes."
        )
    if rank == 2:
        rows, columns = shape
        step = columns + 1
        # The diagonal of a tall matrix ends at its last column unless it wraps around.
        end = rows * columns if wrap else min(rows * columns, max(columns - offset, 0) * columns if offset >= 0 else rows * columns)
        places = [i * step + offset for i in range(rows + 1) if 0 <= i * step + offset < end]
        if not wrap:
            places = [p for p in places if p % columns - p // columns == offset]
    else:
        step = sum(shape[0] ** k for k in range(rank))
        places = [i * step for i in range(shape[0])]
    index = from_values(places, (len(places),), int64)
    flat = ops.index_put(_reshape(x, (-1,)), value, index, axes=(0,), accumulate=False)
    return _copy.into((x,), _reshape(flat, tuple(shape)))


# Sets, classes, shards.


def _index_dtype(dtype: Any, op_name: str) -> Any:
    found = as_dtype(dtype)
    if found is not int32 and found is not int64:
        raise NotImplementedError(
            f"{op_name}: the dtype of positions must be an integer one. Got dtype={found.name}, expected int32 or int64. Cast the result instead."
        )
    return found


def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The unique values of `x`, sorted.

    Args:
        x: any real dtype.
        return_index: also the first position of each.
        return_inverse: also, for every element of `x`, the place of its value in the result.
        return_counts: also how often each occurs.
        axis: slices along this axis are compared as wholes; None takes the elements of the flattened `x`.
        dtype: of the positions and counts, int32 or int64.

    Returns:
        The values, or a tuple of them and what else was asked for. NaN differs from itself.

    Shape:
        `[...]` to `[k]`, or with `axis` `[..., n, ...]` to `[..., k, ...]`; positions are `[k]`, the inverse
        `[n]`, counts `[k]`.

    Raises:
        TypeError: `x` is not a Tensor or complex, or `axis` not an int (also a ValueError); `dtype` is not a known dtype.
        ValueError: the axis is out of range.
        NotImplementedError: `dtype` is neither int32 nor int64.

    Source:
        `paddle.unique`.

    Examples:
        >>> values, counts = wherry.unique(wherry.to_tensor([2, 3, 3, 1]), return_counts=True)
        >>> print(values.tolist(), counts.tolist())
        [1, 2, 3] [1, 1, 2]
    """
    rank = require_tensor(x, "unique").ndim
    at = None if _whole(axis) else one_axis(axis, rank, "unique")
    kind = _index_dtype(dtype, "unique")
    if rank == 0:
        x, at = _reshape(x, (1,)), None
    out, index, inverse, counts = ops.unique(x, axis=at)
    wanted = ((index, return_index, "return_index"), (inverse, return_inverse, "return_inverse"), (counts, return_counts, "return_counts"))
    return _with_asked("unique", out, wanted, kind)


def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """`x` with runs of equal values reduced to one; arguments and results as for `unique`.

    Shape:
        `[...]` to `[k]`, or with `axis` `[..., n, ...]` to `[..., k, ...]`; the inverse is `[n]`, counts are
        `[k]`.

    Raises:
        TypeError: `x` is not a Tensor or complex, or `axis` not an int (also a ValueError); `dtype` is not a known dtype.
        ValueError: the axis is out of range.
        NotImplementedError: `dtype` is neither int32 nor int64.

    Examples:
        >>> print(wherry.unique_consecutive(wherry.to_tensor([1, 1, 2, 1])).tolist())
        [1, 2, 1]
    """
    rank = require_tensor(x, "unique_consecutive").ndim
    at = None if _whole(axis) else one_axis(axis, rank, "unique_consecutive")
    kind = _index_dtype(dtype, "unique_consecutive")
    if rank == 0:
        x, at = _reshape(x, (1,)), None
    out, inverse, counts = ops.unique_consecutive(x, axis=at)
    return _with_asked("unique_consecutive", out, ((inverse, return_inverse, "return_inverse"), (counts, return_counts, "return_counts")), kind)


def _whole(axis: Any) -> bool:
    """Whether `axis` says that a tensor is taken as one row."""
    return axis is None or (isinstance(axis, list) and not axis)


def _with_asked(op_name: str, out: Tensor, more: Sequence[tuple[Tensor, Any, str]], kind: Any) -> Any:
    """`out`, with those of `more` that the caller asked for."""
    results = (out, *[to_dtype(y, kind) for y, asked, name in more if truth(asked, op_name, name)])
    return results if len(results) > 1 else out


def one_hot(x: Tensor, num_classes: Any, name: str | None = None) -> Tensor:
    """One-hot vectors: for each label a vector with 1 at its place and 0 elsewhere.

    Args:
        x: int32 or int64 labels in `[0, num_classes)`, any shape.
        num_classes: how many classes, an int or an integer tensor of one element.

    Returns:
        float32, of the shape of `x` with one more axis of size `num_classes`.

    Shape:
        `[...]` to `[..., num_classes]`.

    Raises:
        TypeError: `x` is not a Tensor of int32 or int64 (also a ValueError).
        ValueError: a label is out of range, or `num_classes` is below 1.

    Source:
        `paddle.nn.functional.one_hot`.

    Examples:
        >>> from wherry_tensor.functions.positions import one_hot
        >>> print(one_hot(wherry.to_tensor([1, 0]), 3).tolist())
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    index_tensor(x, "one_hot", "x")
    return ops.one_hot(x, integer(num_classes, "one_hot", "num_classes"))


def shard_index(input: Tensor, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Tensor:
    """Indices of a table that is spread over shards, as they are called in one shard.

    Args:
        input: int32 or int64 indices in `[0, index_num)`, of shape `[..., 1]`.
        index_num: the length of the table.
        nshards: how many shards; each holds `ceil(index_num / nshards)` rows.
        shard_id: which shard asks, in `[0, nshards)`.
        ignore_value: what stands for indices that live in other shards.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `input` is not a Tensor of int32 or int64 (also a ValueError).
        ValueError: an index is not below `index_num`, or the shard does not exist.

    Source:
        `paddle.shard_index`.

    Examples:
        >>> print(wherry.shard_index(wherry.to_tensor([[16], [1]]), 20, 2, 0).tolist())
        [[-1], [1]]
    """
    index_tensor(input, "shard_index", "input")
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"shard_index: the indices must stand in a column. Got shape {input.shape}, expected [..., 1], rank 2 or more. "
            f"Unsqueeze the last axis."
        )
    numbers = {"index_num": index_num, "nshards": nshards, "shard_id": shard_id, "ignore_value": ignore_value}
    return ops.shard_index(input, **{name: integer(value, "shard_index", name) for name, value in numbers.items()})


def multiplex(inputs: Sequence[Tensor], index: Tensor, name: str | None = None) -> Tensor:
    """Row i of the result is row i of the input that `index[i]` names.

    Args:
        inputs: two or more tensors of one shape and dtype, rank 2 or more.
        index: int32 (or int64), of shape `[N, 1]` or `[N]`.

    Shape:
        m tensors of `[B, ...]` and `index` `[B]` or `[B, 1]` to `[B, ...]`.

    Raises:
        IndexError: an index is not the number of an input.
        ValueError: there are fewer than two inputs, or the shapes do not fit.

    Source:
        `paddle.multiplex`.

    Examples:
        >>> a, b = wherry.to_tensor([[1, 2], [3, 4]]), wherry.to_tensor([[5, 6], [7, 8]])
        >>> print(wherry.multiplex([a, b], wherry.to_tensor([[1], [0]], dtype="int32")).tolist())
        [[5, 6], [3, 4]]
    """
    xs = tensors_of(inputs, "multiplex", "inputs")
    index = _vector_index(_flat_index(index, "multiplex"), "multiplex")
    counts = [index.shape[0], *xs[0].shape[:1]]
    if len(xs) < 2 or xs[0].ndim < 1 or (not has_sizes(tuple(counts)) and counts[0] > counts[1]):
        raise InvalidArgumentError(
            f"multiplex: there is nothing to choose from. Got {len(xs)} inputs of shape {xs[0].shape} and index of shape "
            f"{index.shape}, expected two or more inputs and at most one index for each row. Check the index."
        )
    rows = ops.arange(start=0, step=1, length=index.shape[0], dtype=index.dtype)
    return looked_up("multiplex", ops.index_get, stack(xs), index, rows, axes=(0, 1))


spelled(globals())
