"""`paddle.nn.functional`: what layers compute."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry.nn.functional import flash_attention as flash_attention
from wherry_nn.functional import *
from wherry_nn.functional import __all__ as __all__

_absent.explain(__name__)
