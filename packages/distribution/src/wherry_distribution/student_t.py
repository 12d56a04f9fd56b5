"""Student's t distribution."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, parameters
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions import creation, logic

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution: that of a normal number divided by the root of a chi-squared one over its degrees of freedom.

    Args:
        df: the degrees of freedom, above 0.
        loc: the center.
        scale: above 0.

    Shape:
        the parameters broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.StudentT`.

    Examples:
        >>> from wherry.distribution import StudentT
        >>> StudentT(4.0, 1.0, 2.0).variance.item()
        8.0
    """

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = name or "StudentT"
        self.df, self.loc, self.scale = parameters("StudentT", df=df, loc=loc, scale=scale)
        super().__init__(self.df.shape)

    @property
    def mean(self) -> Tensor:
        """`loc`; NaN with one degree of freedom or less."""
        return logic.where(self.df > 1.0, self.loc, creation.full_like(self.loc, float("nan")))

    @property
    def variance(self) -> Tensor:
        """scale^2 df / (df - 2); infinite with two degrees of freedom or less, NaN with one or less."""
        enough = self.df > 2.0
        safe = logic.where(enough, self.df, creation.full_like(self.df, 3.0))
        least = logic.where(self.df > 1.0, creation.full_like(self.df, float("inf")), creation.full_like(self.df, float("nan")))
        return logic.where(enough, self.scale * self.scale * safe / (safe - 2.0), least)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the shape `[*shape, *batch_shape]`."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws; gradients reach all parameters."""
        sizes = self._extend_shape(shape)
        normal = ops.normal(shape=sizes, mean=0.0, std=1.0, dtype=self.df.dtype)
        half = self.df * 0.5 + ops.full(shape=sizes, value=0.0, dtype=self.df.dtype)
        chi = 2.0 * ops.exp(ops.log_standard_gamma(half))
        return self.loc + self.scale * normal * ops.rsqrt(chi / self.df)

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        half, next_half = self.df * 0.5, (self.df + 1.0) * 0.5
        beta = ops.lgamma(half) + math.lgamma(0.5) - ops.lgamma(next_half)
        return ops.log(self.scale) + next_half * (ops.digamma(next_half) - ops.digamma(half)) + 0.5 * ops.log(self.df) + beta

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        y = (self._value(value, self.loc) - self.loc) / self.scale
        half, next_half = self.df * 0.5, (self.df + 1.0) * 0.5
        norm = ops.log(self.scale) + 0.5 * ops.log(self.df) + 0.5 * math.log(math.pi) + ops.lgamma(half) - ops.lgamma(next_half)
        return -next_half * ops.log1p(y * y / self.df) - norm


explained(globals())
