"""Copies of programs: for evaluation, and of what some results need alone."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_graph.ir import FORWARD, Block, Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import scalar

__all__ = ["clone", "pruned"]


def clone(program: Program, for_test: bool = False) -> Program:
    """A copy; with `for_test` without gradients and updates, and with dropout and batch normalization as in evaluation."""
    out, _ = copied(program)
    if for_test:
        as_in_evaluation(out)
        for block in out.blocks:
            block.nodes[:] = [node for node in block.nodes if node.role == FORWARD]
        _forget_unused(out)
    else:
        out.before_run[:] = program.before_run
    return out


def copied(program: Program) -> tuple[Program, dict[int, Variable]]:
    """`program.copy()`, with the variables that `x.data of lengths` (lod) refer to."""
    out, new = program.copy()
    for x in out.list_vars():
        offsets = x.__dict__.get("offsets")
        if offsets is not None:
            x.__dict__["offsets"] = tuple(new[id(one)] for one in offsets)
    return out, new


def as_in_evaluation(program: Program) -> None:
    """Let random dropping and batch statistics be what they are in evaluation, in place."""
    for block in program.blocks:
        gone: set[int] = set()
        for node in block.nodes:
            if node.op is ops.dropout:
                _keep_all(program, node)
            elif node.op is ops.attention_dropout and _only(block, node, 0):
                gone |= _without_dropping(block, node)
            elif node.op is ops.batch_norm:
                gone |= _with_running_statistics(block, node)
        block.nodes[:] = [node for node in block.nodes if id(node) not in gone]


def _keep_all(program: Program, node: Node) -> None:
    x, out = node.inputs[0], node.outputs[0]
    if node.attr("upscale"):
        node.op, node.inputs = ops.copy, (x,)
    else:
        factor = program.bind(scalar(1.0 - node.attr("p"), out.dtype))
        node.op, node.inputs = ops.multiply, (x, factor)
    node.attrs, node.outputs = (), (out,)


def _only(block: Block, node: Node, output: int) -> bool:
    """Does nothing of the forward pass read another output of the node?"""
    others = {id(x) for i, x in enumerate(node.outputs) if i != output}
    return not any(id(x) in others for other in block.nodes if other.role == FORWARD for x in other.reads())


def _without_dropping(block: Block, node: Node) -> set[int]:
    node.op = ops.attention
    node.attrs = tuple(node.attrs[:2])
    node.outputs = tuple(node.outputs[: len(ops.attention.outputs)])
    return set()


def _with_running_statistics(block: Block, node: Node) -> set[int]:
    """Let batch normalization use the running statistics that nodes behind it would change; those nodes go."""
    running: dict[int, Variable] = {}
    gone: set[int] = set()
    stands_for = {id(node.outputs[1]): 1, id(node.outputs[2]): 2}
    for other in block.nodes:
        read = [x for x in other.inputs if x is not None]
        if other.in_place and other.op is ops.lerp and len(read) == 3 and id(read[1]) in stands_for:
            running[stands_for[id(read[1])]] = other.outputs[0]
            gone.add(id(other))
        elif not other.in_place and other.op.name in ("reshape_like", "copy") and id(read[0]) in stands_for:
            stands_for[id(other.outputs[0])] = stands_for[id(read[0])]
            gone.add(id(other))
    if len(running) < 2:
        return set()  # no statistics run along: those of the batch are meant
    x, scale, bias = node.inputs
    node.op, node.inputs, node.outputs = ops.batch_norm_infer, (x, running[1], running[2], scale, bias), node.outputs[:1]
    return gone


def pruned(program: Program, feeds: Sequence[Variable], fetches: Sequence[Variable]) -> tuple[Program, list[Variable], list[Variable]]:
    """A copy with what computes the fetches from the feeds alone, and these variables in it."""
    out, new = copied(program)
    given = {id(new[id(x)]) for x in feeds}
    needed = {id(new[id(x)]) for x in fetches}
    block = out.blocks[0]
    kept: list[Node] = []
    for node in reversed(block.nodes):
        made = (*node.outputs, *node.writes())
        if not any(id(x) in needed for x in made) or all(id(x) in given for x in made):
            continue
        kept.append(node)
        needed.update(id(x) for x in node.reads() if id(x) not in given)
        needed.update(id(x) for x in node.writes() if id(x) not in given)
    block.nodes[:] = kept[::-1]
    found = [new[id(x)] for x in feeds], [new[id(x)] for x in fetches]
    _forget_unused(out, *found)
    out.feeds, out.fetches = found
    return out, *found


def _forget_unused(program: Program, *others: Sequence[Variable]) -> None:
    """Drop the variables of the first block that no node needs any more, and that neither last nor are fed."""
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
