"""Element-wise mathematics, and a few sums of products of elements.

Functions of two tensors broadcast them, align shapes at the right and want one dtype; `add`,
`subtract`, `multiply` and `divide` bring two floating dtypes to the wider one. Python numbers
belong to the operators (`x + 1`), as in Paddle.
"""
from __future__ import annotations

import math
from functools import cache
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, bool_, float32, float64
from wherry_tensor.arguments import (
    among,
    checked,
    fitted,
    flag,
    floated,
    integer,
    number,
    promoted,
    real_number,
    refused,
    repeats,
    require_tensor,
    to_dtype,
    write,
)
from wherry_tensor.dtype import finfo
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.paddle_version import is_3
from wherry_tensor.spellings import spelled

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "angle",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clip",
    "conj",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "divide",
    "erf",
    "erfinv",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "floor_mod",
    "fmax",
    "fmin",
    "frac",
    "gcd",
    "heaviside",
    "hypot",
    "imag",
    "increment",
    "lcm",
    "ldexp",
    "lerp",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logit",
    "maximum",
    "minimum",
    "mod",
    "multigammaln",
    "multiply",
    "nan_to_num",
    "neg",
    "pow",
    "rad2deg",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "rsqrt",
    "scale",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stanh",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

_scalar = _core.scalar

# Looked up once: `ops.abs` in place of `_abs` took 2,170 instructions instead of 1,840 for `abs` on [2, 3] (counted by callgrind).
_abs = ops.abs
_acos = ops.acos
_acosh = ops.acosh
_add = ops.add
_asin = ops.asin
_asinh = ops.asinh
_atan = ops.atan
_atanh = ops.atanh
_ceil = ops.ceil
_clip = ops.clip
_cos = ops.cos
_cosh = ops.cosh
_digamma = ops.digamma
_divide = ops.divide
_erf = ops.erf
_erfinv = ops.erfinv
_exp = ops.exp
_expm1 = ops.expm1
_floor = ops.floor
_lgamma = ops.lgamma
_log = ops.log
_log10 = ops.log10
_log1p = ops.log1p
_log2 = ops.log2
_multiply = ops.multiply
_negative = ops.negative
_reciprocal = ops.reciprocal
_round = ops.round
_rsqrt = ops.rsqrt
_sign = ops.sign
_sin = ops.sin
_sinh = ops.sinh
_sqrt = ops.sqrt
_square = ops.square
_subtract = ops.subtract
_tan = ops.tan
_tanh = ops.tanh

# One tensor.


def abs(x: Tensor, name: str | None = None) -> Tensor:
    """Absolute value of each element; the modulus of complex numbers.

    Args:
        x: floating, integer or complex.

    Returns:
        The shape and dtype of `x`; a complex dtype gives its real one.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool.

    Source:
        `paddle.abs`.

    Examples:
        >>> print(wherry.abs(wherry.to_tensor([-1.5, 2.0])).numpy())
        [1.5 2. ]
    """
    try:
        return _abs(x)
    except TypeError as error:
        raise checked("abs", x, error) from None


def acos(x: Tensor, name: str | None = None) -> Tensor:
    """Inverse cosine of each element, in radians; NaN outside [-1, 1].

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.acos`.

    Examples:
        >>> print(wherry.acos(wherry.to_tensor([1.0, 0.0])).numpy())
        [0.        1.5707...]
    """
    try:
        return _acos(x)
    except TypeError as error:
        return floated("acos", _acos, x, error)


def acosh(x: Tensor, name: str | None = None) -> Tensor:
    """Inverse hyperbolic cosine of each element; NaN below 1.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.acosh`.

    Examples:
        >>> print(wherry.acosh(wherry.to_tensor([1.0, 2.0])).numpy())
        [0.        1.3169...]
    """
    try:
        return _acosh(x)
    except TypeError as error:
        return floated("acosh", _acosh, x, error)


def asin(x: Tensor, name: str | None = None) -> Tensor:
    """Inverse sine of each element, in radians; NaN outside [-1, 1].

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.asin`.

    Examples:
        >>> print(wherry.asin(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        1.5707...]
    """
    try:
        return _asin(x)
    except TypeError as error:
        return floated("asin", _asin, x, error)


def asinh(x: Tensor, name: str | None = None) -> Tensor:
    """Inverse hyperbolic sine of each element.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.asinh`.

    Examples:
        >>> print(wherry.asinh(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.8813...]
    """
    try:
        return _asinh(x)
    except TypeError as error:
        return floated("asinh", _asinh, x, error)


def atan(x: Tensor, name: str | None = None) -> Tensor:
    """Inverse tangent of each element, in radians.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.atan`.

    Examples:
        >>> print(wherry.atan(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.7853...]
    """
    try:
        return _atan(x)
    except TypeError as error:
        return floated("atan", _atan, x, error)


def atanh(x: Tensor, name: str | None = None) -> Tensor:
    """Inverse hyperbolic tangent of each element; infinite at -1 and 1.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.atanh`.

    Examples:
        >>> print(wherry.atanh(wherry.to_tensor([0.0, 0.5])).numpy())
        [0.        0.5493...]
    """
    try:
        return _atanh(x)
    except TypeError as error:
        return floated("atanh", _atanh, x, error)


def ceil(x: Tensor, name: str | None = None) -> Tensor:
    """Ceiling: the smallest integer not below each element.

    Args:
        x: floating or integer.

    Returns:
        The shape of `x` and its dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool or complex.

    Source:
        `paddle.ceil`.

    Examples:
        >>> print(wherry.ceil(wherry.to_tensor([1.2, -1.2])).numpy())
        [ 2. -1.]
    """
    try:
        return _ceil(x)
    except TypeError as error:
        raise checked("ceil", x, error) from None


def cos(x: Tensor, name: str | None = None) -> Tensor:
    """Cosine of each element, given in radians.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.cos`.

    Examples:
        >>> print(wherry.cos(wherry.to_tensor([0.0, 1.0])).numpy())
        [1.        0.5403...]
    """
    try:
        return _cos(x)
    except TypeError as error:
        return floated("cos", _cos, x, error)


def cosh(x: Tensor, name: str | None = None) -> Tensor:
    """Hyperbolic cosine of each element.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.cosh`.

    Examples:
        >>> print(wherry.cosh(wherry.to_tensor([0.0, 1.0])).numpy())
        [1.        1.5430...]
    """
    try:
        return _cosh(x)
    except TypeError as error:
        return floated("cosh", _cosh, x, error)


def digamma(x: Tensor, name: str | None = None) -> Tensor:
    """Derivative of the logarithm of the gamma function; NaN at 0, -1, -2, ...

    Args:
        x: floating; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or complex.

    Source:
        `paddle.digamma`.

    Examples:
        >>> print(wherry.digamma(wherry.to_tensor([1.0, 2.0])).numpy())
        [-0.5772...  0.4227...]
    """
    try:
        return _digamma(x)
    except TypeError as error:
        return floated("digamma", _digamma, x, error)


def erf(x: Tensor, name: str | None = None) -> Tensor:
    """Error function of each element.

    Args:
        x: floating; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or complex.

    Source:
        `paddle.erf`.

    Examples:
        >>> print(wherry.erf(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.8427...]
    """
    try:
        return _erf(x)
    except TypeError as error:
        return floated("erf", _erf, x, error)


def erfinv(x: Tensor, name: str | None = None) -> Tensor:
    """Inverse of the error function; infinite at -1 and 1.

    Args:
        x: floating; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or complex.

    Source:
        `paddle.erfinv`.

    Examples:
        >>> print(wherry.erfinv(wherry.to_tensor([0.0, 0.5])).numpy())
        [0.        0.4769...]
    """
    try:
        return _erfinv(x)
    except TypeError as error:
        return floated("erfinv", _erfinv, x, error)


def exp(x: Tensor, name: str | None = None) -> Tensor:
    """Exponential: e to the power of each element.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.exp`.

    Examples:
        >>> print(wherry.exp(wherry.to_tensor([0.0, 1.0])).numpy())
        [1.        2.7182...]
    """
    try:
        return _exp(x)
    except TypeError as error:
        return floated("exp", _exp, x, error)


def expm1(x: Tensor, name: str | None = None) -> Tensor:
    """e to the power of each element, minus 1, precise near 0.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.expm1`.

    Examples:
        >>> print(wherry.expm1(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        1.7182...]
    """
    try:
        return _expm1(x)
    except TypeError as error:
        return floated("expm1", _expm1, x, error)


def floor(x: Tensor, name: str | None = None) -> Tensor:
    """Floor: the largest integer not above each element.

    Args:
        x: floating or integer.

    Returns:
        The shape of `x` and its dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool or complex.

    Source:
        `paddle.floor`.

    Examples:
        >>> print(wherry.floor(wherry.to_tensor([1.2, -1.2])).numpy())
        [ 1. -2.]
    """
    try:
        return _floor(x)
    except TypeError as error:
        raise checked("floor", x, error) from None


def lgamma(x: Tensor, name: str | None = None) -> Tensor:
    """Logarithm of the absolute value of the gamma function.

    Args:
        x: floating; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or complex.

    Source:
        `paddle.lgamma`.

    Examples:
        >>> print(wherry.lgamma(wherry.to_tensor([1.0, 4.0])).numpy())
        [0.        1.7917...]
    """
    try:
        return _lgamma(x)
    except TypeError as error:
        return floated("lgamma", _lgamma, x, error)


def log(x: Tensor, name: str | None = None) -> Tensor:
    """Natural logarithm of each element; -inf at 0, NaN below.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.log`.

    Examples:
        >>> print(wherry.log(wherry.to_tensor([1.0, 10.0])).numpy())
        [0.        2.3025...]
    """
    try:
        return _log(x)
    except TypeError as error:
        return floated("log", _log, x, error)


def log10(x: Tensor, name: str | None = None) -> Tensor:
    """Logarithm to base 10 of each element; -inf at 0, NaN below.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.log10`.

    Examples:
        >>> print(wherry.log10(wherry.to_tensor([1.0, 1000.0])).numpy())
        [0. 3.]
    """
    try:
        return _log10(x)
    except TypeError as error:
        return floated("log10", _log10, x, error)


def log1p(x: Tensor, name: str | None = None) -> Tensor:
    """Natural logarithm of 1 plus each element, precise near 0.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.log1p`.

    Examples:
        >>> print(wherry.log1p(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.6931...]
    """
    try:
        return _log1p(x)
    except TypeError as error:
        return floated("log1p", _log1p, x, error)


def log2(x: Tensor, name: str | None = None) -> Tensor:
    """Logarithm to base 2 of each element; -inf at 0, NaN below.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.log2`.

    Examples:
        >>> print(wherry.log2(wherry.to_tensor([1.0, 8.0])).numpy())
        [0. 3.]
    """
    try:
        return _log2(x)
    except TypeError as error:
        return floated("log2", _log2, x, error)


def neg(x: Tensor, name: str | None = None) -> Tensor:
    """Negation: each element with the other sign.

    Args:
        x: floating, integer or complex.

    Returns:
        The shape of `x` and its dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool.

    Source:
        `paddle.neg`.

    Examples:
        >>> print(wherry.neg(wherry.to_tensor([1.0, -2.0])).numpy())
        [-1.  2.]
    """
    try:
        return _negative(x)
    except TypeError as error:
        raise checked("neg", x, error) from None


def reciprocal(x: Tensor, name: str | None = None) -> Tensor:
    """Reciprocal: 1 divided by each element.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.reciprocal`.

    Examples:
        >>> print(wherry.reciprocal(wherry.to_tensor([2.0, 4.0])).numpy())
        [0.5  0.25]
    """
    try:
        return _reciprocal(x)
    except TypeError as error:
        return floated("reciprocal", _reciprocal, x, error)


def round(x: Tensor, name: str | None = None) -> Tensor:
    """Nearest integer of each element; halves go away from 0.

    Args:
        x: floating or integer.

    Returns:
        The shape of `x` and its dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool or complex.

    Source:
        `paddle.round`.

    Examples:
        >>> print(wherry.round(wherry.to_tensor([0.5, 1.4, -2.5])).numpy())
        [ 1.  1. -3.]
    """
    if is_3():
        return _round_to_even(x)
    try:
        return _round(x)
    except TypeError as error:
        raise checked("round", x, error) from None


def _round_to_even(x: Tensor) -> Tensor:
    """Halves go to the even neighbour, as in Paddle 3 and NumPy."""
    up = _round(require_tensor(x, "round"))
    # Away from zero by one half, and odd: the neighbour nearer to zero is the even one.
    half = ops.equal(ops.abs(ops.subtract(up, x)), _core.scalar(0.5, x.dtype))
    odd = ops.not_equal(ops.remainder(up, _core.scalar(2.0, x.dtype)), _core.scalar(0.0, x.dtype))
    return ops.where(ops.logical_and(half, odd), ops.subtract(up, ops.sign(up)), up)


def rsqrt(x: Tensor, name: str | None = None) -> Tensor:
    """1 divided by the square root of each element.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.rsqrt`.

    Examples:
        >>> print(wherry.rsqrt(wherry.to_tensor([1.0, 4.0])).numpy())
        [1.  0.5]
    """
    try:
        return _rsqrt(x)
    except TypeError as error:
        return floated("rsqrt", _rsqrt, x, error)


def sign(x: Tensor, name: str | None = None) -> Tensor:
    """-1, 0 or 1: the sign of each element; NaN stays NaN.

    Args:
        x: floating, integer or complex.

    Returns:
        The shape of `x` and its dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool.

    Source:
        `paddle.sign`.

    Examples:
        >>> print(wherry.sign(wherry.to_tensor([-2.0, 0.0, 3.0])).numpy())
        [-1.  0.  1.]
    """
    try:
        return _sign(x)
    except TypeError as error:
        raise checked("sign", x, error) from None


def sin(x: Tensor, name: str | None = None) -> Tensor:
    """Sine of each element, given in radians.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.sin`.

    Examples:
        >>> print(wherry.sin(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.8414...]
    """
    try:
        return _sin(x)
    except TypeError as error:
        return floated("sin", _sin, x, error)


def sinh(x: Tensor, name: str | None = None) -> Tensor:
    """Hyperbolic sine of each element.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.sinh`.

    Examples:
        >>> print(wherry.sinh(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        1.1752...]
    """
    try:
        return _sinh(x)
    except TypeError as error:
        return floated("sinh", _sinh, x, error)


def sqrt(x: Tensor, name: str | None = None) -> Tensor:
    """Square root of each element; NaN below 0.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.sqrt`.

    Examples:
        >>> print(wherry.sqrt(wherry.to_tensor([4.0, 2.0])).numpy())
        [2.        1.4142...]
    """
    try:
        return _sqrt(x)
    except TypeError as error:
        return floated("sqrt", _sqrt, x, error)


def square(x: Tensor, name: str | None = None) -> Tensor:
    """Square: each element times itself.

    Args:
        x: floating, integer or complex.

    Returns:
        The shape of `x` and its dtype.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool.

    Source:
        `paddle.square`.

    Examples:
        >>> print(wherry.square(wherry.to_tensor([-3.0, 2.0])).numpy())
        [9. 4.]
    """
    try:
        return _square(x)
    except TypeError as error:
        raise checked("square", x, error) from None


def tan(x: Tensor, name: str | None = None) -> Tensor:
    """Tangent of each element, given in radians.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.tan`.

    Examples:
        >>> print(wherry.tan(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        1.5574...]
    """
    try:
        return _tan(x)
    except TypeError as error:
        return floated("tan", _tan, x, error)


def tanh(x: Tensor, name: str | None = None) -> Tensor:
    """Hyperbolic tangent of each element.

    Args:
        x: floating or complex; bool and integers are cast to float32.

    Returns:
        The shape of `x`, in its dtype or float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.tanh`.

    Examples:
        >>> print(wherry.tanh(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.7615...]
    """
    try:
        return _tanh(x)
    except TypeError as error:
        return floated("tanh", _tanh, x, error)


def angle(x: Tensor, name: str | None = None) -> Tensor:
    """Angle of each element in the complex plane, in radians: pi for negative real numbers.

    Args:
        x: floating, integer or complex.

    Returns:
        The shape of `x`, real; float32 for bool and integers.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.angle`.

    Examples:
        >>> print(wherry.angle(wherry.to_tensor([1.0, -1.0])).numpy())
        [0.        3.1415...]
    """
    require_tensor(x, "angle")
    return ops.angle(to_dtype(x, float32) if x.dtype.is_integer or x.dtype.is_bool else x)


def conj(x: Tensor, name: str | None = None) -> Tensor:
    """Complex conjugate of each element; real numbers are their own.

    Args:
        x: any dtype and shape.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.conj`.

    Examples:
        >>> print(wherry.conj(wherry.to_tensor([1 + 2j])).numpy())
        [1.-2.j]
    """
    try:
        return ops.conj(x)
    except TypeError as error:
        raise checked("conj", x, error) from None


def real(x: Tensor, name: str | None = None) -> Tensor:
    """Real part of each element; real numbers are their own.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool.

    Source:
        `paddle.real`, which takes complex tensors only.

    Examples:
        >>> print(wherry.real(wherry.to_tensor([1 + 2j])).numpy())
        [1.]
    """
    try:
        return ops.real(x)
    except TypeError as error:
        raise checked("real", x, error) from None


def imag(x: Tensor, name: str | None = None) -> Tensor:
    """Imaginary part of each element; 0 for real numbers.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool.

    Source:
        `paddle.imag`, which takes complex tensors only.

    Examples:
        >>> print(wherry.imag(wherry.to_tensor([1 + 2j])).numpy())
        [2.]
    """
    try:
        return ops.imag(x)
    except TypeError as error:
        raise checked("imag", x, error) from None


def sgn(x: Tensor, name: str | None = None) -> Tensor:
    """`x / |x|`, and 0 where `x` is 0: the sign of real numbers, the direction of complex ones.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a floating or complex Tensor.

    Source:
        `paddle.sgn`.

    Examples:
        >>> print(wherry.sgn(wherry.to_tensor([3 + 4j])).numpy())
        [0.6+0.8j]
    """
    require_tensor(x, "sgn")
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(
            f"sgn: x must be floating or complex. Got dtype {x.dtype.name}, expected float32, complex64 or the like. "
            f"Use sign for integers."
        )
    return ops.sign(x)


def trunc(input: Tensor, name: str | None = None) -> Tensor:
    """Truncation: each element without its fraction: rounded toward 0.

    Args:
        input: floating or integer.

    Returns:
        The shape and dtype of `input`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError), or bool or complex.

    Source:
        `paddle.trunc`.

    Examples:
        >>> print(wherry.trunc(wherry.to_tensor([1.7, -1.7])).numpy())
        [ 1. -1.]
    """
    try:
        return ops.trunc(input)
    except TypeError as error:
        require_tensor(input, "trunc", "input")
        raise checked("trunc", input, error) from None


def frac(x: Tensor, name: str | None = None) -> Tensor:
    """Fraction of each element, with its sign: `x - trunc(x)`.

    Args:
        x: floating or integer (whose fraction is 0).

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or bool or complex.

    Source:
        `paddle.frac`.

    Examples:
        >>> print(wherry.frac(wherry.to_tensor([1.5, -1.25])).numpy())
        [ 0.5  -0.25]
    """
    try:
        return ops.subtract(x, ops.trunc(x))
    except TypeError as error:
        raise checked("frac", x, error) from None


def _scaled(x: Any, factor: float, op_name: str) -> Tensor:
    require_tensor(x, op_name)
    if x.dtype.is_floating or x.dtype.is_complex:
        return ops.multiply(x, _core.scalar(factor, x.dtype))
    return to_dtype(x, float32) * factor


def deg2rad(x: Tensor, name: str | None = None) -> Tensor:
    """Degrees to radians.

    Args:
        x: floating or complex, or integers (the result is float32 then).

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.deg2rad`.

    Examples:
        >>> print(wherry.deg2rad(wherry.to_tensor([180.0])).numpy())
        [3.1415...]
    """
    return _scaled(x, math.pi / 180.0, "deg2rad")


def rad2deg(x: Tensor, name: str | None = None) -> Tensor:
    """Radians to degrees.

    Args:
        x: floating or complex, or integers (the result is float32 then).

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.rad2deg`.

    Examples:
        >>> print(wherry.rad2deg(wherry.to_tensor([1])).numpy())
        [57.29578]
    """
    return _scaled(x, 180.0 / math.pi, "rad2deg")


def sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """Sigmoid: 1 / (1 + exp(-x)) of each element.

    Args:
        x: floating; bool and integers are cast to float32.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or complex (also a ValueError).

    Source:
        `paddle.Tensor.sigmoid`, `paddle.nn.functional.sigmoid`.

    Examples:
        >>> print(wherry.to_tensor([0.0]).sigmoid().numpy())
        [0.5]
    """
    try:
        return ops.sigmoid(x)
    except TypeError as error:
        return floated("sigmoid", ops.sigmoid, x, error)


def stanh(x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Tensor:
    """Scaled hyperbolic tangent: `scale_b * tanh(scale_a * x)`.

    Args:
        x: floating; bool and integers are cast to float32.
        scale_a, scale_b: numbers.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or complex, or a scale is not a number (also a ValueError).

    Source:
        `paddle.stanh`.

    Examples:
        >>> print(wherry.stanh(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       1.0037...]
    """
    a, b = real_number(scale_a, "stanh", "scale_a"), real_number(scale_b, "stanh", "scale_b")
    try:
        return ops.stanh(x, a, b)
    except TypeError as error:
        return floated("stanh", lambda x: ops.stanh(x, a, b), x, error)


def logit(x: Tensor, eps: float | None = None, name: str | None = None) -> Tensor:
    """Logits: log(x / (1 - x)) of each element: the inverse of `sigmoid`.

    Args:
        x: probabilities: floating or complex; bool and integers are cast to float32.
        eps: first bring `x` into [eps, 1 - eps]; None and 0 leave it, and outside [0, 1] the result is NaN.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or `eps` is not a number (also a ValueError).

    Source:
        `paddle.logit`.

    Examples:
        >>> print(wherry.logit(wherry.to_tensor([0.5, 0.8])).numpy())
        [0.        1.3862...]
    """
    require_tensor(x, "logit")
    if not x.dtype.is_floating:
        x = to_dtype(x, float32) if not x.dtype.is_complex else x
    low = 0.0 if eps is None else real_number(eps, "logit", "eps")
    if low:
        x = ops.minimum(
            ops.maximum(x, _core.scalar(low, x.dtype)), _core.scalar(1.0 - low, x.dtype)
        )
    return ops.log(x / (1.0 - x))


@cache
def _largest(dtype: Any) -> float:
    from wherry_tensor.dtype import finfo

    return finfo(dtype).max


def nan_to_num(
    x: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, name: str | None = None
) -> Tensor:
    """Numbers in place of NaN and infinity.

    Args:
        x: floating.
        nan: in place of NaN.
        posinf: in place of infinity; None is the largest number of the dtype.
        neginf: in place of minus infinity; None is the smallest (most negative) one.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).

    Source:
        `paddle.nan_to_num`.

    Examples:
        >>> x = wherry.to_tensor([float("nan"), 1.0, float("inf")])
        >>> print(wherry.nan_to_num(x, posinf=9.0).numpy())
        [0. 1. 9.]
    """
    require_tensor(x, "nan_to_num")
    if not x.dtype.is_floating:
        raise InvalidTypeError(
            f"nan_to_num: x must be floating. Got dtype {x.dtype.name}, expected float16, bfloat16, float32 or float64. "
            f"Other dtypes hold no NaN."
        )
    largest = _largest(x.dtype)
    values = {"nan": nan, "posinf": largest if posinf is None else posinf, "neginf": -largest if neginf is None else neginf}
    return ops.nan_to_num(x, **{name: real_number(value, "nan_to_num", "nan, posinf or neginf") for name, value in values.items()})


def multigammaln(x: Tensor, p: int, name: str | None = None) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension `p`.

    Args:
        x: floating, each value above (p - 1) / 2; bool and integers are cast to float32.
        p: the dimension, at least 1.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or complex, or `p` not an int (also a ValueError).
        AssertionError: `p` is below 1, as in Paddle.

    Source:
        `paddle.multigammaln`.

    Examples:
        >>> print(wherry.multigammaln(wherry.to_tensor([3.0]), 2).numpy())
        [1.5501...]
    """
    p = integer(p, "multigammaln", "p")
    if p < 1:
        raise AssertionError(
            f"multigammaln: The p must be greater than or equal to 1. Got p={p}, expected an int >= 1. It is a dimension."
        )
    require_tensor(x, "multigammaln")
    p = repeats(p, "multigammaln", "p", 1, "a pass over x")
    total = lgamma(x)
    for i in range(1, p):
        total = total + lgamma(x - i / 2.0)
    return total + p * (p - 1) / 4.0 * math.log(math.pi)


# Two tensors.


def add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Sum of two tensors, element by element.

    Args:
        x, y: any dtype; shapes that broadcast together. Two floating or complex dtypes meet in the wider one;
            other dtypes must be equal.

    Returns:
        Their dtype, and the shape they broadcast to.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ and are not both floating or complex (also a
            ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.add`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0])
        >>> print(wherry.add(x, x).numpy())
        [2. 4.]
    """
    try:
        return _add(x, y)
    except TypeError as error:
        return promoted("add", _add, x, y, error)


def subtract(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Difference of two tensors, element by element. Arguments are those of `add`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, the dtypes are bool, or they differ and are not both floating or complex
            (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.subtract`.

    Examples:
        >>> print(wherry.subtract(wherry.to_tensor([5, 7]), wherry.to_tensor([1, 2])).numpy())
        [4 5]
    """
    try:
        return _subtract(x, y)
    except TypeError as error:
        return promoted("subtract", _subtract, x, y, error)


def multiply(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Product of two tensors, element by element. Arguments are those of `add`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or the dtypes differ and are not both floating or complex (also a
            ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.multiply`.

    Examples:
        >>> print(wherry.multiply(wherry.to_tensor([5, 7]), wherry.to_tensor([1, 2])).numpy())
        [ 5 14]
    """
    try:
        return _multiply(x, y)
    except TypeError as error:
        return promoted("multiply", _multiply, x, y, error)


def divide(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Quotient of two tensors, element by element.

    Args:
        x, y: both of one dtype but bool; shapes that broadcast together. Integers are divided as in C: the
            quotient is cut toward 0. (The operator `/` gives float32.)

    Returns:
        Their dtype, and the shape they broadcast to.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast, or an integer is divided by 0.

    Source:
        `paddle.divide`.

    Examples:
        >>> print(wherry.divide(wherry.to_tensor([1.0, 3.0]), wherry.to_tensor([2.0, 2.0])).numpy())
        [0.5 1.5]
        >>> print(wherry.divide(wherry.to_tensor([7]), wherry.to_tensor([-2])).numpy())
        [-3]
    """
    try:
        return _divide(x, y)
    except TypeError as error:
        if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype is y.dtype and x.dtype.is_integer:
            down = ops.floor_divide(x, y)
            rest = ops.subtract(x, ops.multiply(down, y))
            # Rounded down where the exact quotient is negative and not an integer: one too small.
            raised = ops.logical_and(to_dtype(rest, bool_), (x < 0) != (y < 0))
            return ops.add(down, to_dtype(raised, x.dtype))
        if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype.is_complex is not y.dtype.is_complex:
            return promoted("divide", _divide, x, y, error)  # two floating dtypes are refused, as in Paddle
        raise refused("divide", error, x=x, y=y) from None


def floor_divide(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Quotient of two tensors rounded down, element by element.

    Args:
        x, y: both of one integer or floating dtype; shapes that broadcast together.

    Returns:
        Their dtype, and the shape they broadcast to.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError), or they are bool or complex.
        ValueError: the shapes do not broadcast, or an integer is divided by 0.

    Source:
        `paddle.floor_divide`.

    Examples:
        >>> print(wherry.floor_divide(wherry.to_tensor([7, -7]), wherry.to_tensor([2, 2])).numpy())
        [ 3 -4]
    """
    try:
        return ops.floor_divide(x, y)
    except TypeError as error:
        raise refused("floor_divide", error, x=x, y=y) from None


def remainder(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Remainder: what `floor_divide` leaves, with the sign of `y`. Arguments are those of `floor_divide`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are bool or complex (also a ValueError).
        ValueError: the shapes do not broadcast, or an integer is divided by 0.

    Source:
        `paddle.remainder`, also called `mod` and `floor_mod`.

    Examples:
        >>> print(wherry.remainder(wherry.to_tensor([7, -7]), wherry.to_tensor([3, 3])).numpy())
        [1 2]
    """
    try:
        return ops.remainder(x, y)
    except TypeError as error:
        raise refused("remainder", error, x=x, y=y) from None


mod = remainder
floor_mod = remainder


def pow(x: Tensor, y: Any, name: str | None = None) -> Tensor:
    """Power: `x` to the power of `y`, element by element.

    Args:
        x: floating, integer or complex.
        y: a number, which takes the dtype of `x` (a float is cut for an integer `x`, as in Paddle); or a tensor
            of the dtype of `x` whose shape broadcasts with it.

    Returns:
        The dtype of `x`, and the shape they broadcast to.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is of another type, or dtypes differ (also a ValueError), or they are bool.
        ValueError: the shapes do not broadcast, or an integer is raised to a negative power.

    Source:
        `paddle.pow`.

    Examples:
        >>> print(wherry.pow(wherry.to_tensor([1.0, 2.0, 3.0]), 2).numpy())
        [1. 4. 9.]
    """
    if isinstance(y, (int, float)):
        require_tensor(x, "pow")
        if y < 0 and x.dtype.is_integer:
            raise InvalidArgumentError(
                f"pow: an integer to a negative power is not an integer. Got x of {x.dtype.name} and y={y}, expected y >= 0. "
                f"Cast first, as in x.astype('float32')."
            )
        y = _core.scalar(fitted(y, x.dtype, "pow"), x.dtype)
    try:
        return ops.power(x, y)
    except TypeError as error:
        raise refused("pow", error, x=x, y=y) from None


def maximum(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Element-wise maximum of two tensors; NaN where one is NaN.

    Args:
        x, y: both of one real dtype; shapes that broadcast together.

    Returns:
        Their dtype, and the shape they broadcast to.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError), or they are complex.
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.maximum`.

    Examples:
        >>> print(wherry.maximum(wherry.to_tensor([1, 5]), wherry.to_tensor([3, 2])).numpy())
        [3 5]
    """
    try:
        return ops.maximum(x, y)
    except TypeError as error:
        raise refused("maximum", error, x=x, y=y) from None


def minimum(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Element-wise minimum of two tensors; NaN where one is NaN. Arguments are those of `maximum`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.minimum`.

    Examples:
        >>> print(wherry.minimum(wherry.to_tensor([1, 5]), wherry.to_tensor([3, 2])).numpy())
        [1 2]
    """
    try:
        return ops.minimum(x, y)
    except TypeError as error:
        raise refused("minimum", error, x=x, y=y) from None


def fmax(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Element-wise maximum of two tensors; where one element is NaN, the other. Else as `maximum`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.fmax`.

    Examples:
        >>> print(wherry.fmax(wherry.to_tensor([1.0, float("nan")]), wherry.to_tensor([3.0, 2.0])).numpy())
        [3. 2.]
    """
    try:
        return ops.fmax(x, y)
    except TypeError as error:
        raise refused("fmax", error, x=x, y=y) from None


def fmin(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Element-wise minimum of two tensors; where one element is NaN, the other. Else as `minimum`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.fmin`.

    Examples:
        >>> print(wherry.fmin(wherry.to_tensor([1.0, float("nan")]), wherry.to_tensor([3.0, 2.0])).numpy())
        [1. 2.]
    """
    try:
        return ops.fmin(x, y)
    except TypeError as error:
        raise refused("fmin", error, x=x, y=y) from None


def atan2(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Angle of the point (y, x), in radians in (-pi, pi]: the inverse tangent of x / y.

    Args:
        x, y: both of one floating or integer dtype; shapes that broadcast together.

    Returns:
        Their dtype, float64 for integers, and the shape they broadcast to.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError), or they are bool or complex.
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.atan2`.

    Examples:
        >>> print(wherry.atan2(wherry.to_tensor([1.0]), wherry.to_tensor([-1.0])).numpy())
        [2.3561...]
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x.dtype is y.dtype and x.dtype.is_integer:
        x, y = to_dtype(x, float64), to_dtype(y, float64)
    try:
        return ops.atan2(x, y)
    except TypeError as error:
        raise refused("atan2", error, x=x, y=y) from None


def hypot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Length of the hypotenuse: the root of `x * x + y * y`, without overflow on the way.

    Args:
        x, y: both of one floating dtype; shapes that broadcast together.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a floating Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.hypot`.

    Examples:
        >>> print(wherry.hypot(wherry.to_tensor([3.0]), wherry.to_tensor([4.0])).numpy())
        [5.]
    """
    require_tensor(x, "hypot")
    require_tensor(y, "hypot", "y")
    if not x.dtype.is_floating or x.dtype is not y.dtype:
        raise refused("hypot", InvalidTypeError(
            f"hypot: x and y must be floating. Got dtype {x.dtype.name}, expected float32 or float64. "
            f"Cast them with astype('float32')."
        ), x=x, y=y)
    a, b = ops.abs(x), ops.abs(y)
    large, small = ops.maximum(a, b), ops.minimum(a, b)
    # 0 / 0 and inf / inf would be NaN where the length is 0 and infinite.
    if not (_core.is_symbolic(x) or _core.is_symbolic(y)) and (x.stop_gradient and y.stop_gradient or not _core.is_grad_enabled()):
        limits = finfo(x.dtype)
        least, most = _core.scalar(limits.smallest_normal * limits.eps, x.dtype), _core.scalar(limits.max, x.dtype)
        return ops.multiply(large, ops.sqrt(1.0 + ops.square(ops.divide(ops.minimum(small, most), ops.maximum(large, least)))))
    plain = ops.logical_or(large == 0.0, ops.isinf(large))
    zero, one = _core.scalar(0.0, x.dtype), _core.scalar(1.0, x.dtype)
    ratio = ops.where(plain, zero, small / ops.where(plain, one, large))
    return large * ops.sqrt(1.0 + ratio * ratio)


def logaddexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """log(exp(x) + exp(y)), without overflow on the way.

    Args:
        x, y: both of one floating or integer dtype (integers give float32); shapes that broadcast together.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.logaddexp`.

    Examples:
        >>> print(wherry.logaddexp(wherry.to_tensor([0.0]), wherry.to_tensor([0.0])).numpy())
        [0.6931...]
    """
    require_tensor(x, "logaddexp")
    require_tensor(y, "logaddexp", "y")
    if x.dtype is not y.dtype:
        raise refused("logaddexp", TypeError(), x=x, y=y)
    if not x.dtype.is_floating:
        x, y = to_dtype(x, float32), to_dtype(y, float32)
    # Equal infinities have the difference NaN, which fmax drops; the result is that infinity.
    apart = ops.fmax(ops.abs(ops.subtract(x, y)), _core.scalar(0.0, x.dtype))
    return ops.maximum(x, y) - ops.log_sigmoid(apart)


def ldexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`x * 2 ** y`, element by element.

    Args:
        x: floating, or integers, which are cast to float32.
        y: exponents, of any real dtype; shapes that broadcast together.

    Returns:
        float64 if `x` or `y` is, else float32.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.ldexp`.

    Examples:
        >>> print(wherry.ldexp(wherry.to_tensor([1.0, 3.0]), wherry.to_tensor([1, 2])).numpy())
        [ 2. 12.]
    """
    require_tensor(x, "ldexp")
    require_tensor(y, "ldexp", "y")
    dtype = float64 if float64 in (x.dtype, y.dtype) else float32
    two = _core.scalar(2.0, dtype)
    return ops.multiply(to_dtype(x, dtype), ops.power(two, to_dtype(y, dtype)))


def heaviside(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The step function: 0 where `x` is negative, 1 where it is positive, `y` where it is 0.

    Args:
        x, y: both of one floating or integer dtype; shapes that broadcast together.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError), or they are bool or complex.
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.heaviside`.

    Examples:
        >>> print(wherry.heaviside(wherry.to_tensor([-1.0, 0.0, 2.0]), wherry.to_tensor([0.5])).numpy())
        [0.  0.5 1. ]
    """
    try:
        return ops.heaviside(x, y)
    except TypeError as error:
        raise refused("heaviside", error, x=x, y=y) from None


def gcd(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Greatest common divisor of two elements, never negative; that of 0 and 0 is 0.

    Args:
        x, y: both of one integer dtype; shapes that broadcast together.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not an integer Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.gcd`.

    Examples:
        >>> print(wherry.gcd(wherry.to_tensor([12, 20]), wherry.to_tensor([8])).numpy())
        [4 4]
    """
    try:
        return ops.gcd(x, y)
    except TypeError as error:
        raise refused("gcd", error, x=x, y=y) from None


def lcm(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Least common multiple of two elements, never negative; 0 where one is 0. Arguments are those of `gcd`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are not integers (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.lcm`.

    Examples:
        >>> print(wherry.lcm(wherry.to_tensor([12, 20]), wherry.to_tensor([8])).numpy())
        [24 40]
    """
    try:
        return ops.lcm(x, y)
    except TypeError as error:
        raise refused("lcm", error, x=x, y=y) from None


# Several tensors, or a tensor and numbers.


def _bound(value: Any, x: Tensor, which: str) -> Tensor | None:
    if value is None:
        return None
    if type(value) is float and x.dtype.is_floating:
        return _scalar(value, x.dtype)
    if isinstance(value, Tensor):
        return to_dtype(value, x.dtype)
    value = number(value, "clip", which)
    if x.dtype.is_integer and isinstance(value, float) and math.isinf(value):
        # No integer passes an infinite bound on its own side; on the other side none would stay.
        if (value < 0) == (which == "min"):
            return None
        raise InvalidArgumentError(
            f"clip: no integer lies beyond {which}. Got {which}={value} for {x.dtype.name}, expected a finite bound. "
            f"Leave it out."
        )
    return _core.scalar(fitted(value, x.dtype, "clip"), x.dtype)


def clip(x: Tensor, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
    """Each element limited to [min, max]; NaN stays NaN.

    Args:
        x: floating or integer.
        min, max: numbers or tensors, which take the dtype of `x` and broadcast to its shape; None means no bound.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError) or a bound is not a number.
        ValueError: `min` is larger than `max`, or a bound does not broadcast to the shape of `x`.

    Source:
        `paddle.clip`.

    Examples:
        >>> print(wherry.clip(wherry.to_tensor([-1.0, 0.5, 3.0]), 0.0, 1.0).numpy())
        [0.  0.5 1. ]
    """
    require_tensor(x, "clip")
    low_number, high_number = isinstance(min, (int, float)), isinstance(max, (int, float))
    if low_number and high_number and min > max:
        raise InvalidArgumentError(
            f"clip: min is larger than max. Got min={min} and max={max}, expected min <= max. Swap them."
        )
    low, high = _bound(min, x, "min"), _bound(max, x, "max")
    if low is None and high is None:
        return ops.copy(x)
    out = _clip(x, low, high)
    if (low_number or low is None) and (high_number or high is None):
        return out
    if out.ndim != x.ndim or (out.shape != x.shape and -1 not in x.shape):
        raise InvalidArgumentError(
            f"clip: a bound does not broadcast to the shape of x. Got x of shape {x.shape} and a result of {out.shape}, "
            f"expected bounds that broadcast to {x.shape}. Expand x first."
        )
    return out


def lerp(x: Tensor, y: Tensor, weight: Any, name: str | None = None) -> Tensor:
    """Linear interpolation `x + weight * (y - x)`.

    Args:
        x, y: both of one floating dtype; shapes that broadcast together.
        weight: a number, or a tensor of that dtype whose shape broadcasts with theirs. 0 gives `x`, 1 gives `y`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a floating Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.lerp`.

    Examples:
        >>> print(wherry.lerp(wherry.to_tensor([1.0]), wherry.to_tensor([3.0]), 0.25).numpy())
        [1.5]
    """
    if isinstance(weight, (int, float)) and isinstance(x, Tensor):
        weight = _core.scalar(fitted(weight, x.dtype, "lerp"), x.dtype)
    try:
        return ops.lerp(x, y, weight)
    except TypeError as error:
        raise refused("lerp", error, x=x, y=y, weight=weight) from None


_ACTIVATIONS = ("relu", "relu6", "sigmoid", "tanh", "exp", "abs", "square", "sqrt", "softsign", "silu", "mish")


def scale(
    x: Tensor, scale: Any = 1.0, bias: Any = 0.0, bias_after_scale: bool = True, act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`scale * x + bias`, or `scale * (x + bias)`.

    Args:
        x: any dtype but bool.
        scale: a number, or a tensor of one element; it takes the dtype of `x`.
        bias: a number.
        bias_after_scale: False adds the bias first.
        act: name of an activation of the result, such as "relu" or "tanh".

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor or `scale` not a number (also a ValueError).
        ValueError: the activation is unknown.

    Source:
        `paddle.scale`.

    Examples:
        >>> print(wherry.scale(wherry.to_tensor([1.0, 2.0]), scale=2.0, bias=1.0).numpy())
        [3. 5.]
    """
    require_tensor(x, "scale")
    if scale is None or isinstance(scale, str):
        raise InvalidTypeError(
            f"scale: argument 'scale' must be a number. Got {short(scale)}, expected an int, float, bool or Tensor. Pass 2.0."
        )
    if act is not None and not among(act, _ACTIVATIONS):
        raise InvalidArgumentError(
            f"scale: unknown activation. Got act={short(act)}, expected one of {', '.join(_ACTIVATIONS)}. "
            f"Apply it to the result yourself."
        )
    if isinstance(scale, Tensor):
        factor = to_dtype(scale, x.dtype)
        if factor.ndim:
            factor = ops.reshape(factor, ())
    else:
        factor = _scalar(fitted(number(scale, "scale", "scale"), x.dtype, "scale"), x.dtype)
    shift = number(bias, "scale", "bias")
    offset = None if shift == 0 else _core.scalar(fitted(shift, x.dtype, "scale"), x.dtype)
    if offset is None:
        out = ops.multiply(x, factor)
    elif flag(bias_after_scale, "scale", "bias_after_scale"):
        out = ops.add(ops.multiply(x, factor), offset)
    else:
        out = ops.multiply(ops.add(x, offset), factor)
    return out if act is None else getattr(ops, act)(out)


def increment(x: Tensor, value: Any = 1.0, name: str | None = None) -> Tensor:
    """Add `value` to a tensor of one element, in place; returns it.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or `value` not a number.
        ValueError: `x` has more than one element.

    Source:
        `paddle.increment`.

    Examples:
        >>> print(wherry.increment(wherry.zeros([1])).numpy())
        [1.]
    """
    require_tensor(x, "increment")
    if x.size != 1:
        raise InvalidArgumentError(
            f"increment: x must hold one element. Got shape {x.shape}, expected one element. Use x.add_(...) for larger tensors."
        )
    step = _scalar(fitted(number(value, "increment", "value"), x.dtype, "increment"), x.dtype)
    return write(x, ops.add(x, step), "increment")


spelled(globals(), ops_of={
    **{name: getattr(ops, name) for name in """abs acos acosh add asin asinh atan atanh ceil conj cos cosh digamma divide erf erfinv exp expm1 floor
        floor_divide fmax fmin gcd heaviside imag lcm lgamma log log10 log1p log2 maximum minimum multiply
        real reciprocal remainder rsqrt sigmoid sign sin sinh sqrt square subtract tan tanh""".split()},
    "neg": ops.negative,
})
