"""`paddle.linalg`."""
from wherry_tensor.functions.linalg import *  # noqa: F403
from wherry_tensor.functions.linalg import __all__ as __all__
