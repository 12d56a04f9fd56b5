"""Elementwise functions of sparse tensors, and functions of their indices."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from wherry_sparse.eager_indices import eager_indices
from wherry_sparse.tensors import SparseCooTensor, SparseCsrTensor, SparseTensor, keys, require_sparse, unraveled
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import axes_of, integers_of, to_dtype
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions import math as _math
from wherry_tensor.functions.creation import arange
from wherry_tensor.functions.logic import isnan as _isnan
from wherry_tensor.functions.movement import reshape as _reshape
from wherry_tensor.functions.movement import stack

__all__ = [
    "abs", "add", "asin", "asinh", "atan", "atanh", "cast", "coalesce", "deg2rad", "divide", "expm1", "is_same_shape", "isnan", "log1p", "multiply",
    "neg", "pow", "rad2deg", "reshape", "sin", "sinh", "slice", "sqrt", "square", "subtract", "sum", "tan", "tanh", "transpose",
]  # fmt: skip


def _unary(name: str, function: Callable[[Tensor], Tensor], says: str, given: str, found: str) -> Callable[..., SparseTensor]:
    """The function of the stored values; `given` and `found` are the values of the example in its docstring."""

    def applied(x: SparseTensor, name: str | None = None) -> SparseTensor:
        sparse = require_sparse(x, applied.__name__)
        return sparse._with(function(sparse.values()))

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"""{says} of the elements that are stored; 0 stays 0.

    Args:
        x: in COO or CSR form.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse.

    Source:
        `paddle.sparse.{name}`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], {given})
        >>> print(wherry.sparse.{name}(x).values().numpy())
        {found}
    """
    return applied


abs = _unary("abs", _math.abs, "Absolute value", "[-1.0, 2.0]", "[1. 2.]")
asin = _unary("asin", _math.asin, "Arc sine", "[0.5, 1.0]", "[0.5235... 1.5707...]")
asinh = _unary("asinh", _math.asinh, "Inverse hyperbolic sine", "[0.5, 1.0]", "[0.4812... 0.8813...]")
atan = _unary("atan", _math.atan, "Arc tangent", "[0.5, 1.0]", "[0.4636... 0.7853...]")
atanh = _unary("atanh", _math.atanh, "Inverse hyperbolic tangent", "[0.25, 0.5]", "[0.2554... 0.5493...]")
deg2rad = _unary("deg2rad", _math.deg2rad, "Degrees in radians", "[90.0, 180.0]", "[1.5707... 3.1415...]")
expm1 = _unary("expm1", _math.expm1, "exp(x) - 1", "[1.0, 2.0]", "[1.7182... 6.389...]")
isnan = _unary("isnan", _isnan, "NaN test", '[float("nan"), 1.0]', "[ True False]")
log1p = _unary("log1p", _math.log1p, "log(1 + x)", "[1.0, 2.0]", "[0.6931... 1.0986...]")
neg = _unary("neg", _math.neg, "Negative", "[1.0, -2.0]", "[-1.  2.]")
rad2deg = _unary("rad2deg", _math.rad2deg, "Radians in degrees", "[1.0, 2.0]", "[ 57.2957... 114.591...]")
sin = _unary("sin", _math.sin, "Sine", "[1.0, 2.0]", "[0.8414... 0.9092...]")
sinh = _unary("sinh", _math.sinh, "Hyperbolic sine", "[1.0, 2.0]", "[1.1752... 3.626...]")
sqrt = _unary("sqrt", _math.sqrt, "Square root", "[4.0, 9.0]", "[2. 3.]")
square = _unary("square", _math.square, "Square", "[2.0, 3.0]", "[4. 9.]")
tan = _unary("tan", _math.tan, "Tangent", "[0.5, 1.0]", "[0.5463... 1.5574...]")
tanh = _unary("tanh", _math.tanh, "Hyperbolic tangent", "[0.5, 1.0]", "[0.4621... 0.7615...]")


def pow(x: SparseTensor, factor: float, name: str | None = None) -> SparseTensor:
    """Power of the elements that are stored; 0 stays 0.

    Args:
        x: in COO or CSR form.
        factor: the exponent, a number.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `factor` is not a number (also a ValueError).

    Source:
        `paddle.sparse.pow`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], [2.0, 3.0])
        >>> print(wherry.sparse.pow(x, 2.0).values().numpy())
        [4. 9.]
    """
    sparse = require_sparse(x, "pow")
    return sparse._with(_math.pow(sparse.values(), factor))


def cast(x: SparseTensor, index_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> SparseTensor:
    """Casts indices and values.

    Args:
        x: in COO or CSR form.
        index_dtype: dtype of the indices; None keeps it.
        value_dtype: dtype of the values; None keeps it.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: an argument is not a dtype.

    Source:
        `paddle.sparse.cast`.

    Examples:
        >>> x = wherry.sparse.cast(wherry.sparse.sparse_coo_tensor([[0, 2]], [2.0, 3.0]), "int32", "float64")
        >>> x.indices().dtype, x.dtype
        (paddle.int32, paddle.float64)
    """
    sparse = require_sparse(x, "cast")
    values = sparse.values() if value_dtype is None else to_dtype(sparse.values(), as_dtype(value_dtype, "cast"))
    if index_dtype is None:
        return sparse._with(values)
    dtype = as_dtype(index_dtype, "cast")
    if isinstance(sparse, SparseCsrTensor):
        return SparseCsrTensor(to_dtype(sparse.crows(), dtype), to_dtype(sparse.cols(), dtype), values, sparse.shape)
    assert isinstance(sparse, SparseCooTensor)
    return SparseCooTensor(to_dtype(sparse.indices(), dtype), values, sparse.shape)


@eager_indices
def coalesce(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """Sorted indices, each once: elements with the same indices are added.

    Args:
        x: in COO or CSR form.

    Returns:
        A tensor in COO form.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse.

    Source:
        `paddle.sparse.coalesce`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0])
        >>> print(wherry.sparse.coalesce(x).values().tolist())
        [2.0, 4.0]
    """
    return _coo(require_sparse(x, "coalesce")).coalesce()


def is_same_shape(x: Any, y: Any) -> bool:
    """Whether two tensors, sparse or not, have the same shape.

    Args:
        x: a tensor.
        y: a tensor.

    Raises:
        TypeError: an argument is not a tensor (also a ValueError).

    Source:
        `paddle.sparse.is_same_shape`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0])
        >>> wherry.sparse.is_same_shape(x, wherry.ones([2, 3]))
        True
    """
    for name, value in (("x", x), ("y", y)):
        if not isinstance(value, (Tensor, SparseTensor)):
            raise InvalidTypeError(
                f"is_same_shape: argument '{name}' must be a tensor, sparse or not. Got {short(value)} ({type(value).__name__}), expected one. "
                f"Make one with to_tensor({name})."
            )
    return list(x.shape) == list(y.shape)


# Binary functions.


def _binary(name: str, join: Callable[[Any, Any], Any], says: str, found: str) -> Callable[..., SparseTensor]:
    """The function of two sparse tensors; `found` is the result of the example in its docstring."""

    @eager_indices
    def applied(x: SparseTensor, y: Any, name: str | None = None) -> SparseTensor:
        return _joined(applied.__name__, join, x, y)

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"""{says} of two sparse tensors of the same form and shape.

    Args:
        x: in COO or CSR form.
        y: in the same form{', or a number' if name in ('multiply', 'divide') else ''}.

    Returns:
        The form of `x`. It stores {'all elements: 0 / 0 is NaN' if name == 'divide' else 'the elements that one of the two stores'}.

    Shape:
        `[...]` twice to the same.

    Raises:
        NotImplementedError: the forms differ, or a tensor is not sparse.
        ValueError: the shapes differ.

    Source:
        `paddle.sparse.{name}`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 1]], [6.0, 2.0])
        >>> y = wherry.sparse.sparse_coo_tensor([[0, 1]], [3.0, 4.0])
        >>> print(wherry.sparse.{name}(x, y).values().numpy())
        {found}
    """
    return applied


def _joined(owner: str, join: Callable[[Any, Any], Any], x: Any, y: Any) -> SparseTensor:
    left = require_sparse(x, owner)
    if owner in ("multiply", "divide") and isinstance(y, (int, float)):
        return left._with(join(left.values(), y))
    right = require_sparse(y, owner, "y")
    if type(left) is not type(right):
        raise UnimplementedError(f"{owner}: the forms differ. Got COO and CSR, expected the same form. Use to_sparse_csr() or to_sparse_coo(2).")
    if left.shape != right.shape:
        raise InvalidArgumentError(f"{owner}: the shapes differ. Got {left.shape} and {right.shape}, expected equal shapes. Reshape one of them.")
    a, b = _coo(left).coalesce(), _coo(right).coalesce()
    if owner == "divide":  # 0 / 0 is stored too
        rank, dtype = a.indices().shape[0], a.indices().dtype
        every = arange(0, math.prod(left.shape[:rank]), dtype="int64")
        values = _reshape(join(a.to_dense(), b.to_dense()), [every.shape[0], *left.shape[rank:]])
        found = SparseCooTensor(unraveled(every, left.shape[:rank], dtype), values, left.shape, coalesced=True)
    else:
        key = ops.concat(keys(a), keys(b), axis=0)
        single, _, inverse, _ = ops.unique(key, axis=None)
        parts, first = [], a.values().shape[0]
        for one, start, end in ((a, 0, first), (b, first, first + b.values().shape[0])):
            at = ops.slice(inverse, axes=(0,), starts=(start,), ends=(end,), steps=(1,))
            parts.append(ops.edge_sum(one.values(), None, at, count=single.shape[0], mean=False, sorted=False))
        rank = a.indices().shape[0]
        found = SparseCooTensor(unraveled(single, left.shape[:rank], a.indices().dtype), join(*parts), left.shape, coalesced=True)
    return found.to_sparse_csr() if isinstance(left, SparseCsrTensor) else found


add = _binary("add", lambda a, b: a + b, "Sum", "[9. 6.]")
subtract = _binary("subtract", lambda a, b: a - b, "Difference", "[ 3. -2.]")
multiply = _binary("multiply", lambda a, b: a * b, "Elementwise product", "[18.  8.]")
divide = _binary("divide", lambda a, b: a / b, "Elementwise quotient", "[2.  0.5]")


# Functions of indices.


@eager_indices
def transpose(x: SparseTensor, perm: Sequence[int], name: str | None = None) -> SparseTensor:
    """Permutes the axes.

    Args:
        x: in COO or CSR form; all its axes are sparse.
        perm: the axes, each once.

    Shape:
        `[a, b]` to `[b, a]` with `perm=[1, 0]`.

    Raises:
        NotImplementedError: `x` is not sparse, or has dense axes.
        TypeError: `perm` is not a list of ints (also a ValueError).
        ValueError: `perm` does not name each axis once.

    Source:
        `paddle.sparse.transpose`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0], [2]], [1.0], [1, 3])
        >>> wherry.sparse.transpose(x, [1, 0]).shape
        [3, 1]
    """
    sparse = require_sparse(x, "transpose")
    order = [axis % sparse.ndim if -sparse.ndim <= axis < sparse.ndim else axis for axis in integers_of(perm, "transpose", "perm")]
    if sorted(order) != list(range(sparse.ndim)):
        raise InvalidArgumentError(
            f"transpose: perm does not name each axis once. Got {list(perm)} for shape {sparse.shape}, expected "
            f"{sparse.ndim} axes. Axes count from 0."
        )
    whole = _all_sparse("transpose", sparse)
    moved = SparseCooTensor(stack([whole.indices()[axis] for axis in order], 0), whole.values(), [sparse.shape[axis] for axis in order])
    return moved.to_sparse_csr() if isinstance(sparse, SparseCsrTensor) else moved


@eager_indices
def reshape(x: SparseTensor, shape: Sequence[int], name: str | None = None) -> SparseTensor:
    """The same elements in another shape.

    Args:
        x: in COO or CSR form; all its axes are sparse.
        shape: the new sizes; -1 is computed from the others, 0 keeps the size of that axis.

    Shape:
        `[...]` to `shape`.

    Raises:
        NotImplementedError: `x` is not sparse, or has dense axes.
        TypeError: `shape` is not a list of ints (also a ValueError).
        ValueError: the shapes have different numbers of elements, or the result in CSR form would not have two or three axes.

    Source:
        `paddle.sparse.reshape`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[1], [0]], [1.0], [2, 3])
        >>> print(wherry.sparse.reshape(x, [6]).indices().tolist())
        [[3]]
    """
    sparse = require_sparse(x, "reshape")
    sizes = [sparse.shape[axis] if n == 0 and axis < sparse.ndim else n for axis, n in enumerate(integers_of(shape, "reshape", "shape"))]
    if sizes.count(-1) == 1:
        others = math.prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = sparse.size // max(others, 1)
    if math.prod(sizes) != sparse.size or min(sizes, default=0) < 0:
        raise InvalidArgumentError(
            f"reshape: the shapes have different numbers of elements. Got {list(shape)} for shape {sparse.shape}, expected a product of "
            f"{sparse.size}. Write -1 for one size."
        )
    whole = _all_sparse("reshape", sparse)
    found = SparseCooTensor(unraveled(keys(whole), sizes, whole.indices().dtype), whole.values(), sizes)
    return found.to_sparse_csr() if isinstance(sparse, SparseCsrTensor) else found


@eager_indices
def slice(x: SparseTensor, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: str | None = None) -> SparseTensor:
    """The elements between bounds along some axes.

    Args:
        x: in COO or CSR form; all its axes are sparse.
        axes: the axes that are cut.
        starts: the first index along each of them; negative ones count from the end.
        ends: the index after the last one; negative ones count from the end.

    Shape:
        `[..., n, ...]` to `[..., end - start, ...]`.

    Raises:
        NotImplementedError: `x` is not sparse, or has dense axes.
        TypeError: an argument is not a list of ints (also a ValueError).
        ValueError: an axis is out of range, or the lists have different lengths.

    Source:
        `paddle.sparse.slice`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 1], [0, 2]], [1.0, 2.0])
        >>> print(wherry.sparse.slice(x, [1], [1], [3]).to_dense().tolist())
        [[0.0, 0.0], [0.0, 2.0]]
    """
    sparse = require_sparse(x, "slice")
    whole, sizes = _all_sparse("slice", sparse), sparse.shape
    kept: Tensor | None = None
    parts = [whole.indices()[axis] for axis in range(sparse.ndim)]
    along = axes_of(tuple(integers_of(axes, "slice", "axes")), sparse.ndim, "slice")
    first, last = integers_of(starts, "slice", "starts"), integers_of(ends, "slice", "ends")
    if not len(along) == len(first) == len(last):
        raise InvalidArgumentError(
            f"slice: each axis needs a start and an end. Got {len(along)} axes, {len(first)} starts and {len(last)} ends, expected as many of each. "
            f"Complete the lists."
        )
    for axis, start, end in zip(along, first, last, strict=True):
        n = sparse.shape[axis]
        low, high = (min(max(at + n if at < 0 else at, 0), n) for at in (start, end))
        inside = ops.logical_and(parts[axis] >= low, parts[axis] < high)
        kept = inside if kept is None else ops.logical_and(kept, inside)
        parts[axis], sizes[axis] = parts[axis] - low, max(high - low, 0)
    at = _reshape(ops.nonzero(kept), [-1]) if kept is not None else arange(0, sparse.nnz(), dtype="int64")
    found = SparseCooTensor(ops.gather(stack(parts, 0), at, axis=1), ops.gather(whole.values(), at, axis=0), sizes)
    return found.to_sparse_csr() if isinstance(sparse, SparseCsrTensor) else found


@eager_indices
def sum(x: SparseTensor, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> SparseTensor:
    """The sum along axes, as a sparse tensor.

    Args:
        x: in COO or CSR form; all its axes are sparse.
        axis: one axis or several, None for all; in CSR form the last one, or None.
        dtype: dtype of the result; None keeps it.
        keepdim: keep each axis with size 1. CSR form always keeps them.

    Shape:
        `[..., n, ...]` to `[..., ...]`, or `[..., 1, ...]` with `keepdim`. All axes of COO form give `[1]`.

    Raises:
        NotImplementedError: `x` is not sparse, or has dense axes; another axis of CSR form.
        ValueError: `axis` is out of range.

    Source:
        `paddle.sparse.sum`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 1], [0, 2]], [1.0, 2.0])
        >>> print(wherry.sparse.sum(x, 0).to_dense().tolist())
        [1.0, 0.0, 2.0]
    """
    sparse = require_sparse(x, "sum")
    if dtype is not None:
        sparse = sparse.astype(dtype)
    csr = isinstance(sparse, SparseCsrTensor)
    if csr and axis not in (None, -1, sparse.ndim - 1):
        raise UnimplementedError(
            f"sum: CSR form is summed along the last axis or all axes. Got axis={axis}, expected -1 or None. Use to_sparse_coo(2) for others."
        )
    along = axes_of(axis, sparse.ndim, "sum")
    whole = _all_sparse("sum", sparse)
    keepdim = keepdim or csr
    index, sizes = [], []
    for at, n in enumerate(sparse.shape):
        if at not in along:
            index.append(whole.indices()[at])
            sizes.append(n)
        elif keepdim:
            index.append(ops.full_like(whole.indices()[at], value=0, dtype=whole.indices().dtype))
            sizes.append(1)
    if not index:
        index, sizes = [ops.full_like(whole.indices()[0], value=0, dtype=whole.indices().dtype)], [1]
    found = SparseCooTensor(stack(index, 0), whole.values(), sizes).coalesce()
    return found.to_sparse_csr() if csr else found


def _coo(x: SparseTensor) -> SparseCooTensor:
    return x if isinstance(x, SparseCooTensor) else x.to_sparse_coo(2)  # type: ignore[attr-defined,no-any-return]


def _all_sparse(owner: str, x: SparseTensor) -> SparseCooTensor:
    whole = _coo(x)
    if whole.values().ndim != 1:
        raise UnimplementedError(f"{owner}: some axes are dense. Got values of shape {whole.values().shape}, expected [nnz]. Use to_dense().")
    return whole


explained(globals())
