"""`paddle.sparse`: tensors of which only some elements are stored."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry.sparse import nn as nn
from wherry_sparse.sparse import *
from wherry_sparse.sparse import __all__ as __all__

_absent.explain(__name__)
