"""`paddle.optimizer.lr`: learning rates that change."""
# ruff: noqa: F403  its own list says what
from wherry._absent import looked_up as _looked_up
from wherry_train.optimizer.lr import *
from wherry_train.optimizer.lr import __all__ as __all__

__getattr__ = _looked_up(__name__)
