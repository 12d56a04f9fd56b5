"""Conditionals: one of two blocks runs.

The gradient of a choice is a choice between the gradients of its branches, which compute their branch once more.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_nn import unique_name
from wherry_program.program.backward import block_gradients
from wherry_program.program.capture import Capture, current_capture
from wherry_program.program.control.conditions import (
    check_condition,
    common_items,
    common_sizes,
    described,
    tensor_of_number,
    with_items,
)
from wherry_program.program.control.recording import rules, sizes_of, with_gradient
from wherry_program.program.ir import Block, ControlOp, Node, Variable
from wherry_program.program.replay import replay_block
from wherry_program.program.structure import flatten, pack
from wherry_tensor import ops
from wherry_tensor._core import Tensor, is_symbolic
from wherry_tensor.sizes import Size, user_line

__all__ = ["COND", "cond", "record_cond"]

COND = ControlOp("cond")


def cond(pred: Tensor | bool, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """A conditional: the result of `true_fn()` if `pred`, else that of `false_fn()`.

    Args:
        pred: one element; where it is symbolic, both functions are recorded and the program chooses.
        true_fn: called without arguments.
        false_fn: as well. Where `pred` is symbolic, both return the same structure, of tensors of the same rank and dtype.

    Raises:
        TypeError, ValueError: the branches return what does not fit together.
    """
    recording = current_capture()
    if recording is None or not (isinstance(pred, Tensor) and is_symbolic(pred)):
        return true_fn() if bool(pred) else false_fn()
    check_condition("cond", pred)
    program = recording.program
    blocks, results = [], []
    for branch in (true_fn, false_fn):
        block = program.new_block(recording.block)
        with recording.inside(block):
            results.append(branch())
        blocks.append(block)
    left, right = _agreed(recording, blocks, results)
    at = [i for i, x in enumerate(left) if isinstance(x, Tensor)]
    given = record_cond(recording, pred, blocks, [left[i] for i in at], [right[i] for i in at])
    values = list(left)
    for i, x in zip(at, given, strict=True):
        values[i] = x
    return pack(results[0], values)


def record_cond(
    recording: Capture, pred: Tensor, blocks: Sequence[Block], left: Sequence[Tensor], right: Sequence[Tensor],
) -> list[Tensor]:
    """Record a choice whose branches are recorded already.

    Args:
        recording: the capture that is on.
        pred: bool, one element.
        blocks: of the branch that is taken if `pred`, and of the other.
        left: what the first branch gives.
        right: what the other gives, of the same ranks and dtypes.

    Returns:
        Of each pair, the one that the program chooses.
    """
    metas = [_either(position, a, b) for position, (a, b) in enumerate(zip(left, right, strict=True))]
    for block, mine in zip(blocks, (left, right), strict=True):
        block.outputs = [recording.variable_of(x) for x in mine]
    names = unique_name.generate("cond")
    outs = [
        with_items(recording.block.variable(shape, dtype, f"{names}.tmp_{k}", is_array=is_array), common_items(*(b.outputs[k] for b in blocks)))
        for k, (shape, dtype, is_array) in enumerate(metas)
    ]
    node = recording.record(COND, (pred,), (), tuple(outs), blocks=tuple(blocks))
    return with_gradient(recording, node, outs, recording.tensor_of)


def _agreed(recording: Capture, blocks: list[Block], results: list[Any]) -> list[list[Any]]:
    """The leaves of what two branches return, made to agree: numbers become tensors where they differ."""
    a, b = results
    if _kind(a) != _kind(b):
        raise TypeError(
            f"cond: the branches return different structures. Got {_kind(a)} if true and {_kind(b)} if false (at {user_line()}), "
            f"expected the same. Give both branches the same values."
        )
    left, right = flatten(a), flatten(b)
    for i, (x, y) in enumerate(zip(left, right)):
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            continue
        if not isinstance(x, (Tensor, Size)) and not isinstance(y, (Tensor, Size)) and (x is y or (type(x) is type(y) and x == y)):
            continue
        for mine, block, value, other in ((left, blocks[0], x, y), (right, blocks[1], y, x)):
            with recording.inside(block):
                value = tensor_of_number(value)
                if isinstance(value, Tensor) and isinstance(other, Tensor) and not isinstance(mine[i], Tensor):
                    value = ops.cast(value, dtype=other.dtype) if value.dtype is not other.dtype else value
                    if other.ndim and not value.ndim:
                        value = ops.reshape(value, shape=(1,) * other.ndim) if other.size == 1 else value
            mine[i] = value
        if not isinstance(left[i], Tensor) or not isinstance(right[i], Tensor):
            raise TypeError(
                f"cond: value {i} that the branches return is not a tensor in both. Got {described(x)} if true and {described(y)} if false "
                f"(at {user_line()}), expected tensors or numbers. Give it a value of the same kind in both branches."
            )
    return [left, right]


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(_kind(v) for v in value)})"
    if isinstance(value, dict):
        return "dict(" + ", ".join(f"{k!r}: {_kind(v)}" for k, v in value.items()) + ")"
    return "value"


def _either(position: int, a: Tensor, b: Tensor) -> tuple[Any, ...]:
    if a.dtype is not b.dtype or a.ndim != b.ndim:
        raise ValueError(
            f"cond: value {position} that the branches return does not fit. Got shape {a.shape}, {a.dtype.name} if true and "
            f"shape {b.shape}, {b.dtype.name} if false (at {user_line()}), expected the same rank and dtype. Cast or reshape it in one branch."
        )
    is_array = getattr(a, "is_array", False)
    return common_sizes(sizes_of(a), sizes_of(b)), a.dtype, is_array


def _cond_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Tensor | None]) -> Sequence[Tensor]:
    def gradients_of(block: Block) -> Callable[[], Any]:
        return lambda: block_gradients(block, [], [], wanted, cotangents)

    return cond(node.inputs[0], gradients_of(node.blocks[0]), gradients_of(node.blocks[1]))  # type: ignore[arg-type]


def _run_cond(run: Any, node: Node, env: dict[int, Any]) -> None:
    block = node.blocks[0 if bool(run.value_of(node.inputs[0], env)) else 1]
    for x, value in zip(node.outputs, run.run_block(block, env), strict=True):
        env[id(x)] = value


def _replay_cond(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    branches = [lambda block=block: replay_block(block, (), env, value_of) for block in node.blocks]
    for x, value in zip(node.outputs, cond(value_of(node.inputs[0]), *branches), strict=True):
        env[id(x)] = value


rules(COND, _run_cond, gradient=_cond_gradient, replay=_replay_cond)
