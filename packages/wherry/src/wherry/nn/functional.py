"""`paddle.nn.functional`: what layers compute."""
# ruff: noqa: F403  its own list says what
from wherry._absent import looked_up as _looked_up
from wherry_nn.functional import *
from wherry_nn.functional import __all__ as __all__

__getattr__ = _looked_up(__name__)
