"""Helpers of passes: uses of variables, variables that are written to, replacing variables."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wherry_program.program.ir import Block, Node, Program, Variable, attrs_with, tensors_of_attrs
from wherry_program.program.needs import alias_classes
from wherry_program.run._recording import has_op as any_of
from wherry_program.run._recording import ids_used, ids_written, readers_in
from wherry_tensor import _core, ops
from wherry_tensor._core import Op, Tensor

__all__ = [
    "OF_OUTPUTS", "Uses", "bound_constant", "drop", "forget_unused", "has_op", "inferred", "is_pure", "number_of", "put_before", "put_instead",
    "replace", "to_change", "volatile",
]


def to_change(program: Program) -> Program:
    """The program that a pass changes: a copy, or the program itself if it was copied for a sequence of passes."""
    return program if program.in_passes else program.copy()[0]


def volatile(program: Program) -> set[int]:
    """ids of the variables whose values change while the program runs, or that share memory with one."""
    written = ids_written(program.blocks[0])
    if not written:
        return written
    of = alias_classes(program)
    roots = {of.get(at, at) for at in written}
    return {at for at, root in of.items() if root in roots}


def has_op(program: Program, *kinds: Op) -> bool:
    """Whether a node is of one of these ops."""
    return any_of(program.blocks[0], kinds)


def is_pure(node: Node, changing: set[int]) -> bool:
    """Whether the node only computes its outputs from inputs that do not change."""
    if node.in_place or not isinstance(node.op, Op) or node.op.random:
        return False
    return not changing or not any(id(x) in changing for x in (*node.outputs, *node.reads()))


class Uses:
    """The readers of each variable of a program."""

    def __init__(self, program: Program) -> None:
        self.of: dict[int, list[Node]] = readers_in(program.blocks[0])
        self.kept = {id(x) for x in program.fetches}  # read by others than nodes
        for block in program.blocks:
            self.kept.update(id(x) for x in block.outputs)

    def only(self, x: Variable) -> Node | None:
        """The one node that reads `x`; None where there are others, or it leaves its block."""
        readers = self.of.get(id(x), [])
        return readers[0] if len(readers) == 1 and id(x) not in self.kept and readers[0].block is x.block else None


def replace(program: Program, instead: dict[int, Variable]) -> None:
    """Replace variables (by id) by others in all readers."""
    if not instead:
        return

    def now(x: Any) -> Any:
        while id(x) in instead:
            x = instead[id(x)]
        return x

    for node in program.walk():
        if not instead.keys().isdisjoint(map(id, node.inputs)):
            node.inputs = tuple(None if x is None else now(x) for x in node.inputs)
        if any(id(x) in instead for x in tensors_of_attrs(node.attrs)):
            node.attrs = attrs_with(node.attrs, now)
    for block in program.blocks:
        block.outputs = [now(x) for x in block.outputs]
    program.fetches = [now(x) for x in program.fetches]


def put_instead(node: Node, op: Op, inputs: Sequence[Variable | None], attrs: tuple[Any, ...]) -> None:
    """Let a node compute its outputs in another way, where it stands."""
    node.op, node.inputs, node.attrs = op, tuple(inputs), attrs


def put_before(node: Node, op: Op, inputs: Sequence[Variable | None], attrs: tuple[Any, ...], outputs: Sequence[Variable]) -> Node:
    """Insert a node before `node`, with its source line."""
    made = Node(op, tuple(inputs), attrs, tuple(outputs), block=node.block, role=node.role, line=node.line, scope=node.scope)
    for x in outputs:
        x.made_by = made
    nodes = node.block.nodes
    nodes.insert(next(i for i, other in enumerate(nodes) if other is node), made)
    return made


def bound_constant(program: Program, data: Tensor, like: Variable | None = None) -> Variable:
    """A variable that stands for a tensor which the pass made."""
    if like is not None:
        data.name = f"{like.name}.folded"
        data.persistable = like.persistable
    return program.bind(data)


# The shape in which a vector with a number for each output of a product applies to its weight.
OF_OUTPUTS: dict[Op, tuple[int, ...]] = {ops.conv2d: (-1, 1, 1, 1), ops.conv2d_transpose: (1, -1, 1, 1), ops.linear: (1, -1)}


def number_of(x: Variable | None) -> float | None:
    """The one number that a constant or parameter of the program holds; None for everything else."""
    if x is None or x.bound is None or x.bound.size != 1:
        return None
    return float(x.bound.item())


def inferred(op: Op, inputs: Sequence[Variable | None], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Shapes and dtypes of what an op would give, with -1 for every size that is open.

    Raises:
        ValueError, TypeError: it does not take these inputs.
    """
    ghosts = tuple(None if x is None else _core.symbolic([-1 if n < 0 else n for n in x.sizes], x.dtype) for x in inputs)
    return op.infer(ghosts, attrs)  # type: ignore[no-any-return]


def drop(nodes: Iterable[Node]) -> None:
    """Remove nodes from their blocks."""
    gone = {id(node): node for node in nodes}
    blocks: dict[int, Block] = {id(node.block): node.block for node in gone.values()}
    for block in blocks.values():
        block.nodes[:] = [node for node in block.nodes if id(node) not in gone]


def forget_unused(program: Program) -> None:
    """Remove blocks that no node owns, and variables that are neither read nor made, from a program."""
    if len(program.blocks) > 1:
        alive = {id(program.blocks[0])} | {id(block) for node in program.walk() for block in node.blocks}
        program.blocks[:] = [block for block in program.blocks if id(block) in alive]
        for i, block in enumerate(program.blocks):
            block.index = i
    used = ids_used(program.blocks[0])
    used.update(map(id, program.feeds), map(id, program.fetches))
    for block in program.blocks:
        used.update(map(id, block.inputs), map(id, block.outputs))
    for block in program.blocks:
        for name, x in [entry for entry in block.vars.items() if id(entry[1]) not in used]:
            if not x.is_data:
                del block.vars[name]
                x.bound = None  # what was replaced refers to itself in a circle: its data would wait for the collector
    program._bound = {at: x for at, x in program._bound.items() if id(x) in used}
