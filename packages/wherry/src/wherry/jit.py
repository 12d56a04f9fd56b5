"""`paddle.jit`: functions and layers as programs."""
from wherry import _absent
from wherry_graph.jit import *  # noqa: F403
from wherry_graph.jit import __all__ as __all__

_absent.explain(__name__)
