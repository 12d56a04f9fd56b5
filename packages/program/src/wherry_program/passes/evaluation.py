"""Evaluation mode of programs: no dropout, and batch normalization by running statistics."""
from __future__ import annotations

from wherry_program.passes.rewriting import put_before
from wherry_program.program.ir import FORWARD, Block, Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import scalar

__all__ = ["as_in_evaluation"]


def as_in_evaluation(program: Program, keep_dropout: bool = False) -> None:
    """Set dropout and batch normalization to evaluation mode, in place; `keep_dropout` leaves the nodes of dropout."""
    for block in program.blocks:
        gone: set[int] = set()
        for node in list(block.nodes):
            if node.op in (ops.dropout, ops.dropout_add):
                if not keep_dropout:
                    _keep_all(program, node)
            elif node.op is ops.attention_dropout and _only(block, node, 0):
                gone |= _without_dropping(block, node)
            elif node.op is ops.batch_norm:
                gone |= _with_running_statistics(block, node)
        block.nodes[:] = [node for node in block.nodes if id(node) not in gone]


def _keep_all(program: Program, node: Node) -> None:
    x, out = node.inputs[0], node.outputs[0]
    scaled = None if node.attr("upscale") else (x, program.bind(scalar(1.0 - node.attr("p"), out.dtype)))
    if node.op is ops.dropout:
        node.op, node.inputs = (ops.copy, (x,)) if scaled is None else (ops.multiply, scaled)
    else:
        if scaled is not None:
            x = node.block.variable(out.sizes, out.dtype, f"{out.name}.kept", stop_gradient=out.stop_gradient)
            put_before(node, ops.multiply, scaled, (), (x,))
        node.op, node.inputs = ops.add, (x, node.inputs[1])
    node.attrs, node.outputs = (), (out,)


def _only(block: Block, node: Node, output: int) -> bool:
    """Whether the forward pass reads no other output of the node."""
    others = {id(x) for i, x in enumerate(node.outputs) if i != output}
    return not any(id(x) in others for other in block.nodes if other.role == FORWARD for x in other.reads())


def _without_dropping(block: Block, node: Node) -> set[int]:
    node.op = ops.attention
    node.attrs = tuple(node.attrs[:2])
    node.outputs = tuple(node.outputs[: len(ops.attention.outputs)])
    return set()


def _with_running_statistics(block: Block, node: Node) -> set[int]:
    """Let batch normalization use its running statistics, and remove the nodes that would update them."""
    running: dict[int, Variable] = {}
    gone: set[int] = set()
    stands_for = {id(node.outputs[1]): 1, id(node.outputs[2]): 2}
    for other in block.nodes:
        read = [x for x in other.inputs if x is not None]
        if other.in_place and other.op is ops.lerp and len(read) == 3 and id(read[1]) in stands_for:
            running[stands_for[id(read[1])]] = other.outputs[0]
            share = read[2].bound
            if share is not None:
                node.outputs[0].__dict__["momentum"] = 1.0 - share.item()  # for files, which say how the statistics would move
            gone.add(id(other))
        elif not other.in_place and other.op.name in ("reshape_like", "copy") and id(read[0]) in stands_for:
            stands_for[id(other.outputs[0])] = stands_for[id(read[0])]
            gone.add(id(other))
    if len(running) < 2:
        return set()  # no statistics run along: those of the batch are meant
    x, scale, bias = node.inputs
    node.op, node.inputs, node.outputs = ops.batch_norm_infer, (x, running[1], running[2], scale, bias), node.outputs[:1]
    return gone
