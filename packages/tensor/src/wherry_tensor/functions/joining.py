"""Tensors put together and taken apart by rows, columns and depth, and parts of them: `hstack`, `tensor_split`, `narrow`, ..."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import MAX_RANK, integer, integers_of, one_axis, require_rank, require_tensor, tensors_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions import creation, movement, search
from wherry_tensor.spellings import spelled

__all__ = [
    "block_diag", "broadcast_shapes", "cartesian_prod", "column_stack", "dsplit", "dstack", "hsplit", "hstack", "matrix_transpose", "msort", "narrow",
    "ravel", "repeat", "row_stack", "slice_scatter", "split_with_sizes", "swapaxes", "swapdims", "tensor_split", "vstack",
]


_MOST_EMPTY = 1 << 16  # parts without elements: each is a tensor


def hstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Tensors side by side: along axis 1, or along the only axis of vectors.

    Args:
        x: a list or tuple of tensors that differ in that axis alone; a 0-d tensor counts as `[1]`.

    Shape:
        `[n, a]` and `[n, b]` to `[n, a + b]`; `[a]` and `[b]` to `[a + b]`.

    Raises:
        TypeError: `x` is not a list of tensors (also a ValueError).
        ValueError: it is empty, or other sizes differ.

    Source:
        `paddle.hstack`.

    Examples:
        >>> print(wherry.hstack([wherry.to_tensor([1, 2]), wherry.to_tensor([3])]).numpy())
        [1 2 3]
    """
    xs = [movement.atleast_1d(one) for one in tensors_of(x, "hstack")]
    return movement.concat(xs, 0 if xs and xs[0].ndim == 1 else 1)


def vstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Tensors one below the other: along axis 0; a vector is one row.

    Args:
        x: a list or tuple of tensors that differ in axis 0 alone.

    Shape:
        `[a, n]` and `[b, n]` to `[a + b, n]`; two of `[n]` to `[2, n]`.

    Raises:
        TypeError: `x` is not a list of tensors (also a ValueError).
        ValueError: it is empty, or other sizes differ.

    Source:
        `paddle.vstack`, also called `row_stack`.

    Examples:
        >>> wherry.vstack([wherry.ones([3]), wherry.zeros([2, 3])]).shape
        [3, 3]
    """
    return movement.concat([movement.atleast_2d(one) for one in tensors_of(x, "vstack")], 0)


row_stack = vstack


def dstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Tensors one after the other: along axis 2; `[n]` counts as `[1, n, 1]` and `[m, n]` as `[m, n, 1]`.

    Args:
        x: a list or tuple of tensors that differ in axis 2 alone.

    Shape:
        two of `[m, n]` to `[m, n, 2]`.

    Raises:
        TypeError: `x` is not a list of tensors (also a ValueError).
        ValueError: it is empty, or other sizes differ.

    Source:
        `paddle.dstack`.

    Examples:
        >>> wherry.dstack([wherry.ones([2, 3]), wherry.zeros([2, 3])]).shape
        [2, 3, 2]
    """
    return movement.concat([movement.atleast_3d(one) for one in tensors_of(x, "dstack")], 2)


def column_stack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Tensors side by side, where a vector is one column.

    Args:
        x: a list or tuple of tensors with one number of rows.

    Shape:
        `[n]` and `[n, b]` to `[n, 1 + b]`.

    Raises:
        TypeError: `x` is not a list of tensors (also a ValueError).
        ValueError: it is empty, or the numbers of rows differ.

    Source:
        `paddle.column_stack`.

    Examples:
        >>> wherry.column_stack([wherry.ones([2]), wherry.zeros([2, 3])]).shape
        [2, 4]
    """
    return movement.concat([movement.reshape(one, [-1, 1]) if one.ndim < 2 else one for one in tensors_of(x, "column_stack")], 1)


def tensor_split(x: Tensor, num_or_indices: int | Sequence[int], axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Parts of `x` along an axis, which need not be of one size.

    Args:
        x: any dtype, at least one axis.
        num_or_indices: a number of parts, of which the first are longer by one where the size does not divide; or the positions at which
            parts begin.
        axis: in `[-rank, rank)`.

    Shape:
        `[5]` in 2 parts: `[3]` and `[2]`. At `[1, 4]`: `[1]`, `[3]` and `[1]`.

    Raises:
        TypeError: `x` is not a Tensor, or `num_or_indices` neither an int nor a list of ints (also a ValueError).
        ValueError: there are no parts, or the axis is out of range.

    Source:
        `paddle.tensor_split`.

    Examples:
        >>> [part.tolist() for part in wherry.tensor_split(wherry.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
    """
    return _split_at(x, num_or_indices, axis, "tensor_split")


def _split_at(x: Any, num_or_indices: Any, axis: Any, op_name: str) -> list[Tensor]:
    require_rank(x, op_name, 1, MAX_RANK)
    at = one_axis(axis, x.ndim, op_name)
    size = x.shape[at]
    if isinstance(num_or_indices, (list, tuple)) or isinstance(num_or_indices, Tensor) and num_or_indices.ndim:
        cuts = [0, *(cut if cut >= 0 else max(size + cut, 0) for cut in integers_of(num_or_indices, op_name, "num_or_indices")), size]
        bounds = [(min(a, size), max(min(a, size), min(b, size))) for a, b in zip(cuts, cuts[1:])]
    else:
        count = integer(num_or_indices, op_name, "num_or_indices")
        if count < 1:
            raise InvalidArgumentError(
                f"{op_name}: there must be parts. Got num_or_indices={count}, expected an int of at least 1. Use 1 for one part."
            )
        if count > size + _MOST_EMPTY:
            raise InvalidArgumentError(
                f"{op_name}: nearly all parts would be empty. Got num_or_indices={count} for an axis of {size}, expected at most "
                f"{size + _MOST_EMPTY}. Use fewer parts."
            )
        least, longer = divmod(size, count)
        starts = [i * least + min(i, longer) for i in range(count + 1)]
        bounds = list(zip(starts, starts[1:]))
    return [movement.slice(x, [at], [a], [b]) for a, b in bounds]


def hsplit(x: Tensor, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """Parts of `x` along axis 1, or along the only axis of a vector; as `tensor_split`.

    Shape:
        `[n, 5]` in 2 parts: `[n, 3]` and `[n, 2]`.

    Raises:
        TypeError: `x` is not a Tensor, or `num_or_indices` neither an int nor a list of ints (also a ValueError).
        ValueError: `x` has no axis, or there are no parts.

    Source:
        `paddle.hsplit`.

    Examples:
        >>> [part.shape for part in wherry.hsplit(wherry.ones([2, 4]), [1])]
        [[2, 1], [2, 3]]
    """
    require_rank(x, "hsplit", 1, MAX_RANK)
    return _split_at(x, num_or_indices, 0 if x.ndim == 1 else 1, "hsplit")


def dsplit(x: Tensor, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """Parts of `x` along axis 2; as `tensor_split`.

    Shape:
        `[m, n, 5]` in 2 parts: `[m, n, 3]` and `[m, n, 2]`.

    Raises:
        TypeError: `x` is not a Tensor, or `num_or_indices` neither an int nor a list of ints (also a ValueError).
        ValueError: `x` has less than three axes, or there are no parts.

    Source:
        `paddle.dsplit`.

    Examples:
        >>> [part.shape for part in wherry.dsplit(wherry.ones([1, 2, 4]), 2)]
        [[1, 2, 2], [1, 2, 2]]
    """
    require_rank(x, "dsplit", 3, MAX_RANK)
    return _split_at(x, num_or_indices, 2, "dsplit")


def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """Parts of `x` of given sizes along an axis; as `split` with a list.

    Shape:
        `[5]` with sizes `[1, 4]`: `[1]` and `[4]`.

    Raises:
        TypeError: `x` is not a Tensor, or the sizes are not a list of ints (also a ValueError).
        ValueError: they do not sum to the size of the axis.

    Source:
        `paddle.Tensor.split_with_sizes`.

    Examples:
        >>> [part.tolist() for part in wherry.arange(3).split_with_sizes([1, 2])]
        [[0], [1, 2]]
    """
    return movement.split(x, list(integers_of(split_sizes, "split_with_sizes", "split_sizes")), dim)


def block_diag(inputs: Sequence[Tensor], name: str | None = None) -> Tensor:
    """A matrix with the inputs along its diagonal and zeros elsewhere.

    Args:
        inputs: a list or tuple of tensors of at most two axes; a vector is one row, a 0-d tensor one element.

    Shape:
        `[a, b]` and `[c, d]` to `[a + c, b + d]`.

    Raises:
        TypeError: it is not a list of tensors (also a ValueError).
        ValueError: it is empty, or a tensor has more axes.

    Source:
        `paddle.block_diag`.

    Examples:
        >>> print(wherry.block_diag([wherry.to_tensor([[1, 2]]), wherry.to_tensor(3)]).numpy())
        [[1 2 0]
         [0 0 3]]
    """
    blocks = [movement.atleast_2d(require_rank(one, "block_diag", 0, 2, "inputs")) for one in tensors_of(inputs, "block_diag", "inputs")]
    width, before, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        behind = width - before - block.shape[1]
        sides = [creation.zeros([block.shape[0], n], block.dtype) for n in (before, behind)]
        rows.append(movement.concat([sides[0], block, sides[1]], 1))
        before += block.shape[1]
    return movement.concat(rows, 0)


def cartesian_prod(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """All combinations of one element of each vector, a row for each; the last vector varies fastest.

    Args:
        x: a list or tuple of vectors of one dtype.

    Shape:
        `[a]`, `[b]` to `[a * b, 2]`; a single `[a]` stays.

    Raises:
        TypeError: it is not a list of tensors (also a ValueError).
        ValueError: it is empty, or a tensor is not a vector.

    Source:
        `paddle.cartesian_prod`.

    Examples:
        >>> wherry.cartesian_prod([wherry.to_tensor([1, 2]), wherry.to_tensor([3, 4])]).tolist()
        [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    vectors = [require_rank(one, "cartesian_prod", 1) for one in tensors_of(x, "cartesian_prod")]
    if len(vectors) == 1:
        return vectors[0]
    return movement.stack([movement.reshape(grid, [-1]) for grid in creation.meshgrid(vectors)], 1)


def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """`length` neighbours along an axis, from `start` on; a view.

    Args:
        input: any dtype, at least one axis.
        dim: in `[-rank, rank)`.
        start: an int, or a 0-d integer tensor; negative counts from the end.
        length: how many, at most those that are there.

    Shape:
        `[..., n, ...]` to `[..., length, ...]`.

    Raises:
        TypeError: `input` is not a Tensor, or a number no int (also a ValueError).
        ValueError: the elements are not all there.

    Source:
        `paddle.narrow`.

    Examples:
        >>> wherry.narrow(wherry.arange(5), 0, 1, 3).tolist()
        [1, 2, 3]
    """
    require_rank(input, "narrow", 1, MAX_RANK, "input")
    at = one_axis(dim, input.ndim, "narrow", name="dim")
    size, first, count = input.shape[at], integer(start, "narrow", "start"), integer(length, "narrow", "length")
    begin = first + size if first < 0 else first
    if count < 0 or not 0 <= begin <= size - count:
        raise InvalidArgumentError(
            f"narrow: the elements are not all there. Got start={first}, length={count} for an axis of size {size}, expected start + length of at "
            f"most {size}. Take a shorter part."
        )
    return movement.slice(input, [at], [begin], [begin + count])


def slice_scatter(
    x: Tensor, value: Tensor, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], strides: Sequence[int], name: str | None = None
) -> Tensor:
    """A copy of `x` in which a slice is `value`.

    Args:
        x: any dtype.
        value: of the dtype of `x` and the shape of the slice, or one that broadcasts to it.
        axes, starts, ends, strides: as those of `strided_slice`, lists of one length.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: a member is not a Tensor, or a list none of ints (also a ValueError).
        ValueError: the lists differ in length, or `value` does not fit.

    Source:
        `paddle.slice_scatter`.

    Examples:
        >>> print(wherry.slice_scatter(wherry.zeros([5]), wherry.ones([2]), [0], [1], [5], [2]).numpy())
        [0. 1. 0. 1. 0.]
    """
    require_tensor(x, "slice_scatter")
    require_tensor(value, "slice_scatter", "value")
    if value.dtype is not x.dtype:
        raise InvalidTypeError(f"slice_scatter: the value has another dtype. Got {value.dtype.name}, expected {x.dtype.name}. Cast it.")
    lists = [integers_of(given, "slice_scatter", name) for given, name in ((axes, "axes"), (starts, "starts"), (ends, "ends"), (strides, "strides"))]
    if len({len(one) for one in lists}) != 1:
        raise InvalidArgumentError(
            f"slice_scatter: the lists differ in length. Got axes={short(list(axes))}, starts={short(list(starts))}, ends={short(list(ends))}, "
            f"strides={short(list(strides))}, expected a number of each for every axis."
        )
    index: list[Any] = [slice(None)] * x.ndim
    for axis, start, end, stride in zip(*lists):
        index[one_axis(axis, x.ndim, "slice_scatter", name="axes")] = slice(start, end, stride)
    out = ops.copy(x)
    out[tuple(index)] = value
    return out


def ravel(input: Tensor) -> Tensor:
    """All elements along one axis; as `flatten`, and a view where strides allow it.

    Shape:
        `[a, b]` to `[a * b]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).

    Source:
        `paddle.ravel`.

    Examples:
        >>> wherry.ravel(wherry.ones([2, 3])).shape
        [6]
    """
    return movement.reshape(require_tensor(input, "ravel", "input"), [-1])


def repeat(input: Tensor, repeats: int | Sequence[int] | Tensor) -> Tensor:
    """Copies of the whole tensor beside each other; as `tile`. `x.repeat(2, 3)` is `x.repeat([2, 3])`.

    Shape:
        `[a, b]` with `[2, 3]` to `[2 * a, 3 * b]`.

    Raises:
        TypeError: `input` is not a Tensor, or the counts are not ints (also a ValueError).
        ValueError: a count is negative.

    Source:
        `paddle.Tensor.repeat`.

    Examples:
        >>> wherry.to_tensor([1, 2]).repeat(2).tolist()
        [1, 2, 1, 2]
    """
    return movement.tile(require_tensor(input, "repeat", "input"), [repeats] if isinstance(repeats, int) else repeats)


def swapaxes(x: Tensor, axis0: Any, axis1: int | None = None, name: str | None = None) -> Tensor:
    """`x` with two axes exchanged; a view.

    Shape:
        `[a, b, c]` with the axes 0 and 2 to `[c, b, a]`.

    Raises:
        TypeError: `x` is not a Tensor, or an axis no int (also a ValueError).
        ValueError: an axis is out of range.

    Source:
        `paddle.swapaxes`, also called `swapdims`.

    Examples:
        >>> wherry.swapaxes(wherry.ones([2, 3, 4]), 0, -1).shape
        [4, 3, 2]
    """
    require_tensor(x, "swapaxes")
    if isinstance(axis0, (list, tuple)):  # the order of all axes, as Paddle 3 takes it too
        return movement.transpose(x, axis0)
    order = list(range(x.ndim))
    a, b = (one_axis(axis, x.ndim, "swapaxes", name=name) for axis, name in ((axis0, "axis0"), (axis1, "axis1")))
    if x.ndim:
        order[a], order[b] = order[b], order[a]
    return movement.transpose(x, order)


swapdims = swapaxes


def matrix_transpose(x: Tensor, name: str | None = None) -> Tensor:
    """`x` with its last two axes exchanged; a view.

    Shape:
        `[..., a, b]` to `[..., b, a]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        ValueError: it has less than two axes.

    Source:
        `paddle.matrix_transpose`.

    Examples:
        >>> wherry.matrix_transpose(wherry.ones([5, 2, 3])).shape
        [5, 3, 2]
    """
    return swapaxes(require_rank(x, "matrix_transpose", 2, MAX_RANK), -1, -2)


def msort(input: Tensor) -> Tensor:
    """`input` sorted along axis 0, the smallest first; as `sort(input, axis=0)`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).

    Source:
        `paddle.msort`.

    Examples:
        >>> wherry.msort(wherry.to_tensor([[3, 1], [2, 4]])).tolist()
        [[2, 1], [3, 4]]
    """
    return search.sort(require_tensor(input, "msort", "input"), 0)


def broadcast_shapes(*shapes: Sequence[int]) -> list[int]:
    """The shape of the result of element-wise functions of tensors of these shapes.

    Args:
        shapes: lists or tuples of sizes.

    Shape:
        `[2, 1]`, `[3]` and `[1, 1, 1]` give `[1, 2, 3]`.

    Raises:
        TypeError: a shape is not a list of ints (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.broadcast_shapes`.

    Examples:
        >>> wherry.broadcast_shapes([2, 1], [3], [1, 1, 1])
        [1, 2, 3]
    """
    found: list[int] = []
    for shape in shapes:
        found = movement.broadcast_shape(found, shape)
    return found


spelled(globals())
