"""Methods of Tensor that a package brings which loads when it is first used: these load it, and it puts its own in their place."""
from __future__ import annotations

from typing import TYPE_CHECKING

from wherry_tensor._core import Tensor, add_methods

if TYPE_CHECKING:
    from wherry_sparse.tensors import SparseCooTensor, SparseCsrTensor


def to_sparse_coo(self: Tensor, sparse_dim: int) -> SparseCooTensor:
    """The elements that are not 0, with their places along the first `sparse_dim` axes. Source: `paddle.Tensor.to_sparse_coo`."""
    from wherry_sparse.tensors import tensor_to_sparse_coo

    return tensor_to_sparse_coo(self, sparse_dim)


def to_sparse_csr(self: Tensor) -> SparseCsrTensor:
    """The elements of a matrix, or of a batch of matrices, that are not 0, row by row. Source: `paddle.Tensor.to_sparse_csr`."""
    from wherry_sparse.tensors import tensor_to_sparse_csr

    return tensor_to_sparse_csr(self)


def install() -> None:
    """Give Tensor these methods."""
    add_methods({"to_sparse_coo": to_sparse_coo, "to_sparse_csr": to_sparse_csr})
