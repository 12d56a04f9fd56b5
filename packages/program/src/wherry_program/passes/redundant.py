"""Remove casts, transposes, reshapes and copies that change nothing, and merge pairs of them."""
from __future__ import annotations

from wherry_program.passes.rewriting import drop, is_pure, replace, to_change, volatile
from wherry_program.program.control.own_gradients import OWN_GRADIENT
from wherry_program.program.ir import Node, Program, Variable, tensors_of_attrs
from wherry_tensor import ops
from wherry_tensor._core import DType

__all__ = ["redundant"]

_BITS = {"float16": (11, 5), "bfloat16": (8, 8), "float32": (24, 8), "float64": (53, 11)}  # of mantissa and exponent


def redundant(program: Program) -> Program:
    """Remove casts to the same dtype and back, transposes that undo each other, reshapes of reshapes, and copies that are never written to.

    Where results had gradients of their own (PyLayer), those are in the program by now, or nobody asks for them.
    """
    out = to_change(program)
    changing = volatile(out)
    handed = {id(x) for x in (*out.fetches, *(y for block in out.blocks for y in block.outputs))}
    instead: dict[int, Variable] = {}
    gone = []
    for node in out.walk():
        if instead and (not node.is_control or node.op is OWN_GRADIENT):  # what stands before it may have been replaced
            node.inputs = tuple(None if x is None else _now(x, instead) for x in node.inputs)
        if node.op is OWN_GRADIENT:
            sources = [x for x in node.inputs[node.attrs[0] :] if x is not None]
            # A result that is handed out has to be the only one with this memory.
            if all(id(y) not in handed or _own(x, handed) for x, y in zip(sources, node.outputs)) and not changing.intersection(map(id, sources)):
                instead.update((id(y), x) for x, y in zip(sources, node.outputs))
                gone.append(node)
            continue
        if not is_pure(node, changing) or tensors_of_attrs(node.attrs):
            continue
        source = _source(node)
        # What is handed out has memory of its own, and is not a feed.
        if source is None or id(node.outputs[0]) in handed or id(source) in changing:
            continue
        instead[id(node.outputs[0])] = source
        gone.append(node)
    drop(gone)
    replace(out, instead)
    return out


def _own(x: Variable, handed: set[int]) -> bool:
    made = x.made_by
    return made is not None and not made.is_control and not made.op.view and id(x) not in handed


def _now(x: Variable, instead: dict[int, Variable]) -> Variable:
    while id(x) in instead:
        x = instead[id(x)]
    return x


def _source(node: Node) -> Variable | None:
    """The variable that the result of the node equals; may replace its inputs by earlier ones."""
    x = node.inputs[0] if node.inputs else None
    if x is None:
        return None
    before = x.made_by
    chained = before is not None and not before.in_place and before.op is node.op and before.block is node.block
    chained = chained and before is not None and not tensors_of_attrs(before.attrs)
    if node.op is ops.cast:
        if chained and before is not None and before.inputs[0] is not None and _holds(x.dtype, before.inputs[0].dtype):
            node.inputs = (before.inputs[0],)
            x = before.inputs[0]
        return x if x.dtype is node.attrs[0] else None
    if node.op is ops.transpose:
        perm = node.attrs[0]
        if chained and before is not None:
            perm = tuple(before.attrs[0][axis] for axis in perm)
            node.inputs, node.attrs = before.inputs, (perm,)
            x = node.inputs[0]
        return x if perm == tuple(range(len(perm))) else None
    if node.op is ops.reshape:
        if chained and before is not None:
            node.inputs = before.inputs
            x = node.inputs[0]
        sizes = node.outputs[0].sizes
        return x if x is not None and -1 not in sizes and x.sizes == sizes else None
    if node.op is ops.copy:
        return x
    return None


def _holds(wide: DType, narrow: DType) -> bool:
    """Whether `wide` can represent every value of `narrow`."""
    a, b = _BITS.get(wide.name), _BITS.get(narrow.name)
    return a is not None and b is not None and a[0] >= b[0] and a[1] >= b[1]
