"""Convolutions and pooling of images."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops


def _padded(paddings):
    """Two numbers where both sides are alike, else four, as kernels take them."""
    if len(paddings) == 4 and paddings[0] == paddings[1] and paddings[2] == paddings[3]:
        return [paddings[0], paddings[2]]
    return list(paddings)


def _conv_name(w, x, weight, groups, data_format, suffix=""):
    channels = x.shape[1 if data_format == "NCHW" else -1]
    name = f"depthwise_conv2d{suffix}"
    return name if 1 < groups == channels and w.has(name, x.dtype) else f"conv2d{suffix}"


def _conv_args(strides, paddings, dilations, groups, data_format):
    """The attributes as `conv2d` has them, as `depthwise_conv2d` has them, and as both have them in 2.3."""
    first = (list(strides), _padded(paddings), "EXPLICIT")
    depthwise = (*first, groups, list(dilations), data_format)
    return (*first, list(dilations), groups, data_format), depthwise, (*depthwise, False, -1, False)


@serves(ops.conv2d, "conv2d")
def plugin_conv2d(w, out, x, weight, bias=None, *, strides, paddings, dilations, groups, data_format):
    result = out if bias is None else w.memory(out.dtype, out.shape)
    first, *others = [(x, weight, *attrs, result) for attrs in _conv_args(strides, paddings, dilations, groups, data_format)]
    w.call(_conv_name(w, x, weight, groups, data_format), *first, or_args=others)
    if bias is not None:
        bias = bias.reshape(1, bias.size, 1, 1) if data_format == "NCHW" else bias
        w.call("add", result, w.expanded(bias, out.shape), out)


def _conv_grad(w, x, weight, ct, x_ct, weight_ct, attrs):
    first, *others = [(x, weight, ct, *version, x_ct, weight_ct) for version in _conv_args(**attrs)]
    w.call(_conv_name(w, x, weight, attrs["groups"], attrs["data_format"], "_grad"), *first, or_args=others)


@serves(ops.conv2d_input_vjp, "conv2d_grad")
def plugin_conv2d_input_vjp(w, out, ct, weight, like, **attrs):
    _conv_grad(w, w.memory(out.dtype, like.shape), weight, ct, out, None, attrs)  # of x, the shape alone counts


@serves(ops.conv2d_weight_vjp, "conv2d_grad")
def plugin_conv2d_weight_vjp(w, out, ct, x, weight, **attrs):
    _conv_grad(w, x, w.memory(out.dtype, weight.shape), ct, None, out, attrs)


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
