"""Creation of tensors."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import to_onnx
from wherry_export.onnx.writer import Value, onnx_type
from wherry_tensor import ops
from wherry_tensor._core import bfloat16, int64
from wherry_tensor.sizes import is_unknown


def _filled(g, shape, value, dtype):
    if dtype is bfloat16:
        return g.op("Cast", g.op("Expand", g.constant(np.float32(value)), shape), to=onnx_type(dtype))
    return g.op("Expand", g.constant(np.asarray(value).astype(dtype.name)), shape)


@to_onnx.rule(ops.full)
def onnx_full(g, *, shape, value, dtype):
    onnx_type(dtype)
    if not any(is_unknown(n) for n in shape) and dtype is not bfloat16 and int(np.prod(shape, dtype=np.int64)) <= 64:
        return g.constant(np.full(shape, value, dtype.name))
    return _filled(g, g.shape(shape), value, dtype)


@to_onnx.rule(ops.full_like)
def onnx_full_like(g, like, *, value, dtype):
    onnx_type(dtype)
    return _filled(g, g.shape_of(like), value, dtype)


@to_onnx.rule(ops.arange)
def onnx_arange(g, *, start, step, length, dtype):
    zero, one = g.constant(0, "int64"), g.constant(1, "int64")
    count = g.op("Range", zero, g.squeeze(g.size(length), [0]), one)
    if not dtype.is_floating:
        whole = g.op("Add", g.op("Mul", count, g.constant(int(step), "int64")), g.constant(int(start), "int64"))
        return g.cast(Value(whole, (-1,), int64), dtype)
    wide = g.op("Cast", count, to=11)  # float64, as the steps are computed here
    return g.cast(g.op("Add", g.op("Mul", wide, g.constant(np.float64(step))), g.constant(np.float64(start))), dtype)
