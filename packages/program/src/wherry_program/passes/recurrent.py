"""Recurrent layers with weights that are packed before a program runs."""
from __future__ import annotations

from functools import lru_cache

from wherry_autograd import no_grad
from wherry_program.passes.rewriting import (
    Uses,
    bound_constant,
    forget_unused,
    is_pure,
    put_instead,
    to_change,
    volatile,
)
from wherry_program.program.ir import Node, Program, Variable
from wherry_program.run._executor import facts_of
from wherry_tensor import _core, ops
from wherry_tensor._core import Op, float32, plan_of
from wherry_tensor.ops.declare import Meta
from wherry_tensor.ops.recurrent import BLOCK, packed_units

__all__ = ["packed_recurrent"]

# The op in place of one, its gates, where its weight of the states stands, and how many results both have.
_PACKED: dict[Op, tuple[Op, int, int, int]] = {ops.lstm: (ops.packed_lstm, 4, 4, 3), ops.gru: (ops.packed_gru, 3, 3, 2)}


def packed_recurrent(program: Program) -> Program:
    """Put the weights by which LSTM and GRU multiply their states in order now, where each run would pack them: for one short sequence that
    takes as long as four of its steps.

    Weights have to be constants in float32. Nothing rounds otherwise: results keep every bit.
    """
    out = to_change(program)
    found = [node for node in out.walk() if node.op in _PACKED]
    if not found or not _has_kernel(_core.kernel_generation()):
        return out
    changing, uses = volatile(out), Uses(out)
    made: dict[int, Variable] = {}
    for node in found:
        op, gates, at, results = _PACKED[node.op]
        weight = node.inputs[at]
        if weight is None or weight.bound is None or weight.dtype is not float32 or not is_pure(node, changing) or _reads_gates(node, results, uses):
            continue
        if id(weight) not in made:
            with no_grad():
                made[id(weight)] = bound_constant(out, packed_units(weight.bound.detach(), gates), weight)
        put_instead(node, op, (*node.inputs[:at], made[id(weight)], *node.inputs[at + 1 :]), node.attrs)
        node.outputs = node.outputs[:results]
    if made:
        forget_unused(out)
    return out


def _reads_gates(node: Node, results: int, uses: Uses) -> bool:
    """Whether anything reads what the op keeps for its gradient."""
    return any(uses.of.get(id(x)) or id(x) in uses.kept for x in node.outputs[results:])


@lru_cache(1)
def _has_kernel(generation: int) -> bool:
    x, h, bias = Meta((1, 1, 1), float32), Meta((1, 1), float32), Meta((4,), float32)
    weights = Meta((4, 1), float32), Meta((1, 1, 4, BLOCK), float32)
    return bool(facts_of(plan_of(ops.packed_lstm, [x, h, h, *weights, bias, bias, None], (False,)))[1])
