"""Fuse dropout and the addition after it into `dropout_add`."""
from __future__ import annotations

from wherry_program.passes.elementwise import is_elementwise
from wherry_program.passes.rewriting import Uses, drop, is_pure, put_before, to_change, volatile
from wherry_program.passes.same_sizes import SameSizes
from wherry_program.program.ir import Node, Program, Variable
from wherry_program.program.needs import draws, has_io
from wherry_tensor import ops

__all__ = ["residuals"]


def residuals(program: Program) -> Program:
    """Replace `dropout`, and an `add` of a tensor of the same shape that alone reads its result, by `dropout_add`.

    Numbers are drawn in the order in which they were, so every bit stays. Left alone: what could be broadcast in some run, and an `add`
    within a chain of element-wise nodes, which would become two (`passes.elementwise`).
    """
    out = to_change(program)
    if not any(node.op is ops.dropout for node in out.walk()):
        return out
    changing, uses, sizes = volatile(out), Uses(out), SameSizes(out)
    for node in list(out.walk()):
        if node.op is ops.add and is_pure(node, changing):
            for x, y in (node.inputs, node.inputs[::-1]):
                if x is not None and y is not None and _put(node, x, y, changing, uses, sizes):
                    break
    return out


def _put(node: Node, x: Variable, y: Variable, changing: set[int], uses: Uses, sizes: SameSizes) -> bool:
    made = x.made_by
    if made is None or made.op is not ops.dropout or made.outputs[0] is not x or uses.only(x) is not node or made.role != node.role:
        return False
    if made.in_place or any(id(one) in changing for one in (*made.outputs, *made.reads())):
        return False
    if x.dtype is not y.dtype or sizes.of(x) != sizes.of(y) or _inside_of_a_chain(node, y, uses):
        return False
    place = _place(made, node, y)
    if place is None:
        return False
    put = put_before(place, ops.dropout_add, (made.inputs[0], y), made.attrs, (node.outputs[0], made.outputs[1]))
    put.line = node.line
    drop([made, node])
    return True


def _inside_of_a_chain(node: Node, y: Variable, uses: Uses) -> bool:
    """Whether the node that makes `y` and the reader of the sum could be in one loop with the `add`."""
    before, behind = y.made_by, uses.only(node.outputs[0])
    return (
        before is not None and behind is not None and is_elementwise(before) and is_elementwise(behind) and uses.only(y) is node
        and before.outputs[0].sizes == node.outputs[0].sizes == behind.outputs[0].sizes
    )


def _place(made: Node, node: Node, y: Variable) -> Node | None:
    """Where both can run: the place of the dropout, if `y` is there by then; that of the `add`, if nothing between draws numbers, may do so, or
    reads the mask."""
    nodes, mask = node.block.nodes, made.outputs[1]
    first, last = (next(i for i, one in enumerate(nodes) if one is wanted) for wanted in (made, node))
    between = nodes[first + 1 : last]
    if not any(x is y for one in between for x in one.outputs):
        return made
    return None if any(draws(one) or has_io(one) or any(x is mask for x in one.reads()) for one in between) else node
