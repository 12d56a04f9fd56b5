"""Constant folding: compute now what does not depend on the inputs of a run.

What a fold may cost goes by the values that are there and never by sizes that the program declares: a program of some kilobytes
can declare a batch of 2^22, and what follows from the shape of its input alone (the first state of an LSTM, a mask of ones)
would take gigabytes before the first run.
"""
from __future__ import annotations

from wherry_program.passes.rewriting import bound_constant, drop, is_pure, replace, to_change, volatile
from wherry_program.program.ir import Node, Program, Variable, tensors_of_attrs
from wherry_program.run._recording import may_compute
from wherry_tensor import ops
from wherry_tensor._core import Op, Tensor

__all__ = ["constants", "frozen_constants", "packed_constants"]

SMALL = 4096  # elements: a larger result is kept only where the values it is made of are as large
TIMES = 8     # all results together: as many elements as there are constants, so many times, ...
SPARE = 1 << 20  # ... and so many more. A weight goes through a few nodes (cast, scale, transpose), not through hundreds


def constants(program: Program) -> Program:
    """Replace nodes without inputs, or with constant inputs only, by their values."""
    return _folded(program, False)


def frozen_constants(program: Program) -> Program:
    """As `constants`, where parameters and buffers that the program does not write to are constants too."""
    return _folded(program, True)


def packed_constants(program: Program) -> Program:
    """As `frozen_constants`, where weights of whole numbers stay so: what dequantizes them runs."""
    return _folded(program, True, (ops.dequantize_linear,))


def _folded(program: Program, frozen: bool, kept: tuple[Op, ...] = ()) -> Program:
    out = to_change(program)
    changing = volatile(out)
    bound: dict[int, Tensor] = {id(x): x.bound for block in out.blocks for x in block.vars.values() if x.bound is not None}
    known: dict[int, Tensor] = {} if not frozen else {at: x for at, x in bound.items() if at not in changing} if changing else dict(bound)
    if not may_compute(out.blocks[0], known):  # mostly
        return out
    handed = {id(x) for x in out.fetches} | {id(x) for block in out.blocks for x in block.outputs}
    room: int | None = None  # counted for the first node that may be folded
    instead: dict[int, Variable] = {}
    gone = []
    for node in list(out.walk()):
        if node.is_control or _is_open(node, known):
            continue
        if node.op in kept or not is_pure(node, changing) or tensors_of_attrs(node.attrs) or any(id(x) in handed for x in node.outputs):
            continue
        if room is None:
            room = SPARE + TIMES * sum(x.size for x in bound.values())
        metas = node.op.infer(node.inputs, node.attrs)
        there = sum(known[id(x)].size for x in node.inputs if id(x) in known)
        made = sum(meta.size for meta in metas)
        if any(meta.size < 0 or (meta.size > SMALL and meta.size > there) for meta in metas) or made > room:
            continue
        room -= made
        results = node.op.run(tuple(None if x is None else known.get(id(x), x) for x in node.inputs), node.attrs)
        for x, value in zip(node.outputs, results if isinstance(results, tuple) else (results,), strict=True):
            known[id(x)] = value
            instead[id(x)] = bound_constant(out, value)
        gone.append(node)
    drop(gone)
    replace(out, instead)
    return out


def _is_open(node: Node, known: dict[int, Tensor]) -> bool:
    """Whether an input is neither known nor counts for its shape alone, which is known."""
    for i, x in enumerate(node.inputs):  # noqa: SIM110  a generator takes longer than the rest
        if x is not None and id(x) not in known and not (node.op.uses_shape_only(i) and -1 not in x.sizes):
            return True
    return False
