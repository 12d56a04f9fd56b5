"""`paddle.sparse.nn.functional`: functions of layers on sparse tensors."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_sparse.nn.functional import *
from wherry_sparse.nn.functional import __all__ as __all__

_absent.explain(__name__)
