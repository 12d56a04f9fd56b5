"""Values written to positions, as PyTorch has them: along one axis with an index of the rank of the tensor, or where a mask is true."""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import among, flag, require_tensor, to_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions import logic, movement, positions
from wherry_tensor.functions.inplace import inplace_form
from wherry_tensor.spellings import spelled

__all__ = ["masked_scatter", "masked_scatter_", "scatter_add", "scatter_add_", "scatter_reduce"]

_REDUCES = {"sum": "add", "prod": "mul", "mean": "mean", "amin": "amin", "amax": "amax"}


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of `input` to which the elements of `src` are added at the positions `index` along one axis.

    Args:
        input: any dtype.
        dim: the axis, in `[-rank, rank)`.
        index: int32 or int64, of the rank of `input`, and not larger than `src` along any axis.
        src: of the dtype of `input`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: an argument is not a Tensor, or of another dtype (also a ValueError).
        ValueError: the ranks or sizes do not fit.
        IndexError: a position is out of range.

    Source:
        `paddle.scatter_add`.

    Examples:
        >>> wherry.scatter_add(wherry.zeros([3]), 0, wherry.to_tensor([0, 2, 0]), wherry.ones([3])).tolist()
        [2.0, 0.0, 1.0]
    """
    return _reduced(input, dim, index, src, "add", True, "scatter_add")


def _reduced(input: Any, dim: Any, index: Any, src: Any, way: str, include_self: Any, op_name: str) -> Tensor:
    for name, one in (("input", input), ("index", index), ("src", src)):
        require_tensor(one, op_name, name)
    if not input.ndim == index.ndim == src.ndim:
        raise InvalidArgumentError(
            f"{op_name}: the ranks differ. Got input of shape {input.shape}, index {index.shape} and src {src.shape}, expected one rank. Use "
            "unsqueeze."
        )
    if any(a > b for a, b in zip(index.shape, src.shape)):
        raise InvalidArgumentError(
            f"{op_name}: the index is larger than src. Got {index.shape} and {src.shape}, expected sizes that fit. Shorten it."
        )
    part = src if src.shape == index.shape else movement.slice(src, list(range(src.ndim)), [0] * src.ndim, index.shape)
    return positions.put_along_axis(input, index, part, dim, way, include_self, False)


def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """A copy of `input` in which elements of `src` are combined at the positions `index` along one axis.

    Args:
        input, dim, index, src: as those of `scatter_add`.
        reduce: "sum", "prod", "mean", "amin" or "amax".
        include_self: whether the elements of `input` take part where others come.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: an argument is not a Tensor, or of another dtype (also a ValueError).
        ValueError: the ranks or sizes do not fit, or `reduce` is unknown.
        IndexError: a position is out of range.

    Source:
        `paddle.scatter_reduce`.

    Examples:
        >>> x, index = wherry.ones([3]), wherry.to_tensor([0, 0])
        >>> wherry.scatter_reduce(x, 0, index, wherry.to_tensor([2.0, 3.0]), "prod").tolist()
        [6.0, 1.0, 1.0]
    """
    if not among(reduce, _REDUCES):
        raise InvalidArgumentError(f"scatter_reduce: unknown reduce. Got {short(reduce)}, expected one of {', '.join(_REDUCES)}. Use 'sum' to add.")
    return _reduced(input, dim, index, src, _REDUCES[reduce], flag(include_self, "scatter_reduce", "include_self"), "scatter_reduce")


def masked_scatter(x: Tensor, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
    """A copy of `x` in which the elements where `mask` is true are the first ones of `value`, in order.

    Args:
        x: any dtype.
        mask: bool; broadcasts with `x`.
        value: of the dtype of `x`, with at least as many elements as the mask has places.

    Shape:
        `[...]` and the shape of the mask to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, `mask` not of bool, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast, or there are not enough values.

    Source:
        `paddle.masked_scatter`.

    Examples:
        >>> x, mask = wherry.zeros([4]), wherry.to_tensor([True, False, True, False])
        >>> wherry.masked_scatter(x, mask, wherry.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.0, 0.0, 2.0, 0.0]
    """
    for name_, one in (("x", x), ("mask", mask), ("value", value)):
        require_tensor(one, "masked_scatter", name_)
    if not mask.dtype.is_bool or value.dtype is not x.dtype:
        raise InvalidTypeError(
            f"masked_scatter: dtypes do not fit. Got a mask of {mask.dtype.name}, x of {x.dtype.name} and a value of {value.dtype.name}, expected "
            "bool "
            f"and one dtype. Cast them."
        )
    shape = movement.broadcast_shape(x.shape, mask.shape)
    places = movement.reshape(movement.broadcast_to(mask, shape), [-1])
    # The n-th true place takes the n-th value: its position is the number of true places up to it.
    order = ops.cumsum(to_dtype(places, int64), axis=0, reverse=False) - 1
    needed = logic.where(places, order, ops.full_like(order, value=0, dtype=int64))
    if places.size and value.size == 0:
        raise InvalidArgumentError("masked_scatter: there are not enough values. Got none, expected as many as the mask has places.")
    try:
        taken = positions.gather(movement.reshape(value, [-1]), needed)
    except IndexError:
        count = int(ops.reduce_sum(to_dtype(places, int64), axes=(0,), keepdim=False).item())
        raise InvalidArgumentError(
            f"masked_scatter: there are not enough values. Got {value.size}, expected at least {count}, the number of places where the mask is true."
        ) from None
    return logic.where(movement.broadcast_to(mask, shape), movement.reshape(taken, shape), movement.broadcast_to(x, shape))


masked_scatter_ = inplace_form(masked_scatter)
scatter_add_ = inplace_form(scatter_add)


spelled(globals())
