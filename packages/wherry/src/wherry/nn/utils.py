"""`paddle.nn.utils`."""
# ruff: noqa: F403  its own list says what
from wherry_nn.utils import *
from wherry_nn.utils import __all__ as __all__
