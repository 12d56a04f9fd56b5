"""`paddle.callbacks`."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_train.callbacks import *
from wherry_train.callbacks import __all__ as __all__

_absent.explain(__name__)
