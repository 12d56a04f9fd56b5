"""`paddle.vision.transforms`."""
# ruff: noqa: F403  its own list says what
from wherry_vision.transforms import *
from wherry_vision.transforms import __all__ as __all__
