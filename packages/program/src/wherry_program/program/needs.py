"""Which nodes of a program are needed, taking shared memory into account.

Pruning, dead code and gradients of gradients all ask this. A view has the memory of what it views, so a node that writes through one is
needed wherever the other is read later.
"""
from __future__ import annotations

from collections.abc import Iterable

from wherry_program.program.ir import Block, Node, Program, Variable

__all__ = ["Needs", "alias_classes", "draws", "has_io", "required_nodes"]


class Needs:
    """The set of needed variables, while the nodes of a program are visited from the last to the first.

    Args:
        program: it.
        wanted: variables that are needed at the end.
        lasting: is what lasts beyond a run, or touches the world outside, needed too?
        random: are ops that draw numbers needed? Those after them would draw others.
        given: variables whose values come from elsewhere, so that nothing is needed for them.
    """

    def __init__(
        self, program: Program, wanted: Iterable[Variable], *, lasting: bool = True, random: bool = False, given: Iterable[Variable] = (),
    ) -> None:
        self._classes = alias_classes(program)
        self._effects, self._random = lasting, random
        self._given = {id(x) for x in given}
        self._lasting: set[int] = set()
        if lasting:
            self._lasting = {
                self._class_of(x) for block in program.blocks for x in block.vars.values() if x.bound is not None or x.persistable or x.is_data
            }
            self._lasting.update(self._class_of(x) for x in program.feeds)  # tensors of the caller
        self._values: set[int] = set()
        self._memory: set[int] = set()
        self.want(wanted)

    def _class_of(self, x: Variable) -> int:
        return self._classes.get(id(x), id(x))

    def want(self, xs: Iterable[Variable]) -> None:
        """Variables are needed by what comes after."""
        for x in xs:
            if id(x) not in self._given:
                self._values.add(id(x))
                self._memory.add(self._class_of(x))

    def takes(self, node: Node) -> bool:
        """Whether the node is needed; if so, its inputs are needed too."""
        writes = node.writes()
        memory = {self._class_of(x) for x in writes if id(x) not in self._given} if writes else set()
        if not (
            (self._effects and (has_io(node) or memory & self._lasting)) or (self._random and draws(node)) or memory & self._memory
            or any(id(x) in self._values for x in node.outputs)
        ):
            return False
        self.want((*node.reads(), *writes))
        return True


def required_nodes(
    block: Block, wanted: Iterable[Variable], *, lasting: bool = True, random: bool = False, given: Iterable[Variable] = (),
) -> list[Node]:
    """The nodes of a block that are needed, in order; see `Needs` for the arguments."""
    needs = Needs(block.program, wanted, lasting=lasting, random=random, given=given)
    return [node for node in reversed(block.nodes) if needs.takes(node)][::-1]


def has_io(node: Node) -> bool:
    """Whether it, or a node in its blocks, has side effects."""
    if node.is_control and "io" in node.op.effects:
        return True
    return any(has_io(inner) for block in node.blocks for inner in block.nodes)


def draws(node: Node) -> bool:
    """Whether it, or a node in its blocks, draws random numbers."""
    return node.op.random or any(draws(inner) for block in node.blocks for inner in block.nodes)


def alias_classes(program: Program) -> dict[int, int]:
    """id of a variable -> id of the one whose memory it has, for all that may share memory."""
    parent: dict[int, int] = {}

    def root(at: int) -> int:
        while at in parent:
            at = parent[at]
        return at

    def join(x: Variable, y: Variable) -> None:
        a, b = root(id(x)), root(id(y))
        if a != b:
            parent[a] = b

    for node in (node for block in program.blocks for node in block.nodes):
        if node.is_control:  # it may hand on what it was given, or what its blocks see
            inner = [x for block in node.blocks for x in (*block.inputs, *block.outputs)]
            given = [x for x in node.inputs if x is not None]
            for x in (*node.outputs, *inner) if given or node.blocks else ():
                for y in given or inner:
                    join(x, y)
        elif node.op.view and node.inputs[0] is not None:
            join(node.outputs[0], node.inputs[0])
    return {id(x): root(id(x)) for block in program.blocks for x in block.vars.values()}
