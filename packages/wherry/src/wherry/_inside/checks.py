"""Checks of arguments as Paddle's own functions make them, in static programs only. Source: `paddle.base.data_feeder`."""
from __future__ import annotations

from typing import Any

import wherry
from wherry.utils.checks import check_shape
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["check_dtype", "check_shape", "check_type", "check_variable_and_dtype", "convert_dtype"]


def convert_dtype(dtype: Any) -> str:
    """The name of a dtype.

    Raises:
        TypeError: there is no such dtype.
    """
    try:
        return as_dtype(dtype, "convert_dtype").name
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(str(error)) from None


def check_type(input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = "") -> None:
    """Raise a TypeError unless the argument is of this type, or of one of these. Outside of static mode nothing is checked."""
    if wherry.in_dynamic_mode() or isinstance(input, expected_type):
        return
    names = " or ".join(kind.__name__ for kind in (expected_type if isinstance(expected_type, tuple) else (expected_type,)))
    raise InvalidTypeError(
        f"{op_name}: the type of '{input_name}' in {op_name} must be {names}. Got {short(input)} ({type(input).__name__}), expected {names}. "
        f"{extra_message or 'Pass an argument of this type.'}"
    )


def check_dtype(input_dtype: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = "") -> None:
    """Raise a TypeError unless the dtype is one of these. Outside of static mode nothing is checked."""
    if wherry.in_dynamic_mode():
        return
    allowed = [expected_dtype] if isinstance(expected_dtype, str) else list(expected_dtype)
    if convert_dtype(input_dtype) not in allowed:
        raise InvalidTypeError(
            f"{op_name}: the data type of '{input_name}' in {op_name} must be {' or '.join(allowed)}. Got {convert_dtype(input_dtype)}, expected "
            f"{' or '.join(allowed)}. {extra_message or 'Cast it with astype.'}"
        )


def check_variable_and_dtype(input: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = "") -> None:
    """`check_type` for a Tensor, then `check_dtype` of its dtype."""
    check_type(input, input_name, wherry.Tensor, op_name, extra_message)
    if not wherry.in_dynamic_mode():
        check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)
