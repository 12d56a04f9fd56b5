"""`paddle.vision.transforms.functional`."""
# ruff: noqa: F403  its own list says what
from wherry_vision.transforms.functional import *
from wherry_vision.transforms.functional import __all__ as __all__
