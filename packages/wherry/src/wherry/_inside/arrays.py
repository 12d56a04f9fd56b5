"""Lists of tensors, which static programs write down: `paddle.tensor.create_array` and its relatives."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wherry
from wherry_program.program.control import arrays as control
from wherry_tensor import Tensor
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["array_length", "array_read", "array_write", "create_array"]


def create_array(dtype: Any, initialized_list: Sequence[Tensor] | None = None) -> Any:
    """A list of tensors; in static mode a variable that holds one. Source: `paddle.tensor.create_array`."""
    given = list(initialized_list or [])
    return given if wherry.in_dynamic_mode() else control.create_array(dtype, given)


def array_write(x: Tensor, i: Tensor, array: Any = None) -> Any:
    """The list with `x` at place `i`, where it may grow by one. Source: `paddle.tensor.array_write`.

    Raises:
        ValueError: the place lies behind the end.
    """
    if not wherry.in_dynamic_mode():
        return control.array_write(control.create_array(x.dtype) if array is None else array, i, x)
    array = [] if array is None else array
    at = int(i.item())
    if at > len(array):
        raise InvalidArgumentError(
            f"array_write: the index is too large. Got {at}, expected at most {len(array)}, the length. Write one after the other."
        )
    array[at:at + 1] = [x]
    return array


def array_read(array: Any, i: Tensor) -> Tensor:
    """The tensor at place `i`. Source: `paddle.tensor.array_read`."""
    if wherry.in_dynamic_mode():
        return array[int(i.item())]
    return control.array_read(array, i, list(array.shape))


def array_length(array: Any) -> Any:
    """How many tensors there are. Source: `paddle.tensor.array_length`, which gives a number in dynamic mode."""
    return len(array) if wherry.in_dynamic_mode() else control.array_length(array)
