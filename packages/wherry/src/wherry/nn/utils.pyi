"""Stub of wherry.nn.utils, written by tools/stubs.py: where each public name comes from."""
from wherry_nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from wherry_nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from wherry_nn.utils.from_torch import from_torch as from_torch
from wherry_nn.utils.spectral import spectral_norm as spectral_norm
from wherry_nn.utils.transform_parameters import parameters_to_vector as parameters_to_vector
from wherry_nn.utils.transform_parameters import vector_to_parameters as vector_to_parameters
from wherry_nn.utils.weight_normalization import remove_weight_norm as remove_weight_norm
from wherry_nn.utils.weight_normalization import weight_norm as weight_norm
__all__: list[str]
