"""`paddle.geometric`: messages along the edges of graphs, reductions of segments, neighbourhoods."""
# ruff: noqa: F403  its own list says what
from wherry import _absent
from wherry_sparse.geometric import *
from wherry_sparse.geometric import __all__ as __all__

_absent.explain(__name__)
