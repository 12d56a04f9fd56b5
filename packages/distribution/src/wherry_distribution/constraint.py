"""What values a random variable may take: callables that say for each value whether it is one."""
from __future__ import annotations

from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import MAX_RANK, require_rank

__all__ = ["Constraint", "Positive", "Range", "Real", "Simplex", "positive", "real", "simplex"]


class Constraint:
    """The base of constraints: `constraint(value)` is a bool Tensor."""

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        raise NotImplementedError(f"{type(self).__name__}: define __call__(value), which says which values are allowed.")


class Real(Constraint):
    """Numbers; not those that are none (nan)."""

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        return ops.logical_not(ops.isnan(value))


class Range(Constraint):
    """Numbers between two bounds, which are allowed too."""

    def __init__(self, lower: Any, upper: Any) -> None:
        self._lower, self._upper = lower, upper

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        return ops.logical_and(value >= self._lower, value <= self._upper)


class Positive(Constraint):
    """Numbers from 0 on."""

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the values are allowed."""
        return value >= 0.0


class Simplex(Constraint):
    """Rows of numbers from 0 on whose sum is 1, within 1e-6."""

    def __call__(self, value: Tensor) -> Tensor:
        """Which of the rows are allowed."""
        last = (require_rank(value, "simplex", 1, MAX_RANK, "value").ndim - 1,)
        off = ops.abs(ops.reduce_sum(value, axes=last, keepdim=False) - 1.0)
        return ops.logical_and(ops.reduce_all(value >= 0.0, axes=last, keepdim=False), off < 1e-6)


real = Real()
positive = Positive()
simplex = Simplex()
