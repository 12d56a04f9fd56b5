"""`paddle.quantization`: training with simulated rounding, and calibration of trained models."""
from wherry import _absent
from wherry_quant import *  # noqa: F403
from wherry_quant import __all__ as __all__

_absent.explain(__name__)
