"""A captured function as something to call with tensors: forwards, and backwards where gradients are asked for."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_autograd import PyLayer, no_grad
from wherry_graph.backward import gradients
from wherry_graph.executor import compiled
from wherry_graph.ir import Program, Variable
from wherry_graph.passes import EXACT
from wherry_graph.structure import map_structure
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import is_complex, is_floating_point

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
                self._forward = compiled(self.program, self.program.feeds, self.fetches, level=EXACT)
            with no_grad():
                values = self._forward(*tensors)
        rest = iter(values)
        return map_structure(lambda leaf: leaf.of(next(rest)) if isinstance(leaf, _Output) else leaf, self.outputs)


class _Output:
    """In the place of what a program computes, in what a function returned: how it comes out of a fetch."""

    def __init__(self, of: Callable[[Tensor], Any]) -> None:
        self.of = of


OUTPUT = _Output(lambda x: x)
OUTPUT_ROWS = _Output(lambda x: [x[i] for i in range(x.shape[0])])  # a list that grew while the program ran
OUTPUT_NUMBER = _Output(lambda x: int(x))  # a size


class _Trained:
    """The forward pass with what the backward pass needs kept, and the backward pass, as two programs."""

    def __init__(self, partial: PartialProgram) -> None:
        joint, new = partial.program.copy()
        fetches = [new[id(x)] for x in partial.fetches]
        self.targets = [i for i, x in enumerate(fetches) if partial.wanted[i] and _floats(x)]
        self.feeds_wanted = [i for i, x in enumerate(joint.feeds) if not x.stop_gradient and _floats(x)]
        bound = [x for x in joint.bound_variables() if not x.bound.stop_gradient and _floats(x)]  # type: ignore[union-attr]
        mark = len(joint.nodes)
        block = joint.blocks[0]
        cotangents: list[Variable] = []
        for i in self.targets:
            x = fetches[i]
            cotangents.append(block.variable(x.sizes, x.dtype, None, is_data=True))
        inputs = [*(joint.feeds[i] for i in self.feeds_wanted), *bound]
        found = gradients([fetches[i] for i in self.targets], inputs, cotangents) if self.targets else [None] * len(inputs)
        n = len(self.feeds_wanted)
        self.bound = [x.bound for x, g in zip(bound, found[n:], strict=True) if g is not None]
        self.positions = [i for i, g in enumerate(found) if g is not None]  # of the inputs that have a gradient
        self.given = found[:n]
        grads = [g for g in found if g is not None]
        made = {id(x) for node in joint.nodes[:mark] for x in node.outputs} | {id(x) for x in joint.feeds}
        needed: dict[int, Variable] = {}
        for node in joint.nodes[mark:]:
            for x in node.reads():
                if id(x) in made:
                    needed.setdefault(id(x), x)
        for x in grads:
            if id(x) in made:
                needed.setdefault(id(x), x)
        self.saved = list(needed.values())
        self.fetches = fetches
        self.n_fetches = len(fetches)
        forward, to_forward = joint.copy()
        del forward.nodes[mark:]
        backward, to_backward = joint.copy()
        del backward.nodes[:mark]
        self.forward = compiled(forward, forward.feeds, [to_forward[id(x)] for x in (*fetches, *self.saved)], level=EXACT)
        self.backward = compiled(
            backward, [to_backward[id(x)] for x in (*self.saved, *cotangents)], [to_backward[id(x)] for x in grads], level=EXACT
        )
        # What is returned as it was given is itself, as in eager code.
        feeds = {id(x): i for i, x in enumerate(joint.feeds)}
        self.same = {i: feeds[id(x)] for i, x in enumerate(fetches) if id(x) in feeds}
        self.lasting = {i: x.bound for i, x in enumerate(fetches) if x.bound is not None}
        self.computed = [i for i in range(len(fetches)) if i not in self.same and i not in self.lasting]
        self.silent = [i for i in self.computed if i not in self.targets]

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        sources = [tensors[self.feeds_wanted[i]] for i, g in enumerate(self.given) if g is not None] + self.bound
        results = _Step.apply(self, _Box(tensors), *sources) if self.computed else ()
        values: list[Any] = [None] * self.n_fetches
        for i, value in zip(self.computed, results, strict=True):
            values[i] = value
        for i, at in self.same.items():
            values[i] = tensors[at]
        for i, value in self.lasting.items():
            values[i] = value
        return values


class _Box:
    """The tensors of a call, out of sight of PyLayer: what it finds in tuples and lists it takes for inputs."""

    __slots__ = ("tensors",)

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = tensors


class _Step(PyLayer):
    """A captured function as one node of autograd."""

    @staticmethod
    def forward(ctx: Any, trained: _Trained, box: _Box, *sources: Tensor) -> Any:
        values = trained.forward(*box.tensors)
        n = trained.n_fetches
        ctx.trained, ctx.saved = trained, values[n:]
        ctx.outputs = [values[i] for i in trained.targets]
        outs = tuple(values[i] for i in trained.computed)
        ctx.mark_non_differentiable(*(values[i] for i in trained.silent))
        ctx.set_materialize_grads(False)
        return outs

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> Any:
        trained = ctx.trained
        if _core.is_grad_enabled():
            raise NotImplementedError(
                "to_static: a captured function has first derivatives. Got a gradient of a gradient (create_graph=True), expected the first. "
                "Compute the gradient inside of the function, or call the function that is not converted (rollback)."
            )
        by_fetch = dict(zip(trained.computed, cotangents, strict=True))
        given = []
        for i, out in zip(trained.targets, ctx.outputs, strict=True):
            ct = by_fetch.get(i)
            given.append(ops.full_like(out, value=0, dtype=out.dtype) if ct is None else ct)
        with no_grad():
            return tuple(trained.backward(*ctx.saved, *given))


def _floats(x: Tensor) -> bool:
    return (is_floating_point(x) or is_complex(x)) and not getattr(x, "is_array", False)
