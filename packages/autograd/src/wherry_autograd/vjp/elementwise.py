"""Gradient rules for element-wise ops.

The cotangent of a complex value is conjugated, as in Paddle and PyTorch: for a holomorphic f the rule is
ct * conj(f'(x)). For real dtypes `_conj` hands its argument through.
"""
import math

from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops


def _conj(x):
    return ops.conj(x) if x.dtype.is_complex else x


def _zero_gradient(op):
    """The derivative is zero wherever there is one; Paddle passes zeros on."""

    def rule(ct, _out, _x):
        return ops.full_like(ct, value=0, dtype=ct.dtype)

    rule.__name__ = f"vjp_{op.name}"
    vjp.rule(op)(rule)


# One input.


@vjp.rule(ops.negative)
def vjp_negative(ct, _out, _x):
    return ops.negative(ct)


@vjp.rule(ops.abs)
def vjp_abs(ct, out, x):
    if x.dtype.is_complex:
        # The gradient of |z| is z / |z|; 0 at 0.
        safe = ops.where(ops.equal(out, ops.full_like(out, value=0, dtype=out.dtype)),
                         ops.full_like(out, value=1, dtype=out.dtype), out)
        return x * ops.cast(ct / safe, dtype=x.dtype)
    return ops.multiply(ct, ops.sign(x))


for _op in (ops.sign, ops.floor, ops.ceil, ops.round, ops.trunc):
    _zero_gradient(_op)


@vjp.rule(ops.square)
def vjp_square(ct, _out, x):
    return ct * (_conj(x) * 2.0)


@vjp.rule(ops.sqrt)
def vjp_sqrt(ct, out, _x):
    return ct / (_conj(out) * 2.0)


@vjp.rule(ops.rsqrt)
def vjp_rsqrt(ct, out, _x):
    r = _conj(out)
    return ct * (r * r * r) * -0.5


@vjp.rule(ops.reciprocal)
def vjp_reciprocal(ct, out, _x):
    r = _conj(out)
    return ops.negative(ct * (r * r))


@vjp.rule(ops.exp)
def vjp_exp(ct, out, _x):
    return ct * _conj(out)


@vjp.rule(ops.expm1)
def vjp_expm1(ct, out, _x):
    return ct * (_conj(out) + 1.0)


@vjp.rule(ops.log)
def vjp_log(ct, _out, x):
    return ct / _conj(x)


@vjp.rule(ops.log2)
def vjp_log2(ct, _out, x):
    return ct / (_conj(x) * math.log(2))


@vjp.rule(ops.log10)
def vjp_log10(ct, _out, x):
    return ct / (_conj(x) * math.log(10))


@vjp.rule(ops.log1p)
def vjp_log1p(ct, _out, x):
    return ct / (_conj(x) + 1.0)


@vjp.rule(ops.sin)
def vjp_sin(ct, _out, x):
    return ct * _conj(ops.cos(x))


@vjp.rule(ops.cos)
def vjp_cos(ct, _out, x):
    return ops.negative(ct * _conj(ops.sin(x)))


@vjp.rule(ops.tan)
def vjp_tan(ct, out, _x):
    t = _conj(out)
    return ct * (t * t + 1.0)


@vjp.rule(ops.asin)
def vjp_asin(ct, _out, x):
    x = _conj(x)
    return ct * ops.rsqrt(1.0 - x * x)


@vjp.rule(ops.acos)
def vjp_acos(ct, _out, x):
    x = _conj(x)
    return ops.negative(ct * ops.rsqrt(1.0 - x * x))


@vjp.rule(ops.atan)
def vjp_atan(ct, _out, x):
    x = _conj(x)
    return ct / (x * x + 1.0)


@vjp.rule(ops.sinh)
def vjp_sinh(ct, _out, x):
    return ct * _conj(ops.cosh(x))


@vjp.rule(ops.cosh)
def vjp_cosh(ct, _out, x):
    return ct * _conj(ops.sinh(x))


@vjp.rule(ops.tanh)
def vjp_tanh(ct, out, _x):
    if out.dtype.is_complex:
        t = ops.conj(out)
        return ct * (1.0 - t * t)
    return ops.tanh_vjp(ct, out)


@vjp.rule(ops.asinh)
def vjp_asinh(ct, _out, x):
    x = _conj(x)
    return ct * ops.rsqrt(x * x + 1.0)


@vjp.rule(ops.acosh)
def vjp_acosh(ct, _out, x):
    x = _conj(x)
    # Two roots, not one of the product: right of a branch cut they differ in sign.
    return ct * ops.rsqrt(x - 1.0) * ops.rsqrt(x + 1.0)


@vjp.rule(ops.atanh)
def vjp_atanh(ct, _out, x):
    x = _conj(x)
    return ct / (1.0 - x * x)


@vjp.rule(ops.erf)
def vjp_erf(ct, _out, x):
    return ct * (ops.exp(ops.negative(x * x)) * (2 / math.sqrt(math.pi)))


@vjp.rule(ops.erfinv)
def vjp_erfinv(ct, out, _x):
    return ct * (ops.exp(out * out) * (math.sqrt(math.pi) / 2))


@vjp.rule(ops.lgamma)
def vjp_lgamma(ct, _out, x):
    return ct * ops.digamma(x)


not_differentiable(ops.digamma, "its derivative, the trigamma function, is not in the vocabulary")


@vjp.rule(ops.conj)
def vjp_conj(ct, _out, _x):
    return _conj(ct)


@vjp.rule(ops.real)
def vjp_real(ct, _out, _x):
    return ops.cast(ct, dtype=_x.dtype) if _x.dtype.is_complex else ct


@vjp.rule(ops.imag)
def vjp_imag(ct, _out, _x):
    if not _x.dtype.is_complex:
        return ops.full_like(ct, value=0, dtype=ct.dtype)
    return ops.complex(ops.full_like(ct, value=0, dtype=ct.dtype), ct)


@vjp.rule(ops.angle)
def vjp_angle(ct, _out, x):
    if not x.dtype.is_complex:
        return ops.full_like(ct, value=0, dtype=ct.dtype)
    re, im = ops.real(x), ops.imag(x)
    scaled = ct / (re * re + im * im)
    return ops.complex(ops.negative(im * scaled), re * scaled)


@vjp.rule(ops.cast)
def vjp_cast(ct, _out, _x, *, dtype):
    # From complex to real only the real part went out, so only a real cotangent comes back.
    if ct.dtype.is_complex and not _x.dtype.is_complex:
        ct = ops.real(ct)
    return ct if ct.dtype is _x.dtype else ops.cast(ct, dtype=_x.dtype)


# Two inputs. The engine sums broadcast axes back.


@vjp.rule(ops.add)
def vjp_add(ct, _out, _x, _y):
    return ct, ct


@vjp.rule(ops.subtract)
def vjp_subtract(ct, _out, _x, _y, *, needs):
    return ct, ops.negative(ct) if needs[1] else None


@vjp.rule(ops.multiply, keep_for={"x": "y", "y": "x"})
def vjp_multiply(ct, _out, x, y, *, needs):
    if ct.dtype.is_complex:
        return ct * _conj(y) if needs[0] else None, ct * _conj(x) if needs[1] else None
    return ops.multiply(ct, y) if needs[0] else None, ops.multiply(ct, x) if needs[1] else None


@vjp.rule(ops.divide, keep_for={"x": "y"})
def vjp_divide(ct, _out, x, y, *, needs):
    x_ct = ct / _conj(y)
    return x_ct, ops.negative(x_ct * _conj(x / y)) if needs[1] else None


@vjp.rule(ops.power)
def vjp_power(ct, out, x, y, *, needs):
    x_ct = y_ct = None
    if needs[0]:
        # y * x^(y - 1), with 0 where y is 0 (x^-1 is infinite there for x = 0)
        zero = ops.full_like(y, value=0, dtype=y.dtype)
        slope = ops.where(ops.equal(y, zero), zero, y * ops.power(x, y - 1.0))
        x_ct = ct * _conj(slope)
    if needs[1]:
        # out * log(x); where x is 0 the limit is 0 for y >= 0, and log would make it NaN
        zero = ops.full_like(x, value=0, dtype=x.dtype)
        one = ops.full_like(x, value=1, dtype=x.dtype)
        at_zero = ops.equal(x, zero)
        y_ct = ct * _conj(out * ops.log(ops.where(at_zero, one, x)))
    return x_ct, y_ct


def _extreme(op, x_wins):
    """max and min: the cotangent goes to the input that won; of equals, the first (or the second) gets it."""

    def rule(ct, _out, x, y, *, needs):
        won = x_wins(x, y)
        zero = ops.full_like(ct, value=0, dtype=ct.dtype)
        return (ops.where(won, ct, zero) if needs[0] else None, ops.where(won, zero, ct) if needs[1] else None)

    rule.__name__ = f"vjp_{op.name}"
    vjp.rule(op)(rule)


# Paddle: of equal values the second gets the cotangent in maximum and minimum, the first in fmax and fmin.
_extreme(ops.maximum, ops.greater_than)
_extreme(ops.minimum, ops.less_than)
# A NaN of y loses in fmax and fmin: x also wins where y is NaN.
_extreme(ops.fmax, lambda x, y: ops.logical_or(ops.greater_equal(x, y), ops.isnan(y)))
_extreme(ops.fmin, lambda x, y: ops.logical_or(ops.less_equal(x, y), ops.isnan(y)))


@vjp.rule(ops.atan2)
def vjp_atan2(ct, _out, x, y):
    scaled = ct / (x * x + y * y)
    return y * scaled, ops.negative(x * scaled)


@vjp.rule(ops.remainder)
def vjp_remainder(ct, _out, x, y, *, needs):
    return ct, ops.negative(ct * ops.floor(x / y)) if needs[1] else None


not_differentiable(ops.floor_divide, "piecewise constant: the derivative is zero almost everywhere, and Paddle gives none")


@vjp.rule(ops.heaviside)
def vjp_heaviside(ct, _out, x, _y):
    zero = ops.full_like(ct, value=0, dtype=ct.dtype)
    return zero, ops.where(ops.equal(x, ops.full_like(x, value=0, dtype=x.dtype)), ct, zero)


@vjp.rule(ops.complex)
def vjp_complex(ct, _out, _real, _imag):
    return ops.real(ct), ops.imag(ct)


# Choice.


@vjp.rule(ops.where)
def vjp_where(ct, _out, condition, _x, _y, *, needs):
    zero = ops.full_like(ct, value=0, dtype=ct.dtype)
    return (None, ops.where(condition, ct, zero) if needs[1] else None, ops.where(condition, zero, ct) if needs[2] else None)


@vjp.rule(ops.clip)
def vjp_clip(ct, _out, x, min, max, *, needs):
    zero = ops.full_like(ct, value=0, dtype=ct.dtype)
    below = None if min is None else ops.less_than(x, min)
    above = None if max is None else ops.greater_than(x, max)
    x_ct = min_ct = max_ct = None
    if needs[0]:
        x_ct = ct
        for outside in (below, above):
            if outside is not None:
                x_ct = ops.where(outside, zero, x_ct)
    if needs[1]:
        min_ct = ops.where(below, ct, zero)
    if len(needs) > 2 and needs[2]:
        max_ct = ops.where(above, ct, zero)
    return x_ct, min_ct, max_ct


@vjp.rule(ops.lerp)
def vjp_lerp(ct, _out, x, y, weight, *, needs):
    y_ct = ct * weight
    return ct - y_ct, y_ct, ct * (y - x) if needs[2] else None


# Answers that are bool or integer.

for _op in (ops.logical_not, ops.isnan, ops.isinf, ops.isfinite, ops.equal, ops.not_equal, ops.less_than, ops.less_equal,
            ops.greater_than, ops.greater_equal, ops.logical_and, ops.logical_or, ops.logical_xor):
    not_differentiable(_op, "its result is bool")
for _op in (ops.bitwise_not, ops.bitwise_and, ops.bitwise_or, ops.bitwise_xor, ops.gcd, ops.lcm):
    not_differentiable(_op, "defined on integers only")
