"""`paddle.nn.layer`: layers by the path that Paddle has for them. Use `paddle.nn`."""
from wherry import _absent
from wherry_nn import *  # noqa: F403
from wherry_nn import __all__ as __all__

_absent.explain(__name__)
