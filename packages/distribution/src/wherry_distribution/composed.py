"""Distributions made of others: with axes of the batch counted as the event, and behind transforms."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, total
from wherry_distribution.transform import ChainTransform, Transform
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["Independent", "TransformedDistribution"]


class Independent(Distribution):
    """A distribution whose last axes of the batch count as the event: densities are multiplied over them.

    Args:
        base: a distribution.
        reinterpreted_batch_rank: how many axes, from 1 to the rank of its batch.

    Raises:
        TypeError: `base` is no distribution.
        ValueError: its batch has fewer axes.

    Source:
        `paddle.distribution.Independent`.

    Examples:
        >>> from wherry.distribution import Independent, Normal
        >>> several = Independent(Normal([0.0, 0.0, 0.0], 1.0), 1)
        >>> several.batch_shape, several.event_shape
        ((), (3,))
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        _require_distribution("Independent", base)
        rank = len(base.batch_shape)
        if not 0 < reinterpreted_batch_rank <= rank:
            raise InvalidArgumentError(
                f"Independent: the batch has no such axes. Got reinterpreted_batch_rank={reinterpreted_batch_rank} for a batch of shape "
                f"{list(base.batch_shape)}, expected 1 to {rank}. Use the distribution itself for none."
            )
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank
        shape, kept = base.batch_shape + base.event_shape, rank - reinterpreted_batch_rank
        super().__init__(shape[:kept], shape[kept:])

    @property
    def mean(self) -> Tensor:
        """That of the base."""
        return self._base.mean

    @property
    def variance(self) -> Tensor:
        """That of the base."""
        return self._base.variance

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the base."""
        return self._base.sample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the base, with its gradients."""
        return self._base.rsample(shape)

    def entropy(self) -> Tensor:
        """The sum of entropies, in nats."""
        return total(self._base.entropy(), self._reinterpreted_batch_rank)

    def log_prob(self, value: Tensor) -> Tensor:
        """The sum of logarithms of densities."""
        return total(self._base.log_prob(value), self._reinterpreted_batch_rank)


class TransformedDistribution(Distribution):
    """The distribution of a random variable behind transforms.

    Args:
        base: a distribution.
        transforms: a list, in the order in which they are applied.

    Raises:
        TypeError: `base` is no distribution, or `transforms` no list of transforms.
        ValueError: a transform works on more axes than a draw of `base` has.

    Source:
        `paddle.distribution.TransformedDistribution`.

    Examples:
        >>> from wherry.distribution import ExpTransform, Normal, TransformedDistribution
        >>> positive = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
        >>> print(positive.log_prob(wherry.to_tensor(1.0)).numpy())
        -0.9189385
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        _require_distribution("TransformedDistribution", base)
        if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
            raise InvalidTypeError(
                f"TransformedDistribution: 'transforms' is a list of transforms. Got {short(transforms)}, expected e.g. [ExpTransform()]. "
                f"Put a single one in brackets."
            )
        self._base, self._transforms = base, list(transforms)
        chain = ChainTransform(self._transforms)
        shape, rank = base.batch_shape + base.event_shape, len(base.event_shape)
        if chain._domain.event_rank > len(shape):
            raise InvalidArgumentError(
                f"TransformedDistribution: the transforms work on more axes than a draw has. Got draws of shape {list(shape)}, expected at "
                f"least {chain._domain.event_rank} axes. Give the base a larger batch."
            )
        # A transform of vectors makes one event of what was a batch of numbers.
        self._base_rank = max(rank, chain._domain.event_rank)
        self._gained = self._base_rank - rank
        rank = self._base_rank + chain._codomain.event_rank - chain._domain.event_rank
        shape = tuple(chain.forward_shape(shape))
        super().__init__(shape[: len(shape) - rank], shape[len(shape) - rank :])

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the base, transformed."""
        return self._forward(self._base.sample(shape))

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the base with its gradients, transformed."""
        return self._forward(self._base.rsample(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        y = value if isinstance(value, Tensor) else self._value(value, self._base.sample())
        rank, logarithm = len(self.event_shape), None
        for transform in reversed(self._transforms):
            x = transform.inverse(y)
            rank += transform._domain.event_rank - transform._codomain.event_rank
            jacobian = transform._summed_jacobian(x, rank)
            logarithm = -jacobian if logarithm is None else logarithm - jacobian
            y = x
        density = total(self._base.log_prob(y), self._gained)
        return density if logarithm is None else logarithm + density

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self._transforms:
            x = transform.forward(x)
        return x


def _require_distribution(owner: str, base: Any) -> None:
    if not isinstance(base, Distribution):
        raise InvalidTypeError(f"{owner}: 'base' is a distribution. Got {short(base)}, expected e.g. Normal(0.0, 1.0).")
