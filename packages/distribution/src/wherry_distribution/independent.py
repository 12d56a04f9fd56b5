"""Distributions with batch axes taken as part of the event."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_distribution.distribution import Distribution, require_distribution, total
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained

__all__ = ["Independent"]


class Independent(Distribution):
    """Takes the last batch axes of a distribution as part of the event: log densities are summed over them.

    Args:
        base: a distribution.
        reinterpreted_batch_rank: the number of axes, from 1 to the rank of its batch.

    Raises:
        TypeError: `base` is not a distribution (also a ValueError).
        ValueError: `reinterpreted_batch_rank` is not between 1 and the rank of the batch.

    Source:
        `paddle.distribution.Independent`.

    Examples:
        >>> from wherry.distribution import Independent, Normal
        >>> several = Independent(Normal([0.0, 0.0, 0.0], 1.0), 1)
        >>> several.batch_shape, several.event_shape
        ((), (3,))
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        require_distribution("Independent", base)
        rank = len(base.batch_shape)
        if not 0 < reinterpreted_batch_rank <= rank:
            raise InvalidArgumentError(
                f"Independent: reinterpreted_batch_rank is out of range. Got {reinterpreted_batch_rank} for a batch of shape "
                f"{list(base.batch_shape)}, expected 1 to {rank}. For 0 use the distribution itself."
            )
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank
        shape, kept = base.batch_shape + base.event_shape, rank - reinterpreted_batch_rank
        super().__init__(shape[:kept], shape[kept:])

    @property
    def mean(self) -> Tensor:
        """The one of the base."""
        return self._base.mean

    @property
    def variance(self) -> Tensor:
        """The one of the base."""
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


explained(globals())
