"""Dead code: nodes that neither a fetch nor anything that lasts depends on, and variables that nobody reads."""
from __future__ import annotations

from wherry_graph.interpreter import has_io
from wherry_graph.ir import Block, Node, Program, Variable
from wherry_graph.passes.rewriting import alias_classes, forget_unused

__all__ = ["dead_code"]


def dead_code(program: Program) -> Program:
    """Without the nodes that nothing needs: no fetch, no tensor that lasts, nobody outside.

    An in-place node is needed where anything is that shares the memory which it writes. Random ops stay: those behind them would draw
    other numbers.
    """
    out, _ = program.copy()
    classes = alias_classes(out)
    lasting = {classes[id(x)] for block in out.blocks for x in block.vars.values() if x.bound is not None or x.persistable or x.is_data}
    lasting.update(classes[id(x)] for x in out.feeds)  # tensors of the caller
    needed: set[int] = set()
    written_needed: set[int] = set()  # classes of memory

    def need(x: Variable) -> None:
        needed.add(id(x))
        written_needed.add(classes.get(id(x), id(x)))

    def sweep(block: Block, results: list[Variable]) -> None:
        for x in results:
            need(x)
        kept = []
        for node in reversed(block.nodes):
            writes = {classes.get(id(x), id(x)) for x in node.writes()}
            if not (
                has_io(node) or _draws(node) or writes & lasting or writes & written_needed or any(id(x) in needed for x in node.outputs)
            ):
                continue
            kept.append(node)
            for inner in reversed(node.blocks):
                sweep(inner, inner.outputs)
            for x in (*node.reads(), *node.writes()):
                need(x)
        block.nodes[:] = kept[::-1]

    sweep(out.blocks[0], out.fetches)
    forget_unused(out)
    return out


def _draws(node: Node) -> bool:
    return node.op.random or any(_draws(inner) for block in node.blocks for inner in block.nodes)
