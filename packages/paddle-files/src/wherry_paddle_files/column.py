"""The two tables of the translation: how each op is written as Paddle's operators, and how Paddle's operators are read.

    @writes(ops.relu)
    def write_relu(w, x):
        return w("relu", {"X": x})

    @reads("relu")
    def read_relu(o):
        return ops.relu(o.x("X"))

`writes_node("cond")` does the same for a kind of control node; its rule is given the Writer and the node.

`writes` fills the column `paddle`: a rule is given the Writer, a `Value` for each input of the op (None for an absent one) and
the attributes by name. An op without a rule is written as its decomposition. `reads` is given an `OpView` and calls functions
of the library, which are recorded. Rules are in `ops/<family>.py`, by the family of the op in the vocabulary.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_tensor.columns import Column, place_of

__all__ = ["LOOP", "READS", "WRITES_NODES", "Reading", "paddle", "reads", "writes", "writes_node"]

SERVES_VOCABULARY = 5  # what the rules were written for

paddle = Column("paddle", "wherry-paddle-files", "written as its decomposition", serves=SERVES_VOCABULARY, optional=True)
writes = paddle.rule

LOOP = "written as the loop of wherry_program.program.loop_forms"  # said of ops that have no rule for this reason


class Reading:
    """How an operator of Paddle is read.

    Attributes:
        rule: called with an OpView; gives a tensor, or a dict from output slots to a tensor or a list of them.
        out: the slot that a single tensor belongs to.
    """

    __slots__ = ("out", "rule")

    def __init__(self, rule: Callable[[Any], Any], out: str) -> None:
        self.rule, self.out = rule, out


READS: dict[str, Reading] = {}
WRITES_NODES: dict[str, Callable[[Any, Any], None]] = {}  # by the name of the ControlOp


def writes_node(kind: str) -> Callable[[Callable[[Any, Any], None]], Callable[[Any, Any], None]]:
    """Decorator: the function writes the control nodes of this kind."""

    def register(function: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        WRITES_NODES[kind] = function
        return function

    return register


def reads(*types: str, out: str = "Out") -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Decorator: the function reads the operators of these types."""

    def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for name in types:
            if name in READS:
                raise ValueError(
                    f"operator '{name}' is read already. Got a second rule at {place_of(function)}, expected none beside the one at "
                    f"{place_of(READS[name].rule)}. Remove one of the two."
                )
            READS[name] = Reading(function, out)
        return function

    return register


