"""The continuous Bernoulli distribution on [0, 1]."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, parameters
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import check_arguments, numbers
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.functions import creation, logic

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Distribution):
    """The continuous Bernoulli distribution, with density C(p) p^x (1 - p)^(1 - x) for x in [0, 1].

    Args:
        probs: p, in (0, 1).
        lims: between these bounds of p, where closed forms divide 0 by 0, series stand for them.

    Shape:
        `sample(shape)` is `[*shape, ...]`, with the shape of the parameter after.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.ContinuousBernoulli`; Loaiza-Ganem and Cunningham (2019).

    Examples:
        >>> from wherry.distribution import ContinuousBernoulli
        >>> ContinuousBernoulli(0.5).mean.item()
        0.5
    """

    def __init__(self, probs: Any, lims: Sequence[float] = (0.499, 0.501)) -> None:
        check_arguments("ContinuousBernoulli", {"lims": list(lims)}, lims=numbers)
        if len(lims) != 2:
            raise InvalidArgumentError(f"ContinuousBernoulli: lims are the lower and the upper bound. Got {list(lims)}, expected two numbers.")
        (probability,) = parameters("ContinuousBernoulli", probs=probs)
        self.lims = tuple(lims)
        tiny = 1.2e-7 if probability.dtype.itemsize == 4 else 2.3e-16
        self.probs = ops.minimum(  # type: ignore[method-assign]
            ops.maximum(probability, creation.full_like(probability, tiny)), creation.full_like(probability, 1.0 - tiny)
        )
        super().__init__(probability.shape)

    def _apart(self) -> tuple[Tensor, Tensor]:
        """Where the closed forms hold, and a probability at which they do everywhere."""
        p = self.probs
        outside = logic.logical_or(p < self.lims[0], p > self.lims[1])
        return outside, logic.where(outside, p, creation.full_like(p, self.lims[0]))

    def _log_constant(self) -> Tensor:
        outside, p = self._apart()
        closed = ops.log(ops.abs(2.0 * _artanh(1.0 - 2.0 * p)) / ops.abs(1.0 - 2.0 * p))
        x = self.probs - 0.5
        return logic.where(outside, closed, 0.6931471805599453 + (4.0 / 3.0 + 104.0 / 45.0 * x * x) * x * x)

    @property
    def mean(self) -> Tensor:
        """p / (2 p - 1) + 1 / (2 artanh(1 - 2 p))."""
        outside, p = self._apart()
        x = self.probs - 0.5
        return logic.where(outside, p / (2.0 * p - 1.0) + 0.5 / _artanh(1.0 - 2.0 * p), 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x * x) * x)

    @property
    def variance(self) -> Tensor:
        """p (p - 1) / (1 - 2 p)^2 + 1 / (2 artanh(1 - 2 p))^2."""
        outside, p = self._apart()
        x = self.probs - 0.5
        half = 0.5 / _artanh(1.0 - 2.0 * p)
        closed = p * (p - 1.0) / ops.square(1.0 - 2.0 * p) + half * half
        return logic.where(outside, closed, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x * x) * x * x)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the shape `[*shape, *batch_shape]`."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws; gradients reach the parameter."""
        return self.icdf(ops.uniform(shape=self._extend_shape(shape), min=0.0, max=1.0, dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        x = self._value(value, self.probs)
        return x * ops.log(self.probs) + (1.0 - x) * ops.log(1.0 - self.probs) + self._log_constant()

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        low, high = ops.log(1.0 - self.probs), ops.log(self.probs)
        return self.mean * (low - high) - self._log_constant() - low

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of numbers up to `value`."""
        outside, p = self._apart()
        x = self._value(value, self.probs)
        closed = (ops.power(p, x) * ops.power(1.0 - p, 1.0 - x) + p - 1.0) / (2.0 * p - 1.0)
        zero, one = creation.zeros_like(closed), creation.ones_like(closed)
        found = logic.where(outside, closed, x + zero)
        return logic.where(x <= 0.0, zero, logic.where(x >= 1.0, one, found))

    def icdf(self, value: Tensor) -> Tensor:
        """The number up to which the probability is `value`."""
        outside, p = self._apart()
        u = self._value(value, self.probs)
        closed = (ops.log1p(-p + u * (2.0 * p - 1.0)) - ops.log1p(-p)) / (ops.log(p) - ops.log1p(-p))
        return logic.where(outside, closed, u + creation.zeros_like(closed))


def _artanh(x: Tensor) -> Tensor:
    return 0.5 * (ops.log1p(x) - ops.log1p(-x))


explained(globals())
