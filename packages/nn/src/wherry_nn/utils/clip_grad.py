"""Gradient clipping in place, between `backward` and the optimizer."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from wherry_autograd import no_grad
from wherry_autograd.selected_rows import SelectedRows
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import number, require_tensor
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions import linalg
from wherry_tensor.functions.creation import full
from wherry_tensor.functions.movement import stack

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Gradient clipping by the global norm: scale all gradients in place by one factor, so that their common norm is at most `max_norm`.

    Args:
        parameters: one or several; those without a gradient are left out.
        max_norm: the largest norm that is left unchanged.
        norm_type: 1, 2, `float("inf")`, or 0, which counts the gradients that are not zero.
        error_if_nonfinite: whether a norm that is infinite or NaN is an error; otherwise the gradients become 0 or NaN.

    Returns:
        The norm before, 0-d.

    Raises:
        ValueError: `norm_type` is another.
        RuntimeError: the norm is not finite, and `error_if_nonfinite` is set.

    Source:
        `paddle.nn.utils.clip_grad_norm_`.

    Examples:
        >>> weight = wherry.create_parameter([2], "float32")
        >>> (weight * wherry.to_tensor([3.0, 4.0])).sum().backward()
        >>> wherry.nn.utils.clip_grad_norm_([weight], max_norm=1.0).item()
        5.0
        >>> print(weight.grad.numpy())
        [0.5999999  0.79999983]
    """
    max_norm, norm_type = number(max_norm, "clip_grad_norm_", "max_norm"), number(norm_type, "clip_grad_norm_", "norm_type")
    if norm_type not in (0, 1, 2, math.inf):
        raise InvalidArgumentError(
            f"clip_grad_norm_: norm_type only support [inf, 0, 1, 2]. Got {short(norm_type)}, expected one of them. "
            f"The usual one is 2."
        )
    gradients = _gradients(parameters)
    if not gradients:
        return full([], 0.0)
    with no_grad():
        if norm_type == 2 and {g.dtype for g in gradients} <= {_core.float32, _core.float64}:
            total = ops.sqrt(ops.sum_of_squares(*gradients))  # of all together
        else:
            total = linalg.norm(stack([linalg.norm(ops.reshape(g, (g.size,)), norm_type) for g in gradients]), norm_type)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(
                f"clip_grad_norm_: The total norm of {norm_type} order of the gradients from `parameters` is non-finite, so it "
                f"cannot be clipped. Got {total.item()}, expected a finite number. Set `error_if_nonfinite=False` to scale by "
                f"it nevertheless, or look for the operation that overflowed."
            )
        factor = ops.clip(max_norm / (total + 1e-6), None, full([], 1.0, total.dtype))
        for dtype in dict.fromkeys(g.dtype for g in gradients):
            some = [g for g in gradients if g.dtype is dtype]
            ops.multiply.each_into((some,), (some, factor if dtype is factor.dtype else ops.cast(factor, dtype=dtype)), ())
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Gradient clipping by value: limit each element of all gradients in place to `[-clip_value, clip_value]`.

    Args:
        parameters: one or several; those without a gradient are left out.
        clip_value: not negative.

    Raises:
        ValueError: it is negative.

    Source:
        `paddle.nn.utils.clip_grad_value_`.

    Examples:
        >>> weight = wherry.create_parameter([2], "float32")
        >>> (weight * wherry.to_tensor([3.0, -4.0])).sum().backward()
        >>> wherry.nn.utils.clip_grad_value_([weight], 1.0)
        >>> print(weight.grad.numpy())
        [ 1. -1.]
    """
    clip_value = number(clip_value, "clip_grad_value_", "clip_value")
    if clip_value < 0:
        raise InvalidArgumentError(
            f"clip_grad_value_: clip_value is negative. Got {clip_value}, expected a number >= 0. "
            f"Gradients stay in [-clip_value, clip_value]."
        )
    with no_grad():
        for g in _gradients(parameters):
            ops.clip.into((g,), g, full([], -clip_value, g.dtype), full([], clip_value, g.dtype))


def _gradients(parameters: Any) -> list[Tensor]:
    found = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    for i, parameter in enumerate(found):
        require_tensor(parameter, "clip_grad", f"parameters[{i}]")
    for parameter in found:
        if isinstance(parameter.grad, SelectedRows):
            parameter.grad = parameter.grad.merge()  # a row that occurs twice counts once in a norm
    return [parameter.grad for parameter in found if parameter.grad is not None]


explained(globals())
