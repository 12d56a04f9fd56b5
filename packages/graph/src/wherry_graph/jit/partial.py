"""Calling a captured function: the forward pass, and the backward pass if gradients are required."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_program import passes
from wherry_program.program.backward import gradients
from wherry_program.program.ir import BACKWARD, FORWARD, Program, Variable
from wherry_program.program.needs import alias_classes, draws, required_nodes
from wherry_program.program.structure import map_structure
from wherry_program.run._calls import Trained
from wherry_program.run.executor import Executor, compiled
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
                self._trained = split_forward_backward(self)
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


# Passes on single nodes, and `rectified`, which looks from a gradient at what it is of. Others could merge nodes of both passes, so they run on each.
_BEFORE_DIVISION = (passes.dead_code, passes.constants, passes.common_subexpressions, passes.redundant, passes.dead_code, passes.rectified)


class _Joint:
    """A captured program with its gradients after it.

    Attributes:
        program: a copy of the captured one; its feeds are those of the function, then the cotangents of `targets`; its fetches are
            what the function computes, then the gradients.
        n_feeds: how many feeds the function has.
        fetches: what the function returns.
        computed: by id, those of the fetches that a run computes: the others are arguments, or last.
        targets: by id, those of the computed ones that a gradient may arrive at.
        grads: the gradients.
        from_call: positions of the feeds that gradients are for.
        from_bound: the tensors with data that gradients are for.
    """

    def __init__(self, partial: PartialProgram) -> None:
        self.program, new = partial.program.copy()
        self.fetches = [new[id(x)] for x in partial.fetches]
        self.n_feeds = len(self.program.feeds)
        self.given = {id(x): i for i, x in enumerate(self.program.feeds)}
        self.computed = {id(x): x for x in self.fetches if id(x) not in self.given and x.bound is None}
        self.targets = {
            id(x): x for x, wanted in zip(self.fetches, partial.wanted, strict=True) if wanted and id(x) in self.computed and _floats(x)
        }
        self._add_gradients()

    def _add_gradients(self) -> None:
        program = self.program
        from_call = [i for i, x in enumerate(program.feeds) if not x.stop_gradient and _floats(x)]
        bound = [x for x in program.bound_variables() if x.bound is not None and not x.bound.stop_gradient and _floats(x)]
        inputs = [*(program.feeds[i] for i in from_call), *bound]
        cotangents = [program.blocks[0].variable(x.sizes, x.dtype, None, is_data=True) for x in self.targets.values()]
        with auto_cast(enable=False):
            found = gradients(list(self.targets.values()), inputs, cotangents) if self.targets else [None] * len(inputs)
        self.grads = [g for g in found if g is not None]
        self.from_call = [i for i, g in zip(from_call, found, strict=False) if g is not None]
        self.from_bound = [x.bound for x, g in zip(bound, found[len(from_call):], strict=True) if g is not None and x.bound is not None]
        program.feeds = [*program.feeds, *cotangents]
        program.fetches = [*self.computed.values(), *self.grads]

    def handed(self) -> list[tuple[int | None, int | None, Tensor | None]]:
        """Of each fetch: its place among the computed ones, or among the arguments, or the tensor that it is.

        What is returned as it was given is itself, as in eager code.
        """
        order = {at: k for k, at in enumerate(self.computed)}
        return [(order.get(id(x)), self.given.get(id(x)), None if id(x) in self.given else x.bound) for x in self.fetches]


def split_forward_backward(partial: PartialProgram) -> Trained:
    """A captured program as two: the forward pass, which also gives what the backward pass needs, and the backward pass."""
    joint = _Joint(partial)
    again = HigherOrderGradient(joint)  # before the passes, which take out what only derivatives need
    program = passes.through(joint.program, _BEFORE_DIVISION)
    n_computed = len(joint.computed)
    feeds, cotangents = program.feeds[: joint.n_feeds], program.feeds[joint.n_feeds :]
    outs, grads = program.fetches[:n_computed], program.fetches[n_computed:]
    saved = _read_by_backward(program, feeds, grads)
    at_hand = {id(x) for x in saved}
    behind = {id(x): x for node in program.nodes if node.role == BACKWARD for x in node.reads()}
    order = {at: k for k, at in enumerate(joint.computed)}
    forward, new = program.copy()
    return Trained(
        _compiled_part(forward, False, [new[id(x)] for x in feeds], [new[id(x)] for x in (*outs, *saved)]),
        _compiled_part(program, True, [*saved, *cotangents], grads),
        n_computed,
        targets=[order[at] for at in joint.targets],
        from_call=joint.from_call,
        from_bound=joint.from_bound,
        watched=[x.bound for at, x in behind.items() if x.bound is not None and at not in at_hand],
        handed=joint.handed(),
        again=again,
    )


def _read_by_backward(program: Program, feeds: Sequence[Variable], grads: Sequence[Variable]) -> list[Variable]:
    """What the backward pass takes from the forward pass: feeds, and what its nodes make."""
    made = {id(x) for node in program.nodes if node.role != BACKWARD for x in node.outputs} | {id(x) for x in feeds}
    read = (*(x for node in program.nodes if node.role == BACKWARD for x in node.reads()), *grads)
    return list({id(x): x for x in read if id(x) in made}.values())


def _compiled_part(program: Program, backward: bool, feeds: Sequence[Variable], fetches: Sequence[Variable]) -> Executor:
    """Compile the forward or the backward pass of a program, which may be changed."""
    program.blocks[0].nodes[:] = [node for node in program.nodes if (node.role == BACKWARD) is backward]
    program.in_passes = True
    return compiled(program, feeds, fetches, level=passes.EXACT)


class HigherOrderGradient:
    """The gradients of a captured function as one more captured function, of its tensors and the cotangents: what can be differentiated.

    It computes the forward pass once more. Random ops draw what they drew: the state of the generators before each call is noted.
    """

    def __init__(self, joint: _Joint) -> None:
        self.joint = joint
        self.draws = any(draws(node) for node in joint.program.nodes)
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
        program, new = self.joint.program.copy()
        program.fetches = [new[id(x)] for x in self.joint.grads]
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
        for x in program.feeds[self.joint.n_feeds :]:
            x.stop_gradient = False
        fetches = program.fetches
        return PartialProgram(program, [OUTPUT] * len(fetches), fetches, [True] * len(fetches))


def _generators() -> list[Any]:
    """The generators that random ops of this thread may draw from."""
    codes = [_core.device_code(kind, number) for kind, (_, count, _) in _core.devices().items() for number in range(count)]
    return [_core.get_default_generator(code) for code in codes]


def _floats(x: Tensor) -> bool:
    return (is_floating_point(x) or is_complex(x)) and not getattr(x, "is_array", False)
