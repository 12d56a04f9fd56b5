"""`paddle.nn.quant`."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_nn.quant import *
from wherry_nn.quant import __all__ as __all__

_absent.explain(__name__)
