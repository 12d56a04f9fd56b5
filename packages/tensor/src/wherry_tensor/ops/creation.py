"""Ops without inputs, and those that use only an input's shape."""
from wherry_tensor.ops.declare import DType, Scalar, op

full = op("full", "", shape=tuple, value=Scalar, dtype=DType)
full_like = op("full_like", "like", value=Scalar, dtype=DType)  # only the shape of `like` is used
arange = op("arange", "", start=Scalar, step=Scalar, length=int, dtype=DType)
linspace = op("linspace", "", start=Scalar, stop=Scalar, num=int, dtype=DType)
eye = op("eye", "", rows=int, columns=int, dtype=DType)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(full))]
