"""Reshaping, joining, splitting and repeating.

Which results share memory with their input is Paddle 2.6.2's choice: `reshape`, `transpose`,
`squeeze`, `slice`, `unbind`, ... are views; `split`, `expand`, `unstack`, `crop`, ... are copies.
docs/compatibility.md has the list.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, bool_, complex64, complex128, float32, float64, from_values, int32, int64
from wherry_tensor.arguments import (
    MAX_RANK,
    Axes,
    integer,
    integers_of,
    one_axis,
    repeats,
    require_tensor,
    require_writable,
    shape_argument,
    tensors_of,
)
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError, short
from wherry_tensor.functions.creation import arange, cast, full
from wherry_tensor.ops.shapes import UNKNOWN, broadcast_shapes
from wherry_tensor.paddle_version import is_3
from wherry_tensor.sizes import Size, equals, has_sizes, is_unknown, known
from wherry_tensor.spellings import spelled
from wherry_tensor.static_builder import described

__all__ = [
    "as_complex",
    "as_real",
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_shape",
    "broadcast_tensors",
    "broadcast_to",
    "cast_",
    "chunk",
    "concat",
    "crop",
    "diff",
    "expand",
    "expand_as",
    "flatten",
    "flatten_",
    "flip",
    "moveaxis",
    "numel",
    "rank",
    "repeat_interleave",
    "reshape",
    "reshape_",
    "reverse",
    "roll",
    "rot90",
    "shape",
    "slice",
    "split",
    "squeeze",
    "squeeze_",
    "stack",
    "strided_slice",
    "t",
    "t_",
    "tile",
    "tolist",
    "transpose",
    "transpose_",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "unsqueeze_",
    "unstack",
    "view",
    "view_as",
    "vsplit",
]

_reshape, _transpose, _squeeze, _unsqueeze, _slice, _select = (
    ops.reshape, ops.transpose, ops.squeeze, ops.unsqueeze, ops.slice, ops.select,
)
_tolist = Tensor.tolist  # this function may take its place as a method
_copy, _concat, _gather, _broadcast_to = ops.copy, ops.concat, ops.gather, ops.broadcast_to


# Shapes.


def shape(input: Tensor) -> Tensor:
    """The sizes of the axes as a tensor: int32 `[rank]`. `input.shape` gives them as a list.

    Shape:
        `[...]` of rank r to `[r]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).

    Source:
        `paddle.shape`.

    Examples:
        >>> print(wherry.shape(wherry.zeros([2, 3])).tolist())
        [2, 3]
    """
    found = ops.shape_of(require_tensor(input, "shape", "input"))
    return ops.cast(found, dtype=int64) if is_3() else found


def rank(input: Tensor) -> Tensor:
    """The number of axes as a tensor: int32, 0-d. `input.ndim` gives it as an int.

    Shape:
        `[...]` to `[]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).

    Source:
        `paddle.rank`.

    Examples:
        >>> wherry.rank(wherry.zeros([2, 3])).item()
        2
    """
    return _core.scalar(require_tensor(input, "rank", "input").ndim, int32)


def numel(x: Tensor, name: str | None = None) -> Tensor:
    """The number of elements as a tensor: int64, 0-d. `x.size` gives it as an int.

    Shape:
        `[...]` to `[]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.numel`.

    Examples:
        >>> wherry.numel(wherry.zeros([2, 3])).item()
        6
    """
    size = require_tensor(x, "numel").size
    if size >= 0:
        return _core.scalar(size, int64)
    return ops.reduce_prod(ops.cast(ops.shape_of(x), int64), axes=(0,), keepdim=False)


def reshape(x: Tensor, shape: Sequence[int | Tensor] | Tensor, name: str | None = None) -> Tensor:
    """The elements of `x`, row by row, in another shape.

    Args:
        x: any dtype, any shape.
        shape: the new sizes: ints, or integer tensors of one element, or one 1-D integer tensor. One
            size may be -1: it follows from the others. A 0 at place i means the size of axis i of `x`.

    Returns:
        A view of `x` where its strides allow one, as they do whenever `x` is contiguous; else a copy.

    Shape:
        `[...]` to `shape`: 0 keeps the size of that axis, one -1 takes what is left.

    Raises:
        TypeError: `shape` is not made of ints (also a ValueError, as in Paddle).
        ValueError: the element counts differ, a second size is -1, or a 0 stands beyond the rank of `x`.

    Source:
        `paddle.reshape`.

    Examples:
        >>> x = wherry.arange(6)
        >>> print(wherry.reshape(x, [2, -1]).tolist())
        [[0, 1, 2], [3, 4, 5]]
        >>> wherry.reshape(wherry.zeros([2, 3, 4]), [0, -1]).shape
        [2, 12]
    """
    if type(shape) is list:
        shape = tuple(shape)
    elif type(shape) is not tuple:
        shape = shape_argument(shape, "reshape")
    for size in shape:
        if type(size) is not int or not size:
            shape = _reshape_sizes(x, shape, "reshape")
            break
    try:
        return _reshape(x, shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise _reshape_error(x, tuple(shape), error) from None  # type: ignore[arg-type]  # ints by now


def _reshape_sizes(x: Any, shape: tuple[Any, ...], op_name: str) -> tuple[int, ...]:
    """Ints, with each 0 replaced by the size it stands for."""
    require_tensor(x, op_name)
    sizes = list(integers_of(shape, op_name, "shape"))
    have = x.shape
    for at, size in enumerate(sizes):
        if size < -1:
            raise InvalidArgumentError(
                f"{op_name}: a size cannot be negative. Got shape={sizes}, expected sizes >= 0, or one -1. "
                f"Use -1 for the size that follows from the others."
            )
        if size == 0 and x.size != 0:
            if at >= len(have):
                raise InvalidArgumentError(
                    f"{op_name}: a 0 stands for the size of the same axis of x, which has none here. Got a 0 at place {at} "
                    f"of shape={sizes} for x of shape {have}, expected zeros at places below {len(have)}. Write the size itself."
                )
            sizes[at] = have[at]
    return tuple(sizes)


def _reshape_error(x: Any, shape: tuple[int, ...], error: Exception) -> Exception:
    require_tensor(x, "reshape")
    if shape.count(-1) > 1:
        return InvalidArgumentError(
            f"reshape: only one size can follow from the others. Got shape={list(shape)}, expected at most one -1. "
            f"Give all sizes but one."
        )
    integers_of(shape, "reshape", "shape")  # refuses numbers that are too large
    return error


def _become(x: Tensor, y: Tensor, op_name: str) -> Tensor:
    """`x` with the shape (or dtype) of `y`, a result of `x`: what the forms with an underscore return."""
    if described(x):
        return y
    require_writable(x, op_name)
    return _core.rebind(x, y)


def reshape_(x: Tensor, shape: Sequence[int | Tensor] | Tensor, name: str | None = None) -> Tensor:
    """`reshape` in place: `x` itself gets the new shape.

    Shape:
        As of `reshape`.

    Raises:
        TypeError: `x` is not a Tensor, or `shape` is not made of ints (also a ValueError).
        ValueError: the element counts differ, a second size is -1, or `x` is a leaf that asks for gradients.

    Examples:
        >>> x = wherry.arange(6)
        >>> wherry.reshape_(x, [2, 3]).shape, x.shape
        ([2, 3], [2, 3])
    """
    return _become(x, reshape(x, shape), "reshape_")


def view(x: Tensor, shape_or_dtype: Any, name: str | None = None) -> Tensor:
    """`x` with another shape, or its bytes as another dtype, always on the memory of `x`.

    Args:
        x: any dtype.
        shape_or_dtype: a list or tuple of sizes, as for `reshape`; or a dtype. Elements of another size
            change the last axis: float32 `[2, 3]` is uint8 `[2, 12]`. Reading bytes anew has no gradient.

    Shape:
        `[...]` to the shape; with a dtype, the last axis shrinks or grows by the ratio of the sizes.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `shape_or_dtype` is neither.
        ValueError: no strides on this memory give that shape; `reshape` would copy.

    Source:
        `paddle.view`.

    Examples:
        >>> x = wherry.to_tensor([1.0, -2.0])
        >>> print(wherry.view(x, "int32").tolist(), wherry.view(x, [2, 1]).shape)
        [1065353216, -1073741824] [2, 1]
    """
    require_tensor(x, "view")
    if type(shape_or_dtype) in (int, Size):
        shape_or_dtype = [shape_or_dtype]
    if not isinstance(shape_or_dtype, (list, tuple)):
        return _core.reinterpreted(x, as_dtype(shape_or_dtype, "view"))
    y = reshape(x, shape_or_dtype)
    if not _core.is_symbolic(x) and not y._shares_memory_with(x):
        raise InvalidArgumentError(
            f"view: no view of this memory has that shape. Got x of shape {x.shape} with strides {x.strides} and "
            f"shape {list(shape_or_dtype)}, expected axes that lie one after the other in memory. Use reshape, which copies."
        )
    return y


def view_as(x: Tensor, other: Tensor, name: str | None = None) -> Tensor:
    """`x` with the shape of `other`, on the memory of `x`.

    Shape:
        `[...]` to the shape of `other`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: the element counts differ, or no view has that shape.

    Examples:
        >>> wherry.view_as(wherry.arange(6), wherry.zeros([2, 3])).shape
        [2, 3]
    """
    require_tensor(other, "view_as", "other")
    return view(x, tuple(other.shape))


def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """`x` with the axes from `start_axis` to `stop_axis` (included) merged into one.

    Args:
        x: any dtype, any shape.
        start_axis: the first of them, in `[-rank, rank)`.
        stop_axis: the last of them.

    Returns:
        A view where the strides allow one. A 0-d `x` gives shape `[1]`.

    Shape:
        `[a, b, c, d]` from axis 1 to 2: `[a, b * c, d]`; `[]` gives `[1]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an axis is out of range or not an int, or `stop_axis` comes before `start_axis`.

    Source:
        `paddle.flatten`.

    Examples:
        >>> wherry.flatten(wherry.zeros([2, 3, 4]), start_axis=1).shape
        [2, 12]
    """
    require_tensor(x, "flatten")
    shape = x.shape
    rank = len(shape)
    if rank == 0:
        one_axis(start_axis, 0, "flatten", name="start_axis")
        one_axis(stop_axis, 0, "flatten", name="stop_axis")
        return _reshape(x, (1,))
    start = one_axis(start_axis, rank, "flatten", name="start_axis")
    stop = one_axis(stop_axis, rank, "flatten", name="stop_axis")
    if stop < start:
        raise InvalidArgumentError(
            f"flatten: the axes to merge end before they start. Got start_axis={start_axis} and stop_axis={stop_axis} for "
            f"rank {rank}, expected start_axis <= stop_axis. Exchange them."
        )
    merged = 1
    for size in shape[start : stop + 1]:
        merged = UNKNOWN if size == UNKNOWN or merged == UNKNOWN else merged * size
    return _reshape(x, (*shape[:start], merged, *shape[stop + 1 :]))


def flatten_(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """`flatten` in place: `x` itself gets the new shape.

    Shape:
        As of `flatten`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an axis is out of range or not an int, `stop_axis` comes before `start_axis`, or `x` is a leaf that asks for gradients.

    Examples:
        >>> wherry.flatten_(wherry.zeros([2, 3])).shape
        [6]
    """
    return _become(x, flatten(x, start_axis, stop_axis), "flatten_")


def unflatten(x: Tensor, axis: int, shape: Sequence[int] | Tensor, name: str | None = None) -> Tensor:
    """`x` with one axis cut into several.

    Args:
        x: any dtype.
        axis: the axis to cut, in `[-rank, rank)`.
        shape: the sizes that it is cut into; one may be -1.

    Shape:
        `[..., n, ...]` to `[..., *shape, ...]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: the sizes do not multiply to that of the axis.

    Source:
        `paddle.unflatten`.

    Examples:
        >>> wherry.unflatten(wherry.zeros([4, 6]), axis=1, shape=[2, -1]).shape
        [4, 2, 3]
    """
    require_tensor(x, "unflatten")
    at = one_axis(axis, x.ndim, "unflatten")
    sizes = integers_of(shape_argument(shape, "unflatten"), "unflatten", "shape")
    have = x.shape
    return reshape(x, (*have[:at], *sizes, *have[at + 1 :]))


def squeeze(x: Tensor, axis: Axes = None, name: str | None = None) -> Tensor:
    """`x` without axes of size 1.

    Args:
        x: any dtype, any shape.
        axis: which axes; None takes all of size 1. An axis of another size stays, as in Paddle. Of an axis whose size is not known while a
            program is captured, it must be 1 when the program runs, and without `axis` it must not be 1: so does Paddle declare the result.

    Returns:
        A view.

    Shape:
        `[a, 1, b]` to `[a, b]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an axis is out of range.

    Source:
        `paddle.squeeze`.

    Examples:
        >>> x = wherry.zeros([1, 3, 1])
        >>> wherry.squeeze(x).shape, wherry.squeeze(x, 0).shape, wherry.squeeze(x, 1).shape
        ([3], [3, 1], [1, 3, 1])
    """
    shape = require_tensor(x, "squeeze").shape
    if type(axis) is int and 0 <= axis < len(shape):
        return _squeeze(x, (axis,) if is_unknown(shape[axis]) or shape[axis] == 1 else ())
    axes = () if axis is None else sorted({one_axis(a, len(shape), "squeeze") for a in integers_of(axis, "squeeze", "axis")})
    if not axes:
        ones = tuple([a for a, n in enumerate(shape) if not is_unknown(n) and n == 1])
        return ops.squeeze_ones(x, axes=ones) if any(map(is_unknown, shape)) else _squeeze(x, ones)
    return _squeeze(x, tuple([a for a in axes if a < len(shape) and (is_unknown(shape[a]) or shape[a] == 1)]))


def squeeze_(x: Tensor, axis: Axes = None, name: str | None = None) -> Tensor:
    """`squeeze` in place: `x` itself loses the axes.

    Shape:
        As of `squeeze`.

    Raises:
        TypeError: `x` is not a Tensor, or `axis` is not made of ints (also a ValueError).
        ValueError: an axis is out of range, or `x` is a leaf that asks for gradients.

    Examples:
        >>> wherry.squeeze_(wherry.zeros([1, 3])).shape
        [3]
    """
    return _become(x, squeeze(x, axis), "squeeze_")


def unsqueeze(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """`x` with new axes of size 1.

    Args:
        x: any dtype, any shape.
        axis: where: an int, several, or an integer tensor. Each counts in the shape that those before it
            have made, in `[-rank - 1, rank]`.

    Returns:
        A view.

    Shape:
        `[a, b]` at axis 1 to `[a, 1, b]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an axis is out of range.

    Source:
        `paddle.unsqueeze`.

    Examples:
        >>> x = wherry.zeros([2, 3])
        >>> wherry.unsqueeze(x, 0).shape, wherry.unsqueeze(x, [0, 2]).shape, wherry.unsqueeze(x, -1).shape
        ([1, 2, 3], [1, 2, 1, 3], [2, 3, 1])
    """
    if type(axis) is int:
        try:
            return _unsqueeze(x, (axis,))
        except (TypeError, ValueError):  # a mistake, or a place counted from the end
            pass
    rank = require_tensor(x, "unsqueeze").ndim
    new: list[int] = []
    for a in integers_of(axis, "unsqueeze", "axis"):
        have = rank + len(new)
        if not -have - 1 <= a <= have or have == MAX_RANK:
            raise InvalidArgumentError(
                f"unsqueeze: an axis is out of range. Got axis={short(axis)} for x of shape {x.shape}, expected "
                f"each in [{-have - 1}, {have}], and a result of at most {MAX_RANK} axes. Axes count in the result."
            )
        a = a + have + 1 if a < 0 else a
        new = [place + 1 if place >= a else place for place in new]
        new.append(a)
    return _unsqueeze(x, tuple(sorted(new)))


def unsqueeze_(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """`unsqueeze` in place: `x` itself gets the axes.

    Shape:
        As of `unsqueeze`.

    Raises:
        TypeError: `x` is not a Tensor, or `axis` is not made of ints (also a ValueError).
        ValueError: an axis is out of range, or `x` is a leaf that asks for gradients.

    Examples:
        >>> wherry.unsqueeze_(wherry.zeros([3]), 0).shape
        [1, 3]
    """
    return _become(x, unsqueeze(x, axis), "unsqueeze_")


def atleast_1d(*inputs: Tensor, name: str | None = None) -> Any:
    """Each input with at least one axis; a list when there are several.

    Shape:
        `[]` to `[1]`; others as they are.

    Raises:
        ValueError: there is no input.

    Examples:
        >>> wherry.atleast_1d(wherry.to_tensor(3.0)).shape
        [1]
    """
    return _at_least(inputs, 1, "atleast_1d")


def atleast_2d(*inputs: Tensor, name: str | None = None) -> Any:
    """Each input with at least two axes, the new ones first; a list when there are several.

    Shape:
        `[]` to `[1, 1]`, `[n]` to `[1, n]`; others as they are.

    Raises:
        ValueError: there is no input.

    Examples:
        >>> wherry.atleast_2d(wherry.zeros([3])).shape
        [1, 3]
    """
    return _at_least(inputs, 2, "atleast_2d")


def atleast_3d(*inputs: Tensor, name: str | None = None) -> Any:
    """Each input with at least three axes: `[n]` becomes `[1, n, 1]`, `[m, n]` becomes `[m, n, 1]`.

    Shape:
        `[]` to `[1, 1, 1]`, `[n]` to `[1, n, 1]`, `[n, m]` to `[n, m, 1]`; others as they are.

    Raises:
        ValueError: there is no input.

    Examples:
        >>> wherry.atleast_3d(wherry.zeros([3])).shape
        [1, 3, 1]
    """
    return _at_least(inputs, 3, "atleast_3d")


_NEW_AXES: dict[int, dict[int, tuple[int, ...]]] = {1: {0: (0,)}, 2: {0: (0, 1), 1: (0,)}, 3: {0: (0, 1, 2), 1: (0, 2), 2: (2,)}}


def _at_least(inputs: tuple[Any, ...], rank: int, op_name: str) -> Any:
    from wherry_tensor.functions.creation import to_tensor

    if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) and any(isinstance(x, Tensor) for x in inputs[0]):
        inputs = tuple(inputs[0])
    if not inputs:
        raise InvalidArgumentError(f"{op_name}: there is no input. Got none, expected at least one tensor. Pass one.")
    results = []
    for x in inputs:
        x = x if isinstance(x, Tensor) else to_tensor(x)
        results.append(x if x.ndim >= rank else _unsqueeze(x, _NEW_AXES[rank][x.ndim]))
    return results[0] if len(results) == 1 else results


# The order of axes.


def transpose(x: Tensor, perm: Sequence[int], name: str | None = None) -> Tensor:
    """`x` with its axes in another order.

    Args:
        x: any dtype, any shape.
        perm: for each axis of the result, the axis of `x` it is, in `[-rank, rank)`.

    Returns:
        A view.

    Shape:
        The sizes of `x`, in the order `perm`.

    Raises:
        TypeError: `perm` is not a list or tuple of ints (also a ValueError, as in Paddle).
        ValueError: `perm` does not name each axis once.

    Source:
        `paddle.transpose`.

    Examples:
        >>> wherry.transpose(wherry.zeros([2, 3, 4]), perm=[2, 0, 1]).shape
        [4, 2, 3]
    """
    if type(perm) is list:
        perm = tuple(perm)
    elif type(perm) is not tuple:
        raise InvalidTypeError(
            f"transpose: 'perm' must be a list of axes. Got {short(perm)}, expected a list or tuple of ints. "
            f"Write transpose([1, 0]), the order of all axes, to exchange two."
        )
    try:
        return _transpose(x, perm)
    except (TypeError, ValueError):  # a mistake, or an axis counted from the end
        rank = require_tensor(x, "transpose").ndim
    return _transpose(x, tuple([one_axis(a, rank, "transpose", name="perm") for a in perm]))


def transpose_(x: Tensor, perm: Sequence[int], name: str | None = None) -> Tensor:
    """`transpose` in place: `x` itself gets the new order of axes.

    Shape:
        As of `transpose`.

    Raises:
        TypeError: `x` is not a Tensor, or `perm` is not a list of ints (also a ValueError).
        ValueError: `perm` does not name every axis once, or `x` is a leaf that asks for gradients.

    Examples:
        >>> wherry.transpose_(wherry.zeros([2, 3]), [1, 0]).shape
        [3, 2]
    """
    return _become(x, transpose(x, perm), "transpose_")


def t(input: Tensor, name: str | None = None) -> Tensor:
    """Matrix transpose: a matrix transposed; a vector or number as it is.

    Shape:
        `[n, m]` to `[m, n]`; `[n]` and `[]` to the same.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` has more than two axes.

    Source:
        `paddle.t`.

    Examples:
        >>> print(wherry.t(wherry.to_tensor([[1, 2, 3]])).tolist())
        [[1], [2], [3]]
    """
    rank = require_tensor(input, "t", "input").ndim
    if rank > 2:
        raise InvalidArgumentError(
            f"t: x has more than two axes. Got shape {input.shape}, expected rank 0, 1 or 2. "
            f"Use transpose with a perm."
        )
    return _transpose(input, (1, 0) if rank == 2 else tuple(range(rank)))


def t_(input: Tensor, name: str | None = None) -> Tensor:
    """`t` in place: `input` itself is transposed.

    Shape:
        As of `t`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: `input` has more than two axes, or is a leaf that asks for gradients.

    Examples:
        >>> wherry.t_(wherry.zeros([2, 3])).shape
        [3, 2]
    """
    return _become(input, t(input), "t_")


def moveaxis(x: Tensor, source: Any, destination: Any, name: str | None = None) -> Tensor:
    """`x` with some axes moved to other places; the rest keep their order.

    Args:
        x: any dtype.
        source: an axis or several, each in `[-rank, rank)`.
        destination: for each of them its place in the result.

    Returns:
        A view.

    Shape:
        The sizes of `x`, in the new order.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an axis is repeated or out of range, or the counts differ.

    Source:
        `paddle.moveaxis`.

    Examples:
        >>> wherry.moveaxis(wherry.zeros([2, 3, 4]), 0, -1).shape
        [3, 4, 2]
    """
    rank = require_tensor(x, "moveaxis").ndim
    at = [one_axis(a, rank, "moveaxis", name="source") for a in integers_of(source, "moveaxis", "source")]
    to = [one_axis(a, rank, "moveaxis", name="destination") for a in integers_of(destination, "moveaxis", "destination")]
    if len(at) != len(to) or len(set(at)) != len(at) or len(set(to)) != len(to):
        raise InvalidArgumentError(
            f"moveaxis: each axis moves to one place. Got source={source} and destination={destination} for rank {rank}, "
            f"expected equally many different axes in both. Remove the repeats."
        )
    rest = iter([axis for axis in range(rank) if axis not in at])
    found = dict(zip(to, at, strict=True))
    return _transpose(x, tuple([found[place] if place in found else next(rest) for place in range(rank)]))


def flip(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """`x` with its elements in reverse order along `axis`.

    Args:
        x: any dtype.
        axis: one axis or several different ones.

    Returns:
        A copy of the shape of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or `axis` is not made of ints (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Source:
        `paddle.flip`.

    Examples:
        >>> print(wherry.flip(wherry.to_tensor([[1, 2], [3, 4]]), axis=[0, 1]).tolist())
        [[4, 3], [2, 1]]
    """
    rank = require_tensor(x, "flip").ndim
    return ops.flip(x, tuple([one_axis(a, rank, "flip") for a in integers_of(axis, "flip", "axis")]))


def reverse(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """`flip` under its older name.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or `axis` is not made of ints (also a ValueError).
        ValueError: an axis is repeated or out of range.

    Examples:
        >>> print(wherry.reverse(wherry.to_tensor([1, 2, 3]), axis=0).tolist())
        [3, 2, 1]
    """
    return flip(x, axis)


def roll(x: Tensor, shifts: Any, axis: Axes = None, name: str | None = None) -> Tensor:
    """`x` with its elements moved on along `axis`; those that leave at the end enter at the start.

    Args:
        x: any dtype.
        shifts: by how many places, one number for each axis; negative moves towards the start.
        axis: one axis or several; None rolls the flattened `x` and restores its shape.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an axis is out of range, or shifts and axes differ in number.

    Source:
        `paddle.roll`.

    Examples:
        >>> print(wherry.roll(wherry.to_tensor([1, 2, 3, 4]), 1).tolist())
        [4, 1, 2, 3]
    """
    rank = require_tensor(x, "roll").ndim
    by = integers_of(shifts, "roll", "shifts")
    if axis is not None:
        axes = tuple([one_axis(a, rank, "roll") for a in integers_of(axis, "roll", "axis")])
        if rank == 0:
            return _copy(x)
        return ops.roll(x, by, axes)
    if len(by) != 1:
        raise InvalidArgumentError(
            f"roll: several shifts without axes. Got shifts={list(by)} and axis=None, expected one shift. "
            f"Name an axis for each shift."
        )
    return _reshape(ops.roll(_reshape(x, (UNKNOWN if x.size < 0 else x.size,)), by, (0,)), tuple(x.shape))


def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Tensor:
    """Rotation: `x` turned by `k` times 90 degrees in the plane of two axes, from the first towards the second.

    Args:
        x: any dtype, rank 2 or more.
        k: how often; negative turns the other way.
        axes: the two axes.

    Shape:
        `[..., n, m]` to `[..., m, n]` for an odd number of turns, else the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` has fewer than two axes, or `axes` are not two different ones in range.

    Source:
        `paddle.rot90`.

    Examples:
        >>> print(wherry.rot90(wherry.to_tensor([[1, 2], [3, 4]])).tolist())
        [[2, 4], [1, 3]]
    """
    rank = require_tensor(x, "rot90").ndim
    plane = integers_of(axes, "rot90", "axes")
    if rank < 2 or len(plane) != 2:
        raise InvalidArgumentError(
            f"rot90: axes must name two axes. Got axes={list(plane)} for x of shape {x.shape}, expected two axes and rank 2 or "
            f"more. Name the two axes to turn in."
        )
    a, b = (one_axis(axis, rank, "rot90", name="axes") for axis in plane)
    if a == b:
        raise InvalidArgumentError(
            f"rot90: the two axes must differ. Got axes={list(plane)} for rank {rank}, expected different ones. Change one."
        )
    turns = integer(k, "rot90", "k") % 4
    if turns == 0:
        return _copy(x)
    if turns == 2:
        return ops.flip(x, (a, b))
    perm = list(range(rank))
    perm[a], perm[b] = b, a
    return _transpose(ops.flip(x, (b,)), tuple(perm)) if turns == 1 else ops.flip(_transpose(x, tuple(perm)), (b,))


# Joining and cutting.


def _refused_list(op_name: str, xs: Sequence[Tensor], error: Exception) -> Exception:
    if len({x.dtype for x in xs}) > 1:
        return InvalidTypeError(
            f"{op_name}: the tensors must have one dtype. Got {', '.join(x.dtype.name for x in xs)}, expected equal dtypes. "
            f"Cast them, as in x.astype('{xs[0].dtype.name}')."
        )
    return error


def concat(x: Sequence[Tensor], axis: Any = 0, name: str | None = None) -> Tensor:
    """Concatenation: several tensors one after the other along an axis.

    Args:
        x: tensors of one dtype whose shapes differ in `axis` only. A tensor of shape `[0]` is skipped.
        axis: in `[-rank, rank)`, an int or an integer tensor.

    Shape:
        `[..., n0, ...]`, `[..., n1, ...]`, ... to `[..., n0 + n1 + ..., ...]`.

    Raises:
        TypeError: the argument is not a list of tensors, or they have several dtypes (also a ValueError, as in Paddle).
        ValueError: no tensors, tensors without axes, an axis out of range, or other sizes.

    Source:
        `paddle.concat`.

    Examples:
        >>> a, b = wherry.zeros([2, 1], "int64"), wherry.ones([2, 2], "int64")
        >>> print(wherry.concat([a, b], axis=1).tolist())
        [[0, 1, 1], [0, 1, 1]]
    """
    xs = tensors_of(x, "concat")
    ranks = [one.ndim for one in xs if one.shape != [0]] or [1]
    if ranks[0] == 0:
        raise InvalidArgumentError(
            f"concat: a 0-d tensor has no axis to join along. Got shapes {', '.join(str(one.shape) for one in xs)}, expected "
            f"rank 1 or more. Use stack."
        )
    at = one_axis(axis, ranks[0], "concat")
    try:
        return _concat(*xs, axis=at)
    except TypeError as error:
        raise _refused_list("concat", xs, error) from None


def stack(x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape side by side along a new axis.

    Args:
        x: tensors of one shape and dtype.
        axis: the place of the new axis, in `[-rank - 1, rank]`.

    Shape:
        n tensors `[a, b]` give `[n, a, b]`, `[a, n, b]` or `[a, b, n]`.

    Raises:
        TypeError: the argument is not a list of tensors, or they have several dtypes (also a ValueError, as in Paddle).
        ValueError: no tensors, shapes that differ, or an axis out of range.

    Source:
        `paddle.stack`.

    Examples:
        >>> a = wherry.to_tensor([1, 2])
        >>> print(wherry.stack([a, a + 2], axis=1).tolist())
        [[1, 3], [2, 4]]
    """
    xs = tensors_of(x, "stack")
    shape = xs[0].shape
    at = one_axis(axis, len(shape) + 1, "stack")
    for one in xs:
        if one.shape != shape and (
            one.ndim != len(shape) or any(a != b and -1 not in (a, b) for a, b in zip(one.shape, shape, strict=True))
        ):
            raise InvalidArgumentError(
                f"stack: the tensors must have one shape. Got {', '.join(str(one.shape) for one in xs)}, expected equal "
                f"shapes. Use concat to join along an axis they have."
            )
    try:
        return _concat(*[_unsqueeze(one, (at,)) for one in xs], axis=at)
    except TypeError as error:
        raise _refused_list("stack", xs, error) from None


def split(x: Tensor, num_or_sections: int | Sequence[int], axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """`x` cut into parts along an axis.

    Args:
        x: any dtype.
        num_or_sections: how many equal parts, or the size of each part, of which one may be -1.
        axis: in `[-rank, rank)`, an int or an integer tensor.

    Returns:
        A list of copies.

    Shape:
        `[..., n, ...]` to tensors of `[..., section, ...]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `num_or_sections` is neither an int nor a list of ints.
        ValueError: the parts do not make up the axis, or it is out of range.

    Source:
        `paddle.split`.

    Examples:
        >>> [part.tolist() for part in wherry.split(wherry.arange(5), [2, -1])]
        [[0, 1], [2, 3, 4]]
    """
    return [_copy(part) for part in _parts(x, num_or_sections, axis, "split")]


def _parts(x: Any, num_or_sections: Any, axis: Any, op_name: str) -> list[Tensor]:
    """The parts as views."""
    rank = require_tensor(x, op_name).ndim
    if rank == 0:
        raise InvalidArgumentError(
            f"{op_name}: a 0-d tensor has no axis to cut. Got shape [], expected rank 1 or more. Use x itself."
        )
    at = one_axis(axis, rank, op_name)
    size = x.shape[at]
    if type(num_or_sections) is int:
        if is_unknown(size) and num_or_sections > 0:
            return _equal_parts(x, num_or_sections, at)
        if num_or_sections < 1 or size % num_or_sections or size == UNKNOWN:
            raise InvalidArgumentError(
                f"{op_name}: the axis does not divide into equal parts. Got {num_or_sections} parts of axis {at} of shape "
                f"{x.shape}, expected a number that divides {size}. Give the size of each part instead."
            )
        sizes = [size // num_or_sections] * num_or_sections
    elif isinstance(num_or_sections, (list, tuple)):
        sizes = list(integers_of(num_or_sections, op_name, "num_or_sections"))
        if sizes.count(-1) == 1 and not any(is_unknown(n) for n in sizes):
            sizes[sizes.index(-1)] = size - sum(sizes) - 1
        known_sizes = [n for n in sizes if not is_unknown(n)]
        whole = len(known_sizes) == len(sizes) and not is_unknown(size)
        if not sizes or min(known_sizes, default=0) < 0 or (whole and sum(sizes) != size):
            raise InvalidArgumentError(
                f"{op_name}: the parts do not make up the axis. Got sections {list(num_or_sections)} of axis {at} of shape "
                f"{x.shape}, expected sizes >= 0 with the sum {size}. One of them may be -1, for what is left."
            )
    else:
        raise TypeError(
            f"{op_name}: 'num_or_sections' must be a count or the sizes. Got {type(num_or_sections).__name__}, expected an "
            f"int, list or tuple. Convert a tensor with int(...) or tolist()."
        )
    parts, start = [], 0
    for n in sizes:
        parts.append(_slice(x, (at,), (start,), (start + n,), (1,)))
        start += n
    return parts


def _equal_parts(x: Tensor, count: int, at: int) -> list[Tensor]:
    """Parts of an axis whose size only a run tells: `reshape` refuses there what does not divide."""
    shape = list(x.shape)
    rows = _reshape(x, (*shape[:at], count, shape[at] // count, *shape[at + 1 :]))
    return [_select(rows, at, k) for k in range(count)]


def chunk(x: Tensor, chunks: int, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """`x` cut into equal parts along an axis; the size must divide.

    Shape:
        `[..., n, ...]` to `chunks` tensors of `[..., n / chunks, ...]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `chunks` is not an int.
        ValueError: the axis does not divide into so many parts, or is out of range.

    Source:
        `paddle.chunk`.

    Examples:
        >>> [part.shape for part in wherry.chunk(wherry.zeros([4, 3]), 2)]
        [[2, 3], [2, 3]]
    """
    return [_copy(part) for part in _parts(x, integer(chunks, "chunk", "chunks"), axis, "chunk")]


def vsplit(x: Tensor, num_or_sections: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """`x`, of rank 2 or more, cut into parts along its first axis.

    Shape:
        `[n, ...]` to tensors of `[section, ...]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `num_or_sections` is neither an int nor a list or tuple.
        ValueError: `x` has fewer than two axes, or the parts do not make up the first one.

    Examples:
        >>> [part.shape for part in wherry.vsplit(wherry.zeros([4, 3]), 2)]
        [[2, 3], [2, 3]]
    """
    if require_tensor(x, "vsplit").ndim < 2:
        raise InvalidArgumentError(
            f"vsplit: x must have rows. Got shape {x.shape}, expected rank 2 or more. Use split for a vector."
        )
    return [_copy(part) for part in _parts(x, num_or_sections, 0, "vsplit")]


def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices of `input` along an axis, each without it.

    Args:
        input: any dtype, rank 1 or more.
        axis: in `[-rank, rank)`.

    Returns:
        A list of views, one for each index.

    Shape:
        `[..., n, ...]` to n tensors of `[..., ...]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: the axis is out of range.

    Source:
        `paddle.unbind`.

    Examples:
        >>> [row.tolist() for row in wherry.unbind(wherry.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    at, size = _cut_axis(input, axis, "unbind", "input")
    return [_select(input, at, i) for i in range(size)]


def unstack(x: Tensor, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """`unbind` into copies.

    Args:
        x: any dtype, rank 1 or more.
        axis: in `[-rank, rank)`.
        num: the size of the axis, where the caller knows it; it must be right.

    Shape:
        `[..., n, ...]` to n tensors of `[..., ...]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: the axis is out of range, or `num` is not its size.

    Source:
        `paddle.unstack`.

    Examples:
        >>> [row.tolist() for row in wherry.unstack(wherry.to_tensor([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
    """
    at, size = _cut_axis(x, axis, "unstack", "x")
    if num is not None and integer(num, "unstack", "num") != size:
        raise InvalidArgumentError(
            f"unstack: num is not the size of the axis. Got num={num} for axis {at} of shape {x.shape}, expected {size}. "
            f"Leave num out."
        )
    return [_copy(_select(x, at, i)) for i in range(size)]


def _cut_axis(x: Any, axis: Any, op_name: str, name: str) -> tuple[int, int]:
    rank = require_tensor(x, op_name, name).ndim
    at = one_axis(axis, rank, op_name)
    size = known(x.shape[at], f"{op_name}: the number of parts of axis {axis}") if rank else 0
    if rank == 0:
        raise InvalidArgumentError(
            f"{op_name}: there is no axis to take apart. Got axis={axis} for shape {x.shape}, expected rank 1 or more. "
            f"A 0-d tensor has one element: use item."
        )
    return at, size


def slice(input: Tensor, axes: Sequence[int], starts: Any, ends: Any) -> Tensor:
    """A range of some axes, by Python's rules for bounds.

    Args:
        input: any dtype.
        axes: a list or tuple of axes, each in `[-rank, rank)`.
        starts: for each axis the first index; ints, integer tensors of one element, or one 1-D tensor.
            Negative ones count from the end.
        ends: for each axis the index after the last.

    Returns:
        A view. Where an end is not after its start the axis is empty.

    Shape:
        `[..., n, ...]` to `[..., end - start, ...]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: an axis is repeated or out of range, or the lists differ in length.

    Source:
        `paddle.slice`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> print(wherry.slice(x, axes=[0, 1], starts=[0, -2], ends=[1, 9]).tolist())
        [[2, 3]]
    """
    return _strided_slice(input, axes, starts, ends, None, "slice", "input")


def strided_slice(
    x: Tensor, axes: Sequence[int], starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Tensor:
    """`slice` with a step for each axis, which may be negative.

    Args:
        x: any dtype.
        axes: the axes, each in `[-rank, rank)`.
        starts: for each axis the first index.
        ends: for each axis the index before which to stop.
        strides: for each axis the step, not 0.

    Returns:
        A view.

    Shape:
        `[..., n, ...]` to `[..., (end - start) / stride, ...]`, rounded up.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an axis is repeated or out of range, a step is 0, or the lists differ in length.

    Source:
        `paddle.strided_slice`.

    Examples:
        >>> print(wherry.strided_slice(wherry.arange(6), axes=[0], starts=[5], ends=[0], strides=[-2]).tolist())
        [5, 3, 1]
    """
    return _strided_slice(x, axes, starts, ends, strides, "strided_slice", "x")


def _strided_slice(x: Any, axes: Any, starts: Any, ends: Any, strides: Any, op_name: str, name: str) -> Tensor:
    rank = require_tensor(x, op_name, name).ndim
    if not isinstance(axes, (list, tuple)):
        raise InvalidTypeError(
            f"{op_name}: 'axes' must be a list of axes. Got {type(axes).__name__}, expected a list or tuple of ints. "
            f"Write axes=[0]."
        )
    at = tuple([one_axis(a, rank, op_name, name="axes") for a in axes])
    begin = integers_of(starts, op_name, "starts")
    end = integers_of(ends, op_name, "ends")
    step = (1,) * len(at) if strides is None else integers_of(strides, op_name, "strides")
    if not len(at) == len(begin) == len(end) == len(step) or 0 in step or len(set(at)) != len(at):
        raise InvalidArgumentError(
            f"{op_name}: each axis needs a start, an end and a step. Got axes={list(axes)}, starts={list(begin)}, "
            f"ends={list(end)}, strides={list(step)}, expected equally many, different axes and no step of 0. "
            f"Give one of each for every axis."
        )
    return _slice(x, at, begin, end, step)


def crop(x: Tensor, shape: Any = None, offsets: Any = None, name: str | None = None) -> Tensor:
    """A block cut out of `x`.

    Args:
        x: any dtype.
        shape: the sizes of the block, one for each axis; -1 reaches to the end; None is the shape of `x`.
        offsets: for each axis the first index; None is 0 everywhere.

    Returns:
        A copy.

    Shape:
        `[...]` to `shape`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: the block does not lie in `x`, or does not have its rank.

    Source:
        `paddle.crop`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> print(wherry.crop(x, shape=[-1, 2], offsets=[1, 1]).tolist())
        [[5, 6]]
    """
    have = require_tensor(x, "crop").shape
    start = (0,) * len(have) if offsets is None else integers_of(offsets, "crop", "offsets")
    sizes = tuple(have) if shape is None else integers_of(shape_argument(shape, "crop"), "crop", "shape")
    fits = len(sizes) == len(start) == len(have)
    if fits:
        sizes = tuple([n - s if equals(size, -1) else size for size, s, n in zip(sizes, start, have, strict=True)])
        fits = all(s >= 0 and size >= 0 and (n < 0 or s + size <= n) for size, s, n in zip(sizes, start, have, strict=True))
    if not fits:
        raise InvalidArgumentError(
            f"crop: the block does not lie in x. Got shape={shape} and offsets={offsets} for x of shape {have}, expected for "
            f"each of the {len(have)} axes an offset >= 0 and offset + size <= the size of x. Make the block smaller."
        )
    axes = tuple(range(len(have)))
    end = tuple([s + size for s, size in zip(start, sizes, strict=True)])
    return _copy(_slice(x, axes, start, end, (1,) * len(have)))


def diff(
    x: Tensor, n: int = 1, axis: int = -1, prepend: Tensor | None = None, append: Tensor | None = None, name: str | None = None
) -> Tensor:
    """Differences of neighbours along an axis.

    Args:
        x: any dtype; bool gives whether neighbours differ.
        n: how often to take differences. Paddle 2.6.2 takes them once only.
        axis: in `[-rank, rank)`.
        prepend: joined before `x` first; of the shape of `x` except along `axis`.
        append: likewise joined after `x`.

    Shape:
        `[..., m, ...]` to `[..., m - n, ...]`; `prepend` and `append` add to m.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: `x` is 0-d, the axis is out of range, or `n` is below 1.

    Source:
        `paddle.diff`.

    Examples:
        >>> print(wherry.diff(wherry.to_tensor([1, 4, 9])).tolist())
        [3, 5]
    """
    at = one_axis(axis, require_tensor(x, "diff").ndim, "diff")
    times = integer(n, "diff", "n")
    if times < 1 or x.ndim == 0:
        raise InvalidArgumentError(
            f"diff: n or the rank of x is too small. Got n={n} for x of shape {x.shape}, expected n >= 1 and rank 1 or more. "
            f"Use x itself for n=0."
        )
    parts = [part for part in (prepend, x, append) if part is not None]
    y = concat(parts, at) if len(parts) > 1 else x
    if y.shape[at] < 0:
        times = repeats(times, "diff", "n", 1, "a pass over x")
    for _ in range(times):
        size = y.shape[at] if y.shape[at] >= 0 else 1 << 62
        if not size:
            break  # every further difference is as empty
        before = _slice(y, (at,), (0,), (-1,), (1,))
        after = _slice(y, (at,), (1,), (size,), (1,))
        y = ops.logical_xor(after, before) if y.dtype is bool_ else ops.subtract(after, before)
    return y


# Repeating.


def expand(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """`x` repeated along axes of size 1, and along new leading axes, up to `shape`.

    Args:
        x: any dtype.
        shape: the sizes of the result, at least as many as `x` has axes; -1 keeps the size of `x`.

    Returns:
        A copy: as in Paddle it may be written to.

    Shape:
        `[...]` to `shape`, where -1 keeps a size.

    Raises:
        TypeError: `x` is not a Tensor, or `shape` is not made of ints (also a ValueError).
        ValueError: an axis of `x` is neither 1 nor the new size, or `shape` is shorter than that of `x`.

    Source:
        `paddle.expand`.

    Examples:
        >>> print(wherry.expand(wherry.to_tensor([[1], [2]]), [2, 3]).tolist())
        [[1, 1, 1], [2, 2, 2]]
    """
    return _copy(_expanded(x, shape, "expand"))


def _expanded(x: Any, shape: Any, op_name: str) -> Tensor:
    have = require_tensor(x, op_name).shape
    sizes = list(integers_of(shape_argument(shape, op_name), op_name, "shape"))
    added = len(sizes) - len(have)
    fits = added >= 0
    for at, size in enumerate(sizes if fits else ()):
        old = have[at - added] if at >= added else 1
        if equals(size, -1) and at >= added:
            sizes[at] = old
        elif not has_sizes((size, old)) and (size < 0 or old not in (1, size)):
            fits = False
    if not fits:
        raise InvalidArgumentError(
            f"{op_name}: x does not expand to this shape. Got x of shape {have} and shape={sizes}, expected at least "
            f"{len(have)} sizes that, aligned at the right, equal those of x where they are not 1. -1 keeps a size of x."
        )
    return _broadcast_to(x, tuple(sizes))


def expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`expand` to the shape of `y`.

    Shape:
        `[...]` to the shape of `y`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: `x` does not broadcast to the shape of `y`.

    Examples:
        >>> wherry.expand_as(wherry.zeros([3]), wherry.zeros([2, 3])).shape
        [2, 3]
    """
    require_tensor(x, "expand_as")
    return _copy(ops.broadcast_like(x, require_tensor(y, "expand_as", "y")))


def broadcast_to(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """`expand` under NumPy's name.

    Shape:
        `[...]` to `shape`.

    Raises:
        TypeError: `x` is not a Tensor, or `shape` is not made of ints (also a ValueError).
        ValueError: an axis of `x` is neither 1 nor the new size, or `shape` is shorter than that of `x`.

    Examples:
        >>> wherry.broadcast_to(wherry.zeros([3]), [2, 3]).shape
        [2, 3]
    """
    return _copy(_expanded(x, shape, "broadcast_to"))


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape of the result of an element-wise operation on two shapes.

    Shape:
        Two shapes to the one that tensors of these shapes broadcast to.

    Raises:
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.broadcast_shape`.

    Examples:
        >>> wherry.broadcast_shape([2, 1, 3], [4, 1])
        [2, 4, 3]
    """
    x_sizes = integers_of(x_shape, "broadcast_shape", "x_shape")
    return list(broadcast_shapes("broadcast_shape", x_sizes, integers_of(y_shape, "broadcast_shape", "y_shape")))


def broadcast_tensors(input: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Several tensors expanded to the shape that they broadcast to.

    Args:
        input: tensors of one dtype.

    Returns:
        A list of copies.

    Shape:
        `[...]`, `[...]`, ... to as many tensors of the shape they broadcast to.

    Raises:
        TypeError: the argument is not a list of tensors, or they have several dtypes (also a ValueError, as in Paddle).
        ValueError: no tensors, or shapes that do not broadcast together.

    Source:
        `paddle.broadcast_tensors`.

    Examples:
        >>> [x.shape for x in wherry.broadcast_tensors([wherry.zeros([2, 1]), wherry.zeros([3])])]
        [[2, 3], [2, 3]]
    """
    xs = tensors_of(input, "broadcast_tensors", "input")
    if len({x.dtype for x in xs}) > 1:
        raise _refused_list("broadcast_tensors", xs, TypeError())
    if any(is_unknown(n) for x in xs for n in x.shape):
        # Each is broadcast against the sum of zeros of all shapes: what a program can compute without knowing them.
        like = ops.full_like(xs[0], value=False, dtype=bool_)
        for x in xs[1:]:
            like = ops.logical_or(like, ops.full_like(x, value=False, dtype=bool_))
        return [_copy(ops.broadcast_like(x, like)) for x in xs]
    shape = broadcast_shapes("broadcast_tensors", *[tuple(x.shape) for x in xs])
    return [_copy(_broadcast_to(x, shape)) for x in xs]


def tile(x: Tensor, repeat_times: Any, name: str | None = None) -> Tensor:
    """Tiling: `x` laid out several times along its axes.

    Args:
        x: any dtype.
        repeat_times: how often along each axis, aligned at the right: an int, ints, or an integer tensor.
            With more numbers than `x` has axes it gets new leading ones.

    Shape:
        `[n, m]` by `[a, b]` to `[n * a, m * b]`; missing axes are of size 1.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: a number is below 1.

    Source:
        `paddle.tile`.

    Examples:
        >>> print(wherry.tile(wherry.to_tensor([1, 2]), [2, 2]).tolist())
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    have = require_tensor(x, "tile").shape
    times = list(integers_of(repeat_times, "tile", "repeat_times"))
    if any(n < 1 for n in times if not is_unknown(n)):
        raise InvalidArgumentError(
            f"tile: x cannot be laid out less than once. Got repeat_times={times}, expected numbers >= 1. "
            f"Use 1 for an axis that stays."
        )
    rank = max(len(times), len(have))
    times = [1] * (rank - len(times)) + times
    have = [1] * (rank - len(have)) + have
    if any(map(is_unknown, times)):
        y = _unsqueeze(x, tuple(range(rank - x.ndim))) if rank > x.ndim else x
        new = [axis for axis, n in enumerate(times) if is_unknown(n) or n > 1]
        y = _unsqueeze(y, tuple(axis + i for i, axis in enumerate(new)))
        sizes = [size for axis, n in enumerate(times) for size in ((n, -1) if axis in new else (-1,))]
        return reshape(_copy(_expanded(y, sizes, "tile")), [n * size for n, size in zip(times, have, strict=True)])
    if UNKNOWN in have:
        y = _unsqueeze(x, tuple(range(rank - x.ndim))) if rank > x.ndim else x
        for axis, n in enumerate(times):
            if n > 1:
                y = _concat(*[y] * n, axis=axis)
        return _copy(y) if y is x else y
    spread, sizes, result = [], [], []
    for n, size in zip(times, have, strict=True):
        if n == 1:
            spread.append(size)
            sizes.append(size)
        else:
            spread += [1, size]
            sizes += [n, size]
        result.append(n * size)
    if len(sizes) > MAX_RANK:  # rather than as one block: axis by axis
        y = _reshape(x, tuple(have))
        for axis, n in enumerate(times):
            if n > 1:
                y = _concat(*[y] * n, axis=axis)
        return y
    return _reshape(_copy(_broadcast_to(_reshape(x, tuple(spread)), tuple(sizes))), tuple(result))


def repeat_interleave(x: Tensor, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Repetition of elements: each element (or slice along `axis`) several times in succession.

    Args:
        x: any dtype.
        repeats: how often: one int, or a 1-D integer tensor with a number for each index of the axis.
        axis: in `[-rank, rank)`; None repeats the elements of the flattened `x`.

    Shape:
        `[..., n, ...]` to `[..., n * repeats, ...]`, or the sum of `repeats`; without `axis`, `[...]` to
        `[size * repeats]`.

    Raises:
        IndexError: the axis is out of range.
        TypeError: `x` is not a Tensor, or `repeats` neither an int nor an integer tensor (also a ValueError, as in Paddle).
        ValueError: a number is negative (an int: below 1), or there is not one for each index.

    Source:
        `paddle.repeat_interleave`.

    Examples:
        >>> x = wherry.to_tensor([[1, 2], [3, 4]])
        >>> print(wherry.repeat_interleave(x, 2, axis=1).tolist())
        [[1, 1, 2, 2], [3, 3, 4, 4]]
        >>> print(wherry.repeat_interleave(x, wherry.to_tensor([2, 1]), axis=0).tolist())
        [[1, 2], [1, 2], [3, 4]]
    """
    rank = require_tensor(x, "repeat_interleave").ndim
    if axis is None:
        x, at = _reshape(x, (-1,)), 0
    else:
        at = one_axis(axis, rank, "repeat_interleave", OutOfRangeError)
        if rank == 0:
            x = _reshape(x, (1,))
    if not isinstance(repeats, Tensor):
        n = integer(repeats, "repeat_interleave", "repeats")
        if n < 1:
            raise InvalidArgumentError(
                f"repeat_interleave: a value cannot be repeated {n} times. Got repeats={n}, expected 1 or more. "
                f"A tensor of repeats may hold zeros."
            )
        return ops.repeat_interleave(x, n, at)
    if repeats.dtype is not int64 and repeats.dtype is not int32:
        raise InvalidTypeError(
            f"repeat_interleave: 'repeats' must hold counts. Got dtype {repeats.dtype.name}, expected int32 or int64. "
            f"Cast it with astype('int64')."
        )
    if _core.is_symbolic(repeats) and (repeats.ndim == 0 or repeats.shape == [1]):
        repeats = ops.broadcast_to(_reshape(repeats, (1,)), (x.shape[at],))
    if repeats.ndim == 0 or (not _core.is_symbolic(repeats) and repeats.shape == [1] != [x.shape[at]]):
        return repeat_interleave(x, repeats.item(), at)
    if repeats.shape != [x.shape[at]]:
        raise InvalidArgumentError(
            f"repeat_interleave: there must be one count for each index of the axis. Got repeats of shape {repeats.shape} for "
            f"axis {at} of shape {x.shape}, expected [{x.shape[at]}]. Use an int to repeat all equally often."
        )
    if _core.is_symbolic(repeats):
        most = integer(ops.reduce_max(repeats, axes=(0,), keepdim=False), "repeat_interleave", "repeats")
        places = ops.less_than(ops.arange(start=0, step=1, length=most, dtype=repeats.dtype), ops.unsqueeze(repeats, axes=(1,)))
        return _gather(x, ops.select(ops.nonzero(places), axis=1, index=0), at)
    counts = repeats.tolist()
    if counts and min(counts) < 0:
        raise InvalidArgumentError(
            f"repeat_interleave: a value cannot be repeated a negative number of times. Got repeats with {min(counts)}, "
            f"expected numbers >= 0. Use 0 to drop a value."
        )
    index = [i for i, n in enumerate(counts) for _ in range(n)]
    return _gather(x, from_values(index, (len(index),), int64), at)


# Dtypes and memory.


def cast_(x: Tensor, dtype: Any) -> Tensor:
    """`cast` in place: `x` itself gets the dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `dtype` is not a known dtype.
        ValueError: `x` is a leaf that asks for gradients.

    Examples:
        >>> x = wherry.to_tensor([1.5, 2.5])
        >>> print(wherry.cast_(x, "int64").tolist(), x.dtype)
        [1, 2] paddle.int64
    """
    return _become(x, cast(x, dtype), "cast_")


def as_complex(x: Tensor, name: str | None = None) -> Tensor:
    """Pairs of real numbers as complex ones.

    Args:
        x: float32 or float64, with a last axis of size 2: real and imaginary parts.

    Returns:
        A view of complex64 or complex128, without the last axis.

    Shape:
        `[..., 2]` to `[...]`.

    Raises:
        TypeError: `x` is not a Tensor, or of another dtype (also a ValueError).
        ValueError: the last axis is not of size 2.

    Source:
        `paddle.as_complex`.

    Examples:
        >>> print(wherry.as_complex(wherry.to_tensor([[1.0, 2.0]])).tolist())
        [(1+2j)]
    """
    require_tensor(x, "as_complex")
    if x.dtype is not float32 and x.dtype is not float64:
        raise InvalidTypeError(
            f"as_complex: x must be float32 or float64. Got dtype {x.dtype.name}, expected float32 or float64. "
            f"Cast it with astype('float32')."
        )
    return ops.as_complex(x)


def as_real(x: Tensor, name: str | None = None) -> Tensor:
    """Complex numbers as pairs of real ones, in a new last axis of size 2; a view.

    Shape:
        `[...]` to `[..., 2]`.

    Raises:
        TypeError: `x` is not a Tensor, or not complex (also a ValueError).

    Source:
        `paddle.as_real`.

    Examples:
        >>> print(wherry.as_real(wherry.to_tensor([1 + 2j])).tolist())
        [[1.0, 2.0]]
    """
    require_tensor(x, "as_real")
    if x.dtype is not complex64 and x.dtype is not complex128:
        raise InvalidTypeError(
            f"as_real: x must be complex. Got dtype {x.dtype.name}, expected complex64 or complex128. "
            f"Use x itself."
        )
    return ops.as_real(x)


def as_strided(x: Tensor, shape: Sequence[int], stride: Sequence[int], offset: int = 0, name: str | None = None) -> Tensor:
    """A view of the memory of `x` with any shape, strides and offset.

    Args:
        x: any dtype.
        shape: the sizes of the result.
        stride: for each axis how many elements lie between one index and the next.
        offset: where the first element lies, in bytes from that of `x`, as in Paddle.

    Returns:
        A view; where `x` asks for gradients, or belongs to a program, a copy.

    Shape:
        `[...]` to `shape`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: an element would lie outside of the memory of `x`, or the offset between two elements.

    Source:
        `paddle.as_strided`.

    Examples:
        >>> print(wherry.as_strided(wherry.arange(5), [4, 2], [1, 1]).tolist())
        [[0, 1], [1, 2], [2, 3], [3, 4]]
    """
    require_tensor(x, "as_strided")
    sizes = integers_of(shape_argument(shape, "as_strided"), "as_strided", "shape")
    steps = integers_of(shape_argument(stride, "as_strided", "stride"), "as_strided", "stride")
    begin = integer(offset, "as_strided", "offset")
    first, rest = divmod(begin, x.dtype.itemsize)
    if rest:
        raise InvalidArgumentError(
            f"as_strided: the offset is not a multiple of the element size. Got offset={offset}, expected a multiple of "
            f"{x.dtype.itemsize}, the bytes of {x.dtype.name}. Multiply a number of elements by that."
        )
    if not -(1 << 62) < first < 1 << 62:
        raise InvalidArgumentError(
            f"as_strided: the view reaches outside of the memory of x. Got offset={short(offset)}, expected bytes within that of x."
        )
    if x.stop_gradient or not _core.is_grad_enabled():
        return _core.strided(x, sizes, steps, first)
    # For each place of the memory which element of `x` lies there, so that the gradient goes to the elements that the
    # view shows, whatever the strides of `x`.
    reaches = [(n - 1) * step if n else 0 for n, step in zip(x.shape, x.strides)]
    low, high = sum(min(r, 0) for r in reaches), sum(max(r, 0) for r in reaches)
    number = full([high - low + 1], -1, int64)
    ops.copy.into((_core.strided(number, x.shape, x.strides, -low),), _reshape(arange(x.size, dtype=int64), tuple(x.shape)))
    places = _core.strided(number, sizes, steps, first - low)
    if places.size and bool((places < 0).any()):
        raise InvalidArgumentError(
            f"as_strided: the view shows memory between the elements of x, which has no gradient. Got shape {sizes}, stride "
            f"{steps} for x of strides {x.strides}, expected elements of x alone. Use x.contiguous(), or x.detach()."
        )
    return _gather(_reshape(x, (-1,)), places, 0)


def unfold(x: Tensor, axis: int, size: int, step: int, name: str | None = None) -> Tensor:
    """Windows of `size` elements along an axis, one every `step` elements, as a new last axis.

    Args:
        x: any dtype.
        axis: in `[-rank, rank)`.
        size: of the windows, at most that of the axis.
        step: from one window to the next, at least 1.

    Returns:
        A view; where `x` asks for gradients a copy, which has them.

    Shape:
        `[..., n, ...]` to `[..., (n - size) // step + 1, ..., size]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: the windows do not fit, or the axis is out of range.

    Source:
        `paddle.unfold`.

    Examples:
        >>> print(wherry.unfold(wherry.arange(5), 0, 2, 2).tolist())
        [[0, 1], [2, 3]]
    """
    rank = require_tensor(x, "unfold").ndim
    at = one_axis(axis, rank, "unfold")
    size, step = integer(size, "unfold", "size"), integer(step, "unfold", "step")
    shape = x.shape or [1]
    if size < 0 or not 1 <= step < 1 << 62 or size > shape[at]:
        raise InvalidArgumentError(
            f"unfold: the windows do not fit into the axis. Got size={size} and step={step} for axis {at} of shape {x.shape}, expected "
            f"a size in [0, {shape[at]}] and a step >= 1. Make the windows smaller."
        )
    count = (shape[at] - size) // step + 1
    if rank == 0:
        return _reshape(x, (1,)) if size else _slice(_reshape(x, (1,)), (0,), (0,), (0,), (1,))
    if (x.stop_gradient or not _core.is_grad_enabled()) and not _core.is_symbolic(x):
        steps = x.strides
        sizes = [*shape[:at], count, *shape[at + 1 :], size]
        return _core.strided(x, sizes, [*steps[:at], steps[at] * step, *steps[at + 1 :], steps[at]], 0)
    places = from_values([i * step + k for i in range(count) for k in range(size)], (count, size), int64)
    windows = _gather(x, places, at)  # [..., count, size, ...]
    order = [axis for axis in range(rank + 1) if axis != at + 1]
    return _transpose(windows, (*order, at + 1))


def tolist(x: Tensor) -> Any:
    """The elements as nested Python lists; a number for a 0-d tensor.

    Shape:
        `[n, m]` to n lists of m numbers.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Examples:
        >>> wherry.tolist(wherry.to_tensor([[1, 2]]))
        [[1, 2]]
    """
    return _tolist(require_tensor(x, "tolist"))


spelled(globals())
