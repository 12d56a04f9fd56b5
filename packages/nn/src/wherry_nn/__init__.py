"""Layers for Wherry: `paddle.nn` and `paddle.ParamAttr`.

`functional` computes; the layers hold the parameters; `initializer` fills them.
"""
# ruff: noqa: F401, F403, F405  each module lists its names
from wherry_nn import clip, functional, initializer, layers, spellings, unique_name, utils
from wherry_nn.clip import *
from wherry_nn.container import (
    Identity,
    LayerDict,
    LayerList,
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from wherry_nn.layer import Layer, Module, create_parameter
from wherry_nn.layers import *
from wherry_nn.lazy import LazyGuard
from wherry_nn.param_attr import ParamAttr, WeightDecayRegularizer, WeightNormParamAttr
from wherry_nn.parameter import Parameter

__all__ = [
    "Identity",
    "Layer",
    "LayerDict",
    "LayerList",
    "LazyGuard",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParamAttr",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "WeightDecayRegularizer",
    "WeightNormParamAttr",
    "create_parameter",
    "unique_name",
]
__all__ += clip.__all__
__all__ += layers.__all__

__version__ = "0.16.0"
