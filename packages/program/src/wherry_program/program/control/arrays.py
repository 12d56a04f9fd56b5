"""Lists of tensors that grow while a program runs (Paddle's `LoDTensorArray`).

Every node makes a list of its own. The cotangent of a list is a list of the same length.
"""
from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from wherry_nn import unique_name
from wherry_program.program.capture import ON_ARRAYS, Capture
from wherry_program.program.control.recording import by_input, recorded, recording_of, rules
from wherry_program.program.ir import ControlOp, Node, Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64

__all__ = ["array_append", "array_at", "array_length", "array_read", "array_stack", "array_write", "create_array"]

ARRAY_CREATE = ControlOp("create_array")
ARRAY_APPEND = ControlOp("array_append")
ARRAY_WRITE = ControlOp("array_write")
ARRAY_READ = ControlOp("array_read")
ARRAY_LENGTH = ControlOp("array_length")
ARRAY_STACK = ControlOp("array_stack", ("axis", "concat"))
# What gradients of lists are made of.
ARRAY_ZEROS = ControlOp("array_zeros")  # a list of zeros, of the shapes of another one
ARRAY_ADD = ControlOp("array_add")  # sums, position by position
ARRAY_HEAD = ControlOp("array_head")  # as many of the first tensors of a list as another one has
ARRAY_PAD = ControlOp("array_pad")  # a list, with zeros of the shapes of another one after it, up to its length
ARRAY_UNSTACK = ControlOp("array_unstack", ("axis", "concat"))  # a tensor in the pieces that `array_stack` put together


def create_array(dtype: Any, values: Sequence[Tensor] = ()) -> Variable:
    """In a capture: a list of tensors that grows while the program runs (Paddle's `LoDTensorArray`)."""
    recording = recording_of("create_array")
    out = _new_array(recording, dtype)
    return recorded(recording, ARRAY_CREATE, tuple(values), (), out)


def array_append(array: Variable, x: Tensor) -> Variable:
    """In a capture: `array` with `x` appended; `array` itself does not change."""
    recording = recording_of("array_append")
    out = _new_array(recording, array.dtype)
    return recorded(recording, ARRAY_APPEND, (array, x), (), out)


def array_write(array: Variable, i: Tensor, x: Tensor) -> Variable:
    """In a capture: `array` with `x` at position `i`, which is at most its length; `array` itself does not change."""
    recording = recording_of("array_write")
    out = _new_array(recording, array.dtype)
    return recorded(recording, ARRAY_WRITE, (array, i, x), (), out)


def array_read(array: Variable, i: Tensor, shape: Sequence[int], of_arrays: bool = False) -> Tensor:
    """In a capture: the tensor at position `i` of a list; `shape` is what is known of it (-1: unknown). `of_arrays`: a list of lists."""
    recording = recording_of("array_read")
    out = recording.block.variable(shape, array.dtype, unique_name.generate("array_read") + ".tmp_0", is_array=of_arrays)
    return recorded(recording, ARRAY_READ, (array, i), (), out)


def array_length(array: Variable) -> Tensor:
    """In a capture: the length of a list, int64, 0-d."""
    recording = recording_of("array_length")
    out = recording.block.variable((), int64, unique_name.generate("array_length") + ".tmp_0")
    recording.record(ARRAY_LENGTH, (array,), (), (out,))
    return out


def array_stack(array: Variable, shape: Sequence[int], axis: int = 0, concat: bool = False) -> Tensor:
    """In a capture: the tensors of a list along a new axis (or, with `concat`, along an axis that they have).

    Args:
        array: the list.
        shape: of the result, as far as it is known (-1: unknown).
        axis: not negative.
        concat: join them along `axis`.
    """
    recording = recording_of("array_stack")
    out = recording.block.variable(shape, array.dtype, unique_name.generate("array_stack") + ".tmp_0")
    return recorded(recording, ARRAY_STACK, (array,), (axis, concat), out)


def _new_array(recording: Capture, dtype: Any) -> Variable:
    return recording.block.variable((), dtype, unique_name.generate("array") + ".tmp_0", is_array=True)


def _of_arrays(op: ControlOp, *inputs: Any, attrs: tuple[Any, ...] = ()) -> Any:
    """A list that is made of others."""
    recording = recording_of(op.name)
    return recorded(recording, op, inputs, attrs, _new_array(recording, inputs[0].dtype))


def array_at(array: Any, i: Any, like: Variable) -> Tensor:
    """In a capture: the tensor at position `i` of a list, which has what is known of `like`."""
    return array_read(array, i, like.sizes, of_arrays=like.is_array)


def _zeros_of(x: Tensor) -> Tensor:
    return ops.full_like(x, value=0, dtype=x.dtype)


def _array_create_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    places = [ops.full(shape=(), value=i, dtype=int64) for i in range(len(node.inputs))]
    return by_input(node, wanted, [array_at(cotangents[0], i, x) for i, x in zip(places, node.inputs, strict=True)])  # type: ignore[arg-type]


def _array_append_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    array, x = node.inputs
    last = array_at(cotangents[0], array_length(array), x)  # type: ignore[arg-type]
    return by_input(node, wanted, [_of_arrays(ARRAY_HEAD, cotangents[0], array), last])


def _array_write_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    array, i, x = node.inputs
    written = array_at(cotangents[0], i, x)  # type: ignore[arg-type]
    others = _of_arrays(ARRAY_HEAD, array_write(cotangents[0], i, _zeros_of(written)), array)  # type: ignore[arg-type]
    return by_input(node, wanted, [others, None, written])


def _array_read_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    array, i = node.inputs
    return by_input(node, wanted, [array_write(_of_arrays(ARRAY_ZEROS, array), i, cotangents[0]), None])  # type: ignore[arg-type]


def _array_stack_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    recording = recording_of("array_unstack")
    out = _new_array(recording, node.outputs[0].dtype)
    return [recorded(recording, ARRAY_UNSTACK, (cotangents[0], node.inputs[0]), node.attrs, out)]  # type: ignore[arg-type]


def _array_unstack_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    x = node.inputs[0]
    assert x is not None
    return by_input(node, wanted, [array_stack(cotangents[0], x.sizes, *node.attrs), None])


def _array_add_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    return by_input(node, wanted, [cotangents[0], cotangents[0]])


def _array_head_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    return by_input(node, wanted, [_of_arrays(ARRAY_PAD, cotangents[0], node.inputs[0]), None])


def _array_pad_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    return by_input(node, wanted, [_of_arrays(ARRAY_HEAD, cotangents[0], node.inputs[0]), None])


# Sums and zeros, which autograd makes of all cotangents.
ON_ARRAYS[ops.add] = lambda a, b: _of_arrays(ARRAY_ADD, a, b)
ON_ARRAYS[ops.full_like] = lambda x: _of_arrays(ARRAY_ZEROS, x)


# Running them.

def _run_array_create(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = [run.value_of(x, env) for x in node.inputs]


def _run_array_append(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, x = (run.value_of(y, env) for y in node.inputs)
    env[id(node.outputs[0])] = [*array, x]


def _run_array_write(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, i, x = (run.value_of(y, env) for y in node.inputs)
    at = int(i)
    at = at + len(array) if at < 0 else at
    if not 0 <= at <= len(array):
        raise IndexError(f"array_write: the position is out of range. Got {at}, expected 0 to {len(array)}, the length of the list.")
    env[id(node.outputs[0])] = [*array[:at], x, *array[at + 1 :]]


def _run_array_read(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, i = (run.value_of(y, env) for y in node.inputs)
    at = int(i)
    if not -len(array) <= at < len(array):
        raise IndexError(f"array_read: the position is out of range. Got {at} for a list of {len(array)}, expected less than that.")
    env[id(node.outputs[0])] = array[at]


def _run_array_length(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = _core.scalar(len(run.value_of(node.inputs[0], env)), int64)


def _run_array_stack(run: Any, node: Node, env: dict[int, Any]) -> None:
    array = run.value_of(node.inputs[0], env)
    axis, concat = node.attrs
    if not array:
        raise ValueError("array_stack: the list is empty. Got no tensors, expected at least one. Let the loop run once.")
    if not concat:
        array = [ops.unsqueeze(x, axes=(axis,)) for x in array]
    env[id(node.outputs[0])] = ops.concat(*array, axis=axis)


def _zeros(x: Any) -> Any:
    return [_zeros(item) for item in x] if isinstance(x, list) else ops.full_like(x, value=0, dtype=x.dtype)


def _sum(x: Any, y: Any) -> Any:
    return [_sum(a, b) for a, b in zip(x, y, strict=True)] if isinstance(x, list) else x + y


def _run_array_zeros(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = _zeros(run.value_of(node.inputs[0], env))


def _run_array_add(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = _sum(*(run.value_of(x, env) for x in node.inputs))


def _run_array_head(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, like = (run.value_of(x, env) for x in node.inputs)
    env[id(node.outputs[0])] = array[: len(like)]


def _run_array_pad(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, like = (run.value_of(x, env) for x in node.inputs)
    env[id(node.outputs[0])] = [*array, *_zeros(like[len(array) :])]


def _run_array_unstack(run: Any, node: Node, env: dict[int, Any]) -> None:
    x, like = (run.value_of(y, env) for y in node.inputs)
    axis, concat = node.attrs
    ends = list(accumulate(piece.shape[axis] if concat else 1 for piece in like))
    pieces = []
    for begin, end in pairwise([0, *ends]):
        piece = ops.slice(x, axes=(axis,), starts=(begin,), ends=(end,), steps=(1,))
        pieces.append(piece if concat else ops.squeeze(piece, axes=(axis,)))
    env[id(node.outputs[0])] = pieces


rules(ARRAY_CREATE, _run_array_create, gradient=_array_create_gradient)
rules(ARRAY_APPEND, _run_array_append, gradient=_array_append_gradient)
rules(ARRAY_WRITE, _run_array_write, gradient=_array_write_gradient)
rules(ARRAY_READ, _run_array_read, gradient=_array_read_gradient)
rules(ARRAY_LENGTH, _run_array_length)
rules(ARRAY_STACK, _run_array_stack, gradient=_array_stack_gradient)
rules(ARRAY_ZEROS, _run_array_zeros)
rules(ARRAY_ADD, _run_array_add, gradient=_array_add_gradient)
rules(ARRAY_HEAD, _run_array_head, gradient=_array_head_gradient)
rules(ARRAY_PAD, _run_array_pad, gradient=_array_pad_gradient)
rules(ARRAY_UNSTACK, _run_array_unstack, gradient=_array_unstack_gradient)
