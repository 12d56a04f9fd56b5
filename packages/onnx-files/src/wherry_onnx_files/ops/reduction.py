"""Reductions. Their axes are an attribute, in later opsets an input."""
import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import Numbers, is_known
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import _core, ops


def _axes(o, x):
    if o.has(1):
        axes = o.ints(1, "the axes")
    else:
        axes = o.ints_of("axes") or []
    if not axes:
        return None if o.flag("noop_with_empty_axes") else tuple(range(x.ndim))
    return tuple(sorted({axis % x.ndim for axis in axes})) if x.ndim else ()


def _reduces(name, function):
    @reads(name)
    def read(o):
        x = o.x(0)
        axes = _axes(o, x)
        if axes is None:
            return _elementwise.get(name, lambda x: x)(x)
        out = function(x, axes, o.flag("keepdims", True))
        return out if out.dtype is x.dtype else ops.cast(out, dtype=x.dtype)

    return read


def _sum(x, axes, keepdim):
    return ops.reduce_sum(x, axes=axes, keepdim=keepdim)


def _extreme(op, largest):
    def reduce(x, axes, keepdim):
        if x.dtype.name == "bool":
            any_or_all = ops.reduce_any if largest else ops.reduce_all
            return any_or_all(x, axes=axes, keepdim=keepdim)
        if any(is_known(x.shape[axis]) and x.shape[axis] == 0 for axis in axes):
            least = (-np.inf if largest else np.inf) if x.dtype.is_floating else getattr(np.iinfo(x.dtype.name), "min" if largest else "max")
            shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdim or i not in axes)
            return ops.full(shape=shape, value=least, dtype=x.dtype)
        return op(x, axes=axes, keepdim=keepdim)

    return reduce


def _log_sum_exp(x, axes, keepdim):
    return ops.logsumexp(x, axes=axes, keepdim=keepdim)


def _mean(x, axes, keepdim):
    if x.dtype.is_floating:
        return ops.reduce_mean(x, axes=axes, keepdim=keepdim)
    wide = ops.reduce_mean(ops.cast(x, dtype=_core.float64), axes=axes, keepdim=keepdim)
    return ops.cast(ops.trunc(wide), dtype=x.dtype)


_elementwise = {
    "ReduceL1": ops.abs, "ReduceL2": ops.abs, "ReduceSumSquare": lambda x: ops.multiply(x, x), "ReduceLogSum": ops.log,
}

_reduces("ReduceSum", _sum)
_reduces("ReduceMean", _mean)
_reduces("ReduceMax", _extreme(ops.reduce_max, True))
_reduces("ReduceMin", _extreme(ops.reduce_min, False))
_reduces("ReduceL1", lambda x, axes, keepdim: _sum(ops.abs(x), axes, keepdim))
_reduces("ReduceL2", lambda x, axes, keepdim: _root(_sum(ops.multiply(x, x), axes, keepdim)))
_reduces("ReduceSumSquare", lambda x, axes, keepdim: _sum(ops.multiply(x, x), axes, keepdim))
_reduces("ReduceLogSum", lambda x, axes, keepdim: ops.log(_sum(x, axes, keepdim)))
_reduces("ReduceLogSumExp", _log_sum_exp)


def _root(x):
    return ops.sqrt(x) if x.dtype.is_floating else ops.sqrt(ops.cast(x, dtype=_core.float64))


@reads("ReduceProd")
def read_reduce_prod(o):
    known = o.numbers(0)
    if known is not None and known.ndim == 1 and (o.has(1) or o.ints_of("axes") in (None, [0], [-1])):
        out = 1
        for n in known:
            out = n * out
        found = np.empty((1,) if o.flag("keepdims", True) else (), object)
        found[...] = out
        return Numbers(found, o.value(0).dtype)
    x = o.x(0)
    axes = _axes(o, x)
    if axes is None:
        return x
    out = ops.reduce_prod(x, axes=axes, keepdim=o.flag("keepdims", True))
    return out if out.dtype is x.dtype else ops.cast(out, dtype=x.dtype)


def _arg(o, op):
    x = o.x(0)
    axis, keepdim = o.integer("axis") % x.ndim, o.flag("keepdims", True)
    if not o.flag("select_last_index"):
        return op(x, axis=axis, keepdim=keepdim)
    at = op(ops.flip(x, axes=(axis,)), axis=axis, keepdim=keepdim)
    n = x.shape[axis]
    last = _core.scalar(n - 1, _core.int64) if is_known(n) else (n - 1).tensor(_core.int64)
    return ops.subtract(last, at)


reads("ArgMax", keeps=False)(lambda o: _arg(o, ops.argmax))
reads("ArgMin", keeps=False)(lambda o: _arg(o, ops.argmin))


@reads("LpNormalization")
def read_lp_normalization(o):
    x, p = o.x(0), o.integer("p", 2)
    axis = o.integer("axis", -1) % x.ndim
    if p not in (1, 2):
        raise o.bad(f"attribute 'p' is {p}", "1 or 2")
    size = _sum(ops.abs(x), (axis,), True) if p == 1 else ops.sqrt(_sum(ops.multiply(x, x), (axis,), True))
    return ops.where(ops.equal(size, scalar(x, 0)), scalar(x, 0), ops.divide(x, size))


@reads("MeanVarianceNormalization")
def read_mean_variance_normalization(o):
    x = o.x(0)
    axes = tuple(sorted(axis % x.ndim for axis in o.ints_of("axes", [0, 2, 3])))
    centred = ops.subtract(x, ops.reduce_mean(x, axes=axes, keepdim=True))
    spread = ops.sqrt(ops.reduce_mean(ops.multiply(centred, centred), axes=axes, keepdim=True))
    return ops.divide(centred, ops.add(spread, scalar(x, 1e-9)))
