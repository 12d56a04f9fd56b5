"""The gamma distribution and two of its kind: chi-squared and exponential."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import parameters
from wherry_distribution.exponential_family import ExponentialFamily
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained

__all__ = ["Chi2", "Exponential", "Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution, with density rate^a x^(a - 1) exp(-rate x) / Gamma(a) for x > 0, where a is the concentration.

    Args:
        concentration: the shape, above 0: a number, list, array or floating Tensor; the two broadcast.
        rate: the inverse of the scale, above 0.

    Shape:
        the parameters broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Gamma`.

    Examples:
        >>> from wherry.distribution import Gamma
        >>> Gamma(2.0, 4.0).mean.item()
        0.5
    """

    def __init__(self, concentration: Any, rate: Any) -> None:
        self.concentration, self.rate = parameters(type(self).__name__, concentration=concentration, rate=rate)
        super().__init__(self.concentration.shape)

    @property
    def mean(self) -> Tensor:
        """concentration / rate."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        """concentration / rate^2."""
        return self.concentration / (self.rate * self.rate)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws; gradients reach both parameters."""
        shapes = self.concentration + ops.full(shape=self._extend_shape(shape), value=0.0, dtype=self.concentration.dtype)
        return ops.exp(ops.log_standard_gamma(shapes)) / self.rate

    def entropy(self) -> Tensor:
        """Entropy in nats: a - log(rate) + log Gamma(a) + (1 - a) digamma(a)."""
        a = self.concentration
        return a - ops.log(self.rate) + ops.lgamma(a) + (1.0 - a) * ops.digamma(a)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        a, x = self.concentration, self._value(value, self.rate)
        return a * ops.log(self.rate) + (a - 1.0) * ops.log(x) - self.rate * x - ops.lgamma(a)

    @property
    def _natural_parameters(self) -> Sequence[Tensor]:
        return self.concentration - 1.0, -self.rate

    def _log_normalizer(self, *natural: Tensor) -> Tensor:
        x, y = natural
        return ops.lgamma(x + 1.0) - (x + 1.0) * ops.log(-y)


class Chi2(Gamma):
    """The chi-squared distribution: that of the sum of squares of `df` normal numbers.

    Args:
        df: the degrees of freedom, above 0.

    Shape:
        `sample(shape)` is `[*shape, ...]`, with the shape of `df` after.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Chi2`.

    Examples:
        >>> from wherry.distribution import Chi2
        >>> Chi2(3.0).variance.item()
        6.0
    """

    def __init__(self, df: Any) -> None:
        (found,) = parameters("Chi2", df=df)
        super().__init__(found * 0.5, 0.5)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2.0


class Exponential(ExponentialFamily):
    """The exponential distribution, with density rate exp(-rate x) for x >= 0.

    Args:
        rate: above 0.

    Shape:
        `sample(shape)` is `[*shape, ...]`, with the shape of the rate after.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Exponential`.

    Examples:
        >>> from wherry.distribution import Exponential
        >>> Exponential(4.0).mean.item()
        0.25
    """

    def __init__(self, rate: Any) -> None:
        (self.rate,) = parameters("Exponential", rate=rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Tensor:
        """1 / rate."""
        return ops.reciprocal(self.rate)

    @property
    def variance(self) -> Tensor:
        """1 / rate^2."""
        return ops.reciprocal(self.rate * self.rate)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws; gradients reach the rate."""
        unit = ops.uniform(shape=self._extend_shape(shape), min=0.0, max=1.0, dtype=self.rate.dtype)
        return -ops.log(1.0 - unit) / self.rate

    def entropy(self) -> Tensor:
        """Entropy in nats: 1 - log(rate)."""
        return 1.0 - ops.log(self.rate)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        return ops.log(self.rate) - self.rate * self._value(value, self.rate)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of numbers up to `value`."""
        return 1.0 - ops.exp(-self.rate * self._value(value, self.rate))

    def icdf(self, value: Tensor) -> Tensor:
        """The number up to which the probability is `value`."""
        return -ops.log(1.0 - self._value(value, self.rate)) / self.rate

    @property
    def _natural_parameters(self) -> Sequence[Tensor]:
        return (-self.rate,)

    def _log_normalizer(self, *natural: Tensor) -> Tensor:
        return -ops.log(-natural[0])

    _mean_carrier_measure = 0.0


explained(globals())
