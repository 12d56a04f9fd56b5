"""The Bernoulli and the geometric distribution."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_distribution.distribution import Distribution, parameters, require_values, uniform
from wherry_distribution.exponential_family import ExponentialFamily
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import to_dtype
from wherry_tensor.explained import explained
from wherry_tensor.functions.math import clip

__all__ = ["Bernoulli", "Geometric"]

_EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


class Bernoulli(ExponentialFamily):
    """The Bernoulli distribution: 1 with probability `probs`, else 0.

    Args:
        probs: the probability of 1, in [0, 1].

    Shape:
        `probs` is the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: `probs` is not a number, list, array or Tensor (also a ValueError).
        ValueError: a probability is out of range. On a CPU it is checked; a GPU is not waited for.

    Source:
        `paddle.distribution.Bernoulli`.

    Examples:
        >>> from wherry.distribution import Bernoulli
        >>> print(Bernoulli(0.25).variance.numpy())
        0.1875
    """

    def __init__(self, probs: Any, name: str | None = None) -> None:
        self.name = name or "Bernoulli"
        (self.probs,) = parameters("Bernoulli", probs=probs)
        require_values("Bernoulli", "probs", self.probs, lambda p: ops.logical_and(p >= 0, p <= 1), "probabilities in [0, 1]")
        least = _EPSILON[self.probs.dtype.name]
        clipped = clip(self.probs, least, 1 - least)
        self.logits = ops.log(clipped) - ops.log1p(-clipped)
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Tensor:
        """The probability of 1."""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Draws of 0 and 1, of the shape `[*shape, *batch_shape]`."""
        with no_grad():
            drawn = ops.uniform(shape=self._extend_shape(shape), min=0.0, max=1.0, dtype=self.probs.dtype)
            return to_dtype(ops.less_than(drawn, self.probs), self.probs.dtype)

    def rsample(self, shape: Sequence[int], temperature: float = 1.0) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Logits whose sigmoid is near 0 or 1, the nearer the lower the temperature; their gradient reaches `probs`.

        Source: Maddison, Mnih & Teh (2017), The Concrete Distribution.
        """
        drawn = uniform(self._extend_shape(shape), self.probs)
        drawn = clip(drawn, 0.0, 1 - _EPSILON[self.probs.dtype.name])
        return (ops.log(drawn) - ops.log1p(-drawn) + self.logits) / temperature

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return _cross_entropy(self.logits, self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the probability of `value`, 0 or 1."""
        return -_cross_entropy(self.logits, self._value(value, self.probs))

    def cdf(self, value: Tensor) -> Tensor:
        """Probability of values up to `value`."""
        value = self._value(value, self.probs)
        one = ops.full(shape=(), value=1, dtype=value.dtype)
        below = ops.where(value < 0, one - one, 1 - self.probs)
        return ops.where(value < 1, below, one)


class Geometric(Distribution):
    """The geometric distribution: the number of failures before the first success.

    Args:
        probs: the probability of success, in (0, 1].

    Shape:
        `probs` is the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: `probs` is not a number, list, array or Tensor (also a ValueError).
        ValueError: a probability is out of range. On a CPU it is checked; a GPU is not waited for.

    Source:
        `paddle.distribution.Geometric`.

    Examples:
        >>> from wherry.distribution import Geometric
        >>> print(Geometric(0.5).pmf(3).numpy())
        0.0625
    """

    def __init__(self, probs: Any) -> None:
        (self.probs,) = parameters("Geometric", probs=probs)
        require_values("Geometric", "probs", self.probs, lambda p: ops.logical_and(p > 0, p <= 1), "probabilities in (0, 1]")
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Tensor:
        """1 / p - 1."""
        return 1 / self.probs - 1

    @property
    def variance(self) -> Tensor:
        """(1 / p - 1) / p."""
        return (1 / self.probs - 1) / self.probs

    @property
    def stddev(self) -> Tensor:
        """Square root of the variance."""
        return ops.sqrt(self.variance)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws; they are whole numbers, so the gradient that reaches `probs` is 0."""
        drawn = uniform(self._extend_shape(shape), self.probs)
        return ops.floor(ops.log(drawn) / ops.log1p(-self.probs))

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        fails = 1 - self.probs
        return -(fails * ops.log(fails) + self.probs * ops.log(self.probs)) / self.probs

    def pmf(self, k: Tensor | int | float) -> Tensor:
        """Probability of `k` failures."""
        return ops.exp(self.log_pmf(k))

    def log_pmf(self, k: Tensor | int | float) -> Tensor:
        """Logarithm of the probability of `k` failures."""
        return self._value(k, self.probs) * ops.log1p(-self.probs) + ops.log(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        """The same as `log_pmf`."""
        return self.log_pmf(value)

    def cdf(self, k: Tensor | int | float) -> Tensor:
        """Probability of at most `k` failures."""
        return -ops.expm1((self._value(k, self.probs) + 1) * ops.log1p(-self.probs))


def _cross_entropy(logits: Tensor, label: Tensor) -> Tensor:
    """-label log(p) - (1 - label) log(1 - p), from the logits of p."""
    return ops.relu(logits) - logits * label + ops.log1p(ops.exp(-ops.abs(logits)))


explained(globals())
