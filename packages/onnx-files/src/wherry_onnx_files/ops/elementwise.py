"""Element-wise operators: arithmetic, functions, comparisons, logic, bits, casts."""
import operator

import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.elements import FLOAT8, HELD, decoded, dtype_of, round_to, tensor_of_array, wrapped
from wherry_onnx_files.numbers import Numbers
from wherry_tensor import _core, ops
from wherry_tensor.sizes import Size

# Functions of one tensor.

_unary = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh", "Ceil": "ceil",
    "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor", "Log": "log", "Not": "logical_not", "Reciprocal": "reciprocal",
    "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh", "IsNaN": "isnan",
}  # fmt: skip


def scalar(x, value):
    """A number in the dtype of `x`."""
    return _core.scalar(value, x.dtype)


def _one(op):
    return lambda o: op(o.x(0))


for _name, _op in _unary.items():
    reads(_name)(_one(getattr(ops, _op)))


@reads("Round")
def read_round(o):
    """To even at halves, which `ops.round` is not."""
    return round_even(o.x(0))


def round_even(x):
    """The nearest whole number, the even one at halves."""
    down = ops.floor(x)
    rest = ops.subtract(x, down)
    odd = ops.subtract(down, ops.multiply(scalar(x, 2), ops.floor(ops.multiply(down, scalar(x, 0.5)))))
    up = ops.logical_or(ops.greater_than(rest, scalar(x, 0.5)), ops.logical_and(ops.equal(rest, scalar(x, 0.5)), ops.equal(odd, scalar(x, 1))))
    return ops.where(ops.isfinite(x), ops.where(up, ops.add(down, scalar(x, 1)), down), x)


@reads("Neg")
def read_neg(o):
    x = o.numbers(0)
    return ops.negative(o.x(0)) if x is None else Numbers(-x, o.value(0).dtype)


@reads("IsInf", keeps=False)
def read_isinf(o):
    x = o.x(0)
    found = ops.isinf(x)
    if not o.flag("detect_negative", True):
        found = ops.logical_and(found, ops.greater_than(x, scalar(x, 0)))
    if not o.flag("detect_positive", True):
        found = ops.logical_and(found, ops.less_than(x, scalar(x, 0)))
    return found


@reads("BitwiseNot")
def read_bitwise_not(o):
    return ops.bitwise_not(o.x(0))


# Two tensors.


def numbers_with(o, function):
    """The result of a function of whole numbers, where both inputs are known as such; else None."""
    a, b = o.numbers(0), o.numbers(1)
    if a is None or b is None:
        return None
    try:
        out = np.asarray(np.frompyfunc(function, 2, 1)(a, b), object)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    fits = all(type(n) in (int, Size) for n in out.flat)
    return Numbers(out, o.value(0).dtype) if fits else None


def pair(o):
    """Both inputs; before opset 7 the second is broadcast as `axis` says."""
    x, y = o.x(0), o.x(1)
    if o.version < 7 and o.given("axis") and y.ndim:
        y = ops.reshape(y, shape=(*y.shape, *[1] * (x.ndim - o.integer("axis") % x.ndim - y.ndim)))
    return x, y


def _two(op, function=None):
    def read(o):
        known = None if function is None else numbers_with(o, function)
        return op(*pair(o)) if known is None else known

    return read


reads("Add")(_two(ops.add, operator.add))
reads("Sub")(_two(ops.subtract, operator.sub))
reads("Mul")(_two(ops.multiply, operator.mul))


def _quotient(a, b):
    """As C divides: towards zero. Sizes are not negative."""
    if isinstance(a, Size) or isinstance(b, Size):
        return a // b
    return abs(a) // abs(b) * (1 if (a >= 0) == (b >= 0) else -1)


@reads("Div")
def read_div(o):
    known = numbers_with(o, _quotient)
    if known is not None:
        return known
    x, y = pair(o)
    if x.dtype.is_floating or x.dtype.name.startswith("complex"):
        return ops.divide(x, y)
    return truncated(x, y)


def truncated(x, y):
    """The quotient of whole numbers, towards zero."""
    if x.dtype.name == "uint8":
        return ops.cast(ops.floor_divide(ops.cast(x, dtype=_core.int32), ops.cast(y, dtype=_core.int32)), dtype=x.dtype)
    down = ops.floor_divide(x, y)
    inexact = ops.not_equal(ops.multiply(down, y), x)
    negative = ops.not_equal(ops.less_than(x, scalar(x, 0)), ops.less_than(y, scalar(y, 0)))
    return ops.add(down, ops.cast(ops.logical_and(inexact, negative), dtype=x.dtype))


@reads("Mod")
def read_mod(o):
    fmod = o.flag("fmod")
    known = None if fmod else numbers_with(o, operator.mod)
    if known is not None:
        return known
    x, y = o.x(0), o.x(1)
    if not fmod:
        return ops.remainder(x, y)
    if x.dtype.is_floating:
        rest = ops.remainder(ops.abs(x), ops.abs(y))
        return ops.where(ops.less_than(x, scalar(x, 0)), ops.negative(rest), rest)
    return ops.subtract(x, ops.multiply(truncated(x, y), y))


@reads("Pow")
def read_pow(o):
    x, y = pair(o)
    if x.dtype is y.dtype:
        return ops.power(x, y)
    wide = y.dtype if y.dtype.is_floating and not x.dtype.is_floating else x.dtype
    return ops.cast(ops.power(ops.cast(x, dtype=wide), ops.cast(y, dtype=wide)), dtype=x.dtype)


@reads("PRelu")
def read_prelu(o):
    x, slope = o.x(0), o.x(1)
    if o.version < 7 and slope.ndim == 1 and x.ndim > 1:
        slope = ops.reshape(slope, shape=(-1, *[1] * (x.ndim - 2)))
    return ops.where(ops.less_than(x, scalar(x, 0)), ops.multiply(x, slope), x)


_compare = {
    "Greater": "greater_than", "Less": "less_than", "GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal", "And": "logical_and",
    "Or": "logical_or", "Xor": "logical_xor",
}  # fmt: skip

for _name, _op in _compare.items():
    reads(_name, keeps=False)(_two(getattr(ops, _op)))


def _same(a, b):
    if type(a) is Size or type(b) is Size:
        if type(a) is type(b):
            raise TypeError("open sizes")
        known = b if type(a) is Size else a
        if known >= 0:
            raise TypeError("an open size may be any number")
        return False  # sizes are not negative
    return a == b


@reads("Equal", keeps=False)
def read_equal(o):
    """Of a shape and -1, as exporters write an expand, the answer is known."""
    a, b = o.numbers(0), o.numbers(1)
    if a is not None and b is not None:
        try:
            found = np.asarray(np.frompyfunc(_same, 2, 1)(a, b), object)
            return tensor_of_array(np.array(found, bool).reshape(found.shape), 9)
        except TypeError:
            pass
    return ops.equal(*pair(o))


for _name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    reads(_name)(_two(getattr(ops, f"bitwise_{_name[7:].lower()}")))


@reads("BitShift")
def read_bit_shift(o):
    """Bits that are shifted out are gone; by as many as there are, or by a negative number, all of them."""
    x, y = o.x(0), o.x(1)
    left = o.text("direction") == "LEFT"
    code, dtype, wide = o.etype(0), x.dtype, _core.int64
    bits = {2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 12: 32}.get(code, 64)
    x, y = ops.cast(x, dtype=wide), ops.cast(y, dtype=wide)
    gone = ops.logical_or(ops.less_than(y, scalar(y, 0)), ops.greater_equal(y, scalar(y, bits)))
    y = ops.where(gone, scalar(y, 0), y)
    factor = ops.cast(ops.round(ops.power(_core.scalar(2.0, _core.float64), ops.cast(y, dtype=_core.float64))), dtype=wide)
    out = ops.multiply(x, factor) if left else ops.floor_divide(x, factor)
    nothing = scalar(x, 0) if left else ops.where(ops.less_than(x, scalar(x, 0)), scalar(x, -1), scalar(x, 0))
    return ops.cast(ops.where(gone, nothing, out), dtype=dtype)


@reads("BitCast", keeps=False)
def read_bit_cast(o):
    code, before = o.integer("to"), o.etype(0)
    if before in FLOAT8 or code in FLOAT8:
        raise o.unsupported("bits of a small float", "types of one size that tensors have")
    x = o.array(0, "the bits")
    source = np.asarray(x).astype({4: np.uint16, 12: np.uint32, 13: np.uint64}.get(before, x.dtype))
    if before == 16:
        source = ops.cast(o.x(0), dtype=_core.float32).numpy().view(np.uint32).__rshift__(16).astype(np.uint16)
    o.dtype(code)
    return tensor_of_array(decoded(source.tobytes(), code, source.size).reshape(source.shape), code)


def _folded_with(op):
    def read(o):
        out, *rest = o.xs()
        for x in rest:
            out = op(out, x)
        return out

    return read


reads("Sum")(_folded_with(ops.add))
reads("Max")(lambda o: _extreme(o, ops.maximum, max))
reads("Min")(lambda o: _extreme(o, ops.minimum, min))


def _extreme(o, op, function):
    if len(o) == 2:
        known = numbers_with(o, lambda a, b: _plain(function, a, b))
        if known is not None:
            return known
    return _folded_with(op)(o)


def _plain(function, a, b):
    if type(a) is Size or type(b) is Size:
        raise TypeError("open sizes")
    return function(a, b)


@reads("Mean")
def read_mean(o):
    xs = o.xs()
    out = xs[0]
    for x in xs[1:]:
        out = ops.add(out, x)
    return ops.divide(out, scalar(out, len(xs)))


@reads("Where")
def read_where(o):
    condition, x, y = o.value(0), o.numbers(1), o.numbers(2)
    if x is not None and y is not None and not _core.is_symbolic(o.x(0)):
        keep, a, b = np.broadcast_arrays(condition.numpy(), x, y)
        out = np.empty(keep.shape, object)
        out.flat[:] = [m if k else n for k, m, n in zip(keep.flat, a.flat, b.flat)]
        return Numbers(out, o.value(1).dtype)
    return ops.where(o.x(0), o.x(1), o.x(2))


@reads("Clip")
def read_clip(o):
    x = o.x(0)
    if o.version < 11:
        low = scalar(x, o.number("min")) if o.given("min") else None
        high = scalar(x, o.number("max")) if o.given("max") else None
    else:
        low, high = o.maybe(1), o.maybe(2)
    bounds = [None if b is None else _number(b) for b in (low, high)]
    if x.dtype.is_floating and bounds == [0, 6]:
        return ops.relu6(x)  # which passes know
    if x.dtype.is_floating and bounds[0] == 0 and high is None:
        return ops.relu(x)
    if low is not None:
        x = ops.maximum(x, low)
    return x if high is None else ops.minimum(x, high)


def _number(x):
    """The number of a constant; NaN, which equals nothing, for what only a run knows."""
    return float("nan") if _core.is_symbolic(x) or x.size != 1 else float(x.item())


# Casts.


def cast_to(o, x, before, code, saturate=True):
    """`x`, of the type `before`, as a type of the format."""
    dtype = o.dtype(code)
    if code in FLOAT8:
        return round_to(x if x.dtype.is_floating else ops.cast(x, dtype=_core.float32), code, saturate, o.text("round_mode", "up") == "up")
    if code in HELD:
        wide = ops.cast(x, dtype=_core.int64)
        return wrapped(ops.cast(wide, dtype=dtype), code) if code == 13 else wrapped(wide, code)
    if x.dtype.name.startswith("complex"):
        x = x if dtype.name.startswith("complex") else ops.real(x)
    if x.dtype.is_floating and dtype.name in ("uint8", "int8", "int16"):
        x = ops.cast(x, dtype=_core.int64)
    return ops.cast(x, dtype=dtype)


@reads("Cast", keeps=False)
def read_cast(o):
    code, known = o.integer("to"), o.numbers(0)
    if known is not None and code in (6, 7):
        return Numbers(known, dtype_of(code, o.where))
    return cast_to(o, o.x(0), o.etype(0), code, o.flag("saturate", True))


@reads("CastLike", keeps=False)
def read_cast_like(o):
    return cast_to(o, o.x(0), o.etype(0), o.etype(1), o.flag("saturate", True))


# Other functions.


@reads("Shrink")
def read_shrink(o):
    x, limit, bias = o.x(0), o.number("lambd", 0.5), o.number("bias")
    dtype = x.dtype
    y = x if dtype.is_floating else ops.cast(x, dtype=_core.float32)
    out = ops.where(
        ops.less_than(y, scalar(y, -limit)), ops.add(y, scalar(y, bias)),
        ops.where(ops.greater_than(y, scalar(y, limit)), ops.subtract(y, scalar(y, bias)), scalar(y, 0)),
    )
    return ops.cast(out, dtype=dtype)


@reads("Scale", "Affine")
def read_scale(o):
    x = o.x(0)
    return ops.add(ops.multiply(x, scalar(x, o.number("alpha", 1.0) if o.type == "Affine" else o.number("scale", 1.0))), scalar(x, o.number("beta")))


@reads("Identity")
def read_identity(o):
    return o.value(0)


@reads("CumSum")
def read_cumsum(o):
    x = o.x(0)
    axis = int(o.scalar(1, "the axis")) % x.ndim
    return _scanned(o, x, axis, lambda y: ops.cumsum(y, axis=axis, reverse=False), 0)


@reads("CumProd")
def read_cumprod(o):
    x = o.x(0)
    axis = int(o.scalar(1, "the axis")) % x.ndim
    return _scanned(o, x, axis, lambda y: ops.cumprod(y, axis=axis), 1)


def _scanned(o, x, axis, scan, start):
    if o.flag("reverse"):
        x = ops.flip(x, axes=(axis,))
    if o.flag("exclusive"):
        first = ops.full(shape=tuple(1 if i == axis else n for i, n in enumerate(x.shape)), value=start, dtype=x.dtype)
        x = ops.concat(first, ops.slice(x, axes=(axis,), starts=(0,), ends=(-1,), steps=(1,)), axis=axis)
    out = scan(x)
    if out.dtype is not x.dtype:
        out = ops.cast(out, dtype=x.dtype)
    return ops.flip(out, axes=(axis,)) if o.flag("reverse") else out


@reads("Det")
def read_det(o):
    return ops.det(o.x(0))
