"""Sparse tensors: elements with their indices (COO), or row by row (CSR).

`values()` is a dense tensor with gradients like any other; indices are integers. Functions of sparse tensors are composed of functions of
these two, so that they have gradients.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wherry_sparse.eager_indices import eager_indices
from wherry_tensor import ops
from wherry_tensor._core import DType, Tensor, add_methods, int32, int64, is_symbolic
from wherry_tensor.arguments import integer, integers_of, to_dtype
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import arange, to_tensor
from wherry_tensor.functions.movement import repeat_interleave, reshape, stack

__all__ = ["SparseCooTensor", "SparseCsrTensor", "SparseTensor", "sparse_coo_tensor", "sparse_csr_tensor"]


class SparseTensor:
    """Base of both forms."""

    def __init__(self, values: Tensor, shape: Sequence[int]) -> None:
        self._values, self._shape = values, [int(n) for n in shape]

    @property
    def shape(self) -> list[int]:
        """Sizes of all axes."""
        return list(self._shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements, stored or not."""
        return math.prod(self._shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def place(self) -> Any:
        """The place of the values."""
        return self._values.place

    @property
    def stop_gradient(self) -> bool:
        """Whether gradients stop here, as of the values."""
        return self._values.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        self._values.stop_gradient = stop

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient of the values as a sparse tensor; None without one."""
        return None if self._values.grad is None else self._with(self._values.grad)

    def values(self) -> Tensor:
        """The elements that are stored."""
        return self._values

    def nnz(self) -> int:
        """The number of stored elements."""
        return int(self._values.shape[0])

    def dim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    def is_dense(self) -> bool:
        """False."""
        return False

    def is_sparse(self) -> bool:
        """True."""
        return True

    def is_sparse_coo(self) -> bool:
        """Whether the form is COO."""
        return isinstance(self, SparseCooTensor)

    def is_sparse_csr(self) -> bool:
        """Whether the form is CSR."""
        return isinstance(self, SparseCsrTensor)

    def numpy(self) -> Any:
        """All elements as a dense array."""
        return self.to_dense().numpy()

    def tolist(self) -> Any:
        """All elements as nested lists."""
        return self.to_dense().tolist()

    def backward(self, grad_tensor: SparseTensor | None = None, retain_graph: bool = False) -> None:
        """Gradients of the values, as `Tensor.backward`."""
        self._values.backward(None if grad_tensor is None else grad_tensor.values(), retain_graph=retain_graph)

    def clear_grad(self) -> None:
        """Clear the gradient."""
        self._values.clear_grad()

    def detach(self) -> SparseTensor:
        """The same elements, without gradients."""
        return self._with(self._values.detach())

    def astype(self, dtype: Any) -> SparseTensor:
        """The values in another dtype."""
        return self._with(to_dtype(self._values, as_dtype(dtype, "astype")))

    cast = astype

    if TYPE_CHECKING:  # operators.py gives the class these

        def __matmul__(self, other: Any) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...

    def __neg__(self) -> SparseTensor:
        return self._with(-self._values)

    def to_dense(self) -> Tensor:
        """A dense Tensor; elements that are not stored are 0."""
        raise NotImplementedError

    def _with(self, values: Tensor) -> SparseTensor:
        raise NotImplementedError


class SparseCooTensor(SparseTensor):
    """COO form: `indices()` is `[sparse axes, nnz]`, `values()` `[nnz, ...]` with the dense axes."""

    def __init__(self, indices: Tensor, values: Tensor, shape: Sequence[int], coalesced: bool = False) -> None:
        super().__init__(values, shape)
        self._indices, self._coalesced = indices, coalesced

    def indices(self) -> Tensor:
        """Indices of the elements, `[sparse axes, nnz]`."""
        return self._indices

    def crows(self) -> Tensor:
        """Raises RuntimeError: CSR form has them."""
        raise RuntimeError("crows: not available in COO form. Got a call, expected CSR form. Use to_sparse_csr() first.")

    def cols(self) -> Tensor:
        """Raises RuntimeError: CSR form has them."""
        raise RuntimeError("cols: not available in COO form. Got a call, expected CSR form. Use to_sparse_csr() first.")

    @eager_indices
    def to_dense(self) -> Tensor:
        """A dense Tensor; elements that are not stored are 0."""
        flat = ops.edge_sum(self._values, None, keys(self), count=math.prod(self._sparse_shape), mean=False, sorted=False)
        return reshape(flat, self._shape)

    @eager_indices
    def coalesce(self, name: str | None = None) -> SparseCooTensor:
        """Sorted indices, each once: elements with the same indices are added."""
        if self._coalesced:
            return self
        return from_keys(keys(self), self._values, self._shape, len(self._sparse_shape), self._indices.dtype)

    @eager_indices
    def to_sparse_coo(self, sparse_dim: int) -> SparseCooTensor:
        """This tensor."""
        return self

    @eager_indices
    def to_sparse_csr(self) -> SparseCsrTensor:
        """CSR form, for two or three axes."""
        if self.ndim not in (2, 3) or self._values.ndim != 1:
            raise InvalidArgumentError(
                f"to_sparse_csr: x is not a matrix or a batch of them. Got shape {self._shape}, expected two or three axes, all sparse. Reshape it."
            )
        whole = self.coalesce()
        batches, rows = math.prod(self._shape[:-2]), self._shape[-2]
        *outer, row, cols = (whole._indices[i] for i in range(self.ndim))
        row = row + outer[0] * rows if outer else row
        ones = ops.full_like(row, value=1, dtype=int64)
        counts = ops.edge_sum(ones, None, row, count=batches * rows, mean=False, sorted=True)
        ends = ops.cumsum(reshape(counts, [batches, rows]), axis=1, reverse=False)
        crows = ops.pad(ends, paddings=(0, 0, 1, 0), value=0.0)
        return SparseCsrTensor(to_dtype(reshape(crows, [-1]), whole._indices.dtype), cols, whole._values, self._shape)

    def tensor_parts(self) -> list[Tensor]:
        """The tensors that it consists of: programs take and return these."""
        return [self._indices, self._values]

    def beside_tensor_parts(self) -> tuple[Any, ...]:
        """What it consists of besides tensors."""
        return tuple(self._shape), self._coalesced

    def with_tensor_parts(self, parts: list[Any]) -> SparseCooTensor:
        """One of the same shape with other parts."""
        indices, values = parts
        return SparseCooTensor(indices, values, self._shape, self._coalesced)

    @property
    def _sparse_shape(self) -> list[int]:
        return self._shape[: self._indices.shape[0]]

    def _with(self, values: Tensor) -> SparseCooTensor:
        return SparseCooTensor(self._indices, values, self._shape[: self._indices.shape[0]] + values.shape[1:], self._coalesced)

    def __repr__(self) -> str:
        return (
            f"Tensor(shape={self._shape}, dtype={self.dtype.name}, stop_gradient={self.stop_gradient},\n  indices={self._indices.tolist()},\n  "
            f"values={self._values.tolist()})"
        )


class SparseCsrTensor(SparseTensor):
    """CSR form: row r has the elements from crows()[r] to crows()[r + 1]. With three axes, each matrix has its own crows."""

    def __init__(self, crows: Tensor, cols: Tensor, values: Tensor, shape: Sequence[int]) -> None:
        super().__init__(values, shape)
        self._crows, self._cols = crows, cols

    def crows(self) -> Tensor:
        """Where each row begins, and the last one ends."""
        return self._crows

    def cols(self) -> Tensor:
        """The column of each element."""
        return self._cols

    def indices(self) -> Tensor:
        """Raises RuntimeError: COO form has them."""
        raise RuntimeError("indices: not available in CSR form. Got a call, expected COO form. Use to_sparse_coo(2) first.")

    @eager_indices
    def to_dense(self) -> Tensor:
        """A dense Tensor; elements that are not stored are 0."""
        return self.to_sparse_coo(2).to_dense()

    @eager_indices
    def to_sparse_csr(self) -> SparseCsrTensor:
        """This tensor."""
        return self

    @eager_indices
    def to_sparse_coo(self, sparse_dim: int = 2) -> SparseCooTensor:
        """COO form."""
        row = rows_of(self)
        if self.ndim == 2:
            parts = [row, to_dtype(self._cols, int64)]
        else:
            parts = [row // self._shape[-2], row % self._shape[-2], to_dtype(self._cols, int64)]
        return SparseCooTensor(to_dtype(stack(parts, 0), self._crows.dtype), self._values, self._shape)

    def tensor_parts(self) -> list[Tensor]:
        """The tensors that it consists of: programs take and return these."""
        return [self._crows, self._cols, self._values]

    def beside_tensor_parts(self) -> tuple[Any, ...]:
        """What it consists of besides tensors."""
        return tuple(self._shape)

    def with_tensor_parts(self, parts: list[Any]) -> SparseCsrTensor:
        """One of the same shape with other parts."""
        crows, cols, values = parts
        return SparseCsrTensor(crows, cols, values, self._shape)

    def _with(self, values: Tensor) -> SparseCsrTensor:
        return SparseCsrTensor(self._crows, self._cols, values, self._shape)

    def __repr__(self) -> str:
        return (
            f"Tensor(shape={self._shape}, dtype={self.dtype.name}, stop_gradient={self.stop_gradient},\n  crows={self._crows.tolist()},\n  "
            f"cols={self._cols.tolist()},\n  values={self._values.tolist()})"
        )


# Flat indices.


def keys(x: SparseCooTensor) -> Tensor:
    """The flat (row-major) index of each element."""
    key = None
    for axis, n in enumerate(x._sparse_shape):
        part = to_dtype(x._indices[axis], int64)
        key = part if key is None else key * n + part
    if key is None:
        raise InvalidArgumentError("sparse: there is no sparse axis. Got indices of shape [0, n], expected at least one row. Use a dense tensor.")
    return key


def unraveled(key: Tensor, shape: Sequence[int], dtype: DType) -> Tensor:
    """Indices `[axes, nnz]` of flat indices."""
    parts = []
    for n in reversed(shape):
        parts.append(key % max(n, 1))
        key = key // max(n, 1)
    return to_dtype(stack(parts[::-1], 0), dtype)


def from_keys(key: Tensor, values: Tensor, shape: Sequence[int], sparse_rank: int, dtype: DType) -> SparseCooTensor:
    """The coalesced tensor of elements with these flat indices."""
    single, _, inverse, _ = ops.unique(key, axis=None)
    merged = ops.edge_sum(values, None, inverse, count=single.shape[0], mean=False, sorted=False)
    return SparseCooTensor(unraveled(single, shape[:sparse_rank], dtype), merged, shape, coalesced=True)


def rows_of(x: SparseCsrTensor) -> Tensor:
    """The row of each element, counted through all matrices of a batch."""
    crows = reshape(to_dtype(x._crows, int64), [-1, x._shape[-2] + 1])
    n = crows.shape[1]
    whole = {"axes": (1,), "steps": (1,)}
    counts = ops.slice(crows, starts=(1,), ends=(n,), **whole) - ops.slice(crows, starts=(0,), ends=(n - 1,), **whole)
    counts = reshape(counts, [-1])
    if is_symbolic(counts):  # repeat_interleave needs to know the counts; searchsorted does not
        ends = ops.cumsum(counts, axis=0, reverse=False)
        ones = ops.full_like(x._cols, value=1, dtype=int64)
        return ops.searchsorted(ends, ops.cumsum(ones, axis=0, reverse=False) - 1, right=True)
    return repeat_interleave(arange(0, counts.shape[0], dtype="int64"), counts)


# Creation.


@eager_indices
def sparse_coo_tensor(
    indices: Any, values: Any, shape: Any = None, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> SparseCooTensor:
    """Sparse tensor in COO form, from indices and values.

    Args:
        indices: `[axes, nnz]`, int32 or int64.
        values: `[nnz]`, or `[nnz, ...]` for elements that are tensors.
        shape: sizes of all axes; None takes the smallest that hold all indices.
        dtype: that of the values; None keeps it.
        place: where to put it.
        stop_gradient: whether gradients stop here, where the values are not a Tensor.

    Shape:
        `shape`, of which the axes after the first `axes` ones are dense.

    Raises:
        TypeError: `indices` are not int32 or int64 (also a ValueError), or `dtype` is not a dtype.
        ValueError: the numbers of indices and values differ, or an index is out of range.

    Source:
        `paddle.sparse.sparse_coo_tensor`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0])
        >>> print(x.to_dense().tolist())
        [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """
    index, value = _index("sparse_coo_tensor", indices, "indices"), _values(values, dtype, place, stop_gradient)
    if index.ndim != 2 or value.ndim == 0 or index.shape[1] != value.shape[0]:
        raise InvalidArgumentError(
            f"sparse_coo_tensor: indices and values do not fit. Got shapes {index.shape} and {value.shape}, expected [axes, nnz] and "
            f"[nnz, ...]. Transpose the indices."
        )
    if is_symbolic(index):
        return _of_program(index, value, shape)
    least = ([int(n) + 1 for n in index.max(1).tolist()] if index.shape[1] else [0] * index.shape[0]) + value.shape[1:]
    sizes = least if shape is None else list(integers_of(shape, "sparse_coo_tensor", "shape"))
    if len(sizes) != len(least) or any(a < b for a, b in zip(sizes, least, strict=True)) or (index.size and int(index.min().item()) < 0):
        raise InvalidArgumentError(
            f"sparse_coo_tensor: an index is out of range. Got shape {sizes}, expected at least {least}, and no negative index. Enlarge the shape."
        )
    return SparseCooTensor(index, value, sizes)


def _of_program(index: Tensor, value: Tensor, shape: Any) -> SparseCooTensor:
    """A tensor whose indices a program computes, so that its shape must be given."""
    if shape is None or isinstance(shape, Tensor):
        raise InvalidArgumentError(
            f"sparse_coo_tensor: the indices are computed by a program, so the shape cannot follow from them. Got shape={short(shape)}, expected the "
            f"sizes of all axes. Pass shape=[...]."
        )
    return SparseCooTensor(index, value, [int(n) for n in shape])


@eager_indices
def sparse_csr_tensor(
    crows: Any, cols: Any, values: Any, shape: Sequence[int], dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> SparseCsrTensor:
    """Sparse matrix, or batch of matrices, in CSR form.

    Args:
        crows: the position where each row begins, and the end of the last one, `[rows + 1]`; for a batch one after another.
        cols: the column of each element.
        values: the elements.
        shape: `[rows, columns]`, or `[batch, rows, columns]`.
        dtype: that of the values; None keeps it.
        place: where to put it.
        stop_gradient: whether gradients stop here, where the values are not a Tensor.

    Shape:
        `[rows, columns]`, or `[batch, rows, columns]`.

    Raises:
        TypeError: `crows` or `cols` is not int32 or int64 (also a ValueError), or `dtype` is not a dtype.
        ValueError: the parts do not fit.

    Source:
        `paddle.sparse.sparse_csr_tensor`.

    Examples:
        >>> x = wherry.sparse.sparse_csr_tensor([0, 1, 2], [2, 0], [1.0, 2.0], [2, 3])
        >>> print(x.to_dense().tolist())
        [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]
    """
    rows, columns = _index("sparse_csr_tensor", crows, "crows"), _index("sparse_csr_tensor", cols, "cols")
    value, sizes = _values(values, dtype, place, stop_gradient), list(integers_of(shape, "sparse_csr_tensor", "shape"))
    wanted = math.prod(sizes[:-2]) * (sizes[-2] + 1) if len(sizes) in (2, 3) else -1
    if rows.shape != [wanted] or columns.shape != value.shape or value.ndim != 1:
        raise InvalidArgumentError(
            f"sparse_csr_tensor: the parts do not fit. Got crows of shape {rows.shape}, cols of shape {columns.shape} and values of shape "
            f"{value.shape} for shape {sizes}, expected [{max(wanted, 0)}], [nnz] and [nnz]. Check the shape."
        )
    return SparseCsrTensor(rows, columns, value, sizes)


def _index(owner: str, index: Any, name: str) -> Tensor:
    index = index if isinstance(index, Tensor) else to_tensor(index)
    if index.dtype not in (int32, int64):
        if index.size:
            raise InvalidTypeError(f"{owner}: {name} is not an integer tensor. Got dtype {index.dtype.name}, expected int32 or int64. Cast it first.")
        index = to_dtype(index, int64)
    return index


def _values(values: Any, dtype: Any, place: Any, stop_gradient: bool) -> Tensor:
    if isinstance(values, Tensor):
        return values if dtype is None else to_dtype(values, as_dtype(dtype, "sparse"))
    return to_tensor(values, dtype=dtype, place=place, stop_gradient=stop_gradient)


def tensor_to_sparse_coo(self: Tensor, sparse_dim: int) -> SparseCooTensor:
    """COO form: the elements that are not 0, with their indices along the first `sparse_dim` axes.

    Args:
        sparse_dim: the number of sparse axes; further axes are dense.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `sparse_dim` is not an int (also a ValueError).
        ValueError: `sparse_dim` is not between 1 and the rank.

    Source:
        `paddle.Tensor.to_sparse_coo`.

    Examples:
        >>> x = wherry.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_coo(2)
        >>> x.indices().tolist(), x.values().tolist()
        ([[0], [1]], [2.0])
    """
    rank = integer(sparse_dim, "to_sparse_coo", "sparse_dim")
    if not 1 <= rank <= self.ndim:
        raise InvalidArgumentError(
            f"to_sparse_coo: sparse_dim is out of range. Got {rank} for shape {self.shape}, expected 1 to {self.ndim}. It counts the "
            f"sparse axes."
        )
    rows = reshape(self, [math.prod(self.shape[:rank]), *self.shape[rank:]])
    found = self != 0
    found = reshape(found, [rows.shape[0], math.prod(self.shape[rank:])])
    key = reshape(ops.nonzero(ops.reduce_any(found, axes=(1,), keepdim=False)), [-1])
    return SparseCooTensor(unraveled(key, self.shape[:rank], int64), ops.gather(rows, key, axis=0), self.shape, coalesced=True)


def tensor_to_sparse_csr(self: Tensor) -> SparseCsrTensor:
    """CSR form: the elements of a matrix, or of a batch of matrices, that are not 0, row by row.

    Shape:
        `[rows, columns]` or `[batch, rows, columns]` to the same.

    Raises:
        ValueError: the rank is not 2 or 3.

    Source:
        `paddle.Tensor.to_sparse_csr`.

    Examples:
        >>> x = wherry.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_csr()
        >>> x.crows().tolist(), x.cols().tolist(), x.values().tolist()
        ([0, 1, 1], [1], [2.0])
    """
    return tensor_to_sparse_coo(self, self.ndim).to_sparse_csr()


add_methods({"to_sparse_coo": tensor_to_sparse_coo, "to_sparse_csr": tensor_to_sparse_csr})


def require_sparse(x: Any, owner: str, name: str = "x") -> SparseTensor:
    """`x`, checked to be sparse."""
    if isinstance(x, SparseTensor):
        return x
    raise UnimplementedError(
        f"{owner}: '{name}' is not sparse. Got {short(x)}, expected a tensor in COO or CSR form. Use to_sparse_coo, or wherry.{owner} for "
        f"dense tensors."
    )


explained(globals())
