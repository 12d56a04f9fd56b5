"""Common subexpression elimination."""
from __future__ import annotations

from typing import Any

from wherry_program.passes.rewriting import drop, is_pure, replace, to_change, volatile
from wherry_program.program.ir import Block, Program, Variable
from wherry_tensor.sizes import Size

__all__ = ["common_subexpressions"]


def common_subexpressions(program: Program) -> Program:
    """Merge nodes that apply the same op to the same variables in one block.

    Left alone: random ops, in-place writes and what they touch, control flow, and the second of two that are both handed out (who gets them
    may write to one).
    """
    out = to_change(program)
    changing = volatile(out)
    for block in out.blocks:
        handed = {id(x) for x in (*out.fetches, *block.outputs)}
        _merge(out, block, changing, handed)
    return out


def _merge(program: Program, block: Block, changing: set[int], handed: set[int]) -> None:
    heads = [(node.op, *map(id, node.inputs)) for node in block.nodes]
    if len(set(heads)) == len(heads):
        return  # no two nodes apply one op to the same
    instead: dict[int, Variable] = {}
    seen: dict[Any, Any] = {}
    gone = []

    def now(x: Variable | None) -> Variable | None:
        return instead.get(id(x), x)

    for node in block.nodes:
        if not is_pure(node, changing):
            continue
        key = (node.op, tuple(id(now(x)) for x in node.inputs), tuple(_key(value, instead) for value in node.attrs))
        first = seen.setdefault(key, node)
        if first is node:
            continue
        if any(id(x) in handed for x in node.outputs) and any(id(x) in handed for x in first.outputs):
            continue
        for x, y in zip(node.outputs, first.outputs, strict=True):
            instead[id(x)] = y
            if id(x) in handed:
                handed.add(id(y))
        gone.append(node)
    drop(gone)
    replace(program, instead)


def _key(value: Any, instead: dict[int, Variable]) -> Any:
    """An attribute as a key: 1, True and 1.0 differ, and so do 0.0 and -0.0."""
    if type(value) is tuple:
        if [*map(type, value)].count(int) == len(value):
            return int, value
        return tuple(_key(v, instead) for v in value)
    if type(value) is Size:
        kind, *parts = value.source
        if kind in ("axis", "value"):
            return kind, id(instead.get(id(parts[0]), parts[0])), *parts[1:]
        return kind, *(_key(part, instead) for part in parts)
    return type(value), repr(value) if isinstance(value, (float, complex)) else value
