"""`paddle.sparse`: sparse tensors in COO and CSR form."""
# ruff: noqa: F403  each module lists its names
from wherry_sparse import nn
from wherry_sparse.functions import *
from wherry_sparse.functions import __all__ as _functions
from wherry_sparse.products import *
from wherry_sparse.products import __all__ as _products
from wherry_sparse.tensors import sparse_coo_tensor, sparse_csr_tensor

__all__ = ["nn", "sparse_coo_tensor", "sparse_csr_tensor", *_functions, *_products]
