"""Distributions of counts: binomial and Poisson."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, parameters
from wherry_distribution.exponential_family import ExponentialFamily
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import at_hand, to_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError
from wherry_tensor.explained import explained
from wherry_tensor.functions import creation, draws, logic, movement, reduction

__all__ = ["Binomial", "Poisson"]


def _expected(values: Tensor, log_prob: Tensor) -> Tensor:
    """-E[log p] over axis 0."""
    finite = logic.where(log_prob > -1e30, log_prob, creation.zeros_like(log_prob))
    return -reduction.sum(ops.exp(log_prob) * finite, 0)


class Binomial(Distribution):
    """The binomial distribution: of the number of successes among `total_count` trials.

    Args:
        total_count: how many trials: an int or a Tensor of whole numbers.
        probs: the probability of a success, in [0, 1].

    Shape:
        the parameters broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Binomial`.

    Examples:
        >>> from wherry.distribution import Binomial
        >>> Binomial(4, wherry.to_tensor([0.25, 0.5])).mean.tolist()
        [1.0, 2.0]
    """

    def __init__(self, total_count: Any, probs: Any) -> None:
        probability, count = parameters("Binomial", probs=probs, total_count=total_count)
        self.total_count, self.probs = count, probability  # type: ignore[method-assign]
        super().__init__(probability.shape)

    @property
    def mean(self) -> Tensor:
        """total_count * probs."""
        return self.total_count * self.probs  # type: ignore[no-any-return]

    @property
    def variance(self) -> Tensor:
        """total_count * probs * (1 - probs)."""
        return self.mean * (1.0 - self.probs)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws, in the dtype of the probability."""
        sizes = list(self._extend_shape(shape))
        counts, chances = (movement.expand(x, sizes) for x in (to_dtype(self.total_count, int64), self.probs))
        return to_dtype(draws.binomial(counts, chances), self.probs.dtype).detach()

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the probability of `value`."""
        n, p, x = self.total_count, self.probs, self._value(value, self.probs)
        inside = movement.broadcast_to(logic.logical_and(p > 0, p < 1), (p + x).shape)
        safe = logic.where(logic.logical_and(p > 0, p < 1), p, creation.full_like(p, 0.5))
        ways = ops.lgamma(n + 1.0) - ops.lgamma(x + 1.0) - ops.lgamma(n - x + 1.0)
        found = ways + x * ops.log(safe) + (n - x) * ops.log(1.0 - safe)
        sure = logic.where(x == n * p, creation.zeros_like(found), creation.full_like(found, -float("inf")))
        return logic.where(inside, found, sure)

    def entropy(self) -> Tensor:
        """Entropy in nats, summed over all counts."""
        if not at_hand(self.total_count):
            raise UnimplementedError(
                "Binomial.entropy: it sums over counts. Got a count that a program does not know, expected values. Run the program."
            )
        largest = float(self.total_count.max())
        if not math.isfinite(largest):
            raise InvalidArgumentError(f"Binomial.entropy: a total count is not finite. Got {largest}, expected whole numbers. Look at total_count.")
        most = int(largest)
        values = movement.reshape(creation.arange(most + 1, dtype=self.probs.dtype), [-1, *[1] * self.probs.ndim])
        valid = values <= self.total_count
        log_prob = self.log_prob(logic.where(valid, values + 0.0 * self.total_count, 0.0 * values + self.total_count))
        return _expected(values, logic.where(valid, log_prob, creation.full_like(log_prob, -float("inf"))))


class Poisson(ExponentialFamily):
    """The Poisson distribution: of the number of events that come at a rate.

    Args:
        rate: the expected number, not negative.

    Shape:
        `sample(shape)` is `[*shape, ...]`, with the shape of the rate after.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Poisson`.

    Examples:
        >>> from wherry.distribution import Poisson
        >>> Poisson(3.0).variance.item()
        3.0
    """

    def __init__(self, rate: Any) -> None:
        (self.rate,) = parameters("Poisson", rate=rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Tensor:
        """`rate`."""
        return self.rate

    @property
    def variance(self) -> Tensor:
        """`rate`."""
        return self.rate

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws, in the dtype of the rate."""
        return ops.poisson(movement.expand(self.rate, list(self._extend_shape(shape)))).detach()

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the probability of `value`."""
        x = self._value(value, self.rate)
        none = logic.where(x == 0, creation.zeros_like(x + self.rate), x * ops.log(self.rate))  # 0 log 0 is 0
        return none - self.rate - ops.lgamma(x + 1.0)

    def entropy(self) -> Tensor:
        """Entropy in nats, summed over the counts within 30 standard deviations."""
        if not at_hand(self.rate):
            raise UnimplementedError(
                "Poisson.entropy: it sums over counts. Got a rate that a program does not know, expected values. Run the program."
            )
        largest = float(self.rate.max())
        if not largest < 1e9:  # nor NaN: the counts to sum over would not fit into memory
            raise InvalidArgumentError(
                f"Poisson.entropy: it sums over counts. Got a rate of {largest}, expected less than 1e9. Of a large one it is 0.5 * log(2 pi e rate)."
            )
        values = movement.reshape(creation.arange(int(largest + 30 * (largest + 1) ** 0.5) + 1, dtype=self.rate.dtype), [-1, *[1] * self.rate.ndim])
        return _expected(values, self.log_prob(values + 0.0 * self.rate))

    @property
    def _natural_parameters(self) -> Sequence[Tensor]:
        return (ops.log(self.rate),)

    def _log_normalizer(self, *natural: Tensor) -> Tensor:
        return ops.exp(natural[0])


explained(globals())
