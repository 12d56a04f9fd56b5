"""Optimizers that came with Paddle 3: NAdam, RAdam, Rprop."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wherry_nn.clip import ClipGradBase
from wherry_nn.param_attr import WeightDecayRegularizer
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_train.optimizer.adam import _WithBetas
from wherry_train.optimizer.lr import LRScheduler
from wherry_train.optimizer.optimizer import Optimizer, number

__all__ = ["NAdam", "RAdam", "Rprop"]


class NAdam(_WithBetas):
    """Adam with Nesterov's momentum: each step looks ahead along the next one's momentum.

    With t counting steps from 1:

        mu(t) = beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay))
        moment1 = beta1 * moment1 + (1 - beta1) * grad
        moment2 = beta2 * moment2 + (1 - beta2) * grad ** 2
        ahead = mu(t + 1) * moment1 / (1 - mu(1) ... mu(t + 1)) + (1 - mu(t)) * grad / (1 - mu(1) ... mu(t))
        param -= learning_rate * ahead / (sqrt(moment2 / (1 - beta2 ** t)) + epsilon)

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        beta1: the decay rate of the first moment, in [0, 1).
        beta2: the decay rate of the second moment, in [0, 1).
        epsilon: keeps the division finite.
        momentum_decay: how fast the momentum comes to beta1.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: a beta lies outside of [0, 1), epsilon or the decay is negative, or one of them is None.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.NAdam`; Dozat, "Incorporating Nesterov momentum into Adam" (2016).

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.NAdam(learning_rate=0.1, parameters=[weight])
        >>> (2 * weight).sum().backward()
        >>> optimizer.step()
        >>> print(weight.numpy())
        [0.8943...]
    """

    _op = ops.nadam
    _accumulator_names = ("moment1", "moment2", "momentum_decay_pow", "beta2_pow", "mu_product")
    _number_names = ("momentum_decay_pow", "beta2_pow", "mu_product")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.002,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float = 0.004,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._set_betas(beta1, beta2, epsilon)
        self._momentum_decay = number("NAdam", "momentum_decay", momentum_decay, lambda x: x >= 0, "a number >= 0")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _first_value(self, accumulator: str, options: dict[str, Any]) -> float:
        return 1.0 if accumulator in self._number_names else 0.0

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        slower = number("NAdam", "momentum_decay", options.get("momentum_decay", self._momentum_decay), lambda x: x >= 0, "a number >= 0")
        return *self._betas_of(options), slower, decay


class RAdam(_WithBetas):
    """Adam whose step is rectified as long as few gradients have been seen: no warm-up of the rate is needed.

    Until the variance of the second moment is known (some five steps), `param -= learning_rate * moment1 / (1 - beta1 ** t)`; then as Adam, times
    a factor that grows to 1.

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        beta1: the decay rate of the first moment, in [0, 1).
        beta2: the decay rate of the second moment, in [0, 1).
        epsilon: keeps the division finite.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: a beta lies outside of [0, 1), epsilon is negative, or one of them is None.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.RAdam`; Liu et al., "On the variance of the adaptive learning rate and beyond" (2020).

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.RAdam(learning_rate=0.25, parameters=[weight])
        >>> (2 * weight).sum().backward()
        >>> optimizer.step()  # the first step is not scaled
        >>> print(weight.numpy())
        [0.5...]
    """

    _op = ops.radam
    _accumulator_names = ("moment1", "moment2", "beta1_pow", "beta2_pow", "rho")
    _number_names = ("beta1_pow", "beta2_pow", "rho")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._set_betas(beta1, beta2, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _first_value(self, accumulator: str, options: dict[str, Any]) -> float:
        return 1.0 if accumulator in ("beta1_pow", "beta2_pow") else 0.0

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        return *self._betas_of(options), decay


class Rprop(Optimizer):
    """Resilient propagation, for whole batches: each element has a rate of its own, which grows while the sign of its gradient stays.

    Args:
        learning_rate: the rate of all elements at the beginning: a float, or a scheduler of `paddle.optimizer.lr`.
        learning_rate_range: the smallest and the largest rate.
        parameters: tensors, or parameter groups; see `Optimizer`.
        etas: factors of a rate where the sign has changed, and where it has stayed.
        grad_clip: how to clip gradients.
        multi_precision: keep float32 copies of 16-bit parameters.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: the rate is not within its range, or the factors are not below and above 1.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.Rprop`; Riedmiller and Braun (1993).

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.Rprop(learning_rate=0.25, parameters=[weight])
        >>> (2 * weight).sum().backward()
        >>> optimizer.step()
        >>> print(weight.numpy())
        [0.75]
    """

    _op = ops.rprop
    _accumulator_names = ("prevs", "learning_rates")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Iterable[Any] | None = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = multi_precision
        self._range = _pair("learning_rate_range", learning_rate_range)
        self._etas = _pair("etas", etas)
        if not 0.0 < self._etas[0] < 1.0 < self._etas[1]:
            raise InvalidArgumentError(
                f"Rprop: the factors do not fit. Got etas={short(etas)}, expected one in (0, 1) and one above 1. Leave them out."
            )
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        if not 0.0 < self._range[0] <= self.get_lr() <= self._range[1]:
            raise InvalidArgumentError(
                f"Rprop: the rate is not within its range. Got learning_rate={self.get_lr()} and learning_rate_range={short(learning_rate_range)}, "
                f"expected 0 < least <= learning_rate <= most. Change one of them."
            )

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        return *self._range, *self._etas, 0.0


def _pair(name: str, values: Any) -> tuple[float, float]:
    if not isinstance(values, (list, tuple)) or len(values) != 2:
        raise InvalidTypeError(f"Rprop: {name} is not a pair. Got {short(values)}, expected two numbers in a tuple. Write (0.5, 1.2), say.")
    first, second = (number("Rprop", name, value, lambda x: True, "a number") for value in values)
    return first, second


explained(globals())
