"""`paddle.static.nn`: layers as functions that create their parameters, control flow, and sequences."""
from wherry_graph.static.nn.common import (
    batch_norm,
    bilinear_tensor_product,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    data_norm,
    deform_conv2d,
    embedding,
    fc,
    group_norm,
    instance_norm,
    layer_norm,
    nce,
    prelu,
    row_conv,
    sparse_embedding,
    spectral_norm,
)
from wherry_graph.static.nn.control import case, cond, static_pylayer, switch_case, while_loop
from wherry_graph.static.nn.detection import multi_box_head
from wherry_graph.static.nn.recurrent import StaticRNN, crf_decoding
from wherry_graph.static.nn.sequence import (
    sequence_concat,
    sequence_conv,
    sequence_enumerate,
    sequence_expand,
    sequence_expand_as,
    sequence_first_step,
    sequence_last_step,
    sequence_pad,
    sequence_pool,
    sequence_reshape,
    sequence_reverse,
    sequence_scatter,
    sequence_slice,
    sequence_softmax,
    sequence_unpad,
)
from wherry_graph.static.variables import py_func

__all__ = [
    "StaticRNN", "batch_norm", "bilinear_tensor_product", "case", "cond", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
    "crf_decoding", "data_norm", "deform_conv2d", "embedding", "fc", "group_norm", "instance_norm", "layer_norm", "multi_box_head", "nce",
    "prelu", "py_func", "row_conv", "sequence_concat", "sequence_conv", "sequence_enumerate", "sequence_expand", "sequence_expand_as",
    "sequence_first_step", "sequence_last_step", "sequence_pad", "sequence_pool", "sequence_reshape", "sequence_reverse", "sequence_scatter",
    "sequence_slice", "sequence_softmax", "sequence_unpad", "sparse_embedding", "spectral_norm", "static_pylayer", "switch_case", "while_loop",
]
