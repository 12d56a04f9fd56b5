"""Comparison, logical and bitwise functions, and questions about tensors."""
from __future__ import annotations

from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, bool_, int64
from wherry_tensor.arguments import checked, fitted, number, real_number, refused, require_tensor, to_dtype, truth
from wherry_tensor.dtype import promote_floating
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.sizes import Size, equals, is_unknown, same_shapes
from wherry_tensor.spellings import spelled

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "equal",
    "equal_all",
    "greater_equal",
    "greater_than",
    "is_empty",
    "is_tensor",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "less_equal",
    "less_than",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "where",
]


def equal(x: Tensor, y: Any, name: str | None = None) -> Tensor:
    """Equality of two tensors, element by element.

    Args:
        x: any dtype.
        y: a tensor of the same dtype whose shape broadcasts with that of `x`; or a number, which takes the
            dtype of `x`.

    Returns:
        bool, of the shape they broadcast to. NaN equals nothing.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: `x` is not a Tensor or dtypes differ (also a ValueError), or `y` is neither a tensor nor a number.
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.equal`.

    Examples:
        >>> print(wherry.equal(wherry.to_tensor([1, 2, 3]), wherry.to_tensor([1, 3, 2])).numpy())
        [ True False False]
    """
    if isinstance(y, (int, float)) and isinstance(x, Tensor):
        return x == y
    if not isinstance(y, Tensor):
        raise TypeError(
            f"equal: y is neither a tensor nor a number. Got {type(y).__name__}, expected a Tensor, float, bool or int. "
            f"Make one with to_tensor(y)."
        )
    try:
        return ops.equal(x, y)
    except TypeError as error:
        raise refused("equal", error, x=x, y=y) from None


def less_than(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Where an element of `x` is less than that of `y`.

    Args:
        x, y: both of one real dtype; shapes that broadcast together.

    Returns:
        bool, of the shape they broadcast to. A comparison with NaN is False.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.less_than`.

    Examples:
        >>> print(wherry.less_than(wherry.to_tensor([1, 2, 3]), wherry.to_tensor([1, 3, 2])).numpy())
        [False  True False]
    """
    try:
        return ops.less_than(x, y)
    except TypeError as error:
        raise refused("less_than", error, x=x, y=y) from None


def less_equal(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Less or equal: where an element of `x` is at most that of `y`. Arguments are those of `less_than`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.less_equal`.

    Examples:
        >>> print(wherry.less_equal(wherry.to_tensor([1, 2, 3]), wherry.to_tensor([1, 3, 2])).numpy())
        [ True  True False]
    """
    try:
        return ops.less_equal(x, y)
    except TypeError as error:
        raise refused("less_equal", error, x=x, y=y) from None


def greater_than(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Where an element of `x` is greater than that of `y`. Arguments are those of `less_than`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.greater_than`.

    Examples:
        >>> print(wherry.greater_than(wherry.to_tensor([1, 2, 3]), wherry.to_tensor([1, 3, 2])).numpy())
        [False False  True]
    """
    try:
        return ops.greater_than(x, y)
    except TypeError as error:
        raise refused("greater_than", error, x=x, y=y) from None


def greater_equal(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Greater or equal: where an element of `x` is at least that of `y`. Arguments are those of
    `less_than`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.greater_equal`.

    Examples:
        >>> print(wherry.greater_equal(wherry.to_tensor([1, 2, 3]), wherry.to_tensor([1, 3, 2])).numpy())
        [ True False  True]
    """
    try:
        return ops.greater_equal(x, y)
    except TypeError as error:
        raise refused("greater_equal", error, x=x, y=y) from None


def not_equal(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Not equal: where two elements differ. Arguments are those of `less_than`, and complex numbers.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.not_equal`.

    Examples:
        >>> print(wherry.not_equal(wherry.to_tensor([1, 2, 3]), wherry.to_tensor([1, 3, 2])).numpy())
        [False  True  True]
    """
    try:
        return ops.not_equal(x, y)
    except TypeError as error:
        raise refused("not_equal", error, x=x, y=y) from None


def logical_and(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Logical and: where both elements are True.

    Args:
        x, y: both of one dtype, where 0 counts as False; shapes that broadcast together.
        out: a bool tensor that takes the result.

    Returns:
        bool, of the shape they broadcast to; `out` if it is given.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.logical_and`.

    Examples:
        >>> x, y = wherry.to_tensor([True, True, False]), wherry.to_tensor([True, False, False])
        >>> print(wherry.logical_and(x, y).numpy())
        [ True False False]
    """
    try:
        return ops.logical_and(x, y) if out is None else ops.logical_and.into((out,), x, y)
    except TypeError as error:
        raise refused("logical_and", error, x=x, y=y) from None


def logical_or(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Logical or: where one element or both are True. Arguments are those of `logical_and`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.logical_or`.

    Examples:
        >>> x, y = wherry.to_tensor([True, True, False]), wherry.to_tensor([True, False, False])
        >>> print(wherry.logical_or(x, y).numpy())
        [ True  True False]
    """
    try:
        return ops.logical_or(x, y) if out is None else ops.logical_or.into((out,), x, y)
    except TypeError as error:
        raise refused("logical_or", error, x=x, y=y) from None


def logical_xor(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Logical exclusive or: where exactly one element is True. Arguments are those of `logical_and`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.logical_xor`.

    Examples:
        >>> x, y = wherry.to_tensor([True, True, False]), wherry.to_tensor([True, False, False])
        >>> print(wherry.logical_xor(x, y).numpy())
        [False  True False]
    """
    try:
        return ops.logical_xor(x, y) if out is None else ops.logical_xor.into((out,), x, y)
    except TypeError as error:
        raise refused("logical_xor", error, x=x, y=y) from None


def logical_not(x: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Logical not: where an element is False (0).

    Args:
        x: any dtype.
        out: a bool tensor that takes the result.

    Returns:
        bool, of the shape of `x`; `out` if it is given.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).

    Source:
        `paddle.logical_not`.

    Examples:
        >>> print(wherry.logical_not(wherry.to_tensor([True, False])).numpy())
        [False  True]
    """
    try:
        return ops.logical_not(x) if out is None else ops.logical_not.into((out,), x)
    except TypeError as error:
        raise checked("logical_not", x, error) from None


def bitwise_and(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Bits that are set in both elements.

    Args:
        x, y: both bool or both of one integer dtype; shapes that broadcast together.
        out: a tensor of that dtype that takes the result.

    Returns:
        Their dtype, and the shape they broadcast to; `out` if it is given.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError), or they are floating or complex.
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.bitwise_and`.

    Examples:
        >>> print(wherry.bitwise_and(wherry.to_tensor([5, 6]), wherry.to_tensor([3, 3])).numpy())
        [1 2]
    """
    try:
        return ops.bitwise_and(x, y) if out is None else ops.bitwise_and.into((out,), x, y)
    except TypeError as error:
        raise refused("bitwise_and", error, x=x, y=y) from None


def bitwise_or(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Bits that are set in one element or both. Arguments are those of `bitwise_and`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are floating or complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.bitwise_or`.

    Examples:
        >>> print(wherry.bitwise_or(wherry.to_tensor([5, 6]), wherry.to_tensor([3, 3])).numpy())
        [7 7]
    """
    try:
        return ops.bitwise_or(x, y) if out is None else ops.bitwise_or.into((out,), x, y)
    except TypeError as error:
        raise refused("bitwise_or", error, x=x, y=y) from None


def bitwise_xor(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Bits that are set in exactly one element. Arguments are those of `bitwise_and`.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or they are floating or complex (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.bitwise_xor`.

    Examples:
        >>> print(wherry.bitwise_xor(wherry.to_tensor([5, 6]), wherry.to_tensor([3, 3])).numpy())
        [6 5]
    """
    try:
        return ops.bitwise_xor(x, y) if out is None else ops.bitwise_xor.into((out,), x, y)
    except TypeError as error:
        raise refused("bitwise_xor", error, x=x, y=y) from None


def bitwise_not(x: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Bits that are not set; for bool, the other truth value.

    Args:
        x: bool or integer.
        out: a tensor of that dtype that takes the result.

    Returns:
        The shape and dtype of `x`; `out` if it is given.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError), or `x` is floating or complex.

    Source:
        `paddle.bitwise_not`.

    Examples:
        >>> print(wherry.bitwise_not(wherry.to_tensor([5, -1])).numpy())
        [-6  0]
    """
    try:
        return ops.bitwise_not(x) if out is None else ops.bitwise_not.into((out,), x)
    except TypeError as error:
        raise checked("bitwise_not", x, error) from None


def isnan(x: Tensor, name: str | None = None) -> Tensor:
    """Where an element is NaN.

    Args:
        x: any dtype; integers are finite.

    Returns:
        bool, of the shape of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.isnan`.

    Examples:
        >>> print(wherry.isnan(wherry.to_tensor([1.0, float("nan")])).numpy())
        [False  True]
    """
    try:
        return ops.isnan(x)
    except TypeError as error:
        raise checked("isnan", x, error) from None


def isinf(x: Tensor, name: str | None = None) -> Tensor:
    """Where an element is infinity or minus infinity.

    Args:
        x: any dtype; integers are finite.

    Returns:
        bool, of the shape of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.isinf`.

    Examples:
        >>> print(wherry.isinf(wherry.to_tensor([1.0, float("-inf")])).numpy())
        [False  True]
    """
    try:
        return ops.isinf(x)
    except TypeError as error:
        raise checked("isinf", x, error) from None


def isfinite(x: Tensor, name: str | None = None) -> Tensor:
    """Where an element is neither NaN nor infinite.

    Args:
        x: any dtype; integers are finite.

    Returns:
        bool, of the shape of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.isfinite`.

    Examples:
        >>> print(wherry.isfinite(wherry.to_tensor([1.0, float("inf")])).numpy())
        [ True False]
    """
    try:
        return ops.isfinite(x)
    except TypeError as error:
        raise checked("isfinite", x, error) from None


def _tolerances(x: Any, y: Any, rtol: Any, atol: Any, op_name: str) -> tuple[float, float]:
    require_tensor(x, op_name)
    require_tensor(y, op_name, "y")
    if x.dtype is not y.dtype:
        raise refused(op_name, TypeError(), x=x, y=y)
    return real_number(rtol, op_name, "rtol"), real_number(atol, op_name, "atol")


def isclose(
    x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> Tensor:
    """Where `|x - y| <= atol + rtol * |y|`.

    Args:
        x, y: both of one dtype; shapes that broadcast together.
        rtol: the difference allowed, as a part of `|y|`.
        atol: the difference allowed besides.
        equal_nan: whether two NaN are close.

    Returns:
        bool, of the shape they broadcast to. Equal infinities are close.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.isclose`.

    Examples:
        >>> print(wherry.isclose(wherry.to_tensor([1.0, 2.0]), wherry.to_tensor([1.0000001, 2.1])).numpy())
        [ True False]
    """
    rtol, atol = _tolerances(x, y, rtol, atol, "isclose")
    if not (x.dtype.is_floating or x.dtype.is_complex):
        # In integers the difference may overflow.
        x, y = to_dtype(x, _core.float64), to_dtype(y, _core.float64)
    # An infinite difference is within no tolerance, not even the infinite one beside an infinite y.
    far = ops.abs(ops.subtract(x, y))
    near = ops.logical_and(far <= atol + rtol * ops.abs(y), ops.isfinite(far))
    close = ops.logical_or(near, ops.equal(x, y))
    if truth(equal_nan, "isclose", "equal_nan"):
        close = ops.logical_or(close, ops.logical_and(ops.isnan(x), ops.isnan(y)))
    return close


def allclose(
    x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> Tensor:
    """Whether all elements are close. Arguments are those of `isclose`.

    Returns:
        bool, 0-d.

    Shape:
        `[...]` and `[...]`, which broadcast, to `[]`.

    Raises:
        TypeError: an argument is not a Tensor, dtypes differ, or a tolerance is not a number (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.allclose`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0])
        >>> bool(wherry.allclose(x, x + 1e-9))
        True
    """
    rtol, atol = _tolerances(x, y, rtol, atol, "allclose")
    close = isclose(x, y, rtol, atol, equal_nan)
    return ops.reduce_all(close, tuple(range(close.ndim)), False)


def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether two tensors have one shape and equal elements.

    Args:
        x, y: both of one dtype, any shapes.

    Returns:
        bool, 0-d.

    Shape:
        `[...]` and `[...]` to `[]`.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).

    Source:
        `paddle.equal_all`.

    Examples:
        >>> bool(wherry.equal_all(wherry.to_tensor([1, 2]), wherry.to_tensor([1, 2])))
        True
        >>> bool(wherry.equal_all(wherry.to_tensor([1, 2]), wherry.to_tensor([1])))
        False
    """
    require_tensor(x, "equal_all")
    require_tensor(y, "equal_all", "y")
    if x.dtype is not y.dtype:
        raise refused("equal_all", TypeError(), x=x, y=y)
    known = not (_core.is_symbolic(x) or _core.is_symbolic(y))
    if not (x.shape == y.shape if known else same_shapes(x.shape, y.shape)):
        return _core.scalar(False, bool_)
    if known or not any(is_unknown(n) or is_unknown(m) for n, m in zip(x.shape, y.shape, strict=True)):
        return ops.reduce_all(ops.equal(x, y), tuple(range(x.ndim)), False)
    # A program compares what it is given if the sizes are those of the other one then, and otherwise first elements: some element, for Paddle.
    alike = ops.reduce_all(ops.equal(ops.shape_of(x), ops.shape_of(y)), (0,), False)
    end = Size("value", ops.where(alike, _core.scalar(2**31 - 1, int64), _core.scalar(1, int64)))
    x, y = (ops.slice(ops.reshape(z, (-1,)), axes=(0,), starts=(0,), ends=(end,), steps=(1,)) for z in (x, y))
    return ops.logical_and(alike, ops.reduce_all(ops.equal(x, y), (0,), False))


def where(condition: Tensor, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Elements of `x` where `condition` is True, of `y` elsewhere.

    Args:
        condition: bool; where shapes broadcast, numbers too, of which those other than 0 stand for True, as in Paddle.
        x, y: tensors of one dtype, or numbers; shapes that broadcast together with that of `condition`. Two
            floating dtypes meet in the wider one, and a Python float counts as float64, as in Paddle.

    Returns:
        The dtype of `x` and `y`, and the shape they broadcast to. Without both, the positions where
        `condition` is True, as `nonzero(condition, as_tuple=True)` gives them.

    Shape:
        `condition`, `x` and `y` to the shape they broadcast to; `condition` alone, `[...]` of rank r, to r
        tensors of `[n]`.

    Raises:
        TypeError: `condition` is not a bool Tensor, or dtypes differ (also a ValueError).
        ValueError: only one of `x` and `y` is given, or the shapes do not broadcast.

    Source:
        `paddle.where`.

    Examples:
        >>> x, y = wherry.to_tensor([1, 2, 3]), wherry.to_tensor([10, 20, 30])
        >>> print(wherry.where(x > 1, x, y).numpy())
        [10  2  3]
    """
    require_tensor(condition, "where", "condition")
    if condition.dtype is not bool_:
        shapes = [t.shape if isinstance(t, Tensor) else [] for t in (x, y)]
        if x is None or y is None or shapes[0] == shapes[1] == condition.shape:
            raise InvalidTypeError(
                f"where: condition must be bool. Got dtype {condition.dtype.name}, expected bool. Compare it, as in x > 0."
            )
        condition = ops.cast(condition, dtype=bool_)  # Paddle refuses numbers as well, but where it broadcasts it takes those other than 0
    if x is None and y is None:
        from wherry_tensor.functions.search import nonzero

        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise InvalidArgumentError(
            f"where: either both or neither of x and y should be given. Got only {'y' if x is None else 'x'}, expected two "
            f"tensors or numbers. Call nonzero for positions."
        )
    x, y = _choice(x, "x"), _choice(y, "y")
    if x.dtype is not y.dtype and x.dtype.is_floating and y.dtype.is_floating:
        dtype = promote_floating(x.dtype, y.dtype)
        x, y = to_dtype(x, dtype), to_dtype(y, dtype)
    try:
        return ops.where(condition, x, y)
    except TypeError as error:
        raise refused("where", error, x=x, y=y) from None


def _choice(value: Any, which: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    value = number(value, "where", which)
    dtype = {bool: bool_, int: _core.int64, float: _core.float64}.get(type(value), _core.complex128)
    return _core.scalar(fitted(value, dtype, "where"), dtype)


def is_tensor(x: Any) -> bool:
    """Whether `x` is a Tensor.

    Source:
        `paddle.is_tensor`.

    Examples:
        >>> wherry.is_tensor(wherry.zeros([1])), wherry.is_tensor([1])
        (True, False)
    """
    return isinstance(x, Tensor)


def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """Whether `x` has no elements.

    Returns:
        bool, 0-d.

    Shape:
        `[...]` to `[]`.

    Raises:
        TypeError: `x` is not a Tensor (also a ValueError).

    Source:
        `paddle.is_empty`.

    Examples:
        >>> bool(wherry.is_empty(wherry.zeros([0, 3])))
        True
    """
    sizes = require_tensor(x, "is_empty").shape
    if not any(is_unknown(n) for n in sizes) or any(equals(n, 0) for n in sizes):
        return _core.scalar(any(n == 0 for n in sizes if not is_unknown(n)), bool_)
    return ops.reduce_any(ops.equal(ops.shape_of(x), _core.scalar(0, _core.int32)), axes=(0,), keepdim=False)


spelled(globals(), ops_of={
    **{name: getattr(ops, name) for name in """bitwise_and bitwise_not bitwise_or bitwise_xor greater_equal greater_than isfinite isinf isnan
        less_equal less_than logical_and logical_not logical_or logical_xor not_equal""".split()},
})
