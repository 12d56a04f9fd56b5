"""Lists of tensors, which programs write down: `paddle.tensor.create_array` and its relatives."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_graph.static import arrays as programs
from wherry_program.program.capture import current_capture
from wherry_tensor import Tensor
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["array_length", "array_read", "array_write", "create_array"]


def _at_once() -> bool:
    """Whether lists are Python's; a program has its own, whose places may be computed."""
    return current_capture() is None


def create_array(dtype: Any, initialized_list: Sequence[Tensor] | None = None) -> Any:
    """A list of tensors; in a program a variable that holds one. Source: `paddle.tensor.create_array`."""
    given = list(initialized_list or [])
    return given if _at_once() else programs.create_array(dtype, given)


def array_write(x: Tensor, i: Tensor, array: Any = None) -> Any:
    """The list with `x` at place `i`, where it may grow by one. Source: `paddle.tensor.array_write`.

    Raises:
        ValueError: the place lies after the end.
    """
    if not _at_once():
        return programs.array_write(x, i, array)
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
    if _at_once():
        return array[int(i.item())]
    return programs.array_read(array, i)


def array_length(array: Any) -> Any:
    """How many tensors there are. Source: `paddle.tensor.array_length`, which gives a number in dynamic mode."""
    return len(array) if _at_once() else programs.array_length(array)
