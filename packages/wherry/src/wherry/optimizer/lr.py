"""`paddle.optimizer.lr`: learning rates that change."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_train.optimizer.lr import *
from wherry_train.optimizer.lr import __all__ as __all__

_absent.explain(__name__)
