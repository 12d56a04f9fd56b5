"""`paddle.nn.functional`: what layers compute."""
# ruff: noqa: F403  its own list says what
from wherry_nn.functional import *
from wherry_nn.functional import __all__ as __all__
