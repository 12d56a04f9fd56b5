"""Fuse chains of element-wise ops into one loop."""
from __future__ import annotations

from wherry_program.passes.rewriting import Uses, drop, forget_unused, is_pure, to_change, volatile
from wherry_program.program.control.fused import FUSED
from wherry_program.program.ir import Node, Program, Variable, tensors_of_attrs
from wherry_tensor import ops
from wherry_tensor.ops.declare import family_of

__all__ = ["elementwise", "is_elementwise", "unfused"]

LONGEST = 24  # nodes of a chain: their tiles have to stay in the cache


class _Chain:
    """Nodes that will run together, at the place of the last one."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes = sizes
        self.nodes: list[Node] = []


def elementwise(program: Program) -> Program:
    """Replace chains of element-wise nodes by one node `fused_elementwise`.

    Whether shapes are really equal is known when a plan is made; where they are not, the nodes run one by one.
    """
    out = to_change(program)
    if sum(not node.is_control and is_elementwise(node) for node in out.walk()) < 2:
        return out
    changing = volatile(out)
    for block in list(out.blocks):
        chains: list[_Chain] = []
        of: dict[int, _Chain] = {}  # id of a variable -> the open chain that makes it
        for node in block.nodes:
            fits = is_pure(node, changing) and is_elementwise(node)
            sizes = node.outputs[0].sizes if node.outputs else ()
            mine: _Chain | None = None
            for x in node.reads():
                chain = of.get(id(x))
                if chain is None or chain is mine:
                    continue
                if fits and chain.sizes == sizes and len(chain.nodes) + (len(mine.nodes) if mine else 0) < LONGEST:
                    mine = chain if mine is None else _joined(mine, chain, chains, of)
                else:
                    _close(chain, of)
            if not fits:
                continue
            if mine is None:
                mine = _Chain(sizes)
                chains.append(mine)
            mine.nodes.append(node)
            of[id(node.outputs[0])] = mine
        order = {id(node): i for i, node in enumerate(block.nodes)}
        for chain in chains:
            if len(chain.nodes) > 1:
                chain.nodes.sort(key=lambda node: order[id(node)])
                _fuse(out, chain.nodes, Uses(out))
    return out


def unfused(program: Program) -> Program:
    """Undo `elementwise`: for files, which cannot hold fused nodes."""
    out = to_change(program)
    for block in list(out.blocks):
        nodes: list[Node] = []
        for node in block.nodes:
            if node.op is not FUSED:
                nodes.append(node)
                continue
            inner = node.blocks[0]
            outer = {id(y): x for x, y in zip(node.outputs, inner.outputs, strict=True)}
            for part in inner.nodes:
                (y,) = part.outputs
                if id(y) not in outer:
                    outer[id(y)] = block.variable(y.sizes, y.dtype, None, stop_gradient=y.stop_gradient)
                inputs = tuple(None if x is None else outer.get(id(x), x) for x in part.inputs)
                nodes.append(Node(part.op, inputs, part.attrs, (outer[id(y)],), block=block, role=part.role, line=part.line, scope=part.scope))
                outer[id(y)].made_by = nodes[-1]
        block.nodes[:] = nodes
    forget_unused(out)
    return out


def is_elementwise(node: Node) -> bool:
    """Whether a node is element-wise, so that it may be part of a chain."""
    if node.op.view or (family_of(node.op) not in ("elementwise", "activation") and node.op is not ops.cast):
        return False
    return len(node.outputs) == 1 and not tensors_of_attrs(node.attrs) and bool(node.inputs) and bool(node.outputs[0].sizes)


def _close(chain: _Chain, of: dict[int, _Chain]) -> None:
    """Close a chain whose result another node reads: nothing may be added after it."""
    for node in chain.nodes:
        of.pop(id(node.outputs[0]), None)


def _joined(a: _Chain, b: _Chain, chains: list[_Chain], of: dict[int, _Chain]) -> _Chain:
    a.nodes += b.nodes
    for node in b.nodes:
        of[id(node.outputs[0])] = a
    chains.remove(b)
    return a


def _fuse(program: Program, nodes: list[Node], uses: Uses) -> None:
    last = nodes[-1]
    block = program.new_block(last.block)
    members = {id(node) for node in nodes}
    outside = [
        x for node in nodes for x in node.outputs
        if id(x) in uses.kept or any(id(reader) not in members for reader in _readers(uses, x))
    ]
    inner: dict[int, Variable] = {}
    for node in nodes:
        (x,) = node.outputs
        y = block.variable(x.sizes, x.dtype, f"{x.name}.part", stop_gradient=x.stop_gradient)
        block.append(
            node.op, tuple(None if v is None else inner.get(id(v), v) for v in node.inputs), node.attrs, (y,), role=node.role, line=node.line,
            scope=node.scope,
        )
        inner[id(x)] = y
    block.outputs = [inner[id(x)] for x in outside]
    fused = Node(FUSED, (), (), tuple(outside), block=last.block, blocks=(block,), role=last.role, line=last.line, scope=last.scope)
    for x in outside:
        x.made_by = fused
    at = next(i for i, node in enumerate(last.block.nodes) if node is last)
    last.block.nodes.insert(at + 1, fused)
    drop(nodes)
    for node in nodes:
        for x in node.outputs:
            if not any(x is y for y in outside):
                last.block.vars.pop(x.name, None)


def _readers(uses: Uses, x: Variable) -> list[Node]:
    return uses.of.get(id(x), [])
