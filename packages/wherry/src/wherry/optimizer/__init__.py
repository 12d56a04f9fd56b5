"""`paddle.optimizer`."""
# ruff: noqa: F403  its own list says what
from typing import TYPE_CHECKING

from wherry_train.optimizer import *

if not TYPE_CHECKING:  # checkers cannot follow a list that is computed
    from wherry_train.optimizer import __all__ as __all__
