"""Lists of tensors of programs, under Paddle's names (`LoDTensorArray`): a list that is written to is the longer list from then on."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_program.program.capture import current_capture
from wherry_program.program.control import arrays as control
from wherry_program.program.ir import Variable
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.sizes import user_line

__all__ = ["array_length", "array_read", "array_write", "create_array"]


def create_array(dtype: Any, initialized_list: Sequence[Tensor] | None = None) -> Variable:
    """In a program: a list of tensors.

    Args:
        dtype: of the tensors.
        initialized_list: what it holds at the beginning.

    Source:
        `paddle.tensor.create_array`.
    """
    given = list(initialized_list or [])
    for x in given:
        if not isinstance(x, Tensor):
            raise InvalidTypeError(
                f"create_array: All values in `initialized_list` should be Variable. Got {short(x)} ({type(x).__name__}), expected tensors. "
                f"Make them with to_tensor."
            )
    return _remembering(control.create_array(as_dtype(dtype, "create_array"), given), given[0].shape if given else None)


def array_write(x: Tensor, i: Tensor | None, array: Any = None) -> Variable:
    """In a program: `array` with `x` at place `i`, at most its length.

    Args:
        x: the tensor.
        i: the place, an integer of one element; None is the end.
        array: a list; None makes one.

    Returns:
        The list, which is `array` itself from now on.

    Raises:
        TypeError: `array` is not a list of the program.
        ValueError: the list was made outside of the loop or choice that writes to it.

    Source:
        `paddle.tensor.array_write`.
    """
    array = create_array(x.dtype) if array is None else _list("array_write", array)
    recording = current_capture()
    if recording is not None and recording.block is not array.block and array.bound is None:
        raise InvalidArgumentError(
            f"array_write: the list was made outside of the loop or choice that writes to it. Got '{array.name}' at {user_line()}, expected one "
            f"that the loop hands on. Write `array = array_write(x, i, array)` in a loop, or append to a Python list."
        )
    longer = _remembering(control.array_append(array, x) if i is None else control.array_write(array, _place(i), x), x.shape)
    array.became(longer)
    return longer


def array_read(array: Any, i: Tensor) -> Tensor:
    """In a program: the tensor at place `i` of a list.

    Source:
        `paddle.tensor.array_read`.
    """
    array = _list("array_read", array)
    shape = array.__dict__.get("item_shape")
    if shape is None:
        raise InvalidArgumentError(
            f"array_read: nothing was written to the list, so the shape of its tensors is not known. Got '{array.name}' at {user_line()}, "
            f"expected a list with a tensor in it. Call array_write first."
        )
    return control.array_read(array, _place(i), shape)


def array_length(array: Any) -> Tensor:
    """In a program: how many tensors a list has, int64 `[1]`.

    Source:
        `paddle.tensor.array_length`.
    """
    return ops.reshape(control.array_length(_list("array_length", array)), shape=(1,))


def array_pop(array: Any, *args: Any) -> Any:
    """Not available: no operator of a program makes a list shorter.

    Raises:
        NotImplementedError: always.
    """
    raise UnimplementedError(
        "pop: lists of programs do not become shorter. Got a call of pop, expected reads and writes. Read the last tensor with "
        "array_read(array, array_length(array) - 1)."
    )


def _list(what: str, array: Any) -> Variable:
    if not isinstance(array, Variable) or not array.is_array:
        raise InvalidTypeError(
            f"{what}: array should be tensor array variable in static graph mode. Got {short(array)} ({type(array).__name__}), expected a list "
            f"of tensors. Make one with paddle.tensor.create_array."
        )
    return array.current


def _place(i: Tensor) -> Tensor:
    return ops.reshape(i, shape=()) if i.ndim else i


def _remembering(array: Variable, shape: Any) -> Variable:
    if shape is not None:
        array.__dict__["item_shape"] = tuple(n if type(n) is int else -1 for n in shape)
    return array
