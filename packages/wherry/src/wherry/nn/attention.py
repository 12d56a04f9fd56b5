"""`paddle.nn.attention`: which way attention is computed."""
from wherry import _absent
from wherry_nn.functional.flash_attention import SDPBackend, sdpa_kernel

__all__ = ["SDPBackend", "sdpa_kernel"]

_absent.explain(__name__)
