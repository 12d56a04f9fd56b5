"""Loops whose rounds give tensors, all of which are wanted in the end: what decoding until all sequences are finished is in a program."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_nn.loops import record_loops_with
from wherry_program.program.control.arrays import array_append, array_stack, create_array
from wherry_program.program.control.loops import while_loop
from wherry_program.program.structure import flatten, pack
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64

__all__ = ["collected"]


def collected(step: Callable[[Tensor, Any], tuple[Any, Any, Tensor]], first: Any, state: Any, over: Tensor) -> tuple[Any, Any]:
    """In a capture: rounds until one says that it was the last, and what all of them gave.

    Args:
        step: called with the number of the round, int64 `[1]`, and the state; gives tensors, the next state, and whether this was the last round.
        first: what round 0 gave, which is recorded before the loop: a tensor or a nest of such, as the other rounds give.
        state: after round 0.
        over: whether round 0 was the last one.

    Returns:
        What the rounds gave, along a new first axis, and the last state.
    """
    lists = [create_array(x.dtype, (x,)) for x in flatten(first)]
    one = ops.full(shape=(1,), value=1, dtype=int64)

    def onwards(number: Tensor, _over: Tensor, state: Any, lists: list[Any]) -> list[Any]:
        given, state, over = step(number, state)
        return [number + one, over, state, [array_append(array, x) for array, x in zip(lists, flatten(given), strict=True)]]

    ended = while_loop(lambda _number, over, _state, _lists: ops.logical_not(over), onwards, [one, over, state, lists])
    stacked = [array_stack(array, [-1, *x.shape]) for array, x in zip(ended[3], flatten(first), strict=True)]
    return pack(first, stacked), ended[2]


record_loops_with(while_loop=while_loop, collected=collected)
