"""Reductions and scans."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops
from wherry_tensor._core import int64


@serves(ops.reduce_sum, "sum")
def plugin_reduce_sum(w, out, x, *, axes, keepdim):
    w.call("sum", x, list(axes), None if out.dtype is x.dtype else out.dtype, keepdim, out)


@serves(ops.reduce_prod, "prod")
def plugin_reduce_prod(w, out, x, *, axes, keepdim):
    whole = len(axes) == len(x.shape)
    w.call("prod", x, list(axes), keepdim, whole, out)


def _reduces(op, kernel):
    @serves(op, kernel)
    def rule(w, out, x, *, axes, keepdim):
        w.call(kernel, x, list(axes), keepdim, out)


for _op, _kernel in (
    (ops.reduce_max, "max"), (ops.reduce_min, "min"), (ops.reduce_amax, "amax"), (ops.reduce_amin, "amin"),
    (ops.reduce_all, "all"), (ops.reduce_any, "any"),
):  # fmt: skip
    _reduces(_op, _kernel)


@serves(ops.logsumexp, "logsumexp")
def plugin_logsumexp(w, out, x, *, axes, keepdim):
    w.call("logsumexp", x, list(axes), keepdim, len(axes) == len(x.shape), out)


def _position(op, kernel):
    @serves(op, kernel)
    def rule(w, out, x, *, axis, keepdim):
        if out.dtype is not int64:
            raise Declined("positions of another dtype")
        # 3 is int64 among the numbers of Paddle's files, which the first version takes.
        args = (x, 0 if axis is None else axis, keepdim, axis is None)
        w.call(kernel, *args, int64, out, or_args=[(*args, 3, out)])


for _op, _kernel in ((ops.argmax, "argmax"), (ops.argmin, "argmin")):
    _position(_op, _kernel)


@serves(ops.cumsum, "cumsum")
def plugin_cumsum(w, out, x, *, axis, reverse):
    if out.dtype is not x.dtype:
        raise Declined("the sum has another dtype")
    w.call("cumsum", x, axis, False, False, reverse, out)


@serves(ops.squared_l2_norm, "squared_l2_norm")
def plugin_squared_l2_norm(w, out, x):
    w.call("squared_l2_norm", x, out)


@serves(ops.reduce_mean, "mean|mean_all")
def plugin_reduce_mean(w, out, x, *, axes, keepdim):
    if w.has("mean", x.dtype):
        w.call("mean", x, list(axes), keepdim, out)
    elif len(axes) == len(x.shape):
        w.call("mean_all", x, out.reshape())
    else:
        raise Declined("the kernel takes the mean of all elements")


@serves(ops.sum_of_squares, "squared_l2_norm", "add")
def plugin_sum_of_squares(w, out, *xs):
    if any(x.dtype is not out.dtype for x in xs):
        raise Declined("the sum has another dtype")
    part, *totals = (w.memory(out.dtype, (1,)) for _ in range(3))
    for i, x in enumerate(xs):
        last = out.reshape(1) if i == len(xs) - 1 else totals[i % 2]
        w.call("squared_l2_norm", x, part if i else last)
        if i:
            w.call("add", totals[(i - 1) % 2], part, last)


@serves(ops.cumprod, "cumprod")
def plugin_cumprod(w, out, x, *, axis):
    w.call("cumprod", x, axis, out, or_args=[(x, axis, False, False, out)])


@serves(ops.logcumsumexp, "logcumsumexp")
def plugin_logcumsumexp(w, out, x, *, axis):
    w.call("logcumsumexp", x, axis, False, False, False, out)


def _running(op, name):
    @serves(op, name)
    def rule(w, out, x, *, axis):
        w.call(name, x, axis, int64, *out, or_args=[(x, axis, 3, *out)])


_running(ops.cummax, "cummax")
_running(ops.cummin, "cummin")
