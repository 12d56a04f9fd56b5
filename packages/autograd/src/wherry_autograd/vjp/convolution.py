"""Gradient rules for convolution and pooling.

A convolution and its gradients for the input and for the weight are the three derivatives of one
trilinear form, so the gradients of each are the other two.
"""
from wherry_autograd.rules import vjp
from wherry_tensor import ops


def sum_over_channels_of(ct, data_format):
    """The cotangent of a bias."""
    return ops.reduce_sum(ct, axes=tuple(axis for axis, letter in enumerate(data_format) if letter != "C"), keepdim=False)


def rules_of_convolution(conv, conv_transpose, input_vjp, weight_vjp):
    """The rules of a convolution, its transpose and its two gradients: of images or of volumes."""

    @vjp.rule(conv, keep_for={"x": "weight", "weight": "x"})
    def vjp_conv(ct, _out, x, weight, _bias, *, strides, paddings, dilations, groups, data_format, needs):
        window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
        x_ct = input_vjp(ct, weight, x, **window) if needs[0] else None
        weight_ct = weight_vjp(ct, x, weight, **window) if needs[1] else None
        bias_ct = sum_over_channels_of(ct, data_format) if _bias is not None and needs[2] else None
        return x_ct, weight_ct, bias_ct

    @vjp.rule(conv_transpose, keep_for={"x": "weight", "weight": "x"})
    def vjp_conv_transpose(
        ct, _out, x, weight, _bias, *, strides, paddings, dilations, groups, output_size, data_format, needs
    ):
        window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
        x_ct = conv(ct, weight, None, **window) if needs[0] else None
        weight_ct = weight_vjp(x, ct, weight, **window) if needs[1] else None
        bias_ct = sum_over_channels_of(ct, data_format) if _bias is not None and needs[2] else None
        return x_ct, weight_ct, bias_ct

    @vjp.rule(input_vjp, keep_for={"ct": "weight", "weight": "ct"})
    def vjp_conv_input_vjp(
        ct, _out, cotangent, weight, _like, *, strides, paddings, dilations, groups, data_format, needs
    ):
        window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
        first_ct = conv(ct, weight, None, **window) if needs[0] else None
        weight_ct = weight_vjp(cotangent, ct, weight, **window) if needs[1] else None
        return first_ct, weight_ct, None

    @vjp.rule(weight_vjp, keep_for={"ct": "x", "x": "ct"})
    def vjp_conv_weight_vjp(
        ct, _out, cotangent, x, _weight, *, strides, paddings, dilations, groups, data_format, needs
    ):
        window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
        first_ct = conv(x, ct, None, **window) if needs[0] else None
        x_ct = input_vjp(cotangent, ct, x, **window) if needs[1] else None
        return first_ct, x_ct, None


rules_of_convolution(ops.conv2d, ops.conv2d_transpose, ops.conv2d_input_vjp, ops.conv2d_weight_vjp)


@vjp.rule(ops.max_pool2d, keep_outputs=("mask",))
def vjp_max_pool2d(ct, out, _x, *, kernel, strides, paddings, ceil_mode, data_format):
    return ops.max_pool2d_vjp(ct[0], out[1], _x, data_format=data_format)


@vjp.rule(ops.adaptive_max_pool2d, keep_outputs=("mask",))
def vjp_adaptive_max_pool2d(ct, out, _x, *, output_size, data_format):
    return ops.max_pool2d_vjp(ct[0], out[1], _x, data_format=data_format)


@vjp.rule(ops.max_pool2d_vjp)
def vjp_max_pool2d_vjp(ct, _out, _cotangent, mask, _like, *, data_format):
    return ops.max_pool2d_take(ct, mask, data_format=data_format), None, None


@vjp.rule(ops.max_pool2d_take)
def vjp_max_pool2d_take(ct, _out, _x, mask, *, data_format):
    return ops.max_pool2d_vjp(ct, mask, _x, data_format=data_format), None


@vjp.rule(ops.max_unpool2d)
def vjp_max_unpool2d(ct, _out, _x, index, *, output_size, data_format):
    return ops.max_pool2d_take(ct, index, data_format=data_format), None


@vjp.rule(ops.avg_pool2d)
def vjp_avg_pool2d(ct, _out, _x, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    return ops.avg_pool2d_vjp(
        ct, _x, kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode, exclusive=exclusive,
        divisor=divisor, data_format=data_format,
    )


@vjp.rule(ops.avg_pool2d_vjp)
def vjp_avg_pool2d_vjp(
    ct, _out, _cotangent, _like, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format
):
    return ops.avg_pool2d(
        ct, kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode, exclusive=exclusive,
        divisor=divisor, data_format=data_format,
    ), None


@vjp.rule(ops.adaptive_avg_pool2d)
def vjp_adaptive_avg_pool2d(ct, _out, _x, *, output_size, data_format):
    return ops.adaptive_avg_pool2d_vjp(ct, _x, data_format=data_format)


@vjp.rule(ops.adaptive_avg_pool2d_vjp)
def vjp_adaptive_avg_pool2d_vjp(ct, _out, _cotangent, _like, *, data_format):
    shape = _cotangent.shape
    size = (shape[2], shape[3]) if data_format == "NCHW" else (shape[1], shape[2])
    return ops.adaptive_avg_pool2d(ct, output_size=tuple(size), data_format=data_format), None
