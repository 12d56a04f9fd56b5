"""Functions of the elements of sparse tensors, and of their places."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from wherry_sparse.at_once import places_at_once
from wherry_sparse.tensors import SparseCooTensor, SparseCsrTensor, SparseTensor, keys, places, require_sparse
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import axes_of, integers_of, to_dtype
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.functions import math as _math
from wherry_tensor.functions.creation import arange
from wherry_tensor.functions.logic import isnan as _isnan
from wherry_tensor.functions.movement import reshape as _reshape
from wherry_tensor.functions.movement import stack

__all__ = [
    "abs", "add", "asin", "asinh", "atan", "atanh", "cast", "coalesce", "deg2rad", "divide", "expm1", "is_same_shape", "isnan", "log1p", "multiply",
    "neg", "pow", "rad2deg", "reshape", "sin", "sinh", "slice", "sqrt", "square", "subtract", "sum", "tan", "tanh", "transpose",
]  # fmt: skip


def _unary(name: str, function: Callable[[Tensor], Tensor], says: str) -> Callable[..., SparseTensor]:
    def applied(x: SparseTensor, name: str | None = None) -> SparseTensor:
        sparse = require_sparse(x, applied.__name__)
        return sparse._with(function(sparse.values()))

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"""{says} of the elements that are stored; 0 stays 0.

    Args:
        x: in COO or CSR form.
        name: accepted for compatibility; unused.

    Raises:
        NotImplementedError: x is dense.

    Source:
        `paddle.sparse.{name}`.
    """
    return applied


abs = _unary("abs", _math.abs, "Magnitude")
asin = _unary("asin", _math.asin, "Arc sine")
asinh = _unary("asinh", _math.asinh, "Inverse hyperbolic sine")
atan = _unary("atan", _math.atan, "Arc tangent")
atanh = _unary("atanh", _math.atanh, "Inverse hyperbolic tangent")
deg2rad = _unary("deg2rad", _math.deg2rad, "Radians of degrees")
expm1 = _unary("expm1", _math.expm1, "exp(x) - 1")
isnan = _unary("isnan", _isnan, "Whether each is not a number,")
log1p = _unary("log1p", _math.log1p, "log(1 + x)")
neg = _unary("neg", _math.neg, "Negative")
rad2deg = _unary("rad2deg", _math.rad2deg, "Degrees of radians")
sin = _unary("sin", _math.sin, "Sine")
sinh = _unary("sinh", _math.sinh, "Hyperbolic sine")
sqrt = _unary("sqrt", _math.sqrt, "Square root")
square = _unary("square", _math.square, "Square")
tan = _unary("tan", _math.tan, "Tangent")
tanh = _unary("tanh", _math.tanh, "Hyperbolic tangent")


def pow(x: SparseTensor, factor: float, name: str | None = None) -> SparseTensor:
    """The elements that are stored, to a power.

    Source:
        `paddle.sparse.pow`.
    """
    sparse = require_sparse(x, "pow")
    return sparse._with(_math.pow(sparse.values(), factor))


def cast(x: SparseTensor, index_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> SparseTensor:
    """Places and values in other dtypes; None keeps one.

    Source:
        `paddle.sparse.cast`.
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


@places_at_once
def coalesce(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """Places in order, each once: elements at one place are added.

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

    Source:
        `paddle.sparse.is_same_shape`.
    """
    for name, value in (("x", x), ("y", y)):
        if not isinstance(value, (Tensor, SparseTensor)):
            raise InvalidTypeError(
                f"is_same_shape: argument '{name}' must be a tensor, sparse or not. Got {short(value)} ({type(value).__name__}), expected one. "
                f"Make one with to_tensor({name})."
            )
    return list(x.shape) == list(y.shape)


# Of two.


def _binary(name: str, join: Callable[[Any, Any], Any], says: str) -> Callable[..., SparseTensor]:
    @places_at_once
    def applied(x: SparseTensor, y: Any, name: str | None = None) -> SparseTensor:
        return _joined(applied.__name__, join, x, y)

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"""{says} of two sparse tensors of one form and shape: at every place that one of them stores.

    Args:
        x: in COO or CSR form.
        y: in the same form{', or a number' if name in ('multiply', 'divide') else ''}.
        name: accepted for compatibility; unused.

    Raises:
        NotImplementedError: the forms differ, or one tensor is dense.
        ValueError: the shapes differ.

    Source:
        `paddle.sparse.{name}`.
    """
    return applied


def _joined(owner: str, join: Callable[[Any, Any], Any], x: Any, y: Any) -> SparseTensor:
    left = require_sparse(x, owner)
    if owner in ("multiply", "divide") and isinstance(y, (int, float)):
        return left._with(join(left.values(), y))
    right = require_sparse(y, owner, "y")
    if type(left) is not type(right):
        raise UnimplementedError(f"{owner}: the forms differ. Got COO and CSR, expected one form. Use to_sparse_csr() or to_sparse_coo(2).")
    if left.shape != right.shape:
        raise InvalidArgumentError(f"{owner}: the shapes differ. Got {left.shape} and {right.shape}, expected one shape.")
    a, b = _coo(left).coalesce(), _coo(right).coalesce()
    if owner == "divide":  # 0 / 0 is stored too
        rank, dtype = a.indices().shape[0], a.indices().dtype
        every = arange(0, math.prod(left.shape[:rank]), dtype="int64")
        values = _reshape(join(a.to_dense(), b.to_dense()), [every.shape[0], *left.shape[rank:]])
        found = SparseCooTensor(places(every, left.shape[:rank], dtype), values, left.shape, coalesced=True)
    else:
        key = ops.concat(keys(a), keys(b), axis=0)
        single, _, inverse, _ = ops.unique(key, axis=None)
        parts, first = [], a.values().shape[0]
        for one, start, end in ((a, 0, first), (b, first, first + b.values().shape[0])):
            at = ops.slice(inverse, axes=(0,), starts=(start,), ends=(end,), steps=(1,))
            parts.append(ops.edge_sum(one.values(), None, at, count=single.shape[0], mean=False, sorted=False))
        rank = a.indices().shape[0]
        found = SparseCooTensor(places(single, left.shape[:rank], a.indices().dtype), join(*parts), left.shape, coalesced=True)
    return found.to_sparse_csr() if isinstance(left, SparseCsrTensor) else found


add = _binary("add", lambda a, b: a + b, "The sum")
subtract = _binary("subtract", lambda a, b: a - b, "The difference")
multiply = _binary("multiply", lambda a, b: a * b, "The product, element by element,")
divide = _binary("divide", lambda a, b: a / b, "The quotient (with 0 / 0 at places that neither stores)")


# Of places.


@places_at_once
def transpose(x: SparseTensor, perm: Sequence[int], name: str | None = None) -> SparseTensor:
    """The axes in another order.

    Args:
        x: in COO or CSR form; all its axes are sparse.
        perm: the axes, each once.
        name: accepted for compatibility; unused.

    Raises:
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
        raise InvalidArgumentError(f"transpose: perm names each axis once. Got {list(perm)} for shape {sparse.shape}.")
    whole = _all_sparse("transpose", sparse)
    moved = SparseCooTensor(stack([whole.indices()[axis] for axis in order], 0), whole.values(), [sparse.shape[axis] for axis in order])
    return moved.to_sparse_csr() if isinstance(sparse, SparseCsrTensor) else moved


@places_at_once
def reshape(x: SparseTensor, shape: Sequence[int], name: str | None = None) -> SparseTensor:
    """The same elements in another shape; -1 stands for what is left, 0 for the size that is there.

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
        raise InvalidArgumentError(f"reshape: the shapes hold different numbers of elements. Got {list(shape)} for shape {sparse.shape}.")
    whole = _all_sparse("reshape", sparse)
    found = SparseCooTensor(places(keys(whole), sizes, whole.indices().dtype), whole.values(), sizes)
    return found.to_sparse_csr() if isinstance(sparse, SparseCsrTensor) else found


@places_at_once
def slice(x: SparseTensor, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: str | None = None) -> SparseTensor:
    """The elements between bounds along some axes.

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
    bounds = zip(axes_of(tuple(integers_of(axes, "slice", "axes")), sparse.ndim, "slice"), integers_of(starts, "slice", "starts"),
                 integers_of(ends, "slice", "ends"), strict=True)
    for axis, start, end in bounds:
        n = sparse.shape[axis]
        low, high = (min(max(at + n if at < 0 else at, 0), n) for at in (start, end))
        inside = ops.logical_and(parts[axis] >= low, parts[axis] < high)
        kept = inside if kept is None else ops.logical_and(kept, inside)
        parts[axis], sizes[axis] = parts[axis] - low, max(high - low, 0)
    at = _reshape(ops.nonzero(kept), [-1]) if kept is not None else arange(0, sparse.nnz(), dtype="int64")
    found = SparseCooTensor(ops.gather(stack(parts, 0), at, axis=1), ops.gather(whole.values(), at, axis=0), sizes)
    return found.to_sparse_csr() if isinstance(sparse, SparseCsrTensor) else found


@places_at_once
def sum(x: SparseTensor, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> SparseTensor:
    """The sum along axes, sparse again.

    Args:
        x: in COO or CSR form.
        axis: one axis or several, None for all; of CSR form the last one, or None.
        dtype: that of the result; None keeps it.
        keepdim: keep each axis with size 1. CSR form keeps them always.
        name: accepted for compatibility; unused.

    Raises:
        NotImplementedError: another axis of CSR form.

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
        raise UnimplementedError(f"sum: of CSR form along the last axis, or along all. Got axis={axis}. Use to_sparse_coo(2) for others.")
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
        raise UnimplementedError(f"{owner}: some axes are dense. Got values of shape {whole.values().shape}, expected [nnz].")
    return whole


