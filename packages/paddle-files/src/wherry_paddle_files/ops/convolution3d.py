"""Convolution and pooling of volumes."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.ops.convolution import conv_attrs, output_padding, paddings_of, with_bias
from wherry_tensor import ops


@writes(ops.conv3d)
def write_conv3d(w, x, weight, bias, *, strides, paddings, dilations, groups, data_format):
    attrs = conv_attrs(strides, paddings, dilations, groups, data_format)
    return with_bias(w, w("conv3d", {"Input": x, "Filter": weight}, attrs, "Output", shape=w.outs[0].sizes), bias, data_format)


@reads("conv3d", out="Output")
def read_conv3d(o):
    return F.conv3d(
        o.x("Input"), o.x("Filter"), None, o.integers("strides", [1, 1, 1]), paddings_of(o, 3), o.integers("dilations", [1, 1, 1]),
        o.integer("groups", 1),
        o.text("data_format", "NCDHW"),
    )


@writes(ops.conv3d_transpose)
def write_conv3d_transpose(w, x, weight, bias, *, strides, paddings, dilations, groups, output_size, data_format):
    last, extra = data_format == "NDHWC", []
    if any(type(n) is not int for n in output_size):
        extra = output_padding(w.outs[0].made_by, weight.shape[2:], strides, paddings, dilations, output_size, last)
        if extra is None:
            return NotImplemented
        output_size = ()
    if last:  # for which Paddle's operator takes the wrong axes for those of the images
        x = w("transpose2", {"X": x}, {"axis": [0, 4, 1, 2, 3]}, ("Out", "~XShape"), shape=[x.shape[n] for n in (0, 4, 1, 2, 3)])
    attrs = conv_attrs(strides, paddings, dilations, groups, "NCDHW") | {"output_padding": extra, "output_size": list(output_size)}
    sizes = w.outs[0].sizes
    out = w("conv3d_transpose", {"Input": x, "Filter": weight}, attrs, "Output", shape=[sizes[n] for n in (0, 4, 1, 2, 3)] if last else sizes)
    if last:
        out = w("transpose2", {"X": out}, {"axis": [0, 2, 3, 4, 1]}, ("Out", "~XShape"), shape=sizes)
    return with_bias(w, out, bias, data_format)


@reads("conv3d_transpose", out="Output")
def read_conv3d_transpose(o):
    size, extra = o.integers("output_size"), o.integers("output_padding")
    return F.conv3d_transpose(
        o.x("Input"), o.x("Filter"), None, stride=o.integers("strides", [1, 1, 1]), padding=paddings_of(o, 3),
        output_padding=0 if size else extra or 0, groups=o.integer("groups", 1), dilation=o.integers("dilations", [1, 1, 1]),
        output_size=size or None, data_format=o.text("data_format", "NCDHW").replace("NCHW", "NCDHW").replace("NHWC", "NDHWC"),
    )


@reads("pool3d")
def read_pool3d(o):
    x, kernel, data_format = o.x("X"), o.integers("ksize"), o.text("data_format", "NCDHW")
    largest = o.text("pooling_type") == "max"
    if o.flag("global_pooling"):
        axes = [2, 3, 4] if data_format == "NCDHW" else [1, 2, 3]
        return api.max(x, axes, keepdim=True) if largest else api.mean(x, axes, keepdim=True)
    if o.flag("adaptive"):
        return F.adaptive_max_pool3d(x, kernel) if largest else F.adaptive_avg_pool3d(x, kernel, data_format=data_format)
    strides, paddings = o.integers("strides", [1, 1, 1]), paddings_of(o, 3)
    if largest:
        return F.max_pool3d(x, kernel, strides, paddings, ceil_mode=o.flag("ceil_mode"), data_format=data_format)
    return F.avg_pool3d(
        x, kernel, strides, paddings, ceil_mode=o.flag("ceil_mode"), exclusive=o.flag("exclusive", True), data_format=data_format
    )


@reads("max_pool3d_with_index")
def read_max_pool3d_with_index(o):
    x, kernel = o.x("X"), o.integers("ksize")
    if o.flag("adaptive"):
        out, mask = F.adaptive_max_pool3d(x, kernel, return_mask=True)
    elif o.flag("global_pooling"):
        out, mask = F.adaptive_max_pool3d(x, [1, 1, 1], return_mask=True)
    else:
        out, mask = F.max_pool3d(x, kernel, o.integers("strides", [1, 1, 1]), o.integers("paddings", [0, 0, 0]), return_mask=True)
    return {"Out": out, "Mask": mask}


@reads("unpool3d")
def read_unpool3d(o):
    size = [*o.x("X").shape[:2], *o.integers("output_size")]
    strides = o.integers("strides", [1, 1, 1])
    return F.max_unpool3d(o.x("X"), o.x("Indices"), o.integers("ksize"), strides, o.integers("paddings", [0, 0, 0]), output_size=size)
