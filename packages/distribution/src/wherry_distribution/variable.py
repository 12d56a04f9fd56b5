"""Kinds of random variables: discrete or not, of which rank, and with which values. Transforms say with them what they map to what."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_distribution import constraint as _constraint
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, require
from wherry_tensor.functions.movement import stack, unstack

__all__ = ["Independent", "Positive", "Real", "Stack", "Variable", "positive", "real"]


class Variable:
    """A random variable.

    Args:
        is_discrete: whether its values are.
        event_rank: how many axes one value has.
        constraint: which values it may take; None allows all.
    """

    def __init__(self, is_discrete: bool = False, event_rank: int = 0, constraint: _constraint.Constraint | None = None) -> None:
        self._is_discrete, self._event_rank, self._constraint = is_discrete, event_rank, constraint

    @property
    def is_discrete(self) -> bool:
        """Whether its values are."""
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        """How many axes one value has."""
        return self._event_rank

    def constraint(self, value: Tensor) -> Tensor:
        """Which of the values it may take."""
        return (self._constraint or _constraint.real)(value)


class Real(Variable):
    """A real number, or several."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, _constraint.real)


class Positive(Variable):
    """A number from 0 on, or several."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, _constraint.positive)


class Independent(Variable):
    """Several variables of one kind, which count as one.

    Args:
        base: the kind.
        reinterpreted_batch_rank: how many axes of them.
    """

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        require(base, Variable, "Independent", "base", "Use one of wherry.distribution.variable.")
        integer(reinterpreted_batch_rank, "Independent", "reinterpreted_batch_rank")
        self._base, self._rank = base, reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Tensor) -> Tensor:
        """Which of them may take all their values."""
        allowed = self._base.constraint(value)
        return ops.reduce_all(allowed, axes=tuple(range(allowed.ndim - self._rank, allowed.ndim)), keepdim=False)


class Stack(Variable):
    """Variables of several kinds, side by side along an axis.

    Args:
        vars: the kinds.
        axis: along which they are.
    """

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        for one in require(vars, Sequence, "Stack", "vars", "Pass a list of kinds."):  # type: ignore[type-abstract]
            require(one, Variable, "Stack", "vars", "Use those of wherry.distribution.variable.")
        self._vars, self._axis = vars, integer(axis, "Stack", "axis")
        super().__init__(any(v.is_discrete for v in vars))

    @property
    def event_rank(self) -> int:
        """The largest rank among them, one more where the axis lies inside it."""
        rank = max(v.event_rank for v in self._vars)
        return rank + 1 if self._axis + rank < 0 else rank

    def constraint(self, value: Tensor) -> Tensor:
        """Which of the values they may take."""
        parts = unstack(value, self._axis)
        return stack([v.constraint(part) for v, part in zip(self._vars, parts, strict=True)], self._axis)


real = Real()
positive = Positive()
