"""Move factors of channels from an image into the weight of the blocked convolution after it."""
from __future__ import annotations

from math import prod

from wherry_program.passes.rewriting import Uses, drop, has_op, is_pure, put_before, put_instead, to_change, volatile
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor.ops.blocked import BLOCK

__all__ = ["gates"]


def gates(program: Program) -> Program:
    """Multiply the weight of a convolution, in place of its image, by one factor for each channel, as squeeze and excitation ends.

    Done where images come one at a time, a blocked convolution (`passes.blocked`) alone reads the product, and its weight has fewer elements
    than the image.
    """
    out = to_change(program)
    if not (has_op(out, ops.conv2d_blocked) and has_op(out, ops.multiply)):
        return out
    changing, uses = volatile(out), Uses(out)
    gone: list[Node] = []
    for node in list(out.walk()):
        if node.op is not ops.conv2d_blocked or not is_pure(node, changing):
            continue
        product, weight, *others = node.inputs
        assert product is not None and weight is not None
        made = product.made_by
        if made is None or made.op is not ops.multiply or not is_pure(made, changing) or uses.only(product) is not node:
            continue
        for image, factors in (made.inputs, made.inputs[::-1]):
            if image is not None and factors is not None and _pays(image, factors, product, weight):
                put_instead(node, node.op, (image, _weighted(node, weight, factors), *others), node.attrs)
                gone.append(made)
                break
    drop(gone)
    return out


def _pays(image: Variable, factors: Variable, product: Variable, weight: Variable) -> bool:
    sizes = product.sizes
    if len(sizes) != 5 or sizes[0] != 1 or any(type(n) is not int or n < 1 for n in sizes) or image.sizes != sizes:
        return False
    if factors.sizes != (1, sizes[1], 1, 1, BLOCK) or len(weight.sizes) != 6 or weight.sizes[4] != BLOCK:
        return False
    return prod(weight.sizes) < prod(sizes)


def _weighted(node: Node, weight: Variable, factors: Variable) -> Variable:
    """The weight, [out blocks, blocks, kh, kw, 16 in, 16 out], by factors [1, blocks, 1, 1, 16]."""
    shape = (*factors.sizes, 1)
    turned = node.block.variable(shape, factors.dtype, None, stop_gradient=True)
    made = node.block.variable(weight.sizes, weight.dtype, None, stop_gradient=True)
    put_before(node, ops.reshape, (factors,), (shape,), (turned,))
    put_before(node, ops.multiply, (weight, turned), (), (made,))
    return made
