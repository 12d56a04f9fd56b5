"""`paddle.device.cuda`."""
from wherry_tensor.cuda import *  # noqa: F403
from wherry_tensor.cuda import __all__ as __all__
