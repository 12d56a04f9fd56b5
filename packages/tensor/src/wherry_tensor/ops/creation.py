"""Ops without inputs, and those that use only an input's shape."""
from wherry_tensor.ops.declare import DType, Meta, Scalar, infer, op
from wherry_tensor.ops.shapes import require_sizes

full = op("full", "", sizes="shape", shape=tuple, value=Scalar, dtype=DType)
full_like = op("full_like", "like~", value=Scalar, dtype=DType)  # only the shape of `like` is used
arange = op("arange", "", sizes="length", start=Scalar, step=Scalar, length=int, dtype=DType)
linspace = op("linspace", "", sizes="num", start=Scalar, stop=Scalar, num=int, dtype=DType)
eye = op("eye", "", sizes="rows, columns", rows=int, columns=int, dtype=DType)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(full))]


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
