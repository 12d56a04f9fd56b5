"""Interpolation and grid sampling along one axis: weighted sums of its elements."""
from wherry_tensor import ops
from wherry_tensor._core import int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    floats,
    require_axis,
    require_dtype,
    require_known,
    require_one_dtype,
    require_rank,
    require_same_shape,
    same_shape,
    show,
)

# out[..., i, ...] = sum over k of weight[i, k] * x[..., index[i, k], ...]. index (int64, each in [0, size))
# and weight, in the dtype of x, are [results, taps]. Where a weight is 0, its place is not looked at.
resample = op("resample", "x, index, weight", axis=int)
resample_vjp = op("resample_vjp", "ct, index, weight, like~", axis=int)  # adds weight * ct at the places


@infer.rule(resample)
def infer_resample(x, index, weight, *, axis):
    return Meta(_resampled("resample", "x", x.shape, x, index, weight, axis), x.dtype)


@infer.rule(resample_vjp)
def infer_resample_vjp(ct, index, weight, like, *, axis):
    resampled = _resampled("resample_vjp", "ct", like.shape, ct, index, weight, axis)
    require_same_shape("resample_vjp", "ct", ct.shape, "what was resampled", resampled)
    return Meta(like.shape, ct.dtype)


def _resampled(op_name, name, shape, values, index, weight, axis):
    dtype = require_one_dtype(op_name, **{name: values.dtype, "weight": weight.dtype})
    require_dtype(op_name, name, dtype, floats)
    require_dtype(op_name, "index", index.dtype, (int64,))
    require_axis(op_name, axis, shape)
    require_rank(op_name, "index", index.shape, 2)
    if not same_shape(index.shape, weight.shape):
        raise ValueError(
            f"{op_name}: index and weight differ in shape. Got index of shape {show(index.shape)} and weight of shape "
            f"{show(weight.shape)}, expected equal shapes, [results, taps]. Fill up with weights of 0."
        )
    return (*shape[:axis], index.shape[0], *shape[axis + 1 :])


@decompose.rule(resample)
def decompose_resample(x, index, weight, *, axis):
    require_known("resample", "index", index.shape[1:])
    out = None
    for k in range(index.shape[1]):
        share = _along(ops.select(weight, 1, k), axis, x.ndim)
        part = ops.gather(x, ops.select(index, 1, k), axis)
        part = ops.where(ops.equal(share, _zero(x)), _zero(x), part * share)
        out = part if out is None else out + part
    if out is None:
        return ops.full(shape=(*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :]), value=0, dtype=x.dtype)
    return out


@decompose.rule(resample_vjp)
def decompose_resample_vjp(ct, index, weight, like, *, axis):
    require_known("resample_vjp", "index", index.shape[1:])
    out = ops.full_like(like, value=0, dtype=ct.dtype)
    for k in range(index.shape[1]):
        share = _along(ops.select(weight, 1, k), axis, ct.ndim)
        part = ops.where(ops.equal(share, _zero(ct)), _zero(ct), ct * share)
        out = out + ops.gather_vjp(part, ops.select(index, 1, k), like, axis)
    return out


def _along(weight, axis, rank):
    return ops.reshape(weight, (weight.shape[0], *(1,) * (rank - 1 - axis)))


def _zero(x):
    return ops.full(shape=(), value=0, dtype=x.dtype)
