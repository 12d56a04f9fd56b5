"""Element-wise nodes that run as one loop: a node that owns a block of them.

Its meaning is that of its nodes in order. The planner runs them tile by tile, so that what lies between them never
leaves the cache; `passes.elementwise` makes such nodes.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_program.program.ir import ControlOp, Node
from wherry_program.program.node_rules import REPLAY, RETRACE, RUN
from wherry_program.program.replay import replay_block

__all__ = ["FUSED"]

FUSED = ControlOp("fused_elementwise")


def _run(run: Any, node: Node, env: dict[int, Any]) -> None:
    for x, value in zip(node.outputs, run.run_block(node.blocks[0], env), strict=True):
        env[id(x)] = value


def _replay(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    for x, value in zip(node.outputs, replay_block(node.blocks[0], (), env, value_of), strict=True):
        env[id(x)] = value


def _retrace(_recording: Any, node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    _replay(node, env, value_of)  # recorded once more, as a block of a choice is


RUN[FUSED.name], REPLAY[FUSED.name], RETRACE[FUSED.name] = _run, _replay, _retrace
