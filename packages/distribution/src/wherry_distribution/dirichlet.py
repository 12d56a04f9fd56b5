"""The beta and the Dirichlet distribution."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_distribution.distribution import parameters, total
from wherry_distribution.exponential_family import ExponentialFamily
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import broadcast_to, stack

__all__ = ["Beta", "Dirichlet"]


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution: n probabilities whose sum is 1, with density proportional to the product of p^(concentration - 1).

    Args:
        concentration: `[..., n]`, above 0.

    Shape:
        `sample(shape)` is `[*shape, ..., n]`, `log_prob` of `[..., n]` is `[...]`.

    Raises:
        TypeError: `concentration` is not a number, list, array or Tensor (also a ValueError).
        ValueError: `concentration` is 0-d.

    Source:
        `paddle.distribution.Dirichlet`. Draws are gamma variables divided by their sum.

    Examples:
        >>> from wherry.distribution import Dirichlet
        >>> print(Dirichlet(wherry.to_tensor([1.0, 3.0])).mean.numpy())
        [0.25 0.75]
    """

    def __init__(self, concentration: Any) -> None:
        (self.concentration,) = parameters("Dirichlet", concentration=concentration)
        shape = self.concentration.shape
        if not shape:
            raise InvalidArgumentError("Dirichlet: 'concentration' has no axis. Got shape [], expected [..., n]. Pass a list.")
        super().__init__(shape[:-1], shape[-1:])

    @property
    def mean(self) -> Tensor:
        """Concentration over its sum."""
        return self.concentration / self._sum(keepdim=True)

    @property
    def variance(self) -> Tensor:
        """mean (1 - mean) / (sum + 1)."""
        whole = self._sum(keepdim=True)
        mean = self.concentration / whole
        return mean * (1 - mean) / (whole + 1)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the shape `[*shape, *batch_shape, n]`."""
        with no_grad():
            concentration = broadcast_to(self.concentration, self._extend_shape(shape))
            # In logarithms: for small concentrations the draws themselves would underflow to 0.
            return ops.softmax(ops.log_standard_gamma(concentration), axis=concentration.ndim - 1)

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        c, whole = self.concentration, self._sum()
        n = c.shape[-1]
        return total(ops.lgamma(c), 1) - ops.lgamma(whole) - (n - whole) * ops.digamma(whole) - total((c - 1) * ops.digamma(c), 1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`, `[..., n]`."""
        c = self.concentration
        return total(ops.log(self._value(value, c)) * (c - 1), 1) + ops.lgamma(self._sum()) - total(ops.lgamma(c), 1)

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *natural: Tensor) -> Tensor:
        (c,) = natural
        return total(ops.lgamma(c), 1) - ops.lgamma(total(c, 1))

    def _sum(self, keepdim: bool = False) -> Tensor:
        return ops.reduce_sum(self.concentration, axes=(self.concentration.ndim - 1,), keepdim=keepdim)


class Beta(ExponentialFamily):
    """The beta distribution on (0, 1), with density proportional to x^(alpha - 1) (1 - x)^(beta - 1).

    Args:
        alpha: above 0; the two broadcast.
        beta: above 0.

    Shape:
        `alpha` and `beta` broadcast to the batch, `[...]`; `sample(shape)` is `[*shape, ...]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: the parameters do not broadcast.

    Source:
        `paddle.distribution.Beta`.

    Examples:
        >>> from wherry.distribution import Beta
        >>> print(Beta(1.0, 3.0).mean.numpy())
        0.25
    """

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha, self.beta = parameters("Beta", alpha=alpha, beta=beta)
        self._dirichlet = Dirichlet(stack([self.alpha, self.beta], -1))
        super().__init__(self._dirichlet.batch_shape)

    @property
    def mean(self) -> Tensor:
        """alpha / (alpha + beta)."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Tensor:
        """alpha beta / ((alpha + beta)^2 (alpha + beta + 1))."""
        whole = self.alpha + self.beta
        return self.alpha * self.beta / (whole * whole * (whole + 1))

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the shape `[*shape, *batch_shape]`."""
        drawn = self._dirichlet.sample(shape)
        return ops.select(drawn, axis=drawn.ndim - 1, index=0)

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        return self._dirichlet.entropy()

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        value = self._value(value, self.alpha)
        return self._dirichlet.log_prob(stack([value, 1 - value], -1))


explained(globals())
