"""Exponential families: densities exp(<t, statistics(x)> - F(t) + carrier(x)), whose entropy and divergence follow from F."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_autograd import enable_grad, grad
from wherry_distribution.distribution import Distribution, total
from wherry_tensor._core import Tensor

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base of exponential families: distributions with density exp(<t, statistics(x)> - F(t) + carrier(x)).

    A class that defines `_natural_parameters` (a tuple of tensors), `_log_normalizer` (F of them) and `_mean_carrier_measure` (the expected
    carrier) gets its entropy from them, and its divergence from another of the same class.

    Raises:
        NotImplementedError: in `entropy`: the class does not define these.

    Source:
        `paddle.distribution.ExponentialFamily`; Nielsen & Nock (2010), Entropies and cross-entropies of exponential families.

    Examples:
        >>> from wherry.distribution import ExponentialFamily
        >>> class Exponential(ExponentialFamily):
        ...     def __init__(self, rate):
        ...         self.rate = rate
        ...         super().__init__(rate.shape)
        ...     @property
        ...     def _natural_parameters(self):
        ...         return (-self.rate,)
        ...     def _log_normalizer(self, t):
        ...         return -wherry.log(-t)
        ...     _mean_carrier_measure = 0.0
        >>> print(Exponential(wherry.to_tensor([1.0])).entropy().numpy())  # 1 - log(rate)
        [1.]
    """

    @property
    def _natural_parameters(self) -> Sequence[Tensor]:
        self._lacks("_natural_parameters")

    def _log_normalizer(self, *natural: Tensor) -> Tensor:
        self._lacks("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Tensor | float:
        self._lacks("_mean_carrier_measure")

    def entropy(self) -> Tensor:
        """F(t) - <t, F'(t)> - E[carrier], in nats."""
        natural, normalizer, slopes = expanded(self)
        entropy = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(natural, slopes, strict=True):
            entropy = entropy - total(parameter * slope, len(self.event_shape))
        return entropy


def expanded(family: ExponentialFamily) -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """The natural parameters, F there, and its derivatives."""
    with enable_grad():
        natural = []
        for parameter in family._natural_parameters:
            leaf = parameter.detach() if parameter.stop_gradient else parameter
            if parameter.stop_gradient:
                leaf.stop_gradient = False
            natural.append(leaf)
        normalizer = family._log_normalizer(*natural)
        slopes = [x for x in grad(normalizer.sum(), natural, create_graph=True) if x is not None]
    if all(parameter.stop_gradient for parameter in family._natural_parameters):
        return [x.detach() for x in natural], normalizer.detach(), [x.detach() for x in slopes]
    return natural, normalizer, slopes
