"""Passes: functions from a program to an equivalent program.

    better = dead_code(program)
    better = default(program, INFERENCE)      # all passes of a level, in order

Each works on a copy (a row of them on one), can be printed before and after, and be used alone. What a program is for are its
`fetches`, and what it writes to tensors that last; a pass may drop everything else. `KEEP_BITS` names those after which every bit stays as it was.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from wherry_program.passes.attention import attention
from wherry_program.passes.batch_norm import batch_norm
from wherry_program.passes.biases import biases
from wherry_program.passes.blocked import blocked
from wherry_program.passes.common_subexpressions import common_subexpressions
from wherry_program.passes.composed import composed
from wherry_program.passes.constants import constants, frozen_constants, packed_constants
from wherry_program.passes.dead_code import dead_code
from wherry_program.passes.elementwise import elementwise, unfused
from wherry_program.passes.epilogues import epilogues
from wherry_program.passes.gates import gates
from wherry_program.passes.integers import integers
from wherry_program.passes.packed_integers import packed_integers
from wherry_program.passes.rectified import rectified
from wherry_program.passes.recurrent import packed_recurrent
from wherry_program.passes.redundant import redundant
from wherry_program.passes.residuals import residuals
from wherry_program.program.ir import Program
from wherry_program.run._recording import state_of
from wherry_tensor.errors import short

__all__ = [
    "EXACT", "INFERENCE", "KEEP_BITS", "NONE", "Steps", "attention", "batch_norm", "biases", "blocked", "common_subexpressions", "composed",
    "constants", "dead_code", "default", "elementwise", "epilogues", "frozen_constants", "gates", "integers", "packed_constants", "packed_integers",
    "packed_recurrent", "pipeline", "rectified", "redundant", "residuals", "through", "unfused",
]

NONE, EXACT, INFERENCE = 0, 1, 2
KEEP_BITS = (dead_code, constants, common_subexpressions, redundant, rectified, residuals, elementwise)


def pipeline(level: int) -> list[Callable[[Program], Program]]:
    """The passes of a level, in order.

    Args:
        level: NONE, none at all. EXACT, those that keep every bit and take parameters as what may change between runs. INFERENCE, also
            those that take the values of parameters as they are now and may round differently.

    Raises:
        ValueError: there is no such level.
    """
    if level not in (NONE, EXACT, INFERENCE):
        raise ValueError(f"passes: the level is unknown. Got {short(level)}, expected 0 (none), 1 (exact) or 2 (inference).")
    if level == NONE:
        return []
    exact: list[Callable[[Program], Program]] = [dead_code, constants, common_subexpressions, redundant, dead_code]
    if level == EXACT:
        return [*exact, rectified, residuals, elementwise]
    folded = [packed_constants, integers, frozen_constants, composed, dead_code, biases, batch_norm, attention, frozen_constants, dead_code]
    arranged = [blocked, packed_recurrent, packed_integers, gates, epilogues, frozen_constants, dead_code]
    return [*exact, *folded, *arranged, rectified, residuals, elementwise]


def default(program: Program, level: int = EXACT) -> Program:
    """Apply all passes of a level (see `pipeline`).

    Examples:
        >>> from wherry_program import Program, passes
        >>> from wherry_program.program.capture import capture
        >>> program = Program()
        >>> x = program.feed([-1, 3], wherry.float32, "x")
        >>> with capture(program):
        ...     y, unused = x.exp() + x.exp(), x.tanh()
        >>> program.fetches = [y]
        >>> [node.type for node in passes.dead_code(passes.common_subexpressions(program)).nodes]
        ['exp', 'add']
        >>> [node.type for node in passes.default(program).nodes]
        ['fused_elementwise']
    """
    row = pipeline(level)
    return through(program, row) if row else program


def through(program: Program, row: Sequence[Callable[[Program], Program]]) -> Program:
    """Apply passes in order; `program` itself stays as it is, unless it is `in_passes` already."""
    if not program.in_passes:
        program, _ = program.copy()
    program.in_passes = True
    steps = Steps()
    for one in row:
        program = steps.after(one, program)
    program.in_passes = False
    return program


class Steps:
    """Passes that are applied to one program in a row, each by a call; those that would find nothing are left out."""

    def __init__(self) -> None:
        self._behind: dict[Any, list[Any]] = {}  # what the nodes were when a pass had run

    def after(self, one: Callable[[Program], Program], program: Program) -> Program:
        """The program after a pass; it is `in_passes`."""
        if one not in _AGAIN:
            return one(program)
        nodes = _nodes_of(program)
        before = self._behind.get(one)
        if before is not None and len(before) == len(nodes) and all(map(is_, before, nodes)):
            return program  # it would find nothing
        program = one(program)
        self._behind[one] = _nodes_of(program)
        return program


_AGAIN = (dead_code, frozen_constants)  # of a row, several times; what they do follows from nodes and fetches alone


def _nodes_of(program: Program) -> list[Any]:
    """What the nodes of a program are now."""
    return [*program.fetches, *state_of(program.blocks[0])]
