"""Stub of wherry.sparse.nn.functional, written by tools/stubs.py: where each public name comes from."""
from wherry_sparse.nn.functional import attention as attention
from wherry_sparse.nn.functional import conv2d as conv2d
from wherry_sparse.nn.functional import conv3d as conv3d
from wherry_sparse.nn.functional import leaky_relu as leaky_relu
from wherry_sparse.nn.functional import max_pool3d as max_pool3d
from wherry_sparse.nn.functional import relu as relu
from wherry_sparse.nn.functional import relu6 as relu6
from wherry_sparse.nn.functional import softmax as softmax
from wherry_sparse.nn.functional import subm_conv2d as subm_conv2d
from wherry_sparse.nn.functional import subm_conv3d as subm_conv3d
__all__: list[str]
