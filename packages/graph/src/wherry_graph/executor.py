"""How programs are run.

    run = compiled(program, feeds, fetches)
    values = run(*tensors)
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wherry_graph.interpreter import Interpreter
from wherry_graph.ir import Program, Variable
from wherry_tensor._core import Tensor

__all__ = ["compiled"]


def compiled(
    program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None, *,
    lookup: Callable[[Variable], Tensor | None] | None = None, prune: bool = False,
) -> Callable[..., list[Any]]:
    """The program as something to call, with one tensor for each feed; it returns the value of each fetch.

    Args:
        program: not changed afterwards.
        feeds: variables, in the order of a call's arguments; None takes `program.feeds`.
        fetches: variables, in the order of the results; None takes `program.fetches`.
        lookup: gives the tensor of a variable that is neither fed nor made nor bound (from a scope).
        prune: leave out the nodes that nothing needs.

    Examples:
        >>> from wherry_graph import Program
        >>> from wherry_graph.capture import capture
        >>> from wherry_graph.executor import compiled
        >>> program = Program()
        >>> x = program.feed([-1, 3], wherry.float32, "x")
        >>> with capture(program):
        ...     y = (x * 2.0).sum(axis=1)
        >>> (value,) = compiled(program, [x], [y])(wherry.ones([2, 3]))
        >>> print(value.numpy())
        [6. 6.]
    """
    return Interpreter(program, feeds, fetches, lookup=lookup, prune=prune)
