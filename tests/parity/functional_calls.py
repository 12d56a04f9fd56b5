"""What `paddle.nn.functional` of real Paddle and of wherry are asked. Forms as in `calls.py`; F is the module.

`layer_calls.py` asks the same arithmetic through layers, with more configurations of windows and
normalisations; here are the arguments that only functions have. `random` rows compare dtypes and shapes.
What real Paddle has no kernel for on a CPU is not asked: margin_cross_entropy, attention with masks,
activations of integers, log_loss and npair_loss in float64.
"""
from __future__ import annotations

import numpy as np
from calls import Call, distinct, inside, integers, normal, positive

CALLS: list[Call] = []
RANDOM: set[int] = set()
FLOATS = ("float32", "float64")


def call(expression, dtypes=FLOATS, grad=True, random=False, **inputs):
    if random:
        RANDOM.add(len(CALLS))
    CALLS.append(Call(expression, tuple(dtypes), grad and not random, inputs))


# Activations.
for name in ("relu", "relu6", "sigmoid", "silu", "swish", "mish", "hardsigmoid", "hardswish", "softsign", "tanh", "tanhshrink", "log_sigmoid", "gelu", "elu", "celu", "selu",
             "hardshrink", "softshrink", "hardtanh", "leaky_relu", "softplus", "thresholded_relu", "softmax", "log_softmax"):
    call(f"F.{name}(x)", x=normal(3, 4) * 3)
    call(f"F.{name}(x, name='mine')", x=normal(2, 3, 2) * 3)
    call(f"F.{name}(x)", grad=False, x=normal(0, 4))
    call(f"F.{name}(x)  # at the edges", ("float32",), grad=False, x=np.array([0.0, np.inf, -np.inf, np.nan, 1e30, -1e30]))
    call(f"F.{name}(x)", x=normal(1)[0])
    call(f"F.{name}([1.0, 2.0])")
for expression in ("F.gelu(x, approximate=True)", "F.elu(x, alpha=0.3)", "F.celu(x, 0.3)", "F.celu(x, 0)", "F.selu(x, 2.0, 1.5)", "F.selu(x, 0.5)", "F.selu(x, 2.0, -1.0)", "F.hardshrink(x, 0.2)",
                   "F.softshrink(x, 0.2)", "F.softshrink(x, -0.2)", "F.hardtanh(x, min=-0.3, max=0.2)", "F.hardtanh(x, 2.0, 1.0)", "F.leaky_relu(x, 0.3)", "F.softplus(x, beta=2, threshold=1)",
                   "F.softplus(x, 0)", "F.thresholded_relu(x, 0.1)", "F.thresholded_relu(x, threshold=-0.5)", "F.hardsigmoid(x, slope=0.3, offset=0.4)", "F.softmax(x, axis=0)", "F.softmax(x, -2)",
                   "F.softmax(x, dtype='float64')", "F.softmax(x, axis=7)", "F.softmax(x, 'x')", "F.log_softmax(x, axis=0)", "F.log_softmax(x, 1, 'float64')", "F.log_softmax(x, 9)",
                   "F.maxout(x, 2)", "F.maxout(x, groups=2, axis=-1)", "F.maxout(x, 3)", "F.maxout(x, 2, axis=0)", "F.glu(x)", "F.glu(x, axis=1)", "F.glu(x, 0)", "F.rrelu(x, 0.2, 0.4, training=False)",
                   "F.rrelu(x, 0.5, 0.2)", "F.prelu(x, paddle.to_tensor([0.2]).astype(x.dtype))", "F.prelu(x, paddle.to_tensor([0.2, 0.3, 0.4, 0.5]).astype(x.dtype))",
                   "F.prelu(x, paddle.to_tensor([0.2, 0.3]).astype(x.dtype), data_format='NHWC')", "F.prelu(x, paddle.to_tensor([0.2, 0.3]).astype(x.dtype))", "F.prelu(x, 0.2)",
                   "F.prelu(x, paddle.to_tensor([0.2]).astype(x.dtype), 'x')"):
    call(expression, x=normal(3, 4, 5, 2))
for name, arguments in (("relu", ""), ("elu", ", 0.5"), ("tanh", ""), ("softmax", ", 0"), ("softmax", "")):
    call(f"y = x * 1.0; z = F.{name}_(y{arguments}); [y, z]", x=normal(3, 4))
    call(f"F.{name}_(x{arguments})", x=normal(3, 4))
    call(f"F.{name}_(x{arguments})", grad=False, x=normal(3, 4))
for name in ("leaky_relu", "hardtanh", "thresholded_relu"):
    call(f"y = x * 1.0; z = F.{name}_(y); [y, z]", x=normal(3, 4))
call("F.gumbel_softmax(x)", random=True, x=normal(3, 4))
call("F.gumbel_softmax(x, 0.5, hard=True, axis=0)", random=True, x=normal(3, 4))
call("F.gumbel_softmax(x, hard=True).sum(-1)", grad=False, x=normal(3, 4))
call("F.gumbel_softmax(x, temperature=0)", x=normal(3, 4))
call("F.rrelu(x)", random=True, x=normal(3, 4))

# Linear algebra of layers.
call("F.linear(x, y)", x=normal(2, 4), y=normal(4, 3, seed=1))
call("F.linear(x, y, z)", x=normal(2, 5, 4), y=normal(4, 3, seed=1), z=normal(3, seed=2))
call("F.linear(x, weight=y, bias=z, name='mine')", x=normal(4), y=normal(4, 3, seed=1), z=normal(3, seed=2))
call("F.linear(x, y)", x=normal(2, 5), y=normal(4, 3, seed=1))
call("F.linear(x, y, z)", x=normal(2, 4), y=normal(4, 3, seed=1), z=normal(2, seed=2))
call("F.linear(x, y, x)", x=normal(2, 4), y=normal(4, 3, seed=1))
call("F.bilinear(x, y, z)", x=normal(2, 3), y=normal(2, 4, seed=1), z=normal(5, 3, 4, seed=2))
call("F.bilinear(x, y, z, b)", x=normal(2, 3), y=normal(2, 4, seed=1), z=normal(5, 3, 4, seed=2), b=normal(1, 5, seed=3))
call("F.bilinear(x, y, z)", x=normal(2, 3), y=normal(3, 4, seed=1), z=normal(5, 3, 4, seed=2))
for arguments in ("", ", padding_idx=1", ", padding_idx=-1", ", sparse=False, name='mine'", ", padding_idx=7"):
    call(f"F.embedding(i, x{arguments})", x=normal(5, 3), i=integers(2, 3, low=0, high=5))
call("F.embedding(i, x, sparse=True)", grad=False, x=normal(5, 3), i=integers(2, 3, low=0, high=5))
call("F.embedding(i, x)", grad=False, x=normal(5, 3), i=np.array([5]))
call("F.embedding(i, x)  # -1", grad=False, x=normal(5, 3), i=np.array([-1]))
call("F.embedding(i, x)", grad=False, x=normal(5, 3), i=np.array([[1.0]]))
for arguments in ("5", "num_classes=3", "2", "paddle.to_tensor([5])"):
    call(f"F.one_hot(i, {arguments})", ("float32",), grad=False, i=np.array([[0, 2], [1, 1]]))
call("F.one_hot(i, 5)", grad=False, i=np.array(2))
call("F.one_hot(i, 3)", grad=False, i=np.array([0, 3]))
call("F.one_hot(x, 3)", grad=False, x=normal(2))
for arguments in ("", ", epsilon=0.3", ", name='mine'"):
    call(f"F.label_smooth(x{arguments})", x=np.eye(4))
call("F.label_smooth(x, prior_dist=y, epsilon=0.2)", x=np.eye(4), y=positive(1, 4))
call("F.label_smooth(x, epsilon=2.0)", x=np.eye(4))
for arguments in ("", "axis=0", "axis=-1, eps=0.5", "axis=2"):
    call(f"F.cosine_similarity(x, y{', ' * bool(arguments)}{arguments})", x=normal(3, 4), y=normal(3, 4, seed=1))
call("F.cosine_similarity(x, y)", x=normal(2, 3, 4), y=normal(2, 3, 1, seed=1))
for arguments in ("", ", p=1", ", p=3, axis=0", ", 2, -1, 0.5", ", axis=5", ", p='fro'", ", p=float('inf')"):
    call(f"F.normalize(x{arguments})", x=normal(3, 4))
call("F.normalize(x, axis=0)", x=normal(4))
call("F.normalize(x)", x=normal(4))
for arguments in ("", ", offset=1", ", -1", ", offset=0, dim1=0, dim2=2", ", dim1=1, dim2=0", ", dim1=1, dim2=1", ", dim1=5"):
    call(f"F.diag_embed(x{arguments})", x=normal(2, 3))
for arguments in ("", ", maxlen=5", ", 4, 'float32'", ", maxlen=2, dtype='bool', name='mine'"):
    call(f"F.sequence_mask(i{arguments})", ("float32",), grad=False, i=np.array([3, 1, 0]))
call("F.sequence_mask(i, 4)", ("float32",), grad=False, i=np.array([[3, 1], [2, 4]]))
call("F.gather_tree(i, p)", ("float32",), grad=False, i=integers(3, 2, 2, low=0, high=9), p=integers(3, 2, 2, low=0, high=2))
call("F.gather_tree(i, p)", ("float32",), grad=False, i=integers(3, 2, low=0, high=9), p=integers(3, 2, low=0, high=2))
call("F.gather_tree(i, p)", ("float32",), grad=False, i=integers(3, 2, 2, low=0, high=9), p=integers(3, 2, 1, low=0, high=2))

# Dropout.
for expression in ("F.dropout(x, 0.5, training=False)", "F.dropout(x, 0.0)", "F.dropout(x, 1.0)", "F.dropout(x, 0.3, training=False, mode='downscale_in_infer')", "F.dropout(x, p=2)", "F.dropout(x, mode='x')",
                   "F.dropout(x, axis=9)", "F.dropout(x, '0.5')", "F.dropout2d(x, training=False)", "F.dropout2d(x, 0.0)", "F.dropout2d(x, data_format='x')", "F.dropout3d(x, training=False)",
                   "F.alpha_dropout(x, 0.0)", "F.alpha_dropout(x, training=False)", "F.alpha_dropout(x, 3.0)", "F.alpha_dropout(x, 1.0)"):
    call(expression, x=normal(2, 3, 4, 5))
for expression in ("F.dropout(x)", "F.dropout(x, 0.3, axis=1)", "F.dropout(x, 0.3, axis=[0, 1], mode='downscale_in_infer')", "F.dropout2d(x)", "F.dropout2d(x, 0.2, True, 'NHWC')", "F.alpha_dropout(x)",
                   "F.dropout(x, paddle.to_tensor(0.5))"):
    call(expression, random=True, x=normal(2, 3, 4, 5))
call("F.dropout3d(x)", random=True, x=normal(2, 3, 4, 5, 2))
call("F.dropout3d(x, training=False)", x=normal(2, 3, 4, 5, 2))

# Padding and rearranging.
for expression in ("F.pad(x, [1, 2])", "F.pad(x, [1, 2], value=3.5)", "F.pad(x, [1, 2], 'reflect', data_format='NCL')", "F.pad(x, [1, 1], 'replicate', data_format='NLC')", "F.pad(x, [2, 1], mode='circular', data_format='NCL')",
                   "F.pad(x, [0, 0, 1, 1, 2, 0])", "F.pad(x, [1, 0, 0, 2, 1, 1], value=-1.0)", "F.pad(x, [1, 2], data_format='NCL')", "F.pad(x, [1])", "F.pad(x, [1, 2, 3])", "F.pad(x, [1, 2], mode='x')",
                   "F.pad(x, [-1, 1], data_format='NCL')", "F.pad(x, [9, 1], 'reflect', data_format='NCL')", "F.pad(x, paddle.to_tensor([1, 2], dtype='int32'), data_format='NCL')"):
    call(expression, x=normal(2, 3, 4))
for expression in ("F.pad(x, [1, 2, 0, 1])", "F.pad(x, [1, 2, 0, 1], 'reflect')", "F.pad(x, [1, 2, 0, 1], 'replicate', data_format='NHWC')", "F.pad(x, [1, 2, 0, 1], 'circular')", "F.pad(x, [1, 2, 0, 1], value=2.0, data_format='NHWC')",
                   "F.pad(x, [0, 0, 0, 0, 1, 2, 0, 1])", "F.zeropad2d(x, 1)", "F.zeropad2d(x, [1, 2, 0, 1])", "F.zeropad2d(x, [1, 2, 0, 1], 'NHWC', 'mine')", "F.zeropad2d(x, [1, 2])"):
    call(expression, x=normal(2, 3, 4, 3))
for expression in ("F.pad(x, [1, 2, 0, 1, 1, 0], data_format='NCDHW')", "F.pad(x, [1, 1, 0, 1, 1, 0], 'reflect', data_format='NCDHW')", "F.pad(x, [1, 2, 0, 1, 1, 0], 'replicate', data_format='NDHWC')",
                   "F.pad(x, [1, 1, 0, 1, 1, 0], mode='circular', data_format='NCDHW')"):
    call(expression, x=normal(1, 2, 3, 3, 2))
call("F.pad(x, [1, 2, 2, 1])", x=normal(3, 4))
call("F.pad(x, [1, 2])", x=normal(4))
call("F.pad(x, [1, 2], value=5.0, data_format='NCL')", grad=False, x=integers(2, 3, 4))
for expression in ("F.pixel_shuffle(x, 2)", "F.pixel_shuffle(x, upscale_factor=2, data_format='NCHW', name='mine')", "F.pixel_shuffle(x, 4)", "F.pixel_shuffle(x, 2, 'x')", "F.pixel_unshuffle(x, 2)", "F.pixel_unshuffle(x, 5)",
                   "F.channel_shuffle(x, 4)", "F.channel_shuffle(x, 3)", "F.temporal_shift(x, 2)", "F.temporal_shift(x, seg_num=2, shift_ratio=0.4)", "F.temporal_shift(x, 2, 0.25, None, 'NHWC')", "F.temporal_shift(x, 3)",
                   "F.temporal_shift(x, 2, 0.6)", "F.unfold(x, 2)", "F.unfold(x, [2, 3], 1, 1)", "F.unfold(x, kernel_sizes=3, strides=2, paddings=[1, 0, 1, 2], dilations=1)", "F.unfold(x, 2, strides=[1, 2], dilations=2)",
                   "F.unfold(x, [2, 2, 2])", "F.unfold(x, 9)"):
    call(expression, x=normal(4, 8, 4, 6))
for expression in ("F.fold(x, [4, 5], 2)", "F.fold(x, output_sizes=[4, 5], kernel_sizes=[2, 2], strides=1, paddings=0, dilations=1)", "F.fold(x, 4, 2)", "F.fold(x, [4, 5], [2, 3])"):
    call(expression, x=normal(2, 12, 12))
call("F.fold(x, [5, 6], [2, 3], strides=[2, 1], paddings=1)", x=normal(2, 12, 18))
call("F.fold(x, [5, 6], [2, 3], strides=[2, 1], paddings=[1, 0, 0, 1], dilations=[2, 1])", x=normal(2, 12, 10))

# Resizing and sampling.
for mode in ("nearest", "bilinear", "bicubic", "area"):
    for arguments in ("size=[5, 7]", "size=[2, 3]", "scale_factor=2", "scale_factor=[0.5, 1.5]", "size=[4, 6], align_mode=1"):
        call(f"F.interpolate(x, {arguments}, mode='{mode}')", x=normal(2, 3, 4, 6))
for expression in ("F.interpolate(x, [7, 5], mode='bilinear', align_corners=True)", "F.interpolate(x, [7, 5], mode='bicubic', align_corners=True)", "F.interpolate(x, [1, 1], mode='bilinear', align_corners=True)",
                   "F.upsample(x, [7, 5])", "F.upsample(x, scale_factor=2, mode='bilinear')", "F.interpolate(x, size=paddle.to_tensor([5, 7]), mode='bilinear')", "F.interpolate(x, size=[paddle.to_tensor(5), 7], mode='nearest')",
                   "F.interpolate(x)", "F.interpolate(x, [5, 7], 2)", "F.interpolate(x, [5, 7], mode='x')", "F.interpolate(x, [5, 7], mode='nearest', align_corners=True)", "F.interpolate(x, [5, 7], mode='trilinear')",
                   "F.interpolate(x, [5, 7], mode='linear')", "F.interpolate(x, [5, 7, 2])", "F.interpolate(x, [5, 7], data_format='NCW')", "F.interpolate(x, [0, 7])", "F.interpolate(x, scale_factor=-1)",
                   "F.interpolate(x, [5, 7], align_mode=2)", "F.interpolate(x, scale_factor=paddle.to_tensor(2.0))", "F.interpolate(x, (5, 7), mode='bilinear', align_mode=1)", "F.interpolate(x, [5, 7], mode='BILINEAR')"):
    call(expression, x=normal(2, 3, 4, 6))
call("F.interpolate(x, [7], mode='linear', data_format='NCW')", x=normal(2, 3, 4))
call("F.interpolate(x, [7], mode='linear', align_mode=1, data_format='NWC')", x=normal(2, 3, 4))
call("F.interpolate(x, [5, 2, 7], mode='trilinear', data_format='NCDHW')", x=normal(1, 2, 3, 4, 3))
call("F.interpolate(x, [5, 2, 7], mode='area', data_format='NCDHW')", x=normal(1, 2, 3, 4, 3))
call("F.interpolate(x, [5, 7], mode='bicubic', data_format='NHWC')", x=normal(2, 4, 3, 2))
for arguments in ("", ", align_corners=False"):
    call(f"F.affine_grid(x, [2, 3, 4, 5]{arguments})", x=normal(2, 2, 3))
    call(f"F.affine_grid(x, [2, 3, 4, 5, 2]{arguments})", x=normal(2, 3, 4))
call("F.affine_grid(x, paddle.to_tensor([2, 3, 4, 5], dtype='int32'))", x=normal(2, 2, 3))
call("F.affine_grid(x, [2, 3, 4])", x=normal(2, 2, 3))
call("F.affine_grid([1.0], [2, 3, 4, 5])")
for mode in ("bilinear", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        for corners in (True, False):
            call(f"F.grid_sample(x, y, '{mode}', '{padding}', {corners})", x=normal(2, 3, 4, 5), y=inside(2, 6, 3, 2) * 1.37)
            call(f"F.grid_sample(x, y, mode='{mode}', padding_mode='{padding}', align_corners={corners})", x=normal(1, 2, 3, 4, 5), y=inside(1, 2, 3, 4, 3) * 1.37)
for arguments in ("'x'", "'bilinear', 'x'", "align_corners=1"):
    call(f"F.grid_sample(x, y, {arguments})", x=normal(2, 3, 4, 5), y=inside(2, 6, 3, 2))
call("F.grid_sample(x, y)", x=normal(2, 3, 4, 5), y=inside(2, 6, 3, 3))

# Convolutions.
for arguments in ("", ", z", ", z, 2, 1", ", stride=[2], padding=[1, 2], dilation=1", ", padding='same'", ", padding='valid', stride=2", ", None, 1, 2, 2", ", name='mine'"):
    call(f"F.conv1d(x, y{arguments})", x=normal(2, 4, 8), y=normal(6, 4, 3, seed=1), z=normal(6, seed=2))
call("F.conv1d(x, y, groups=2)", x=normal(2, 4, 8), y=normal(6, 2, 3, seed=1))
call("F.conv1d(x, y, data_format='NLC')", x=normal(2, 8, 4), y=normal(6, 4, 3, seed=1))
for arguments in ("", ", z", ", z, 2, 1", ", stride=[2, 1], padding=[1, 2], dilation=2", ", padding='same'", ", padding='valid', stride=2", ", padding=[1, 2, 0, 1]", ", padding=[[0, 0], [0, 0], [1, 2], [0, 1]]", ", padding='x'",
                  ", padding=[[1, 0], [0, 0], [1, 2], [0, 1]]", ", stride=[1, 2, 3]", ", dilation=0", ", groups=2", ", data_format='x'", ", padding=[1, 2, 3]", ", z, name='mine'"):
    call(f"F.conv2d(x, y{arguments})", x=normal(2, 4, 6, 7), y=normal(6, 4, 3, 3, seed=1), z=normal(6, seed=2))
call("F.conv2d(x, y, z, groups=2)", x=normal(2, 4, 6, 7), y=normal(6, 2, 3, 3, seed=1), z=normal(6, seed=2))
call("F.conv2d(x, y, z, groups=4)", x=normal(2, 4, 6, 7), y=normal(4, 1, 3, 3, seed=1), z=normal(4, seed=2))
call("F.conv2d(x, y, z, groups=4)", x=normal(2, 4, 6, 7), y=normal(8, 1, 3, 2, seed=1), z=normal(8, seed=2))
call("F.conv2d(x, y, z, padding=1, data_format='NHWC')", x=normal(2, 6, 7, 4), y=normal(6, 4, 3, 3, seed=1), z=normal(6, seed=2))
call("F.conv2d(x, y, z)", x=normal(2, 4, 6, 7), y=normal(6, 4, 3, 3, seed=1), z=normal(5, seed=2))
call("F.conv2d(x, y)", x=normal(2, 4, 6, 7), y=normal(6, 4, 3, seed=1))
for arguments in ("", ", z, 2, 1", ", padding='same'", ", padding=[1, 2, 0, 1, 1, 0], dilation=2"):
    call(f"F.conv3d(x, y{arguments})", x=normal(1, 2, 5, 6, 5), y=normal(4, 2, 3, 2, 2, seed=1), z=normal(4, seed=2))
call("F.conv3d(x, y, groups=2)", x=normal(1, 2, 5, 6, 5), y=normal(4, 1, 3, 2, 2, seed=1))
call("F.conv3d(x, y, data_format='NDHWC')", x=normal(1, 5, 6, 5, 2), y=normal(4, 2, 3, 2, 2, seed=1))
for arguments in ("", ", z", ", z, 2, 1", ", stride=2, output_padding=1", ", stride=2, output_size=[12]", ", dilation=2", ", padding='same'"):
    call(f"F.conv1d_transpose(x, y{arguments})", x=normal(2, 4, 5), y=normal(4, 6, 3, seed=1), z=normal(6, seed=2))
call("F.conv1d_transpose(x, y, groups=2)", x=normal(2, 4, 5), y=normal(4, 3, 3, seed=1))
call("F.conv1d_transpose(x, y, data_format='NLC')", x=normal(2, 5, 4), y=normal(4, 6, 3, seed=1))
for arguments in ("", ", z", ", z, 2, 1", ", stride=2, padding=1, output_padding=1", ", stride=2, output_size=[10, 12]", ", stride=2, output_size=10", ", dilation=[2, 1]", ", padding='same'", ", padding=[1, 0, 2, 1]",
                  ", stride=2, output_size=[99, 12]", ", stride=2, output_size=[10, 12], output_padding=1", ", output_padding=1", ", groups=3"):
    call(f"F.conv2d_transpose(x, y{arguments})", x=normal(2, 4, 4, 5), y=normal(4, 6, 3, 3, seed=1), z=normal(6, seed=2))
call("F.conv2d_transpose(x, y, groups=2)", x=normal(2, 4, 4, 5), y=normal(4, 3, 3, 3, seed=1))
call("F.conv2d_transpose(x, y, data_format='NHWC')", x=normal(2, 4, 5, 4), y=normal(4, 6, 3, 3, seed=1))
for arguments in ("", ", z, 2, 1", ", stride=2, output_padding=1", ", stride=2, output_size=[8, 10, 8]"):
    call(f"F.conv3d_transpose(x, y{arguments})", x=normal(1, 2, 3, 4, 3), y=normal(2, 4, 3, 3, 3, seed=1), z=normal(4, seed=2))
call("F.conv3d_transpose(x, y, data_format='NDHWC')", x=normal(1, 3, 4, 3, 2), y=normal(2, 4, 2, 3, 2, seed=1))

# Pooling.
for rank, shape in ((1, (2, 3, 8)), (2, (2, 3, 6, 7)), (3, (1, 2, 5, 6, 4))):
    for arguments in ("2", "3, 2, 1", "kernel_size=3, stride=1, padding='same'", "3, 2, padding='valid'", "3, 2, 1, ceil_mode=True", f"[2] * {rank}, [1] * {rank}", "2, name='mine'", "kernel_size=2, padding=9", "'x'"):
        call(f"F.max_pool{rank}d(x, {arguments})", x=distinct(*shape))
        call(f"F.avg_pool{rank}d(x, {arguments})", x=normal(*shape))
    call(f"F.max_pool{rank}d(x, 2, return_mask=True)", x=distinct(*shape))
    call(f"F.max_pool{rank}d(x, 3, 2, 1, True)", x=distinct(*shape))
    call(f"F.avg_pool{rank}d(x, 3, 2, 1, exclusive=False)", x=normal(*shape))
    call(f"F.avg_pool{rank}d(x, 3, 2, 1, ceil_mode=True, exclusive=False)", x=normal(*shape))
    for size in ("1", "3", f"[2] * {rank}", "0", "'x'"):
        call(f"F.adaptive_avg_pool{rank}d(x, {size})", x=normal(*shape))
        call(f"F.adaptive_max_pool{rank}d(x, {size})", x=distinct(*shape))
    call(f"F.adaptive_max_pool{rank}d(x, 2, return_mask=True)", x=distinct(*shape))
    call(f"y, m = F.max_pool{rank}d(x, 2, 2, return_mask=True); F.max_unpool{rank}d(y, m, 2)", x=distinct(*shape))
    call(f"y, m = F.max_pool{rank}d(x, 2, 2, return_mask=True); F.max_unpool{rank}d(y, m, 2, 2, 0, output_size=x.shape[2:])", x=distinct(*shape))
    call(f"F.max_pool{rank}d(x, 2)", x=normal(3, 4))
call("F.avg_pool2d(x, 3, 2, 1, divisor_override=4)", x=normal(2, 3, 6, 7))
call("F.avg_pool2d(x, 2, data_format='NHWC')", x=normal(2, 6, 7, 3))
call("F.avg_pool3d(x, 2, divisor_override=3, data_format='NDHWC')", x=normal(1, 5, 6, 4, 2))
call("F.max_pool2d(x, 2, data_format='NHWC')", x=distinct(2, 6, 7, 3))
call("F.adaptive_avg_pool2d(x, [None, 2])", x=normal(2, 3, 6, 7))
call("F.adaptive_avg_pool2d(x, 2, data_format='NHWC')", x=normal(2, 6, 7, 3))
call("F.max_pool2d(x, 2, padding=[[0, 0], [0, 0], [1, 0], [0, 1]])", x=distinct(2, 3, 6, 7))
call("F.avg_pool2d(x, [2, 2], padding=[1, 0, 0, 1])", x=distinct(2, 3, 6, 7))

# Normalisations.
for arguments in ("", ", training=True", ", w, b", ", w, b, True", ", weight=w, bias=b, training=True, momentum=0.5, epsilon=1e-3", ", w, b, True, use_global_stats=True", ", w, b, False, use_global_stats=False", ", w, b, data_format='NCHW'"):
    call(f"m = x.detach().mean([0, 2, 3]) * 0.5; v = x.detach().var([0, 2, 3]) * 1.5; y = F.batch_norm(x, m, v{arguments}); [y, m, v]", x=normal(4, 3, 5, 2), w=positive(3, seed=1), b=normal(3, seed=2))
call("F.batch_norm(x, paddle.zeros([3], x.dtype), paddle.ones([3], x.dtype), training=True, data_format='NHWC')", x=normal(4, 5, 2, 3))
call("F.batch_norm(x, paddle.zeros([3], x.dtype), paddle.ones([3], x.dtype), training=True, data_format='NLC')", x=normal(4, 5, 3))
call("F.batch_norm(x, paddle.zeros([4], x.dtype), paddle.ones([4], x.dtype), training=True)", x=normal(4, 3, 5, 2))
call("F.batch_norm(x, paddle.zeros([3], x.dtype), paddle.ones([3], x.dtype), data_format='x')", x=normal(4, 3, 5, 2))
for arguments in ("4", "[3, 4]", "[4], w", "[4], w, b", "[3, 4], epsilon=1e-4", "normalized_shape=4, weight=w, bias=b, epsilon=1e-3, name='mine'", "3", "[2, 3, 4, 5]", "'x'"):
    call(f"F.layer_norm(x, {arguments})", x=normal(2, 3, 4), w=positive(4, seed=1), b=normal(4, seed=2))
for arguments in ("", ", weight=w, bias=b", ", use_input_stats=True, eps=1e-3", ", None, None, w, b, True, 0.9, 1e-5"):
    call(f"F.instance_norm(x{arguments})", x=normal(2, 3, 4, 2), w=positive(3, seed=1), b=normal(3, seed=2))
call("F.instance_norm(x)", x=normal(2, 3, 4))
call("F.instance_norm(x)", x=normal(2, 3, 2, 3, 2))
call("F.instance_norm(x)", x=normal(2, 3))
for arguments in ("3", "size=2, alpha=0.1, beta=0.5, k=2.0", "5, data_format='NHWC'", "3, data_format='x'"):
    call(f"F.local_response_norm(x, {arguments})", x=normal(2, 6, 3, 4))

# Losses.
for reduction in ("mean", "sum", "none", "x"):
    r = f"reduction='{reduction}'"
    call(f"F.l1_loss(x, y, {r})", x=normal(3, 4), y=normal(3, 4, seed=1))
    call(f"F.mse_loss(x, y, {r})", x=normal(3, 4), y=normal(3, 4, seed=1))
    call(f"F.smooth_l1_loss(x, y, {r})", x=normal(3, 4) * 2, y=normal(3, 4, seed=1))
    call(f"F.smooth_l1_loss(x, y, {r}, delta=0.3)", x=normal(3, 4) * 2, y=normal(3, 4, seed=1))
    call(f"F.kl_div(x, y, {r})", grad=False, x=normal(3, 4), y=positive(3, 4, seed=1))
    call(f"F.binary_cross_entropy(x, paddle.to_tensor([[0.0, 1.0, 0.3], [1.0, 1.0, 0.0]]).astype(x.dtype), {r})", x=np.abs(inside(2, 3)))
    call(f"F.binary_cross_entropy(x, paddle.to_tensor([[0.0, 1.0, 0.3], [1.0, 1.0, 0.0]]).astype(x.dtype), paddle.to_tensor([0.5, 1.0, 2.0]).astype(x.dtype), {r})", x=np.abs(inside(2, 3)))
    call(f"F.binary_cross_entropy_with_logits(x, paddle.to_tensor([[0.0, 1.0, 0.3], [1.0, 1.0, 0.0]]).astype(x.dtype), {r})", x=normal(2, 3) * 3)
    call(f"F.binary_cross_entropy_with_logits(x, paddle.to_tensor([[0.0, 1.0, 0.3], [1.0, 1.0, 0.0]]).astype(x.dtype), paddle.to_tensor([0.5, 1.0, 2.0]).astype(x.dtype), {r})", x=normal(2, 3) * 3)
    for arguments in ("", ", soft_label=False, axis=-1", ", ignore_index=2", ", label_smoothing=0.2", ", axis=1", ", weight=paddle.to_tensor([0.5, 1.0, 2.0, 1.5]).astype(x.dtype)"):
        call(f"F.cross_entropy(x, i, {r}{arguments})", x=normal(3, 4), i=np.array([0, 2, 3]))
        if "smoothing" not in arguments:  # of int32 labels: no kernel in Paddle
            call(f"F.cross_entropy(x, i, {r}{arguments})", x=normal(3, 4), i=np.array([[0], [2], [3]], "int32"))
    call(f"F.cross_entropy(x, i, {r}, axis=1)", x=normal(3, 4, 2), i=np.array([[0, 2], [3, 3], [1, 0]]))
    call(f"F.cross_entropy(x, i, {r}, axis=1, ignore_index=3, weight=paddle.to_tensor([0.5, 1.0, 2.0, 1.5]).astype(x.dtype))", x=normal(3, 4, 2), i=np.array([[0, 2], [3, 3], [1, 0]]))
    call(f"F.cross_entropy(x, i, {r}, ignore_index=0)", x=normal(3, 4), i=np.array([0, 0, 0]))
    call(f"F.cross_entropy(x, F.softmax(x.detach() * 2), {r}, soft_label=True)", x=normal(3, 4))
    call(f"F.cross_entropy(x, F.softmax(x.detach() * 2), {r}, soft_label=True, label_smoothing=0.1)", x=normal(3, 4))
    call(f"F.cross_entropy(x, F.softmax(x.detach() * 2), {r}, soft_label=True, weight=paddle.to_tensor([0.5, 1.0, 2.0, 1.5]).astype(x.dtype))", x=normal(3, 4))
    call(f"F.cross_entropy(F.softmax(x), i, {r}, use_softmax=False)", x=normal(3, 4), i=np.array([0, 2, 3]))
    call(f"F.nll_loss(x, i, {r})", x=normal(3, 4), i=np.array([0, 2, 3]))
    call(f"F.nll_loss(x, i, paddle.to_tensor([0.5, 1.0, 2.0, 1.5]).astype(x.dtype), {r})", x=normal(3, 4, 2), i=np.array([[0, 2], [3, 3], [1, 0]]))
    call(f"F.margin_ranking_loss(x, y, paddle.sign(y.detach()), 0.2, {r})", x=normal(3, 4), y=normal(3, 4, seed=1))
    call(f"F.hinge_embedding_loss(x, paddle.sign(x.detach() + 0.5), 0.7, {r})", x=normal(3, 4))
    call(f"F.cosine_embedding_loss(x, y, i, 0.2, {r})", x=normal(3, 4), y=normal(3, 4, seed=1), i=np.array([1, -1, -1]))
    call(f"F.triplet_margin_loss(x, y, z, 0.7, 2, 1e-6, True, {r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=normal(3, 4, seed=2))
    call(f"F.triplet_margin_loss(x, y, z, p=1, {r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=normal(3, 4, seed=2))
    call(f"F.triplet_margin_with_distance_loss(x, y, z, distance_function=lambda a, b: (a - b).abs().sum(-1), margin=0.5, swap=True, {r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=normal(3, 4, seed=2))
    call(f"F.multi_label_soft_margin_loss(x, paddle.sign(x.detach() + 0.5), {r})", x=normal(3, 4))
    call(f"F.multi_label_soft_margin_loss(x, (x.detach() > 0).astype(x.dtype), paddle.to_tensor([0.5, 1.0, 2.0, 1.5]).astype(x.dtype), {r})", x=normal(3, 4))
    call(f"F.soft_margin_loss(x, paddle.sign(x.detach() + 0.5), {r})", x=normal(3, 4))
    call(f"F.multi_margin_loss(x, i, {r})", x=normal(3, 4), i=np.array([0, 2, 3]))
    call(f"F.multi_margin_loss(x, i, p=2, margin=0.5, weight=paddle.to_tensor([0.5, 1.0, 2.0, 1.5]).astype(x.dtype), {r})", x=normal(3, 4), i=np.array([0, 2, 3]))
    call(f"F.poisson_nll_loss(x, y.detach(), full=True, {r})", x=normal(3, 4), y=positive(3, 4, seed=1) * 3)
    call(f"F.poisson_nll_loss(x, y.detach(), log_input=False, {r})", x=positive(3, 4), y=positive(3, 4, seed=1))
    call(f"F.gaussian_nll_loss(x, y, z, full=True, {r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=positive(3, 4, seed=2))
    call(f"F.gaussian_nll_loss(x, y, z, epsilon=0.5, {r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=positive(3, 1, seed=2))
    call(f"F.sigmoid_focal_loss(x, (x.detach() > 0.3).astype(x.dtype), {r})", x=normal(3, 4))
    call(f"F.sigmoid_focal_loss(x, (x.detach() > 0.3).astype(x.dtype), paddle.to_tensor([2.0]).astype(x.dtype), alpha=0.4, gamma=1.5, {r})", x=normal(3, 4))
    call(f"F.ctc_loss(x, i, n, m, {r})", x=normal(5, 2, 4), i=np.array([[1, 2], [3, 3]], "int32"), n=np.array([5, 4]), m=np.array([2, 2]))
    call(f"F.ctc_loss(x, i, n, m, blank=3, {r})", x=normal(6, 2, 4), i=np.array([[1, 2], [0, 0]], "int32"), n=np.array([6, 4]), m=np.array([2, 1]))
    call(f"F.ctc_loss(x, i, n, m, {r}, norm_by_times=True)", x=normal(5, 2, 4), i=np.array([[1, 2], [3, 3]], "int32"), n=np.array([5, 4]), m=np.array([2, 2]))
    for favour in (0.0, 0.001, 0.5):
        call(f"F.rnnt_loss(F.log_softmax(x), i, n, m, fastemit_lambda={favour}, {r})", x=normal(2, 4, 3, 5), i=np.array([[1, 2], [3, 4]], "int32"), n=np.array([4, 3], "int32"), m=np.array([2, 1], "int32"))
    call(f"F.rnnt_loss(x, i, n, m, 2, {r})", x=normal(2, 5, 4, 6), i=np.array([[1, 5, 4], [0, 3, 1]], "int32"), n=np.array([5, 5], "int32"), m=np.array([3, 2], "int32"))
call("F.kl_div(x, y.detach())", x=normal(3, 4), y=positive(3, 4, seed=1))
call("F.kl_div(x, y, 'batchmean')", grad=False, x=normal(3, 4), y=positive(3, 4, seed=1))
call("F.cross_entropy(x, i, soft_label=True)", x=normal(3, 4), i=np.array([0, 2, 3]))
call("F.cross_entropy(x, i)", x=normal(3, 4), i=np.array([0, 2, 4]))
call("F.cross_entropy(x, i)", x=normal(3, 4), i=np.array([0, 2]))
call("F.cross_entropy(x, i, axis=5)", x=normal(3, 4), i=np.array([0, 2, 1]))
call("F.cross_entropy(x, i, label_smoothing=2.0)", x=normal(3, 4), i=np.array([0, 2, 1]))
call("F.cross_entropy(x, i, weight=paddle.ones([3], x.dtype))", x=normal(3, 4), i=np.array([0, 2, 1]))
call("F.cross_entropy(x, i)", x=normal(4), i=np.array(2))
call("F.binary_cross_entropy(x, x)", grad=False, x=normal(2, 3))
call("F.binary_cross_entropy(x, x)", grad=False, x=np.array([0.0, 1.0, 0.5]))
call("F.mse_loss(x, y)", x=normal(3, 4), y=normal(4, seed=1))
call("F.l1_loss(x, y)", x=normal(3, 4), y=normal(3, 5, seed=1))
for arguments in ("", ", soft_label=False, return_softmax=True", ", ignore_index=2", ", numeric_stable_mode=False", ", axis=-1"):
    call(f"F.softmax_with_cross_entropy(x, i{arguments})", x=normal(3, 4), i=np.array([[0], [2], [3]]))
call("F.softmax_with_cross_entropy(x, F.softmax(x.detach() * 2), soft_label=True)", x=normal(3, 4))
call("F.softmax_with_cross_entropy(x, i, axis=1)", x=normal(3, 4, 2), i=np.array([[[0, 2]], [[3, 3]], [[1, 0]]]))
call("F.square_error_cost(x, y)", x=normal(3, 4), y=normal(3, 4, seed=1))
call("F.log_loss(x, (x.detach() > 0.4).astype(x.dtype))", ("float32",), x=np.abs(inside(3, 1)))
call("F.log_loss(x, (x.detach() > 0.4).astype(x.dtype), epsilon=0.1)", ("float32",), x=np.abs(inside(3, 1)))
call("F.dice_loss(F.softmax(x), i)", x=normal(3, 4), i=np.array([[0], [2], [3]]))
call("F.dice_loss(F.softmax(x), i, epsilon=0.1)", x=normal(3, 2, 4), i=integers(3, 2, 1, low=0, high=4))
call("F.npair_loss(x, y, i)", ("float32",), x=normal(3, 4), y=normal(3, 4, seed=1), i=np.array([0, 1, 1]))
call("F.npair_loss(x, y, i, l2_reg=0.1)", ("float32",), x=normal(3, 4), y=normal(3, 4, seed=1), i=np.array([0.0, 1.0, 1.0]))
call("F.hsigmoid_loss(x, i, 5, w)", x=normal(3, 4), i=np.array([[0], [3], [4]]), w=normal(4, 4, seed=1))
call("F.hsigmoid_loss(x, i, 6, w, b)", x=normal(3, 4), i=np.array([[0], [3], [5]]), w=normal(5, 4, seed=1), b=normal(5, 1, seed=2))
call("F.hsigmoid_loss(x, i, 5, w, None, t, c)", x=normal(3, 4), i=np.array([[0], [3], [4]]), w=normal(4, 4, seed=1), t=np.array([[0, 2, -1], [0, 1, 3], [0, 1, 3]]), c=np.array([[0, 1, -1], [1, 0, 1], [1, 0, 0]]))
call("F.hsigmoid_loss(x, i, 1, w)", x=normal(3, 4), i=np.array([[0], [3], [4]]), w=normal(4, 4, seed=1))
call("F.class_center_sample(i, 20, 6)[1]", random=True, i=np.array([11, 5, 1, 11]))
call("F.class_center_sample(i, 20, 4)[1].numel()", grad=False, i=np.array([11, 5, 1, 3, 4, 7]))

# Attention.
for arguments in ("", ", training=False", ", dropout_p=0.0"):  # masks: Paddle has them on GPUs only
    call(f"F.scaled_dot_product_attention(x, y, z{arguments})", ("float32",), x=normal(2, 5, 2, 4), y=normal(2, 5, 2, 4, seed=1), z=normal(2, 5, 2, 4, seed=2))
for arguments in ("", ", dropout=0.5, training=False", ", return_softmax=True"):
    call(f"F.flash_attention.flash_attention(x, y, z{arguments})[0]", ("float32",), x=normal(2, 3, 2, 4), y=normal(2, 5, 2, 4, seed=1), z=normal(2, 5, 2, 4, seed=2))
call("F.flash_attention.flash_attention(x, y, y, return_softmax=True)[1]", ("float32",), x=normal(2, 3, 2, 4), y=normal(2, 5, 2, 4, seed=1))

# Distances and the rest.
for arguments in ("", ", p=1.0", ", 3.0, 0.1, True", ", p=float('inf')"):
    call(f"F.pairwise_distance(x, y{arguments})", x=normal(3, 4), y=normal(3, 4, seed=1))
