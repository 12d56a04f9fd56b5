"""`paddle.vision.models`."""
# ruff: noqa: F403  its own list says what
from wherry_vision.models import *
from wherry_vision.models import __all__ as __all__
