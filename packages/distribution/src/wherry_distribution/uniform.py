"""The uniform distribution."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, parameters
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import to_dtype
from wherry_tensor.explained import explained

__all__ = ["Uniform"]


class Uniform(Distribution):
    """The uniform distribution on the interval (low, high).

    Args:
        low: the lower bound; the two broadcast. Densities at the bounds themselves are 0.
        high: the upper bound, above `low`.

    Shape:
        `low` and `high` broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Uniform`.

    Examples:
        >>> from wherry.distribution import Uniform
        >>> print(Uniform(0.0, 4.0).probs(wherry.to_tensor([1.0, 5.0])).numpy())
        [0.25 0.  ]
    """

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.name = name or "Uniform"
        self.low, self.high = parameters("Uniform", low=low, high=high)
        super().__init__(self.low.shape)

    @property
    def mean(self) -> Tensor:
        """(low + high) / 2."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Tensor:
        """(high - low)^2 / 12."""
        width = self.high - self.low
        return width * width / 12

    def sample(self, shape: Sequence[int], seed: int = 0) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Draws; as in Paddle their gradient reaches the bounds. `seed` is accepted for compatibility: use `wherry.seed`."""
        return self.rsample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Reparameterized draws, `low + u * (high - low)`: gradients reach both bounds."""
        drawn = ops.uniform(shape=self._extend_shape(shape), min=0.0, max=1.0, dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def entropy(self) -> Tensor:
        """Entropy in nats: the logarithm of the width."""
        return ops.log(self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`: -inf outside."""
        return ops.log(self._inside(value)) - ops.log(self.high - self.low)

    def prob(self, value: Tensor) -> Tensor:
        """Density at `value`: 0 outside."""
        return self._inside(value) / (self.high - self.low)

    def _inside(self, value: Tensor) -> Tensor:
        value = self._value(value, self.low)
        return to_dtype(ops.logical_and(ops.less_than(self.low, value), ops.less_than(value, self.high)), self.low.dtype)


explained(globals())
