"""Custom gradients in programs: `PyLayer` and the like."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_autograd.py_layer import layers_in_programs
from wherry_nn import unique_name
from wherry_program.program.control.recording import by_input, floats, recording_of, rules, sizes_of, with_gradient
from wherry_program.program.ir import Block, ControlOp, Node, Variable
from wherry_program.program.replay import replay_block
from wherry_tensor._core import Tensor

__all__ = ["OWN_GRADIENT", "own_gradient"]

# Hands on what was computed from the first `n` inputs: the inputs after them. Its block takes cotangents of outputs `passing`, and
# gives those of inputs `places`.
OWN_GRADIENT = ControlOp("own_gradient", ("n", "passing", "places"))


def own_gradient(
    inputs: Sequence[Tensor], results: Sequence[Tensor], backward: Callable[[list[Tensor | None]], Sequence[Tensor | None]] | None,
    constant: Sequence[Tensor] = (),
) -> list[Tensor]:
    """In a capture: `results`, whose gradients are not those of the ops that computed them.

    Args:
        inputs: tensors that the results were computed from.
        results: tensors.
        backward: from the cotangent of each result, to that of each input or None; recorded at once. None: no gradient passes.
        constant: those of the results that no gradient passes.
    """
    recording = recording_of("own_gradient")
    for x in results:
        if not any(x is y for y in inputs):
            recording.variable_of(x).__dict__["cuts_gradient"] = True
    names = unique_name.generate("own_gradient")
    outs = [recording.block.variable(sizes_of(x), x.dtype, f"{names}.tmp_{i}") for i, x in enumerate(results)]
    blocks: tuple[Block, ...] = ()
    places: tuple[int, ...] = ()
    passing = tuple(i for i, x in enumerate(results) if floats(x) and not any(x is y for y in constant))
    if backward is not None:
        block = recording.program.new_block(recording.block)
        cotangents: list[Tensor | None] = [None] * len(results)
        for i in passing:
            cotangents[i] = block.variable(sizes_of(results[i]), results[i].dtype, unique_name.generate("own_gradient.in"))
        block.inputs = [cotangents[i] for i in passing]  # type: ignore[misc]
        cuts, recording.no_grad_cuts = recording.no_grad_cuts, False  # the gradient may be differentiated again
        try:
            with recording.inside(block), recording.standing_in(), no_grad():
                found = backward(cotangents)
                block.outputs = [recording.variable_of(g) for g in found if g is not None]
        finally:
            recording.no_grad_cuts = cuts
        places, blocks = tuple(i for i, g in enumerate(found) if g is not None), (block,)
    node = recording.record(OWN_GRADIENT, (*inputs, *results), (len(inputs), passing, places), tuple(outs), blocks=blocks)
    for i, out in enumerate(outs):
        out.__dict__["cuts_gradient"] = i not in passing
    return with_gradient(recording, node, outs, recording.tensor_of) if blocks else list(outs)


def _own_gradient_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    _n, passing, places = node.attrs
    found: list[Any] = [None] * len(node.inputs)
    if node.blocks:
        recording, given = recording_of("own_gradient"), [cotangents[i] for i in passing]
        for place, g in zip(places, replay_block(node.blocks[0], given, {}, recording.tensor_of), strict=True):
            found[place] = g
    return by_input(node, wanted, found)


def _run_own_gradient(run: Any, node: Node, env: dict[int, Any]) -> None:
    for x, y in zip(node.outputs, node.inputs[node.attrs[0] :], strict=True):
        env[id(x)] = run.value_of(y, env)


def _replay_own_gradient(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    values = [value_of(x) for x in node.inputs]
    n, passing, places = node.attrs

    def backward(cotangents: list[Tensor | None]) -> list[Tensor | None]:
        found: list[Tensor | None] = [None] * n
        outs = replay_block(node.blocks[0], [ct for ct in cotangents if ct is not None], env, value_of)
        for place, g in zip(places, outs, strict=True):
            found[place] = g
        return found

    constant = [x for i, x in enumerate(values[n:]) if i not in passing]
    fresh = own_gradient(values[:n], values[n:], backward if node.blocks else None, constant)
    for x, value in zip(node.outputs, fresh, strict=True):
        env[id(x)] = value


rules(OWN_GRADIENT, _run_own_gradient, gradient=_own_gradient_gradient, replay=_replay_own_gradient)
layers_in_programs(own_gradient)
