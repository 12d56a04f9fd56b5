"""`paddle.vision.ops`."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_vision.ops import *
from wherry_vision.ops import __all__ as __all__

_absent.explain(__name__)
