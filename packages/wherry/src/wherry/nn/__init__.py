"""`paddle.nn`: layers, and what belongs to them."""
from wherry.nn import initializer
from wherry_nn import Identity, Layer, LayerDict, LayerList, ParameterList, Sequential

__all__ = [
    "Identity",
    "Layer",
    "LayerDict",
    "LayerList",
    "ParameterList",
    "Sequential",
    "initializer",
]
