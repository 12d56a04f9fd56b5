"""Penalties on the size of parameters: `paddle.regularizer`.

The penalty itself never appears in the loss; its gradient is added to that of the parameter before an
update. L2Decay does not even make a tensor for that: the kernels of the updates add it as they go.
"""
from __future__ import annotations

from typing import Any

from wherry_nn.param_attr import WeightDecayRegularizer
from wherry_tensor import ops
from wherry_tensor._core import Tensor, scalar
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["L1Decay", "L2Decay"]


class L1Decay(WeightDecayRegularizer):
    """Adds `coeff * sum(abs(parameter))` to the loss, which drives parameters to exact zeros.

    Args:
        coeff: the factor of the penalty.

    Raises:
        TypeError: `coeff` is not a number.
        ValueError: `coeff` is None (also an AssertionError).

    Source:
        `paddle.regularizer.L1Decay`.

    Examples:
        >>> print(wherry.regularizer.L1Decay(1e-4))
        L1Decay, coeff=0.000100
    """

    def __init__(self, coeff: float = 0.0) -> None:
        self._coeff = _coefficient(coeff, "L1Decay")

    def __call__(self, param: Tensor, grad: Tensor, block: Any = None) -> Tensor:
        """The gradient of the penalty, in the dtype of `grad`. `block` is accepted for compatibility."""
        return _scaled(ops.sign(_as(param, grad, self)), self._coeff)

    def __repr__(self) -> str:
        return f"L1Decay(coeff={self._coeff!r})"

    def __str__(self) -> str:
        return f"L1Decay, coeff={self._coeff:f}"


class L2Decay(WeightDecayRegularizer):
    """Adds `coeff / 2 * sum(square(parameter))` to the loss, which keeps parameters small.

    Args:
        coeff: the factor of the penalty.

    Raises:
        TypeError: `coeff` is not a number.
        ValueError: `coeff` is None (also an AssertionError).

    Source:
        `paddle.regularizer.L2Decay`.

    Examples:
        >>> print(wherry.regularizer.L2Decay(0.5))
        L2Decay, coeff=0.500000
    """

    def __init__(self, coeff: float = 0.0) -> None:
        self._coeff = _coefficient(coeff, "L2Decay")

    def __call__(self, param: Tensor, grad: Tensor, block: Any = None) -> Tensor:
        """The gradient of the penalty, in the dtype of `grad`. `block` is accepted for compatibility."""
        return _scaled(_as(param, grad, self), self._coeff)

    def __repr__(self) -> str:
        return f"L2Decay(coeff={self._coeff!r})"

    def __str__(self) -> str:
        return f"L2Decay, coeff={self._coeff:f}"


def _coefficient(coeff: Any, name: str) -> float:
    if coeff is None:
        raise AssertedArgumentError(
            f"{name}: coeff is missing. Got coeff=None, expected a number. Write {name}(1e-4), say."
        )
    if isinstance(coeff, str) or not hasattr(coeff, "__float__"):
        raise TypeError(
            f"{name}: the coefficient must be a number. Got {short(coeff)} ({type(coeff).__name__}), expected a float. "
            f"Write {name}(1e-4), say."
        )
    return float(coeff)


def _as(param: Tensor, grad: Tensor, decay: WeightDecayRegularizer) -> Tensor:
    if not (isinstance(param, Tensor) and isinstance(grad, Tensor)):
        require_tensor(param, type(decay).__name__, "param")
        require_tensor(grad, type(decay).__name__, "grad")
    if not grad.dtype.is_floating:
        raise InvalidTypeError(f"{type(decay).__name__}: a gradient is floating. Got one of {grad.dtype.name}, expected float32, say. Cast it.")
    return param if param.dtype is grad.dtype else ops.cast(param, dtype=grad.dtype)


def _scaled(x: Tensor, coeff: float) -> Tensor:
    return ops.multiply(x, scalar(coeff, x.dtype))


explained(globals())
