"""`paddle.compat`: functions and layers with PyTorch's results, where a name means something else there."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry.compat import nn as nn
from wherry_tensor.compat import *
from wherry_tensor.compat import __all__ as __all__

_absent.explain(__name__)
