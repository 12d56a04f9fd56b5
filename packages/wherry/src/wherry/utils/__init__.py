"""`paddle.utils`: what programs need beside tensors and layers."""
from wherry.utils import unique_name

__all__ = ["unique_name"]
