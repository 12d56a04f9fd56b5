"""Functions of single numbers that came with Paddle 3: signs, shifts of bits, the sine cardinal, incomplete gamma functions, membership."""
from __future__ import annotations

import math as _math
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, bool_, float32, float64, int64
from wherry_tensor.arguments import at_hand, flag, number, real_number, require_tensor, to_dtype
from wherry_tensor.errors import InvalidTypeError
from wherry_tensor.functions import creation, logic, movement
from wherry_tensor.functions.inplace import inplace_form
from wherry_tensor.spellings import spelled

__all__ = [
    "bitwise_left_shift", "bitwise_left_shift_", "bitwise_right_shift", "bitwise_right_shift_", "copysign", "copysign_", "gammainc", "gammainc_",
    "gammaincc", "gammaincc_", "isin", "isneginf", "isposinf", "isreal", "positive", "signbit", "sinc", "sinc_",
]

_PI = _math.pi


def _constant(value: Any, like: Tensor) -> Tensor:
    return _core.scalar(float(value), like.dtype)


def _floating(x: Any, op_name: str, name: str = "x") -> Tensor:
    if require_tensor(x, op_name, name).dtype.is_floating:
        return x  # type: ignore[no-any-return]
    raise InvalidTypeError(
        f"{op_name}: '{name}' must be floating. Got {x.dtype.name}, expected float32 or float64. Cast it with x.astype('float32')."
    )


def isneginf(x: Tensor, name: str | None = None) -> Tensor:
    """Which elements are minus infinity.

    Args:
        x: floating, or integers, of which none are.

    Shape:
        `[...]` to the same, of bool.

    Raises:
        TypeError: `x` is not a Tensor, or complex or bool (also a ValueError).

    Source:
        `paddle.isneginf`.

    Examples:
        >>> wherry.isneginf(wherry.to_tensor([1.0, -float("inf"), float("inf")])).tolist()
        [False, True, False]
    """
    return logic.logical_and(logic.isinf(_ordered(x, "isneginf")), x < 0)


def isposinf(x: Tensor, name: str | None = None) -> Tensor:
    """Which elements are plus infinity.

    Args:
        x: floating, or integers, of which none are.

    Shape:
        `[...]` to the same, of bool.

    Raises:
        TypeError: `x` is not a Tensor, or complex or bool (also a ValueError).

    Source:
        `paddle.isposinf`.

    Examples:
        >>> wherry.isposinf(wherry.to_tensor([1.0, -float("inf"), float("inf")])).tolist()
        [False, False, True]
    """
    return logic.logical_and(logic.isinf(_ordered(x, "isposinf")), x > 0)


def _ordered(x: Any, op_name: str) -> Tensor:
    dtype = require_tensor(x, op_name).dtype
    if dtype.is_complex or dtype.is_bool:
        raise InvalidTypeError(f"{op_name}: {dtype.name} has no infinities of a sign. Got {dtype.name}, expected a real dtype. Take the real part.")
    return x  # type: ignore[no-any-return]


def isreal(x: Tensor, name: str | None = None) -> Tensor:
    """Which elements have no imaginary part; all of a real dtype.

    Shape:
        `[...]` to the same, of bool.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.isreal`.

    Examples:
        >>> wherry.isreal(wherry.to_tensor([1 + 0j, 1j])).tolist()
        [True, False]
    """
    if not require_tensor(x, "isreal").dtype.is_complex:
        return creation.ones_like(x, "bool")
    return ops.imag(x) == 0


def signbit(x: Tensor, name: str | None = None) -> Tensor:
    """Which elements have a minus sign; -0.0 has one.

    Args:
        x: real numbers.

    Shape:
        `[...]` to the same, of bool.

    Raises:
        TypeError: `x` is not a Tensor, or complex (also a ValueError).

    Source:
        `paddle.signbit`.

    Examples:
        >>> wherry.signbit(wherry.to_tensor([1.0, -0.0, -2.0])).tolist()
        [False, True, True]
    """
    if require_tensor(x, "signbit").dtype.is_complex:
        raise InvalidTypeError(f"signbit: complex numbers have no sign. Got {x.dtype.name}, expected a real dtype. Take the real part.")
    if not x.dtype.is_floating:
        return to_dtype(x, int64) < 0
    # 1 / -0.0 is minus infinity: the sign of zero shows in its reciprocal alone
    return logic.logical_or(x < 0, logic.logical_and(x == 0, ops.reciprocal(x) < 0))


def copysign(x: Tensor, y: Any, name: str | None = None) -> Tensor:
    """The magnitude of `x` with the sign of `y`, element by element.

    Args:
        x: floating, or integers, which become float32.
        y: a tensor that broadcasts with `x`, or a number.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: `x` is not a Tensor, or a dtype is complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.copysign`.

    Examples:
        >>> print(wherry.copysign(wherry.to_tensor([1.0, -2.0]), wherry.to_tensor([-3.0, 0.0])).numpy())
        [-1.  2.]
    """
    x = require_tensor(x, "copysign")
    x = x if x.dtype.is_floating else to_dtype(x, float32)
    sign = y if isinstance(y, Tensor) else _core.scalar(real_number(y, "copysign", "y"), x.dtype)
    magnitude = ops.abs(x)
    return logic.where(signbit(sign), -magnitude, magnitude)


def positive(x: Tensor, name: str | None = None) -> Tensor:
    """`+x`: the tensor itself.

    Args:
        x: any dtype but bool.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or bool (also a ValueError).

    Source:
        `paddle.positive`.

    Examples:
        >>> x = wherry.ones([2])
        >>> wherry.positive(x) is x
        True
    """
    if require_tensor(x, "positive").dtype is bool_:
        raise InvalidTypeError("positive: a truth value has no sign. Got bool, expected a dtype of numbers. Cast it first.")
    return x


def sinc(x: Tensor, name: str | None = None) -> Tensor:
    """The normalized sine cardinal, sin(pi x) / (pi x), which is 1 at 0.

    Args:
        x: floating.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or not floating (also a ValueError).

    Source:
        `paddle.sinc`.

    Examples:
        >>> print(wherry.sinc(wherry.to_tensor([0.0, 0.5])).numpy())
        [1.     0.6366...]
    """
    zero = _floating(x, "sinc") == 0
    # The derivative at 0 is 0: the branch that is not taken must not divide by 0 there.
    angle = ops.multiply(logic.where(zero, creation.ones_like(x), x), _constant(_PI, x))
    return logic.where(zero, creation.ones_like(x), ops.divide(ops.sin(angle), angle))


def gammaincc(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The upper regularized incomplete gamma function Q(x, y): the share of the gamma distribution of shape `x` above `y`.

    Args:
        x: the shape, floating and not negative.
        y: floating and not negative; broadcasts with `x`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a floating Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.gammaincc`; series and continued fraction as in DLMF 8.11.4 and 8.9.2, in float64.

    Examples:
        >>> print(wherry.gammaincc(wherry.to_tensor([1.0]), wherry.to_tensor([0.5])).numpy())
        [0.6065...]
    """
    return _incomplete(x, y, True, "gammaincc")


def gammainc(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The lower regularized incomplete gamma function P(x, y): the share of the gamma distribution of shape `x` below `y`.

    Args:
        x: the shape, floating and not negative.
        y: floating and not negative; broadcasts with `x`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a floating Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.gammainc`.

    Examples:
        >>> print(wherry.gammainc(wherry.to_tensor([1.0]), wherry.to_tensor([0.5])).numpy())
        [0.3934...]
    """
    return _incomplete(x, y, False, "gammainc")


def _incomplete(x: Any, y: Any, upper: bool, op_name: str) -> Tensor:
    """P or Q, in float64; the gradient is that of the terms."""
    _floating(x, op_name)
    _floating(y, op_name, "y")
    if x.dtype is not y.dtype:
        raise InvalidTypeError(f"{op_name}: dtypes differ. Got {x.dtype.name} and {y.dtype.name}, expected one. Cast one of them.")
    shape = movement.broadcast_shape(x.shape, y.shape)
    a, t = (to_dtype(movement.broadcast_to(one, shape), float64) for one in (x, y))
    return to_dtype(_share(a, t, upper), x.dtype)


def _share(a: Tensor, t: Tensor, above: bool) -> Tensor:
    """Q(a, t), or P(a, t) for below, of float64 tensors of one shape: whichever is computed is not one minus the other where it is small."""
    one, zero = creation.ones_like(a), creation.zeros_like(a)
    inside = logic.logical_and(logic.logical_and(a > 0, t > 0), logic.isfinite(t))
    b, u = logic.where(inside, a, one), logic.where(inside, t, one)
    scale = ops.exp(b * ops.log(u) - u - ops.lgamma(b))
    rounds = 128
    if at_hand(b) and b.size:
        largest = max(float(ops.reduce_max(b, axes=tuple(range(b.ndim)), keepdim=False).item()), 1.0)
        rounds = int(min(64 + 8 * largest**0.5, 2000))  # terms fall off after about the square root of the shape
    near = u < b + 1
    # where the other form is used, arguments at which this one converges at once
    v = logic.where(near, u, 0 * u)
    term = total = 1 / b
    for k in range(1, rounds):
        term = term * v / (b + k)
        total = total + term
    lower = total * scale
    w = logic.where(near, b + 2, u)
    c, d = creation.full_like(b, 1e300), 1 / (w + 1 - b)
    h = d
    for k in range(1, rounds):
        factor = (b - k) * k
        step = w + (2 * k + 1) - b
        d = step + factor * d
        d = 1 / logic.where(d == 0, creation.full_like(d, 1e-300), d)
        c = step + factor / c
        c = logic.where(c == 0, creation.full_like(c, 1e-300), c)
        h = h * d * c
    upper = h * scale
    found = logic.where(near, 1 - lower, upper) if above else logic.where(near, lower, 1 - upper)
    edge = logic.where(logic.logical_and(t == 0, a > 0), one, zero)  # Q(a, 0) = 1, Q(a, inf) = 0, Q(0, t) = 0
    edge = edge if above else 1 - edge
    refused = logic.logical_or(logic.logical_or(a < 0, t < 0), logic.logical_or(logic.isnan(a), logic.isnan(t)))
    undefined = logic.logical_or(refused, logic.logical_and(a == 0, t == 0))
    return logic.where(undefined, zero / zero, logic.where(inside, found, edge))


def isin(x: Tensor, test_x: Tensor, assume_unique: bool = False, invert: bool = False, name: str | None = None) -> Tensor:
    """Which elements of `x` are among those of `test_x`.

    Args:
        x: numbers, or one number.
        test_x: numbers of the same kind, or one number.
        assume_unique: accepted for compatibility; no effect.
        invert: which are not.

    Shape:
        that of `x`, of bool.

    Raises:
        TypeError: neither is a Tensor, or one is not a number (also a ValueError).

    Source:
        `paddle.isin`.

    Examples:
        >>> wherry.isin(wherry.to_tensor([1, 2, 3]), wherry.to_tensor([3, 5, 1])).tolist()
        [True, False, True]
    """
    if not isinstance(x, Tensor) and not isinstance(test_x, Tensor):
        raise InvalidTypeError("isin: one of both must be a Tensor. Got two others, expected a Tensor. Make one with to_tensor.")
    x = x if isinstance(x, Tensor) else creation.full([], number(x, "isin", "x"), test_x.dtype)
    tested = test_x if isinstance(test_x, Tensor) else creation.full([], number(test_x, "isin", "test_x"), x.dtype)
    flag(invert, "isin", "invert")
    if tested.size == 0:
        found = creation.zeros_like(x, "bool")
    else:
        values = _core_sorted(movement.reshape(to_dtype(tested, x.dtype), [-1]))
        from wherry_tensor.functions.positions import gather
        from wherry_tensor.functions.search import searchsorted

        at = searchsorted(values, movement.reshape(x, [-1]))
        at = logic.where(at < values.shape[0], at, creation.full_like(at, values.shape[0] - 1))
        found = movement.reshape(gather(values, at) == movement.reshape(x, [-1]), x.shape)
    return logic.logical_not(found) if invert else found


def _core_sorted(x: Tensor) -> Tensor:
    from wherry_tensor.functions.search import sort

    return sort(x)


def bitwise_left_shift(x: Tensor, y: Tensor, is_arithmetic: bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits of `x` moved to the left by `y` places, element by element; zeros come in.

    Args:
        x, y: of one integer dtype; shapes that broadcast together. `y` is not negative.
        is_arithmetic: False counts the sign as a bit like others, which to the left makes no difference.
        out: the tensor that becomes the result.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor of an integer dtype, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.bitwise_left_shift`.

    Examples:
        >>> wherry.bitwise_left_shift(wherry.to_tensor([1, 3]), wherry.to_tensor([2, 1])).tolist()
        [4, 6]
    """
    _shifted(x, y, is_arithmetic, "bitwise_left_shift")
    result = ops.multiply(x, _power(y))
    return result if out is None else _core.rebind(require_tensor(out, "bitwise_left_shift", "out"), result)


def bitwise_right_shift(x: Tensor, y: Tensor, is_arithmetic: bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits of `x` moved to the right by `y` places, element by element.

    Args:
        x, y: of one integer dtype; shapes that broadcast together. `y` is not negative.
        is_arithmetic: whether copies of the sign come in; False: zeros.
        out: the tensor that becomes the result.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor of an integer dtype, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.bitwise_right_shift`.

    Examples:
        >>> wherry.bitwise_right_shift(wherry.to_tensor([8, -8]), wherry.to_tensor([2, 1])).tolist()
        [2, -4]
    """
    _shifted(x, y, is_arithmetic, "bitwise_right_shift")
    last = x.dtype.itemsize * 8 - 1
    few = y < last
    # By all bits but the sign, floor(x / 2^y) is 0 or -1, and 2^y has no room in a signed dtype.
    power = _power(logic.where(few, y, creation.zeros_like(y)))
    result = ops.floor_divide(x, power)
    if x.dtype.name == "uint8":
        result = logic.where(few, result, logic.where(y == last, ops.floor_divide(x, creation.full_like(x, 1 << last)), creation.zeros_like(x)))
    else:
        signs = logic.where(x < 0, creation.full_like(x, -1), creation.zeros_like(x))
        result = logic.where(movement.broadcast_to(few, result.shape), result, movement.broadcast_to(signs, result.shape))
        if not is_arithmetic:
            # what came in at the left is taken away: 2^(bits - y) - 1 are the bits that stay
            stays = _power(last + 1 - y) - 1
            moved = ops.bitwise_and(result, movement.broadcast_to(stays, result.shape))
            result = logic.where(movement.broadcast_to(y > 0, result.shape), moved, result)
    return result if out is None else _core.rebind(require_tensor(out, "bitwise_right_shift", "out"), result)


def _shifted(x: Any, y: Any, is_arithmetic: Any, op_name: str) -> None:
    flag(is_arithmetic, op_name, "is_arithmetic")
    if require_tensor(y, op_name, "y").dtype is not require_tensor(x, op_name).dtype or not x.dtype.is_integer:
        raise InvalidTypeError(
            f"{op_name}: both must be of one integer dtype. Got {x.dtype.name} and {y.dtype.name}, expected int32 and int32, say. Cast one of them."
        )


def _power(y: Tensor) -> Tensor:
    """2 to the power of `y` in its dtype, as bits: 0 where the bit falls out."""
    bits = y.dtype.itemsize * 8
    powers = [1 << k for k in range(bits)]
    if y.dtype.name != "uint8":
        powers[-1] = -powers[-1]
    from wherry_tensor.functions.positions import gather

    table = creation.to_tensor([*powers, 0], y.dtype)
    at = to_dtype(y, int64)
    at = logic.where(logic.logical_or(at < 0, at >= bits), creation.full_like(at, bits), at)
    return movement.reshape(gather(table, movement.reshape(at, [-1])), y.shape)


bitwise_left_shift_ = inplace_form(bitwise_left_shift)
bitwise_right_shift_ = inplace_form(bitwise_right_shift)
copysign_ = inplace_form(copysign)
gammainc_ = inplace_form(gammainc)
gammaincc_ = inplace_form(gammaincc)
sinc_ = inplace_form(sinc)


spelled(globals())
