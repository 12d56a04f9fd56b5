"""`paddle.linalg`."""
from wherry_tensor.linalg import *  # noqa: F403
from wherry_tensor.linalg import __all__ as __all__
