"""Convolution and pooling of images."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_tensor import ops


def conv_attrs(strides, paddings, dilations, groups, data_format):
    """The attributes that all convolution operators share."""
    return {
        "strides": list(strides), "paddings": list(paddings), "padding_algorithm": "EXPLICIT", "dilations": list(dilations), "groups": groups,
        "data_format": data_format,
    }


def with_bias(w, out, bias, data_format):
    """`out` plus one number for each channel."""
    if bias is None:
        return out
    if data_format.startswith("NC"):
        bias = w.reshape(bias, [1, -1, *[1] * (out.ndim - 2)])
    return w("elementwise_add", {"X": out, "Y": bias}, {"axis": -1})


@writes(ops.conv2d)
def write_conv2d(w, x, weight, bias, *, strides, paddings, dilations, groups, data_format):
    depthwise = groups > 1 and data_format == "NCHW" and groups == x.shape[1] and weight.shape[0] % groups == 0
    attrs = conv_attrs(strides, paddings, dilations, groups, data_format)
    kind = "depthwise_conv2d" if depthwise else "conv2d"
    out = w(kind, {"Input": x, "Filter": weight}, attrs, "Output", shape=w.outs[0].sizes)
    return with_bias(w, out, bias, data_format)


def paddings_of(o, rank):
    """The paddings of an operator as functions of the library take them."""
    how = o.text("padding_algorithm", "EXPLICIT")
    return how if how in ("SAME", "VALID") else o.integers("paddings", [0] * rank)


def _layout_of(o):
    layout = o.text("data_format", "NCHW")
    return "NCHW" if layout == "AnyLayout" else layout


def _one(sizes):
    """Sizes that are the same along each axis as one number, for which functions of the library need not look at each."""
    return sizes[0] if type(sizes) is list and len(sizes) == 2 and sizes[0] == sizes[1] else sizes


@reads("conv2d", "depthwise_conv2d", out="Output")
def read_conv2d(o):
    return F.conv2d(
        o.x("Input"), o.x("Filter"), o.maybe("Bias"), _one(o.integers("strides", [1, 1])), _one(paddings_of(o, 2)),
        _one(o.integers("dilations", [1, 1])), o.integer("groups", 1), _layout_of(o),
    )


@writes(ops.conv2d_transpose)
def write_conv2d_transpose(w, x, weight, bias, *, strides, paddings, dilations, groups, output_size, data_format):
    extra = []
    if any(type(n) is not int for n in output_size):
        extra = output_padding(w.outs[0].made_by, weight.shape[2:], strides, paddings, dilations, output_size, data_format == "NHWC")
        if extra is None:
            return NotImplemented
        output_size = ()
    attrs = conv_attrs(strides, paddings, dilations, groups, data_format) | {"output_padding": extra, "output_size": list(output_size)}
    out = w("conv2d_transpose", {"Input": x, "Filter": weight}, attrs, "Output", shape=w.outs[0].sizes)
    return with_bias(w, out, bias, data_format)


def output_padding(node, kernel, strides, paddings, dilations, output_size, last):
    """The `output_padding` that says an output size which is open: how far it lies beyond the smallest, if that is one number; else None."""
    found = []
    for i, size in enumerate(output_size):
        x, axis = node.inputs[0], (1 if last else 2) + i

        def result(n, size=size, x=x, axis=axis):
            return size if type(size) is int else size.value(lambda source: _Sized(source, x, axis, n))

        def smallest(n, i=i):
            return (n - 1) * strides[i] - paddings[2 * i] - paddings[2 * i + 1] + dilations[i] * (kernel[i] - 1) + 1

        known = x.sizes[axis]
        try:
            more = {result(n) - smallest(n) for n in ((29, 1000) if known < 0 else (known,))}
        except LookupError:  # it depends on something else
            return None
        if len(more) > 1 or not 0 <= min(more) < max(strides[i], dilations[i]):
            return None
        found += more
    return found


class _Sized:
    """A variable as `Size.value` looks at it: one axis is `n`, which is the axis `axis` of `x`; nothing else can be asked for."""

    def __init__(self, source, x, axis, n):
        while x is not source and x.made_by is not None and x.made_by.op is ops.unsqueeze:
            axis -= sum(a < axis for a in x.made_by.attr("axes"))
            x = x.made_by.inputs[0]
        self.shape = {axis: n} if x is source else {}

    def item(self):
        raise LookupError("a value, which only a run of the program knows")


@reads("conv2d_transpose", "depthwise_conv2d_transpose", out="Output")
def read_conv2d_transpose(o):
    size, extra = o.integers("output_size"), o.integers("output_padding")
    return F.conv2d_transpose(
        o.x("Input"), o.x("Filter"), o.maybe("Bias"), stride=o.integers("strides", [1, 1]), padding=paddings_of(o, 2),
        output_padding=0 if size else extra or 0, groups=o.integer("groups", 1), dilation=o.integers("dilations", [1, 1]), output_size=size or None,
        data_format=o.text("data_format", "NCHW"),
    )


@writes(ops.conv2d_input_vjp)
def write_conv2d_input_vjp(w, ct, weight, like, *, strides, paddings, dilations, groups, data_format):
    attrs = conv_attrs(strides, paddings, dilations, groups, data_format)
    return w("conv2d_grad", {"Input": like, "Filter": weight, "Output@GRAD": ct}, attrs, "Input@GRAD", shape=like.shape)


@writes(ops.conv2d_weight_vjp)
def write_conv2d_weight_vjp(w, ct, x, weight, *, strides, paddings, dilations, groups, data_format):
    attrs = conv_attrs(strides, paddings, dilations, groups, data_format)
    return w("conv2d_grad", {"Input": x, "Filter": weight, "Output@GRAD": ct}, attrs, "Filter@GRAD", shape=weight.shape)


# Pooling.


def _pool_attrs(kind, kernel, strides, paddings, data_format, **more):
    return {
        "pooling_type": kind, "ksize": list(kernel), "strides": list(strides), "paddings": list(paddings), "padding_algorithm": "EXPLICIT",
        "global_pooling": False, "adaptive": False, "ceil_mode": False, "exclusive": True, "data_format": data_format, **more,
    }


def _transposed(w, x, perm):
    return w("transpose2", {"X": x}, {"axis": perm}, ("Out", "~XShape"), shape=[x.shape[n] for n in perm])


def _pooled(w, x, attrs):
    """`pool2d`, between transposes where the channels are last: Paddle's predictor gives other numbers for such a one after some operators."""
    if attrs["data_format"] == "NCHW":
        return w("pool2d", {"X": w.held(x)}, attrs)
    n, height, width, channels = w.outs[0].sizes
    out = w("pool2d", {"X": _transposed(w, x, [0, 3, 1, 2])}, attrs | {"data_format": "NCHW"}, shape=[n, channels, height, width])
    return _transposed(w, out, [0, 2, 3, 1])


@writes(ops.max_pool2d)
def write_max_pool2d(w, x, *, kernel, strides, paddings, ceil_mode, data_format):
    top, bottom, left, right = paddings
    if data_format == "NCHW" and not ceil_mode and top == bottom and left == right:
        attrs = {"ksize": list(kernel), "strides": list(strides), "paddings": [top, left], "global_pooling": False, "adaptive": False}
        if w.used(1):
            out, mask = w("max_pool2d_with_index", {"X": w.held(x)}, attrs, ("Out", "Mask"), dtype=[x.dtype, "int32"])
            return out, mask
    if w.used(1):
        return NotImplemented
    return _pooled(w, x, _pool_attrs("max", kernel, strides, paddings, data_format, ceil_mode=ceil_mode)), None


@writes(ops.avg_pool2d)
def write_avg_pool2d(w, x, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    attrs = _pool_attrs("avg", kernel, strides, paddings, data_format, ceil_mode=ceil_mode, exclusive=exclusive)
    if divisor is None:
        return _pooled(w, x, attrs)
    if any(paddings) or ceil_mode:
        return NotImplemented
    out = _pooled(w, x, attrs)
    return w("scale", {"X": out}, {"scale": kernel[0] * kernel[1] / divisor, "bias": 0.0, "bias_after_scale": True})


@writes(ops.adaptive_avg_pool2d)
def write_adaptive_avg_pool2d(w, x, *, output_size, data_format):
    return _pooled(w, x, _pool_attrs("avg", output_size, [1, 1], [0, 0], data_format, adaptive=True))


@writes(ops.adaptive_max_pool2d)
def write_adaptive_max_pool2d(w, x, *, output_size, data_format):
    last = data_format == "NHWC"
    # The windows of Paddle's `pool2d` end too far to the right, and its only one takes one place; those of this operator do not.
    if last and w.used(1):
        return NotImplemented
    if last:
        x = _transposed(w, x, [0, 3, 1, 2])
    attrs = {"ksize": list(output_size), "strides": [1, 1], "paddings": [0, 0], "global_pooling": False, "adaptive": True}
    shape = [*x.shape[:2], *output_size]
    out, mask = w("max_pool2d_with_index", {"X": w.held(x)}, attrs, ("Out", "Mask"), dtype=[x.dtype, "int32"], shape=shape)
    if last:
        out = _transposed(w, out, [0, 2, 3, 1])
    return out, mask if w.used(1) else None


@reads("pool2d")
def read_pool2d(o):
    x = o.x("X")
    data_format, kernel = _layout_of(o), o.integers("ksize")
    largest = o.text("pooling_type") == "max"
    if o.flag("global_pooling") or (o.flag("adaptive") and list(kernel) == [1, 1]):
        axes = [2, 3] if data_format == "NCHW" else [1, 2]
        return api.max(x, axes, keepdim=True) if largest else api.mean(x, axes, keepdim=True)
    if o.flag("adaptive"):
        if largest:
            return ops.adaptive_max_pool2d(x, output_size=tuple(kernel), data_format=data_format)[0]
        return F.adaptive_avg_pool2d(x, kernel, data_format=data_format)
    kernel, strides, paddings = _one(kernel), _one(o.integers("strides", [1, 1])), _one(paddings_of(o, 2))
    if largest:
        return F.max_pool2d(x, kernel, strides, paddings, ceil_mode=o.flag("ceil_mode"), data_format=data_format)
    return F.avg_pool2d(
        x, kernel, strides, paddings, ceil_mode=o.flag("ceil_mode"), exclusive=o.flag("exclusive", True), data_format=data_format
    )


@reads("max_pool2d_with_index")
def read_max_pool2d_with_index(o):
    x, kernel = o.x("X"), o.integers("ksize")
    if o.flag("adaptive"):
        out, mask = F.adaptive_max_pool2d(x, kernel, return_mask=True)
    elif o.flag("global_pooling"):
        out, mask = F.adaptive_max_pool2d(x, [1, 1], return_mask=True)
    else:
        out, mask = F.max_pool2d(x, kernel, o.integers("strides", [1, 1]), o.integers("paddings", [0, 0]), return_mask=True)
    return {"Out": out, "Mask": mask}


@writes(ops.max_unpool2d)
def write_max_unpool2d(w, x, index, *, output_size, data_format):
    if data_format != "NCHW" or x.ndim != 4 or index.dtype != "int32":
        return NotImplemented
    attrs = {
        "unpooling_type": "max", "ksize": [1, 1], "strides": [1, 1], "paddings": [0, 0], "output_size": list(output_size), "data_format": data_format,
    }
    return w("unpool", {"X": x, "Indices": index}, attrs)


@reads("unpool")
def read_unpool(o):
    return ops.max_unpool2d(o.x("X"), o.x("Indices"), output_size=tuple(o.integers("output_size")), data_format="NCHW")
