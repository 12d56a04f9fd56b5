"""What layers of real Paddle and of wherry are asked: how each is made, its inputs, its call.

    layer(how it is made, [call,] inputs...)

Statements are separated by "; "; the last one gives the layer, or the result. The default call gives
the layer all inputs in order. Floating inputs are cast to each dtype, which is the default dtype while
the layer is made; inputs named in `constant` get no gradient. In `random` rows only dtypes and shapes
are compared, in `initial` rows names, texts and the distribution of initial values. Rows that end the
process of real Paddle are not here: a kernel larger than the image, an ignored label in nll_loss, recurrent layers without
`bias_ih` or `bias_hh`. Nor is what it has no kernel for on a CPU: the forward of SyncBatchNorm, BatchNorm in
float64, gradients of recurrent layers in evaluation.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from calls import bools, distinct, inside, integers, normal, positive


class Row(NamedTuple):
    layer: str
    call: str | None
    inputs: dict
    dtypes: tuple
    modes: tuple
    constant: tuple
    random: bool
    backward: bool


LAYERS: list[Row] = []
FLOATS = ("float32", "float64")
BOTH = ("train", "eval")


def layer(how, call="", dtypes=FLOATS, modes=("train",), constant=(), random=False, backward=True, **inputs):
    LAYERS.append(Row(how, call or f"layer({', '.join(inputs)})", inputs, dtypes, modes, constant, random, backward))


def initial(how):
    LAYERS.append(Row(how, None, {}, ("float32",), ("train",), (), False, False))


def cases(rows):
    """Number, dtype and mode of everything that is run."""
    return [(number, dtype, mode) for number, row in enumerate(rows) for dtype in row.dtypes for mode in row.modes]


# Activations.
for name in ("ReLU", "ReLU6", "Sigmoid", "Silu", "Swish", "Mish", "Hardsigmoid", "Hardswish", "Softsign", "Tanh", "Tanhshrink", "LogSigmoid",
             "GELU", "ELU", "CELU", "SELU", "Hardshrink", "Softshrink", "Hardtanh", "LeakyReLU", "Softplus", "ThresholdedReLU", "Softmax",
             "LogSoftmax", "PReLU"):
    layer(f"nn.{name}()", x=normal(3, 4) * 3)
    layer(f"nn.{name}(name='mine')", x=normal(2, 3, 4, 2, seed=1) * 3)
for how in ("GELU(approximate=True)", "GELU(True)", "ELU(0.5)", "ELU(alpha=2.0)", "CELU(0.5)", "CELU(alpha=2.0)", "SELU(2.0, 1.5)", "Hardshrink(1.0)",
            "Softshrink(1.0)", "Hardtanh(-0.5, 2.0)", "LeakyReLU(0.3)", "LeakyReLU(negative_slope=-0.1)", "Softplus(2, 5)", "Softplus(0.5)",
            "Softplus(beta=3.0, threshold=1.0)", "ThresholdedReLU(0.5)", "Softmax(0)", "Softmax(1)", "Softmax(axis=-2)", "LogSoftmax(0)", "LogSoftmax(axis=1)",
            "Maxout(2)", "Maxout(groups=4)", "PReLU(4)", "PReLU(4, 0.1)", "PReLU(1, init=0.5)",
            "PReLU(4, weight_attr=paddle.ParamAttr(name='slope', initializer=nn.initializer.Constant(0.7)))"):
    layer(f"nn.{how}", x=distinct(2, 4, 3, 2) / 8 + 0.01)
layer("nn.PReLU(2, data_format='NHWC')", x=normal(2, 4, 3, 2))
layer("nn.Maxout(2, axis=-1)", x=normal(2, 3, 4))
layer("nn.Softmax2D()", x=normal(2, 3, 4, 2))
layer("nn.GLU()", x=normal(3, 4))
layer("nn.GLU(axis=0)", x=normal(4, 3))
layer("nn.RReLU(0.1, 0.3)", modes=("eval",), x=normal(3, 4))
layer("nn.RReLU()", random=True, x=normal(3, 4))
layer("nn.Softmax2D()", x=normal(2, 3))
layer("nn.Maxout(3)", x=normal(2, 4, 3, 2))
layer("nn.PReLU(3)", x=normal(2, 4, 3, 2))
layer("nn.Softmax(5)", x=normal(2, 3))
layer("nn.RReLU(0.5, 0.1)", x=normal(2, 3))

# Common layers.
for how in ("Linear(4, 3)", "Linear(in_features=4, out_features=5)", "Linear(4, 3, bias_attr=False)", "Linear(4, 3, weight_attr=False)",
            "Linear(4, 3, name='here')", "Linear(4, 3, weight_attr='w', bias_attr='b')",
            "Linear(4, 3, paddle.ParamAttr(initializer=nn.initializer.Constant(0.5)), paddle.ParamAttr(initializer=nn.initializer.Constant(1.5)))",
            "Linear(4, 3, weight_attr=paddle.ParamAttr(trainable=False))", "Linear(4, 3, weight_attr=paddle.ParamAttr(learning_rate=0.5))"):
    layer(f"nn.{how}", x=normal(2, 4))
layer("nn.Linear(4, 3)", x=normal(2, 5, 4))
layer("nn.Linear(4, 3)", x=normal(4))
layer("nn.Linear(4, 3)", x=normal(2, 5))
layer("nn.Linear(4, 3)", x=integers(2, 4))
layer("nn.Linear(0, 3)", x=normal(2, 0))
layer("nn.Linear(4)", x=normal(2, 4))
layer("nn.Bilinear(3, 4, 5)", x=normal(2, 3), y=normal(2, 4, seed=1))
layer("nn.Bilinear(3, 4, 5, bias_attr=False)", x=normal(2, 3), y=normal(2, 4, seed=1))
layer("nn.Bilinear(in1_features=3, in2_features=4, out_features=5, name='here')", x=normal(2, 3), y=normal(2, 4, seed=1))
layer("nn.Bilinear(3, 4, 5)", x=normal(2, 3), y=normal(2, 5, seed=1))
for how in ("Embedding(10, 3)", "Embedding(10, 3, padding_idx=2)", "Embedding(10, 3, padding_idx=-1)", "Embedding(10, 3, name='here')",
            "Embedding(10, 3, weight_attr=paddle.ParamAttr(name='table'))", "Embedding(10, 3, padding_idx=10)", "Embedding(10, 3, padding_idx=-11)",
            "Embedding(0, 3)", "Embedding(10, 0)"):
    layer(f"nn.{how}", x=integers(2, 4, low=0, high=10))
layer("nn.Embedding(10, 3)", x=integers(4, low=0, high=10, dtype="int32"))
layer("nn.Embedding(10, 3)", x=normal(2))
layer("nn.Embedding(10, 3)", x=np.array([10]))
for how in ("Flatten()", "Flatten(0)", "Flatten(start_axis=1, stop_axis=2)", "Flatten(-2, -1)", "Flatten(2, 1)", "Flatten(0, 7)"):
    layer(f"nn.{how}", x=normal(2, 3, 4, 2))
for how in ("Unflatten(1, [2, 2])", "Unflatten(axis=-1, shape=[3, -1])"):
    layer(f"nn.{how}", x=normal(2, 4, 3))
layer("nn.Identity()", x=normal(2, 3))
for how in ("Dropout()", "Dropout(0.3)", "Dropout(p=0.2, axis=0)", "Dropout(0.5, axis=[0, 1])", "Dropout(0.5, mode='downscale_in_infer')", "Dropout(0.0)",
            "Dropout(1.0)", "AlphaDropout()", "AlphaDropout(0.2)", "Dropout(name='here')"):
    layer(f"nn.{how}", modes=("eval",), x=normal(3, 4))
    layer(f"nn.{how}", random=True, x=normal(3, 4))
for how in ("Dropout(0.0)", "Dropout(1.0)", "AlphaDropout(0.0)", "AlphaDropout(1.0)"):
    layer(f"nn.{how}", x=normal(3, 4))
for how in ("Dropout2D()", "Dropout2D(0.3, data_format='NHWC')"):
    layer(f"nn.{how}", modes=("eval",), x=normal(2, 3, 4, 2))
    layer(f"nn.{how}", random=True, x=normal(2, 3, 4, 2))
for how in ("Dropout3D()", "Dropout3D(0.3, data_format='NDHWC')"):
    layer(f"nn.{how}", modes=("eval",), x=normal(2, 3, 4, 2, 2))
    layer(f"nn.{how}", random=True, x=normal(2, 3, 4, 2, 2))
for how in ("Dropout(1.5)", "Dropout(-0.1)", "Dropout('x')", "Dropout(0.5, mode='x')", "Dropout(0.5, axis=5)", "Dropout(0.5, axis='x')", "AlphaDropout(2.0)"):
    layer(f"nn.{how}", x=normal(3, 4))
layer("nn.Dropout2D()", x=normal(3, 4))
layer("nn.Dropout3D()", x=normal(3, 4))
for how in ("Pad1D(1)", "Pad1D([1, 2])", "Pad1D([1, 2], value=3.0)", "Pad1D([1, 2], 'reflect')", "Pad1D([1, 2], mode='replicate')", "Pad1D([1, 2], 'circular')",
            "Pad1D([2, 0], name='here')", "Pad1D([1, 2], data_format='NLC')", "Pad1D([1, 2], 'replicate', data_format='NLC')", "Pad1D([1, 2], 'x')",
            "Pad1D([0, 0])", "Pad1D([1, 2, 3])", "Pad1D([1, 9], 'reflect')"):
    layer(f"nn.{how}", x=normal(2, 3, 4))
for how in ("Pad2D(1)", "Pad2D([1, 2, 0, 1])", "Pad2D([1, 2, 0, 1], value=-1.0)", "Pad2D([1, 2, 0, 1], 'reflect')", "Pad2D([1, 2, 0, 1], 'replicate')",
            "Pad2D([1, 2, 0, 1], 'circular')", "Pad2D([1, 2, 0, 1], data_format='NHWC')", "Pad2D([1, 2, 0, 1], 'reflect', data_format='NHWC')",
            "ZeroPad2D(1)", "ZeroPad2D([1, 2, 0, 1])", "ZeroPad2D([1, 2, 0, 1], data_format='NHWC', name='here')", "Pad2D([1, 2, 0, 1], data_format='NCW')"):
    layer(f"nn.{how}", x=normal(2, 4, 4, 4))
for how in ("Pad3D(1)", "Pad3D([1, 2, 0, 1, 1, 0])", "Pad3D([1, 2, 0, 1, 1, 0], value=2.0)", "Pad3D([1, 2, 0, 1, 1, 0], 'reflect')",
            "Pad3D([1, 2, 0, 1, 1, 0], 'replicate')", "Pad3D([1, 2, 0, 1, 1, 0], 'circular')", "Pad3D([1, 2, 0, 1, 1, 0], data_format='NDHWC')"):
    layer(f"nn.{how}", x=normal(2, 3, 3, 4, 3))
for how in ("Upsample(scale_factor=2)", "Upsample(size=[5, 7])", "Upsample([5, 7], mode='bilinear')", "Upsample([5, 7], None, 'bilinear', True)",
            "Upsample(scale_factor=[2, 3], mode='bilinear', align_mode=1)", "Upsample(scale_factor=1.5, mode='bilinear')", "Upsample(size=[5, 7], mode='bicubic')",
            "Upsample(size=[5, 7], mode='bicubic', align_corners=True)", "Upsample(size=[2, 3], mode='area')", "Upsample(size=[2, 2])", "Upsample(size=[2, 2], mode='bilinear')",
            "UpsamplingNearest2D(scale_factor=2)", "UpsamplingNearest2D([5, 7])", "UpsamplingBilinear2D(scale_factor=2)", "UpsamplingBilinear2D(size=[5, 7])",
            "Upsample()", "Upsample(size=[5, 7], mode='linear')", "Upsample(size=[5, 7], mode='x')", "Upsample(size=[5])", "Upsample(size=[5, 7], align_corners=True)"):
    layer(f"nn.{how}", x=normal(2, 3, 4, 4))
layer("nn.Upsample(size=[5, 7], mode='bilinear', data_format='NHWC')", x=normal(2, 4, 4, 3))
layer("nn.Upsample(scale_factor=2, data_format='NHWC')", x=normal(2, 4, 4, 3))
layer("nn.Upsample(size=[7], mode='linear', data_format='NCW')", x=normal(2, 3, 4))
layer("nn.Upsample(scale_factor=2, mode='linear', align_corners=True, data_format='NWC')", x=normal(2, 4, 3))
layer("nn.Upsample(size=[5, 6, 7], mode='trilinear', data_format='NCDHW')", x=normal(1, 2, 3, 4, 3))
layer("nn.Upsample(size=[5, 6, 7], mode='trilinear', align_corners=True, data_format='NDHWC')", x=normal(1, 3, 4, 3, 2))
layer("nn.Upsample(size=[5, 6, 7], mode='nearest', data_format='NCDHW')", x=normal(1, 2, 3, 4, 3))
for how in ("PixelShuffle(2)", "PixelShuffle(upscale_factor=2, data_format='NCHW', name='here')", "PixelShuffle(3)", "PixelShuffle(2.0)", "PixelShuffle(2, 'x')"):
    layer(f"nn.{how}", x=normal(2, 4, 3, 2))
layer("nn.PixelShuffle(2, 'NHWC')", x=normal(2, 3, 2, 4))
layer("nn.PixelUnshuffle(2)", x=normal(2, 3, 4, 6))
layer("nn.PixelUnshuffle(2, data_format='NHWC')", x=normal(2, 4, 6, 3))
layer("nn.ChannelShuffle(2)", x=normal(2, 4, 3, 2))
layer("nn.ChannelShuffle(2, data_format='NHWC')", x=normal(2, 3, 2, 4))
for how in ("Unfold(2)", "Unfold([2, 3])", "Unfold(kernel_sizes=2, dilations=2, paddings=1, strides=2)", "Unfold([2, 2], paddings=[1, 0, 1, 1])", "Unfold(2, strides=[1, 2])",
            "Unfold(9)"):
    layer(f"nn.{how}", x=normal(2, 3, 5, 6))
for how in ("Fold([4, 5], 2)", "Fold(output_sizes=[4, 5], kernel_sizes=[2, 2], name='here')"):
    layer(f"nn.{how}", x=normal(2, 8, 12))
layer("nn.Fold([4, 5], [2, 2], dilations=1, paddings=[1, 1], strides=2)", x=normal(2, 8, 9))
layer("nn.Fold([4, 5], 2, 1, 1, 2)", x=normal(2, 8, 9))
layer("nn.Fold([4, 5], 2)", x=normal(2, 8, 13))
for how in ("CosineSimilarity()", "CosineSimilarity(axis=0)", "CosineSimilarity(-1, eps=0.5)", "PairwiseDistance()", "PairwiseDistance(1)", "PairwiseDistance(3.0, 0.1)",
            "PairwiseDistance(p=float('inf'))", "PairwiseDistance(keepdim=True, name='here')", "PairwiseDistance(p=0)"):
    layer(f"nn.{how}", x=normal(3, 4), y=normal(3, 4, seed=1))
layer("nn.CosineSimilarity()", x=normal(2, 3, 4), y=normal(2, 3, 4, seed=1))

# Convolutions.
for how in ("Conv1D(4, 6, 3)", "Conv1D(4, 6, 3, stride=2, padding=1)", "Conv1D(4, 6, [3], dilation=2, padding=2)", "Conv1D(4, 6, 3, groups=2)", "Conv1D(4, 4, 3, groups=4)",
            "Conv1D(4, 6, 3, padding='same')", "Conv1D(4, 6, 3, padding='valid')", "Conv1D(4, 6, 3, padding=[1, 2])", "Conv1D(4, 6, 3, bias_attr=False)",
            "Conv1D(4, 6, 3, padding=1, padding_mode='reflect')", "Conv1D(4, 6, 3, padding=1, padding_mode='replicate')", "Conv1D(4, 6, 3, padding=1, padding_mode='circular')",
            "Conv1D(4, 6, 3, stride=2, padding='same')", "Conv1D(4, 6, 3, weight_attr=paddle.ParamAttr(name='w'))", "Conv1D(4, 6, 1)",
            "Conv1D(4, 6, 3, groups=3)", "Conv1D(4, 6, 3, padding='x')", "Conv1D(4, 6, 3, padding_mode='x')", "Conv1D(5, 6, 3)", "Conv1D(4, 6, 3, data_format='x')"):
    layer(f"nn.{how}", x=normal(2, 4, 8))
layer("nn.Conv1D(4, 6, 3, padding=1, data_format='NLC')", x=normal(2, 8, 4))
for how in ("Conv1DTranspose(4, 6, 3)", "Conv1DTranspose(4, 6, 3, stride=2, padding=1)", "Conv1DTranspose(4, 6, 3, stride=2, output_padding=1)", "Conv1DTranspose(4, 6, 3, groups=2)",
            "Conv1DTranspose(4, 6, 3, dilation=2)", "Conv1DTranspose(4, 6, 3, padding='same')", "Conv1DTranspose(4, 6, 3, padding='valid')", "Conv1DTranspose(4, 6, 3, bias_attr=False)",
            "Conv1DTranspose(4, 6, 2, stride=3)"):
    layer(f"nn.{how}", x=normal(2, 4, 5))
layer("nn.Conv1DTranspose(4, 6, 3, stride=2)", "layer(x, output_size=[12])", x=normal(2, 4, 5))
layer("nn.Conv1DTranspose(4, 6, 3, data_format='NLC')", x=normal(2, 5, 4))
for how in ("Conv2D(4, 6, 3)", "Conv2D(4, 6, [3, 2], stride=[2, 1], padding=1)", "Conv2D(4, 6, 3, dilation=2)", "Conv2D(4, 6, 3, groups=2)", "Conv2D(4, 8, 3, groups=4, padding=1)",
            "Conv2D(4, 6, 3, padding='same')", "Conv2D(4, 6, 3, padding='SAME', stride=2)", "Conv2D(4, 6, 3, padding='valid')", "Conv2D(4, 6, 3, padding=[1, 2])",
            "Conv2D(4, 6, 3, padding=[1, 0, 2, 1])", "Conv2D(4, 6, 3, padding=[[0, 0], [0, 0], [1, 0], [2, 1]])", "Conv2D(4, 6, 3, bias_attr=False)",
            "Conv2D(4, 6, 1)", "Conv2D(4, 6, 1, stride=2)", "Conv2D(in_channels=4, out_channels=6, kernel_size=3, padding_mode='reflect', padding=1)",
            "Conv2D(4, 6, 3, padding=[1, 2], padding_mode='replicate')", "Conv2D(4, 6, 3, padding=[1, 2], padding_mode='circular')",
            "Conv2D(4, 6, 5, stride=2, padding=2, dilation=1)", "Conv2D(4, 6, 3, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.1)), bias_attr='b')",
            "Conv2D(4, 6, 3, groups=3)", "Conv2D(4, 5, 3, groups=2)", "Conv2D(4, 6, 3, padding='x')", "Conv2D(4, 6, 3, padding_mode='x')", "Conv2D(5, 6, 3)",
            "Conv2D(4, 6, 3, weight_attr=False)", "Conv2D(4, 6, [3])", "Conv2D(4, 6, 3, data_format='NCH')", "Conv2D(4, 6, 3, stride=0)", "Conv2D(4, 6, 3, padding=-1)"):
    layer(f"nn.{how}", x=normal(2, 4, 6, 7))
layer("nn.Conv2D(4, 6, 3, padding=1, data_format='NHWC')", x=normal(2, 6, 7, 4))
layer("nn.Conv2D(4, 6, 3, stride=2, padding='same', groups=2, data_format='NHWC')", x=normal(2, 6, 7, 4))
layer("nn.Conv2D(4, 6, 3, padding=1, padding_mode='reflect', data_format='NHWC')", x=normal(2, 6, 7, 4))
layer("nn.Conv2D(4, 6, 3)", x=normal(4, 6, 7))
for how in ("Conv2DTranspose(4, 6, 3)", "Conv2DTranspose(4, 6, 3, stride=2, padding=1)", "Conv2DTranspose(4, 6, 3, stride=2, padding=1, output_padding=1)",
            "Conv2DTranspose(4, 6, [3, 2], stride=[2, 1])", "Conv2DTranspose(4, 6, 3, groups=2)", "Conv2DTranspose(4, 6, 3, dilation=2)", "Conv2DTranspose(4, 6, 3, padding='same')",
            "Conv2DTranspose(4, 6, 3, padding='valid')", "Conv2DTranspose(4, 6, 3, bias_attr=False)", "Conv2DTranspose(4, 6, 2, stride=2)", "Conv2DTranspose(4, 4, 3, groups=4)",
            "Conv2DTranspose(4, 6, 3, padding=[1, 0, 2, 1])", "Conv2DTranspose(4, 6, 3, stride=2, padding='same')", "Conv2DTranspose(5, 6, 3)", "Conv2DTranspose(4, 6, 3, groups=3)",
            "Conv2DTranspose(4, 6, 3, output_padding=2)"):
    layer(f"nn.{how}", x=normal(2, 4, 4, 5))
layer("nn.Conv2DTranspose(4, 6, 3, stride=2)", "layer(x, output_size=[10, 12])", x=normal(2, 4, 4, 5))
layer("nn.Conv2DTranspose(4, 6, 3, stride=2)", "layer(x, [9, 12])", x=normal(2, 4, 4, 5))
layer("nn.Conv2DTranspose(4, 6, 3, stride=2)", "layer(x, [90, 12])", x=normal(2, 4, 4, 5))
layer("nn.Conv2DTranspose(4, 6, 3, data_format='NHWC')", x=normal(2, 4, 5, 4))
for how in ("Conv3D(2, 4, 3)", "Conv3D(2, 4, [3, 2, 1], stride=[1, 2, 1], padding=1)", "Conv3D(2, 4, 3, groups=2)", "Conv3D(2, 4, 2, dilation=2)", "Conv3D(2, 4, 3, padding='same')",
            "Conv3D(2, 4, 3, padding=[1, 0, 1])", "Conv3D(2, 4, 3, padding=[1, 0, 1, 2, 0, 1])", "Conv3D(2, 4, 3, bias_attr=False)", "Conv3D(2, 4, 3, padding=1, padding_mode='replicate')",
            "Conv3D(2, 4, 3, padding=1, padding_mode='circular')", "Conv3D(2, 4, 3, padding=1, padding_mode='reflect')", "Conv3D(2, 4, 1)", "Conv3D(3, 4, 3)"):
    layer(f"nn.{how}", x=normal(2, 2, 4, 5, 4))
layer("nn.Conv3D(2, 4, 3, padding=1, data_format='NDHWC')", x=normal(2, 4, 5, 4, 2))
for how in ("Conv3DTranspose(2, 4, 3)", "Conv3DTranspose(2, 4, 3, stride=2, padding=1, output_padding=1)", "Conv3DTranspose(2, 4, [3, 2, 1], stride=[1, 2, 1])",
            "Conv3DTranspose(2, 4, 3, groups=2)", "Conv3DTranspose(2, 4, 2, dilation=2)", "Conv3DTranspose(2, 4, 3, padding='same')", "Conv3DTranspose(2, 4, 2, bias_attr=False)"):
    layer(f"nn.{how}", x=normal(2, 2, 3, 4, 3))
layer("nn.Conv3DTranspose(2, 4, 3, stride=2)", "layer(x, output_size=[8, 9, 8])", x=normal(2, 2, 3, 4, 3))
layer("nn.Conv3DTranspose(2, 4, 3, data_format='NDHWC')", x=normal(2, 3, 4, 3, 2))

# Pooling.
for how in ("MaxPool1D(2)", "MaxPool1D(3, 2)", "MaxPool1D(3, stride=2, padding=1)", "MaxPool1D(3, 2, 1, ceil_mode=True)", "MaxPool1D(2, return_mask=True)", "MaxPool1D(3, padding='same')",
            "MaxPool1D(3, padding='valid')", "AvgPool1D(2)", "AvgPool1D(3, 2)", "AvgPool1D(3, stride=2, padding=1)", "AvgPool1D(3, 2, 1, exclusive=False)", "AvgPool1D(3, 2, 1, True, True)",
            "AvgPool1D(3, padding='same')", "AdaptiveAvgPool1D(3)", "AdaptiveAvgPool1D(1)", "AdaptiveMaxPool1D(3)", "AdaptiveMaxPool1D(3, return_mask=True)",
            "MaxPool1D(3, padding=2)", "AvgPool1D(3, padding='x')", "MaxPool1D(2, name='here')", "AdaptiveAvgPool1D([3, 2])"):
    layer(f"nn.{how}", x=distinct(2, 3, 7))
for how in ("MaxPool2D(2)", "MaxPool2D(3, 2)", "MaxPool2D([3, 2], stride=[2, 1], padding=[1, 0])", "MaxPool2D(3, 2, 1, ceil_mode=True)", "MaxPool2D(2, return_mask=True)",
            "MaxPool2D(3, 2, 1, return_mask=True)", "MaxPool2D(3, padding='same')", "MaxPool2D(3, 2, padding='SAME')", "MaxPool2D(3, padding='valid')", "MaxPool2D(3, 1, [1, 0, 1, 1])",
            "AvgPool2D(2)", "AvgPool2D(3, 2)", "AvgPool2D([3, 2], stride=[2, 1], padding=[1, 0])", "AvgPool2D(3, 2, 1, ceil_mode=True)", "AvgPool2D(3, 2, 1, exclusive=False)",
            "AvgPool2D(3, 2, 1, divisor_override=5)", "AvgPool2D(3, padding='same')", "AvgPool2D(3, 2, padding='same', exclusive=False)", "AvgPool2D(2, name='here')",
            "AvgPool2D(3, 2, 1, ceil_mode=True, exclusive=False)",
            "AdaptiveAvgPool2D(3)", "AdaptiveAvgPool2D([3, 2])", "AdaptiveAvgPool2D((None, 2))", "AdaptiveAvgPool2D(1)", "AdaptiveMaxPool2D(3)", "AdaptiveMaxPool2D([3, 2], return_mask=True)",
            "AdaptiveMaxPool2D([None, 2])", "MaxPool2D(3, padding='x')", "MaxPool2D([2])", "AvgPool2D(2, data_format='x')", "MaxPool2D(2, stride=0)", "MaxPool2D(0)",
            "AdaptiveAvgPool2D(3, data_format='x')", "AvgPool2D(2, divisor_override=0)"):
    layer(f"nn.{how}", x=distinct(2, 3, 6, 7))
for how in ("MaxPool2D(2, data_format='NHWC')", "AvgPool2D(3, 2, 1, data_format='NHWC')", "AdaptiveAvgPool2D([3, 2], data_format='NHWC')", "MaxPool2D(2, return_mask=True, data_format='NHWC')"):
    layer(f"nn.{how}", x=distinct(2, 6, 7, 3))
for how in ("MaxPool3D(2)", "MaxPool3D(3, 2, 1)", "MaxPool3D([3, 2, 1], stride=[2, 1, 1], padding=[1, 0, 0])", "MaxPool3D(2, return_mask=True)", "MaxPool3D(3, 2, 1, ceil_mode=True)",
            "MaxPool3D(3, padding='same')", "AvgPool3D(2)", "AvgPool3D(3, 2, 1)", "AvgPool3D(3, 2, 1, exclusive=False)", "AvgPool3D(3, 2, 1, divisor_override=5)",
            "AvgPool3D(3, 2, 1, ceil_mode=True)", "AdaptiveAvgPool3D(2)", "AdaptiveAvgPool3D([3, 2, 1])", "AdaptiveAvgPool3D((None, 2, 2))", "AdaptiveMaxPool3D(2)",
            "AdaptiveMaxPool3D([3, 2, 1], return_mask=True)"):
    layer(f"nn.{how}", x=distinct(2, 2, 5, 6, 4))
layer("nn.MaxPool3D(2, data_format='NDHWC')", x=distinct(2, 5, 6, 4, 2))
layer("nn.AvgPool3D(2, data_format='NDHWC')", x=distinct(2, 5, 6, 4, 2))
layer("nn.AdaptiveAvgPool3D(2, data_format='NDHWC')", x=distinct(2, 5, 6, 4, 2))
layer("nn.MaxUnPool1D(2)", "y, m = F.max_pool1d(x, 2, return_mask=True); layer(y, m)", x=distinct(2, 3, 8))
layer("nn.MaxUnPool1D(2, output_size=[2, 3, 9])", "y, m = F.max_pool1d(x, 2, return_mask=True); layer(y, m)", x=distinct(2, 3, 9))
layer("nn.MaxUnPool2D(2)", "y, m = F.max_pool2d(x, 2, return_mask=True); layer(y, m)", x=distinct(2, 3, 4, 6))
layer("nn.MaxUnPool2D(3, stride=2, padding=1)", "y, m = F.max_pool2d(x, 3, 2, 1, return_mask=True); layer(y, m)", x=distinct(2, 3, 5, 7))
layer("nn.MaxUnPool2D(2, output_size=[5, 7])", "y, m = F.max_pool2d(x, 2, return_mask=True); layer(y, m)", x=distinct(2, 3, 5, 7))
layer("nn.MaxUnPool3D(2)", "y, m = F.max_pool3d(x, 2, return_mask=True); layer(y, m)", x=distinct(1, 2, 4, 4, 6))
layer("nn.MaxUnPool2D(2, data_format='NHWC')", "y, m = F.max_pool2d(x, 2, return_mask=True); layer(y, m)", x=distinct(2, 3, 4, 6))

# Normalization.
for rank, shape in ((1, (4, 3, 5)), (2, (4, 3, 5, 2)), (3, (2, 3, 2, 3, 2))):
    for arguments in ("3", "3, momentum=0.5, epsilon=1e-2", "3, weight_attr=False", "3, bias_attr=False", "3, weight_attr=False, bias_attr=False", "3, use_global_stats=True",
                      "3, use_global_stats=False", "num_features=3, name='here'", "3, weight_attr=paddle.ParamAttr(name='scale')", "5"):
        layer(f"nn.BatchNorm{rank}D({arguments})", modes=BOTH, x=normal(*shape))
    for arguments in ("3", "3, epsilon=1e-2, momentum=0.5", "3, weight_attr=False, bias_attr=False", "num_features=3, name='here'", "5"):
        layer(f"nn.InstanceNorm{rank}D({arguments})", modes=BOTH, x=normal(*shape))
layer("nn.BatchNorm1D(3)", modes=BOTH, x=normal(5, 3))
layer("nn.BatchNorm1D(3, data_format='NLC')", modes=BOTH, x=normal(4, 5, 3))
layer("nn.BatchNorm2D(3, data_format='NHWC')", modes=BOTH, x=normal(4, 5, 2, 3))
layer("nn.BatchNorm3D(3, data_format='NDHWC')", modes=BOTH, x=normal(2, 3, 2, 2, 3))
layer("nn.BatchNorm2D(3)", x=normal(4, 3))
layer("nn.BatchNorm1D(3)", x=normal(4, 3, 2, 2))
layer("nn.BatchNorm2D(3, data_format='x')", x=normal(4, 3, 5, 2))
for arguments in ("3", "3, 'relu'", "3, act='sigmoid', momentum=0.8, epsilon=1e-3", "num_channels=3, is_test=True", "3, use_global_stats=True", "3, trainable_statistics=True",
                  "3, param_attr=paddle.ParamAttr(name='scale'), bias_attr=paddle.ParamAttr(name='shift')", "3, moving_mean_name='mm', moving_variance_name='mv'",
                  "3, param_attr=False, bias_attr=False"):
    layer(f"nn.BatchNorm({arguments})", dtypes=("float32",), modes=BOTH, x=normal(4, 3, 5, 2))
layer("nn.BatchNorm(3, data_layout='NHWC')", dtypes=("float32",), modes=BOTH, x=normal(4, 5, 2, 3))
layer("nn.BatchNorm(3)", dtypes=("float32",), modes=BOTH, x=normal(4, 3))
for arguments in ("4", "[3, 4]", "(3, 4), epsilon=1e-4", "4, weight_attr=False", "4, bias_attr=False", "4, weight_attr=False, bias_attr=False", "[4], name='here'", "normalized_shape=[3, 4]",
                  "4, weight_attr=paddle.ParamAttr(name='scale')", "3", "[4, 3]"):
    layer(f"nn.LayerNorm({arguments})", x=normal(2, 3, 4))
for arguments in ("2, 4", "1, 4", "4, 4", "num_groups=2, num_channels=4, epsilon=0.1", "2, 4, weight_attr=False, bias_attr=False", "2, 4, name='here'", "2, 4, weight_attr=False", "3, 4", "2, 6"):
    layer(f"nn.GroupNorm({arguments})", x=normal(2, 4, 3, 2))
layer("nn.GroupNorm(2, 4)", x=normal(3, 4))
layer("nn.GroupNorm(2, 4)", x=normal(3, 4, 5))
layer("nn.GroupNorm(2, 4)", x=normal(2, 4, 2, 3, 2))
layer("nn.GroupNorm(2, 4, data_format='NHWC')", x=normal(2, 3, 2, 4))
layer("nn.GroupNorm(2, 4, data_format='x')", x=normal(2, 3, 2, 4))
layer("nn.InstanceNorm2D(3, data_format='NHWC')", x=normal(2, 3, 2, 3))
layer("nn.InstanceNorm2D(3)", x=normal(2, 3))
for arguments in ("3", "2", "5, alpha=0.1, beta=0.5, k=2.0", "size=3, name='here'"):
    layer(f"nn.LocalResponseNorm({arguments})", x=normal(2, 6, 3, 4))
layer("nn.LocalResponseNorm(3)", x=normal(2, 6, 3))
layer("nn.LocalResponseNorm(3)", x=normal(2, 6, 3, 2, 2))
layer("nn.LocalResponseNorm(3, data_format='NHWC')", x=normal(2, 3, 4, 6))
layer("nn.LocalResponseNorm(3)", x=normal(2, 6))
for arguments in ("[4, 3]", "[4, 3], dim=1", "[4, 3], power_iters=3", "[4, 3], 0, 2, 1e-3", "weight_shape=[4, 3, 2, 2], dim=1, power_iters=2"):
    layer(f"nn.SpectralNorm({arguments})", dtypes=("float32",), x=normal(*((4, 3, 2, 2) if "2, 2" in arguments else (4, 3))))
layer("nn.utils.weight_norm(nn.Linear(4, 3))", x=normal(2, 4))
layer("nn.utils.weight_norm(nn.Linear(4, 3), dim=None)", x=normal(2, 4))
layer("nn.utils.weight_norm(nn.Linear(4, 3), 'weight', 1)", x=normal(2, 4))
layer("nn.utils.weight_norm(nn.Conv2D(4, 6, 3), dim=-1)", x=normal(2, 4, 5, 5))
layer("nn.utils.weight_norm(nn.Conv2D(4, 6, 3))", x=normal(2, 4, 5, 5))
layer("nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(4, 3)))", x=normal(2, 4))
layer("nn.utils.remove_weight_norm(nn.Linear(4, 3))", x=normal(2, 4))
layer("nn.utils.weight_norm(nn.Linear(4, 3), 'nonesuch')", x=normal(2, 4))
layer("nn.utils.spectral_norm(nn.Linear(4, 3))", modes=BOTH, x=normal(2, 4))
layer("nn.utils.spectral_norm(nn.Conv2D(4, 6, 3), n_power_iterations=2, eps=1e-6)", modes=BOTH, x=normal(2, 4, 5, 5))
layer("nn.utils.spectral_norm(nn.Linear(4, 3), dim=0)", modes=BOTH, x=normal(2, 4))
layer("nn.utils.spectral_norm(nn.Linear(4, 3), n_power_iterations=0)", x=normal(2, 4))
layer("nn.Linear(4, 3)", "nn.utils.parameters_to_vector(layer.parameters())", constant=("x",), x=normal(2, 4))
layer("nn.Linear(2, 2)", "nn.utils.vector_to_parameters(v, layer.parameters()); layer(x)", constant=("v",), x=normal(1, 2), v=normal(6, seed=1))

# Recurrent layers.
for cell, states in (("SimpleRNNCell", ""), ("GRUCell", ""), ("LSTMCell", "(h, c)")):
    for arguments in ("4, 3", "input_size=4, hidden_size=3, bias_ih_attr=False", "4, 3, bias_hh_attr=False, name='here'", "4, 3, weight_ih_attr='w', weight_hh_attr='u'"):
        layer(f"nn.{cell}({arguments})", x=normal(2, 4))
    layer(f"nn.{cell}(4, 3)", f"layer(x, {states or 'h'})", x=normal(2, 4), h=normal(2, 3, seed=1), c=normal(2, 3, seed=2))
    layer(f"nn.{cell}(4, 3)", "layer.get_initial_states(x)", x=normal(2, 4))
    layer(f"nn.{cell}(4, 3)", "layer.get_initial_states(x, [5], init_value=2.0)", x=normal(2, 4))
    layer(f"nn.{cell}(4, 3)", "layer.state_shape", x=normal(2, 4))
    layer(f"nn.{cell}(4, 0)", x=normal(2, 4))
    layer(f"nn.{cell}(4, 3)", x=normal(2, 5))
    for wrapped in (f"nn.RNN(nn.{cell}(4, 3))", f"nn.RNN(nn.{cell}(4, 3), is_reverse=True)", f"nn.RNN(nn.{cell}(4, 3), time_major=True)", f"nn.BiRNN(nn.{cell}(4, 3), nn.{cell}(4, 3))",
                    f"nn.BiRNN(nn.{cell}(4, 3), nn.{cell}(4, 3), time_major=True)"):
        layer(wrapped, x=normal(2, 5, 4))
    layer(f"nn.RNN(nn.{cell}(4, 3))", "layer(x, sequence_length=n)", x=normal(2, 5, 4), n=np.array([5, 3]))
    layer(f"nn.RNN(nn.{cell}(4, 3), is_reverse=True)", "layer(x, sequence_length=n)", x=normal(2, 5, 4), n=np.array([5, 3]))
    layer(f"nn.RNN(nn.{cell}(4, 3))", f"layer(x, {states or 'h'})", x=normal(2, 5, 4), h=normal(2, 3, seed=1), c=normal(2, 3, seed=2))
    layer(f"nn.BiRNN(nn.{cell}(4, 3), nn.{cell}(4, 3))", "layer(x, sequence_length=n)", x=normal(2, 5, 4), n=np.array([5, 3]))
layer("nn.BiRNN(nn.GRUCell(4, 3), nn.GRUCell(5, 3))", x=normal(2, 5, 4))
layer("nn.RNN(nn.Linear(4, 3))", x=normal(2, 5, 4))
layer("nn.SimpleRNNCell(4, 3, activation='relu')", x=normal(2, 4))
layer("nn.SimpleRNNCell(4, 3, activation='x')", x=normal(2, 4))
for name in ("SimpleRNN", "GRU", "LSTM"):
    for arguments in ("4, 3", "4, 3, 2", "4, 3, num_layers=2, direction='bidirect'", "4, 3, direction='bidirectional'", "4, 3, time_major=True",
                      "4, 3, 2, weight_ih_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.1))", "input_size=4, hidden_size=3, name='here'", "4, 3, 2, dropout=0.0",
                      "4, 3, direction='backward'", "4, 3, direction='x'", "5, 3", "4, 3, 3, 'bidirect', True"):
        layer(f"nn.{name}({arguments})", x=normal(2, 5, 4))
        layer(f"nn.{name}({arguments})", modes=("eval",), backward=False, x=normal(2, 5, 4))
    for direction in ("forward", "bidirect"):
        layer(f"nn.{name}(4, 3, 2, '{direction}')", "layer(x, sequence_length=n)", x=normal(3, 5, 4), n=np.array([5, 1, 3]))
        number = 2 if direction == "forward" else 4
        layer(f"nn.{name}(4, 3, 2, '{direction}')", f"layer(x, {'(h, c)' if name == 'LSTM' else 'h'})", x=normal(2, 5, 4), h=normal(number, 2, 3, seed=1), c=normal(number, 2, 3, seed=2))
        layer(f"nn.{name}(4, 3, 2, '{direction}')", f"layer(x, {'(h, c)' if name == 'LSTM' else 'h'}, n)", x=normal(2, 5, 4), h=normal(number, 2, 3, seed=1),
              c=normal(number, 2, 3, seed=2), n=np.array([2, 5], "int32"))
    layer(f"nn.{name}(4, 3, 2, dropout=0.5)", modes=("eval",), backward=False, x=normal(2, 5, 4))
    layer(f"nn.{name}(4, 3, 2, dropout=0.5)", random=True, x=normal(2, 5, 4))
    layer(f"nn.{name}(4, 3)", x=normal(5, 4))
    layer(f"nn.{name}(4, 3)", x=normal(2, 1, 4))
layer("nn.SimpleRNN(4, 3, activation='relu')", x=normal(2, 5, 4))
layer("nn.SimpleRNN(4, 3, activation='x')", x=normal(2, 5, 4))

for cell in ("GRUCell", "LSTMCell", "SimpleRNNCell"):
    for arguments in ("max_step_num=5", "max_step_num=4, output_time_major=True", "max_step_num=6, return_length=True", "max_step_num=5, impute_finished=True", "max_step_num=3, is_test=True"):
        layer(f"nn.Sequential(nn.{cell}(4, 5), nn.Embedding(7, 4), nn.Linear(5, 7))",
              f"d = nn.BeamSearchDecoder(layer[0], 0, end_token=1, beam_size=3, embedding_fn=layer[1], output_fn=layer[2]); nn.dynamic_decode(d, layer[0].get_initial_states(x), {arguments})",
              backward=False, x=normal(2, 4))
layer("nn.GRUCell(4, 5)", "nn.BeamSearchDecoder.tile_beam_merge_with_batch(x, 3)", x=normal(2, 4))
layer("nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Conv2D(3, 4, 1), nn.BatchNorm2D(4)))", "layer[0](x)", x=normal(2, 3, 4, 4))

# Attention and Transformer. Dropout is off, so that both compute the same.
for arguments in ("8, 2", "8, 1", "embed_dim=8, num_heads=4, dropout=0.0", "8, 2, need_weights=True", "8, 2, bias_attr=False", "8, 2, kdim=8, vdim=8", "8, 3",
                  "8, 2, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(0.1))"):
    layer(f"nn.MultiHeadAttention({arguments})", x=normal(2, 5, 8))
    layer(f"nn.MultiHeadAttention({arguments})", "layer(x, y, y)", x=normal(2, 5, 8), y=normal(2, 3, 8, seed=1))
layer("nn.MultiHeadAttention(8, 2, kdim=6, vdim=4)", x=normal(2, 5, 8), k=normal(2, 3, 6, seed=1), v=normal(2, 3, 4, seed=2))
layer("nn.MultiHeadAttention(8, 2)", "layer(x, attn_mask=m)", constant=("m",), x=normal(2, 5, 8), m=normal(2, 2, 5, 5, seed=1))
layer("nn.MultiHeadAttention(8, 2)", "layer(x, attn_mask=m)", x=normal(2, 5, 8), m=normal(2, 2, 5, 5, seed=1))
layer("nn.MultiHeadAttention(8, 2)", "layer(x, attn_mask=m)", x=normal(2, 5, 8), m=np.tril(np.ones((5, 5), bool)))
layer("nn.MultiHeadAttention(8, 2)", "layer(x, attn_mask=m)", x=normal(2, 5, 8), m=np.tril(np.ones((2, 1, 5, 5), "int64")))
layer("nn.MultiHeadAttention(8, 2)", "layer(x, attn_mask=m)", x=normal(2, 5, 8), m=bools(2, 2, 4, 4))
layer("nn.MultiHeadAttention(8, 2, dropout=0.5)", modes=("eval",), x=normal(2, 5, 8))
layer("nn.MultiHeadAttention(8, 2, dropout=0.5)", random=True, x=normal(2, 5, 8))
layer("nn.MultiHeadAttention(8, 2)", "cache = layer.gen_cache(x); layer(x[:, :1], x[:, :1], x[:, :1], None, cache)", x=normal(2, 5, 8))
layer("nn.MultiHeadAttention(8, 2)", "cache = layer.gen_cache(x, x, nn.MultiHeadAttention.StaticCache); layer(x, x, x, None, cache)", x=normal(2, 5, 8))
layer("nn.MultiHeadAttention(8, 2)", "cache = layer.gen_cache(x, type=nn.MultiHeadAttention.StaticCache); layer(x, x, x, cache=cache)", x=normal(2, 5, 8))
layer("nn.MultiHeadAttention(8, 2)", "layer.compute_kv(x, x)", x=normal(2, 5, 8))
layer("nn.MultiHeadAttention(8, 2, need_weights=True)", "cache = layer.gen_cache(x); layer(x, x, x, None, cache)", x=normal(2, 5, 8))
layer("nn.MultiHeadAttention(0, 2)", x=normal(2, 5, 8))
for arguments in ("8, 2, 16, 0.0", "8, 2, 16, dropout=0.0, activation='gelu'", "8, 2, 16, 0.0, normalize_before=True", "8, 2, 16, 0.0, bias_attr=False",
                  "8, 2, 16, 0.0, weight_attr=[None, paddle.ParamAttr(initializer=nn.initializer.Constant(0.1))]", "8, 2, 16, 0.0, 'tanh', 0.0, 0.0, True", "8, 2, 16, 0.0, activation='nonesuch'",
                  "8, 2, 16, 0.0, weight_attr=[None]"):
    layer(f"nn.TransformerEncoderLayer({arguments})", x=normal(2, 5, 8))
    layer(f"nn.TransformerDecoderLayer({arguments})", x=normal(2, 5, 8), memory=normal(2, 4, 8, seed=1))
layer("nn.TransformerEncoderLayer(8, 2, 16)", modes=("eval",), x=normal(2, 5, 8))
layer("nn.TransformerEncoderLayer(8, 2, 16)", random=True, x=normal(2, 5, 8))
layer("nn.TransformerEncoderLayer(8, 2, 16, 0.0)", "layer(x, m)", constant=("m",), x=normal(2, 5, 8), m=normal(5, 5, seed=1))
layer("nn.TransformerEncoderLayer(8, 2, 16, 0.0)", "cache = layer.gen_cache(x); layer(x, cache=cache)", x=normal(2, 5, 8))
layer("nn.TransformerDecoderLayer(8, 2, 16, 0.0)", "layer(x, memory, m, n)", constant=("m", "n"), x=normal(2, 5, 8), memory=normal(2, 4, 8, seed=1), m=normal(5, 5, seed=2), n=normal(5, 4, seed=3))
layer("nn.TransformerDecoderLayer(8, 2, 16, 0.0)", "cache = layer.gen_cache(memory); layer(x, memory, cache=cache)", x=normal(2, 1, 8), memory=normal(2, 4, 8, seed=1))
encoder, decoder = "nn.TransformerEncoderLayer(8, 2, 16, 0.0)", "nn.TransformerDecoderLayer(8, 2, 16, 0.0)"
layer(f"nn.TransformerEncoder({encoder}, 2)", x=normal(2, 5, 8))
layer(f"nn.TransformerEncoder({encoder}, num_layers=2, norm=nn.LayerNorm(8))", x=normal(2, 5, 8))
layer(f"nn.TransformerEncoder({encoder}, 2)", "layer(x, m)", x=normal(2, 5, 8), m=np.tril(np.ones((5, 5), bool)))
layer(f"nn.TransformerEncoder({encoder}, 2)", "cache = layer.gen_cache(x); layer(x, cache=cache)", x=normal(2, 5, 8))
layer(f"nn.TransformerDecoder({decoder}, 2)", x=normal(2, 5, 8), memory=normal(2, 4, 8, seed=1))
layer(f"nn.TransformerDecoder({decoder}, 2, nn.LayerNorm(8))", x=normal(2, 5, 8), memory=normal(2, 4, 8, seed=1))
layer(f"nn.TransformerDecoder({decoder}, 2)", "cache = layer.gen_cache(memory); layer(x, memory, cache=cache)", x=normal(2, 1, 8), memory=normal(2, 4, 8, seed=1))
layer(f"nn.TransformerDecoder({decoder}, 2)", "cache = layer.gen_cache(memory, do_zip=True); [len(cache), len(cache[0])]", x=normal(2, 1, 8), memory=normal(2, 4, 8, seed=1))
for arguments in ("8, 2, 2, 2, 16, 0.0", "8, 2, 1, 1, 16, dropout=0.0, activation='gelu', normalize_before=True", "8, 2, 1, 2, 16, 0.0, bias_attr=False",
                  f"8, 2, 1, 1, 16, 0.0, custom_encoder=nn.TransformerEncoder({encoder}, 1)"):
    layer(f"nn.Transformer({arguments})", src=normal(2, 5, 8), tgt=normal(2, 4, 8, seed=1))
layer("nn.Transformer(8, 2, 1, 1, 16, 0.0)", "layer(src, tgt, m, layer.generate_square_subsequent_mask(4), n)", constant=("m", "n"),
      src=normal(2, 5, 8), tgt=normal(2, 4, 8, seed=1), m=normal(5, 5, seed=2), n=normal(4, 5, seed=3))
layer("nn.Transformer(8, 2, 1, 1, 16, 0.0)", "layer.generate_square_subsequent_mask(4)", dtypes=("float32",))

# Losses as layers; `functional_calls.py` has more of their arguments.
for reduction in ("mean", "sum", "none", "x"):
    r = f"reduction='{reduction}'"
    layer(f"nn.L1Loss({r})", x=normal(3, 4), y=normal(3, 4, seed=1))
    layer(f"nn.MSELoss({r})", x=normal(3, 4), y=normal(3, 4, seed=1))
    layer(f"nn.SmoothL1Loss({r})", x=normal(3, 4) * 2, y=normal(3, 4, seed=1))
    layer(f"nn.SmoothL1Loss({r}, delta=0.5)", x=normal(3, 4) * 2, y=normal(3, 4, seed=1))
    layer(f"nn.KLDivLoss({r})", constant=("y",), x=normal(3, 4), y=positive(3, 4, seed=1))
    layer(f"nn.BCELoss({r})", constant=("y",), x=np.abs(inside(3, 4)), y=np.abs(inside(3, 4, seed=1)))
    layer(f"nn.BCELoss(paddle.to_tensor(np.array([1.0, 2.0, 0.5, 1.5]), dtype=paddle.get_default_dtype()), {r})", constant=("y",), x=np.abs(inside(3, 4)), y=np.abs(inside(3, 4, seed=1)))
    layer(f"nn.BCEWithLogitsLoss({r})", constant=("y",), x=normal(3, 4), y=np.abs(inside(3, 4, seed=1)))
    layer(f"nn.BCEWithLogitsLoss({r}, pos_weight=paddle.to_tensor(np.array([1.0, 2.0, 0.5, 1.5]), dtype=paddle.get_default_dtype()))", constant=("y",), x=normal(3, 4), y=np.abs(inside(3, 4, seed=1)))
    layer(f"nn.NLLLoss({r})", x=normal(3, 4), y=np.array([0, 3, 1]))
    layer(f"nn.NLLLoss({r})", x=normal(3, 4, 2), y=np.array([[0, 3], [1, 1], [3, 2]]))
    layer(f"nn.CrossEntropyLoss({r})", x=normal(3, 4), y=np.array([0, 3, 1]))
    layer(f"nn.CrossEntropyLoss({r}, ignore_index=3, axis=1)", x=normal(3, 4, 2), y=np.array([[0, 3], [1, 1], [3, 2]]))
    layer(f"nn.CrossEntropyLoss({r}, label_smoothing=0.1)", x=normal(3, 4), y=np.array([0, 3, 1]))
    layer(f"nn.MarginRankingLoss({r})", constant=("l",), x=normal(3, 4), y=normal(3, 4, seed=1), l=np.where(bools(3, 4), 1.0, -1.0))
    layer(f"nn.MarginRankingLoss(0.5, {r})", constant=("l",), x=normal(3, 4), y=normal(3, 4, seed=1), l=np.where(bools(3, 4), 1.0, -1.0))
    layer(f"nn.HingeEmbeddingLoss({r})", constant=("y",), x=normal(3, 4), y=np.where(bools(3, 4), 1.0, -1.0))
    layer(f"nn.CosineEmbeddingLoss({r})", constant=("l",), x=normal(3, 4), y=normal(3, 4, seed=1), l=np.array([1, -1, 1]))
    layer(f"nn.CosineEmbeddingLoss(0.3, {r})", constant=("l",), x=normal(3, 4), y=normal(3, 4, seed=1), l=np.array([1, -1, 1]))
    layer(f"nn.TripletMarginLoss({r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=normal(3, 4, seed=2))
    layer(f"nn.TripletMarginLoss(2.0, p=1.0, swap=True, {r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=normal(3, 4, seed=2))
    layer(f"nn.TripletMarginWithDistanceLoss({r})", x=normal(3, 4), y=normal(3, 4, seed=1), z=normal(3, 4, seed=2))
    layer(f"nn.MultiLabelSoftMarginLoss({r})", constant=("y",), x=normal(3, 4), y=np.where(bools(3, 4), 1.0, -1.0))
    layer(f"nn.SoftMarginLoss({r})", constant=("y",), x=normal(3, 4), y=np.where(bools(3, 4), 1.0, -1.0))
    layer(f"nn.MultiMarginLoss({r})", x=normal(3, 4), y=np.array([0, 3, 1]))
    layer(f"nn.PoissonNLLLoss({r})", constant=("y",), x=normal(3, 4), y=positive(3, 4, seed=1))
    layer(f"nn.GaussianNLLLoss({r})", x=normal(3, 4), y=normal(3, 4, seed=1), v=positive(3, 4, seed=2))
    layer(f"nn.CTCLoss({r})", "layer(x, y, n, m)", x=normal(5, 2, 4), y=np.array([[1, 2], [3, 3]], "int32"), n=np.array([5, 5]), m=np.array([2, 2]))
    layer(f"nn.CTCLoss(blank=3, {r})", "layer(x, y, n, m)", x=normal(6, 2, 4), y=np.array([[1, 2], [0, 0]], "int32"), n=np.array([6, 4]), m=np.array([2, 1]))
for arguments in ("4, 6", "4, 2", "feature_size=4, num_classes=5, bias_attr=False", "4, 6, name='here'", "4, 1", "4, 6, weight_attr=paddle.ParamAttr(name='w')"):
    layer(f"nn.HSigmoidLoss({arguments})", x=normal(3, 4), y=np.array([[0], [1], [1]]))
layer("nn.HSigmoidLoss(4, 5, is_custom=True)", "layer(x, y, t, c)", x=normal(3, 4), y=np.array([[0], [3], [4]]),
      t=np.array([[0, 2, -1], [0, 1, 3], [0, 1, 3]]), c=np.array([[0, 1, -1], [1, 0, 1], [1, 0, 0]]))

# Initial values of layers that are large enough to see their distribution.
for how in ("Linear(60, 50)", "Bilinear(12, 13, 14)", "Embedding(100, 30)", "Embedding(100, 30, padding_idx=3)", "Conv1D(16, 32, 5)", "Conv2D(16, 32, 3)", "Conv2D(16, 32, 3, groups=2)",
            "Conv3D(8, 16, 3)", "Conv1DTranspose(16, 32, 5)", "Conv2DTranspose(16, 32, 3)", "Conv2DTranspose(16, 32, 3, groups=2)", "Conv3DTranspose(8, 16, 3)", "LSTM(32, 32, 2, 'bidirect')",
            "GRU(32, 32)", "SimpleRNN(48, 48)", "LSTMCell(32, 32)", "GRUCell(32, 32)", "SimpleRNNCell(48, 48)", "MultiHeadAttention(48, 4)", "TransformerEncoderLayer(48, 4, 64)",
            "TransformerDecoderLayer(48, 4, 64)", "HSigmoidLoss(64, 64)", "BatchNorm2D(8)", "SyncBatchNorm(8)", "LayerNorm(8)", "GroupNorm(2, 8)", "InstanceNorm2D(8)", "PReLU(8)", "SpectralNorm([64, 64])",
            "Transformer(48, 4, 1, 1, 64)"):
    initial(f"nn.{how}")
for how in ("Constant(3.0)", "Normal()", "Normal(1.0, 0.5)", "TruncatedNormal()", "TruncatedNormal(1.0, 0.5)", "Uniform()", "Uniform(0.5, 2.0)", "XavierNormal()", "XavierNormal(10, 20)",
            "XavierUniform()", "XavierUniform(fan_in=10, fan_out=20)", "KaimingNormal()", "KaimingNormal(10)", "KaimingNormal(None, 0.5, 'leaky_relu')", "KaimingUniform()",
            "KaimingUniform(fan_in=10, nonlinearity='tanh')", "Orthogonal()", "Orthogonal(gain=2.0)"):
    initial(f"nn.Linear(60, 50, weight_attr=paddle.ParamAttr(initializer=nn.initializer.{how}))")
    initial(f"nn.Conv2D(16, 32, 3, weight_attr=nn.initializer.{how})")
initial("nn.initializer.set_global_initializer(nn.initializer.Uniform(2.0, 3.0), nn.initializer.Constant(0.5)); layer = nn.Linear(60, 50); "
        "nn.initializer.set_global_initializer(None); layer")

# Sizes at which kernels choose other ways: blocks, threads, Winograd's transform, whole rows at once.
for how, shape in (("Linear(256, 300)", (64, 256)), ("Linear(300, 7)", (5, 33, 300)), ("Bilinear(20, 30, 40)", None), ("Conv1D(16, 40, 5, padding=2)", (3, 16, 130)), ("Conv2D(16, 32, 3, padding=1)", (2, 16, 20, 23)),
                   ("Conv2D(64, 48, 3, padding=1)", (2, 64, 14, 14)), ("Conv2D(40, 64, 1)", (2, 40, 17, 19)), ("Conv2D(40, 64, 1, stride=2)", (2, 40, 17, 19)), ("Conv2D(32, 32, 3, padding=1, groups=32)", (2, 32, 19, 21)),
                   ("Conv2D(32, 32, 5, stride=2, padding=2, groups=32)", (2, 32, 19, 21)), ("Conv2D(3, 32, 7, stride=2, padding=3)", (2, 3, 40, 44)), ("Conv2D(24, 36, 3, stride=2, padding=1, groups=4)", (2, 24, 19, 21)),
                   ("Conv2D(16, 24, 3, dilation=2, padding=2)", (2, 16, 19, 21)), ("Conv2D(1, 6, 5)", (8, 1, 28, 28)), ("Conv2D(6, 16, 5)", (8, 6, 14, 14)), ("Conv2DTranspose(32, 16, 4, stride=2, padding=1)", (2, 32, 11, 13)),
                   ("Conv2DTranspose(24, 24, 3, groups=4, stride=2, padding=1, output_padding=1)", (2, 24, 9, 11)), ("Conv3D(8, 16, 3, padding=1)", (2, 8, 7, 9, 8)), ("Conv3DTranspose(8, 6, 3, stride=2)", (2, 8, 5, 6, 5)),
                   ("MaxPool2D(2)", (4, 24, 28, 30)), ("MaxPool2D(3, 2, 1)", (4, 24, 29, 30)), ("AvgPool2D(3, 2, 1)", (4, 24, 29, 30)), ("AdaptiveAvgPool2D(1)", (4, 48, 14, 15)), ("AdaptiveAvgPool2D((5, 7))", (4, 24, 29, 30)),
                   ("MaxPool3D(2)", (2, 8, 12, 13, 14)), ("BatchNorm2D(32)", (8, 32, 14, 15)), ("BatchNorm1D(200)", (64, 200)), ("LayerNorm(300)", (40, 300)), ("LayerNorm([17, 33])", (8, 17, 33)), ("GroupNorm(4, 32)", (4, 32, 13, 15)),
                   ("InstanceNorm2D(32)", (4, 32, 13, 15)), ("LocalResponseNorm(5)", (2, 32, 13, 15)), ("PReLU(32)", (4, 32, 13, 15)),
                   ("Upsample(scale_factor=2, mode='bilinear')", (2, 16, 15, 17)), ("Upsample(size=[40, 50])", (2, 16, 15, 17)), ("PixelShuffle(2)", (2, 32, 13, 15)), ("Unfold(3, paddings=1)", (2, 8, 17, 19)),
                   ("Pad2D(3, 'reflect')", (2, 8, 17, 19)), ("LSTM(48, 40)", (12, 17, 48)), ("GRU(48, 40, 2, 'bidirect')", (12, 17, 48)), ("SimpleRNN(48, 40)", (12, 17, 48)), ("MultiHeadAttention(64, 4)", (3, 37, 64)),
                   ("TransformerEncoderLayer(64, 4, 128, 0.0)", (3, 37, 64)), ("TransformerEncoderLayer(64, 4, 128, 0.0, 'gelu', normalize_before=True)", (3, 37, 64))):
    if shape is None:
        layer(f"nn.{how}", x=normal(16, 20) / 4, y=normal(16, 30, seed=1) / 4)
    else:
        # The mean square keeps the ten steps from growing without bound.
        layer(f"nn.{how}", "y = layer(x); y = y[0] if isinstance(y, tuple) else y; [y.detach(), y / (1 + (y * y).mean())]", x=normal(*shape) / 2)
for how, shape in (("GELU()", (64, 301)), ("Softmax()", (64, 301)), ("Softmax(1)", (8, 30, 41)), ("LogSoftmax()", (64, 301))):
    layer(f"nn.{how}", x=normal(*shape))
layer("nn.Embedding(1000, 64)", x=integers(30, 20, low=0, high=1000))
layer("nn.CrossEntropyLoss()", x=normal(200, 301), y=integers(200, low=0, high=301))
layer("nn.CTCLoss()", "layer(x, y, n, m)", x=normal(60, 5, 30), y=integers(5, 12, low=1, high=30, dtype="int32"), n=np.array([60, 55, 60, 40, 52]), m=np.array([12, 10, 1, 12, 5]))

# Inputs that are views: their elements do not lie in a row.
for how, call in (("Linear(4, 3)", "layer(x.transpose([0, 2, 1]))"), ("Linear(3, 3)", "layer(x[:, ::2, ::2][:, :, :3])"), ("Conv1D(5, 6, 3)", "layer(x.transpose([0, 2, 1]))"), ("BatchNorm1D(5)", "layer(x.transpose([0, 2, 1]))"),
                  ("LayerNorm(4)", "layer(x.transpose([0, 2, 1]))"), ("InstanceNorm1D(5)", "layer(x.transpose([0, 2, 1]))"), ("MaxPool1D(2)", "layer(x.transpose([0, 2, 1]))"), ("AvgPool1D(2)", "layer(x[:, ::2])"),
                  ("Softmax()", "layer(x.transpose([0, 2, 1]))"), ("GELU()", "layer(x[..., 1:4])"), ("LSTM(4, 3)", "layer(x.transpose([0, 2, 1]))"), ("LSTM(5, 3, time_major=True)", "layer(x.transpose([1, 0, 2]))"),
                  ("GRU(4, 3, direction='bidirect')", "layer(x.transpose([0, 2, 1]))"), ("Flatten()", "layer(x.transpose([0, 2, 1]))"), ("CrossEntropyLoss()", "layer(x.transpose([0, 2, 1]), paddle.to_tensor([[0, 1, 2, 3, 0]] * 3))"),
                  ("MSELoss()", "layer(x.transpose([0, 2, 1]), x.transpose([0, 2, 1]).detach() * 2)"), ("PairwiseDistance()", "layer(x[0].t(), x[1].t())"), ("Pad1D([1, 2], 'reflect')", "layer(x.transpose([0, 2, 1]))"),
                  ("Upsample(size=[7], mode='linear', data_format='NCW')", "layer(x.transpose([0, 2, 1]))"), ("MultiHeadAttention(4, 2)", "layer(x.transpose([0, 2, 1]))"), ("PReLU(5)", "layer(x.transpose([0, 2, 1]))"),
                  ("Dropout(0.0)", "layer(x.transpose([0, 2, 1]))"), ("GroupNorm(1, 5)", "layer(x.transpose([0, 2, 1]))")):
    layer(f"nn.{how}", call, x=normal(3, 4, 5))
for how in ("Conv2D(4, 6, 3)", "Conv2D(4, 6, 1)", "Conv2D(4, 4, 3, groups=4)", "Conv2DTranspose(4, 6, 3)", "MaxPool2D(2)", "AvgPool2D(2)", "AdaptiveAvgPool2D(2)", "BatchNorm2D(4)", "GroupNorm(2, 4)", "Upsample(size=[7, 9], mode='bilinear')",
            "PixelShuffle(2)", "Unfold(2)", "LocalResponseNorm(3)", "InstanceNorm2D(4)", "Softmax2D()", "Maxout(2)"):
    layer(f"nn.{how}", "layer(x.transpose([0, 3, 1, 2]))", x=distinct(2, 5, 6, 4) / 16)
    layer(f"nn.{how}", "layer(x.transpose([0, 3, 2, 1])[:, :, ::2])", x=distinct(2, 5, 12, 4) / 16)

# Containers, which `layer_program.py` asks more about.
layer("nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))", x=normal(2, 4))
layer("nn.Sequential(('a', nn.Linear(4, 5)), ('b', nn.BatchNorm1D(5)), ('c', nn.Dropout(0.0)))", modes=BOTH, x=normal(3, 4))
layer("nn.LayerList([nn.Linear(4, 4), nn.Linear(4, 3)])", "layer[1](layer[0](x))", x=normal(2, 4))
layer("nn.LayerDict({'a': nn.Conv2D(3, 2, 1)})", "layer['a'](x)", x=normal(2, 3, 4, 4))
layer("paddle.vision.models.LeNet()", "F.softmax(layer(x))", modes=BOTH, dtypes=("float32",), x=normal(2, 1, 28, 28))
layer("paddle.vision.models.LeNet(num_classes=0)", "layer(x).tanh()", dtypes=("float32",), x=normal(2, 1, 28, 28))
