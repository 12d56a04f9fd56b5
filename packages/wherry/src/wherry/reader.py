"""`paddle.reader`: functions that give samples, from before data sets."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_train.reader import *
from wherry_train.reader import __all__ as _all

__all__ = [name for name in _all if name != "batch"]  # which is paddle.batch

_absent.explain(__name__)
