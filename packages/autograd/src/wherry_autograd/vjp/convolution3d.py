"""Gradient rules for convolution of volumes: those of images with one axis more."""
from wherry_autograd.rules import vjp
from wherry_tensor import ops


def sum_over_channels_of(ct, data_format):
    """The cotangent of a bias."""
    return ops.reduce_sum(ct, axes=(0, 2, 3, 4) if data_format == "NCDHW" else (0, 1, 2, 3), keepdim=False)


@vjp.rule(ops.conv3d, keep_for={"x": "weight", "weight": "x"})
def vjp_conv3d(ct, _out, x, weight, _bias, *, strides, paddings, dilations, groups, data_format, needs):
    window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
    x_ct = ops.conv3d_input_vjp(ct, weight, x, **window) if needs[0] else None
    weight_ct = ops.conv3d_weight_vjp(ct, x, weight, **window) if needs[1] else None
    bias_ct = sum_over_channels_of(ct, data_format) if _bias is not None and needs[2] else None
    return x_ct, weight_ct, bias_ct


@vjp.rule(ops.conv3d_transpose, keep_for={"x": "weight", "weight": "x"})
def vjp_conv3d_transpose(
    ct, _out, x, weight, _bias, *, strides, paddings, dilations, groups, output_size, data_format, needs
):
    window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
    x_ct = ops.conv3d(ct, weight, None, **window) if needs[0] else None
    weight_ct = ops.conv3d_weight_vjp(x, ct, weight, **window) if needs[1] else None
    bias_ct = sum_over_channels_of(ct, data_format) if _bias is not None and needs[2] else None
    return x_ct, weight_ct, bias_ct


@vjp.rule(ops.conv3d_input_vjp, keep_for={"ct": "weight", "weight": "ct"})
def vjp_conv3d_input_vjp(
    ct, _out, cotangent, weight, _like, *, strides, paddings, dilations, groups, data_format, needs
):
    window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
    first_ct = ops.conv3d(ct, weight, None, **window) if needs[0] else None
    weight_ct = ops.conv3d_weight_vjp(cotangent, ct, weight, **window) if needs[1] else None
    return first_ct, weight_ct, None


@vjp.rule(ops.conv3d_weight_vjp, keep_for={"ct": "x", "x": "ct"})
def vjp_conv3d_weight_vjp(
    ct, _out, cotangent, x, _weight, *, strides, paddings, dilations, groups, data_format, needs
):
    window = dict(strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format=data_format)
    first_ct = ops.conv3d(x, ct, None, **window) if needs[0] else None
    x_ct = ops.conv3d_input_vjp(cotangent, ct, x, **window) if needs[1] else None
    return first_ct, x_ct, None
