"""`paddle.incubate`: functions whose interface may still change."""
from wherry import _absent
from wherry.incubate import autograd

__all__ = ["autograd"]

_absent.explain(__name__)
