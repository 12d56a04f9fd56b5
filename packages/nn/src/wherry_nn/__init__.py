"""Layers for Wherry: `paddle.nn` and `paddle.ParamAttr`.

`functional` computes; the layers hold the parameters; `initializer` fills them.
"""
from wherry_nn import initializer, unique_name
from wherry_nn.container import Identity, LayerDict, LayerList, ParameterList, Sequential
from wherry_nn.layer import Layer, create_parameter
from wherry_nn.param_attr import ParamAttr, WeightDecayRegularizer, WeightNormParamAttr
from wherry_nn.parameter import Parameter

__all__ = [
    "Identity",
    "Layer",
    "LayerDict",
    "LayerList",
    "ParamAttr",
    "Parameter",
    "ParameterList",
    "Sequential",
    "WeightDecayRegularizer",
    "WeightNormParamAttr",
    "create_parameter",
    "initializer",
    "unique_name",
]
__version__ = "0.1.0"
