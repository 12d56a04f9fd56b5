"""Replaying the nodes of a program through the dispatcher, on other tensors.

`replayed` records them anew where a capture is on: so a block is copied into another place, with other variables in place of its own.
`retraced` lets autograd see nodes that are in the program already: each op is called, and the capture answers with the variables that
its node has. What is done with the results then (`wherry_autograd.grad`) is recorded after.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

from wherry_autograd import no_grad
from wherry_program.program.capture import Capture
from wherry_program.program.ir import Block, Node, Variable, attrs_with
from wherry_program.program.node_rules import REPLAY, RETRACE
from wherry_tensor._core import Op, Tensor, symbolic

__all__ = ["Retrace", "ghost_of", "replay_block", "replayed"]


def ghost_of(recording: Capture, x: Variable, stop_gradient: bool = True) -> Tensor:
    """A tensor that means `x` where a capture records, with a history of gradients of its own."""
    ghost = recording.stand_in(symbolic(x.sizes, x.dtype), x)
    if x.is_array:
        ghost.is_array = True  # type: ignore[attr-defined]
    ghost.stop_gradient = stop_gradient
    return ghost


def replayed(nodes: Iterable[Node], env: dict[int, Any], find: Callable[[Variable], Tensor]) -> None:
    """Apply the op of each node again.

    Args:
        nodes: in order.
        env: id of a variable -> what stands for it; results are added.
        find: gives what stands for a variable that is not in `env`.
    """

    def value_of(x: Any) -> Any:
        return env[id(x)] if id(x) in env else find(x)

    for node in nodes:
        if node.is_control:
            REPLAY[node.op.name](node, env, value_of)
            continue
        inputs = tuple(None if x is None else value_of(x) for x in node.inputs)
        attrs = attrs_with(node.attrs, value_of)
        if node.in_place:
            node.op.into(tuple(value_of(x) for x in node.outputs), *inputs, **dict(zip(node.op.attr_names, attrs, strict=True)))
            continue
        cut = any(x.__dict__.get("cuts_gradient", False) for x in node.outputs)
        with no_grad() if cut else nullcontext():
            results = node.op.apply(inputs, attrs)
        for x, result in zip(node.outputs, results if isinstance(results, tuple) else (results,), strict=True):
            env[id(x)] = result


def replay_block(block: Block, values: Iterable[Any], env: dict[int, Any], find: Callable[[Variable], Tensor]) -> list[Any]:
    """Replay an inner block with `values` for its inputs; returns what stands for its outputs."""
    inner = dict(env)
    inner.update((id(x), value) for x, value in zip(block.inputs, values, strict=True))
    replayed(block.nodes, inner, find)
    return [inner[id(x)] if id(x) in inner else find(x) for x in block.outputs]


class Retrace(Capture):
    """A capture that answers calls of nodes which are in the program, and records all others at the end of its block."""

    def __init__(self, block: Block) -> None:
        super().__init__(block)
        self._answering: Node | None = None
        self._answer: tuple[Tensor, ...] = ()

    def trace(self, node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
        """Show autograd the call of `node`; what stands for its outputs is entered in `env`."""
        if node.is_control:
            RETRACE[node.op.name](self, node, env, value_of)
            return
        inputs = tuple(None if x is None else value_of(x) for x in node.inputs)
        attrs = attrs_with(node.attrs, value_of)
        self._answering = node
        try:
            if node.in_place:
                outs = tuple(value_of(x) for x in node.outputs)
                self._answer = outs
                node.op.into(outs, *inputs, **dict(zip(node.op.attr_names, attrs, strict=True)))
                return
            self._answer = tuple(ghost_of(self, x) for x in node.outputs)
            results = node.op.apply(inputs, attrs)
        finally:
            self._answering = None
        for x, result in zip(node.outputs, results if isinstance(results, tuple) else (results,), strict=True):
            env[id(x)] = result

    def __call__(self, op: Op, inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]) -> tuple[Tensor, ...]:
        if self._answering is not None and self._answering.op is op:
            self._answering = None
            return self._answer
        return super().__call__(op, inputs, attrs)

    def into(
        self, op: Op, outs: tuple[Tensor, ...], inputs: tuple[Tensor | None, ...], attrs: tuple[Any, ...]
    ) -> tuple[Tensor, ...]:
        if self._answering is not None and self._answering.op is op:
            self._answering = None
            return self._answer
        return super().into(op, outs, inputs, attrs)
