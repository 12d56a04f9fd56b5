"""Sizes that a captured program learns when it runs.

While a program is captured, `x.shape` holds a `Size` where a size is not known. It reads as -1, as Paddle shows it, and
remembers where it comes from, so that arithmetic on it (`x.shape[0] * 2 // k`) and ops whose attributes are made of it
(`reshape`, `full`, `uniform`, `slice`, ...) are recorded as what they mean, for every size. An op says which of its
attributes may hold one: `op(..., sizes="shape")`.
"""
from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wherry_tensor import _core
from wherry_tensor._core import DType, Tensor, int32, int64

__all__ = ["Size", "equals", "has_sizes", "is_unknown", "known", "largest", "resolved", "same_shapes", "smallest", "uneven", "user_line"]

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "maximum": max,
    "minimum": min,
}


class Size:
    """A whole number of a captured program, which is not known before the program runs.

    It is equal to -1 and shows as -1, which is how code asks whether a size is known, and how Paddle shows it. Arithmetic
    with whole numbers gives a Size, with others a tensor. What needs the number itself (`int`, `range`, order, equality
    with a size, the truth of a remainder) raises. It is not an int, since Python would compute with its -1 in places
    that a class of int cannot reach, as in `0.5 * size`.

    Attributes:
        source: ("axis", x, axis), the size of an axis of a symbolic tensor; ("value", x), the value of a symbolic tensor
            of one element; or (name, a, b), an arithmetic op on two numbers or sizes.
    """

    __slots__ = ("source",)

    def __init__(self, *source: Any) -> None:
        self.source = source

    def __repr__(self) -> str:
        return "-1"

    def __format__(self, spec: str) -> str:
        return format(-1, spec)

    # What it is when the program runs.

    def value(self, find: Callable[[Tensor], Tensor]) -> int:
        """The number, when `find` gives the data of the symbolic tensors."""
        if self.source[0] == "axis":
            return int(find(self.source[1]).shape[self.source[2]])
        if self.source[0] == "value":
            return int(find(self.source[1]).item())
        name, a, b = self.source
        return _ARITHMETIC[name](_value(a, find), _value(b, find))

    def tensor(self, dtype: DType = int64) -> Tensor:
        """The number as a 0-d tensor, made by ops of the program: `shape_of`, `select` and arithmetic."""
        from wherry_tensor import ops

        if self.source[0] == "axis":
            out = ops.select(ops.shape_of(self.source[1]), axis=0, index=self.source[2])
            return out if dtype is int32 else ops.cast(out, dtype=dtype)
        if self.source[0] == "value":
            out = self.source[1]
            out = ops.reshape(out, shape=()) if out.ndim else out
        else:
            name, a, b = self.source
            out = getattr(ops, name)(_tensor(a), _tensor(b))
        return out if out.dtype is dtype else ops.cast(out, dtype=dtype)

    # Arithmetic gives sizes, or tensors where the result is not a whole number.

    def __add__(self, other: Any) -> Any:
        return self if type(other) is int and other == 0 else _combined("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if type(other) is int and other == 0 else _combined("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _combined("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        if type(other) is int and other in (0, 1):
            return self if other else 0
        return _combined("multiply", self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self if type(other) is int and other == 1 else _combined("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _combined("floor_divide", other, self)

    def __mod__(self, other: Any) -> Any:
        return 0 if type(other) is int and other == 1 else _combined("remainder", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _combined("remainder", other, self)

    def __neg__(self) -> Any:
        return _combined("multiply", self, -1)

    def __pos__(self) -> Any:
        return self

    def __truediv__(self, other: Any) -> Any:
        return _floating(self) / _operand(other)

    def __rtruediv__(self, other: Any) -> Any:
        return _operand(other) / _floating(self)

    def __pow__(self, other: Any) -> Any:  # type: ignore[override]
        return _floating(self) ** _operand(other)

    # What needs the number.

    def __lt__(self, other: Any) -> bool:
        return _compare(self, other, "<", operator.lt)

    def __le__(self, other: Any) -> bool:
        return _compare(self, other, "<=", operator.le)

    def __gt__(self, other: Any) -> bool:
        return _compare(self, other, ">", operator.gt)

    def __ge__(self, other: Any) -> bool:
        return _compare(self, other, ">=", operator.ge)

    def __eq__(self, other: object) -> bool:
        if type(other) is int and (other > 0 or (other == 0 and self.source[0] == "remainder")):
            raise _unknown(f"{self.describe()} == {other}")
        return type(other) is Size or (type(other) is int and other == -1)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(-1)

    def __bool__(self) -> bool:
        if self.source[0] == "remainder":
            raise _unknown(f"the truth of {self.describe()}")
        return True

    def __int__(self) -> int:
        raise _unknown(f"int() of {self.describe()}")

    def __index__(self) -> int:
        raise _unknown(f"the value of {self.describe()}")

    def __float__(self) -> float:
        raise _unknown(f"float() of {self.describe()}")

    def __reduce__(self) -> Any:
        raise TypeError(
            f"pickle: a size of a captured program cannot leave it. Got {self.describe()}, expected a number. "
            f"Run the program to get values."
        )

    def describe(self) -> str:
        """Where it comes from, for messages: `x.shape[0] * 2`."""
        if self.source[0] == "axis":
            return f"the size of axis {self.source[2]} of a tensor of shape {self.source[1].shape}"
        if self.source[0] == "value":
            return "the value of a captured tensor"
        return f"{self.source[0]} of ({', '.join(_described(x) for x in self.source[1:])})"


def is_unknown(n: object) -> bool:
    """Whether `n` is a size that is not known before the program runs."""
    return type(n) is Size


def has_sizes(value: object) -> bool:
    """Whether an attribute holds a Size."""
    return type(value) is Size or (type(value) is tuple and any(type(n) is Size for n in value))


def resolved(attrs: Iterable[Any], find: Callable[[Tensor], Tensor]) -> tuple[Any, ...]:
    """The attributes of a recorded op with numbers in place of sizes.

    Args:
        attrs: the attributes, in the order of the op's declaration.
        find: gives the data that stands for a symbolic tensor in this run.
    """
    return tuple(
        value.value(find) if type(value) is Size
        else tuple(_value(n, find) for n in value) if type(value) is tuple
        else value
        for value in attrs
    )


def equals(n: Any, value: int) -> bool:
    """Whether `n` is known and equal to this number."""
    return type(n) is not Size and n == value


def same_shapes(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two shapes are one, as far as it is known: an open size may be any."""
    return len(a) == len(b) and all(type(n) is Size or type(m) is Size or n == m for n, m in zip(a, b, strict=True))


def uneven(n: Any, parts: int) -> bool:
    """Whether a size is known not to come out even in so many parts."""
    return type(n) is not Size and n % parts != 0


def known(n: Any, what: str) -> int:
    """`n`, which must be known when a program is captured; `what` says what needs it."""
    if type(n) is Size:
        raise _unknown(what)
    return int(n)


def largest(a: int, b: int) -> int:
    """max(a, b), also of sizes that are not known yet."""
    return Size("maximum", a, b) if type(a) is Size or type(b) is Size else max(a, b)


def smallest(a: int, b: int) -> int:
    """min(a, b), also of sizes that are not known yet."""
    return Size("minimum", a, b) if type(a) is Size or type(b) is Size else min(a, b)


def user_line() -> str:
    """`file:line` of the innermost caller that is not part of Wherry: where the user wrote the call."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name[:7] not in ("wherry_", "wherry.", "wherry"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "an unknown line"


def needs_value(what: str, x: Tensor) -> RuntimeError:
    """The error for reading the values of a symbolic tensor: what the core raises."""
    return RuntimeError(
        f"{what}: the tensor is symbolic, and this depends on its values. Got a value of a captured program (shape "
        f"{x.shape}) at {user_line()}, expected a tensor with data. Run the program to get values; choose by values "
        f"with where() instead of if."
    )


def _unknown(what: str) -> RuntimeError:
    return RuntimeError(
        f"{what}: this depends on a size that is not known while a program is captured. Got an unknown size at "
        f"{user_line()}, expected a known one. Fix the size where the program's inputs are declared, or write the "
        f"computation so that it holds for any size."
    )


def _compare(a: Size, b: Any, symbol: str, compare: Callable[[int, int], bool]) -> bool:
    if type(b) is int and b in (-1, 0) and a.source[0] not in ("add", "subtract"):
        return compare(-1, b)
    if isinstance(b, (int, float, Size)):
        raise _unknown(f"{a.describe()} {symbol} {_described(b)}")
    return NotImplemented


def _combined(name: str, a: Any, b: Any) -> Any:
    if isinstance(a, (int, Size)) and isinstance(b, (int, Size)):
        return Size(name, a, b)
    if not (isinstance(a, (float, Size)) and isinstance(b, (float, Size))):
        return NotImplemented  # a tensor's own operators take sizes
    from wherry_tensor import ops

    return getattr(ops, name)(_floating(a), _floating(b))


def _floating(a: Any) -> Tensor:
    from wherry_tensor.dtype import default_dtype

    dtype = default_dtype()
    return a.tensor(dtype) if type(a) is Size else _core.scalar(a, dtype)


def _operand(other: Any) -> Any:
    return _floating(other) if type(other) is Size else other


def _value(a: Any, find: Callable[[Tensor], Tensor]) -> Any:
    return a.value(find) if type(a) is Size else a


def _tensor(a: Any) -> Tensor:
    return a.tensor() if type(a) is Size else _core.scalar(a, int64)


def _described(a: Any) -> str:
    return a.describe() if type(a) is Size else repr(a)


_core.set_fallback("size", Size)
_core.set_fallback("needs_value", needs_value)
