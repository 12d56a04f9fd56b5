"""Element-wise ops."""
from __future__ import annotations

import math

from wherry_export.onnx.column import LOOP, cannot, to_onnx
from wherry_export.onnx.writer import onnx_type
from wherry_tensor import ops
from wherry_tensor._core import bool_, int8, int16, int32, uint8


def _unary(op, kind):
    @to_onnx.rule(op)
    def onnx_unary(g, x):
        return g.op(kind, x)


for _name, _kind in {
    "negative": "Neg", "abs": "Abs", "sign": "Sign", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh",
    "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf", "reciprocal": "Reciprocal",
}.items():
    _unary(getattr(ops, _name), _kind)


@to_onnx.rule(ops.square)
def onnx_square(g, x):
    return g.op("Mul", x, x)


@to_onnx.rule(ops.rsqrt)
def onnx_rsqrt(g, x):
    return g.op("Reciprocal", g.op("Sqrt", x))


@to_onnx.rule(ops.log1p)
def onnx_log1p(g, x):
    # (1 + x) - 1 is what of x arrives in 1 + x; the quotient puts right what the sum rounded away.
    u = g.op("Add", x, g.number(1, x))
    arrived = g.op("Sub", u, g.number(1, x))
    none = g.op("Equal", arrived, g.number(0, x))
    safe = g.op("Where", none, g.number(1, x), arrived)
    scaled = g.op("Mul", g.op("Log", u), g.op("Div", x, safe))
    endless = g.op("Equal", u, g.number(math.inf, x))
    return g.op("Where", none, x, g.op("Where", endless, u, scaled))


@to_onnx.rule(ops.floor)
def onnx_floor(g, x):
    return g.op("Floor" if x.is_floating else "Identity", x)


@to_onnx.rule(ops.ceil)
def onnx_ceil(g, x):
    return g.op("Ceil" if x.is_floating else "Identity", x)


@to_onnx.rule(ops.logical_not)
def onnx_logical_not(g, x):
    return g.op("Not", g.cast(x, bool_))


@to_onnx.rule(ops.isnan)
def onnx_isnan(g, x):
    if not x.is_floating:
        return g.op("Not", g.op("Equal", x, x))
    return g.op("IsNaN", x)


@to_onnx.rule(ops.isinf)
def onnx_isinf(g, x):
    if not x.is_floating:
        return g.op("Not", g.op("Equal", x, x))
    return g.op("IsInf", x)


@to_onnx.rule(ops.isfinite)
def onnx_isfinite(g, x):
    if not x.is_floating:
        return g.op("Equal", x, x)
    return g.op("Not", g.op("Or", g.op("IsNaN", x), g.op("IsInf", x)))


@to_onnx.rule(ops.cast)
def onnx_cast(g, x, *, dtype):
    return g.op("Cast", x, to=onnx_type(dtype))


def _require_arithmetic(g, name, x):
    if x.dtype in (int8, uint8, int16) and g.opset < 14:
        raise NotImplementedError(
            f"onnx: sums and products of whole numbers of 8 and 16 bits came with opset 14. Got '{name}' of {x.dtype.name} for opset {g.opset}, "
            f"expected opset 14 or later. Export with opset_version=14."
        )


def _binary(op, kind, bools=None):
    @to_onnx.rule(op)
    def onnx_binary(g, x, y):
        if x.dtype is bool_:
            if bools is None:
                return NotImplemented
            return g.op(bools, x, y)
        if kind in ("Max", "Min") and not x.is_floating and g.opset < 12:
            return g.op("Where", g.op("Greater" if kind == "Max" else "Less", x, y), x, y)
        if kind in ("Add", "Sub", "Mul"):
            _require_arithmetic(g, op.name, x)
        return g.op(kind, x, y)


for _name, _kind, _bools in (
    ("add", "Add", "Or"), ("subtract", "Sub", None), ("multiply", "Mul", "And"), ("power", "Pow", None),
    ("maximum", "Max", "Or"), ("minimum", "Min", "And"), ("equal", "Equal", "Equal"),
):
    _binary(getattr(ops, _name), _kind, _bools)


@to_onnx.rule(ops.divide)
def onnx_divide(g, x, y):
    return g.op("Div", x, y)


def _ordered(g, x, y, kind):
    if x.dtype is bool_:
        return g.op(kind, g.cast(x, int32), g.cast(y, int32))
    return g.op(kind, x, y)


@to_onnx.rule(ops.not_equal)
def onnx_not_equal(g, x, y):
    return g.op("Not", g.op("Equal", x, y))


@to_onnx.rule(ops.less_than)
def onnx_less_than(g, x, y):
    return _ordered(g, x, y, "Less")


@to_onnx.rule(ops.greater_than)
def onnx_greater_than(g, x, y):
    return _ordered(g, x, y, "Greater")


@to_onnx.rule(ops.less_equal)
def onnx_less_equal(g, x, y):
    if g.opset >= 12:
        return _ordered(g, x, y, "LessOrEqual")
    return g.op("Or", _ordered(g, x, y, "Less"), g.op("Equal", x, y))


@to_onnx.rule(ops.greater_equal)
def onnx_greater_equal(g, x, y):
    if g.opset >= 12:
        return _ordered(g, x, y, "GreaterOrEqual")
    return g.op("Or", _ordered(g, x, y, "Greater"), g.op("Equal", x, y))


def _logical(op, kind):
    @to_onnx.rule(op)
    def onnx_logical(g, x, y):
        return g.op(kind, g.cast(x, bool_), g.cast(y, bool_))


for _name, _kind in (("logical_and", "And"), ("logical_or", "Or"), ("logical_xor", "Xor")):
    _logical(getattr(ops, _name), _kind)


def _bitwise(op, kind, bools):
    @to_onnx.rule(op)
    def onnx_bitwise(g, x, y):
        if x.dtype is bool_:
            return g.op(bools, x, y)
        if g.opset < 18:
            raise NotImplementedError(
                f"onnx: bits of whole numbers came with opset 18. Got '{op.name}' for opset {g.opset}, expected opset 18. "
                f"Export with opset_version=18."
            )
        return g.op(kind, x, y)


for _name, _kind, _bools in (
    ("bitwise_and", "BitwiseAnd", "And"), ("bitwise_or", "BitwiseOr", "Or"), ("bitwise_xor", "BitwiseXor", "Xor"),
):
    _bitwise(getattr(ops, _name), _kind, _bools)


@to_onnx.rule(ops.bitwise_not)
def onnx_bitwise_not(g, x):
    if x.dtype is bool_:
        return g.op("Not", x)
    return g.op("BitwiseNot", x) if g.opset >= 18 else g.op("Sub", g.number(-1, x), x)


@to_onnx.rule(ops.floor_divide)
def onnx_floor_divide(g, x, y):
    _require_arithmetic(g, "floor_divide", x)
    return g.op("Floor", g.op("Div", x, y)) if x.is_floating else g.floor_divided(x, y)


@to_onnx.rule(ops.remainder)
def onnx_remainder(g, x, y):
    if not x.is_floating:
        return g.op("Mod", x, y)
    # fmod has the sign of x; the rest belongs to the sign of y.
    rest = g.op("Mod", x, y, fmod=1)
    zero = g.number(0, x)
    other = g.op("Xor", g.op("Less", rest, zero), g.op("Less", y, zero))
    wrong = g.op("And", other, g.op("Not", g.op("Equal", rest, zero)))
    return g.op("Where", wrong, g.op("Add", rest, y), rest)


@to_onnx.rule(ops.where)
def onnx_where(g, condition, x, y):
    if x.dtype is bool_:  # runtimes have no Where for these
        return g.op("Or", g.op("And", condition, x), g.op("And", g.op("Not", condition), y))
    return g.op("Where", condition, x, y)


@to_onnx.rule(ops.clip)
def onnx_clip(g, x, minimum, maximum):
    bounds = []
    for bound in (minimum, maximum):
        if bound is None:
            bounds.append(None)
        elif bound.rank == 0:
            bounds.append(g.cast(bound, x.dtype))
        else:
            return NotImplemented
    if not x.is_floating and g.opset < 12:
        for bound, kind in zip(bounds, ("Less", "Greater"), strict=True):
            if bound is not None:
                beyond = g.op(kind, x, bound)
                x = g.op("Where", beyond, bound, x)
        return x
    return g.op("Clip", x, *bounds)


@to_onnx.rule(ops.atan2)
def onnx_atan2(g, x, y):
    # x is the ordinate. Quadrants by the signs; the signs of zeros are not looked at.
    zero, pi, half = g.number(0, x), g.number(math.pi, x), g.number(math.pi / 2, x)
    at_axis = g.op("Equal", y, zero)
    angle = g.op("Atan", g.op("Div", x, g.op("Where", at_axis, g.number(1, x), y)))
    below = g.op("Less", x, zero)
    turned = g.op("Where", below, g.op("Sub", angle, pi), g.op("Add", angle, pi))
    angle = g.op("Where", g.op("Less", y, zero), turned, angle)
    upright = g.op("Where", below, g.op("Neg", half), g.op("Where", g.op("Equal", x, zero), zero, half))
    return g.op("Where", at_axis, upright, angle)


for _name in ("erfinv", "lgamma", "digamma", "polygamma", "i0", "i1", "i0e", "i1e", "nextafter"):
    cannot(getattr(ops, _name), "ONNX has no such function, nor what it could be made of")
for _name in ("complex", "real", "imag", "conj", "angle"):
    cannot(getattr(ops, _name), "ONNX's operators do not take complex tensors")


cannot(ops.gcd, LOOP)
