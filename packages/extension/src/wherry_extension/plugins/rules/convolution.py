"""Convolutions and pooling of images."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops


def _padded(paddings):
    """One number for each axis where both sides are alike, else two, as kernels take them."""
    alike = list(paddings[::2])
    return alike if alike == list(paddings[1::2]) else list(paddings)


def _conv_name(w, x, weight, groups, data_format, suffix=""):
    channels = x.shape[1 if data_format == "NCHW" else -1]
    name = f"depthwise_conv2d{suffix}"
    return name if 1 < groups == channels and w.has(name, x.dtype) else f"conv2d{suffix}"


def _conv_args(strides, paddings, dilations, groups, data_format):
    """The attributes as `conv2d` has them, as `depthwise_conv2d` has them, and as both have them in 2.3."""
    first = (list(strides), _padded(paddings), "EXPLICIT")
    depthwise = (*first, groups, list(dilations), data_format)
    return (*first, list(dilations), groups, data_format), depthwise, (*depthwise, False, -1, False)


def _add_bias(w, out, result, bias, data_format):
    if bias is not None:
        bias = bias.reshape(1, bias.size, *[1] * (len(out.shape) - 2)) if data_format.startswith("NC") else bias
        w.call("add", result, w.expanded(bias, out.shape), out)


@serves(ops.conv2d, "conv2d")
def plugin_conv2d(w, out, x, weight, bias=None, *, strides, paddings, dilations, groups, data_format):
    result = out if bias is None else w.memory(out.dtype, out.shape)
    first, *others = [(x, weight, *attrs, result) for attrs in _conv_args(strides, paddings, dilations, groups, data_format)]
    w.call(_conv_name(w, x, weight, groups, data_format), *first, or_args=others)
    _add_bias(w, out, result, bias, data_format)


def _conv_grad(w, x, weight, ct, x_ct, weight_ct, attrs):
    first, *others = [(x, weight, ct, *version, x_ct, weight_ct) for version in _conv_args(**attrs)]
    w.call(_conv_name(w, x, weight, attrs["groups"], attrs["data_format"], "_grad"), *first, or_args=others)


@serves(ops.conv2d_input_vjp, "conv2d_grad")
def plugin_conv2d_input_vjp(w, out, ct, weight, like, **attrs):
    _conv_grad(w, w.memory(out.dtype, like.shape), weight, ct, out, None, attrs)  # of x, the shape alone counts


@serves(ops.conv2d_weight_vjp, "conv2d_grad")
def plugin_conv2d_weight_vjp(w, out, ct, x, weight, **attrs):
    _conv_grad(w, x, w.memory(out.dtype, weight.shape), ct, None, out, attrs)


@serves(ops.conv2d_transpose, "conv2d_transpose")
def plugin_conv2d_transpose(w, out, x, weight, bias=None, *, strides, paddings, dilations, groups, output_size, data_format):
    result = out if bias is None else w.memory(out.dtype, out.shape)
    channels = x.shape[1 if data_format == "NCHW" else -1]
    depthwise = "depthwise_conv2d_transpose"
    name = depthwise if 1 < groups == channels and w.has(depthwise, x.dtype) else "conv2d_transpose"
    w.call(name, x, weight, list(strides), _padded(paddings), [], list(output_size), "EXPLICIT", groups, list(dilations), data_format, result)
    _add_bias(w, out, result, bias, data_format)


def _conv3d_args(strides, paddings, dilations, groups, data_format):
    """The attributes, and those of 2.3."""
    args = (list(strides), _padded(paddings), "EXPLICIT", groups, list(dilations), data_format)
    return args, (*args, False, -1, False)


@serves(ops.conv3d, "conv3d")
def plugin_conv3d(w, out, x, weight, bias=None, *, strides, paddings, dilations, groups, data_format):
    result = out if bias is None else w.memory(out.dtype, out.shape)
    first, *others = [(x, weight, *attrs, result) for attrs in _conv3d_args(strides, paddings, dilations, groups, data_format)]
    w.call("conv3d", *first, or_args=others)
    _add_bias(w, out, result, bias, data_format)


def _conv3d_grad(w, x, weight, ct, x_ct, weight_ct, attrs):
    first, *others = [(x, weight, ct, *version, x_ct, weight_ct) for version in _conv3d_args(**attrs)]
    w.call("conv3d_grad", *first, or_args=others)


@serves(ops.conv3d_input_vjp, "conv3d_grad")
def plugin_conv3d_input_vjp(w, out, ct, weight, like, **attrs):
    _conv3d_grad(w, w.memory(out.dtype, like.shape), weight, ct, out, None, attrs)


@serves(ops.conv3d_weight_vjp, "conv3d_grad")
def plugin_conv3d_weight_vjp(w, out, ct, x, weight, **attrs):
    _conv3d_grad(w, x, w.memory(out.dtype, weight.shape), ct, None, out, attrs)


@serves(ops.max_pool2d, "max_pool2d_with_index")
def plugin_max_pool2d(w, out, x, *, kernel, strides, paddings, ceil_mode, data_format):
    result, mask = out
    if data_format != "NCHW" or len(_padded(paddings)) != 2:
        raise Declined("the kernel takes NCHW and paddings that are alike on both sides")
    args = (x, list(kernel), list(strides), _padded(paddings), False, False)
    or_args = [] if ceil_mode else [(*args, result, mask)]
    w.call("max_pool2d_with_index", *args, ceil_mode, result, mask, or_args=or_args)


@serves(ops.avg_pool2d, "pool2d")
def plugin_avg_pool2d(w, out, x, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    if divisor is not None:
        raise Declined("the kernel divides by the window's size")
    w.call("pool2d", x, list(kernel), list(strides), _padded(paddings), ceil_mode, exclusive, data_format, "avg", False, False, "EXPLICIT", out)


@serves(ops.avg_pool2d_vjp, "pool2d_grad")
def plugin_avg_pool2d_vjp(w, out, ct, like, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    if divisor is not None:
        raise Declined("the kernel divides by the window's size")
    # Of what went in and came out of an average, shapes alone count.
    x, result = w.memory(ct.dtype, like.shape), w.memory(ct.dtype, ct.shape)
    w.call("pool2d_grad", x, result, ct, list(kernel), list(strides), _padded(paddings), ceil_mode, exclusive, data_format, "avg", False, False,
           "EXPLICIT", out)


@serves(ops.adaptive_avg_pool2d, "pool2d")
def plugin_adaptive_avg_pool2d(w, out, x, *, output_size, data_format):
    w.call("pool2d", x, list(output_size), [1, 1], [0, 0], False, True, data_format, "avg", False, True, "EXPLICIT", out)


@serves(ops.adaptive_avg_pool2d_vjp, "pool2d_grad")
def plugin_adaptive_avg_pool2d_vjp(w, out, ct, like, *, data_format):
    x, result = w.memory(ct.dtype, like.shape), w.memory(ct.dtype, ct.shape)
    size = ct.shape[2:] if data_format == "NCHW" else ct.shape[1:3]
    w.call("pool2d_grad", x, result, ct, list(size), [1, 1], [0, 0], False, True, data_format, "avg", False, True, "EXPLICIT", out)


@serves(ops.adaptive_max_pool2d, "max_pool2d_with_index")
def plugin_adaptive_max_pool2d(w, out, x, *, output_size, data_format):
    result, mask = out
    if data_format != "NCHW":
        raise Declined("the kernel takes NCHW")
    args = (x, list(output_size), [1, 1], [0, 0], False, True)
    w.call("max_pool2d_with_index", *args, False, result, mask, or_args=[(*args, result, mask)])
