"""`paddle.incubate`: functions whose interface may still change."""
from wherry.incubate import autograd

__all__ = ["autograd"]
