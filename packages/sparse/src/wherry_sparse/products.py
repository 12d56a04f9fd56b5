"""Matrix products with sparse factors."""
from __future__ import annotations

from typing import Any

from wherry_sparse.eager_indices import eager_indices
from wherry_sparse.tensors import SparseCsrTensor, SparseTensor, from_keys, require_sparse, rows_of
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64, is_symbolic
from wherry_tensor.arguments import require_tensor, to_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import arange
from wherry_tensor.functions.factorization import pca_lowrank as _pca_lowrank
from wherry_tensor.functions.movement import repeat_interleave, reshape, stack, transpose

__all__ = ["addmm", "mask_as", "masked_matmul", "matmul", "mv", "pca_lowrank"]


@eager_indices
def matmul(x: Any, y: Any, name: str | None = None) -> Any:
    """Matrix product of which at least one factor is sparse.

    Args:
        x: `[m, k]`, or `[batch, m, k]` in CSR form beside a dense batch.
        y: `[k, n]`, sparse or dense.

    Returns:
        A dense Tensor; of two sparse matrices a sparse one in the form of `x`.

    Shape:
        `[m, k]` and `[k, n]` to `[m, n]`; with a batch in front of each.

    Raises:
        NotImplementedError: neither is sparse.
        TypeError: the dtypes differ, or an argument is not a tensor (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.sparse.matmul`.

    Examples:
        >>> x = wherry.sparse.sparse_csr_tensor([0, 1, 2], [2, 0], [1.0, 2.0], [2, 3])
        >>> print(wherry.sparse.matmul(x, wherry.ones([3, 2])).tolist())
        [[1.0, 1.0], [2.0, 2.0]]
    """
    if not isinstance(x, SparseTensor):
        right = require_sparse(y, "matmul", "y")
        left = require_tensor(x, "matmul")
        _require_fit("matmul", list(left.shape), right.shape)
        turned = right.to_sparse_coo(2)  # type: ignore[attr-defined]
        other = type(turned)(stack([turned.indices()[1], turned.indices()[0]], 0), turned.values(), turned.shape[::-1])
        return transpose(_times(other.to_sparse_csr(), transpose(left, [1, 0])), [1, 0])
    if not isinstance(y, SparseTensor):
        require_tensor(y, "matmul", "y")
    _require_fit("matmul", x.shape, list(y.shape))
    if isinstance(y, SparseTensor):
        found = _sparse_times_sparse(_csr(x), _csr(y))
        return found.to_sparse_csr() if isinstance(x, SparseCsrTensor) else found
    return _times(_csr(x), y)


@eager_indices
def mv(x: SparseTensor, vec: Tensor, name: str | None = None) -> Tensor:
    """Product of a sparse matrix and a dense vector.

    Args:
        x: `[m, n]`, in COO or CSR form.
        vec: `[n]`.

    Shape:
        `[m, n]` and `[n]` to `[m]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `vec` is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.sparse.mv`.

    Examples:
        >>> x = wherry.sparse.sparse_csr_tensor([0, 1, 2], [2, 0], [1.0, 2.0], [2, 3])
        >>> print(wherry.sparse.mv(x, wherry.to_tensor([1.0, 2.0, 3.0])).tolist())
        [3.0, 2.0]
    """
    sparse, vector = require_sparse(x, "mv"), require_tensor(vec, "mv", "vec")
    if vector.ndim != 1 or sparse.ndim != 2 or sparse.shape[1] != vector.shape[0]:
        raise InvalidArgumentError(
            f"mv: the shapes do not fit. Got {sparse.shape} and {vector.shape}, expected [m, n] and [n]. Use matmul for matrices."
        )
    return reshape(_times(_csr(sparse), reshape(vector, [-1, 1])), [-1])


def addmm(input: Tensor, x: SparseTensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Any:
    """Matrix product with a sum: `beta * input + alpha * x @ y`.

    Args:
        input: dense; broadcasts with the product.
        x: `[m, k]`, in COO or CSR form.
        y: `[k, n]`, dense.
        beta: the factor of `input`.
        alpha: the factor of the product.

    Shape:
        `[m, k]` and `[k, n]` to `[m, n]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `input` or `y` is not a dense Tensor (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.sparse.addmm`.

    Examples:
        >>> x = wherry.sparse.sparse_csr_tensor([0, 1, 2], [2, 0], [1.0, 2.0], [2, 3])
        >>> print(wherry.sparse.addmm(wherry.ones([2, 1]), x, wherry.ones([3, 1]), 10.0).tolist())
        [[11.0], [12.0]]
    """
    return require_tensor(input, "addmm", "input") * beta + matmul(x, y) * alpha


@eager_indices
def mask_as(x: Tensor, mask: SparseTensor, name: str | None = None) -> Any:
    """The elements of a dense tensor at the places that a sparse one stores.

    Args:
        x: dense.
        mask: sparse, of the shape of `x`; its values are not used.

    Returns:
        A sparse tensor in the form of `mask`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).
        NotImplementedError: `mask` is not sparse.
        ValueError: the shapes differ.

    Source:
        `paddle.sparse.mask_as`.

    Examples:
        >>> mask = wherry.eye(2).to_sparse_coo(2)
        >>> wherry.sparse.mask_as(wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]]), mask).values().tolist()
        [1.0, 4.0]
    """
    dense, sparse = require_tensor(x, "mask_as"), require_sparse(mask, "mask_as", "mask")
    if list(dense.shape) != list(sparse.shape):
        raise InvalidArgumentError(f"mask_as: the mask has another shape. Got {sparse.shape}, expected {dense.shape}. Reshape it.")
    in_coo: Any = sparse.to_sparse_coo(len(sparse.shape)) if isinstance(sparse, SparseCsrTensor) else sparse
    places = in_coo.indices()
    return sparse._with(dense[tuple(places.unbind(0))])


def masked_matmul(x: Tensor, y: Tensor, mask: SparseTensor, name: str | None = None) -> Any:
    """Product of two dense matrices, computed only where `mask` stores elements.

    Args:
        x: `[m, k]`.
        y: `[k, n]`.
        mask: sparse `[m, n]`; its values are not used.

    Returns:
        A sparse tensor in the form of `mask`.

    Shape:
        `[m, k]` and `[k, n]` to `[m, n]`.

    Raises:
        NotImplementedError: `mask` is not sparse.
        TypeError: `x` or `y` is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.sparse.masked_matmul`.

    Examples:
        >>> mask = wherry.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 1.0], [2, 2])
        >>> print(wherry.sparse.masked_matmul(wherry.ones([2, 3]), wherry.ones([3, 2]), mask).to_dense().tolist())
        [[0.0, 3.0], [3.0, 0.0]]
    """
    left, right, sparse = require_tensor(x, "masked_matmul"), require_tensor(y, "masked_matmul", "y"), require_sparse(mask, "masked_matmul", "mask")
    _require_fit("masked_matmul", list(left.shape), list(right.shape))
    if sparse.shape != [left.shape[0], right.shape[1]]:
        raise InvalidArgumentError(
            f"masked_matmul: the mask has another shape. Got {sparse.shape}, expected {[left.shape[0], right.shape[1]]}. Reshape it."
        )
    csr = _csr(sparse)
    found = csr._with(ops.csr_sample(left, transpose(right, [1, 0]), csr.crows(), csr.cols()))
    return found if isinstance(sparse, SparseCsrTensor) else found.to_sparse_coo(2)


def pca_lowrank(x: SparseTensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Principal component analysis of a sparse matrix, as `wherry.linalg.pca_lowrank` of the dense one.

    Args:
        x: `[m, n]`, in COO or CSR form.
        q: the number of components, from 0 to the smaller size; None is `min(6, m, n)`.
        center: subtract the mean of each column first.
        niter: not negative; no effect: the decomposition is exact.

    Returns:
        (U, S, V).

    Shape:
        `[m, n]` to `[m, q]`, `[q]` and `[n, q]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        ValueError: `x` is not a matrix, `q` is out of range, or `niter` is negative.

    Source:
        `paddle.sparse.pca_lowrank`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0])
        >>> u, s, v = wherry.sparse.pca_lowrank(x, 1)
        >>> u.shape, s.shape, v.shape
        ([2, 1], [1], [3, 1])
    """
    return _pca_lowrank(require_sparse(x, "pca_lowrank").to_dense(), q, center, niter)


def _csr(x: SparseTensor) -> SparseCsrTensor:
    return x.to_sparse_csr()  # type: ignore[attr-defined,no-any-return]


def _require_fit(owner: str, left: list[int], right: list[int]) -> None:
    if len(left) != len(right) or len(left) not in (2, 3) or left[-1] != right[-2] or left[:-2] != right[:-2]:
        raise InvalidArgumentError(f"{owner}: the shapes do not fit. Got {left} and {right}, expected [m, k] and [k, n]. Transpose one of them.")


def blocks(x: SparseTensor) -> SparseCsrTensor:
    """A batch of matrices as one block diagonal matrix."""
    csr = _csr(x)
    if csr.ndim == 2:
        return csr
    batch, rows, columns = csr.shape
    row = rows_of(csr)
    cols = to_dtype(csr.cols(), int64) + row // rows * columns
    counts = ops.edge_sum(ops.full_like(row, value=1, dtype=int64), None, row, count=batch * rows, mean=False, sorted=True)
    crows = ops.pad(ops.cumsum(counts, axis=0, reverse=False), paddings=(1, 0), value=0.0)
    return SparseCsrTensor(crows, cols, csr.values(), [batch * rows, batch * columns])


def _times(x: SparseCsrTensor, y: Tensor) -> Tensor:
    whole = blocks(x)
    out = ops.csr_matmul(whole.values(), whole.crows(), whole.cols(), reshape(y, [-1, y.shape[-1]]))
    return reshape(out, [*x.shape[:-1], y.shape[-1]])


def _sparse_times_sparse(a: SparseCsrTensor, b: SparseCsrTensor) -> Any:
    """Product of two sparse matrices: each element of `a` multiplies a row of `b`."""
    if any(map(is_symbolic, (a.crows(), a.cols(), b.crows(), b.cols()))):
        raise UnimplementedError(
            "matmul: the number of elements of the product depends on indices that the program computes. Got them "
            "from its inputs, expected matrices that are given when it is captured. Use y.to_dense(), or build both outside of the function."
        )
    inner = to_dtype(a.cols(), int64)
    begins = to_dtype(b.crows(), int64)
    counts = ops.gather(begins, inner + 1, axis=0) - ops.gather(begins, inner, axis=0)
    source = repeat_interleave(arange(0, a.nnz(), dtype="int64"), counts)
    before = ops.cumsum(counts, axis=0, reverse=False) - counts
    place = ops.gather(ops.gather(begins, inner, axis=0) - before, source, axis=0) + arange(0, source.shape[0], dtype="int64")
    values = ops.gather(a.values(), source, axis=0) * ops.gather(b.values(), place, axis=0)
    key = ops.gather(rows_of(a), source, axis=0) * b.shape[1] + ops.gather(to_dtype(b.cols(), int64), place, axis=0)
    return from_keys(key, values, [a.shape[0], b.shape[1]], 2, a.cols().dtype)


explained(globals())
