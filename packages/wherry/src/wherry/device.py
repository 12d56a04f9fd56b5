"""`paddle.device`: which devices there are, and the current one."""
from wherry_tensor.device import *  # noqa: F403
from wherry_tensor.device import __all__ as __all__
