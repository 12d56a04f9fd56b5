"""Element-wise ops: one value out for one value of each (broadcast) input."""
from wherry_tensor._core import bool_, float32, float64
from wherry_tensor.ops.declare import DType, Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    bools,
    broadcast_shapes,
    complex_dtype,
    complexes,
    floats,
    integers,
    real_dtype,
    require_dtype,
)

# Arithmetic of one value. Inputs of the transcendental ones are floating (or complex) already:
# public functions cast integers first.
negative = op("negative", "x")
abs = op("abs", "x")  # complex in, its real dtype out
sign = op("sign", "x")
square = op("square", "x")
sqrt = op("sqrt", "x")
rsqrt = op("rsqrt", "x")
reciprocal = op("reciprocal", "x")
exp = op("exp", "x")
expm1 = op("expm1", "x")
log = op("log", "x")
log2 = op("log2", "x")
log10 = op("log10", "x")
log1p = op("log1p", "x")
sin = op("sin", "x")
cos = op("cos", "x")
tan = op("tan", "x")
asin = op("asin", "x")
acos = op("acos", "x")
atan = op("atan", "x")
sinh = op("sinh", "x")
cosh = op("cosh", "x")
tanh = op("tanh", "x")
asinh = op("asinh", "x")
acosh = op("acosh", "x")
atanh = op("atanh", "x")
erf = op("erf", "x")
erfinv = op("erfinv", "x")
lgamma = op("lgamma", "x")
digamma = op("digamma", "x")
polygamma = op("polygamma", "x", n=int)  # the n-th derivative of digamma
floor = op("floor", "x")
ceil = op("ceil", "x")
round = op("round", "x")  # half away from zero, as Paddle rounds
trunc = op("trunc", "x")
conj = op("conj", "x")
real = op("real", "x")
imag = op("imag", "x")
angle = op("angle", "x")
logical_not = op("logical_not", "x")  # any dtype in, bool out
bitwise_not = op("bitwise_not", "x")
isnan = op("isnan", "x")
isinf = op("isinf", "x")
isfinite = op("isfinite", "x")
cast = op("cast", "x", dtype=DType)

# Arithmetic of two values of one dtype.
add = op("add", "x, y")
subtract = op("subtract", "x, y")
multiply = op("multiply", "x, y")
divide = op("divide", "x, y")
floor_divide = op("floor_divide", "x, y")
remainder = op("remainder", "x, y")  # the sign of the divisor
power = op("power", "x, y")
maximum = op("maximum", "x, y")  # NaN wins
minimum = op("minimum", "x, y")
fmax = op("fmax", "x, y")  # NaN loses
fmin = op("fmin", "x, y")
atan2 = op("atan2", "x, y")
gcd = op("gcd", "x, y")
lcm = op("lcm", "x, y")
complex = op("complex", "real, imag")
heaviside = op("heaviside", "x, y")

# Comparison and logic: bool out.
equal = op("equal", "x, y")
not_equal = op("not_equal", "x, y")
less_than = op("less_than", "x, y")
less_equal = op("less_equal", "x, y")
greater_than = op("greater_than", "x, y")
greater_equal = op("greater_equal", "x, y")
logical_and = op("logical_and", "x, y")
logical_or = op("logical_or", "x, y")
logical_xor = op("logical_xor", "x, y")
bitwise_and = op("bitwise_and", "x, y")
bitwise_or = op("bitwise_or", "x, y")
bitwise_xor = op("bitwise_xor", "x, y")

# Choice among values.
where = op("where", "condition, x, y")
clip = op("clip", "x, min?, max?")  # bounds have the dtype of x and broadcast to its shape
lerp = op("lerp", "x, y, weight")

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(add))]


# Shape rules: a shape is broadcast from the inputs'; only the dtype differs from op to op.


def _same_dtype(op_name, *metas):
    first = metas[0].dtype
    for meta in metas[1:]:
        if meta.dtype is not first:
            raise TypeError(
                f"{op_name}: the inputs must have one dtype. Got {' and '.join(m.dtype.name for m in metas)}, "
                f"expected equal dtypes. Cast one of them, as in x.astype('{first.name}')."
            )
    return first


def _unary(op, dtypes, result=None):
    """A rule for one input of one of `dtypes`; `result` maps its dtype to the output's."""

    def rule(x):
        require_dtype(op.name, "x", x.dtype, dtypes)
        return Meta(x.shape, result(x.dtype) if result else x.dtype)

    rule.__name__ = f"infer_{op.name}"
    infer.rule(op)(rule)


def _binary(op, dtypes, result=None):
    """A rule for two inputs of one dtype out of `dtypes`."""

    def rule(x, y):
        dtype = _same_dtype(op.name, x, y)
        require_dtype(op.name, "x", x.dtype, dtypes)
        return Meta(broadcast_shapes(op.name, x.shape, y.shape), result(dtype) if result else dtype)

    rule.__name__ = f"infer_{op.name}"
    infer.rule(op)(rule)


def _to_bool(dtype):
    return bool_


def _to_real(dtype):
    return real_dtype.get(dtype, dtype)


_numbers = integers + floats + complexes
_all = bools + _numbers

for _op in (sqrt, rsqrt, reciprocal, exp, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh,
            tanh, asinh, acosh, atanh):
    _unary(_op, floats + complexes)
for _op in (erf, erfinv, lgamma, digamma):
    _unary(_op, floats)
for _op in (floor, ceil, round, trunc):
    _unary(_op, integers + floats)
for _op in (negative, sign, square):
    _unary(_op, _numbers)
for _op in (abs, real, imag, angle):
    _unary(_op, _numbers, _to_real)
_unary(conj, _all)
_unary(bitwise_not, bools + integers)
for _op in (logical_not, isnan, isinf, isfinite):
    _unary(_op, _all, _to_bool)

for _op in (add, multiply):  # of bools: or, and
    _binary(_op, _all)
_binary(subtract, _numbers)
_binary(divide, floats + complexes)
_binary(power, _numbers)
for _op in (floor_divide, remainder):
    _binary(_op, integers + floats)
for _op in (maximum, minimum, fmax, fmin):
    _binary(_op, bools + integers + floats)
for _op in (atan2, heaviside):
    _binary(_op, integers + floats)
for _op in (gcd, lcm):
    _binary(_op, integers)
for _op in (bitwise_and, bitwise_or, bitwise_xor):
    _binary(_op, bools + integers)
for _op in (equal, not_equal, logical_and, logical_or, logical_xor):
    _binary(_op, _all, _to_bool)
for _op in (less_than, less_equal, greater_than, greater_equal):
    _binary(_op, bools + integers + floats, _to_bool)
_binary(complex, (float32, float64), complex_dtype.get)


@infer.rule(polygamma)
def infer_polygamma(x, *, n):
    require_dtype("polygamma", "x", x.dtype, floats)
    if n < 0:
        raise ValueError(
            f"polygamma: there is no derivative of order {n}. Got n={n}, expected n >= 0. Pass n=0 for digamma itself."
        )
    if n > 170:
        raise ValueError(
            f"polygamma: the derivative of order {n} is beyond float64. Got n={n}, expected n <= 170, because "
            f"its values grow with n!. Use lgamma to work with logarithms of factorials."
        )
    return Meta(x.shape, x.dtype)


@infer.rule(cast)
def infer_cast(x, *, dtype):
    return Meta(x.shape, dtype)


@infer.rule(where)
def infer_where(condition, x, y):
    require_dtype("where", "condition", condition.dtype, bools)
    dtype = _same_dtype("where", x, y)
    return Meta(broadcast_shapes("where", condition.shape, x.shape, y.shape), dtype)


@infer.rule(clip)
def infer_clip(x, min, max):
    present = [m for m in (x, min, max) if m is not None]
    dtype = _same_dtype("clip", *present)
    require_dtype("clip", "x", x.dtype, integers + floats)
    return Meta(broadcast_shapes("clip", *(m.shape for m in present)), dtype)


@infer.rule(lerp)
def infer_lerp(x, y, weight):
    dtype = _same_dtype("lerp", x, y, weight)
    require_dtype("lerp", "x", x.dtype, floats)
    return Meta(broadcast_shapes("lerp", x.shape, y.shape, weight.shape), dtype)


# Decompositions.


@decompose.rule(lerp)
def decompose_lerp(x, y, weight):
    return add(x, multiply(weight, subtract(y, x)))
