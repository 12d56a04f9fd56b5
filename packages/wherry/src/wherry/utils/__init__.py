"""`paddle.utils`: what programs need beside tensors and layers."""
from wherry.utils import dlpack, unique_name

__all__ = ["dlpack", "unique_name"]
