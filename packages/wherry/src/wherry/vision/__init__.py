"""`paddle.vision`."""
# ruff: noqa: F403  its own list says what
from wherry_vision import *
from wherry_vision import __all__ as __all__
