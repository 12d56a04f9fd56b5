"""Adam, AdamW, Adamax and Lamb: steps scaled by running averages of gradients and of their squares."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wherry_nn.clip import ClipGradBase
from wherry_nn.param_attr import WeightDecayRegularizer
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import check_arguments, flag
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, short
from wherry_tensor.explained import explained
from wherry_train.optimizer.lr import LRScheduler
from wherry_train.optimizer.optimizer import Optimizer, number

__all__ = ["Adam", "AdamW", "Adamax", "Lamb"]


class _WithBetas(Optimizer):
    """What Adam, AdamW, Adamax and Lamb share: two betas, an epsilon, and the powers of the betas."""

    _beta1: float
    _beta2: float
    _epsilon: float

    def _set_betas(self, beta1: Any, beta2: Any, epsilon: Any) -> None:
        self._beta1, self._beta2, self._epsilon = _betas(type(self).__name__, beta1, beta2, epsilon)

    def _betas_of(self, options: dict[str, Any]) -> tuple[float, float, float]:
        if not options:
            return self._beta1, self._beta2, self._epsilon
        return _betas(
            type(self).__name__,
            options.get("beta1", self._beta1), options.get("beta2", self._beta2), options.get("epsilon", self._epsilon),
        )

    def _first_value(self, accumulator: str, options: dict[str, Any]) -> float:
        beta1, beta2, _ = self._betas_of(options)
        return {"beta1_pow_acc": beta1, "beta2_pow_acc": beta2}.get(accumulator, 0.0)


class Adam(_WithBetas):
    """Adam: adaptive moment estimation.

    With t counting steps from 1:

        moment1 = beta1 * moment1 + (1 - beta1) * grad
        moment2 = beta2 * moment2 + (1 - beta2) * grad ** 2
        rate = learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t)
        param -= rate * moment1 / (sqrt(moment2) + epsilon * sqrt(1 - beta2 ** t))

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        beta1: the decay rate of the first moment, in [0, 1); a number or a
            tensor of one element.
        beta2: the decay rate of the second moment, in [0, 1).
        epsilon: keeps the division finite.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        lazy_mode: of a parameter with a sparse gradient (`embedding(sparse=True)`) only the rows that have one, and their
            moments, change.
        multi_precision: keep float32 copies of 16-bit parameters.
        use_multi_tensor: no effect; many parameters are always updated in one call.
        name: becomes part of the names of the accumulators.

    Shape:
        Moments have the shape of their parameter, powers of the betas `[1]`.

    Raises:
        ValueError: a beta lies outside of [0, 1), epsilon is negative, or one of them is None.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.Adam`; Kingma & Ba, "Adam: a method for stochastic optimization" (2015).

    Examples:
        >>> weight = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.Adam(learning_rate=0.5, parameters=[weight])
        >>> (weight * weight).sum().backward()
        >>> optimizer.step()
        >>> print(weight.numpy())
        [0.5 1.5]
    """

    _op = ops.adam
    _accumulator_names = ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
    _number_names = ("beta1_pow_acc", "beta2_pow_acc")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        self._set_betas(beta1, beta2, epsilon)
        self._lazy_mode = lazy_mode
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        return *self._betas_of(options), decay

    def _changes_rows_only(self, attributes: tuple[Any, ...]) -> bool:
        return bool(self._lazy_mode)


class AdamW(_WithBetas):
    """Adam with decoupled weight decay: `param *= 1 - lr * weight_decay` before the step.

    A regularizer that a parameter has is added to its gradient, beside the decay.

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        beta1: the decay rate of the first moment, in [0, 1).
        beta2: the decay rate of the second moment, in [0, 1).
        epsilon: keeps the division finite.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: how much parameters shrink, as a float or a tensor of one element.
        lr_ratio: a function of a parameter that gives a factor for its learning rate.
        apply_decay_param_fun: a function of a parameter's name: True for those that decay.
        grad_clip: how to clip gradients.
        lazy_mode: of a parameter with a sparse gradient (`embedding(sparse=True)`) only the rows that have one, and their
            moments, change.
        multi_precision: keep float32 copies of 16-bit parameters.
        name: becomes part of the names of the accumulators.

    Shape:
        Moments have the shape of their parameter, powers of the betas `[1]`.

    Raises:
        TypeError: `weight_decay` is neither float nor Tensor.
        ValueError: a beta lies outside of [0, 1), epsilon is negative, or one of them is None.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.AdamW`, whose `lr_ratio` works on GPUs only; Loshchilov & Hutter, "Decoupled
        weight decay regularization" (2019).

    Examples:
        >>> weight = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.AdamW(learning_rate=0.5, weight_decay=0.5, parameters=[weight])
        >>> (weight * weight).sum().backward()
        >>> optimizer.step()
        >>> print(weight.numpy())
        [0.25 1.  ]
    """

    _op = ops.adamw
    _fuses_decay = False  # the op's weight_decay is the decoupled one
    _accumulator_names = Adam._accumulator_names
    _number_names = Adam._number_names

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | Tensor = 0.01,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise AssertedArgumentError(
                "AdamW: learning_rate is not set. Got None, expected a float or a scheduler. Leave it out for the default."
            )
        self._set_betas(beta1, beta2, epsilon)
        self._weight_decay = _decoupled(weight_decay)
        _function("AdamW", "lr_ratio", lr_ratio, "parameter")
        _function("AdamW", "apply_decay_param_fun", apply_decay_param_fun, "parameter's name")
        self._lr_ratio = lr_ratio
        self._apply_decay_param_fun = apply_decay_param_fun
        self._lazy_mode = lazy_mode
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, None, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        decay = _decoupled(options["weight_decay"]) if options else self._weight_decay
        if self._apply_decay_param_fun is not None and not self._apply_decay_param_fun(param.name):
            decay = 0.0
        return *self._betas_of(options), decay

    def _changes_rows_only(self, attributes: tuple[Any, ...]) -> bool:
        return bool(self._lazy_mode)

    def _extra_factor(self, param: Tensor) -> float:
        return 1.0 if self._lr_ratio is None else float(self._lr_ratio(param))

    def _penalty(self, own: WeightDecayRegularizer | None, options: dict[str, Any]) -> WeightDecayRegularizer | None:
        return own

    def _default_decay(self) -> Any:
        return self._weight_decay

    def _take_group_options(self, params: list[Any], options: dict[str, Any]) -> None:
        _decoupled(options["weight_decay"])
        for param in params:
            param.optimize_attr = {"learning_rate": options.get("learning_rate", 1.0)}


class Adamax(_WithBetas):
    """Adam with the infinity norm: a decaying maximum of gradients in place of the second moment.

        moment = beta1 * moment + (1 - beta1) * grad
        inf_norm = max(beta2 * inf_norm + epsilon, abs(grad))
        param -= learning_rate / (1 - beta1 ** t) * moment / inf_norm

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        beta1: the decay rate of the first moment, in [0, 1).
        beta2: the decay rate of the infinity norm, in [0, 1).
        epsilon: keeps the division finite.
        parameters: tensors, or parameter groups; see `Optimizer`.
        weight_decay: the coefficient of an L2 penalty, or a regularizer.
        grad_clip: how to clip gradients.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: a beta lies outside of [0, 1), epsilon is negative, or one of them is None.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.Adamax`; Kingma & Ba, "Adam: a method for stochastic optimization" (2015), section 7.

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.Adamax(learning_rate=0.25, parameters=[weight])
        >>> (2 * weight).sum().backward()
        >>> optimizer.step()  # the first step has the length of the learning rate
        >>> print(weight.numpy())
        [0.75]
    """

    _op = ops.adamax
    _accumulator_names = ("moment", "inf_norm", "beta1_pow_acc")
    _number_names = ("beta1_pow_acc",)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._set_betas(beta1, beta2, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        return *self._betas_of(options), decay


class Lamb(_WithBetas):
    """Layer-wise adaptive Adam for large batches: the norm of each parameter scales its step.

        step = moment1 / (1 - beta1 ** t) / (sqrt(moment2 / (1 - beta2 ** t)) + epsilon) + lamb_weight_decay * param
        param -= learning_rate * norm(param) / norm(step) * step

    Args:
        learning_rate: a float, or a scheduler of `paddle.optimizer.lr`.
        lamb_weight_decay: how much parameters shrink.
        beta1: the decay rate of the first moment, in [0, 1).
        beta2: the decay rate of the second moment, in [0, 1).
        epsilon: keeps the division finite.
        parameters: tensors, or parameter groups; see `Optimizer`.
        grad_clip: how to clip gradients.
        exclude_from_weight_decay_fn: a function of a parameter: True for those that do not decay.
        multi_precision: keep float32 copies of 16-bit parameters.
        always_adapt: adapt the length of the step also for parameters that do not decay.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: a beta lies outside of [0, 1), epsilon is negative, or one of them is None.
        TypeError, ValueError, AttributeError: as `Optimizer`.

    Source:
        `paddle.optimizer.Lamb`; You et al., "Large batch optimization for deep learning: training BERT in 76
        minutes" (2020).

    Examples:
        >>> weight = wherry.to_tensor([3.0, 4.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.Lamb(learning_rate=0.5, lamb_weight_decay=0.0, always_adapt=True, parameters=[weight])
        >>> (wherry.to_tensor([1.0, 0.0]) * weight).sum().backward()
        >>> optimizer.step()  # 0.5 times the norm of the parameter, 5, along the gradient
        >>> print(weight.numpy().round(3))
        [0.5 4. ]
    """

    _op = ops.lamb
    _accumulator_names = Adam._accumulator_names
    _number_names = Adam._number_names
    _fuses_decay = False  # the op's weight_decay is the decoupled one

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Iterable[Any] | None = None,
        grad_clip: ClipGradBase | None = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        self._set_betas(beta1, beta2, epsilon)
        self._lamb_weight_decay = number("Lamb", "lamb_weight_decay", lamb_weight_decay, lambda x: True, "a number")
        _function("Lamb", "exclude_from_weight_decay_fn", exclude_from_weight_decay_fn, "parameter")
        self._exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        self._multi_precision = multi_precision
        check_arguments("Lamb", locals(), always_adapt=flag)
        self.always_adapt = always_adapt
        super().__init__(learning_rate, parameters, None, grad_clip, name)

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        decay = float(options.get("lamb_weight_decay", self._lamb_weight_decay))
        if self._exclude_from_weight_decay_fn is not None and self._exclude_from_weight_decay_fn(param):
            decay = 0.0
        return *self._betas_of(options), decay, bool(self.always_adapt or decay > 0.0)


def _function(optimizer: str, what: str, function: Any, of: str) -> None:
    if function is not None and not callable(function):
        raise AssertedTypeError(
            f"{optimizer}: {what} must be a function. Got {short(function)} ({type(function).__name__}), expected something to call "
            f"with a {of}. Write {what}=lambda p: ..."
        )


def _betas(name: str, beta1: Any, beta2: Any, epsilon: Any) -> tuple[float, float, float]:
    return (
        number(name, "beta1", beta1, lambda x: 0 <= x < 1, "a number in [0, 1)"),
        number(name, "beta2", beta2, lambda x: 0 <= x < 1, "a number in [0, 1)"),
        number(name, "epsilon", epsilon, lambda x: x >= 0, "a number >= 0"),
    )


def _decoupled(decay: Any) -> float:
    if not isinstance(decay, (float, Tensor)):
        raise TypeError(
            f"AdamW: weight_decay should be float or Tensor. Got {short(decay)} ({type(decay).__name__}), expected a coefficient. "
            f"Write weight_decay=0.01, say; 0.0 switches it off."
        )
    return float(decay)


explained(globals())
