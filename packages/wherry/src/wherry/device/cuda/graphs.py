"""`paddle.device.cuda.graphs`."""
from wherry_tensor.cuda_graphs import *  # noqa: F403
from wherry_tensor.cuda_graphs import __all__ as __all__
