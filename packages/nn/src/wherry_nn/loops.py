"""Loops whose number of rounds depends on values. A program that is captured records them: its package, which is above this one, says how."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor.errors import PreconditionNotMetError

__all__ = ["collected", "record_loops_with", "while_loop"]

_recorders: dict[str, Callable[..., Any]] = {}


def record_loops_with(**recorders: Callable[..., Any]) -> None:
    """What a package of programs records loops with: functions of the names and arguments of those here, which know when nothing is captured."""
    _recorders.update(recorders)


def while_loop(holds: Callable[..., Any], step: Callable[..., Sequence[Any]], values: Sequence[Any]) -> Sequence[Any]:
    """Replace `values` by `step(*values)` while `holds(*values)`; returns the last ones."""
    if "while_loop" in _recorders:
        return _recorders["while_loop"](holds, step, values)
    while holds(*values):
        values = step(*values)
    return values


def collected(step: Callable[[Any, Any], tuple[Any, Any, Any]], first: Any, state: Any, over: Any) -> tuple[Any, Any]:
    """In a program: rounds until one says that it was the last, and what all of them gave. See `wherry_program.program.control.collected`.

    Raises:
        PreconditionNotMetError: no package of programs is there.
    """
    if "collected" not in _recorders:
        raise PreconditionNotMetError(
            "collected: nothing here records loops. Got a symbolic condition, expected one with a value. Import wherry_program.program.control first."
        )
    return _recorders["collected"](step, first, state, over)
