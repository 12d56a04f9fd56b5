"""`paddle.static`: programs that are described first and run then."""
# ruff: noqa: F403, F405  wherry_graph lists its names
from wherry._absent import looked_up as _looked_up
from wherry.static import amp, nn
from wherry_graph.static import *
from wherry_graph.static import __all__ as _names

__all__ = ["amp", "nn"]
__all__ += _names

__getattr__ = _looked_up(__name__)
