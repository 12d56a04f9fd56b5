"""Stub of wherry.sparse.nn, written by tools/stubs.py: where each public name comes from."""
from wherry.sparse.nn import functional as functional
from wherry_sparse.nn.layers import BatchNorm as BatchNorm
from wherry_sparse.nn.layers import Conv2D as Conv2D
from wherry_sparse.nn.layers import Conv3D as Conv3D
from wherry_sparse.nn.layers import LeakyReLU as LeakyReLU
from wherry_sparse.nn.layers import MaxPool3D as MaxPool3D
from wherry_sparse.nn.layers import ReLU as ReLU
from wherry_sparse.nn.layers import ReLU6 as ReLU6
from wherry_sparse.nn.layers import Softmax as Softmax
from wherry_sparse.nn.layers import SubmConv2D as SubmConv2D
from wherry_sparse.nn.layers import SubmConv3D as SubmConv3D
from wherry_sparse.nn.layers import SyncBatchNorm as SyncBatchNorm
__all__: list[str]
