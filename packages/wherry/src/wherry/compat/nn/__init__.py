"""`paddle.compat.nn`: layers with the arguments and layouts of PyTorch."""
from wherry import _absent
from wherry.compat.nn import functional as functional
from wherry.nn import AvgPool1D, AvgPool2D, AvgPool3D
from wherry_nn.compat import Linear, Softmax

AvgPool1d, AvgPool2d, AvgPool3d = AvgPool1D, AvgPool2D, AvgPool3D

__all__ = ["AvgPool1D", "AvgPool1d", "AvgPool2D", "AvgPool2d", "AvgPool3D", "AvgPool3d", "Linear", "Softmax", "functional"]

_absent.explain(__name__)
