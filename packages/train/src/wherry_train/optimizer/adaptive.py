"""Adagrad, Adadelta and RMSProp: steps scaled by the squares of past gradients."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wherry_nn.clip import ClipGradBase
from wherry_nn.param_attr import WeightDecayRegularizer
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import check_arguments, flag
from wherry_tensor.explained import explained
from wherry_train.optimizer.lr import LRScheduler
from wherry_train.optimizer.optimizer import Optimizer, number

__all__ = ["Adadelta", "Adagrad", "RMSProp"]


class Adagrad(Optimizer):
    """Each element's step is divided by the root of the sum of its squared gradients.

        moment += grad ** 2
        param -= learning_rate * grad / (sqrt(moment) + epsilon)

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        epsilon: keeps the division finite.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        name: becomes part of the names of the accumulators.
        initial_accumulator_value: what `moment` starts with.

    Raises:
        ValueError: `epsilon` or `initial_accumulator_value` is None or negative.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.Adagrad`; Duchi, Hazan & Singer, "Adaptive subgradient methods" (2011).

    Examples:
        >>> weight = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.Adagrad(learning_rate=0.5, parameters=[weight])
        >>> (weight * weight).sum().backward()
        >>> optimizer.step()
        >>> print(weight.numpy())
        [0.50000024 1.5000001 ]
    """

    _op = ops.adagrad
    _accumulator_names = ("moment",)

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        epsilon: float = 1e-6,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        self._epsilon = number("Adagrad", "epsilon", epsilon, _not_negative, "a number >= 0")
        self.initial_accumulator_value = number(
            "Adagrad", "initial_accumulator_value", initial_accumulator_value, _not_negative, "a number >= 0"
        )
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        return number("Adagrad", "epsilon", options.get("epsilon", self._epsilon), _not_negative, "a number >= 0"), decay

    def _changes_rows_only(self, attributes: tuple[Any, ...]) -> bool:
        return attributes[-1] == 0.0  # a penalty changes every row

    def _first_value(self, accumulator: str, options: dict[str, Any]) -> float:
        return float(options.get("initial_accumulator_value", self.initial_accumulator_value))


class Adadelta(Optimizer):
    """Steps scaled by running averages: squared steps over squared gradients.

        avg_squared_grad = rho * avg_squared_grad + (1 - rho) * grad ** 2
        step = sqrt((avg_squared_update + epsilon) / (avg_squared_grad + epsilon)) * grad
        avg_squared_update = rho * avg_squared_update + (1 - rho) * step ** 2
        param -= learning_rate * step

    Args:
        learning_rate: multiplies the steps, or a scheduler; 1.0 is that of the paper.
        epsilon: keeps the division finite, and gets the first step going.
        rho: the decay rate of the averages.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: `epsilon` or `rho` is None; `epsilon` is negative.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.Adadelta`; Zeiler, "ADADELTA: an adaptive learning rate method" (2012).

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.Adadelta(learning_rate=1.0, epsilon=1e-6, rho=0.5, parameters=[weight])
        >>> (2 * weight).sum().backward()
        >>> optimizer.step()  # sqrt(1e-6 / (0.5 * 2**2 + 1e-6)) * 2
        >>> print(round(float(weight), 5))
        0.99859
    """

    _op = ops.adadelta
    _accumulator_names = ("_avg_squared_grad", "_avg_squared_update")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._epsilon = number("Adadelta", "epsilon", epsilon, _not_negative, "a number >= 0")
        self._rho = number("Adadelta", "rho", rho, _any, "a number")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        return (
            number("Adadelta", "rho", options.get("rho", self._rho), _any, "a number"),
            number("Adadelta", "epsilon", options.get("epsilon", self._epsilon), _not_negative, "a number >= 0"),
            decay,
        )


class RMSProp(Optimizer):
    """Steps divided by the root of a running average of squared gradients.

        mean_square = rho * mean_square + (1 - rho) * grad ** 2
        mean_grad = rho * mean_grad + (1 - rho) * grad                      # centered
        spread = mean_square - mean_grad ** 2 if centered else mean_square
        velocity = momentum * velocity + learning_rate * grad / sqrt(spread + epsilon)
        param -= velocity

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        rho: the decay rate of the averages, >= 0.
        epsilon: keeps the division finite, >= 0.
        momentum: the part of the last step that is added again, >= 0.
        centered: divide by the standard deviation of the gradient rather than by its root mean square.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: `rho`, `epsilon` or `momentum` is None or negative.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.RMSProp`; Tieleman & Hinton, lecture 6.5 (2012); centered: Graves, "Generating
        sequences with recurrent neural networks" (2013).

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.RMSProp(learning_rate=0.25, rho=0.75, parameters=[weight])
        >>> (2 * weight).sum().backward()
        >>> optimizer.step()  # 0.25 * 2 / sqrt((1 - 0.75) * 2**2)
        >>> print(weight.numpy().round(3))
        [0.5]
    """

    _op = ops.rmsprop
    _accumulator_names = ("momentum", "mean_square", "mean_grad")

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._rho, self._epsilon, self._momentum = (
            number("RMSProp", what, value, _not_negative, "a number >= 0")
            for what, value in (("rho", rho), ("epsilon", epsilon), ("momentum", momentum))
        )
        check_arguments("RMSProp", locals(), centered=flag)
        self._centered = bool(centered)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        rho, epsilon, momentum = (
            number("RMSProp", what, options.get(what, getattr(self, f"_{what}")), _not_negative, "a number >= 0")
            for what in ("rho", "epsilon", "momentum")
        )
        return rho, epsilon, momentum, bool(options.get("centered", self._centered)), decay


def _not_negative(value: float) -> bool:
    return value >= 0


def _any(value: float) -> bool:
    return True


explained(globals())
