"""`paddle.static.nn`: layers as functions that make their own parameters, choices and loops, sequences."""
from wherry import _absent
from wherry_graph.static.nn import *  # noqa: F403
from wherry_graph.static.nn import __all__ as __all__

_absent.explain(__name__)
