"""Location-scale families: the Cauchy, the Gumbel and the Laplace distribution."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_distribution.distribution import Distribution, parameters, uniform
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained

__all__ = ["Cauchy", "Gumbel", "Laplace"]

_EULER = 0.57721566490153286060


class _LocationScale(Distribution):
    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = parameters(type(self).__name__, loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    def _standard(self, value: Any) -> Tensor:
        return (self._value(value, self.loc) - self.loc) / self.scale


class Cauchy(_LocationScale):
    """The Cauchy distribution; its mean and variance do not exist.

    Args:
        loc: the median.
        scale: half the width between the quartiles, above 0.

    Shape:
        `loc` and `scale` broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Cauchy`.

    Examples:
        >>> from wherry.distribution import Cauchy
        >>> print(Cauchy(0.0, 1.0).cdf(wherry.to_tensor(1.0)).numpy())
        0.75
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = name or "Cauchy"
        super().__init__(loc, scale)

    @property
    def mean(self) -> Tensor:
        """Raises ValueError: the integral does not exist."""
        raise ValueError("Cauchy: there is no mean, since the integral does not exist. Use loc, the median.")

    @property
    def variance(self) -> Tensor:
        """Raises ValueError: the integral does not exist."""
        raise ValueError("Cauchy: there is no variance, since the integral does not exist. Use scale.")

    @property
    def stddev(self) -> Tensor:
        """Raises ValueError: the integral does not exist."""
        raise ValueError("Cauchy: there is no stddev, since the integral does not exist. Use scale.")

    def sample(self, shape: Sequence[int], name: str | None = None) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Draws of the shape `[*shape, *batch_shape]`."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Sequence[int], name: str | None = None) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Reparameterized draws: gradients reach both parameters."""
        drawn = uniform(self._extend_shape(shape), self.loc)
        return self.loc + self.scale * ops.tan(math.pi * (drawn - 0.5))

    def entropy(self) -> Tensor:
        """Entropy in nats: log(4 pi scale)."""
        return math.log(4 * math.pi) + ops.log(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        distance = self._standard(value)
        return -ops.log1p(distance * distance) - math.log(math.pi) - ops.log(self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        """Probability of values up to `value`."""
        return ops.atan(self._standard(value)) / math.pi + 0.5


class Gumbel(_LocationScale):
    """The Gumbel distribution, of the maximum of many variables.

    Args:
        loc: the mode.
        scale: the scale, above 0.

    Shape:
        `loc` and `scale` broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Gumbel`.

    Examples:
        >>> from wherry.distribution import Gumbel
        >>> print(Gumbel(0.0, 1.0).mean.numpy())
        0.5772157
    """

    @property
    def mean(self) -> Tensor:
        """loc + scale times Euler's constant."""
        return self.loc + self.scale * _EULER

    @property
    def variance(self) -> Tensor:
        """(pi scale)^2 / 6."""
        return self.scale * self.scale * (math.pi**2 / 6)

    @property
    def stddev(self) -> Tensor:
        """Square root of the variance."""
        return self.scale * (math.pi / math.sqrt(6))

    def sample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Draws of the shape `[*shape, *batch_shape]`."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Reparameterized draws: gradients reach both parameters."""
        # log(u) is 0 where u is 1: a small number takes its place, since its logarithm is taken too.
        inner = -ops.log(uniform(self._extend_shape(shape), self.loc))
        least = 2.0**-24 if self.loc.dtype.name != "float64" else 2.0**-53
        return self.loc - self.scale * ops.log(ops.maximum(inner, ops.full_like(inner, value=least, dtype=inner.dtype)))

    def entropy(self) -> Tensor:
        """Entropy in nats: log(scale) + 1 + Euler's constant."""
        return ops.log(self.scale) + (1 + _EULER)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        distance = self._standard(value)
        return -(distance + ops.exp(-distance)) - ops.log(self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        """Probability of values up to `value`."""
        return ops.exp(-ops.exp(-self._standard(value)))


class Laplace(_LocationScale):
    """The Laplace distribution, with density exp(-|x - loc| / scale) / (2 scale).

    Args:
        loc: the mean.
        scale: the mean distance from it, above 0.

    Shape:
        `loc` and `scale` broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Laplace`.

    Examples:
        >>> from wherry.distribution import Laplace
        >>> print(Laplace(0.0, 1.0).icdf(wherry.to_tensor(0.25)).numpy())
        -0.6931472
    """

    @property
    def mean(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Twice the square of `scale`."""
        return 2 * self.scale * self.scale

    @property
    def stddev(self) -> Tensor:
        """Square root of the variance."""
        return math.sqrt(2) * self.scale

    def rsample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Reparameterized draws: gradients reach both parameters."""
        return self.icdf(uniform(self._extend_shape(shape), self.loc) - (2.0**-25 if self.loc.dtype.name != "float64" else 2.0**-54))

    def entropy(self) -> Tensor:
        """Entropy in nats: 1 + log(2 scale)."""
        return 1 + math.log(2) + ops.log(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        return -ops.abs(self._standard(value)) - math.log(2) - ops.log(self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        """Probability of values up to `value`."""
        distance = self._standard(value)
        return 0.5 - 0.5 * ops.sign(distance) * ops.expm1(-ops.abs(distance))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile function, inverse of `cdf`."""
        middle = self._value(value, self.loc) - 0.5
        return self.loc - self.scale * ops.sign(middle) * ops.log1p(-2 * ops.abs(middle))


explained(globals())
