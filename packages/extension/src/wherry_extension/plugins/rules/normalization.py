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


def _batch_norm(w, x, mean, variance, scale, bias, results, *, is_test, epsilon, data_format):
    """Both orders of parameters; a momentum of 0 gives the statistics of the batch as the new running ones."""
    channels = x.shape[1 if data_format.startswith("NC") else -1]
    out, mean_out, variance_out = results
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
