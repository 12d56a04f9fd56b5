"""Gradient clipping in optimizers, by value, norm or global norm.

The gradients in `.grad` stay as they are; clipped ones are new tensors. Parameters made with
`ParamAttr(need_clip=False)` are left alone.
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from wherry_autograd.selected_rows import SelectedRows
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, scalar
from wherry_tensor.arguments import require_tensor
from wherry_tensor.constructor_arguments import as_constructed
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.foreach import on_each

__all__ = ["ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]


class ClipGradBase:
    """Base of gradient clipping. Calling it maps pairs (parameter, gradient) to pairs with clipped gradients, without
    those that have no gradient."""

    def __repr__(self) -> str:
        return as_constructed(self)

    def __call__(self, params_grads: Iterable[tuple[Any, Tensor | None]]) -> list[tuple[Any, Tensor]]:
        try:
            present = [(p, g) for p, g in params_grads if g is not None]
        except (TypeError, ValueError):
            raise InvalidTypeError(
                f"{type(self).__name__}: params_grads is not a list of pairs. Got {short(params_grads)} ({type(params_grads).__name__}), expected "
                f"a list of (parameter, gradient). Write [(p, p.grad) for p in parameters]."
            ) from None
        for _, grad in present:
            if not isinstance(grad, SelectedRows):
                require_tensor(grad, type(self).__name__, "gradient")
        before = _core.set_grad_mode(False)
        try:
            clipped = self._clip([p for p, _ in present], [g for _, g in present])
        finally:
            _core.set_grad_mode(before)
        return [(p, g) for (p, _), g in zip(present, clipped, strict=True)]

    def _clip(self, params: list[Any], grads: list[Tensor]) -> list[Tensor]:
        """The clipped gradients; those of parameters with `need_clip=False` unchanged."""
        raise NotImplementedError(
            f"{type(self).__name__}: _clip is not defined. Got a class without _clip, expected one. Use "
            f"ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm."
        )

    def _scales(self, params: list[Any], grads: list[Tensor]) -> list[Tensor | None] | None:
        """The factor of each gradient (None: unchanged), for updates that multiply by it themselves.

        None where clipping is not a multiplication.
        """
        return None

    @staticmethod
    def _clip_by(grads: list[Tensor], scales: list[Tensor | None]) -> list[Tensor]:
        """The gradients, each multiplied by its factor."""
        out = list(grads)
        places: dict[Any, list[int]] = {}
        for i, (grad, scale) in enumerate(zip(grads, scales, strict=True)):
            if scale is not None:
                places.setdefault(grad.dtype, []).append(i)
        for dtype, chosen in places.items():
            factors = {id(scale): scale for i in chosen if (scale := scales[i]) is not None}  # one for all, or one for each
            factors = {key: scale if scale.dtype is dtype else ops.cast(scale, dtype=dtype) for key, scale in factors.items()}
            products = on_each(ops.multiply, [grads[i] for i in chosen], [factors[id(scales[i])] for i in chosen])
            for i, product in zip(chosen, products, strict=True):
                out[i] = _like(grads[i], product)
        return out


class ClipGradByValue(ClipGradBase):
    """Gradient clipping by value: clips every element of a gradient into `[min, max]`.

    Args:
        max: the largest value.
        min: the smallest value; None means `-max`, which must then be negative.

    Raises:
        TypeError: `max` or `min` is not a number.
        ValueError: `min` is None and `max` not positive, or `max` is below `min` (also an AssertionError).

    Source:
        `paddle.nn.ClipGradByValue`.

    Examples:
        >>> clip = wherry.nn.ClipGradByValue(min=-1, max=1)
        >>> weight = wherry.create_parameter([3], "float32")
        >>> print(clip([(weight, wherry.to_tensor([-3.0, 0.5, 2.0]))])[0][1].numpy())
        [-1.   0.5  1. ]
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        self.max = _number(max, "ClipGradByValue", "max")
        if min is None and self.max <= 0.0:
            raise AssertedArgumentError(
                f"ClipGradByValue: without `min`, `max` must be positive. Got max={short(max)}, expected a number > 0. Name both "
                f"ends of the range."
            )
        self.min = -self.max if min is None else _number(min, "ClipGradByValue", "min")
        if self.min > self.max:
            raise AssertedArgumentError(
                f"ClipGradByValue: max should be greater than or equal to min. Got max={short(max)} and min={short(min)}, expected an "
                f"interval. `max` is the first argument."
            )

    def _clip(self, params: list[Any], grads: list[Tensor]) -> list[Tensor]:
        return [
            _like(g, ops.clip(g, scalar(self.min, g.dtype), scalar(self.max, g.dtype))) if _needs(p) else g
            for p, g in zip(params, map(merged, grads), strict=True)
        ]

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"


class ClipGradByNorm(ClipGradBase):
    """Gradient clipping by norm: scales each gradient to the L2 norm `clip_norm` where its norm is larger.

    Args:
        clip_norm: the largest norm.

    Raises:
        TypeError: `clip_norm` is not a number.

    Source:
        `paddle.nn.ClipGradByNorm`.

    Examples:
        >>> clip = wherry.nn.ClipGradByNorm(clip_norm=1.0)
        >>> weight = wherry.create_parameter([2], "float32")
        >>> print(clip([(weight, wherry.to_tensor([3.0, 4.0]))])[0][1].numpy())
        [0.6 0.8]
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = _number(clip_norm, "ClipGradByNorm", "clip_norm")

    def _clip(self, params: list[Any], grads: list[Tensor]) -> list[Tensor]:
        grads = [merged(g) for g in grads]
        return self._clip_by(grads, self._scales(params, grads))

    def _scales(self, params: list[Any], grads: list[Tensor]) -> list[Tensor | None]:
        return [_factor([g], self.clip_norm) if _needs(p) else None for p, g in zip(params, grads, strict=True)]

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"


class ClipGradByGlobalNorm(ClipGradBase):
    """Gradient clipping by the global norm: scales all gradients by one factor, so that the L2 norm of all their
    elements is at most `clip_norm`.

    Gradients of parameters with `need_clip=False` neither count in the norm nor are scaled.

    Args:
        clip_norm: the largest norm.
        group_name: no effect.
        auto_skip_clip: leave gradients untouched, rather than multiplied by 1, where the norm is small
            enough; the values are the same.

    Raises:
        TypeError: `clip_norm` is not a number.

    Source:
        `paddle.nn.ClipGradByGlobalNorm`; Pascanu et al., "On the difficulty of training recurrent neural
        networks" (2013).

    Examples:
        >>> clip = wherry.nn.ClipGradByGlobalNorm(clip_norm=1.0)
        >>> weight, bias = wherry.create_parameter([1], "float32"), wherry.create_parameter([1], "float32")
        >>> pairs = clip([(weight, wherry.to_tensor([3.0])), (bias, wherry.to_tensor([4.0]))])
        >>> print(pairs[0][1].numpy(), pairs[1][1].numpy())
        [0.6] [0.8]
    """

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm = _number(clip_norm, "ClipGradByGlobalNorm", "clip_norm")
        self.group_name = group_name
        self.auto_skip_clip = auto_skip_clip

    def _clip(self, params: list[Any], grads: list[Tensor]) -> list[Tensor]:
        grads = [merged(g) for g in grads]
        return self._clip_by(grads, self._scales(params, grads))

    def _scales(self, params: list[Any], grads: list[Tensor]) -> list[Tensor | None]:
        clipped = [g for p, g in zip(params, grads, strict=True) if _needs(p)]
        factor = _factor(clipped, self.clip_norm) if clipped else None
        return [factor if _needs(p) else None for p in params]

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"


def merged(grad: Tensor) -> Tensor:
    """A gradient ready for its norm: rows that occur several times are summed."""
    return grad.merge() if isinstance(grad, SelectedRows) else grad


def _like(grad: Tensor, values: Tensor) -> Tensor:
    """`values`, as `SelectedRows` where `grad` is one."""
    return grad.with_values(values) if isinstance(grad, SelectedRows) else values


def _needs(param: Any) -> bool:
    return getattr(param, "need_clip", True)


def _factor(grads: list[Tensor], clip_norm: float) -> Tensor:
    """clip_norm / max(norm, clip_norm), where norm is that of all of `grads` together."""
    squares = ops.sum_of_squares(*grads)
    limit = scalar(clip_norm, squares.dtype)
    return ops.divide(limit, ops.maximum(ops.sqrt(squares), limit))


def _number(value: Any, kind: str, name: str) -> float:
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise InvalidTypeError(
            f"{kind}: {name} must be a number. Got {short(value)} ({type(value).__name__}), expected a float. Write "
            f"{kind}({name}=1.0), say."
        )
    try:
        found = float(value)
    except OverflowError:
        found = math.nan
    if math.isnan(found):
        raise InvalidArgumentError(
            f"{kind}: {name} is not a number that a float can hold. Got {short(value)}, expected a float. Write {kind}({name}=1.0), say."
        )
    return found


explained(globals())
