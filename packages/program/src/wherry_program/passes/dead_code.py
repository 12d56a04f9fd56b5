"""Dead code elimination: nodes on which no fetch and no persistable variable depends, and variables that are never read."""
from __future__ import annotations

from wherry_program.passes.rewriting import forget_unused, to_change
from wherry_program.program.ir import Block, Program, tensors_of_attrs
from wherry_program.program.needs import Needs
from wherry_tensor._core import Op, hold_sizes

__all__ = ["dead_code"]


def dead_code(program: Program) -> Program:
    """Remove nodes that no fetch, no persistable tensor and no side effect needs.

    An in-place node is needed where anything is that shares the memory which it writes. Random ops stay: those after them would draw
    other numbers.
    """
    out = to_change(program)
    if all(isinstance(node.op, Op) and not node.in_place and not node.op.random for node in out.nodes):
        return _of_values(out)
    needs = Needs(out, out.fetches, random=True)

    def sweep(block: Block) -> None:
        kept = []
        for node in reversed(block.nodes):
            if needs.takes(node):  # with what its blocks read from around them: a round of a loop may need what the round before wrote
                kept.append(node)
                for inner in reversed(node.blocks):
                    needs.want(inner.outputs)
                    sweep(inner)
        block.nodes[:] = kept[::-1]

    sweep(out.blocks[0])
    forget_unused(out)
    return out


def _of_values(program: Program) -> Program:
    """The same where nodes only compute: what is needed follows from who reads what."""
    wanted = {id(x) for x in program.fetches}
    kept = []
    for node in reversed(program.nodes):
        if not wanted.isdisjoint(map(id, node.outputs)):
            wanted.update(map(id, node.inputs))
            if hold_sizes(node.attrs):
                wanted.update(map(id, tensors_of_attrs(node.attrs)))
            kept.append(node)
    program.nodes[:] = kept[::-1]
    forget_unused(program)
    return program
