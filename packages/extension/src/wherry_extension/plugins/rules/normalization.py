"""Softmax, losses of it, and normalization."""
import math

from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops


@serves(ops.softmax, "softmax")
def plugin_softmax(w, out, x, *, axis):
    w.call("softmax", x, axis, out, or_args=[(x, axis, None, out)])  # the manual's has a dtype


@serves(ops.log_softmax, "log_softmax")
def plugin_log_softmax(w, out, x, *, axis):
    w.call("log_softmax", x, axis, out)


@serves(ops.softmax_vjp, "softmax_grad")
def plugin_softmax_vjp(w, out, ct, result, *, axis):
    w.call("softmax_grad", result, ct, axis, out)


@serves(ops.log_softmax_vjp, "log_softmax_grad")
def plugin_log_softmax_vjp(w, out, ct, result, *, axis):
    w.call("log_softmax_grad", result, ct, axis, out)


def _column(x, axis, rank):
    """Labels or losses, of which there is one along the axis."""
    axis %= rank
    return x.reshape(*x.shape[:axis], 1, *x.shape[axis:]) if len(x.shape) < rank else x


@serves(ops.cross_entropy, "cross_entropy_with_softmax")
def plugin_cross_entropy(w, out, logits, label, weight=None, *, soft_label, ignore_index, axis):
    if weight is not None:
        raise Declined("the kernel knows no weights of classes")
    loss, softmax = out
    rank = len(logits.shape)
    label = label if soft_label else _column(label, axis, rank)
    w.call("cross_entropy_with_softmax", logits, label, soft_label, True, True, ignore_index, axis, softmax, _column(loss, axis, rank))


@serves(ops.cross_entropy_vjp, "cross_entropy_with_softmax_grad")
def plugin_cross_entropy_vjp(w, out, ct, softmax, label, weight=None, *, soft_label, ignore_index, axis):
    if weight is not None:
        raise Declined("the kernel knows no weights of classes")
    rank = len(softmax.shape)
    label = label if soft_label else _column(label, axis, rank)
    w.call("cross_entropy_with_softmax_grad", label, softmax, _column(ct, axis, rank), soft_label, True, True, ignore_index, axis, out,
           dtype=softmax.dtype)


def _ones(w, dtype, shape):
    made = w.memory(dtype, shape)
    w.call("scale", w.zeros(dtype, shape), 1.0, 1.0, True, made)
    return made


def _batch_norm(w, x, mean, variance, scale, bias, results, *, is_test, epsilon, data_format):
    """Both orders of parameters; a momentum of 0 gives the statistics of the batch as the new running ones."""
    channels = x.shape[1 if data_format.startswith("NC") else -1]
    out, mean_out, variance_out = results
    if scale is None and w.has("scale", mean.dtype):  # most versions have to be given one
        scale = _ones(w, mean.dtype, (channels,))
    if bias is None and scale is not None:
        bias = w.zeros(scale.dtype, (channels,))
    saved = [w.memory(mean.dtype, (channels,)) for _ in range(2)]
    rest = (out, mean_out, variance_out, *saved, None)
    reserve = (out, mean_out, variance_out, *saved, w.memory(mean.dtype, (1,)))
    w.call(
        "batch_norm", x, mean, variance, scale, bias, is_test, 0.0, epsilon, data_format, False, False, *rest,
        or_args=[(x, scale, bias, mean, variance, 0.0, epsilon, data_format, is_test, False, False, False, *reserve)],
    )


@serves(ops.batch_norm, "batch_norm")
def plugin_batch_norm(w, out, x, scale=None, bias=None, *, epsilon, data_format):
    result, mean, variance = out
    before = [w.zeros(each.dtype, each.shape) for each in (mean, variance)]
    _batch_norm(w, x, *before, scale, bias, (result, mean, variance), is_test=False, epsilon=epsilon, data_format=data_format)


@serves(ops.batch_norm_infer, "batch_norm")
def plugin_batch_norm_infer(w, out, x, mean, variance, scale=None, bias=None, *, epsilon, data_format):
    unused = [w.memory(each.dtype, each.shape) for each in (mean, variance)]
    _batch_norm(w, x, mean, variance, scale, bias, (out, *unused), is_test=True, epsilon=epsilon, data_format=data_format)


@serves(ops.layer_norm, "layer_norm", "scale", "rsqrt")
def plugin_layer_norm(w, out, x, scale=None, bias=None, *, epsilon, begin_axis):
    result, mean, rstd = out
    rows = math.prod(x.shape[:begin_axis])
    variance, shifted = w.memory(rstd.dtype, (rows,)), w.memory(rstd.dtype, (rows,))
    args = (x, scale, bias, epsilon, begin_axis)
    outs = (result, mean.reshape(rows), variance)
    w.call("layer_norm", *args, *outs, or_args=[(*args, False, *outs)])
    w.call("scale", variance, 1.0, epsilon, True, shifted)
    w.call("rsqrt", shifted, rstd.reshape(rows))


def _inverse_square(w, x):
    """The variance whose deviation has the inverse `x`."""
    square, inverse, made = (w.memory(x.dtype, (x.size,)) for _ in range(3))
    w.call("multiply", x.reshape(x.size), x.reshape(x.size), square)
    w.call("rsqrt", square, inverse)
    w.call("multiply", inverse, inverse, made)
    return made


def _own_dtypes(x, scale, statistic):
    if scale is None and x.dtype is not statistic.dtype:
        raise Declined("without a scale its gradient has the dtype of x, which kernels do not write")


@serves(ops.batch_norm_vjp, "batch_norm_grad", "scale", "rsqrt", first=False)
def plugin_batch_norm_vjp(w, out, ct, x, scale, mean, variance, *, epsilon, data_format):
    _own_dtypes(x, scale, mean)
    scale = _ones(w, mean.dtype, mean.shape) if scale is None else scale
    bias = w.zeros(scale.dtype, scale.shape)  # no gradient depends on it
    shifted, inverse = w.memory(mean.dtype, mean.shape), w.memory(mean.dtype, mean.shape)
    w.call("scale", variance, 1.0, epsilon, True, shifted)
    w.call("rsqrt", shifted, inverse)
    first = (x, scale, bias, None, None, mean, inverse, None, ct, 0.0, epsilon, data_format, False, False, False)
    w.call("batch_norm_grad", *first, *out, or_args=[(*first[:-1], False, False, *out)], dtype=x.dtype)  # 2.3: fused with relu or not


@serves(ops.layer_norm_vjp, "layer_norm_grad", "multiply", "rsqrt", first=False)
def plugin_layer_norm_vjp(w, out, ct, x, scale, mean, rstd, *, begin_axis):
    _own_dtypes(x, scale, mean)
    columns = math.prod(x.shape[begin_axis:])
    scale = _ones(w, mean.dtype, (columns,)) if scale is None else scale.reshape(columns)
    bias = w.zeros(scale.dtype, (columns,))
    x_ct, *others = out
    args = (x, scale, bias, mean.reshape(mean.size), _inverse_square(w, rstd), ct, 0.0, begin_axis)  # epsilon is in the variance
    outs = (x_ct, *(each.reshape(columns) for each in others))
    w.call("layer_norm_grad", *args, *outs, or_args=[(*args, False, *outs)], dtype=x.dtype)


@serves(ops.group_norm, "group_norm", "scale", "rsqrt")
def plugin_group_norm(w, out, x, scale=None, bias=None, *, epsilon, groups):
    result, mean, rstd = out
    variance, shifted = w.memory(rstd.dtype, rstd.shape), w.memory(rstd.dtype, rstd.shape)
    w.call("group_norm", x, scale, bias, epsilon, groups, "NCHW", result, mean, variance)
    w.call("scale", variance, 1.0, epsilon, True, shifted)
    w.call("rsqrt", shifted, rstd)


@serves(ops.group_norm_vjp, "group_norm_grad", "subtract", "multiply", "rsqrt", first=False)
def plugin_group_norm_vjp(w, out, ct, x, scale, mean, rstd, *, groups):
    if x.dtype is not mean.dtype or (scale is not None and scale.dtype is not x.dtype):
        raise Declined("what comes out of the op is computed in one dtype")
    channels, inner = x.shape[1], math.prod(x.shape[2:])
    scale = _ones(w, x.dtype, (channels,)) if scale is None else scale
    bias = w.zeros(x.dtype, (channels,))
    # Kernels find the normalized values in the result; without a bias it is this.
    parts = (x.shape[0], groups, channels // groups * inner)
    centered, normal = w.memory(x.dtype, parts), w.memory(x.dtype, parts)
    w.call("subtract", x.reshape(*parts), w.expanded(mean.reshape(*parts[:2], 1), parts), centered)
    w.call("multiply", centered, w.expanded(rstd.reshape(*parts[:2], 1), parts), normal)
    result, whole = w.memory(x.dtype, x.shape), (x.shape[0], channels, inner)
    w.call("multiply", normal.reshape(*whole), w.expanded(scale.reshape(1, channels, 1), whole), result.reshape(*whole))
    variance = _inverse_square(w, rstd).reshape(*mean.shape)
    w.call("group_norm_grad", x, scale, bias, result, mean, variance, ct, 0.0, groups, "NCHW", *out)


@serves(ops.dropout_vjp, "dropout_grad", first=False)
def plugin_dropout_vjp(w, out, ct, mask, *, scale):
    if scale < 1.0:
        raise Declined("the kernel's factor is that of a probability")
    mode = "upscale_in_train" if scale > 1.0 else "downgrade_in_infer"
    w.call("dropout_grad", mask, ct, 1.0 - 1.0 / scale, False, mode, out, dtype=ct.dtype)
