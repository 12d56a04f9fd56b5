"""`paddle.nn.initializer`: initial values of parameters."""
from wherry_nn.initializer.convolution import Bilinear, Dirac
from wherry_nn.initializer.given import Assign, Constant
from wherry_nn.initializer.initializer import Initializer, calculate_gain, set_global_initializer
from wherry_nn.initializer.random import (
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
)

__all__ = [
    "Assign",
    "Bilinear",
    "Constant",
    "Dirac",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]
