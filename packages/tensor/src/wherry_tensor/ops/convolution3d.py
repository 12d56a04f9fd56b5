"""Convolution of volumes.

`paddings` is (front, back, top, bottom, left, right), and `data_format` "NCDHW" or "NDHWC"; weights are
[out, in / groups, kd, kh, kw], those of the transposed convolution [in, out / groups, kd, kh, kw].

Every op has a decomposition: a convolution of volumes is one of images in which each depth of the
output is an image, and its kd * channels channels are those of the depths that its window meets.
"""
from wherry_tensor import ops
from wherry_tensor.ops.convolution import shape_rules_of_convolution
from wherry_tensor.ops.declare import decompose, op
from wherry_tensor.ops.shapes import require_known

conv3d = op("conv3d", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple, groups=int,
            data_format=str)
conv3d_transpose = op("conv3d_transpose", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple,
                      groups=int, output_size=tuple, data_format=str,
                      sizes="output_size")
# Of `like`, and of `weight` of the second, only the shapes are used.
conv3d_input_vjp = op("conv3d_input_vjp", "ct, weight, like~", strides=tuple, paddings=tuple, dilations=tuple,
                      groups=int, data_format=str)
conv3d_weight_vjp = op("conv3d_weight_vjp", "ct, x, weight~", strides=tuple, paddings=tuple, dilations=tuple,
                       groups=int, data_format=str)

shape_rules_of_convolution(3, conv3d, conv3d_transpose, conv3d_input_vjp, conv3d_weight_vjp)


# Decompositions.


@decompose.rule(conv3d)
def decompose_conv3d(x, weight, bias, *, strides, paddings, dilations, groups, data_format):
    x = _channels_second(x, data_format)
    require_known("conv3d", "weight", weight.shape)
    images, levels = _images("conv3d", x, weight.shape[2], strides[0], paddings[:2], dilations[0])
    out = ops.conv2d(
        images, _flat(weight), bias, strides=strides[1:], paddings=paddings[2:], dilations=dilations[1:], groups=groups,
        data_format="NCHW",
    )
    return _volumes(out, levels, data_format)


@decompose.rule(conv3d_transpose)
def decompose_conv3d_transpose(
    x, weight, bias, *, strides, paddings, dilations, groups, output_size, data_format
):
    x = _channels_second(x, data_format)
    (n, channels, depth, h, w), taps = x.shape, weight.shape[2]
    require_known("conv3d_transpose", "x", x.shape[1:])
    require_known("conv3d_transpose", "weight", weight.shape)
    images = ops.reshape(ops.transpose(x, perm=(0, 2, 1, 3, 4)), shape=(n * depth, channels, h, w))
    out = ops.conv2d_transpose(
        images, _flat(weight), None, strides=strides[1:], paddings=paddings[2:], dilations=dilations[1:], groups=groups,
        output_size=output_size[1:], data_format="NCHW",
    )
    channels = out.shape[1] // taps
    parts = ops.reshape(out, shape=(n, depth, channels, taps, *output_size[1:]))
    # Each tap of the window writes what it made of depth i to depth i * stride + tap * dilation of a
    # canvas, of which the paddings are cut away.
    reach = (depth - 1) * strides[0] + 1
    canvas = max((taps - 1) * dilations[0] + reach, paddings[0] + output_size[0])
    total = ops.full(shape=(n, channels, canvas, *output_size[1:]), value=0, dtype=x.dtype)
    for tap in range(taps if depth else 0):
        part = ops.transpose(ops.select(parts, axis=3, index=tap), perm=(0, 2, 1, 3, 4))
        begin = tap * dilations[0]
        total = total + ops.slice_vjp(
            part, total, axes=(2,), starts=(begin,), ends=(begin + reach,), steps=(strides[0],)
        )
    total = ops.slice(
        total, axes=(2,), starts=(paddings[0],), ends=(paddings[0] + output_size[0],), steps=(1,)
    )
    if bias is not None:
        total = total + ops.reshape(bias, shape=(channels, 1, 1, 1))
    return total if data_format == "NCDHW" else ops.transpose(total, perm=(0, 2, 3, 4, 1))


@decompose.rule(conv3d_input_vjp)
def decompose_conv3d_input_vjp(ct, weight, like, *, strides, paddings, dilations, groups, data_format):
    size = like.shape[2:] if data_format == "NCDHW" else like.shape[1:4]
    require_known("conv3d_input_vjp", "like", like.shape[1:])
    return conv3d_transpose(
        ct, weight, None, strides=strides, paddings=paddings, dilations=dilations, groups=groups, output_size=tuple(size),
        data_format=data_format,
    )


@decompose.rule(conv3d_weight_vjp)
def decompose_conv3d_weight_vjp(ct, x, weight, *, strides, paddings, dilations, groups, data_format):
    x, ct = _channels_second(x, data_format), _channels_second(ct, data_format)
    require_known("conv3d_weight_vjp", "ct", ct.shape[1:])
    require_known("conv3d_weight_vjp", "weight", weight.shape)
    images, levels = _images("conv3d_weight_vjp", x, weight.shape[2], strides[0], paddings[:2], dilations[0])
    n, channels, _, h, w = ct.shape
    out, inside, taps, *window = weight.shape
    like = ops.full(shape=(out, inside * taps, *window), value=0, dtype=ct.dtype)  # `weight` may be a shape only
    flat = ops.conv2d_weight_vjp(
        ops.reshape(ops.transpose(ct, perm=(0, 2, 1, 3, 4)), shape=(n * levels, channels, h, w)), images, like,
        strides=strides[1:], paddings=paddings[2:], dilations=dilations[1:], groups=groups, data_format="NCHW",
    )
    return ops.reshape(flat, shape=tuple(weight.shape))


def _images(op_name, x, taps, stride, padding, dilation):
    """[n, channels, d, h, w] to [n * levels, channels * taps, h, w]: what each level of the output sees; and levels."""
    require_known(op_name, "x", x.shape[1:])
    n, channels, depth, h, w = x.shape
    if any(padding):
        x = ops.pad(x, paddings=(0, 0, 0, 0, *padding, 0, 0, 0, 0), value=0.0)
        depth += sum(padding)
    levels = (depth - dilation * (taps - 1) - 1) // stride + 1
    reach = (levels - 1) * stride + 1
    seen = [
        ops.unsqueeze(
            ops.slice(x, axes=(2,), starts=(tap * dilation,), ends=(tap * dilation + reach,), steps=(stride,)), axes=(2,)
        )
        for tap in range(taps)
    ]
    # [n, channels, 1, levels, h, w] each; taps go right after the channels, so that groups stay together.
    seen = [ops.transpose(one, perm=(0, 3, 1, 2, 4, 5)) for one in seen]
    stack = seen[0] if taps == 1 else ops.concat(*seen, axis=3)
    return ops.reshape(stack, shape=(n * levels, channels * taps, h, w)), levels


def _volumes(images, levels, data_format):
    _, channels, h, w = images.shape
    n = images.shape[0] // levels
    out = ops.reshape(images, shape=(n, levels, channels, h, w))
    return ops.transpose(out, perm=(0, 2, 1, 3, 4) if data_format == "NCDHW" else (0, 1, 3, 4, 2))


def _channels_second(x, data_format):
    return x if data_format == "NCDHW" else ops.transpose(x, perm=(0, 4, 1, 2, 3))


def _flat(weight):
    """The taps along the depth among the channels."""
    out, channels, taps, h, w = weight.shape
    return ops.reshape(weight, shape=(out, channels * taps, h, w))
