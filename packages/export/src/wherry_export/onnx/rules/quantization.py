"""Numbers of few bits with a scale, and sums of their products. What ONNX has not is written as its decomposition."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import to_onnx
from wherry_export.onnx.writer import Value, onnx_type
from wherry_tensor import ops
from wherry_tensor._core import float32, int8, int32, uint8

_WITH_FLOAT8 = ("float32", "float16")  # dtypes whose values ONNX turns into float8 and back
_RANGES = {int8: (-128, 127), uint8: (0, 255)}


def _scale(g, scale, axis):
    """A scale as ONNX has it: without axes where it is one number; None where this opset has none for each place of an axis."""
    if axis is not None:
        return scale if g.opset >= 13 else None
    array = g.array_of(scale)
    if array is not None:
        return g.constant(array.reshape(()), hint="scale")
    return scale if not scale.rank else g.op("Reshape", scale, g.constant([], "int64"))


def _zero(g, zero_point, scale, axis, dtype):
    """A zero point of the dtype of the whole numbers, of zeros where there is none; None where it is not known how many."""
    if zero_point is None:
        if axis is not None and scale.shape[0] < 0:
            return None
        return g.constant(0 if axis is None else [0] * scale.shape[0], dtype, "zero_point")
    array = g.array_of(zero_point)
    if array is not None:
        return g.constant(array if axis is not None else array.reshape(()), dtype, "zero_point")
    return g.cast(zero_point if axis is not None or not zero_point.rank else g.op("Reshape", zero_point, g.constant([], "int64")), dtype)


@to_onnx.rule(ops.quantize_linear)
def onnx_quantize_linear(g, x, scale, zero_point=None, *, axis, group, low, high, dtype):
    if dtype not in _RANGES or (low, high) != _RANGES[dtype] or group is not None or x.dtype != scale.dtype or x.dtype.name != "float32":
        return NotImplemented
    written, zero = _scale(g, scale, axis), _zero(g, zero_point, scale, axis, dtype)
    if written is None or zero is None:
        return NotImplemented
    return g.op("QuantizeLinear", x, written, zero, **({} if axis is None else {"axis": axis}))


@to_onnx.rule(ops.dequantize_linear)
def onnx_dequantize_linear(g, x, scale, zero_point=None, *, axis, group, dtype):
    if x.dtype not in (int8, uint8, int32) or group is not None or dtype.name != "float32" or scale.dtype != dtype:
        return NotImplemented
    written = _scale(g, scale, axis)
    if written is None or (x.dtype is int32 and zero_point is not None):
        return NotImplemented
    # Without a zero point ONNX Runtime 1.32 takes int8 for uint8 where it moves this node past a change of shape.
    zero = None if x.dtype is int32 else _zero(g, zero_point, scale, axis, x.dtype)
    return g.op("DequantizeLinear", x, written, zero, **({} if axis is None else {"axis": axis}))


@to_onnx.rule(ops.quantize_fp8)
def onnx_quantize_fp8(g, x):
    # ONNX has float8 as a dtype of its own, and no way from it to bytes: whoever reads more than its values gets them as they are computed.
    if g.opset < 19 or g.readers != {"dequantize_fp8"} or x.dtype.name not in _WITH_FLOAT8:
        return NotImplemented
    name = g.op("QuantizeLinear", x, g.number(1, x), g.float8_constant(np.zeros((), np.uint8)), hint="float8")
    g.float8.add(name)
    return name


@to_onnx.rule(ops.dequantize_fp8)
def onnx_dequantize_fp8(g, x, *, dtype):
    codes = g.array_of(x)
    if g.opset < 19 or (codes is None and x.name not in g.float8):
        return NotImplemented
    stored = x if codes is None else g.float8_constant(codes)
    if dtype.name not in _WITH_FLOAT8:
        return g.op("Cast", g.op("DequantizeLinear", stored, g.constant(1, float32)), to=onnx_type(dtype))
    return g.op("DequantizeLinear", stored, g.number(1, Value("", (), dtype)))


@to_onnx.rule(ops.matmul_int8)
def onnx_matmul_int8(g, x, y, x_zero_point=None, y_zero_point=None, *, transpose_x, transpose_y):
    if transpose_x or transpose_y or (x_zero_point is not None and x_zero_point.rank):
        return NotImplemented
    return g.op("MatMulInteger", x, y, x_zero_point, y_zero_point)
