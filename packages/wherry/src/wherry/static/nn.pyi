"""Stub of wherry.static.nn, written by tools/stubs.py: where each public name comes from."""
from wherry_graph.static.nn.common import batch_norm as batch_norm
from wherry_graph.static.nn.common import bilinear_tensor_product as bilinear_tensor_product
from wherry_graph.static.nn.common import conv2d as conv2d
from wherry_graph.static.nn.common import conv2d_transpose as conv2d_transpose
from wherry_graph.static.nn.common import conv3d as conv3d
from wherry_graph.static.nn.common import conv3d_transpose as conv3d_transpose
from wherry_graph.static.nn.common import data_norm as data_norm
from wherry_graph.static.nn.common import embedding as embedding
from wherry_graph.static.nn.common import fc as fc
from wherry_graph.static.nn.common import group_norm as group_norm
from wherry_graph.static.nn.common import instance_norm as instance_norm
from wherry_graph.static.nn.common import layer_norm as layer_norm
from wherry_graph.static.nn.common import nce as nce
from wherry_graph.static.nn.common import prelu as prelu
from wherry_graph.static.nn.common import row_conv as row_conv
from wherry_graph.static.nn.common import sparse_embedding as sparse_embedding
from wherry_graph.static.nn.common import spectral_norm as spectral_norm
from wherry_graph.static.nn.control import case as case
from wherry_graph.static.nn.control import cond as cond
from wherry_graph.static.nn.control import switch_case as switch_case
from wherry_graph.static.nn.control import while_loop as while_loop
from wherry_graph.static.variables import py_func as py_func
__all__: list[str]
