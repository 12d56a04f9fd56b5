"""Recording and replaying control nodes, and telling autograd of them: shared by all kinds."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_autograd import PyLayer
from wherry_nn import unique_name
from wherry_program.program.capture import Capture, current_capture
from wherry_program.program.ir import ControlOp, Node, Variable
from wherry_program.program.node_rules import GRADIENT, REPLAY, RETRACE, RUN
from wherry_program.program.replay import ghost_of
from wherry_tensor import _core
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import is_complex, is_floating_point
from wherry_tensor.sizes import Size

__all__ = ["by_input", "floats", "recorded", "recording_of", "rules", "sizes_of", "with_gradient"]


def rules(
    op: ControlOp, run: Callable[[Any, Node, dict[int, Any]], None], *,
    gradient: Callable[[Node, list[Variable], Sequence[Any]], Sequence[Any]] | None = None,
    replay: Callable[[Node, dict[int, Any], Callable[[Any], Any]], None] | None = None,
) -> None:
    """Register the rules of a kind of node. Without `replay` it is recorded once more as it is, so it must own no blocks."""
    RUN[op.name], RETRACE[op.name] = run, _retrace
    REPLAY[op.name] = replay or _replay_plain
    if gradient is not None:
        GRADIENT[op.name] = gradient


def recording_of(what: str) -> Capture:
    """The active capture; raises an error, for `what`, if there is none."""
    recording = current_capture()
    if recording is None:
        raise RuntimeError(f"{what}: nothing is being captured. Got the call outside of a program, expected it inside. Use a list.")
    return recording


def recorded(recording: Capture, op: ControlOp, inputs: tuple[Tensor, ...], attrs: tuple[Any, ...], out: Variable) -> Any:
    """Record a node with one output, and tell autograd of it."""
    return with_gradient(recording, recording.record(op, inputs, attrs, (out,)), (out,), recording.tensor_of)[0]


def with_gradient(
    recording: Capture, node: Node, outs: Sequence[Tensor], tensor_of: Callable[[Variable], Tensor],
) -> list[Tensor]:
    """Tell autograd of a node. Returns what stands for its outputs."""
    needed = node.reads()
    tensors = [tensor_of(x) for x in needed]
    wanted = [i for i, x in enumerate(tensors) if not x.stop_gradient and floats(x)]
    if not wanted or not _core.is_grad_enabled() or not any(floats(x) for x in outs):
        return list(outs)
    variables = [needed[i] for i in wanted]

    def backward(cotangents: Sequence[Tensor]) -> Sequence[Tensor | None]:
        cts = [ct if floats(out) else None for ct, out in zip(cotangents, outs)]
        return GRADIENT[node.op.name](node, variables, cts)

    found = _Control.apply(_Rule(outs, backward), *(tensors[i] for i in wanted))
    return list(found)


class _Rule:
    """What `_Control` is given: it is not a tensor, so PyLayer passes it by."""

    def __init__(self, outs: Sequence[Tensor], backward: Callable[[Sequence[Tensor]], Sequence[Tensor | None]]) -> None:
        self.outs, self.backward = tuple(outs), backward


class _Control(PyLayer):
    """Lets autograd pass a node of control flow: the outputs depend on tensors from around it."""

    _is_written = False  # the node is in the program already

    @staticmethod
    def forward(ctx: Any, rule: _Rule, *needed: Tensor) -> Any:
        ctx.rule = rule
        ctx.mark_non_differentiable(*(x for x in rule.outs if not floats(x)))
        return rule.outs

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        return tuple(ctx.rule.backward(cotangents))


def by_input(node: Node, wanted: list[Variable], found: Sequence[Any]) -> list[Any]:
    """Of the cotangents of all inputs, those of `wanted`; an input that comes twice has their sum."""
    out: list[Any] = []
    for x in wanted:
        mine = [ct for y, ct in zip(node.inputs, found, strict=True) if y is x and ct is not None]
        out.append(None if not mine else sum(mine[1:], mine[0]))
    return out


def floats(x: Tensor) -> bool:
    """Whether it can have a gradient."""
    return is_floating_point(x) or is_complex(x)


def sizes_of(x: Tensor) -> tuple[int, ...]:
    """The shape as plain numbers, -1 where a size is unknown."""
    return tuple(-1 if type(n) is Size else n for n in x.shape)


def _replay_plain(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    recording = recording_of(node.op.name)
    outs = tuple(
        recording.block.variable(x.sizes, x.dtype, unique_name.generate(node.op.name) + ".tmp_0", is_array=x.is_array)
        for x in node.outputs
    )
    inputs = tuple(None if x is None else value_of(x) for x in node.inputs)
    again = recording.record(node.op, inputs, node.attrs, outs)
    given = with_gradient(recording, again, outs, recording.tensor_of) if node.op.name in GRADIENT else outs
    for x, value in zip(node.outputs, given, strict=True):
        env[id(x)] = value


def _retrace(recording: Capture, node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    outs = [ghost_of(recording, x) for x in node.outputs]
    given = with_gradient(recording, node, outs, value_of) if node.op.name in GRADIENT else outs
    for x, value in zip(node.outputs, given, strict=True):
        env[id(x)] = value
