"""Fuse attention written with products and softmax into the op `attention`, which never stores the whole matrix of weights."""
from __future__ import annotations

from typing import Any

from wherry_program.passes.rewriting import Uses, drop, is_pure, number_of, put_before, to_change, volatile
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import float32

__all__ = ["attention"]


def attention(program: Program) -> Program:
    """Replace softmax(q k^T * scale + mask) v by `attention`, for q, k and v of shape [N, heads, length, width] in float32.

    The scale may stand on the product, on q, or be a division; the mask is added before the softmax or absent.
    """
    out = to_change(program)
    changing, uses = volatile(out), Uses(out)
    for node in list(out.walk()):
        if node.op is ops.matmul and is_pure(node, changing) and node.attrs == (False, False):
            found = _match(node, uses, changing)
            if found is not None:
                _put(node, *found)
    return out


def _maker(x: Variable | None, op: Any, uses: Uses, changing: set[int], reader: Node) -> Node | None:
    """The node of `op` that makes `x`, if only `reader` reads it."""
    made = None if x is None else x.made_by
    if x is None or made is None or made.op is not op or not is_pure(made, changing) or uses.only(x) is not reader:
        return None
    return made


def _scaled(x: Variable | None, uses: Uses, changing: set[int], reader: Node) -> tuple[Node | None, Variable | None, float]:
    """Where `x` is something times or by a number: the node, what is scaled and the factor, 0 where it is none."""
    for op in (ops.multiply, ops.divide):
        node = _maker(x, op, uses, changing, reader)
        if node is None:
            continue
        number, factor = number_of(node.inputs[1]), node.inputs[0]
        if number is None and op is ops.multiply:
            number, factor = number_of(node.inputs[0]), node.inputs[1]
        return node, factor, 0.0 if not number else number if op is ops.multiply else 1 / number
    return None, None, 0.0


def _match(last: Node, uses: Uses, changing: set[int]) -> tuple[Any, ...] | None:
    weights, v = last.inputs
    softmax = _maker(weights, ops.softmax, uses, changing, last)
    if softmax is None or v is None or len(v.sizes) != 4 or v.dtype is not float32 or softmax.attrs[0] != 3:
        return None
    gone, mask, scale = [softmax, last], None, 1.0
    scores, reader = softmax.inputs[0], softmax
    plus = _maker(scores, ops.add, uses, changing, reader)
    if plus is not None:
        for x, other in (plus.inputs, plus.inputs[::-1]):
            if any(_maker(x, op, uses, changing, plus) is not None for op in (ops.matmul, ops.multiply, ops.divide)):
                scores, mask, reader = x, other, plus
                gone.append(plus)
                break
    scaled, factor, by = _scaled(scores, uses, changing, reader)
    if scaled is not None:
        if not by:
            return None
        scale, scores, reader = by, factor, scaled
        gone.append(scaled)
    product = _maker(scores, ops.matmul, uses, changing, reader)
    if product is None or product.attrs[0]:
        return None
    q, k = product.inputs
    if not product.attrs[1]:  # k is transposed before the product
        turned = _maker(k, ops.transpose, uses, changing, product)
        if turned is None or turned.attrs[0] != (0, 1, 3, 2):
            return None
        k = turned.inputs[0]
        gone.append(turned)
    gone.append(product)
    scaled, factor, by = _scaled(q, uses, changing, product)
    if scaled is not None and by:
        scale, q = scale * by, factor
        gone.append(scaled)
    if q is None or k is None or len(q.sizes) != 4 or len(k.sizes) != 4 or q.dtype is not float32 or k.dtype is not float32:
        return None
    if mask is not None and mask.dtype is not float32:
        return None
    return q, k, v, mask, scale, gone


def _put(last: Node, q: Variable, k: Variable, v: Variable, mask: Variable | None, scale: float, gone: list[Node]) -> None:
    ghosts = tuple(None if x is None else _core.symbolic([-1 if n < 0 else n for n in x.sizes], x.dtype) for x in (q, k, v, mask))
    try:
        _out, lse = ops.attention.infer(ghosts, (scale, False))
    except (ValueError, TypeError):  # shapes that the op does not take, such as a mask of another rank
        return
    second = last.block.variable(lse.shape, lse.dtype, f"{last.outputs[0].name}.lse")
    put_before(last, ops.attention, (q, k, v, mask), (scale, False), (last.outputs[0], second))
    drop(gone)
