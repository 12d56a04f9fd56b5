"""`paddle.device.cuda`."""
from wherry import _absent
from wherry_tensor.cuda import *  # noqa: F403
from wherry_tensor.cuda import __all__ as __all__

_absent.explain(__name__)
