"""Python's operators where the operands are not two tensors of one dtype.

The core answers tensors of equal dtype, and floating tensors with Python numbers; all else comes
here. The rules are those that Paddle 2.6.2 follows eagerly, found by asking it for every pair:

- Two floating or complex dtypes meet in the wider one for `+ - * @`.
- Otherwise the right operand is cast to the dtype of the left: int64 + float32 is int64, with a LossyCastWarning;
  `+ - * % **` of uint8 or int8 with floating numbers is refused, as Paddle has no kernel for it.
- `/` casts bool and integer operands on the left to float32, and the right one to the left's dtype. (Paddle
  truncates a floating divisor of an integer first: 3 / 1.5 gives 3. We do not follow it there.)
- A Python float with a bool or integer tensor casts the tensor to float32; any other Python
  number takes the tensor's dtype.
- NumPy scalars take the tensor's dtype; NumPy arrays count as tensors on the right, on either side.

Where Paddle would drop an imaginary part or has no answer, the result is complex.
"""
from __future__ import annotations

from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor, complex64, complex128, float32, float64, int64
from wherry_tensor.arguments import fitted, numpy_module, to_dtype
from wherry_tensor.dtype import promote_floating
from wherry_tensor.errors import InvalidTypeError, LossyCastWarning, short
from wherry_tensor.paddle_version import is_3
from wherry_tensor.sizes import Size
from wherry_tensor.tracebacks import warn

__all__ = ["binary"]

_SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%",
    "power": "**", "matmul": "@", "equal": "==", "not_equal": "!=", "less_than": "<", "less_equal": "<=",
    "greater_than": ">", "greater_equal": ">=", "and": "&", "or": "|", "xor": "^", "invert": "~",
}
_PROMOTING = frozenset(("add", "subtract", "multiply"))
_BITWISE = {"and": ops.bitwise_and, "or": ops.bitwise_or, "xor": ops.bitwise_xor}


def binary(name: str, x: Tensor, other: Any, reverse: bool) -> Tensor:
    """`x <name> other`, or `other <name> x` with `reverse`: what the core calls."""
    if name == "invert":
        return ops.bitwise_not(x)
    if isinstance(other, Tensor):
        y = other
    elif isinstance(other, (bool, int, float, complex, Size)):
        x, y = _with_number(name, x, other, reverse)
    else:
        x, y = _with_foreign(name, x, other, reverse)
    if name in _BITWISE:
        return _bitwise(name, x, y, reverse)
    x, y = one_index_dtype(name, x, y)
    if name == "matmul":
        return ops.matmul(y, x, False, False) if reverse else ops.matmul(x, y, False, False)
    op = getattr(ops, name)
    return op(y, x) if reverse else op(x, y)


def _with_number(name: str, x: Tensor, value: Any, reverse: bool) -> tuple[Tensor, Tensor]:
    """A tensor and a Python number, both as tensors of one dtype (division may still cast them)."""
    dtype = x.dtype
    if isinstance(value, complex) and not isinstance(value, (int, float)):
        if not dtype.is_complex:
            dtype = complex128 if dtype is float64 else complex64
    elif dtype.is_bool and not isinstance(value, (bool, float)) and name not in _BITWISE and is_3():
        dtype = int64
    elif isinstance(value, float):
        if dtype.is_integer or dtype.is_bool:
            dtype = float32
    elif name == "power" and type(value) is not Size and value < 0 and not reverse and dtype.is_integer:
        raise ValueError(
            f"**: an integer to a negative power is not an integer. Got a tensor of {dtype.name} ** {value}, "
            f"expected an exponent >= 0. Cast first, as in x.astype('float32') ** {value}."
        )
    if name == "divide" and (dtype.is_integer or dtype.is_bool):
        dtype = float32
    x = to_dtype(x, dtype)
    if name in _BITWISE and (isinstance(value, (float, complex)) or not (dtype.is_integer or dtype.is_bool)):
        raise _wrong_operand(name, x, value)
    return x, _core.scalar(fitted(value, dtype, _SYMBOLS[name]), dtype)


def _with_foreign(name: str, x: Tensor, other: Any, reverse: bool) -> tuple[Tensor, Tensor]:
    """A tensor and something that is neither a tensor nor a Python number."""
    numpy = numpy_module()
    if numpy is not None:
        if isinstance(other, numpy.generic):
            value = other.item()
            if isinstance(value, (bool, int, float, complex)):
                if isinstance(value, float) and x.dtype.is_integer:
                    if value != value or value in (float("inf"), float("-inf")):
                        raise _wrong_operand(name, x, other)
                    value = int(value)
                return _with_number(name, x, value, reverse)
        elif isinstance(other, numpy.ndarray):
            from wherry_tensor.functions.creation import to_tensor

            return x, to_tensor(other)
    raise _wrong_operand(name, x, other)


def _wrong_operand(name: str, x: Tensor, other: Any) -> InvalidTypeError:
    symbol = _SYMBOLS[name]
    got = "None" if other is None else f"{type(other).__name__} {short(other)}"
    expected = "a Tensor, bool or int" if name in _BITWISE else "a Tensor, a number or a NumPy array"
    remedy = {
        "equal": "Test `x is None` for None.", "not_equal": "Test `x is not None` for None."
    }.get(name) if other is None else None
    return InvalidTypeError(
        f"{symbol}: a tensor does not combine with this operand. Got a tensor of {x.dtype.name} and "
        f"{got if len(got) < 80 else got[:77] + '...'}, expected {expected}. "
        f"{remedy or 'Convert it with to_tensor(...) first.'}"
    )


def one_index_dtype(name: str, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x.dtype, y.dtype
    if a is not b and is_3():
        return _promoted_as_in_3(name, x, y)
    if name == "divide" and not (a.is_floating or a.is_complex):
        # Paddle divides integers in float32, whatever the other one is; complex numbers stay complex.
        dtype = b if b.is_complex else float32
        return to_dtype(x, dtype), to_dtype(y, dtype)
    if a is b:
        return x, y
    if b.is_complex and not a.is_complex:
        # Casting y to the dtype of x would lose its imaginary part.
        dtype = promote_floating(a, b) if a.is_floating else b
        return to_dtype(x, dtype), to_dtype(y, dtype)
    promotes = name in _PROMOTING or (a.is_complex and name in ("divide", "matmul"))
    if promotes and (a.is_floating or a.is_complex) and (b.is_floating or b.is_complex):
        dtype = promote_floating(a, b)
        return to_dtype(x, dtype), to_dtype(y, dtype)
    if b.is_floating and not a.is_floating and not a.is_complex:
        _lossy(name, a, b)
    return x, to_dtype(y, a)


def _promoted_as_in_3(name: str, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Two dtypes as in Paddle 3: floating ones meet in the wider one, complex ones with all, and no others."""
    a, b = x.dtype, y.dtype
    if a.is_complex or b.is_complex:
        wide = float64 in (a, b) or complex128 in (a, b)
        dtype = complex128 if wide else complex64
    elif a.is_floating and b.is_floating:
        dtype = promote_floating(a, b)
    else:
        raise InvalidTypeError(
            f"{_SYMBOLS[name]}: Type promotion only support calculations between floating-point numbers and between complex and real numbers. Got "
            f"{a.name} and {b.name}, expected one dtype. Cast one of them, as in x.astype('{(b if b.is_floating else a).name}')."
        )
    return to_dtype(x, dtype), to_dtype(y, dtype)


def _lossy(name: str, a: DType, b: DType) -> None:
    """Say that the floating numbers on the right lose their fractions; refuse where Paddle has no kernel either."""
    symbol = _SYMBOLS[name]
    if a.itemsize == 1 and not a.is_bool and name in ("add", "subtract", "multiply", "remainder", "power"):
        raise InvalidTypeError(
            f"{symbol}: {a.name} does not combine with floating numbers. Got a tensor of {a.name} {symbol} one of {b.name}, which "
            f"would lose fractions and wrap around, expected one dtype. Cast the first, as in x.astype('{b.name}') {symbol} y."
        )
    warn(
        f"{symbol}: {b.name} numbers are cast to {a.name}, the dtype on the left, and lose their fractions, as in Paddle. "
        f"Cast the first instead, as in x.astype('{b.name}') {symbol} y.",
        LossyCastWarning,
    )


def _bitwise(name: str, x: Tensor, y: Tensor, reverse: bool) -> Tensor:
    if x.dtype is not y.dtype:
        raise InvalidTypeError(
            f"{_SYMBOLS[name]}: both tensors must have one dtype. Got {x.dtype.name} and {y.dtype.name}, expected bool "
            f"or one integer dtype. Cast one of them, as in y.astype('{x.dtype.name}')."
        )
    return _BITWISE[name](y, x) if reverse else _BITWISE[name](x, y)

