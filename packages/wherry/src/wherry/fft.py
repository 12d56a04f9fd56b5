"""`paddle.fft`."""
from wherry import _absent
from wherry_tensor.functions.fft import *  # noqa: F403
from wherry_tensor.functions.fft import __all__ as __all__

_absent.explain(__name__)
