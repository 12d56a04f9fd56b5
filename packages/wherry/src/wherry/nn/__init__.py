"""`paddle.nn`: layers, and what belongs to them."""
# ruff: noqa: F403, F405  wherry_nn lists its names
from wherry.nn import functional, initializer, quant, utils
from wherry_nn import *
from wherry_nn import __all__ as _names

__all__ = [name for name in _names if name not in ("WeightDecayRegularizer", "WeightNormParamAttr", "create_parameter", "unique_name")]
