"""A captured function as something to call with tensors: forwards, and backwards where gradients are asked for."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_autograd import _engine
from wherry_graph import passes
from wherry_graph.backward import gradients
from wherry_graph.executor import compiled
from wherry_graph.ir import BACKWARD, Node, Program, Variable
from wherry_graph.structure import map_structure
from wherry_tensor import _core, ops
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
        self._trained: _Trained | None = None

    def __call__(self, tensors: Sequence[Tensor]) -> Any:
        """Run it; returns the structure that the function returns."""
        if _core.is_grad_enabled() and any(self.wanted):
            if self._trained is None:
                self._trained = _Trained(self)
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


class _Trained:
    """The forward pass with what the backward pass needs kept, and the backward pass, as two programs."""

    def __init__(self, partial: PartialProgram) -> None:
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
        # Where gradients come from: tensors of the call, by position, and tensors that the program is bound to.
        self.from_call = [i for i, g in zip(from_call, found, strict=False) if g is not None]
        self.from_bound = [x.bound for x, g in zip(bound, found[len(from_call):], strict=True) if g is not None and x.bound is not None]
        grads = [g for g in found if g is not None]

        order = {at: k for k, at in enumerate(computed)}
        self.results: list[tuple[int | None, int | None, Tensor | None]] = [
            (order.get(id(x)), given.get(id(x)), None if id(x) in given else x.bound) for x in fetches
        ]
        self.targets = [order[at] for at in targets]

        n_feeds, n_computed = len(joint.feeds), len(computed)
        joint.feeds = [*joint.feeds, *cotangents]
        joint.fetches = [*computed.values(), *grads]
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
        self.n_computed = n_computed
        self.forward = _part(joint, lambda node: node.role != BACKWARD, feeds, [*outs, *saved])
        self.backward = _part(joint, lambda node: node.role == BACKWARD, [*saved, *cotangents], grads)

    def __call__(self, tensors: Sequence[Tensor]) -> list[Any]:
        n = self.n_computed
        values = self.forward(*tensors)  # records no gradients
        sources = [*(tensors[i] for i in self.from_call), *self.from_bound]
        if sources and self.targets:
            outs = [values[i] for i in self.targets]
            _engine.record_custom(_Backward(self, values[n:], outs), sources, outs)
        return [
            values[at] if at is not None else tensors[position] if position is not None else lasting
            for at, position, lasting in self.results
        ]


def _part(joint: Program, belongs: Callable[[Node], bool], feeds: Sequence[Variable], fetches: Sequence[Variable]) -> Callable[..., list[Any]]:
    program, new = joint.copy()
    program.blocks[0].nodes[:] = [node for node, old in zip(program.nodes, joint.nodes, strict=True) if belongs(old)]
    return compiled(program, [new[id(x)] for x in feeds], [new[id(x)] for x in fetches], level=passes.EXACT)


class _Backward:
    """The rule of autograd for one call of a captured function."""

    name = "to_static"
    __slots__ = ("metas", "saved", "trained")

    def __init__(self, trained: _Trained, saved: list[Tensor], outs: list[Tensor]) -> None:
        self.trained, self.saved = trained, saved
        self.metas = [(tuple(x.shape), x.dtype) for x in outs]

    def __call__(self, node: Any, cotangents: Sequence[Tensor | None]) -> Sequence[Tensor]:
        if _core.is_grad_enabled():
            raise NotImplementedError(
                "to_static: a captured function has first derivatives. Got a gradient of a gradient (create_graph=True), expected the first. "
                "Compute the gradient inside of the function, or call the function that is not converted (rollback)."
            )
        given = [
            ops.full(shape=shape, value=0, dtype=dtype) if ct is None else ct for ct, (shape, dtype) in zip(cotangents, self.metas, strict=True)
        ]
        return self.trained.backward(*self.saved, *given)


def _floats(x: Tensor) -> bool:
    return (is_floating_point(x) or is_complex(x)) and not getattr(x, "is_array", False)
