"""Fuse attention written with products and softmax into the op `attention`, which never stores the whole matrix of weights."""
from __future__ import annotations

from typing import Any

from wherry_program.passes.rewriting import (
    Uses,
    drop,
    has_op,
    inferred,
    is_pure,
    number_of,
    put_before,
    to_change,
    volatile,
)
from wherry_program.program.ir import Node, Program, Variable
from wherry_tensor import ops
from wherry_tensor._core import float32

__all__ = ["attention"]


def attention(program: Program) -> Program:
    """Replace softmax(q k^T * scale + mask) v by `attention`, for q, k and v of shape [N, heads, length, width] in float32.

    The scale may stand on the product, on q or k, before or after k is transposed, or be a division; the mask is added before the softmax or
    absent. Weights that are no numbers (of rows whose mask hides everything) may be replaced by zeros, which is what `attention` gives there.
    """
    out = to_change(program)
    if not has_op(out, ops.softmax):
        return out
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
    softmax, replaced = _softmax(weights, uses, changing, last)
    if softmax is None or v is None or len(v.sizes) != 4 or v.dtype is not float32 or softmax.attrs[0] != 3:
        return None
    gone, mask, scale = [*replaced, softmax, last], None, 1.0
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
    gone.append(product)
    scaled, factor, by = _scaled(q, uses, changing, product)
    if scaled is not None and by:
        scale, q = scale * by, factor
        gone.append(scaled)
    reader, perm = product, None
    scaled, factor, by = _scaled(k, uses, changing, reader)
    if scaled is not None and by:
        scale, k, reader = scale * by, factor, scaled
        gone.append(scaled)
    if not product.attrs[1]:  # k is transposed before the product
        turned = _maker(k, ops.transpose, uses, changing, reader)
        if turned is not None and turned.inputs[0] is not None and len(turned.attrs[0]) == 4:
            a, b, c, d = turned.attrs[0]
            k, perm = turned.inputs[0], (a, b, d, c)
            gone.append(turned)
        else:
            flat = _turned_flat(k, uses, changing, reader)
            if flat is None:
                return None
            k, turned = flat[-1].inputs[0], flat[-1]
            gone += flat
        scaled, factor, by = _scaled(k, uses, changing, turned)
        if scaled is not None and by:
            scale, k = scale * by, factor
            gone.append(scaled)
    if q is None or k is None or len(q.sizes) != 4 or len(k.sizes) != 4 or q.dtype is not float32 or k.dtype is not float32:
        return None
    if mask is not None and mask.dtype is not float32:
        return None
    return q, k, perm, v, mask, scale, gone


def _turned_flat(k: Variable | None, uses: Uses, changing: set[int], reader: Node) -> list[Node] | None:
    """The nodes that transpose the last two axes of `[N, heads, length, width]` as `[N * heads, length, width]`."""
    nodes: list[Node] = []
    for op in (ops.reshape, ops.transpose, ops.reshape):
        node = _maker(k, op, uses, changing, reader)
        if node is None:
            return None
        nodes.append(node)
        k, reader = node.inputs[0], node
    last, turned, first = nodes
    before, after = first.inputs[0], last.outputs[0]
    if before is None or turned.attrs[0] != (0, 2, 1) or len(before.sizes) != 4 or min(before.sizes) < 0:
        return None
    n, heads, length, width = before.sizes
    fits = first.outputs[0].sizes == (n * heads, length, width) and after.sizes == (n, heads, width, length)
    return nodes if fits else None


def _softmax(weights: Variable | None, uses: Uses, changing: set[int], last: Node) -> tuple[Node | None, list[Node]]:
    """The softmax that makes the weights, and nodes between them."""
    chosen = _maker(weights, ops.where, uses, changing, last)
    if chosen is None:
        return _maker(weights, ops.softmax, uses, changing, last), []
    asked, zero, found = chosen.inputs
    nan = _maker(asked, ops.isnan, uses, changing, chosen)
    softmax = None if found is None else found.made_by
    if nan is None or found is None or nan.inputs[0] is not found or number_of(zero) != 0 or softmax is None or softmax.op is not ops.softmax:
        return None, []
    readers = uses.of.get(id(found), [])
    if id(found) in uses.kept or len(readers) != 2 or not is_pure(softmax, changing):
        return None, []
    return softmax, [nan, chosen]


def _put(
    last: Node, q: Variable, k: Variable, perm: tuple[int, ...] | None, v: Variable, mask: Variable | None, scale: float, gone: list[Node]
) -> None:
    if perm is not None and perm != (0, 1, 2, 3):
        turned = last.block.variable(tuple(k.sizes[a] for a in perm), k.dtype, f"{k.name}.turned")
        put_before(last, ops.transpose, (k,), (perm,), (turned,))
        k = turned
    try:
        _out, lse = inferred(ops.attention, (q, k, v, mask), (scale, False))
    except (ValueError, TypeError):  # shapes that the op does not take, such as a mask of another rank
        return
    second = last.block.variable(lse.shape, lse.dtype, f"{last.outputs[0].name}.lse")
    put_before(last, ops.attention, (q, k, v, mask), (scale, False), (last.outputs[0], second))
    drop(gone)
