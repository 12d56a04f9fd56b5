"""`paddle.special`: functions by the path that PyTorch has for them."""
from wherry import _absent
from wherry_nn.compat import softmax
from wherry_tensor import expm1, logsumexp

__all__ = ["expm1", "logsumexp", "softmax"]

_absent.explain(__name__)
