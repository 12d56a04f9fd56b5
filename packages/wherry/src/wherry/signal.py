"""`paddle.signal`."""
from wherry import _absent
from wherry_tensor.functions.signal import *  # noqa: F403
from wherry_tensor.functions.signal import __all__ as __all__

_absent.explain(__name__)
