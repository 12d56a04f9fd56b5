"""A captured function as something to call with tensors: forwards, and backwards where gradients are asked for."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_graph import passes
from wherry_graph._calls import Trained
from wherry_graph.backward import gradients
from wherry_graph.executor import Executor, compiled
from wherry_graph.ir import BACKWARD, FORWARD, Node, Program, Variable
from wherry_graph.needs import alias_classes, draws, required_nodes
from wherry_graph.structure import map_structure
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import is_complex, is_floating_point
from wherry_train.amp import auto_cast

__all__ = ["OUTPUT", "OUTPUT_NUMBER", "OUTPUT_ROWS", "PartialProgram"]


class PartialProgram:
    """A program with feeds, run as one step of autograd.

    Args:
        program: captured; its feeds take the tensors of a call.
        outputs: what the function returned: a structure of variables and other values.
        fetches: the variables in it, in order.
        wanted: for each fetch, whether a gradient may arrive at it.
    """

    def __init__(self, program: Program, outputs: Any, fetches: list[Variable], wanted: list[bool]) -> None:
        self.program = program
        self.outputs = outputs
        self.fetches = fetches
        self.wanted = wanted
        self._forward: Callable[..., list[Tensor]] | None = None
        self._trained: Trained | None = None

    def __call__(self, tensors: list[Tensor]) -> Any:
        """Run it; returns the structure that the function returns."""
        if _core.is_grad_enabled() and any(self.wanted):
            if self._trained is None:
                self._trained = _trained(self)
            values = self._trained(tensors)
        else:
            if self._forward is None:
                self._forward = compiled(self.program, self.program.feeds, self.fetches, level=passes.EXACT)
            values = self._forward(*tensors)  # records no gradients
        if self.outputs is OUTPUT:
            return values[0]
        rest = iter(values)
        return map_structure(lambda leaf: leaf.of(next(rest)) if isinstance(leaf, _Output) else leaf, self.outputs)


class _Output:
    """In the place of what a program computes, in what a function returned: how it comes out of a fetch."""

    def __init__(self, of: Callable[[Tensor], Any]) -> None:
        self.of = of


OUTPUT = _Output(lambda x: x)
OUTPUT_ROWS = _Output(lambda x: [x[i] for i in range(x.shape[0])])  # a list that grew while the program ran
OUTPUT_NUMBER = _Output(lambda x: int(x))  # a size


# What works on single nodes. Others may join nodes of both passes, and run on each.
_BEFORE_DIVISION = (passes.dead_code, passes.constants, passes.common_subexpressions, passes.redundant, passes.dead_code)


def _trained(partial: PartialProgram) -> Trained:
    """The forward pass with what the backward pass needs kept, and the backward pass, as two programs."""
    joint, new = partial.program.copy()
    fetches = [new[id(x)] for x in partial.fetches]
    # What is returned as it was given is itself, as in eager code.
    given = {id(x): i for i, x in enumerate(joint.feeds)}
    computed = {id(x): x for x in fetches if id(x) not in given and x.bound is None}
    targets = {id(x): x for x, wanted in zip(fetches, partial.wanted, strict=True) if wanted and id(x) in computed and _floats(x)}
    from_call = [i for i, x in enumerate(joint.feeds) if not x.stop_gradient and _floats(x)]
    bound = [x for x in joint.bound_variables() if x.bound is not None and not x.bound.stop_gradient and _floats(x)]
    inputs = [*(joint.feeds[i] for i in from_call), *bound]
    block = joint.blocks[0]
    cotangents = [block.variable(x.sizes, x.dtype, None, is_data=True) for x in targets.values()]
    with auto_cast(enable=False):
        found = gradients(list(targets.values()), inputs, cotangents) if targets else [None] * len(inputs)
    grads = [g for g in found if g is not None]
    order = {at: k for k, at in enumerate(computed)}

    n_feeds, n_computed = len(joint.feeds), len(computed)
    joint.feeds = [*joint.feeds, *cotangents]
    joint.fetches = [*computed.values(), *grads]
    again = _Again(joint, n_feeds, grads)  # passes take out what only derivatives need
    for one in _BEFORE_DIVISION:
        joint = one(joint)
    feeds, cotangents = joint.feeds[:n_feeds], joint.feeds[n_feeds:]
    outs, grads = joint.fetches[:n_computed], joint.fetches[n_computed:]
    nodes = joint.nodes
    made = {id(x) for node in nodes if node.role != BACKWARD for x in node.outputs} | {id(x) for x in feeds}
    needed: dict[int, Variable] = {}
    for x in (*(x for node in nodes if node.role == BACKWARD for x in node.reads()), *grads):
        if id(x) in made:
            needed.setdefault(id(x), x)
    saved = list(needed.values())
    read = {id(x): x.bound for node in nodes if node.role == BACKWARD for x in node.reads() if x.bound is not None}
    return Trained(
        _part(joint, lambda node: node.role != BACKWARD, feeds, [*outs, *saved]),
        _part(joint, lambda node: node.role == BACKWARD, [*saved, *cotangents], grads),
        n_computed,
        targets=[order[at] for at in targets],
        # Where gradients come from: tensors of the call, by position, and tensors that the program is bound to.
        from_call=[i for i, g in zip(from_call, found, strict=False) if g is not None],
        from_bound=[x.bound for x, g in zip(bound, found[len(from_call):], strict=True) if g is not None and x.bound is not None],
        watched=[tensor for at, tensor in read.items() if at not in needed],
        handed=[(order.get(id(x)), given.get(id(x)), None if id(x) in given else x.bound) for x in fetches],
        again=again,
    )


def _part(joint: Program, belongs: Callable[[Node], bool], feeds: Sequence[Variable], fetches: Sequence[Variable]) -> Executor:
    program, new = joint.copy()
    program.blocks[0].nodes[:] = [node for node, old in zip(program.nodes, joint.nodes, strict=True) if belongs(old)]
    return compiled(program, [new[id(x)] for x in feeds], [new[id(x)] for x in fetches], level=passes.EXACT)


class _Again:
    """The gradients of a captured function as one more captured function, of its tensors and the cotangents: what can be differentiated.

    It computes the forward pass once more. Random ops draw what they drew: the state of the generators before each call is noted.
    """

    def __init__(self, joint: Program, n_feeds: int, grads: Sequence[Variable]) -> None:
        self.joint, self.n_feeds, self.grads = joint, n_feeds, list(grads)
        self.draws = any(draws(node) for node in joint.nodes)
        self.partial: PartialProgram | None = None

    def note(self, state: list[Any]) -> None:
        """Add what the generators are at now, each device's own."""
        state.append([(generator, generator.get_state()) for generator in _generators()])

    def __call__(self, tensors: Sequence[Tensor], cotangents: Sequence[Tensor], state: list[Any] | None) -> list[Tensor]:
        if self.partial is None:
            self.partial = self._captured()
        given = [*tensors, *cotangents]
        if state is None:
            return self.partial(given)  # type: ignore[no-any-return]
        now = [(generator, generator.get_state()) for generator, _ in state[0]]
        for generator, before in state[0]:
            generator.set_state(before)
        try:
            return self.partial(given)  # type: ignore[no-any-return]
        finally:
            for generator, after in now:
                generator.set_state(after)

    def _captured(self) -> PartialProgram:
        program, new = self.joint.copy()
        program.fetches = [new[id(x)] for x in self.grads]
        program.blocks[0].nodes[:] = required_nodes(program.blocks[0], program.fetches, lasting=False, random=True)
        memory = alias_classes(program)
        outside = {memory[id(x)] for x in (*program.bound_variables(), *program.feeds)}
        changed = next((x for node in program.nodes for x in node.writes() if memory[id(x)] in outside), None)
        if changed is not None:
            raise NotImplementedError(
                f"to_static: gradients of gradients (create_graph=True) compute the function once more. Got one whose gradient depends on "
                f"'{changed.name}', which it writes to, expected one that leaves what it reads as it was. Compute the gradient inside of the "
                f"function, or call the function that is not converted (rollback)."
            )
        for node in program.walk():
            node.role = FORWARD
        for x in program.feeds[self.n_feeds :]:
            x.stop_gradient = False
        fetches = program.fetches
        return PartialProgram(program, [OUTPUT] * len(fetches), fetches, [True] * len(fetches))


def _generators() -> list[Any]:
    """The generators that random ops of this thread may draw from."""
    codes = [_core.device_code(kind, number) for kind, (_, count, _) in _core.devices().items() for number in range(count)]
    return [_core.get_default_generator(code) for code in codes]


def _floats(x: Tensor) -> bool:
    return (is_floating_point(x) or is_complex(x)) and not getattr(x, "is_array", False)
