"""Gradient descent, plain and with momentum."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wherry_nn.clip import ClipGradBase
from wherry_nn.param_attr import WeightDecayRegularizer
from wherry_tensor import ops
from wherry_tensor._core import Tensor, scalar
from wherry_tensor.constructor_arguments import check_arguments, flag
from wherry_tensor.explained import explained
from wherry_train.optimizer.lr import LRScheduler
from wherry_train.optimizer.optimizer import Optimizer, number

__all__ = ["SGD", "Momentum"]


class SGD(Optimizer):
    """Gradient descent: `param -= lr * grad`.

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        multi_precision: keep float32 copies of 16-bit parameters.
        name: becomes part of the names of the accumulators.

    Raises:
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.SGD`.

    Examples:
        >>> weight = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.SGD(learning_rate=0.1, parameters=[weight])
        >>> (weight * weight).sum().backward()
        >>> optimizer.step()
        >>> print(weight.numpy())
        [0.8 1.6]
    """

    _op = ops.sgd

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        return (decay,)

    def _changes_rows_only(self, attributes: tuple[Any, ...]) -> bool:
        return attributes[-1] == 0.0  # a penalty changes every row


class Momentum(Optimizer):
    """Gradient descent with momentum: `velocity = momentum * velocity + grad; param -= lr * velocity`.

    With `use_nesterov`: `param -= lr * (grad + momentum * velocity)`.

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        momentum: the part of the velocity that is kept at each step.
        parameters: tensors, or parameter groups; see `Optimizer`.
        use_nesterov: use Nesterov's momentum.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        multi_precision: keep float32 copies of 16-bit parameters.
        rescale_grad: multiplies gradients before anything else is added; 1 / batch size, say.
        use_multi_tensor: no effect; many parameters are always updated in one call.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: `momentum` is None.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.Momentum`; Sutskever et al., "On the importance of initialization and momentum in
        deep learning" (2013).

    Examples:
        >>> weight = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.Momentum(learning_rate=0.125, momentum=0.5, parameters=[weight])
        >>> for _ in range(2):
        ...     optimizer.apply_gradients([(weight, wherry.ones([2]))])
        []
        []
        >>> print(weight.numpy())
        [0.6875 1.6875]
    """

    _op = ops.momentum
    _accumulator_names = ("velocity",)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Iterable[Any] | None = None,
        use_nesterov: bool = False,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        self._momentum = number("Momentum", "momentum", momentum, lambda x: True, "a number")
        check_arguments("Momentum", locals(), use_nesterov=flag)
        self._use_nesterov = bool(use_nesterov)
        self._multi_precision = multi_precision
        self._rescale_grad = number("Momentum", "rescale_grad", rescale_grad, lambda x: True, "a number")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        mu = number("Momentum", "momentum", options.get("momentum", self._momentum), lambda x: True, "a number")
        return mu, bool(options.get("use_nesterov", self._use_nesterov)), decay

    def _rescaled(self, grads: list[Tensor]) -> list[Tensor]:
        if self._rescale_grad == 1.0:
            return grads
        return [ops.multiply(g, scalar(self._rescale_grad, g.dtype)) for g in grads]


explained(globals())
