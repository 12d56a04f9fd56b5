"""Checks of numbers given to functions on boxes."""
from __future__ import annotations

from typing import Any

from wherry_tensor.arguments import integer, number
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.sizes import Size

__all__ = ["count", "real", "reals"]


def real(value: Any, op_name: str, name: str) -> float:
    """A float, given as any one number that is real."""
    found = number(value, op_name, name)
    if isinstance(found, complex):
        raise InvalidTypeError(f"{op_name}: '{name}' is not a real number. Got {short(value)}, expected a float. Take its real part.")
    try:
        return float(found)
    except OverflowError:
        raise InvalidArgumentError(
            f"{op_name}: '{name}' is too large. Got {short(value)}, expected a number that a float holds. Check the order of the arguments."
        ) from None


def reals(values: Any, op_name: str, name: str, counted: int | None = None) -> list[float]:
    """Floats from a list or tuple of numbers; without `counted`, which says how many are expected, one number will do."""
    if isinstance(values, (list, tuple)):
        found = [real(value, op_name, f"{name}[{i}]") for i, value in enumerate(values)]
        if counted is None or len(found) == counted:
            return found
    elif counted is None:
        return [real(values, op_name, name)]
    error = InvalidArgumentError if isinstance(values, (list, tuple)) else InvalidTypeError
    raise error(f"{op_name}: '{name}' does not have {counted} numbers. Got {short(values)}, expected a list of {counted} floats. Write one for each.")


def count(value: Any, op_name: str, name: str, least: int = 1) -> int:
    """An int from `least` on that fits into 31 bits."""
    found = integer(value, op_name, name)
    if type(found) is not Size and not least <= found < 1 << 31:
        raise InvalidArgumentError(
            f"{op_name}: '{name}' is out of range. Got {short(value)}, expected an int >= {least} of at most 31 bits. "
            f"Check the order of the arguments."
        )
    return found
