"""`paddle.nn.functional`: what layers compute."""
# ruff: noqa: F403  its own list says what
from typing import TYPE_CHECKING

from wherry_nn.functional import *

if not TYPE_CHECKING:  # checkers cannot follow a list that is computed
    from wherry_nn.functional import __all__ as __all__
