"""`paddle.optimizer`."""
# ruff: noqa: F403  its own list says what
from wherry_train.optimizer import *
from wherry_train.optimizer import __all__ as __all__
