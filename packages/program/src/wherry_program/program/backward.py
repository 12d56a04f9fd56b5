"""Gradients of programs: nodes that compute them, appended after the forward nodes.

They come from the rules of autograd: the nodes on the way from the inputs to the targets are shown to it once more (`Retrace`), and what
`wherry_autograd.grad` computes then is recorded.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wherry_autograd import enable_grad, grad
from wherry_program.program.capture import Capture, current_capture
from wherry_program.program.ir import BACKWARD, Block, Node, Variable
from wherry_program.program.replay import Retrace, ghost_of, replay_block
from wherry_tensor import ops
from wherry_tensor._core import Tensor

__all__ = ["block_gradients", "gradients"]


def gradients(
    targets: Sequence[Variable], inputs: Sequence[Variable], cotangents: Sequence[Variable | None] | None = None,
    no_grad: Iterable[Variable] = (), between: dict[Variable, Variable] | None = None,
) -> list[Variable | None]:
    """Add to a program the gradients of the sum of `targets` with respect to `inputs`.

    Args:
        targets: floating variables of one block.
        inputs: variables of the same block or bound to tensors; whether they stop gradients does not matter.
        cotangents: of each target, of its shape; None stands for ones.
        no_grad: variables that no gradient passes.
        between: takes the gradients of what is computed on the way, as far as they are there anyway: a pair of variables for each.

    Returns:
        The gradient of each input; None where no target depends on it.
    """
    block = targets[0].block
    recording = Retrace(block)
    recording.role = BACKWARD
    blocked = {id(x) for x in no_grad}
    wanted = {id(x) for x in inputs}
    path = _between(block, wanted, {id(x) for x in targets}, blocked)
    env: dict[int, Any] = {id(x): ghost_of(recording, x, stop_gradient=False) for x in inputs}

    def value_of(x: Any) -> Any:
        if id(x) not in env:
            env[id(x)] = ghost_of(recording, x)
        return env[id(x)]

    with recording:
        for node in path:
            made_here = {id(x): env[id(x)] for x in node.outputs if id(x) in wanted and not node.in_place}
            recording.trace(node, env, value_of)
            for x in node.outputs:
                if id(x) in made_here:
                    env[id(x)].stop_gradient = False
                elif id(x) in blocked or (not node.in_place and _cuts(x)):
                    env[id(x)] = ghost_of(recording, x)
        roots: list[Tensor] = []
        given: list[Tensor | None] = []
        for i, x in enumerate(targets):
            root = value_of(x)
            if not root.stop_gradient:
                roots.append(root)
                given.append(None if cotangents is None or cotangents[i] is None else cotangents[i])
        if not roots:
            return [None] * len(inputs)
        made = [] if between is None else [x for node in path if not node.in_place for x in node.outputs if not _no_gradient(env[id(x)])]
        found = grad(roots, [env[id(x)] for x in (*inputs, *made)], given, allow_unused=True)
        variables = [None if g is None else recording.variable_of(g) for g in found]
        if between is not None:
            between.update((x, g) for x, g in zip(made, variables[len(inputs) :], strict=True) if g is not None)
        return variables[: len(inputs)]


def _no_gradient(x: Any) -> bool:
    return not isinstance(x, Tensor) or x.stop_gradient or getattr(x, "is_array", False)


def _cuts(x: Variable) -> bool:
    """Whether gradients stop at a computed variable, because stop_gradient was set or it was detached."""
    return x.__dict__.get("cuts_gradient", False)


def _between(block: Block, sources: set[int], targets: set[int], blocked: set[int]) -> list[Node]:
    """The nodes on a way from `sources` to `targets`, in order."""
    reached = set(sources)
    forward: list[Node] = []
    for node in block.nodes:
        if any(id(x) in reached and id(x) not in blocked for x in node.reads()):
            forward.append(node)
            reached.update(id(x) for x in node.outputs)
    needed = set(targets)
    path: list[Node] = []
    for node in reversed(forward):
        if any(id(x) in needed for x in (*node.outputs, *node.writes())):
            path.append(node)
            needed.update(id(x) for x in node.reads())
    return path[::-1]


def block_gradients(
    block: Block, values: Sequence[Any], wrt_inputs: Sequence[int], wrt_free: Sequence[Variable], cotangents: Sequence[Tensor | None],
) -> list[Tensor]:
    """Where a capture is on: compute an inner block once more and then its gradients.

    Args:
        block: it stays as it is; its nodes are recorded anew.
        values: what stands for its inputs.
        wrt_inputs: the inputs of which gradients are wanted, by position.
        wrt_free: the variables from around the block of which gradients are wanted.
        cotangents: of each output of the block, None for those that have none.

    Returns:
        The gradients of `wrt_inputs`, then of `wrt_free`; zeros where the outputs do not depend on one.
    """
    recording = current_capture()
    assert recording is not None, "block_gradients: nothing is being captured"
    with recording.standing_in(), enable_grad():  # a backward pass runs with recording off
        return _block_gradients(recording, block, values, wrt_inputs, wrt_free, cotangents)


def _block_gradients(
    recording: Capture, block: Block, values: Sequence[Any], wrt_inputs: Sequence[int], wrt_free: Sequence[Variable],
    cotangents: Sequence[Tensor | None],
) -> list[Tensor]:
    env: dict[int, Any] = {}
    leaves: list[Tensor] = []
    taken: list[Any] = []
    for i, value in enumerate(values):
        if isinstance(value, Tensor):
            value = ghost_of(recording, recording.variable_of(value), stop_gradient=i not in wrt_inputs)
        taken.append(value)
    leaves += [taken[i] for i in wrt_inputs]
    for x in wrt_free:
        env[id(x)] = ghost_of(recording, x, stop_gradient=False)
        leaves.append(env[id(x)])

    def find(x: Variable) -> Tensor:
        env[id(x)] = ghost_of(recording, x)
        return env[id(x)]

    outs = replay_block(block, taken, env, find)
    roots = [(out, ct) for out, ct in zip(outs, cotangents, strict=True) if ct is not None and not out.stop_gradient]
    found = [None] * len(leaves) if not roots else grad([r for r, _ in roots], leaves, [ct for _, ct in roots], allow_unused=True)
    return [ops.full_like(leaf, value=0, dtype=leaf.dtype) if g is None else g for g, leaf in zip(found, leaves, strict=True)]
