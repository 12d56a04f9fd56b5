"""Turn the addition of a constant per channel after a convolution or matrix product into its bias."""
from __future__ import annotations

from wherry_program.passes.rewriting import Uses, bound_constant, drop, is_pure, put_instead, to_change, volatile
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops

__all__ = ["biases"]


def biases(program: Program) -> Program:
    """Turn the `add` of a constant after `conv2d` and `matmul` into a bias: programs in Paddle's files have it as a separate op.

    `matmul` becomes `linear` where its second factor is a constant matrix.
    """
    out = to_change(program)
    changing, uses = volatile(out), Uses(out)
    gone = []
    for node in list(out.walk()):
        if node.op is not ops.add or not is_pure(node, changing):
            continue
        for x, summand in (node.inputs, node.inputs[::-1]):
            product = None if x is None else x.made_by
            if x is None or summand is None or product is None or uses.only(x) is not node or not is_pure(product, changing):
                continue
            if x.sizes == node.outputs[0].sizes and x.dtype is summand.dtype and summand.bound is not None and _put(out, product, node, summand):
                gone.append(product)
                break
    drop(gone)
    return out


def _put(program: Program, product: Node, node: Node, summand: Variable) -> bool:
    if product.op not in (ops.conv2d, ops.matmul):
        return False
    x, weight, *rest = product.inputs
    if weight is None or weight.bound is None or any(y is not None for y in rest):
        return False
    shape, rank = summand.sizes, len(node.outputs[0].sizes)
    if product.op is ops.conv2d:
        channels, axis, op, attrs = weight.sizes[0], 1 if product.attr("data_format") == "NCHW" else 3, ops.conv2d, product.attrs
    elif product.op is ops.matmul and product.attrs == (False, False) and len(weight.sizes) == 2 and rank > 1:
        channels, axis, op, attrs = weight.sizes[1], rank - 1, ops.linear, ()
    else:
        return False
    wanted = tuple(channels if a == axis else 1 for a in range(rank))
    if len(shape) > rank or (*(1,) * (rank - len(shape)), *shape) != wanted:
        return False
    bias = summand
    if len(shape) != 1:
        assert summand.bound is not None
        bias = bound_constant(program, ops.reshape.run((summand.bound,), ((channels,),)), summand)
    put_instead(node, op, (x, weight, bias), attrs)
    return True
