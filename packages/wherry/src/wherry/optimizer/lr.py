"""`paddle.optimizer.lr`: learning rates that change."""
# ruff: noqa: F403  its own list says what
from wherry_train.optimizer.lr import *
from wherry_train.optimizer.lr import __all__ as __all__
