"""`paddle.static.sparsity`, `paddle.incubate.asp` since Paddle 2.4: automatic sparsity, weights of which n of every m are zero."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_graph.static.sparsity import *
from wherry_graph.static.sparsity import __all__ as __all__

_absent.explain(__name__)
