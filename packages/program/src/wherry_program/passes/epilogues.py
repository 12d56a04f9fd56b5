"""Fuse additions and activations into the blocked convolution before them."""
from __future__ import annotations

from wherry_program.passes.rewriting import Uses, drop, has_op, is_pure, put_instead, to_change, volatile
from wherry_program.passes.same_sizes import SameSizes
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor.ops.blocked import ACTIVATIONS

__all__ = ["epilogues"]

_CONVOLUTIONS = frozenset((ops.conv2d_blocked, ops.winograd_conv2d_blocked, ops.depthwise_conv2d_blocked))


def epilogues(program: Program) -> Program:
    """Make an `add` of an image of the same shape, and then an activation, the residual and activation of the blocked convolution
    (`passes.blocked`) that only they read."""
    out = to_change(program)
    if not has_op(out, *_CONVOLUTIONS):
        return out
    changing, uses = volatile(out), Uses(out)
    sizes = SameSizes(out) if has_op(out, ops.add) else None
    gone = []
    for node in out.walk():
        if node.op not in _CONVOLUTIONS or not is_pure(node, changing) or node.attr("activation") != "none":
            continue
        while (reader := uses.only(node.outputs[0])) is not None and is_pure(reader, changing):
            if not ((sizes is not None and _with_residual(node, reader, sizes)) or _with_activation(node, reader)):
                break
            for x in reader.inputs:
                if x is not None:
                    uses.of[id(x)] = [reader if other is node else other for other in uses.of[id(x)]]
            gone.append(node)
            node = reader
    drop(gone)
    return out


def _with_residual(node: Node, reader: Node, sizes: SameSizes) -> bool:
    x, weight, bias, residual = node.inputs
    if reader.op is not ops.add or residual is not None or node.attr("activation") != "none":
        return False
    made = node.outputs[0]
    other = reader.inputs[1] if reader.inputs[0] is made else reader.inputs[0]
    if other is made or other is None or other.dtype is not made.dtype or other.sizes != made.sizes:
        return False
    if sizes.of(other)[0] != sizes.of(made)[0]:
        return False
    return _put(node, reader, (x, weight, bias, other), node.attrs)


def _with_activation(node: Node, reader: Node) -> bool:
    if reader.type not in ACTIVATIONS or any(reader.attrs) or node.attr("activation") != "none":
        return False
    return _put(node, reader, node.inputs, (*node.attrs[:-1], reader.type))


def _put(node: Node, reader: Node, inputs: tuple[Variable | None, ...], attrs: tuple[object, ...]) -> bool:
    """Put the convolution in the place of its reader."""
    put_instead(reader, node.op, inputs, attrs)
    reader.line = node.line
    return True
