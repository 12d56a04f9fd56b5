"""`paddle.static.amp`: programs in mixed precision."""
from wherry import _absent
from wherry_graph.static.amp import *  # noqa: F403
from wherry_graph.static.amp import __all__ as __all__

_absent.explain(__name__)
