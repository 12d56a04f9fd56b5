"""Products of matrices and vectors, norms and traces."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import (
    fitted,
    flag,
    integer,
    number,
    one_axis,
    real_number,
    refused,
    require_tensor,
    tensors_of,
)
from wherry_tensor.dtype import promote_floating
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError, short
from wherry_tensor.functions.positions import diagonal_axes
from wherry_tensor.ops.reduction import row_differences
from wherry_tensor.ops.shapes import broadcast_shapes
from wherry_tensor.sizes import Size, equals, is_unknown, same_shapes
from wherry_tensor.spellings import spelled
from wherry_tensor.static_builder import described

__all__ = [
    "addmm",
    "addmm_",
    "bmm",
    "cdist",
    "cross",
    "dist",
    "dot",
    "inner",
    "kron",
    "matmul",
    "mm",
    "multi_dot",
    "mv",
    "norm",
    "outer",
    "trace",
]

_matmul = ops.matmul


def matmul(
    x: Tensor, y: Tensor, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Tensor:
    """The matrix product, over any number of matrices at once.

    Args:
        x: `[..., m, k]`, or a vector `[k]`.
        y: `[..., k, n]`, or a vector `[k]`; the dtype of `x`.
        transpose_x: exchange the last two axes of `x` first (of a vector: nothing).
        transpose_y: the same for `y`.

    Returns:
        `[..., m, n]`, where the leading axes broadcast. A vector's axis is left out; two vectors give a
        0-d tensor.

    Shape:
        `[..., n, m]` and `[..., m, p]` to `[..., n, p]`; `[m]` and `[m]` to `[]`. Batch axes broadcast.

    Raises:
        TypeError: the dtypes differ, or an argument is not a Tensor (also a ValueError, as in Paddle).
        ValueError: the sizes do not fit, or a tensor is 0-d.

    Source:
        `paddle.matmul`.

    Examples:
        >>> x, y = wherry.to_tensor([[1.0, 2.0]]), wherry.to_tensor([[3.0], [4.0]])
        >>> print(wherry.matmul(x, y).tolist())
        [[11.0]]
    """
    try:
        return _matmul(x, y, transpose_x, transpose_y)
    except TypeError as error:
        flag(transpose_x, "matmul", "transpose_x")
        flag(transpose_y, "matmul", "transpose_y")
        raise refused("matmul", error, x=x, y=y) from None


def mm(input: Tensor, mat2: Tensor, name: str | None = None) -> Tensor:
    """The matrix product of `input` and `mat2`, as `matmul` without its flags.

    Shape:
        `[..., n, m]` and `[..., m, p]` to `[..., n, p]`.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are bool (also a ValueError).
        ValueError: the shapes do not fit, or one is `[]`.

    Examples:
        >>> print(wherry.mm(wherry.ones([1, 2]), wherry.ones([2, 1])).tolist())
        [[2.0]]
    """
    try:
        return _matmul(input, mat2, False, False)
    except TypeError as error:
        raise refused("mm", error, input=input, mat2=mat2) from None


def bmm(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The products of equally many matrices.

    Args:
        x: `[B, m, k]`.
        y: `[B, k, n]`, the dtype of `x`.

    Returns:
        `[B, m, n]`.

    Shape:
        `[B, n, m]` and `[B, m, p]` to `[B, n, p]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError).
        ValueError: the ranks are not 3, or the sizes do not fit.

    Source:
        `paddle.bmm`.

    Examples:
        >>> wherry.bmm(wherry.ones([5, 2, 3]), wherry.ones([5, 3, 4])).shape
        [5, 2, 4]
    """
    a, b = require_tensor(x, "bmm").shape, require_tensor(y, "bmm", "y").shape
    if len(a) != 3 or len(b) != 3 or not (_may_equal(a[0], b[0]) and _may_equal(a[2], b[1])):
        raise InvalidArgumentError(
            f"bmm: these are not two batches of matrices that fit. Got shapes {a} and {b}, expected [B, m, k] and [B, k, n]. "
            f"Use matmul, whose leading axes broadcast."
        )
    try:
        return _matmul(x, y, False, False)
    except TypeError as error:
        raise refused("bmm", error, x=x, y=y) from None


def mv(x: Tensor, vec: Tensor, name: str | None = None) -> Tensor:
    """The product of a matrix `[m, n]` and a vector `[n]`.

    Shape:
        `[n, m]` and `[m]` to `[n]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError, as in Paddle).
        ValueError: the shapes are not those of a matrix and a vector that fit.

    Source:
        `paddle.mv`.

    Examples:
        >>> print(wherry.mv(wherry.ones([2, 3]), wherry.ones([3])).tolist())
        [3.0, 3.0]
    """
    a, b = require_tensor(x, "mv").shape, require_tensor(vec, "mv", "vec").shape
    if len(a) != 2 or len(b) != 1 or not _may_equal(a[1], b[0]):
        raise InvalidArgumentError(
            f"mv: these are not a matrix and a vector that fit. Got shapes {a} and {b}, expected [m, n] and [n]. "
            f"Use matmul for other ranks."
        )
    try:
        return _matmul(x, vec, False, False)
    except TypeError as error:
        raise refused("mv", error, x=x, vec=vec) from None


def dot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The inner product of two vectors, or of each row of two matrices.

    Args:
        x: `[n]` or `[B, n]`.
        y: the same shape and dtype.

    Returns:
        `[]` or `[B]`.

    Shape:
        `[n]` twice to `[]`; `[B, n]` twice to `[B]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError, as in Paddle).
        RuntimeError: the shapes differ, or have neither one axis nor two.

    Source:
        `paddle.dot`.

    Examples:
        >>> print(wherry.dot(wherry.to_tensor([1, 2]), wherry.to_tensor([3, 4])).item())
        11
    """
    a, b = require_tensor(x, "dot").shape, require_tensor(y, "dot", "y").shape
    if x.dtype is not y.dtype:
        raise refused("dot", TypeError(), x=x, y=y)
    if len(a) not in (1, 2) or len(a) != len(b) or not all(map(_may_equal, a, b)):
        raise PreconditionNotMetError(
            f"dot: these are not two vectors, or two rows of them. Got shapes {a} and {b}, expected [n] twice or [B, n] twice. "
            f"Use inner or matmul for other shapes."
        )
    if len(a) == 1 and x.dtype.is_floating:
        return _matmul(x, y, False, False)
    return _sum(ops.multiply(x, y), (len(a) - 1,))


def inner(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Inner product: sums of products over the last axis of both.

    Args:
        x: `[..., n]`.
        y: `[..., n]`, the dtype of `x`.

    Returns:
        The leading axes of `x`, then those of `y`. With a 0-d tensor: the product.

    Shape:
        `[..., n]` and `[..., n]` to the axes before the last of both.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError, as in Paddle).
        ValueError: the last axes have different sizes.

    Source:
        `paddle.inner`.

    Examples:
        >>> wherry.inner(wherry.ones([2, 3]), wherry.ones([4, 3])).shape
        [2, 4]
    """
    a, b = require_tensor(x, "inner").shape, require_tensor(y, "inner", "y").shape
    if x.dtype is not y.dtype:
        raise refused("inner", TypeError(), x=x, y=y)
    if not a or not b or equals(x.size, 1) or equals(y.size, 1):  # one element is a factor, whatever its shape
        return ops.multiply(x, y)
    if not _may_equal(a[-1], b[-1]):
        raise InvalidArgumentError(
            f"inner: the last axes must have one size. Got shapes {a} and {b}, expected [..., n] twice. "
            f"Transpose one of them, or use tensordot."
        )
    left = ops.reshape(x, (_count(a[:-1]), a[-1]))
    right = ops.reshape(y, (_count(b[:-1]), b[-1]))
    return ops.reshape(_matmul(left, right, False, True), (*a[:-1], *b[:-1]))


def outer(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Outer product: all products of an element of `x` and one of `y`, both flattened: `[m]` and `[n]` give `[m, n]`.

    Shape:
        `[...]` of m elements and `[...]` of n to `[m, n]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError, as in Paddle).

    Source:
        `paddle.outer`.

    Examples:
        >>> print(wherry.outer(wherry.to_tensor([1, 2]), wherry.to_tensor([3, 4])).tolist())
        [[3, 4], [6, 8]]
    """
    require_tensor(x, "outer")
    require_tensor(y, "outer", "y")
    if x.dtype is not y.dtype:
        raise refused("outer", TypeError(), x=x, y=y)
    return ops.multiply(ops.reshape(x, (_count(x.shape), 1)), ops.reshape(y, (1, _count(y.shape))))


def addmm(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """`beta * input + alpha * (x @ y)`.

    Args:
        input: `[m, n]`, or what broadcasts to it: `[n]`, `[1, n]`, `[m, 1]`.
        x: `[m, k]`.
        y: `[k, n]`.
        beta: the factor of `input`.
        alpha: the factor of the product.

    Shape:
        `input` broadcasts to `[n, p]`; `x` `[n, m]`, `y` `[m, p]`, to `[n, p]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError, as in Paddle).
        ValueError: the shapes do not fit.

    Source:
        `paddle.addmm`.

    Examples:
        >>> print(wherry.addmm(wherry.ones([1, 1]), wherry.ones([1, 2]), wherry.ones([2, 1]), beta=0.5).tolist())
        [[2.5]]
    """
    return _addmm(input, x, y, beta, alpha, "addmm")


def addmm_(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """`addmm` that writes into `input`.

    Shape:
        `[n, p]`, `[n, m]` and `[m, p]` to `[n, p]`.

    Raises:
        TypeError: one of the three is not a Tensor, their dtypes differ, or `beta` or `alpha` is not a number (also a ValueError).
        ValueError: the shapes do not fit, the result is larger than `input`, or `input` is a leaf that asks for gradients.

    Examples:
        >>> print(wherry.addmm_(wherry.ones([1, 1]), wherry.ones([1, 2]), wherry.ones([2, 1])).tolist())
        [[3.0]]
    """
    result = _addmm(input, x, y, beta, alpha, "addmm_")
    return result if described(input) else ops.copy.into((input,), result)


def _addmm(input: Any, x: Any, y: Any, beta: Any, alpha: Any, op_name: str) -> Tensor:
    have = require_tensor(input, op_name, "input").shape
    a, b = require_tensor(x, op_name).shape, require_tensor(y, op_name, "y").shape
    fits = len(a) == len(b) == 2 and len(have) in (1, 2) and _may_equal(a[1], b[0])
    if fits:
        want = [a[0], b[1]][2 - len(have) :]
        fits = all(equals(n, 1) or _may_equal(n, m) for n, m in zip(have, want, strict=True))
    if not fits:
        raise InvalidArgumentError(
            f"{op_name}: the shapes do not fit. Got input {have}, x {a} and y {b}, expected [m, n] (or what broadcasts to it), "
            f"[m, k] and [k, n]. Transpose or reshape one of them."
        )
    try:
        product = _scaled(_matmul(x, y, False, False), alpha, op_name, "alpha")
        return ops.add(_scaled(input, beta, op_name, "beta"), product)
    except TypeError as error:
        raise refused(op_name, error, input=input, x=x, y=y) from None


def _scaled(x: Tensor, factor: Any, op_name: str, name: str) -> Tensor:
    value = number(factor, op_name, name)
    return x if value == 1 else ops.multiply(x, _core.scalar(fitted(value, x.dtype, op_name), x.dtype))


def kron(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The Kronecker product: a block `x[i, j] * y` for each element of `x`.

    Args:
        x: any rank; axes that it lacks beside `y` come first, with size 1.
        y: likewise; the dtype of `x`.

    Returns:
        The sizes are products of those of `x` and `y`.

    Shape:
        `[a, b]` and `[c, d]` to `[a * c, b * d]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError, as in Paddle).

    Source:
        `paddle.kron`.

    Examples:
        >>> print(wherry.kron(wherry.to_tensor([1, 2]), wherry.to_tensor([1, 1])).tolist())
        [1, 1, 2, 2]
    """
    a, b = require_tensor(x, "kron").shape, require_tensor(y, "kron", "y").shape
    if x.dtype is not y.dtype:
        raise refused("kron", TypeError(), x=x, y=y)
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    sizes = tuple([n * m for n, m in zip(a, b, strict=True)])
    if rank > 1 and not (_core.is_symbolic(x) or _core.is_symbolic(y)):
        n, m = a[-1], b[-1]
        # A product runs along the rows of one block, which costs more than its numbers where they are short: rows of the whole length first.
        if 1 < m < 256 <= n * m and math.prod(a[:-1]) > 3 and math.prod(b[:-1]) > 3:
            x = ops.reshape(ops.broadcast_to(ops.reshape(x, (*a, 1)), (*a, m)), (*a[:-1], n * m))
            y = ops.reshape(ops.broadcast_to(ops.reshape(y, (*b[:-1], 1, m)), (*b[:-1], n, m)), (*b[:-1], n * m))
            x = ops.reshape(x, (*_spread(a[:-1], left=True), n * m))
            return ops.reshape(ops.multiply(x, ops.reshape(y, (*_spread(b[:-1], left=False), n * m))), sizes)
    return ops.reshape(ops.multiply(ops.reshape(x, _spread(a, left=True)), ops.reshape(y, _spread(b, left=False))), sizes)


def _spread(sizes: Sequence[int], left: bool) -> tuple[int, ...]:
    """A 1 behind each size, or before it: the axes of two tensors that alternate."""
    return tuple([n for size in sizes for n in ((size, 1) if left else (1, size))])


def cross(x: Tensor, y: Tensor, axis: int = 9, name: str | None = None) -> Tensor:
    """The cross product of vectors of three numbers along an axis.

    Args:
        x: any shape with an axis of size 3.
        y: the same shape and dtype.
        axis: in `[-rank, rank)`; the default, 9, takes the first axis of size 3.

    Shape:
        `[..., 3, ...]` twice to the same.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ (also a ValueError, as in Paddle).
        ValueError: the shapes differ, or the axis is not of size 3.

    Source:
        `paddle.cross`.

    Examples:
        >>> print(wherry.cross(wherry.to_tensor([1, 0, 0]), wherry.to_tensor([0, 1, 0])).tolist())
        [0, 0, 1]
    """
    shape = require_tensor(x, "cross").shape
    require_tensor(y, "cross", "y")
    if x.dtype is not y.dtype:
        raise refused("cross", TypeError(), x=x, y=y)
    ways = _ways_of(shape) if axis is None or axis == 9 else [one_axis(axis, len(shape), "cross")]
    if not same_shapes(shape, y.shape) or not shape or not ways or not same_shapes([shape[ways[-1]]], [3]):
        raise InvalidArgumentError(
            f"cross: these are not vectors of three numbers. Got shapes {shape} and {y.shape} with axis={axis}, expected one "
            f"shape whose axis has size 3. Name the right axis."
        )
    return _crossed(x, y, ways, None)


def _ways_of(shape: Sequence[Any]) -> list[int]:
    """The axes that may be the first one of size 3, when the program runs."""
    ways = []
    for i, n in enumerate(shape):
        if is_unknown(n) or n == 3:
            ways.append(i)
        if equals(n, 3):
            break
    return ways


def _crossed(x: Tensor, y: Tensor, ways: Sequence[int], found: Tensor | None) -> Tensor:
    """Along the first of the axes `ways` that has size 3. A program chooses among several when it runs, each time for the sizes it is given.

    Args:
        x, y: as in `cross`.
        ways: the axes.
        found: of programs, whether an axis before these has size 3.
    """
    at = ways[0]
    size: Any = x.shape[at]
    if len(ways) == 1:
        if is_unknown(size):  # the last one left: another size than 3 is refused where it is reshaped to 3
            size = 3 if found is None else Size("value", ops.where(found, size.tensor(), ops.full(shape=(), value=3, dtype=int64)))
            x = ops.reshape(x, shape=(*x.shape[:at], size, *x.shape[at + 1 :]))
        return _crossed_along(x, y, at)
    three = ops.equal(size.tensor(), ops.full(shape=(), value=3, dtype=int64))
    later = _crossed(x, y, ways[1:], three if found is None else ops.logical_or(found, three))
    return ops.where(three, _crossed_along(x, y, at), later)


def _crossed_along(x: Tensor, y: Tensor, at: int) -> Tensor:
    if not (_core.is_symbolic(x) or _core.is_symbolic(y)) and x.size > 3000:
        # The three numbers first, and twice: rows are long, and what begins with the second or the third one is a view.
        forth = (at, *[i for i in range(x.ndim) if i != at])
        a, b = (ops.concat(z, z, axis=0) for z in (ops.copy(ops.transpose(x, perm=forth)), ops.copy(ops.transpose(y, perm=forth))))
        out = ops.subtract(ops.multiply(_three(a, 1), _three(b, 2)), ops.multiply(_three(a, 2), _three(b, 1)))
        return ops.copy(ops.transpose(out, perm=tuple(forth.index(i) for i in range(x.ndim))))
    # (a1, a2, a0) * (b2, b0, b1) - (a2, a0, a1) * (b1, b2, b0)
    return ops.subtract(
        ops.multiply(ops.roll(x, (-1,), (at,)), ops.roll(y, (-2,), (at,))),
        ops.multiply(ops.roll(x, (-2,), (at,)), ops.roll(y, (-1,), (at,))),
    )


def _three(x: Tensor, first: int) -> Tensor:
    return ops.slice(x, axes=(0,), starts=(first,), ends=(first + 3,), steps=(1,))


def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The sum of a diagonal of each matrix that two axes of `x` form.

    Args:
        x: any dtype but bool, rank 2 or more.
        offset: which diagonal: 0 the main one, positive ones above it.
        axis1: the axis of the rows.
        axis2: the axis of the columns.

    Returns:
        `x` without the two axes.

    Shape:
        `[..., rows, columns]` to `[...]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        IndexError: an axis is out of range.
        ValueError: the axes are the same.

    Source:
        `paddle.trace`.

    Examples:
        >>> print(wherry.trace(wherry.to_tensor([[1, 2], [3, 4]])).item())
        5
    """
    a, b = diagonal_axes(x, axis1, axis2, "trace")
    return _sum(ops.diagonal(x, integer(offset, "trace", "offset"), a, b), (x.ndim - 2,))


def _sum(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The sum in the dtype of `x`: the op sums integers in int64 alone."""
    if x.dtype.is_integer and x.dtype is not int64:
        return ops.cast(ops.reduce_sum(x, axes=axes, keepdim=False), x.dtype)
    return ops.reduce_sum(x, axes=axes, keepdim=False)


def norm(
    x: Tensor, p: float | str = "fro", axis: Any = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """Norm: the length of vectors, in several senses.

    Args:
        x: float16, bfloat16, float32 or float64.
        p: "fro" or 2: the Euclidean length. A number p: `(sum |x|^p)^(1/p)`. `inf` and `-inf`: the largest and
            smallest absolute value. 0: how many elements are not 0.
        axis: one axis or two, over which to sum; None is all of `x`. Two axes make one long vector, as in
            Paddle 2.6.2, so this is a matrix norm for "fro" only.
        keepdim: keep those axes with size 1.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`; `[]` without `axis`.

    Raises:
        TypeError: `x` is not a Tensor, or not floating (also a ValueError).
        ValueError: `p` is unknown, or an axis is out of range.

    Source:
        `paddle.norm` and `paddle.linalg.norm`.

    Examples:
        >>> print(wherry.norm(wherry.to_tensor([[3.0, 4.0], [6.0, 8.0]]), p=2, axis=1).tolist())
        [5.0, 10.0]
    """
    rank = require_tensor(x, "norm").ndim
    if not x.dtype.is_floating:
        raise InvalidTypeError(
            f"norm: `x` must be floating. Got dtype {x.dtype.name}, expected float16, bfloat16, float32 or float64. "
            f"Cast it with astype('float32')."
        )
    if isinstance(p, str):
        if p != "fro":
            raise InvalidArgumentError(
                f"norm: unknown norm. Got p={short(p)}, expected 'fro', a number, inf or -inf. Use 'fro' for the Euclidean one."
            )
        p = 2.0
    if axis is None:
        axes: tuple[int, ...] = tuple(range(rank))
    else:
        chosen = axis if isinstance(axis, (list, tuple)) else [axis]
        if len(chosen) > 2 or not chosen:
            raise InvalidArgumentError(
                f"norm: too many axes. Got axis={axis}, expected one axis or two. "
                f"Use None for all, or flatten axes first."
            )
        axes = tuple(sorted({one_axis(a, rank, "norm") for a in chosen})) if rank else ()
    return lengths_along(x, real_number(p, "norm", "p"), axes, flag(keepdim, "norm", "keepdim"))


def lengths_along(x: Tensor, p: float, axes: tuple[int, ...], keepdim: bool) -> Tensor:
    """The `p`-norms of what lies along `axes`, which are sorted and not negative."""
    if p == math.inf:
        return ops.reduce_max(ops.abs(x), axes=axes, keepdim=keepdim)
    if p == -math.inf:
        return ops.reduce_min(ops.abs(x), axes=axes, keepdim=keepdim)
    if p == 0:
        there = ops.not_equal(x, _core.scalar(0, x.dtype))
        count = ops.reduce_sum(ops.cast(there, x.dtype), axes=axes, keepdim=keepdim)
        if x.stop_gradient or not x.dtype.is_floating:
            return count
        # A gradient of zeros, as of other numbers that do not change; sign has one, where there is a number.
        still = ops.sign(ops.where(ops.isfinite(x), x, _core.scalar(0, x.dtype)))
        return ops.add(count, ops.reduce_sum(ops.multiply(still, _core.scalar(0, x.dtype)), axes=axes, keepdim=keepdim))
    if p == 1:
        return ops.reduce_sum(ops.abs(x), axes=axes, keepdim=keepdim)
    if p == 2:
        return ops.l2_norm(x, axes=axes, keepdim=keepdim)
    power = ops.power(ops.abs(x), _core.scalar(p, x.dtype))
    return _root(ops.reduce_sum(power, axes=axes, keepdim=keepdim), 1 / p, x)


def _root(total: Tensor, exponent: float, x: Tensor) -> Tensor:
    def root(t: Tensor) -> Tensor:
        return ops.power(t, _core.scalar(exponent, t.dtype))

    if x.stop_gradient or not _core.is_grad_enabled() or exponent < 0:
        return root(total)
    # The slope of a root is infinite at 0, where the gradient of a length should be 0 and not NaN.
    zero = ops.equal(total, _core.scalar(0, total.dtype))
    safe = ops.add(total, ops.cast(zero, total.dtype))  # files for Paddle, whose `where` does not broadcast, have no size in them then
    return ops.where(zero, total, root(safe))


def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The `p`-norm of `x - y`, over all elements.

    Args:
        x: floating.
        y: the dtype of `x`; broadcasts with it.
        p: as for `norm`.

    Returns:
        A 0-d tensor.

    Shape:
        `[...]` and `[...]`, which broadcast, to `[]`.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ or are not floating (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.dist`.

    Examples:
        >>> print(wherry.dist(wherry.to_tensor([3.0, 4.0]), wherry.to_tensor([0.0, 0.0])).item())
        5.0
    """
    _require_floating_pair("dist", x, y)
    difference = ops.subtract(x, y)
    return lengths_along(difference, real_number(p, "dist", "p"), tuple(range(difference.ndim)), False)


def cdist(
    x: Tensor,
    y: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> Tensor:
    """The `p`-norm distance of each row of `x` to each row of `y`.

    Args:
        x: `[..., m, d]`, floating.
        y: `[..., n, d]`, floating; of two dtypes the wider one is computed in.
        p: as for `norm`, not negative.
        compute_mode: "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist" or
            "donot_use_mm_for_euclid_dist"; all give differences their full accuracy here.

    Returns:
        `[..., m, n]`.

    Shape:
        `[..., P, M]` and `[..., R, M]` to `[..., P, R]`.

    Raises:
        TypeError: an argument is not a Tensor, or is not floating (also a ValueError).
        ValueError: the rows have different lengths, or `p` is negative.

    Source:
        `paddle.cdist`.

    Examples:
        >>> print(wherry.cdist(wherry.zeros([1, 2]), wherry.to_tensor([[3.0, 4.0]])).tolist())
        [[5.0]]
    """
    require_tensor(x, "cdist")
    require_tensor(y, "cdist", "y")
    if x.dtype is not y.dtype and x.dtype.is_floating and y.dtype.is_floating:
        wider = promote_floating(x.dtype, y.dtype)
        x, y = ops.cast(x, dtype=wider), ops.cast(y, dtype=wider)
    _require_floating_pair("cdist", x, y)
    a, b = x.shape, y.shape
    value = real_number(p, "cdist", "p")
    if len(a) < 2 or len(b) < 2 or not _may_equal(a[-1], b[-1]) or not value >= 0:
        raise InvalidArgumentError(
            f"cdist: these are not rows of one length. Got shapes {a} and {b} and p={p}, expected [..., m, d], [..., n, d] and "
            f"p >= 0. Transpose one of them."
        )
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise InvalidArgumentError(
            f"cdist: unknown mode. Got compute_mode={short(compute_mode)}, expected one of {', '.join(modes)}. Leave it out."
        )
    if value in (1, 2, math.inf) and not any(is_unknown(n) for n in (*a[:-2], *b[:-2])):
        if a[:-2] != b[:-2]:
            batch = broadcast_shapes("cdist", tuple(a[:-2]), tuple(b[:-2]))
            x, y = (ops.broadcast_to(z, (*batch, *z.shape[-2:])) for z in (x, y))
        return ops.cdist(x, y, p=value)
    difference = row_differences(x, y)
    return lengths_along(difference, value, (difference.ndim - 1,), False)


def _require_floating_pair(op_name: str, x: Any, y: Any) -> None:
    require_tensor(x, op_name)
    require_tensor(y, op_name, "y")
    if x.dtype is not y.dtype:
        raise refused(op_name, TypeError(), x=x, y=y)
    if not x.dtype.is_floating:
        raise InvalidTypeError(
            f"{op_name}: x and y must be floating. Got dtype {x.dtype.name}, expected a floating one. "
            f"Cast both with astype('float32')."
        )


def multi_dot(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The product of several matrices, in the order of multiplications that costs least.

    Args:
        x: two or more matrices that fit; the first and the last may be vectors.

    Shape:
        `[n0, n1]`, `[n1, n2]`, ... `[nk, m]` to `[n0, m]`.

    Raises:
        TypeError: the argument is not a list of tensors, or they have several dtypes (also a ValueError, as in Paddle).
        ValueError: there are fewer than two matrices, a rank is wrong, or the sizes do not fit.

    Source:
        `paddle.linalg.multi_dot`; the order by dynamic programming, as in Cormen et al., "Introduction to
        Algorithms".

    Examples:
        >>> from wherry_tensor.functions.linalg import multi_dot
        >>> a, b, c = wherry.ones([2, 9]), wherry.ones([9, 3]), wherry.ones([3, 4])
        >>> multi_dot([a, b, c]).shape
        [2, 4]
    """
    xs = tensors_of(x, "multi_dot")
    shapes = [one.shape for one in xs]
    last = len(xs) - 1
    if last < 1 or any(len(s) != 2 and not (len(s) == 1 and i in (0, last)) for i, s in enumerate(shapes)):
        raise InvalidArgumentError(
            f"multi_dot: x must hold two or more matrices. Got shapes {', '.join(map(str, shapes))}, expected matrices, and "
            f"perhaps a vector first and last. Use matmul for other ranks."
        )
    row, column = len(shapes[0]) == 1, len(shapes[-1]) == 1
    matrices = list(xs)
    if row:
        matrices[0] = ops.unsqueeze(xs[0], (0,))
    if column:
        matrices[-1] = ops.unsqueeze(xs[-1], (1,))
    sizes = [matrices[0].shape[0]]
    for i, one in enumerate(matrices):
        if i and not _may_equal(matrices[i - 1].shape[1], one.shape[0]):
            raise InvalidArgumentError(
                f"multi_dot: the shapes of neighbouring matrices do not fit. "
                f"Got shapes {', '.join(map(str, shapes))}, expected each matrix to have as "
                f"many rows as the one before has columns. Transpose one of them."
            )
        sizes.append(one.shape[1])
    try:
        most = max((n for n in sizes if not is_unknown(n)), default=1)
        out = _chain(matrices, _best_cuts([most if is_unknown(n) else max(n, 1) for n in sizes]), 0, last)
    except TypeError as error:
        raise refused("multi_dot", error, **{f"x[{i}]": one for i, one in enumerate(xs)}) from None
    dropped = ((0,) if row else ()) + ((1,) if column else ())
    return ops.squeeze(out, dropped) if dropped else out


def _best_cuts(sizes: list[int]) -> dict[tuple[int, int], int]:
    """For each run of matrices i..j, after which of them its last multiplication is made."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            ]
            cost[i, j], cuts[i, j] = min(options)
    return cuts


def _chain(xs: list[Tensor], cuts: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return xs[i]
    k = cuts[i, j]
    return _matmul(_chain(xs, cuts, i, k), _chain(xs, cuts, k + 1, j), False, False)


def _may_equal(a: int, b: int) -> bool:
    return a == -1 or b == -1 or a == b


def _count(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total = -1 if -1 in (size, total) else total * size
    return total


spelled(globals())
