"""Tables of other libraries, and nested lists, as arrays of samples."""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_tensor._core import Tensor
from wherry_tensor.dtype import get_default_dtype
from wherry_tensor.errors import InvalidTypeError

__all__ = ["array_of_rows", "array_of_table", "is_table"]


def is_table(value: Any) -> bool:
    """Whether a value of another library says how it is an array: a DataFrame or Series of pandas or polars, a tensor of PyTorch."""
    if isinstance(value, (np.ndarray, np.generic, Tensor)) or not hasattr(type(value), "__array__"):
        return False
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and len(shape) > 0


def array_of_table(value: Any, what: str) -> np.ndarray:
    """The numbers of a table; float64 becomes the default dtype, as in `to_tensor` of a list.

    Raises:
        TypeError: a column holds something other than numbers; the message names it.
    """
    columns = list(zip(map(str, value.columns), value.dtypes)) if hasattr(value, "columns") and hasattr(value, "dtypes") else []
    others = [f"'{name}' ({dtype})" for name, dtype in columns if getattr(dtype, "kind", "f") not in "biuf"]
    array = np.asarray(value)
    if array.dtype == object and columns and not others:  # numbers of several dtypes, bools among them
        array = np.asarray(value, np.float64)
    if array.dtype.kind not in "biufc":
        got = f"columns {', '.join(others)}" if others else f"{type(value).__name__} of dtype {array.dtype}"
        raise InvalidTypeError(
            f"{what} holds something other than numbers. Got {got}, expected numbers alone. "
            f"Encode text and dates first, with pandas.get_dummies(x), say."
        )
    return array.astype(get_default_dtype()) if array.dtype == np.float64 else array


def array_of_rows(value: Any) -> Any:
    """Nested lists of numbers as an array; everything else as it is."""
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if first is value or not isinstance(first, (bool, int, float, np.number)):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return value
    return array.astype(get_default_dtype()) if array.dtype == np.float64 else array
