"""Special functions of elements, and the parts of floating numbers."""
from __future__ import annotations

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, float32, float64
from wherry_tensor.arguments import checked, integer, refused, require_tensor, to_dtype
from wherry_tensor.errors import InvalidTypeError
from wherry_tensor.spellings import spelled

__all__ = ["frexp", "i0", "i0e", "i1", "i1e", "nextafter", "polygamma"]


def i0(x: Tensor, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind of order 0, of each element.

    Args:
        x: float32 or float64.

    Returns:
        The shape and dtype of `x`; infinity for what is too large, and for infinities, where Paddle gives NaN.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or of another dtype.

    Source:
        `paddle.i0`.

    Examples:
        >>> print(wherry.i0(wherry.to_tensor([0.0, 1.0])).numpy())
        [1.       1.26606...]
    """
    try:
        return ops.i0(x)
    except TypeError as error:
        raise checked("i0", x, error) from None


def i0e(x: Tensor, name: str | None = None) -> Tensor:
    """`i0(x) * exp(-abs(x))`, which stays finite.

    Args:
        x: float32 or float64.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or of another dtype.

    Source:
        `paddle.i0e`.

    Examples:
        >>> print(wherry.i0e(wherry.to_tensor([0.0, 100.0])).numpy())
        [1.         0.03994...]
    """
    try:
        return ops.i0e(x)
    except TypeError as error:
        raise checked("i0e", x, error) from None


def i1(x: Tensor, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind of order 1, of each element.

    Args:
        x: float32 or float64.

    Returns:
        The shape and dtype of `x`; infinity for what is too large, and for infinities, where Paddle gives NaN.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or of another dtype.

    Source:
        `paddle.i1`.

    Examples:
        >>> print(wherry.i1(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.56515...]
    """
    try:
        return ops.i1(x)
    except TypeError as error:
        raise checked("i1", x, error) from None


def i1e(x: Tensor, name: str | None = None) -> Tensor:
    """`i1(x) * exp(-abs(x))`, which stays finite.

    Args:
        x: float32 or float64.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or of another dtype.

    Source:
        `paddle.i1e`.

    Examples:
        >>> print(wherry.i1e(wherry.to_tensor([0.0, 100.0])).numpy())
        [0.         0.03974...]
    """
    try:
        return ops.i1e(x)
    except TypeError as error:
        raise checked("i1e", x, error) from None


def polygamma(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The n-th derivative of `digamma`, of each element.

    Args:
        x: floating.
        n: from 0, which is `digamma` itself, to 170, beyond which values are too large.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError) or not floating, or `n` is not an int.
        ValueError: `n` is out of range.

    Source:
        `paddle.polygamma`.

    Examples:
        >>> print(wherry.polygamma(wherry.to_tensor([1.0, 2.0]), 1).numpy())
        [1.6449... 0.6449...]
    """
    require_tensor(x, "polygamma")
    return ops.polygamma(x, n=integer(n, "polygamma", "n"))


def nextafter(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The next number that the dtype holds after `x` in the direction of `y`.

    Args:
        x, y: both float32 or both float64; shapes that broadcast together.

    Returns:
        Their dtype; `y` where both are equal, NaN where one of them is. There is no gradient, as in Paddle.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError), or they are others.
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.nextafter`.

    Examples:
        >>> print(wherry.nextafter(wherry.to_tensor([1.0]), wherry.to_tensor([2.0])).numpy())
        [1.0000001]
    """
    try:
        return ops.nextafter(x, y)
    except TypeError as error:
        raise refused("nextafter", error, x=x, y=y) from None


def frexp(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mantissas and exponents: `x == mantissa * 2 ** exponent` with mantissas in [0.5, 1).

    Args:
        x: float32 or float64.

    Returns:
        Mantissas and exponents, both in the dtype of `x`: 0 and 0 of zeros, infinity and 1 of infinities, NaN of NaN.

    Shape:
        `[...]` to twice the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError), or of another dtype.

    Source:
        `paddle.frexp`.

    Examples:
        >>> mantissa, exponent = wherry.frexp(wherry.to_tensor([3.0, -0.25]))
        >>> print(mantissa.numpy(), exponent.numpy())
        [ 0.75 -0.5 ] [ 2. -1.]
    """
    require_tensor(x, "frexp")
    if x.dtype is not float32 and x.dtype is not float64:
        raise InvalidTypeError(
            f"frexp: x must hold floating numbers. Got dtype {x.dtype.name}, expected float32 or float64. "
            f"Cast it with astype('float32')."
        )
    # float64 has powers of two for every float32, and they are exact.
    wide = to_dtype(x, float64)
    size = ops.abs(wide.detach())
    one = ops.full_like(size, 1.0, float64)
    zero = ops.full_like(size, 0.0, float64)
    plain = ops.logical_and(ops.isfinite(size), size > 0.0)
    exponent = ops.floor(ops.log2(ops.where(plain, size, one))) + 1.0
    # The logarithm rounds: next to a power of two it may be that of the power.
    scaled = _scaled(ops.where(plain, size, one * 0.5), exponent)
    exponent = ops.where(scaled >= 1.0, exponent + 1.0, ops.where(scaled < 0.5, exponent - 1.0, exponent))
    exponent = ops.where(plain, exponent, zero)
    mantissa = _scaled(wide, exponent)
    exponent = ops.where(ops.isinf(size), one, ops.where(ops.isnan(size), size, exponent))
    return to_dtype(mantissa, x.dtype), to_dtype(exponent, x.dtype)


def _scaled(x: Tensor, exponent: Tensor) -> Tensor:
    """`x * 2 ** -exponent` in two steps, of which neither power leaves the range of float64."""
    half = ops.floor(exponent * 0.5)
    two = _core.scalar(2.0, float64)
    return x * ops.power(two, ops.negative(half)) * ops.power(two, half - exponent)


spelled(globals(), ops_of={
    **{name: getattr(ops, name) for name in """i0 i0e i1 i1e nextafter""".split()},
})
