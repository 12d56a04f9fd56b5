"""`paddle.sparse.nn`: layers of sparse tensors."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry.sparse.nn import functional as functional
from wherry_sparse.nn import *
from wherry_sparse.nn import __all__ as __all__

_absent.explain(__name__)
