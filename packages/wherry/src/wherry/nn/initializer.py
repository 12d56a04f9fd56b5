"""`paddle.nn.initializer`: how parameters get their first values."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_nn.initializer import *
from wherry_nn.initializer import __all__ as __all__

_absent.explain(__name__)
