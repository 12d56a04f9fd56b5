"""`paddle.compat`: functions whose names PyTorch has too, with what PyTorch's give: values and positions along one axis, sizes of parts."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag, integer, one_axis, require_rank, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.functions import factorization, logic, math, movement, positions, random, reduction, search

__all__ = ["equal", "max", "median", "min", "nanmedian", "seed", "slogdet", "sort", "split", "unique"]


class MinMaxRetType(NamedTuple):
    """Values, and their positions along the axis."""

    values: Tensor
    indices: Tensor


class MedianRetType(NamedTuple):
    """Values, and their positions along the axis."""

    values: Tensor
    indices: Tensor


class SortRetType(NamedTuple):
    """Values, and their positions along the axis."""

    values: Tensor
    indices: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


def _put(out: Any, result: Any) -> Any:
    if out is None:
        return result
    if isinstance(result, Tensor):
        return _core.rebind(require_tensor(out, "out", "out"), result)
    if not isinstance(out, (list, tuple)) or len(out) != len(result):
        raise InvalidTypeError(f"out: got {type(out).__name__}, expected {len(result)} tensors in a tuple, one for each result. Leave it out.")
    return type(result)(*(_core.rebind(require_tensor(one, "out", "out"), value) for one, value in zip(out, result)))


def _extreme(op_name: str, input: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    require_tensor(input, op_name, "input")
    out = kwargs.pop("out", None)
    given = dict(zip(("dim", "keepdim"), args)) | kwargs
    if "other" in given or args and isinstance(args[0], Tensor) and args[0].ndim:
        other = given.pop("other", args[0] if args else None)
        return _put(out, (math.maximum if op_name == "compat.max" else math.minimum)(input, other))
    unknown = given.keys() - {"dim", "keepdim"}
    if unknown:
        raise TypeError(f"{op_name}: unknown arguments. Got {', '.join(unknown)}, expected dim, keepdim, other or out.")
    if given.get("dim") is None:
        return _put(out, (reduction.max if op_name == "compat.max" else reduction.min)(input))
    axis = one_axis(given["dim"], input.ndim, op_name, name="dim")
    keep = flag(given.get("keepdim", False), op_name, "keepdim")
    if not input.ndim:
        return _put(out, MinMaxRetType(input.clone(), reduction.argmax(input)))
    at = (reduction.argmax if op_name == "compat.max" else reduction.argmin)(input, axis, True)
    values = positions.take_along_axis(input, at, axis)
    return _put(out, MinMaxRetType(*((values, at) if keep else (movement.squeeze(values, axis), movement.squeeze(at, axis)))))


def max(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The largest element; along an axis `max(x, dim, keepdim=False)`, values and positions; of two tensors `max(x, other)`, element by element.

    Shape:
        `[..., n, ...]` to `[..., ...]`, twice; without `dim` to `[]`.

    Raises:
        TypeError: an argument is of another kind (also a ValueError).
        ValueError: the axis is out of range.

    Source:
        `paddle.compat.max`.

    Examples:
        >>> values, indices = wherry.compat.max(wherry.to_tensor([[1, 5, 2]]), dim=1)
        >>> values.tolist(), indices.tolist()
        ([5], [1])
    """
    return _extreme("compat.max", input, args, kwargs)


def min(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The smallest element; along an axis `min(x, dim, keepdim=False)`, values and positions; of two tensors `min(x, other)`, element by element.

    Shape:
        `[..., n, ...]` to `[..., ...]`, twice; without `dim` to `[]`.

    Raises:
        TypeError: an argument is of another kind (also a ValueError).
        ValueError: the axis is out of range.

    Source:
        `paddle.compat.min`.

    Examples:
        >>> wherry.compat.min(wherry.to_tensor([[3, 1, 2]]), 1).indices.tolist()
        [1]
    """
    return _extreme("compat.min", input, args, kwargs)


def _median(op_name: str, input: Any, dim: Any, keepdim: Any, out: Any, skip_nan: bool) -> Any:
    require_tensor(input, op_name, "input")
    keep = flag(keepdim, op_name, "keepdim")
    whole = dim is None
    x = movement.reshape(input, [-1]) if whole or not input.ndim else input
    axis = one_axis(0 if whole else dim, x.ndim, op_name, name="dim")
    n = x.shape[axis]
    if n == 0:
        raise InvalidArgumentError(f"{op_name}: the median of nothing. Got shape {input.shape}, expected elements. Leave empty tensors out.")
    order = search.argsort(x, axis)  # NaN comes last
    floats = x.dtype.is_floating
    nans = logic.isnan(x) if floats else None
    if nans is None:
        at = positions.index_select(order, _positions([(n - 1) // 2]), axis)
    else:
        count = reduction.sum(nans.astype("int64"), axis, keepdim=True)
        middle = (n - 1 - count).maximum(count * 0) // 2 if skip_nan else count * 0 + (n - 1) // 2
        first = reduction.argmax(nans.astype("int32"), axis, True)
        at = positions.take_along_axis(order, middle, axis)
        if not skip_nan:
            at = logic.where(count > 0, first, at)
    values = positions.take_along_axis(x, at, axis)
    if whole:
        return _put(out, movement.reshape(values, [1] * input.ndim if keep else []))
    if not input.ndim:
        return _put(out, MedianRetType(movement.reshape(values, []), movement.reshape(at, [])))
    return _put(out, MedianRetType(*((values, at) if keep else (movement.squeeze(values, axis), movement.squeeze(at, axis)))))


def _positions(values: list[int]) -> Tensor:
    from wherry_tensor.functions.creation import to_tensor

    return to_tensor(values, "int64")


def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The median, of an even number of elements the lower one of the two in the middle; along an axis with its position.

    Args:
        input: numbers.
        dim: the axis; None takes all elements, and gives the value alone.
        keepdim: keep the axis with size 1.
        out: the tensors that become the results.

    Shape:
        `[..., n, ...]` to `[..., ...]`, twice; without `dim` to `[]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: the axis is out of range, or there are no elements.

    Source:
        `paddle.compat.median`.

    Examples:
        >>> wherry.compat.median(wherry.to_tensor([4.0, 1.0, 2.0, 3.0])).item()
        2.0
    """
    return _median("compat.median", input, dim, keepdim, out, False)


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The median of what is not NaN; as `median`.

    Shape:
        `[..., n, ...]` to `[..., ...]`, twice; without `dim` to `[]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: the axis is out of range, or there are no elements.

    Source:
        `paddle.compat.nanmedian`.

    Examples:
        >>> wherry.compat.nanmedian(wherry.to_tensor([4.0, float("nan"), 2.0])).item()
        2.0
    """
    return _median("compat.nanmedian", input, dim, keepdim, out, True)


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, out: Any = None) -> SortRetType:
    """Sorted values along an axis, and their positions.

    Args:
        input: numbers.
        dim: the axis.
        descending: the largest first.
        stable: accepted for compatibility: equal values always keep their order.
        out: two tensors that become the results.

    Shape:
        `[...]` to the same, twice.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: the axis is out of range.

    Source:
        `paddle.compat.sort`.

    Examples:
        >>> wherry.compat.sort(wherry.to_tensor([3, 1, 2])).indices.tolist()
        [1, 2, 0]
    """
    at = search.argsort(require_tensor(input, "compat.sort", "input"), dim, descending)
    values = positions.take_along_axis(input, at, dim) if input.ndim else input.clone()
    return _put(out, SortRetType(values, at))  # type: ignore[no-any-return]


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of a size along an axis, the last of which may be smaller; or of the sizes in a list.

    Shape:
        `[5]` in parts of 2: `[2]`, `[2]` and `[1]`.

    Raises:
        TypeError: an argument is of another kind (also a ValueError).
        ValueError: the size is below 1, or the sizes do not sum to that of the axis.

    Source:
        `paddle.compat.split`.

    Examples:
        >>> [part.tolist() for part in wherry.compat.split(wherry.arange(5), 2)]
        [[0, 1], [2, 3], [4]]
    """
    require_rank(tensor, "compat.split", 1, 99, "tensor")
    axis = one_axis(dim, tensor.ndim, "compat.split", name="dim")
    if isinstance(split_size_or_sections, (list, tuple)):
        return tuple(movement.split(tensor, list(split_size_or_sections), axis))
    size, whole = integer(split_size_or_sections, "compat.split", "split_size_or_sections"), tensor.shape[axis]
    if size < 1:
        raise InvalidArgumentError(f"compat.split: the size of a part is below 1. Got {size}, expected an int of at least 1. Name the size, not a number of parts.")
    sizes = [size] * (whole // size) + ([whole % size] if whole % size or not whole else [])
    return tuple(movement.split(tensor, sizes, axis))


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The unique values, sorted; on wish where each element went, and how often each value comes.

    Shape:
        `[...]` to `[m]`; positions of the flattened input, and counts `[m]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: the axis is out of range.

    Source:
        `paddle.compat.unique`.

    Examples:
        >>> values, counts = wherry.compat.unique(wherry.to_tensor([3, 1, 3]), return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 3], [1, 2])
    """
    flag(sorted, "compat.unique", "sorted")
    require_tensor(input, "compat.unique", "input")
    found = positions.unique(input, False, return_inverse, return_counts, dim)
    return tuple(found) if return_inverse or return_counts else found


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both have one shape and equal elements.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).

    Source:
        `paddle.compat.equal`.

    Examples:
        >>> wherry.compat.equal(wherry.ones([2]), wherry.ones([2]))
        True
    """
    require_tensor(input, "compat.equal", "input")
    require_tensor(other, "compat.equal", "other")
    return input.shape == other.shape and bool(logic.equal_all(input, other))


def slogdet(x: Tensor, out: Any = None) -> SlogdetResult:
    """The sign of a determinant, and the logarithm of its magnitude, as two tensors.

    Shape:
        `[..., n, n]` to `[...]`, twice.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: it is not square.

    Source:
        `paddle.compat.slogdet`.

    Examples:
        >>> wherry.compat.slogdet(wherry.eye(2)).logabsdet.item()
        0.0
    """
    both = factorization.slogdet(x)
    return _put(out, SlogdetResult(both[0], both[1]))  # type: ignore[no-any-return]


def seed() -> int:
    """Start all generators over from a number that nobody knows before; returns it.

    Source:
        `paddle.compat.seed`.

    Examples:
        >>> wherry.compat.seed() >= 0
        True
    """
    import secrets

    number = secrets.randbits(53)
    random.seed(number)
    return number
