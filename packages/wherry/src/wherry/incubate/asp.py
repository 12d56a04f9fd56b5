"""`paddle.incubate.asp`: automatic n:m sparsity of weights."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_graph.static.sparsity import *
from wherry_graph.static.sparsity import __all__ as __all__

_absent.explain(__name__)
