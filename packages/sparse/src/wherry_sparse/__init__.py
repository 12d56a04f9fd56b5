"""Sparse tensors and graphs: `paddle.sparse`, `paddle.geometric` and the graph functions of `paddle.incubate`."""
import wherry_autograd  # noqa: F401  so that gradients are recorded
from wherry_sparse import geometric, incubate, operators, sparse  # noqa: F401  operators: sparse tensors have them from now on

__all__ = ["geometric", "incubate", "sparse"]

__version__ = "0.7.0"
