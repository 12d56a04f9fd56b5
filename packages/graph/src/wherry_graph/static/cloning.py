"""Copies of programs: for evaluation, and pruned to what some fetches need."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_paddle_files.sequences import known_offsets
from wherry_program.passes.evaluation import as_in_evaluation
from wherry_program.program.ir import FORWARD, Program, Variable
from wherry_program.program.needs import required_nodes
from wherry_tensor.explained import explained

__all__ = ["clone", "pruned"]


def clone(program: Program, for_test: bool = False) -> Program:
    """A copy; with `for_test` without gradients and updates, and with dropout and batch normalization as in evaluation."""
    out, _ = program.copy()
    if for_test:
        as_in_evaluation(out)
        for block in out.blocks:
            block.nodes[:] = [node for node in block.nodes if node.role == FORWARD]
        _forget_unused(out)
    else:
        out.before_run[:] = program.before_run
        out.readers[:] = program.readers
    return out


def pruned(program: Program, feeds: Sequence[Variable], fetches: Sequence[Variable]) -> tuple[Program, list[Variable], list[Variable]]:
    """A copy with only the nodes that compute the fetches from the feeds, and these variables in it."""
    out, new = program.copy()
    found = [new[id(x)] for x in feeds], [new[id(x)] for x in fetches]
    offsets = [one for x in found[1] for one in known_offsets(x)]
    given = [*found[0], *(x for x in offsets if x.is_data)]
    out.blocks[0].nodes[:] = required_nodes(out.blocks[0], [*found[1], *offsets], lasting=False, given=given)
    _forget_unused(out, *found)
    out.feeds, out.fetches = found
    return out, *found


def _forget_unused(program: Program, *others: Sequence[Variable]) -> None:
    """Remove blocks without a node, and variables of the first block that are unused, not persistable and not fed."""
    kept = {id(block) for node in program.walk() for block in node.blocks}
    program.blocks[1:] = [block for block in program.blocks[1:] if id(block) in kept]
    for i, block in enumerate(program.blocks):
        block.index = i
    used = {id(x) for xs in others for x in xs}
    for node in program.walk():
        used.update(id(x) for x in (*node.reads(), *node.outputs))
    for block in program.blocks:
        used.update(id(x) for x in (*block.inputs, *block.outputs))
    for x in program.list_vars():
        if id(x) in used:
            used.update(id(one) for one in x.__dict__.get("offsets", ()))
    block = program.blocks[0]
    keep = not others  # a clone keeps what is fed; a pruned program has what it needs
    for name, x in list(block.vars.items()):
        if id(x) not in used and not (keep and x.is_data):
            del block.vars[name]
            program.forget_bound(x)


explained(globals())
