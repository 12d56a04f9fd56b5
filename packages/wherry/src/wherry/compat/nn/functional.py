"""`paddle.compat.nn.functional`: functions of layers with the arguments and layouts of PyTorch."""
from wherry import _absent
from wherry_nn.compat import linear, pad, softmax

__all__ = ["linear", "pad", "softmax"]

_absent.explain(__name__)
