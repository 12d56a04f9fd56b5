"""The categorical and the multinomial distribution."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_distribution.distribution import Distribution, parameters, total
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import require_tensor, to_dtype
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import broadcast_to, reshape, transpose
from wherry_tensor.functions.positions import take_along_axis

__all__ = ["Categorical", "Multinomial"]


class Categorical(Distribution):
    """The categorical distribution: one of several categories.

    As in Paddle, `logits` are non-negative weights (normalized by their sum) in `probs` and `log_prob`, but logarithms of weights in `sample`,
    `entropy` and `kl_divergence`.

    Args:
        logits: `[..., categories]`.

    Shape:
        `sample(shape)` is int64 `[*shape, ...]` for logits `[..., categories]`.

    Raises:
        TypeError: `logits` is not a number, list, array or Tensor (also a ValueError).
        ValueError: `logits` is 0-d; in `sample`: a weight is negative.
        IndexError: in `probs` and `log_prob`: a category is out of range (also a ValueError).

    Source:
        `paddle.distribution.Categorical`.

    Examples:
        >>> from wherry.distribution import Categorical
        >>> print(Categorical([1.0, 1.0, 2.0]).probs(wherry.to_tensor([0, 2])).numpy())
        [0.25 0.5 ]
    """

    def __init__(self, logits: Any, name: str | None = None) -> None:
        self.name = name or "Categorical"
        (self.logits,) = parameters("Categorical", logits=logits)
        if self.logits.ndim == 0:
            raise InvalidArgumentError("Categorical: 'logits' has no axis of categories. Got shape [], expected [..., categories]. Pass a list.")
        self._prob = self.logits / ops.reduce_sum(self.logits, axes=(self.logits.ndim - 1,), keepdim=True)
        super().__init__(self.logits.shape[:-1])

    def sample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]  # asks for a shape, as in Paddle
        """Draws of categories, int64 of the shape `[*shape, *batch_shape]`."""
        with no_grad():
            return self._drawn(ops.softmax(self.logits, axis=self.logits.ndim - 1), shape)

    def _drawn(self, prob: Tensor, shape: Sequence[int]) -> Tensor:
        """Draws of categories that have these probabilities."""
        wanted = self._extend_shape(shape)
        count = 1
        for size in wanted[: len(wanted) - len(self.batch_shape)]:
            count *= size
        rows = reshape(prob, [-1, prob.shape[-1]])
        drawn = ops.multinomial(rows, num_samples=count, replacement=True)
        return reshape(transpose(drawn, [1, 0]), wanted)

    def entropy(self) -> Tensor:
        """Entropy in nats of the softmax of `logits`."""
        logarithm = ops.log_softmax(self.logits, axis=self.logits.ndim - 1)
        return -total(ops.exp(logarithm) * logarithm, 1)

    def probs(self, value: Tensor) -> Tensor:
        """Probabilities of the categories `value`: of any shape for one distribution, `[*batch_shape, n]` or `[n]` for a batch."""
        value = to_dtype(require_tensor(value, "Categorical", "value"), int64)
        if self._prob.ndim == 1:
            return reshape(take_along_axis(self._prob, reshape(value, [-1]), 0), value.shape)
        if value.ndim < 2:
            value = broadcast_to(reshape(value, [*[1] * len(self.batch_shape), -1]), [*self.batch_shape, max(value.size, 1)])
        return take_along_axis(self._prob, value, -1)

    def prob(self, value: Tensor) -> Tensor:
        """The same as `probs`."""
        return self.probs(value)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the probabilities of the categories `value`."""
        return ops.log(self.probs(value))


class Multinomial(Distribution):
    """The multinomial distribution: how often each category occurs in `total_count` independent draws.

    Args:
        total_count: the number of draws.
        probs: `[..., categories]`: non-negative weights, normalized by their sum.

    Shape:
        `sample(shape)` is `[*shape, ..., categories]`, and each row sums to `total_count`.

    Raises:
        TypeError: `probs` is not a number, list, array or Tensor (also a ValueError).
        ValueError: `total_count` is not a positive int, or `probs` is 0-d.

    Source:
        `paddle.distribution.Multinomial`.

    Examples:
        >>> from wherry.distribution import Multinomial
        >>> print(Multinomial(10, wherry.to_tensor([0.25, 0.75])).mean.numpy())
        [2.5 7.5]
    """

    def __init__(self, total_count: int, probs: Any) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise InvalidArgumentError(
                f"Multinomial: 'total_count' is not a positive int. Got {short(total_count)}, expected an int >= 1. It is the number of draws."
            )
        (weights,) = parameters("Multinomial", probs=probs)
        if weights.ndim == 0:
            raise InvalidArgumentError("Multinomial: 'probs' has no axis of categories. Got shape [], expected [..., categories]. Pass a list.")
        self.total_count = total_count
        self._categorical = Categorical(weights)
        self.probs = self._categorical._prob
        super().__init__(weights.shape[:-1], weights.shape[-1:])

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Counts, in the dtype of `probs`."""
        with no_grad():
            self._extend_shape(shape)
            drawn = self._categorical._drawn(self.probs, [self.total_count, *shape])
            counts = ops.reduce_sum(ops.one_hot(drawn, num_classes=self.probs.shape[-1]), axes=(0,), keepdim=False)
            return to_dtype(counts, self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the probability of these counts."""
        value = self._value(value, self.probs)
        # A category of probability 0 that occurs 0 times contributes 0^0 = 1.
        absent = ops.logical_and(value == 0, self.probs == 0)
        power = value * ops.log(ops.where(absent, ops.full(shape=(), value=1, dtype=value.dtype), self.probs))
        return ops.lgamma(total(value, 1) + 1) - total(ops.lgamma(value + 1), 1) + total(power, 1)

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        n, p = self.total_count, self.probs
        # The expected log(x!) of each category needs the probabilities of its counts 2 to n, which are binomial.
        counts = reshape(ops.arange(start=2, step=1, length=max(n - 1, 0), dtype=p.dtype), [-1, *[1] * p.ndim])
        whole = ops.lgamma(ops.full(shape=(), value=n + 1, dtype=p.dtype))
        choices = whole - ops.lgamma(counts + 1) - ops.lgamma(n - counts + 1)
        binomial = ops.exp(choices) * p**counts * (1 - p) ** (n - counts)
        expected = total(ops.reduce_sum(binomial * ops.lgamma(counts + 1), axes=(0,), keepdim=False), 1)
        safe = ops.where(p > 0, p, ops.full(shape=(), value=1, dtype=p.dtype))
        return -n * total(p * ops.log(safe), 1) - whole + expected


explained(globals())
