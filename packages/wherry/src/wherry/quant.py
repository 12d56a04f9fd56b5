"""`wherry.quant`: what runs in integers, weights of few bits in files, and how much rounding costs. Paddle has no such module."""
from wherry import _absent
from wherry_quant.extra import *  # noqa: F403
from wherry_quant.extra import __all__ as __all__

_absent.explain(__name__)
