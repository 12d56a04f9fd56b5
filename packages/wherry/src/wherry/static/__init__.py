"""`paddle.static`: programs that are described first and run then."""
# ruff: noqa: F403, F405  wherry_graph lists its names
from typing import TYPE_CHECKING

from wherry import _absent
from wherry.static import amp, nn
from wherry_graph.static import *
from wherry_graph.static import __all__ as _names

if TYPE_CHECKING:
    from wherry.static import sparsity

__all__ = ["amp", "nn", "sparsity"]
__all__ += _names

_absent.explain(__name__, later=("sparsity",))
