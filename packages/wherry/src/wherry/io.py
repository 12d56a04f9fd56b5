"""`paddle.io`: data sets and how they are read."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_train.io import *
from wherry_train.io import __all__ as __all__

_absent.explain(__name__)
