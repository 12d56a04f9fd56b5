"""Ops without inputs, and those that use only an input's shape."""
from wherry_tensor import ops
from wherry_tensor._core import complex128, float64, int64
from wherry_tensor.ops.declare import DType, Meta, Scalar, decompose, infer, op
from wherry_tensor.ops.shapes import require_sizes

full = op("full", "", sizes="shape", shape=tuple, value=Scalar, dtype=DType)
full_like = op("full_like", "like~", value=Scalar, dtype=DType)  # only the shape of `like` is used
arange = op("arange", "", sizes="length", start=Scalar, step=Scalar, length=int, dtype=DType)
linspace = op("linspace", "", sizes="num", start=Scalar, stop=Scalar, num=int, dtype=DType)
eye = op("eye", "", sizes="rows, columns", rows=int, columns=int, dtype=DType)


# Shape rules.


@infer.rule(full)
def infer_full(*, shape, value, dtype):
    return Meta(require_sizes("full", shape), dtype)


@infer.rule(full_like)
def infer_full_like(like, *, value, dtype):
    return Meta(like.shape, dtype)


@infer.rule(arange)
def infer_arange(*, start, step, length, dtype):
    return Meta(require_sizes("arange", (length,)), dtype)


@infer.rule(linspace)
def infer_linspace(*, start, stop, num, dtype):
    return Meta(require_sizes("linspace", (num,)), dtype)


@infer.rule(eye)
def infer_eye(*, rows, columns, dtype):
    return Meta(require_sizes("eye", (rows, columns)), dtype)


# Decompositions.


@decompose.rule(full_like)
def decompose_full_like(like, *, value, dtype):
    return ops.copy(ops.broadcast_like(full(shape=(), value=value, dtype=dtype), like))


@decompose.rule(linspace)
def decompose_linspace(*, start, stop, num, dtype):
    # In float64, and from both ends to the middle, so that the last value is `stop` exactly.
    wide = complex128 if dtype.is_complex else float64
    step = (stop - start) * (1.0 / (num - 1)) if num > 1 else 0.0
    half = num // 2 if num > 1 else num
    first = arange(start=start, step=step, length=half, dtype=wide)
    last = ops.flip(arange(start=stop, step=-step, length=num - half, dtype=wide), axes=(0,))
    return ops.cast(ops.concat(first, last, axis=0), dtype=dtype)


@decompose.rule(eye)
def decompose_eye(*, rows, columns, dtype):
    down = ops.unsqueeze(arange(start=0, step=1, length=rows, dtype=int64), axes=(1,))
    return ops.cast(ops.equal(down, arange(start=0, step=1, length=columns, dtype=int64)), dtype=dtype)


decompose.exempt(full, "numbers have to come from somewhere")
decompose.exempt(arange, "positions have to come from somewhere")
