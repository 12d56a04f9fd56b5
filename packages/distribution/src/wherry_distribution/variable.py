"""Kinds of random variables: discrete or not, their rank, and their values. They describe domains and codomains of transforms."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_distribution import constraint as _constraint
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, require
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import stack, unstack

__all__ = ["Independent", "Positive", "Real", "Stack", "Variable", "positive", "real"]


class Variable:
    """A kind of random variable: domain or codomain of a transform.

    Args:
        is_discrete: whether its values are discrete.
        event_rank: the number of axes of one value.
        constraint: which values are allowed; None allows all but NaN.

    Examples:
        >>> from wherry.distribution import constraint, variable
        >>> share = variable.Variable(constraint=constraint.Range(0.0, 1.0))
        >>> print(share.constraint(wherry.to_tensor([0.5, 2.0])).numpy())
        [ True False]
    """

    def __init__(self, is_discrete: bool = False, event_rank: int = 0, constraint: _constraint.Constraint | None = None) -> None:
        self._is_discrete, self._event_rank, self._constraint = is_discrete, event_rank, constraint

    @property
    def is_discrete(self) -> bool:
        """Whether its values are discrete."""
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        """The number of axes of one value."""
        return self._event_rank

    def constraint(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        return (self._constraint or _constraint.real)(value)


class Real(Variable):
    """Real numbers.

    Args:
        event_rank: the number of axes of one value.

    Examples:
        >>> from wherry.distribution import variable
        >>> variable.Real(event_rank=1).event_rank
        1
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, _constraint.real)


class Positive(Variable):
    """Non-negative numbers.

    Args:
        event_rank: the number of axes of one value.

    Examples:
        >>> from wherry.distribution import variable
        >>> print(variable.Positive().constraint(wherry.to_tensor([1.0, -1.0])).numpy())
        [ True False]
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, _constraint.positive)


class Independent(Variable):
    """Several variables of one kind, taken as one event.

    Args:
        base: the kind.
        reinterpreted_batch_rank: how many batch axes belong to the event.

    Raises:
        TypeError: `base` is not a Variable, or `reinterpreted_batch_rank` is not an int (also a ValueError).

    Examples:
        >>> from wherry.distribution import variable
        >>> rows = variable.Independent(variable.positive, 1)
        >>> print(rows.constraint(wherry.to_tensor([[1.0, 2.0], [1.0, -2.0]])).numpy())
        [ True False]
    """

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        require(base, Variable, "Independent", "base", "Use one of wherry.distribution.variable.")
        integer(reinterpreted_batch_rank, "Independent", "reinterpreted_batch_rank")
        self._base, self._rank = base, reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Tensor) -> Tensor:
        """Which events have only allowed values."""
        allowed = self._base.constraint(value)
        return ops.reduce_all(allowed, axes=tuple(range(allowed.ndim - self._rank, allowed.ndim)), keepdim=False)


class Stack(Variable):
    """Variables of several kinds, stacked along an axis.

    Args:
        vars: the kinds.
        axis: along which they are stacked.

    Raises:
        TypeError: `vars` is not a list of Variables, or `axis` is not an int (also a ValueError).

    Examples:
        >>> from wherry.distribution import variable
        >>> both = variable.Stack([variable.real, variable.positive])
        >>> print(both.constraint(wherry.to_tensor([[-1.0], [-1.0]])).numpy().ravel())
        [ True False]
    """

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        for one in require(vars, Sequence, "Stack", "vars", "Pass a list of kinds."):  # type: ignore[type-abstract]
            require(one, Variable, "Stack", "vars", "Use those of wherry.distribution.variable.")
        self._vars, self._axis = vars, integer(axis, "Stack", "axis")
        super().__init__(any(v.is_discrete for v in vars))

    @property
    def event_rank(self) -> int:
        """The largest rank of the kinds, plus 1 if the axis lies within the event."""
        rank = max(v.event_rank for v in self._vars)
        return rank + 1 if self._axis + rank < 0 else rank

    def constraint(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        parts = unstack(value, self._axis)
        return stack([v.constraint(part) for v, part in zip(self._vars, parts, strict=True)], self._axis)


real = Real()
positive = Positive()


explained(globals())
