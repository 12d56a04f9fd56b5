"""`paddle.nn`: layers, and what belongs to them."""
# ruff: noqa: F403, F405  wherry_nn lists its names
from wherry import _absent
from wherry.nn import attention, functional, initializer, utils
from wherry.nn import layer as layer
from wherry_nn import *  # type: ignore[no-redef]
from wherry_nn import __all__ as _names

# In Paddle these are elsewhere.
_NOT_HERE = ("ParamAttr", "Parameter", "WeightDecayRegularizer", "WeightNormParamAttr", "create_parameter", "unique_name")
__all__ = ["attention", "functional", "initializer", "quant", "utils"]
__all__ += [name for name in _names if name not in _NOT_HERE]

_absent.explain(__name__, later=("quant",))
