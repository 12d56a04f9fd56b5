"""Element-wise ops: one value out for one value of each (broadcast) input."""
import builtins
import math
from functools import wraps

from wherry_tensor._core import bool_, float32, float64, uint8
from wherry_tensor.ops.creation import full, full_like
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
i0 = op("i0", "x")  # modified Bessel functions of the first kind, of order 0 and 1
i1 = op("i1", "x")
i0e = op("i0e", "x")  # and times exp(-|x|), which stays finite
i1e = op("i1e", "x")
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
nan_to_num = op("nan_to_num", "x", nan=float, posinf=float, neginf=float)
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
nextafter = op("nextafter", "x, y")  # the next number that the dtype holds after x towards y

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
for _op in (i0, i1, i0e, i1e):
    _unary(_op, (float32, float64))
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
_binary(nextafter, (float32, float64))
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


@infer.rule(nan_to_num)
def infer_nan_to_num(x, **values):
    require_dtype("nan_to_num", "x", x.dtype, floats)
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


# Decompositions. What is left without one is what a device has to bring. Each says why its form is as
# exact as a kernel's where that is not plain. 16-bit floats go through float32 where there is more than one
# step that rounds.


def _number(value, x):
    """A number in the dtype of x, which broadcasts against it."""
    return full(shape=(), value=value, dtype=x.dtype)


def through_float32(rule):
    """Decorator: the rule in float32 for inputs of 16 bits, so that it rounds once, as a kernel does."""

    @wraps(rule)
    def widened(*inputs, **attrs):
        dtype = inputs[0].dtype
        if not dtype.is_floating or dtype.itemsize != 2:
            return rule(*inputs, **attrs)
        wide = [x if x is None else cast(x, dtype=float32) for x in inputs]
        return cast(rule(*wide, **attrs), dtype=dtype)

    return widened


def _truth(x):
    return x if x.dtype.is_bool else not_equal(x, _number(0, x))


def _signed(magnitude, x):
    """The magnitude with the sign of x; NaN stays."""
    return where(less_than(x, _number(0, x)), negative(magnitude), magnitude)


@decompose.rule(negative)
def decompose_negative(x):
    # -0.0 - 0.0 is -0.0, where 0.0 - 0.0 would lose the sign.
    if x.dtype.is_complex:
        return subtract(_number(builtins.complex(-0.0, -0.0), x), x)
    return subtract(_number(-0.0 if x.dtype.is_floating else 0, x), x)


@decompose.rule(abs)
def decompose_abs(x):
    if not x.dtype.is_complex:
        # 0 - x also turns -0.0 into 0.0.
        return where(less_than(_number(0, x), x), x, subtract(_number(0, x), x))
    # The larger part goes before the root, so that no square overflows.
    re, im = abs(real(x)), abs(imag(x))
    large, small = fmax(re, im), fmin(re, im)
    zero, infinity = _number(0, large), _number(math.inf, large)
    ratio = divide(small, where(equal(large, zero), _number(1, large), large))
    size = multiply(large, sqrt(add(multiply(ratio, ratio), _number(1, large))))
    # Infinite parts win over NaN, as in C's hypot; otherwise NaN wins.
    lost = logical_or(isnan(re), isnan(im))
    return where(equal(large, infinity), infinity, where(lost, _number(math.nan, large), size))


@decompose.rule(sign)
def decompose_sign(x):
    zero = _number(0, x)
    if x.dtype.is_complex:
        size = abs(x)
        nothing = equal(size, _number(0, size))
        return where(nothing, zero, divide(x, cast(where(nothing, _number(1, size), size), dtype=x.dtype)))
    one = _number(1, x)
    below = x if x.dtype is uint8 else where(less_than(x, zero), _number(-1, x), x)  # x: 0 or NaN
    return where(less_than(zero, x), one, below)


@decompose.rule(square)
def decompose_square(x):
    return multiply(x, x)


@decompose.rule(reciprocal)
def decompose_reciprocal(x):
    return divide(_number(1, x), x)


@decompose.rule(rsqrt)
@through_float32
def decompose_rsqrt(x):
    return divide(_number(1, x), sqrt(x))


@decompose.rule(expm1)
@through_float32
def decompose_expm1(x):
    if x.dtype.is_complex:
        # exp(a) cos(b) - 1 cancels near 0; cos(b) - 1 is -2 sin(b / 2) ** 2.
        re, im = real(x), imag(x)
        half = sin(multiply(im, _number(0.5, im)))
        shift = multiply(multiply(half, half), _number(2, im))
        return complex(subtract(multiply(expm1(re), cos(im)), shift), multiply(exp(re), sin(im)))
    # Near 0, exp(x) - 1 loses what 2 t / (1 - t) with t = tanh(x / 2) keeps.
    one = _number(1, x)
    t = tanh(multiply(x, _number(0.5, x)))
    small = divide(add(t, t), subtract(one, t))
    return where(less_than(abs(x), one), small, subtract(exp(x), one))


@decompose.rule(log2)
@through_float32
def decompose_log2(x):
    return _scaled(log(x), 1 / math.log(2))


@decompose.rule(log10)
@through_float32
def decompose_log10(x):
    return _scaled(log(x), 1 / math.log(10))


def _scaled(x, factor):
    if x.dtype.is_complex:  # part by part: inf times a complex factor would be NaN in the other part
        return complex(_scaled(real(x), factor), _scaled(imag(x), factor))
    return multiply(x, _number(factor, x))


@decompose.rule(tan)
@through_float32
def decompose_tan(x):
    if not x.dtype.is_complex:
        return divide(sin(x), cos(x))
    # Numerator and denominator of (tan a + i tanh b) / (1 - i tan a tanh b) times cos(a) ** 2: finite for every b.
    s, c, t = sin(real(x)), cos(real(x)), tanh(imag(x))
    scale = add(multiply(c, c), square(multiply(s, t)))
    flat = subtract(_number(1, t), multiply(t, t))
    return complex(divide(multiply(multiply(s, c), flat), scale), divide(t, scale))


# Inverse functions of complex numbers follow W. Kahan, "Branch cuts for complex elementary functions" (1987):
# products of two roots in place of a root of 1 - z * z, so that no digits cancel and each cut is met from its side.


def _roots(x):
    """The roots of 1 - x and 1 + x, complex. The imaginary part keeps the sign of its zero."""
    re, im = real(x), imag(x)
    one = _number(1, re)
    return sqrt(complex(subtract(one, re), negative(im))), sqrt(complex(add(one, re), im))


def _root_of_rest(x):
    """The root of 1 - x * x."""
    one = _number(1, x)
    return sqrt(multiply(subtract(one, x), add(one, x)))


def _imaginary_of_product(a, b):
    """The imaginary part of conj(a) * b."""
    return subtract(multiply(real(a), imag(b)), multiply(imag(a), real(b)))


def _real_of_product(a, b):
    """The real part of a * b."""
    return subtract(multiply(real(a), real(b)), multiply(imag(a), imag(b)))


@decompose.rule(asin)
@through_float32
def decompose_asin(x):
    if not x.dtype.is_complex:
        return atan2(x, _root_of_rest(x))
    below, above = _roots(x)
    return complex(atan2(real(x), _real_of_product(below, above)), asinh(_imaginary_of_product(below, above)))


@decompose.rule(acos)
@through_float32
def decompose_acos(x):
    if not x.dtype.is_complex:
        return atan2(_root_of_rest(x), x)
    below, above = _roots(x)
    half = atan2(real(below), real(above))
    return complex(add(half, half), asinh(_imaginary_of_product(above, below)))


@decompose.rule(atan)
@through_float32
def decompose_atan(x):
    if not x.dtype.is_complex:
        return atan2(x, _number(1, x))
    turned = atanh(complex(negative(imag(x)), real(x)))  # atan(z) = -i atanh(i z)
    return complex(imag(turned), negative(real(turned)))


@decompose.rule(sinh)
@through_float32
def decompose_sinh(x):
    if x.dtype.is_complex:
        re, im = real(x), imag(x)
        return complex(_grown(sinh(re), cos(im)), _grown(cosh(re), sin(im)))
    size, half = abs(x), _number(0.5, x)
    # e - 1 keeps the digits of small x; the square of exp(x / 2) reaches as far as the result.
    e = expm1(size)
    small = multiply(add(e, divide(e, add(e, _number(1, x)))), half)
    root = exp(multiply(size, half))
    large = multiply(multiply(root, half), root)
    return _signed(where(less_than(size, _number(10, x)), small, large), x)


@decompose.rule(cosh)
@through_float32
def decompose_cosh(x):
    if x.dtype.is_complex:
        re, im = real(x), imag(x)
        return complex(_grown(cosh(re), cos(im)), _grown(sinh(re), sin(im)))
    half = _number(0.5, x)
    root = exp(multiply(abs(x), half))  # its square reaches as far as the result
    grown = multiply(multiply(root, half), root)
    return add(grown, divide(_number(0.25, x), grown))


def _grown(size, direction):
    """`size * direction`, and 0 where `direction` is 0 even if `size` is infinite."""
    return where(equal(direction, _number(0, direction)), direction, multiply(size, direction))


@decompose.rule(asinh)
@through_float32
def decompose_asinh(x):
    if x.dtype.is_complex:
        turned = asin(complex(negative(imag(x)), real(x)))  # asinh(z) = -i asin(i z)
        return complex(imag(turned), negative(real(turned)))
    size, one = abs(x), _number(1, x)
    near = where(less_than(size, _number(1e8, x)), size, one)  # whose square fits
    squared = multiply(near, near)
    small = log1p(add(near, divide(squared, add(sqrt(add(squared, one)), one))))
    large = add(log(size), _number(math.log(2), x))
    return _signed(where(less_than(size, _number(1e8, x)), small, large), x)


@decompose.rule(acosh)
@through_float32
def decompose_acosh(x):
    if x.dtype.is_complex:
        re, im = real(x), imag(x)
        one = _number(1, re)
        below, above = sqrt(complex(subtract(re, one), im)), sqrt(complex(add(re, one), im))
        re = asinh(add(multiply(real(below), real(above)), multiply(imag(below), imag(above))))
        half = atan2(imag(below), real(above))
        return complex(re, add(half, half))
    one = _number(1, x)
    over = subtract(x, one)
    small = log1p(add(over, multiply(sqrt(over), sqrt(add(x, one)))))
    large = add(log(x), _number(math.log(2), x))
    return where(less_than(x, _number(1e8, x)), small, large)


@decompose.rule(atanh)
@through_float32
def decompose_atanh(x):
    if x.dtype.is_complex:
        re, im = real(x), imag(x)
        one, tiny = _number(1, re), _number(1e-30, re)
        # Beyond 1e17 the result is a quarter turn, and squares might not fit.
        far = less_than(_number(1e17, re), maximum(abs(re), abs(im)))
        re, side = where(far, _number(0, re), re), clip(im, negative(tiny), tiny)
        im = where(far, _number(0, im), im)
        below, above, squared = subtract(one, re), add(one, re), multiply(im, im)
        ratio = divide(multiply(re, _number(4, re)), add(multiply(below, below), squared))
        turn = atan2(where(far, side, add(im, im)), where(far, negative(one), subtract(multiply(below, above), squared)))
        return complex(multiply(log1p(ratio), _number(0.25, re)), multiply(turn, _number(0.5, re)))
    size = abs(x)
    grown = log1p(divide(add(size, size), subtract(_number(1, x), size)))
    return _signed(multiply(grown, _number(0.5, x)), x)


@decompose.rule(ceil)
def decompose_ceil(x):
    return negative(floor(negative(x))) if x.dtype.is_floating else copy_of(x)


@decompose.rule(trunc)
def decompose_trunc(x):
    if not x.dtype.is_floating:
        return copy_of(x)
    return where(less_than(x, _number(0, x)), ceil(x), floor(x))


@decompose.rule(round)
def decompose_round(x):
    if not x.dtype.is_floating:
        return copy_of(x)
    # Not floor(x + 0.5): that sum rounds up already for the number below 0.5. An infinite x has no rest.
    whole = trunc(x)
    rest = where(isfinite(x), abs(subtract(x, whole)), _number(0, x))
    return where(less_than(rest, _number(0.5, x)), whole, add(whole, sign(x)))


@decompose.rule(conj)
def decompose_conj(x):
    return complex(real(x), negative(imag(x))) if x.dtype.is_complex else copy_of(x)


@decompose.rule(real)
def decompose_real(x):
    return _part(x, 0) if x.dtype.is_complex else copy_of(x)


@decompose.rule(imag)
def decompose_imag(x):
    return _part(x, 1) if x.dtype.is_complex else full_like(x, value=0, dtype=x.dtype)


def _part(x, index):
    from wherry_tensor import ops

    return ops.copy(ops.select(ops.as_real(x), axis=x.ndim, index=index))


def copy_of(x):
    """What an op gives that changes nothing: fresh memory all the same."""
    from wherry_tensor import ops

    return ops.copy(x)


@decompose.rule(angle)
def decompose_angle(x):
    if x.dtype.is_complex:
        return atan2(imag(x), real(x))
    return where(less_than(x, _number(0, x)), _number(math.pi, x), _number(0, x))


@decompose.rule(logical_not)
def decompose_logical_not(x):
    return equal(x, _number(0, x))


@decompose.rule(bitwise_not)
def decompose_bitwise_not(x):
    if x.dtype.is_bool:
        return logical_not(x)
    return subtract(_number(255 if x.dtype is uint8 else -1, x), x)  # -1 has every bit, so none is borrowed


@decompose.rule(isnan)
def decompose_isnan(x):
    return not_equal(x, x)


@decompose.rule(isinf)
def decompose_isinf(x):
    if x.dtype.is_complex:
        return logical_or(isinf(real(x)), isinf(imag(x)))
    if not x.dtype.is_floating:
        return full_like(x, value=False, dtype=bool_)
    return equal(abs(x), _number(math.inf, x))


@decompose.rule(isfinite)
def decompose_isfinite(x):
    if x.dtype.is_complex:
        return logical_and(isfinite(real(x)), isfinite(imag(x)))
    if not x.dtype.is_floating:
        return full_like(x, value=True, dtype=bool_)
    return less_than(abs(x), _number(math.inf, x))


@decompose.rule(nan_to_num)
def decompose_nan_to_num(x, *, nan, posinf, neginf):
    out = where(isnan(x), _number(nan, x), x)
    for infinity, value in ((math.inf, posinf), (-math.inf, neginf)):
        out = where(equal(x, _number(infinity, x)), _number(value, x), out)
    return out


@decompose.rule(maximum)
def decompose_maximum(x, y):
    return where(logical_or(less_than(y, x), isnan(x)), x, y)


@decompose.rule(minimum)
def decompose_minimum(x, y):
    return where(logical_or(less_than(x, y), isnan(x)), x, y)


@decompose.rule(fmax)
def decompose_fmax(x, y):
    return where(logical_or(less_equal(y, x), isnan(y)), x, y)


@decompose.rule(fmin)
def decompose_fmin(x, y):
    return where(logical_or(less_equal(x, y), isnan(y)), x, y)


@decompose.rule(lcm)
def decompose_lcm(x, y):
    common = gcd(x, y)
    whole = floor_divide(x, where(equal(common, _number(0, x)), _number(1, x), common))  # lcm(0, 0) is 0
    return abs(multiply(whole, y))


@decompose.rule(complex)
def decompose_complex(real, imag):
    from wherry_tensor import ops

    both = add(real, imag)  # for its shape
    parts = (ops.unsqueeze(ops.broadcast_like(part, both), axes=(both.ndim,)) for part in (real, imag))
    return ops.as_complex(ops.concat(*parts, axis=both.ndim))


@decompose.rule(heaviside)
def decompose_heaviside(x, y):
    return where(equal(x, _number(0, x)), y, cast(less_than(_number(0, x), x), dtype=x.dtype))


@decompose.rule(not_equal)
def decompose_not_equal(x, y):
    return logical_not(equal(x, y))


@decompose.rule(less_equal)
def decompose_less_equal(x, y):
    return logical_or(less_than(x, y), equal(x, y))  # and not the opposite of greater_than, which NaN would pass


@decompose.rule(greater_than)
def decompose_greater_than(x, y):
    return less_than(y, x)


@decompose.rule(greater_equal)
def decompose_greater_equal(x, y):
    return less_equal(y, x)


@decompose.rule(logical_and)
def decompose_logical_and(x, y):
    return bitwise_and(_truth(x), _truth(y))


@decompose.rule(logical_or)
def decompose_logical_or(x, y):
    return bitwise_or(_truth(x), _truth(y))


@decompose.rule(logical_xor)
def decompose_logical_xor(x, y):
    return bitwise_xor(_truth(x), _truth(y))


@decompose.rule(bitwise_or)
def decompose_bitwise_or(x, y):
    return bitwise_xor(bitwise_xor(x, y), bitwise_and(x, y))


@decompose.rule(clip)
def decompose_clip(x, min, max):
    if min is None and max is None:
        return copy_of(x)
    low = x if min is None else maximum(x, min)
    return low if max is None else minimum(low, max)


@decompose.rule(lerp)
def decompose_lerp(x, y, weight):
    return add(x, multiply(weight, subtract(y, x)))


@decompose.rule(i0)
def decompose_i0(x):
    return _unscaled(i0e(x), abs(x), abs(x))


@decompose.rule(i1)
def decompose_i1(x):
    return _unscaled(i1e(x), abs(x), x)


def _unscaled(value, size, at_infinity):
    """value * exp(size), where exp(size) alone may be too large; `at_infinity` where the size is infinite."""
    half = exp(multiply(size, _number(0.5, size)))
    return where(isinf(size), at_infinity, multiply(multiply(value, half), half))


# What has no decomposition, and why.
for _reason, _ops in {
    "arithmetic that the rest is built of": (add, subtract, multiply, divide, floor_divide, remainder, power),
    "an elementary function that others are built of": (sqrt, exp, log, log1p, sin, cos, tanh, atan2, erf),
    "a special function with approximations of its own for each dtype": (erfinv, lgamma, digamma, polygamma, i0e, i1e),
    "rounding that the rest is built of": (floor,),
    "the representation of numbers": (cast, nextafter),
    "a comparison that the rest is built of": (equal, less_than),
    "bits that the rest is built of": (bitwise_and, bitwise_xor),
    "the choice that the rest is built of": (where,),
    "the number of its steps depends on values": (gcd,),
}.items():
    for _op in _ops:
        decompose.exempt(_op, _reason, seldom=_op in (polygamma, i0e, i1e, nextafter))
