"""Gradient rules of element-wise ops.

Broadcast inputs need no care: the engine sums what comes back over their axes. For complex inputs
the cotangent is multiplied by the conjugate of the derivative, as in Paddle.

Small tensors pay for every op and not for its work, so rules are written with few of them:
`ct / (out + out)` and not `ct * 0.5 / out`.
"""
import math

from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops

# One value.


@vjp.rule(ops.negative)
def vjp_negative(ct, _out, _x):
    return ops.negative(ct)


@vjp.rule(ops.abs)
def vjp_abs(ct, _out, x):
    return _as(ct, x) * ops.sign(x)


@vjp.rule(ops.square)
def vjp_square(ct, _out, x):
    return ct * _conj(x + x)


@vjp.rule(ops.sqrt)
def vjp_sqrt(ct, out, _x):
    return ct / _conj(out + out)


@vjp.rule(ops.rsqrt)
def vjp_rsqrt(ct, out, _x):
    return ct * _conj(ops.square(out) * out * -0.5)


@vjp.rule(ops.reciprocal)
def vjp_reciprocal(ct, out, _x):
    return ct * _conj(ops.negative(ops.square(out)))


@vjp.rule(ops.exp)
def vjp_exp(ct, out, _x):
    return ct * _conj(out)


@vjp.rule(ops.expm1)
def vjp_expm1(ct, out, _x):
    return ct * _conj(out) + ct


@vjp.rule(ops.log)
def vjp_log(ct, _out, x):
    return ct / _conj(x)


@vjp.rule(ops.log2)
def vjp_log2(ct, _out, x):
    return ct / _conj(x * math.log(2.0))


@vjp.rule(ops.log10)
def vjp_log10(ct, _out, x):
    return ct / _conj(x * math.log(10.0))


@vjp.rule(ops.log1p)
def vjp_log1p(ct, _out, x):
    return ct / _conj(x + 1.0)


@vjp.rule(ops.sin)
def vjp_sin(ct, _out, x):
    return ct * _conj(ops.cos(x))


@vjp.rule(ops.cos)
def vjp_cos(ct, _out, x):
    return ops.negative(ct * _conj(ops.sin(x)))


@vjp.rule(ops.tan)
def vjp_tan(ct, out, _x):
    return ct * _conj(ops.square(out)) + ct


@vjp.rule(ops.asin)
def vjp_asin(ct, _out, x):
    return ct * _conj(ops.rsqrt(1.0 - ops.square(x)))


@vjp.rule(ops.acos)
def vjp_acos(ct, _out, x):
    return ops.negative(ct * _conj(ops.rsqrt(1.0 - ops.square(x))))


@vjp.rule(ops.atan)
def vjp_atan(ct, _out, x):
    return ct / _conj(ops.square(x) + 1.0)


@vjp.rule(ops.sinh)
def vjp_sinh(ct, _out, x):
    return ct * _conj(ops.cosh(x))


@vjp.rule(ops.cosh)
def vjp_cosh(ct, _out, x):
    return ct * _conj(ops.sinh(x))


@vjp.rule(ops.tanh)
def vjp_tanh(ct, out, _x):
    if out.dtype.is_complex:
        return ct - ct * _conj(ops.square(out))
    return ops.tanh_vjp(ct, out)


@vjp.rule(ops.asinh)
def vjp_asinh(ct, _out, x):
    return ct * _conj(ops.rsqrt(ops.square(x) + 1.0))


@vjp.rule(ops.acosh)
def vjp_acosh(ct, _out, x):
    # Two roots and not that of the product: they differ in the left half of the complex plane.
    return ct * _conj(ops.rsqrt(x - 1.0) * ops.rsqrt(x + 1.0))


@vjp.rule(ops.atanh)
def vjp_atanh(ct, _out, x):
    return ct / _conj(1.0 - ops.square(x))


@vjp.rule(ops.erf)
def vjp_erf(ct, _out, x):
    return ct * (ops.exp(ops.negative(ops.square(x))) * (2.0 / math.sqrt(math.pi)))


@vjp.rule(ops.erfinv)
def vjp_erfinv(ct, out, _x):
    return ct * (ops.exp(ops.square(out)) * (0.5 * math.sqrt(math.pi)))


@vjp.rule(ops.lgamma)
def vjp_lgamma(ct, _out, x):
    return ct * ops.digamma(x)


@vjp.rule(ops.digamma)
def vjp_digamma(ct, _out, x):
    return ct * ops.polygamma(x, n=1)


@vjp.rule(ops.polygamma)
def vjp_polygamma(ct, _out, x, *, n):
    return ct * ops.polygamma(x, n=n + 1)


@vjp.rule(ops.i0)
def vjp_i0(ct, _out, x):
    return ct * ops.i1(x)


@vjp.rule(ops.i0e)
def vjp_i0e(ct, out, x):
    return ct * (ops.i1e(x) - ops.sign(x) * out)


@vjp.rule(ops.i1)
def vjp_i1(ct, out, x):
    return ct * (ops.i0(x) - _by_itself(out, x))


@vjp.rule(ops.i1e)
def vjp_i1e(ct, out, x):
    return ct * (ops.i0e(x) - ops.sign(x) * out - _by_itself(out, x))


def _by_itself(out, x):
    """out / x, a half where x is 0, as i1 and i1e begin."""
    zero = x == 0.0
    return ops.where(zero, ops.full_like(x, value=0.5, dtype=x.dtype), out / ops.where(zero, ops.full_like(x, value=1, dtype=x.dtype), x))


# Steps: flat wherever they have a derivative. Paddle passes zeros on, not nothing.


@vjp.rule(ops.sign)
def vjp_sign(ct, out, x):
    if x.dtype.is_complex:
        # x / |x| only turns with x: what is left of ct is its part across the direction of x.
        across = ops.imag(ct * ops.conj(out)) / ops.abs(x)
        return out * ops.complex(ops.full_like(across, value=0, dtype=across.dtype), across)
    return _zeros_like(ct)


@vjp.rule(ops.floor)
def vjp_floor(ct, _out, _x):
    return _zeros_like(ct)


@vjp.rule(ops.ceil)
def vjp_ceil(ct, _out, _x):
    return _zeros_like(ct)


@vjp.rule(ops.round)
def vjp_round(ct, _out, _x):
    return _zeros_like(ct)


@vjp.rule(ops.trunc)
def vjp_trunc(ct, _out, _x):
    return _zeros_like(ct)


@vjp.rule(ops.nan_to_num)
def vjp_nan_to_num(ct, _out, x, *, nan, posinf, neginf):
    return ops.where(ops.isfinite(x), ct, _zero(ct))


# Parts of complex numbers, and dtypes.


@vjp.rule(ops.conj)
def vjp_conj(ct, _out, _x):
    return _conj(ct)


@vjp.rule(ops.real)
def vjp_real(ct, _out, _x):
    return _as(ct, _x)


@vjp.rule(ops.imag)
def vjp_imag(ct, _out, _x):
    if not _x.dtype.is_complex:
        return _zeros_like(ct)
    return ops.complex(_zeros_like(ct), ct)


@vjp.rule(ops.angle)
def vjp_angle(ct, _out, x):
    if not x.dtype.is_complex:
        return _zeros_like(ct)
    re, im = ops.real(x), ops.imag(x)
    share = ct / (ops.square(re) + ops.square(im))
    return ops.complex(ops.negative(im * share), re * share)


@vjp.rule(ops.complex)
def vjp_complex(ct, _out, _real, _imag):
    return ops.real(ct), ops.imag(ct)


@vjp.rule(ops.cast)
def vjp_cast(ct, _out, _x, *, dtype):
    return _as(ct, _x)


# Arithmetic of two values.


@vjp.rule(ops.add)
def vjp_add(ct, _out, _x, _y):
    return ct, ct


@vjp.rule(ops.subtract)
def vjp_subtract(ct, _out, _x, _y, *, needs):
    return ct, ops.negative(ct) if needs[1] else None


@vjp.rule(ops.multiply, keep_for={"x": "y", "y": "x"})
def vjp_multiply(ct, _out, x, y, *, needs):
    return ct * _conj(y) if needs[0] else None, ct * _conj(x) if needs[1] else None


@vjp.rule(ops.divide)
def vjp_divide(ct, out, _x, y, *, needs):
    share = ct / _conj(y)
    return share, ops.negative(share * _conj(out)) if needs[1] else None


@vjp.rule(ops.remainder)
def vjp_remainder(ct, _out, x, y, *, needs):
    return ct, ops.negative(ct * ops.floor_divide(x, y)) if needs[1] else None


@vjp.rule(ops.power)
def vjp_power(ct, out, x, y, *, needs):
    x_ct = y_ct = None
    # x ** 0 is constant and 0 ** y (for y > 0) too, where the formulas say 0 * infinity. For the first the exponent stays 0, which
    # takes few numbers where y is one.
    if needs[0]:
        x_ct = ct * _conj(y * ops.power(x, y - ops.cast(y != 0.0, dtype=y.dtype)))
    if needs[1]:
        y_ct = ct * _conj(ops.where(x == 0.0, _zero(x), out * ops.log(x)))
    return x_ct, y_ct


# Where x equals y, maximum and minimum send the cotangent to y, fmax and fmin to x, as Paddle does.


@vjp.rule(ops.maximum)
def vjp_maximum(ct, _out, x, y):
    return _split(ct, ops.greater_than(x, y))


@vjp.rule(ops.minimum)
def vjp_minimum(ct, _out, x, y):
    return _split(ct, ops.less_than(x, y))


@vjp.rule(ops.fmax)
def vjp_fmax(ct, _out, x, y):
    return _split(ct, ops.logical_or(ops.greater_equal(x, y), ops.isnan(y)))


@vjp.rule(ops.fmin)
def vjp_fmin(ct, _out, x, y):
    return _split(ct, ops.logical_or(ops.less_equal(x, y), ops.isnan(y)))


@vjp.rule(ops.atan2)
def vjp_atan2(ct, _out, x, y):
    share = ct / (ops.square(x) + ops.square(y))
    return share * y, ops.negative(share * x)


@vjp.rule(ops.heaviside)
def vjp_heaviside(ct, _out, x, _y):
    return _zeros_like(ct), ops.where(x == 0.0, ct, _zero(ct))


# Choice among values.


@vjp.rule(ops.where)
def vjp_where(ct, _out, condition, _x, _y, *, needs):
    zero = _zero(ct)
    x_ct = ops.where(condition, ct, zero) if needs[1] else None
    return None, x_ct, ops.where(condition, zero, ct) if needs[2] else None


@vjp.rule(ops.clip)
def vjp_clip(ct, _out, x, min, max, *, needs):
    # Strictly inside: at a bound Paddle's gradient is zero.
    zero = _zero(ct)
    x_ct, low_ct, high_ct = ct, None, None
    if min is not None:
        above = ops.greater_than(x, min)
        x_ct = ops.where(above, x_ct, zero)
        low_ct = ops.where(above, zero, ct) if needs[1] else None
    if max is not None:
        below = ops.less_than(x, max)
        x_ct = ops.where(below, x_ct, zero)
        high_ct = ops.where(below, zero, ct) if needs[2] else None
    return x_ct, low_ct, high_ct


@vjp.rule(ops.lerp)
def vjp_lerp(ct, _out, x, y, weight, *, needs):
    y_ct = ct * weight
    return ct - y_ct if needs[0] else None, y_ct, ct * (y - x) if needs[2] else None


not_differentiable(ops.nextafter, "Paddle gives it no gradient")
for _op in (ops.floor_divide, ops.gcd, ops.lcm):
    not_differentiable(_op, "piecewise constant, and Paddle gives it no gradient")
for _op in (ops.logical_not, ops.isnan, ops.isinf, ops.isfinite, ops.equal, ops.not_equal, ops.less_than,
            ops.less_equal, ops.greater_than, ops.greater_equal, ops.logical_and, ops.logical_or, ops.logical_xor):
    not_differentiable(_op, "the result is bool")
for _op in (ops.bitwise_not, ops.bitwise_and, ops.bitwise_or, ops.bitwise_xor):
    not_differentiable(_op, "works on bits of integers")


# Helpers.


def _conj(x):
    return ops.conj(x) if x.dtype.is_complex else x


def _as(ct, x):
    """ct in the dtype of x (a real cotangent of a complex input gets a zero imaginary part)."""
    return ct if ct.dtype == x.dtype else ops.cast(ct, dtype=x.dtype)


def _zero(x):
    return ops.full(shape=(), value=0, dtype=x.dtype)


def _zeros_like(x):
    return ops.full_like(x, value=0, dtype=x.dtype)


def _split(ct, to_first):
    zero = _zero(ct)
    return ops.where(to_first, ct, zero), ops.where(to_first, zero, ct)
