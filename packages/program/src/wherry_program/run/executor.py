"""The executor: plans a program for the shapes of its inputs, then runs kernel by kernel without Python in between.

    run = compiled(program, feeds, fetches)
    values = run(*tensors)

The nodes of a block are divided into segments, which `planner` plans and `_executor` runs, and what needs Python: control flow,
lists, print, calls of Python, ops whose result has a shape that depends on data. Blocks of control flow are divided likewise, and
their plans are kept. `interpreter` says what a program means; it also runs what cannot be planned: tensors of several devices, under
layers of the dispatcher (another capture, autocast), and in-place writes to tensors that overlap.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wherry_program.program.control.fused import FUSED
from wherry_program.program.ir import Block, Node, Program, Variable
from wherry_program.run._executor import Arenas, Segment
from wherry_program.run.interpreter import Interpreter
from wherry_program.run.planner import NeedsNumber, SegmentBreak, plan
from wherry_tensor._core import Tensor, set_grad_mode

__all__ = ["Executor", "compiled"]


def compiled(
    program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None, *,
    lookup: Callable[[Variable], Tensor | None] | None = None, prune: bool = False, level: int = 0,
) -> Executor:
    """Compile a program to a callable that takes one tensor for each feed and returns the value of each fetch.

    It may be called from several threads at once. Gradients are not recorded.

    Args:
        program: not changed afterwards.
        feeds: variables, in the order of a call's arguments; None takes `program.feeds`.
        fetches: variables, in the order of the results; None takes `program.fetches`.
        lookup: gives the tensor of a variable that is neither fed nor made nor bound (from a scope).
        prune: leave out the nodes that nothing needs.
        level: of the passes (`passes.default`) that a copy of the program goes through first, or the program itself if it is `in_passes`;
            `lookup` is then asked for the variables of the copy, which have the same names.

    Examples:
        >>> from wherry_program import Program
        >>> from wherry_program.program.capture import capture
        >>> from wherry_program.run.executor import compiled
        >>> program = Program()
        >>> x = program.feed([-1, 3], wherry.float32, "x")
        >>> with capture(program):
        ...     y = (x * 2.0).sum(axis=1)
        >>> (value,) = compiled(program, [x], [y])(wherry.ones([2, 3]))
        >>> print(value.numpy())
        [6. 6.]
    """
    if level:
        from wherry_program import passes

        feeds, fetches = program.feeds if feeds is None else feeds, program.fetches if fetches is None else fetches
        if not program.in_passes:
            program, new = program.copy()
            feeds, fetches = [new[id(x)] for x in feeds], [new[id(x)] for x in fetches]
        program.feeds, program.fetches = list(feeds), list(fetches)
        for x in program.feeds:
            x.bound = None  # fed values replace it
        program.in_passes = True
        program = passes.default(program, level)
        feeds, fetches = program.feeds, program.fetches
    return Executor(program, feeds, fetches, lookup=lookup, prune=prune)


MOST_IN_A_ROW = 8  # calls of a part of a loop that needed a new plan each


class Executor(Interpreter):
    """A program that can be called; made by `compiled`."""

    def __init__(
        self, program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None, *,
        lookup: Callable[[Variable], Tensor | None] | None = None, prune: bool = False,
    ) -> None:
        super().__init__(program, feeds, fetches, lookup=lookup, prune=prune)
        self.arenas = Arenas()
        self.fed = {id(x) for x in self.feeds}
        self.parts: dict[int, Parts] = {}  # by the id of a list of nodes
        self.top = self.parts_of(self.nodes, self.fetches)
        self.at_once: Segment | None = None  # the whole program, where it is one segment that takes the feeds as they come
        self._look_at_whole()

    def __call__(self, *values: Tensor) -> list[Any]:
        whole = self.at_once
        if whole is not None and len(values) == len(self.feeds):
            try:
                done = whole.run(list(values))
            except (SegmentBreak, NeedsNumber):
                self.at_once, done = None, None
            if done is not None:
                return done
        before = set_grad_mode(False)
        try:
            results = super().__call__(*values)
        finally:
            set_grad_mode(before)
        if whole is None:
            self._look_at_whole()
        return results

    def close(self) -> None:
        """Let go of plans, memory and the program, at once: their parts refer to each other, so that they would stay until garbage is collected.

        Nothing of it can run any more. The program is that of its caller alone.
        """
        self.at_once = None
        for parts in self.parts.values():
            for part in parts.known.values():
                del part.segment
            parts.known.clear()
            parts.division = [], [], []
        self.parts.clear()
        del self.top
        self.program.dissolve()

    def parts_of(self, nodes: list[Node], wanted: Sequence[Variable]) -> Parts:
        """The parts of a list of nodes, of which `wanted` is needed afterwards."""
        found = self.parts.get(id(nodes))
        if found is None:
            found = self.parts[id(nodes)] = Parts(self, nodes, wanted)
        return found

    def run_nodes(self, nodes: list[Node], env: dict[int, Any], keep: set[int]) -> None:
        parts = self.parts.get(id(nodes))
        if parts is None or nodes is not parts.nodes:
            super().run_nodes(nodes, env, keep)
        else:
            parts.run(env, keep)

    def run_block(self, block: Block, env: dict[int, Any], values: Iterable[Any] = ()) -> list[Any]:
        parts = self.parts_of(block.nodes, block.outputs)
        part = parts.only_part
        if part is not None:
            # What it needs from around it is looked up; nothing else of `env` is touched.
            own = dict(zip((id(x) for x in block.inputs), values, strict=True))
            done = part.tried(own, env)
            if done is None and part.in_a_row >= MOST_IN_A_ROW:
                inner = env | own
                Interpreter.run_nodes(self, block.nodes, inner, {id(x) for x in block.outputs}.union(env))
                return [self.value_of(x, inner) for x in block.outputs]
            if done is not None:
                own.update(done)
                return [own[id(x)] if id(x) in own else self.value_of(x, env) for x in block.outputs]
            values = [own[id(x)] for x in block.inputs]
        return super().run_block(block, env, values)

    @property
    def segments(self) -> list[Segment]:
        """The segments of the program itself, in order, to inspect plans."""
        return [part.segment for part in self.top.items if isinstance(part, Part)]

    def _look_at_whole(self) -> None:
        part = self.top.only_part
        if part is None or [id(x) for x in part.inputs] != [id(x) for x in self.feeds]:
            return
        if [id(x) for x in part.outputs] == [id(x) for x in self.fetches]:
            self.at_once = part.segment


class Parts:
    """A list of nodes, divided into segments and nodes that run by themselves."""

    def __init__(self, executor: Executor, nodes: list[Node], wanted: Sequence[Variable]) -> None:
        self.executor, self.nodes, self.wanted = executor, nodes, wanted
        self.alone = {i for i, node in enumerate(nodes) if node.is_control and node.op is not FUSED}
        self.begins: set[int] = set()  # where a segment begins because the one before has to have run
        self.division: tuple[list[Part | int], list[int], list[list[int]]]  # the last is empty until `run` asks
        self.known: dict[tuple[int, int], Part] = {}
        self.divide()

    def divide(self) -> None:
        """Compute the segments again, now that more is known of where they end."""
        items: list[Part | int] = []
        at, n = 0, len(self.nodes)
        while at < n or not items:
            if at in self.alone:
                items.append(at)
                at += 1
                continue
            stop = at + 1 if at < n else at
            while stop < n and stop not in self.alone and stop not in self.begins:
                stop += 1
            if (at, stop) not in self.known:
                self.known[at, stop] = Part(self, at, stop)
            items.append(self.known[at, stop])
            at = stop
            if n == 0:
                break
        self.division = items, [item + 1 if isinstance(item, int) else item.stop for item in items], []  # at once: other threads may be running

    def forgotten(self) -> tuple[list[Part | int], list[int], list[list[int]]]:
        """The division, with the variables that nothing needs any more after each item."""
        items, ends, found = division = self.division
        if found:
            return division
        last: dict[int, int] = {}
        for k, (end, item) in enumerate(zip(ends, items)):
            for node in self.nodes[item if isinstance(item, int) else item.start : end]:
                for x in (*node.reads(), *node.outputs):
                    last[id(x)] = k
        after: list[list[int]] = [[] for _ in items]
        for x_id, k in last.items():
            after[k].append(x_id)
        found[:] = after  # in one step
        return division

    @property
    def items(self) -> list[Part | int]:
        """The segments, and the numbers of nodes that run by themselves, in order."""
        return self.division[0]

    @property
    def only_part(self) -> Part | None:
        """The one segment, where there is nothing else."""
        items = self.items
        only = items[0] if len(items) == 1 else None
        return only if isinstance(only, Part) else None

    def run(self, env: dict[int, Any], keep: set[int]) -> None:
        """Run all, one after the other."""
        executor, at = self.executor, 0
        while at < len(self.nodes):
            division = items, ends, forgotten = self.forgotten()
            k = next(k for k, end in enumerate(ends) if end > at)
            item = items[k]
            if isinstance(item, int):
                executor.run_node(self.nodes[item], env)
                at = item + 1
            else:
                done = item.tried(env, {})
                if done is not None:
                    env.update(done)
                elif self.division is not division:
                    continue  # it was divided
                else:
                    Interpreter.run_nodes(executor, item.nodes, env, {*keep, *env, *(id(x) for x in item.outputs)})
                at = item.stop
            for x_id in forgotten[k]:
                if x_id not in keep:
                    env.pop(x_id, None)


class Part:
    """Nodes that run as one segment."""

    def __init__(self, parts: Parts, start: int, stop: int) -> None:
        self.parts, self.start, self.stop = parts, start, stop
        executor = parts.executor
        self.nodes = parts.nodes[start:stop]
        made = {id(x) for node in self.nodes if not node.in_place for x in node.outputs}
        inputs: dict[int, Variable] = {}
        bound: dict[int, Variable] = {}
        written: set[int] = set()
        whole = start == 0 and stop == len(parts.nodes) and parts.nodes is executor.nodes
        if whole:  # in the order of the call's arguments
            inputs = {id(x): x for x in executor.feeds}

        def take(x: Variable) -> None:
            if id(x) not in made:
                (bound if x.bound is not None and id(x) not in executor.fed else inputs).setdefault(id(x), x)

        for node in self.nodes:
            for x in node.reads():
                take(x)
            if node.in_place:
                for x in node.outputs:
                    take(x)
                    written.add(id(x))
        later = {id(x) for node in parts.nodes[stop:] for x in (*node.reads(), *node.writes())}
        wanted = [*parts.wanted] if whole else list({id(x): x for x in parts.wanted}.values())
        if whole:
            for x in wanted:
                take(x)
            self.outputs = wanted
        else:
            wanted_ids = {id(x) for x in wanted}
            self.outputs = [
                x for node in self.nodes if not node.in_place for x in node.outputs if id(x) in later or id(x) in wanted_ids
            ]
        self.inputs, self.bound = list(inputs.values()), list(bound.values())
        self.keys: list[int] = []
        self.inner = parts.nodes is not executor.nodes
        self.made = self.in_a_row = 0  # plans; calls one after the other that needed a new one
        self.known: list[Any] = []  # of the call before, where too many did
        self.segment = Segment(self.make, len(self.inputs), [x.bound for x in self.bound if x.bound is not None])
        self.segment.written = tuple(i for i, x in enumerate((*self.inputs, *self.bound)) if id(x) in written)

    def make(self, given: list[Tensor], device: int) -> Any:
        """Plan it for these tensors, which are on `device`."""
        self.made += 1
        while True:
            try:
                return plan(self.nodes, [*self.inputs, *self.bound], self.outputs, given, self.keys, self.parts.executor.arenas, device)
            except NeedsNumber as needed:
                self.keys.append(needed.position)
            except SegmentBreak as end:
                at = self.start + end.index
                (self.parts.alone if end.alone else self.parts.begins).add(at)
                self.parts.divide()
                raise

    def tried(self, env: dict[int, Any], around: dict[int, Any]) -> dict[int, Any] | None:
        """The values of its outputs by id; None where it could not run as it is."""
        executor = self.parts.executor
        values = [env[id(x)] if id(x) in env else executor.value_of(x, around) for x in self.inputs]
        if self.in_a_row >= MOST_IN_A_ROW and self._differs(values):
            return None
        before = self.made
        try:
            done = self.segment.run(values)
        except SegmentBreak:
            return None
        if self.inner:
            self.in_a_row = self.in_a_row + 1 if self.made > before else 0
        return None if done is None else {id(x): value for x, value in zip(self.outputs, done, strict=True)}

    def _differs(self, values: list[Any]) -> bool:
        """Whether sizes, or numbers that sizes and places follow from, are again others than in the call before: each round of a loop has its own
        where something grows or is written piece by piece. A plan takes longer than it saves then, and the nodes run one by one."""
        before, self.known = self.known, [getattr(x, "shape", None) for x in values]
        self.known += [values[at].numpy().tolist() for at in self.keys if at < len(values)]
        return before != self.known
