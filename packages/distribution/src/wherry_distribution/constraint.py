"""Constraints on values of random variables: callables that return which values are allowed."""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import MAX_RANK, require_rank, require_tensor
from wherry_tensor.explained import explained

__all__ = ["Constraint", "Positive", "Range", "Real", "Simplex", "positive", "real", "simplex"]


class Constraint:
    """Base of constraints: `constraint(value)` is a bool Tensor.

    Raises:
        NotImplementedError: when called: the class does not define `__call__`.

    Examples:
        >>> from wherry.distribution import constraint
        >>> class Even(constraint.Constraint):
        ...     def __call__(self, value):
        ...         return value % 2 == 0
        >>> print(Even()(wherry.to_tensor([1, 2])).numpy())
        [False  True]
    """

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        raise NotImplementedError(
            f"{type(self).__name__}: __call__ is not defined. Got a class without __call__(self, value), expected one that returns a bool Tensor. "
            f"Define it, or use one of wherry.distribution.constraint."
        )


class Real(Constraint):
    """Numbers that are not NaN.

    Examples:
        >>> from wherry.distribution import constraint
        >>> print(constraint.Real()(wherry.to_tensor([1.0, float("nan")])).numpy())
        [ True False]
    """

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        return ops.logical_not(ops.isnan(require_tensor(value, "Real", "value")))


class Range(Constraint):
    """Numbers between two bounds, inclusive.

    Args:
        lower: the lower bound, a number or a Tensor.
        upper: the upper bound.

    Raises:
        TypeError: when called: a bound is neither a number nor a Tensor (also a ValueError).

    Examples:
        >>> from wherry.distribution import constraint
        >>> print(constraint.Range(0.0, 1.0)(wherry.to_tensor([0.5, 2.0])).numpy())
        [ True False]
    """

    def __init__(self, lower: Any, upper: Any) -> None:
        self._lower, self._upper = lower, upper

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        require_tensor(value, "Range", "value")
        return ops.logical_and(value >= self._lower, value <= self._upper)


class Positive(Constraint):
    """Non-negative numbers.

    Examples:
        >>> from wherry.distribution import constraint
        >>> print(constraint.Positive()(wherry.to_tensor([0.0, -1.0])).numpy())
        [ True False]
    """

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        return require_tensor(value, "Positive", "value") >= 0.0


class Simplex(Constraint):
    """Rows of non-negative numbers whose sum is 1, within 1e-6.

    Shape:
        `[..., n]` to `[...]`.

    Raises:
        TypeError: when called: `value` is not a Tensor (also a ValueError).
        ValueError: when called: `value` is 0-d.

    Examples:
        >>> from wherry.distribution import constraint
        >>> print(constraint.Simplex()(wherry.to_tensor([[0.5, 0.5], [0.5, 0.6]])).numpy())
        [ True False]
    """

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the rows are allowed."""
        last = (require_rank(value, "simplex", 1, MAX_RANK, "value").ndim - 1,)
        off = ops.abs(ops.reduce_sum(value, axes=last, keepdim=False) - 1.0)
        return ops.logical_and(ops.reduce_all(value >= 0.0, axes=last, keepdim=False), off < 1e-6)


real = Real()
positive = Positive()
simplex = Simplex()


explained(globals())
