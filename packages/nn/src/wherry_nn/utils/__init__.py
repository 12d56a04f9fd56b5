"""`paddle.nn.utils`: reparametrization, parameters as one vector, gradient clipping, weights of PyTorch."""
# ruff: noqa: F401, F403, F405  each module lists its names
from wherry_nn.utils import clip_grad, spectral, transform_parameters, weight_normalization
from wherry_nn.utils.clip_grad import *
from wherry_nn.utils.from_torch import from_torch
from wherry_nn.utils.spectral import *
from wherry_nn.utils.transform_parameters import *
from wherry_nn.utils.weight_normalization import *

__all__ = []
__all__ += clip_grad.__all__
__all__ += ["from_torch"]
__all__ += spectral.__all__
__all__ += transform_parameters.__all__
__all__ += weight_normalization.__all__
