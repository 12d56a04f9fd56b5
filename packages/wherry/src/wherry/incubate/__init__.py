"""`paddle.incubate`: functions whose interface may still change."""
# ruff: noqa: F403  lists of their own say what
from wherry import _absent
from wherry.incubate import autograd
from wherry_sparse.incubate import *
from wherry_sparse.incubate import __all__ as _graphs

__all__ = ["autograd", *_graphs]

_absent.explain(__name__)
