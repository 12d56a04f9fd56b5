"""The normal and the log-normal distribution."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, parameters
from wherry_distribution.transform import ExpTransform
from wherry_distribution.transformed import TransformedDistribution
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained

__all__ = ["LogNormal", "Normal"]


class Normal(Distribution):
    """The normal (Gaussian) distribution, with density exp(-(x - loc)^2 / (2 scale^2)) / (scale sqrt(2 pi)).

    Args:
        loc: the mean: a number, list, array or floating Tensor; the two broadcast.
        scale: the standard deviation, above 0.

    Shape:
        `loc` and `scale` broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Normal`.

    Examples:
        >>> from wherry.distribution import Normal
        >>> normal = Normal([0.0, 1.0], 2.0)
        >>> normal.sample([3]).shape
        [3, 2]
        >>> print(normal.log_prob(wherry.to_tensor([0.0, 1.0])).numpy())
        [-1.6120857 -1.6120857]
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = name or "Normal"
        self.loc, self.scale = parameters("Normal", loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The square of `scale`."""
        return self.scale * self.scale

    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Tensor:
        """Draws; as in Paddle their gradient reaches the parameters. `seed` is accepted for compatibility: use `wherry.seed`."""
        return self.rsample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Reparameterized draws, `loc + scale * noise`: gradients reach both parameters."""
        noise = ops.normal(shape=self._extend_shape(shape), mean=0.0, std=1.0, dtype=self.loc.dtype)
        return self.loc + noise * self.scale

    def entropy(self) -> Tensor:
        """Entropy in nats: log(scale) + log(2 pi e) / 2."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + ops.log(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        distance = (self._value(value, self.loc) - self.loc) / self.scale
        return -0.5 * (distance * distance) - ops.log(self.scale) - 0.5 * math.log(2 * math.pi)


class LogNormal(TransformedDistribution):
    """The log-normal distribution: that of exp(x) where x is normal.

    Args:
        loc: mean of the logarithm.
        scale: standard deviation of the logarithm.

    Shape:
        `loc` and `scale` broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.LogNormal`.

    Examples:
        >>> from wherry.distribution import LogNormal
        >>> print(LogNormal(0.0, 1.0).mean.numpy())
        1.6487212
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        base = Normal(loc, scale)
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, [ExpTransform()])
        self._normal = base

    @property
    def mean(self) -> Tensor:
        """exp(loc + scale^2 / 2)."""
        return ops.exp(self.loc + 0.5 * self._normal.variance)

    @property
    def variance(self) -> Tensor:
        """(exp(scale^2) - 1) exp(2 loc + scale^2)."""
        variance = self._normal.variance
        return ops.expm1(variance) * ops.exp(2 * self.loc + variance)

    def entropy(self) -> Tensor:
        """Entropy in nats: that of the logarithm, plus `loc`."""
        return self._normal.entropy() + self.loc


explained(globals())
