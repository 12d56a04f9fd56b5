"""Loops: two blocks, the condition and the body, run in turn.

The gradient of a loop is a loop backwards: the loop keeps the values that each round began with (`history`), and a round backwards
computes its round once more.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_nn import unique_name
from wherry_program.program.backward import block_gradients
from wherry_program.program.capture import Capture, current_capture
from wherry_program.program.control.arrays import array_at, array_length
from wherry_program.program.control.conditions import (
    check_condition,
    common_items,
    common_sizes,
    described,
    tensor_of_number,
    with_items,
)
from wherry_program.program.control.recording import floats, recording_of, rules, with_gradient
from wherry_program.program.ir import ControlOp, Node, Variable
from wherry_program.program.replay import replay_block
from wherry_program.program.structure import flatten, pack
from wherry_tensor import ops
from wherry_tensor._core import Tensor, is_symbolic
from wherry_tensor.sizes import user_line

__all__ = ["WHILE", "while_loop"]

WHILE = ControlOp("while", ("history",))  # history: positions of the carried values that are kept for each round, as arrays


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], loop_vars: Sequence[Any]) -> list[Any]:
    """A loop: replace `loop_vars` by the result of `body_fn(*loop_vars)` while `cond_fn(*loop_vars)` holds; returns the last ones.

    Args:
        cond_fn: gives one element, true or false. Where its first answer is symbolic, the loop is recorded.
        body_fn: gives as many values as there are `loop_vars`, of the same structure, rank and dtype.
        loop_vars: tensors, numbers, or nested lists, tuples and dicts of them. A recorded loop makes tensors of numbers.

    Raises:
        TypeError, ValueError: the body returns what does not fit.
    """
    loop_vars = list(loop_vars)
    recording = current_capture()
    if recording is None:
        return _loop_now(cond_fn, body_fn, loop_vars, cond_fn(*loop_vars))
    mark = len(recording.block.nodes)
    first = cond_fn(*loop_vars)
    if not (isinstance(first, Tensor) and is_symbolic(first)):
        return _loop_now(cond_fn, body_fn, loop_vars, first)
    recording.block.forget(mark)  # evaluating the condition is not part of the program
    return _record_loop(recording, cond_fn, body_fn, loop_vars)


def _loop_now(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], loop_vars: list[Any], holds: Any) -> list[Any]:
    while bool(holds):
        result = body_fn(*loop_vars)
        loop_vars = list(result) if isinstance(result, (list, tuple)) else [result]
        holds = cond_fn(*loop_vars)
        if isinstance(holds, Tensor) and is_symbolic(holds):
            return while_loop(cond_fn, body_fn, loop_vars)
    return loop_vars


def _record_loop(recording: Capture, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], loop_vars: list[Any]) -> list[Any]:
    program = recording.program
    leaves = [tensor_of_number(x) for x in flatten(loop_vars)]
    at = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
    start = [recording.variable_of(leaves[i]) for i in at]
    shapes, items = [x.sizes for x in start], [common_items(x) for x in start]
    for _attempt in range(16):
        n_blocks = len(program.blocks)
        test, body = program.new_block(recording.block), program.new_block(recording.block)
        results: list[Any] = []
        for block, function in ((test, cond_fn), (body, body_fn)):
            inner = list(leaves)
            for k, i in enumerate(at):
                x = block.variable(shapes[k], start[k].dtype, unique_name.generate("while.in"), is_array=start[k].is_array)
                with_items(x, items[k])
                x.stop_gradient = leaves[i].stop_gradient
                block.inputs.append(x)
                inner[i] = x
            with recording.inside(block):
                results.append(function(*pack(loop_vars, inner)))
        holds, result = results
        check_condition("while_loop", holds)
        result = list(result) if isinstance(result, (list, tuple)) else [result]
        with recording.inside(body):
            new = [tensor_of_number(x) for x in flatten(result)]
        _check_carried(leaves, new, at)
        ends = [recording.variable_of(new[i]) for i in at]
        wider = [common_sizes(shape, x.sizes) for shape, x in zip(shapes, ends, strict=True)]
        of_lists = [common_items(*pair) for pair in zip(body.inputs, ends, strict=True)]
        if wider == shapes and all(before in (None, after) for before, after in zip(items, of_lists, strict=True)):
            break
        shapes, items = wider, of_lists
        del program.blocks[n_blocks:]
    test.outputs = [recording.variable_of(holds)]
    body.outputs = [recording.variable_of(new[i]) for i in at]
    names = unique_name.generate("while")
    outs = tuple(
        with_items(recording.block.variable(shapes[k], x.dtype, f"{names}.tmp_{k}", is_array=x.is_array), of_lists[k]) for k, x in enumerate(start)
    )
    node = recording.record(WHILE, tuple(leaves[i] for i in at), ((),), outs, blocks=(test, body))
    given = with_gradient(recording, node, outs, recording.tensor_of)
    values = list(leaves)
    for k, i in enumerate(at):
        values[i] = given[k]
    return pack(loop_vars, values)


def _check_carried(before: list[Any], after: list[Any], at: list[int]) -> None:
    if len(before) != len(after):
        raise ValueError(
            f"while_loop: the body returns another number of values than it takes. Got {len(after)}, expected {len(before)}. "
            f"Return all loop_vars, also those that do not change."
        )
    for i in range(len(before)):
        x, y = before[i], after[i]
        if i not in at:
            if isinstance(y, Tensor) or not (x is y or x == y):
                raise TypeError(
                    f"while_loop: value {i} changes but is not a tensor. Got {described(x)} before and {described(y)} after a round "
                    f"(at {user_line()}), expected a Tensor or a number. Make it a tensor before the loop."
                )
            continue
        if not isinstance(y, Tensor) or y.dtype is not x.dtype or y.ndim != x.ndim:
            raise ValueError(
                f"while_loop: value {i} does not fit the next round. Got {described(y)}{'' if not isinstance(y, Tensor) else ', ' + y.dtype.name} "
                f"after a round (at {user_line()}), expected rank {x.ndim} and {x.dtype.name} as before it. Cast or reshape it in the body."
            )


def _while_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    body = node.blocks[1]
    given = [x for x in node.inputs if x is not None]
    n = len(given)
    histories = _keep_history(node)
    floating = [k for k in range(n) if floats(body.inputs[k])]
    used_inside = {id(x) for x in body.free()}
    free = [x for x in wanted if id(x) in used_inside]
    rounds = array_length(histories[0])
    sums = [ops.full_like(x, value=0, dtype=x.dtype) for x in free]
    flowing = [cotangents[k] for k in floating]
    # What the rounds began with may have been used itself: by a gradient that is differentiated.
    kept = {k: ct for k, ct in enumerate(cotangents[n:]) if k in floating and ct is not None}

    def one_round(i: Tensor, *state: Tensor) -> list[Tensor]:
        i = i - 1
        flow, sums = list(state[: len(floating)]), list(state[len(floating) :])
        began = [array_at(histories[k], i, body.inputs[k]) for k in range(n)]
        cts: list[Tensor | None] = [None] * n
        for k, ct in zip(floating, flow):
            cts[k] = ct
        found = block_gradients(body, began, floating, free, cts)
        flow = [g + array_at(kept[k], i, body.inputs[k]) if k in kept else g for k, g in zip(floating, found)]
        return [i, *flow, *(s + g for s, g in zip(sums, found[len(floating) :]))]

    _i, *ended = while_loop(lambda i, *_rest: i > 0, one_round, [rounds, *flowing, *sums])
    flow, sums = ended[: len(floating)], ended[len(floating) :]
    results: list[Tensor | None] = []
    for x in wanted:
        total = None
        for position, y in enumerate(free):
            if y is x:
                total = sums[position]
        for k, ct in zip(floating, flow):
            if given[k] is x:
                total = ct if total is None else total + ct
        results.append(total)
    return results


def _keep_history(node: Node) -> list[Variable]:
    """Let a loop store the values at the beginning of each round. Returns arrays, one for each carried value."""
    n = len(node.inputs)
    if not node.attrs[0]:
        arrays = tuple(
            node.block.variable((), x.dtype, unique_name.generate("while.history"), is_array=True) for x in node.blocks[1].inputs
        )
        for x in arrays:
            x.made_by = node
        node.outputs = (*node.outputs, *arrays)
        node.attrs = (tuple(range(n)),)
    return list(node.outputs[n:])


def _run_while(run: Any, node: Node, env: dict[int, Any]) -> None:
    test, body = node.blocks
    values = [run.value_of(x, env) for x in node.inputs]
    kept: list[list[Any]] = [[] for _ in node.attrs[0]]
    while bool(run.run_block(test, env, values)[0]):
        for history, k in zip(kept, node.attrs[0]):
            history.append(values[k])
        values = run.run_block(body, env, values)
    for x, value in zip(node.outputs, [*values, *kept], strict=True):
        env[id(x)] = value


def _replay_while(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    test, body = node.blocks
    start = [value_of(x) for x in node.inputs]
    ended = while_loop(
        lambda *xs: replay_block(test, xs, env, value_of)[0], lambda *xs: replay_block(body, xs, env, value_of), start
    )
    if node.attrs[0]:
        ended += _keep_history(recording_of("while_loop").variable_of(ended[0]).made_by)  # type: ignore[arg-type]
    for x, value in zip(node.outputs, ended, strict=True):
        env[id(x)] = value


rules(WHILE, _run_while, gradient=_while_gradient, replay=_replay_while)
