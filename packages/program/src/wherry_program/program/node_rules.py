"""The rules of control nodes: one entry for each name of a `ControlOp`.

The modules of `control`, and other packages with kinds of nodes of their own, enter their rules here; the interpreter, `replay` and
`backward` look them up. An op of the vocabulary needs no entry.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_program.program.ir import Node, Variable
from wherry_tensor._core import Tensor

__all__ = ["GRADIENT", "REPLAY", "RETRACE", "RUN"]

# How the interpreter runs a node: (interpreter, node, values of variables by id).
RUN: dict[str, Callable[[Any, Node, dict[int, Any]], None]] = {}

# How a node is recorded once more elsewhere: (node, what stands for variables by id, what stands for any variable).
REPLAY: dict[str, Callable[[Node, dict[int, Any], Callable[[Any], Any]], None]] = {}

# How autograd is told of a node that is in the program: (capture, node, what stands for variables by id, for any variable).
RETRACE: dict[str, Callable[[Any, Node, dict[int, Any], Callable[[Any], Any]], None]] = {}

# The gradient: from the cotangents of the outputs to those of the variables that are asked for, in order.
GRADIENT: dict[str, Callable[[Node, list[Variable], Sequence[Tensor | None]], Sequence[Tensor | None]]] = {}
