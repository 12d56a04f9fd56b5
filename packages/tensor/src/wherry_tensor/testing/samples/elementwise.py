"""Samples of element-wise ops."""
import math

import numpy as np

from wherry_tensor import ops
from wherry_tensor._core import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from wherry_tensor.testing import bad, case, spec

NUMBERS = "floats ints complex"
ALL = "floats ints bool complex"

nan, inf = np.nan, np.inf
specials = np.array([nan, inf, -inf, 0.0, -0.0, 1.0, -1.0])


def spread(rng, low, high, *shape):
    """Values between low and high, no two of them close."""
    n = int(np.prod(shape))
    return (low + (rng.permutation(n) + rng.uniform(0.25, 0.75, n)) * ((high - low) / max(n, 1))).reshape(shape)


def plane(rng, *shape):
    """Complex values that keep away from the axes, where most functions have their cuts."""
    signs = rng.choice([-1, 1], (2, *shape))
    return spread(rng, 0.2, 1.6, *shape) * signs[0] + 1j * spread(rng, 0.2, 1.4, *shape) * signs[1]


def each(function):
    """A function of one float, for every element."""
    return lambda x, **attrs: np.array([function(float(v), **attrs) for v in x.reshape(-1)]).reshape(x.shape)


# Elementary functions: op, reference, where the samples lie, and whether complex numbers are taken.


def _function(op, reference, low, high, complex_=True, extra=specials, tolerance=None):
    @spec(op, reference=reference, dtypes="floats complex" if complex_ else "floats", tolerance=tolerance)
    def samples(rng):
        yield case(spread(rng, low, high, 3, 7))
        yield case(spread(rng, low, high, 70))  # more than a vector, and a rest
        yield case(np.array((low + high) / 2 + 0.1))
        yield case(np.zeros((0, 3)))
        if extra is not None:
            yield case(extra, differentiable=False)
        if complex_:
            yield case(plane(rng, 3, 5))
        yield bad(np.arange(3), error=TypeError, match=rf"{op.name}.*int64")

    samples.__name__ = f"spec_{op.name}"


# Half the digits of float16 and bfloat16 go when an argument is rounded where the slope is steep;
# the reference rounds its input too, so the usual tolerances hold everywhere below.
_function(ops.sqrt, np.sqrt, 0.1, 9)
_function(ops.rsqrt, lambda x: 1 / np.sqrt(x), 0.1, 9, extra=np.array([0.0, inf, nan, -1.0]))
_function(ops.reciprocal, lambda x: 1 / x, 0.3, 4, extra=np.array([inf, -inf, nan, -2.0]))
_function(ops.exp, np.exp, -3, 3, extra=np.array([nan, inf, -inf, 0.0, -80.0, 10.0]))
_function(ops.expm1, np.expm1, -3, 3)
_function(ops.log, np.log, 0.1, 9)
_function(ops.log2, np.log2, 0.1, 9)
_function(ops.log10, np.log10, 0.1, 9)
_function(ops.log1p, np.log1p, -0.8, 9)
_function(ops.sin, np.sin, -7, 7, extra=np.array([nan, inf, 1000.0, -0.0, 30000.0]))
_function(ops.cos, np.cos, -7, 7, extra=np.array([nan, inf, 1000.0, -0.0, 30000.0]))
_function(ops.tan, np.tan, -1.3, 1.3, extra=np.array([nan, inf, 1000.0, -0.0]))
_function(ops.asin, np.arcsin, -0.9, 0.9, extra=np.array([1.0, -1.0, -0.0, 1.5, nan]))
_function(ops.acos, np.arccos, -0.9, 0.9, extra=np.array([1.0, -1.0, -0.0, 1.5, nan]))
_function(ops.atan, np.arctan, -4, 4)
_function(ops.sinh, np.sinh, -3, 3)
_function(ops.cosh, np.cosh, -3, 3)
_function(ops.tanh, np.tanh, -3, 3)
_function(ops.asinh, np.arcsinh, -4, 4)
_function(ops.acosh, np.arccosh, 1.2, 9, extra=np.array([1.0, inf, nan, 0.5, -2.0]))
_function(ops.atanh, np.arctanh, -0.9, 0.9, extra=np.array([1.0, -1.0, -0.0, 1.5, nan]))
_function(ops.erf, each(math.erf), -3, 3, complex_=False)


def _inverse_erf(x):
    if math.isnan(x) or abs(x) > 1:
        return nan
    if abs(x) == 1:
        return math.copysign(inf, x)
    low, high = -7.0, 7.0
    for _ in range(80):
        middle = (low + high) / 2
        # On the negative side the digits are in erfc.
        low, high = (middle, high) if math.erfc(-middle) < 1 + x else (low, middle)
    return low


def _log_gamma(x):
    if math.isnan(x) or math.isinf(x):
        return abs(x)
    return inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def _digamma(x):
    if x == inf:
        return inf
    if math.isnan(x) or x <= 0 and x == math.floor(x) or x == -inf:
        return nan
    return _zeta_series(x, 0)


def _polygamma(x, n):
    """The n-th derivative of digamma."""
    if n == 0:
        return _digamma(x)
    return (-1) ** (n + 1) * math.factorial(n) * _zeta_series(x, n)


def _zeta_series(x, n):
    # 60 terms, then three of the asymptotic expansion: more than float64 shows.
    total = 0.0
    for _ in range(60):
        total += -1 / x if n == 0 else x ** -(n + 1.0)
        x += 1
    if n == 0:
        return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)
    s = n + 1
    return total + x ** -n / n + x**-s / 2 + s * x ** (-s - 1) / 12 - s * (s + 1) * (s + 2) * x ** (-s - 3) / 720


_function(ops.erfinv, each(_inverse_erf), -0.95, 0.95, complex_=False, extra=np.array([1.0, -1.0, 0.0, 1.5, nan, 0.999]))
_function(ops.lgamma, each(_log_gamma), 0.2, 9, complex_=False, extra=np.array([0.0, -1.0, -1.5, inf, nan, 100.0]))
_function(ops.digamma, each(_digamma), 0.2, 9, complex_=False, extra=np.array([0.0, -1.0, -1.5, -7.25, inf, nan, 100.0]))


@spec(ops.polygamma, reference=each(_polygamma))
def spec_polygamma(rng):
    for n in (0, 1, 2, 3):
        yield case(spread(rng, 0.6, 9, 2, 5), n=n)
    yield case(np.array([-0.5, -2.25, 30.0]), n=1)
    yield case(np.array(2.0), n=1)
    yield case(np.zeros((0, 3)), n=1)
    yield bad(np.ones(2), n=-1, error=ValueError, match="n=-1")


@spec(ops.nan_to_num, reference=lambda x, nan, posinf, neginf: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf))
def spec_nan_to_num(rng):
    yield case(spread(rng, -3, 3, 2, 5), nan=0.0, posinf=9.0, neginf=-9.0)
    yield case(np.array([np.nan, np.inf, -np.inf, 0.0, -2.5] * 13), nan=0.5, posinf=9.0, neginf=-np.inf, differentiable=False)
    yield case(np.array(np.nan), nan=2.0, posinf=1.0, neginf=-1.0, differentiable=False)
    yield case(np.zeros((0, 3)), nan=0.0, posinf=1.0, neginf=-1.0)


def _bessel(order, scaled):
    """The modified Bessel function of the first kind by its integral over a circle, which equal steps compute to the last digit."""
    angles = np.arange(256) * (2 * np.pi / 256)

    def value(x):
        return float(np.mean(np.exp(x * np.cos(angles) - abs(x) * scaled) * np.cos(order * angles)))

    return each(value)


for _op, _order, _scaled in ((ops.i0, 0, False), (ops.i1, 1, False), (ops.i0e, 0, True), (ops.i1e, 1, True)):

    @spec(_op, reference=_bessel(_order, _scaled), dtypes=("float32", "float64"))
    def spec_bessel(rng, name=_op.name):
        yield case(spread(rng, -6, 6, 3, 7))
        yield case(spread(rng, 10, 60, 70))
        yield case(np.array([0.0, nan, 23.9, 24.1, -80.0]), differentiable=False)
        yield case(np.array(1.5))
        yield case(np.zeros((0, 3)))
        yield bad(np.arange(3), error=TypeError, match=rf"{name}.*int64")


# Arithmetic of one value.


def _arithmetic(op, reference, dtypes=NUMBERS, complex_=True):
    @spec(op, reference=reference, dtypes=dtypes)
    def samples(rng):
        yield case(spread(rng, -4, 4, 3, 7))
        yield case(spread(rng, -4, 4, 70))
        yield case(np.array(2.5))
        yield case(np.zeros((2, 0)))
        yield case(specials, differentiable=False, dtypes="floats")
        if complex_:
            yield case(plane(rng, 3, 5))
        yield case(rng.integers(0, 11, (3, 4)), dtypes="ints")
        yield case(np.array([-7, 3, 0, 11, -1]), dtypes=("int8", "int16", "int32", "int64"))

    samples.__name__ = f"spec_{op.name}"


def _sign(x):
    return np.where(x == 0, 0, x / np.abs(x)) if x.dtype.kind == "c" else np.sign(x)


_arithmetic(ops.negative, np.negative)
_arithmetic(ops.abs, np.abs)
_arithmetic(ops.sign, _sign)
_arithmetic(ops.square, np.square)
_arithmetic(ops.conj, np.conj)
_arithmetic(ops.real, np.real)
_arithmetic(ops.imag, np.imag)


@spec(ops.angle, reference=lambda x: np.angle(x) if x.dtype.kind == "c" else np.where(x < 0, np.pi, 0.0), dtypes="floats complex")
def spec_angle(rng):
    yield case(spread(rng, -4, 4, 3, 7), dtypes="floats")
    yield case(plane(rng, 3, 5))
    yield case(specials, differentiable=False, dtypes="floats")  # NaN and -0 have the angle 0, as in Paddle
    yield case(np.zeros((2, 0)))


def _rounding(op, reference):
    @spec(op, reference=reference, dtypes="floats ints")
    def samples(rng):
        x = rng.integers(-9, 9, (3, 7)) + rng.choice([0.1, 0.3, 0.45, 0.6, 0.9], (3, 7))
        yield case(x)
        yield case(np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.25, 1e3, *specials]), differentiable=False)
        yield case(np.array([0.49999997, 8388609.0, -4503599627370497.0]), differentiable=False, dtypes="float64 float32")
        yield case(np.array(-2.7))
        yield case(np.zeros((0, 2)))
        yield case(rng.integers(0, 99, (3, 4)), dtypes="ints")

    samples.__name__ = f"spec_{op.name}"


_rounding(ops.floor, np.floor)
_rounding(ops.ceil, np.ceil)
_rounding(ops.trunc, np.trunc)
# Half away from zero, as in Paddle; NumPy rounds half to even.
_rounding(ops.round, lambda x: np.trunc(x) + np.where(abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0) if x.dtype.kind == "f" else x)


def _predicate(op, reference, dtypes=ALL):
    @spec(op, reference=reference, dtypes=dtypes, differentiable=False)
    def samples(rng):
        yield case(specials, dtypes="floats")
        yield case(np.tile(specials, 11), dtypes="floats")
        yield case(np.array([1 + 1j, complex(nan, 0), complex(0, inf), 0]))
        yield case(rng.integers(0, 2, (3, 4)))
        yield case(np.array(1.0))
        yield case(np.zeros((0, 2)))
        yield case(rng.integers(0, 2, 5).astype(bool), dtypes="bool")

    samples.__name__ = f"spec_{op.name}"


_predicate(ops.isnan, np.isnan)
_predicate(ops.isinf, np.isinf)
_predicate(ops.isfinite, np.isfinite)
_predicate(ops.logical_not, np.logical_not)


@spec(ops.bitwise_not, reference=np.invert, dtypes="ints bool", differentiable=False)
def spec_bitwise_not(rng):
    yield case(rng.integers(0, 100, (3, 4)))
    yield case(rng.integers(0, 2, 70).astype(bool))
    yield case(np.array(5))
    yield case(np.zeros((0, 2), np.int64))
    yield bad(np.zeros(2), error=TypeError, match="bitwise_not.*float64")


# Conversion.


def _numpy_dtype(dtype):
    # The kit reads bfloat16 as float32; the rounding is its tolerance's business.
    return np.dtype({"bfloat16": "float32"}.get(dtype.name, dtype.name))


def _cast(x, dtype):
    target = _numpy_dtype(dtype)
    if x.dtype.kind == "c" and target.kind in "iuf":
        x = x.real
    if target.kind in "iu" and x.dtype.kind == "f":
        # What does not fit becomes the smallest int32 or int64; narrower integers take its low bits.
        wide = np.dtype(np.int64 if target.itemsize == 8 else np.int32)
        least, bound = np.iinfo(wide).min, 2.0 ** (8 * wide.itemsize - 1)
        fits = (x > -bound - 1) & (x < bound)
        return np.where(fits, np.where(fits, x, 0).astype(wide), least).astype(target)
    return x.astype(target)


@spec(ops.cast, reference=_cast, dtypes=ALL)
def spec_cast(rng):
    for dtype in (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128):
        smooth = dtype in (float64, complex128)  # the others round, which differences would see
        yield case(rng.integers(0, 100, (3, 7)), dtype=dtype)
        yield case(np.array([1.5, 0.0, 63.25, 2.0, 0.5]), dtype=dtype, differentiable=smooth)
        if dtype.is_complex:
            yield case(plane(rng, 2, 3), dtype=dtype, differentiable=smooth)
        else:
            yield case(np.array([nan, inf, -inf, 300.7, 100.5, -1.5]), dtype=dtype, differentiable=False, dtypes="floats")
    yield case(np.array([3e9, -3e9, 1e20, -2147483648.0]), dtype=int32, differentiable=False, dtypes="float64")
    yield case(np.array([3e9, -3e9, 1e20, -(2.0**63)]), dtype=int64, differentiable=False, dtypes="float64")
    yield case(rng.integers(0, 100, 70), dtype=float32)
    yield case(np.zeros((0, 2)), dtype=int32)


# Arithmetic of two values.


def _pairs(op, reference, dtypes=NUMBERS, complex_=True, low=-4.0, high=4.0, extra=True):
    @spec(op, reference=reference, dtypes=dtypes)
    def samples(rng):
        yield case(spread(rng, low, high, 3, 7), spread(rng, 1, 3, 3, 7))
        yield case(spread(rng, low, high, 70), spread(rng, 1, 3, 70))
        yield case(spread(rng, low, high, 2, 3, 4), spread(rng, 1, 3, 4))
        yield case(spread(rng, low, high, 3, 1), spread(rng, 1, 3, 1, 4))
        yield case(spread(rng, low, high, 3, 300), np.array(2.5))  # longer than a kernel's buffers
        yield case(np.array(1.5), np.array(2.5))
        yield case(np.zeros((0, 3)), np.ones(3))
        if extra:
            x, y = np.meshgrid(specials, specials)
            yield case(x, y, differentiable=False, dtypes="floats")
        if complex_:
            yield case(plane(rng, 3, 5), plane(rng, 5))
        if "ints" in dtypes:
            yield case(rng.integers(0, 9, (3, 4)), rng.integers(1, 5, 4), dtypes="ints")
            yield case(np.array([7, -7, 7, -7, 6]), np.array([3, 3, -3, -3, 3]), dtypes=("int8", "int16", "int32", "int64"))
        if "bool" in dtypes:
            yield case(np.array([True, True, False, False]), np.array([True, False, True, False]), dtypes="bool")
        yield bad(np.zeros((2, 3)), np.zeros((2, 4)), error=ValueError, match=rf"{op.name}.*\[2, 3\].*\[2, 4\]")
        yield bad(np.zeros(3), np.zeros(3, np.float32), error=TypeError, match=rf"{op.name}.*float64.*float32")

    samples.__name__ = f"spec_{op.name}"


_pairs(ops.add, np.add, ALL)
_pairs(ops.subtract, np.subtract)
_pairs(ops.multiply, np.multiply, ALL, extra=False)
_pairs(ops.divide, np.divide, "floats complex")


def _apart(rng, *shape):
    """Pairs that are nowhere close to each other."""
    x = spread(rng, -4, 4, *shape)
    return x, x + rng.choice([-1.0, 1.0], shape) * spread(rng, 0.3, 2, *shape)


def _extremes(op, reference):
    @spec(op, reference=reference, dtypes="floats ints bool")
    def samples(rng):
        yield case(*_apart(rng, 3, 7))
        yield case(*_apart(rng, 70))
        yield case(np.array([[1.0], [5.0]]), np.array([0.0, 2.0, 7.0]))
        yield case(np.array(1.5), np.array(2.5))
        yield case(np.zeros((0, 3)), np.ones(3))
        x, y = np.meshgrid([nan, inf, -inf, 2.0, -1.0], [nan, inf, -inf, 2.0, -1.0])
        yield case(x, y, differentiable=False, dtypes="floats")
        yield case(rng.integers(0, 9, (3, 4)), rng.integers(0, 9, 4), dtypes="ints")
        yield case(np.array([True, True, False, False]), np.array([True, False, True, False]), dtypes="bool")

    samples.__name__ = f"spec_{op.name}"


_extremes(ops.maximum, np.maximum)
_extremes(ops.minimum, np.minimum)
_extremes(ops.fmax, np.fmax)
_extremes(ops.fmin, np.fmin)


def _division(op, reference, differentiable):
    @spec(op, reference=reference, dtypes="floats ints", differentiable=differentiable)
    def samples(rng):
        x, y = np.array([[5.5], [-5.25], [0.75], [-3.6]]), np.array([2.0, -2.0, 3.0, -0.8])
        yield case(x, y, dtypes="float64 float32")
        yield case(np.array([5.5, -5.5, 7.25]), np.array(2.0))
        yield case(np.array([1.0, -1.0, inf, 3.0, -3.0, 0.0, nan]), np.array([0.0, 0.0, 2.0, inf, inf, 2.0, 1.0]), differentiable=False)
        yield case(np.array(5.5), np.array(2.0))
        yield case(np.zeros((0, 3)), np.ones(3))
        yield case(rng.integers(0, 99, (3, 4)), rng.integers(1, 9, 4), dtypes="ints")
        yield case(np.array([7, -7, 7, -7, 6, -128]), np.array([3, 3, -3, -3, 3, 3]), dtypes=("int8", "int16", "int32", "int64"))
        yield bad(np.array([7, 5]), np.array([2, 0]), error=ValueError, match=f"{op.name}.*zero")

    samples.__name__ = f"spec_{op.name}"


_division(ops.floor_divide, np.floor_divide, False)
_division(ops.remainder, np.remainder, True)


@spec(ops.power, reference=np.power, dtypes=NUMBERS)
def spec_power(rng):
    yield case(spread(rng, 0.3, 3, 3, 7), spread(rng, -2, 3, 3, 7), dtypes="floats")
    yield case(spread(rng, 0.3, 3, 70), np.array(2.0))  # a square
    yield case(spread(rng, 0.3, 3, 7), np.array([-3.0]), dtypes="floats")
    yield case(spread(rng, -3, 3, 7), np.array([3.0]), differentiable=False)  # the exponent has no derivative there
    yield case(np.array(1.5), np.array(2.5))
    yield case(np.zeros((0, 3)), np.ones(3))
    x, y = np.meshgrid(specials, [nan, inf, -inf, 0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -2.5])
    yield case(x, y, differentiable=False, dtypes="floats")
    yield case(plane(rng, 3, 5), plane(rng, 5))
    yield case(rng.integers(0, 4, (3, 4)), rng.integers(0, 4, 4), dtypes="ints")
    yield case(np.array([-3, -2, -1, 5]), np.array([3, 4, 7, 0]), dtypes=("int8", "int16", "int32", "int64"))
    yield bad(np.zeros((2, 3)), np.zeros((2, 4)), error=ValueError, match=r"power.*\[2, 3\].*\[2, 4\]")


@spec(ops.atan2, reference=np.arctan2)
def spec_atan2(rng):
    yield case(spread(rng, -4, 4, 3, 7), spread(rng, 0.5, 4, 3, 7))
    yield case(spread(rng, 0.5, 4, 70), spread(rng, -4, 4, 70))
    yield case(spread(rng, 0.5, 4, 3, 1), np.array(-2.0))
    x, y = np.meshgrid(specials, specials)
    yield case(x, y, differentiable=False)
    yield case(np.zeros((0, 3)), np.ones(3))


@spec(ops.heaviside, reference=lambda x, y: np.where(x == 0, y, (x > 0) * 1), dtypes="floats ints")
def spec_heaviside(rng):
    yield case(spread(rng, -4, 4, 3, 7), spread(rng, -1, 1, 7))
    yield case(np.array([0.0, -0.0, nan, 1.0]), np.array([0.5, 0.25, 3.0, nan]), differentiable=False)  # NaN counts as negative
    yield case(rng.integers(0, 3, (3, 4)), rng.integers(0, 9, 4), dtypes="ints")
    yield case(np.zeros((0, 3)), np.ones(3))


@spec(ops.nextafter, reference=np.nextafter, dtypes=("float32", "float64"), differentiable=False)
def spec_nextafter(rng):
    yield case(spread(rng, -4, 4, 3, 7), spread(rng, -4, 4, 3, 7))
    yield case(spread(rng, -4, 4, 70), np.array(0.5))
    x, y = np.meshgrid(specials, specials)
    yield case(x, y, dtypes="float64")  # the reference computes in it: what comes next to a number is another one in float32
    yield case(np.zeros((0, 3)), np.ones(3))
    yield bad(np.ones(2), np.arange(2), error=TypeError, match=r"nextafter.*int64")


def _integers(op, reference):
    @spec(op, reference=reference, dtypes="ints", differentiable=False)
    def samples(rng):
        yield case(rng.integers(0, 12, (3, 4)), rng.integers(0, 9, 4))
        yield case(np.array([12, -12, 0, 0, 7]), np.array([9, 9, 0, -5, 1]), dtypes=("int8", "int16", "int32", "int64"))
        yield case(np.array(12), np.array(8))
        yield case(np.zeros((0, 3), np.int64), np.ones(3, np.int64))
        yield bad(np.zeros(2), np.zeros(2), error=TypeError, match=f"{op.name}.*float64")

    samples.__name__ = f"spec_{op.name}"


_integers(ops.gcd, np.gcd)
_integers(ops.lcm, np.lcm)


@spec(ops.complex, reference=lambda re, im: re + 1j * im, dtypes="float64 float32")
def spec_complex(rng):
    yield case(spread(rng, -4, 4, 3, 7), spread(rng, -4, 4, 7))
    yield case(np.array(1.5), np.array(-2.0))
    yield case(np.zeros((0, 3)), np.ones(3))
    yield bad(np.zeros(2, np.int64), np.zeros(2, np.int64), error=TypeError, match="complex.*int64")


# Comparison and logic.


def _comparison(op, reference, dtypes=ALL):
    @spec(op, reference=reference, dtypes=dtypes, differentiable=False)
    def samples(rng):
        yield case(rng.integers(0, 3, (3, 7)), rng.integers(0, 3, 7))
        yield case(rng.integers(0, 3, 70), rng.integers(0, 3, 70))
        yield case(rng.integers(0, 3, (3, 7)) * 1.0, rng.integers(0, 3, 7) * 1.0)
        yield case(rng.integers(0, 2, (3, 7)).astype(bool), rng.integers(0, 2, 7).astype(bool), dtypes="bool")
        yield case(*np.meshgrid(specials, specials), dtypes="floats")
        yield case(np.array(1.0), np.array(2.0))
        yield case(np.zeros((0, 3)), np.ones(3))
        if "complex" in dtypes:
            yield case(np.array([1 + 1j, 1 + 2j, 0, 2]), np.array([1 + 1j, 1 + 1j, 0, 1]))
        yield bad(np.zeros((2, 3)), np.zeros((2, 4)), error=ValueError, match=rf"{op.name}.*\[2, 3\].*\[2, 4\]")

    samples.__name__ = f"spec_{op.name}"


_comparison(ops.equal, np.equal)
_comparison(ops.not_equal, np.not_equal)
_comparison(ops.less_than, np.less, "floats ints bool")
_comparison(ops.less_equal, np.less_equal, "floats ints bool")
_comparison(ops.greater_than, np.greater, "floats ints bool")
_comparison(ops.greater_equal, np.greater_equal, "floats ints bool")
_comparison(ops.logical_and, np.logical_and)
_comparison(ops.logical_or, np.logical_or)
_comparison(ops.logical_xor, np.logical_xor)


def _bits(op, reference):
    @spec(op, reference=reference, dtypes="ints bool", differentiable=False)
    def samples(rng):
        yield case(rng.integers(0, 100, (3, 7)), rng.integers(0, 100, 7))
        yield case(rng.integers(0, 2, 70).astype(bool), rng.integers(0, 2, 70).astype(bool))
        yield case(np.array(6), np.array(3))
        yield case(np.zeros((0, 3), np.int64), np.ones(3, np.int64))

    samples.__name__ = f"spec_{op.name}"


_bits(ops.bitwise_and, np.bitwise_and)
_bits(ops.bitwise_or, np.bitwise_or)
_bits(ops.bitwise_xor, np.bitwise_xor)


# Choice among values.


@spec(ops.where, reference=np.where, dtypes=ALL)
def spec_where(rng):
    condition = rng.integers(0, 2, (3, 7)).astype(bool)
    yield case(condition, spread(rng, -4, 4, 3, 7), spread(rng, -4, 4, 3, 7))
    yield case(condition, spread(rng, -4, 4, 7), np.array(0.5))
    yield case(condition[:, :1], spread(rng, -4, 4, 1, 7), spread(rng, -4, 4, 3, 1))
    yield case(np.array(True), np.array(1.5), np.array(2.5))
    yield case(condition, plane(rng, 3, 7), plane(rng, 7))
    yield case(condition, rng.integers(0, 9, (3, 7)), rng.integers(0, 9, 7))
    yield case(rng.integers(0, 2, 70).astype(bool), specials.repeat(10), np.zeros(70), differentiable=False, dtypes="floats")
    yield case(np.zeros((0, 3), bool), np.zeros((0, 3)), np.ones(3))
    yield bad(np.zeros(3), np.zeros(3), np.zeros(3), error=TypeError, match="where.*condition.*float64")
    yield bad(np.zeros(3, bool), np.zeros(3), np.zeros(3, np.int64), error=TypeError, match="where.*float64.*int64")


def _clip(x, low, high):
    y = x if low is None else np.maximum(x, low)
    return y if high is None else np.minimum(y, high)


@spec(ops.clip, reference=_clip, dtypes="floats ints")
def spec_clip(rng):
    x = rng.permutation(21).reshape(3, 7) * 0.4 - 4.1
    yield case(x, np.array(-2.0), np.array(2.0))
    yield case(x, np.array(-2.0), None)
    yield case(x, None, np.array(2.0))
    yield case(x, None, None)
    yield case(x, np.linspace(-3, 0, 7), np.array([[1.0], [2.0], [3.0]]))
    yield case(np.array([nan, inf, -inf, 3.0]), np.array(-1.0), np.array(2.0), differentiable=False)
    yield case(np.array([1.0, 5.0, 0.0]), np.array(4.0), np.array(3.0), differentiable=False)  # the upper bound wins
    yield case(rng.integers(0, 9, 70), np.array(2), np.array(5), dtypes="ints")
    yield case(np.zeros((0, 3)), np.array(-1.0), np.array(2.0))


@spec(ops.lerp, reference=lambda x, y, weight: x + weight * (y - x))
def spec_lerp(rng):
    yield case(spread(rng, -4, 4, 3, 7), spread(rng, -4, 4, 3, 7), np.array(0.25))
    yield case(spread(rng, -4, 4, 3, 1), spread(rng, -4, 4, 7), spread(rng, 0, 1, 3, 7))
    yield case(np.array(1.5), np.array(2.5), np.array(0.5))
    yield case(np.zeros((0, 3)), np.ones(3), np.ones(3))
