"""`paddle.nn.quant`."""
# ruff: noqa: F403  its own list says what
from wherry_nn.quant import *
from wherry_nn.quant import __all__ as __all__
