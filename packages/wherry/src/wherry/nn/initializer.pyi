"""Stub of wherry.nn.initializer, written by tools/stubs.py: where each public name comes from."""
from wherry_nn.initializer.convolution import Bilinear as Bilinear
from wherry_nn.initializer.convolution import Dirac as Dirac
from wherry_nn.initializer.given import Assign as Assign
from wherry_nn.initializer.given import Constant as Constant
from wherry_nn.initializer.initializer import Initializer as Initializer
from wherry_nn.initializer.initializer import calculate_gain as calculate_gain
from wherry_nn.initializer.initializer import set_global_initializer as set_global_initializer
from wherry_nn.initializer.random import KaimingNormal as KaimingNormal
from wherry_nn.initializer.random import KaimingUniform as KaimingUniform
from wherry_nn.initializer.random import Normal as Normal
from wherry_nn.initializer.random import Orthogonal as Orthogonal
from wherry_nn.initializer.random import TruncatedNormal as TruncatedNormal
from wherry_nn.initializer.random import Uniform as Uniform
from wherry_nn.initializer.random import XavierNormal as XavierNormal
from wherry_nn.initializer.random import XavierUniform as XavierUniform
__all__: list[str]
