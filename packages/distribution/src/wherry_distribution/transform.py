"""Transforms of random variables, with their inverses and Jacobians."""
from __future__ import annotations

import math
from collections.abc import Sequence

from wherry_distribution import constraint, variable
from wherry_distribution.distribution import total, zeros
from wherry_distribution.transformed import ChainTransform, Transform, Type, list_of_transforms
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import broadcast_shape, concat, reshape, stack, unstack

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
]


class AbsTransform(Transform):
    """Absolute value, y = |x|. Its inverse is the pair (-y, y).

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: in `forward` and `inverse`: the argument is not a Tensor (also a ValueError).
        NotImplementedError: in `forward_log_det_jacobian`: the transform is not injective.

    Source:
        `paddle.distribution.AbsTransform`.

    Examples:
        >>> from wherry.distribution import AbsTransform
        >>> transform = AbsTransform()
        >>> transform.forward(wherry.to_tensor(-2.0)).item(), [y.item() for y in transform.inverse(wherry.to_tensor(2.0))]
        (2.0, [-2.0, 2.0])
    """

    _type = Type.SURJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return ops.abs(x)

    def _inverse(self, y: Tensor) -> tuple[Tensor, Tensor]:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor) -> tuple[Tensor, Tensor]:
        zero = ops.full(shape=(), value=0, dtype=y.dtype)
        return zero, zero


class AffineTransform(Transform):
    """Affine transform, y = loc + scale x.

    Args:
        loc: a Tensor.
        scale: a Tensor.

    Shape:
        `[...]` to the shape that it broadcasts to with `loc` and `scale`.

    Raises:
        TypeError: `loc` or `scale` is not a Tensor (also a ValueError).
        ValueError: in `forward` and `inverse`: the shapes do not broadcast.

    Source:
        `paddle.distribution.AffineTransform`.

    Examples:
        >>> from wherry.distribution import AffineTransform
        >>> transform = AffineTransform(wherry.to_tensor(1.0), wherry.to_tensor(3.0))
        >>> transform.forward(wherry.to_tensor(2.0)).item(), transform.inverse(wherry.to_tensor(7.0)).item()
        (7.0, 2.0)
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Tensor, scale: Tensor) -> None:
        self._require(loc, "loc", 0)
        self._require(scale, "scale", 0)
        self._loc, self._scale = loc, scale

    @property
    def loc(self) -> Tensor:
        """The shift."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The factor."""
        return self._scale

    def _forward(self, x: Tensor) -> Tensor:
        return self._loc + self._scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return ops.log(ops.abs(self._scale))

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return broadcast_shape(broadcast_shape(shape, self._loc.shape), self._scale.shape)

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """Exponential transform, y = exp(x).

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: in `forward` and `inverse`: the argument is not a Tensor (also a ValueError).

    Source:
        `paddle.distribution.ExpTransform`.

    Examples:
        >>> from wherry.distribution import ExpTransform
        >>> transform = ExpTransform()
        >>> transform.forward(wherry.to_tensor(0.0)).item(), transform.forward_log_det_jacobian(wherry.to_tensor(2.0)).item()
        (1.0, 2.0)
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return x


class IndependentTransform(Transform):
    """Treats the last batch axes of a transform as the event: log determinants are summed over them.

    Args:
        base: a transform.
        reinterpreted_batch_rank: the number of axes, 1 or more.

    Shape:
        Values as `base`; log determinants `[..., n]` to `[...]` for one axis.

    Raises:
        TypeError: `base` is not a Transform (also a ValueError).
        ValueError: `reinterpreted_batch_rank` is less than 1; in `forward`: the argument has fewer axes.

    Source:
        `paddle.distribution.IndependentTransform`.

    Examples:
        >>> from wherry.distribution import ExpTransform, IndependentTransform
        >>> transform = IndependentTransform(ExpTransform(), 1)
        >>> print(transform.forward_log_det_jacobian(wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]])).numpy())
        [3. 7.]
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise InvalidTypeError(
                f"IndependentTransform: 'base' is not a transform. Got {short(base)}, expected a Transform. Pass one, as ExpTransform()."
            )
        if reinterpreted_batch_rank < 1:
            raise InvalidArgumentError(
                f"IndependentTransform: reinterpreted_batch_rank is not positive. Got reinterpreted_batch_rank={reinterpreted_batch_rank}, "
                f"expected 1 or more. For 0 use the transform itself."
            )
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank

    def _is_injective(self) -> bool:  # type: ignore[override]  # of what it holds
        return self._base._is_injective()

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)

    def _forward(self, x: Tensor) -> Tensor:
        return self._base.forward(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return self._base._summed_jacobian(x, self._base._domain.event_rank + self._reinterpreted_batch_rank)

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._base.inverse_shape(shape)


class PowerTransform(Transform):
    """Power transform of positive numbers, y = x^power.

    Args:
        power: a Tensor.

    Shape:
        `[...]` to the shape that it broadcasts to with `power`.

    Raises:
        TypeError: `power` is not a Tensor (also a ValueError).
        ValueError: in `forward` and `inverse`: the shapes do not broadcast.

    Source:
        `paddle.distribution.PowerTransform`.

    Examples:
        >>> from wherry.distribution import PowerTransform
        >>> transform = PowerTransform(wherry.to_tensor(2.0))
        >>> transform.forward(wherry.to_tensor(3.0)).item(), transform.inverse(wherry.to_tensor(9.0)).item()
        (9.0, 3.0)
    """

    _type = Type.BIJECTION

    def __init__(self, power: Tensor) -> None:
        self._require(power, "power", 0)
        self._power = power

    @property
    def power(self) -> Tensor:
        """The exponent."""
        return self._power

    @property
    def _domain(self) -> variable.Variable:
        return variable.positive

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return x**self._power

    def _inverse(self, y: Tensor) -> Tensor:
        return y ** (1 / self._power)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return ops.log(ops.abs(self._power * x ** (self._power - 1)))

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return broadcast_shape(shape, self._power.shape)

    _inverse_shape = _forward_shape


class ReshapeTransform(Transform):
    """Reshapes events.

    Args:
        in_event_shape: the shape of an event before the transform.
        out_event_shape: the shape after it, with as many elements.

    Shape:
        `[..., *in_event_shape]` to `[..., *out_event_shape]`.

    Raises:
        TypeError: a shape is not a list (also a ValueError).
        ValueError: the shapes have different numbers of elements; in `forward`: the argument has fewer axes than an event.

    Source:
        `paddle.distribution.ReshapeTransform`.

    Examples:
        >>> from wherry.distribution import ReshapeTransform
        >>> ReshapeTransform((2, 3), (6,)).forward(wherry.ones([4, 2, 3])).shape
        [4, 6]
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        self._in, self._out = self._shape(in_event_shape), self._shape(out_event_shape)
        if math.prod(self._in) != math.prod(self._out):
            raise InvalidArgumentError(
                f"ReshapeTransform: the shapes have different numbers of elements. Got {list(self._in)} and {list(self._out)}, which hold "
                f"{math.prod(self._in)} and {math.prod(self._out)}, expected one number. Check the sizes."
            )

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of an event before the transform."""
        return self._in

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape of an event after the transform."""
        return self._out

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._in))

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._out))

    def _forward(self, x: Tensor) -> Tensor:
        return reshape(x, [*x.shape[: x.ndim - len(self._in)], *self._out])

    def _inverse(self, y: Tensor) -> Tensor:
        return reshape(y, [*y.shape[: y.ndim - len(self._out)], *self._in])

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return total(zeros(x), len(self._in))

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._replaced(shape, self._in, self._out)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._replaced(shape, self._out, self._in)

    def _replaced(self, shape: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]) -> Sequence[int]:
        kept = len(shape) - len(old)
        if kept < 0 or shape[kept:] != old:
            raise InvalidArgumentError(
                f"ReshapeTransform: the shape does not end in that of an event. Got {list(shape)}, expected [..., {str(list(old))[1:]}. "
                f"Reshape it."
            )
        return (*shape[:kept], *new)


class SigmoidTransform(Transform):
    """Sigmoid transform, y = 1 / (1 + exp(-x)).

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: in `forward` and `inverse`: the argument is not a Tensor (also a ValueError).

    Source:
        `paddle.distribution.SigmoidTransform`.

    Examples:
        >>> from wherry.distribution import SigmoidTransform
        >>> transform = SigmoidTransform()
        >>> transform.forward(wherry.to_tensor(0.0)).item(), transform.inverse(wherry.to_tensor(0.5)).item()
        (0.5, 0.0)
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        return ops.sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return ops.log(y) - ops.log1p(-y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return ops.log_sigmoid(x) + ops.log_sigmoid(-x)


class SoftmaxTransform(Transform):
    """Softmax transform: rows of numbers to probabilities. Its inverse gives the logarithm, one of many solutions.

    Shape:
        `[..., n]` to the same.

    Raises:
        TypeError: in `forward` and `inverse`: the argument is not a Tensor (also a ValueError).
        ValueError: in `forward` and `inverse`: the argument is 0-d.
        NotImplementedError: in `forward_log_det_jacobian`: the transform is not injective.

    Source:
        `paddle.distribution.SoftmaxTransform`.

    Examples:
        >>> from wherry.distribution import SoftmaxTransform
        >>> print(SoftmaxTransform().forward(wherry.zeros([4])).numpy())
        [0.25 0.25 0.25 0.25]
    """

    _type = Type.OTHER

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Tensor) -> Tensor:
        return ops.softmax(x, axis=x.ndim - 1)

    def _inverse(self, y: Tensor) -> Tensor:
        return ops.log(y)

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        if not shape:
            raise InvalidArgumentError("SoftmaxTransform: the shape is that of a number. Got [], expected at least one axis. Write [n].")
        return shape

    _inverse_shape = _forward_shape


class StackTransform(Transform):
    """Applies one transform to each slice along an axis.

    Args:
        transforms: a list, as long as the axis.
        axis: the axis.

    Shape:
        `[..., len(transforms), ...]` to the same.

    Raises:
        TypeError: `transforms` is not a list of transforms, or empty, or `axis` is not an int (also a ValueError).
        ValueError: in `forward` and `inverse`: the size of the axis differs from the number of transforms.

    Source:
        `paddle.distribution.StackTransform`.

    Examples:
        >>> from wherry.distribution import ExpTransform, StackTransform, TanhTransform
        >>> transform = StackTransform([ExpTransform(), TanhTransform()], axis=1)
        >>> print(transform.forward(wherry.zeros([3, 2])).numpy()[0])
        [1. 0.]
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        self._transforms = list_of_transforms("StackTransform", transforms)
        if not self._transforms:
            raise InvalidTypeError("StackTransform: 'transforms' is empty. Got [], expected one transform for each slice. Pass at least one.")
        if not isinstance(axis, int):
            raise InvalidTypeError(f"StackTransform: 'axis' is not an int. Got {short(axis)}, expected an int. The first axis is 0.")
        self._axis = axis

    def _is_injective(self) -> bool:  # type: ignore[override]  # of those it holds
        return all(transform._is_injective() for transform in self._transforms)

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms."""
        return self._transforms

    @property
    def axis(self) -> int:
        """The axis."""
        return self._axis

    @property
    def _domain(self) -> variable.Variable:
        return variable.Stack([transform._domain for transform in self._transforms], self._axis)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Stack([transform._codomain for transform in self._transforms], self._axis)

    def _forward(self, x: Tensor) -> Tensor:
        return self._each("forward", x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return self._each("forward_log_det_jacobian", x)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return self._each("inverse_log_det_jacobian", y)

    def _each(self, method: str, x: Tensor) -> Tensor:
        if not -x.ndim <= self._axis < x.ndim or x.shape[self._axis] != len(self._transforms):
            raise InvalidArgumentError(
                f"StackTransform: the number of slices differs from that of transforms. Got shape {list(x.shape)}, expected "
                f"{len(self._transforms)} along axis {self._axis}. Pass one transform for each slice."
            )
        return stack([getattr(t, method)(part) for t, part in zip(self._transforms, unstack(x, self._axis), strict=True)], self._axis)


class StickBreakingTransform(Transform):
    """Stick breaking transform: n numbers to n + 1 probabilities. Each number gives the share that is broken off the rest of the stick.

    Shape:
        `[..., n]` to `[..., n + 1]`.

    Raises:
        TypeError: in `forward` and `inverse`: the argument is not a Tensor (also a ValueError).
        ValueError: in `forward` and `inverse`: the argument is 0-d.

    Source:
        `paddle.distribution.StickBreakingTransform`.

    Examples:
        >>> from wherry.distribution import StickBreakingTransform
        >>> print(StickBreakingTransform().forward(wherry.zeros([3])).numpy().round(4))
        [0.25 0.25 0.25 0.25]
    """

    _type = Type.BIJECTION

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Tensor) -> Tensor:
        broken, left = self._shares(x)
        one = ops.full_like(_first(x), value=1, dtype=x.dtype)
        return concat([broken, one], -1) * concat([one, left], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        last = y.ndim - 1
        n = y.shape[-1] - 1
        head = ops.slice(y, axes=(last,), starts=(0,), ends=(n,), steps=(1,))
        left = 1 - ops.cumsum(head, axis=last, reverse=False)
        return ops.log(head) - ops.log(left) + ops.log(self._evens(head))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        y = self._forward(x)
        moved = x - ops.log(self._evens(x))
        head = ops.slice(y, axes=(y.ndim - 1,), starts=(0,), ends=(x.shape[-1],), steps=(1,))
        return total(-moved + ops.log_sigmoid(moved) + ops.log(head), 1)

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._longer(shape, 1)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._longer(shape, -1)

    def _shares(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The share that each number breaks off the rest, and what remains after it."""
        broken = ops.sigmoid(x - ops.log(self._evens(x)))
        return broken, ops.cumprod(1 - broken, axis=x.ndim - 1)

    def _evens(self, x: Tensor) -> Tensor:
        """n, n - 1, ..., 1: with these divided out, zeros break the stick into equal parts."""
        n = x.shape[-1]
        return ops.arange(start=n, step=-1, length=n, dtype=x.dtype)

    def _longer(self, shape: tuple[int, ...], by: int) -> Sequence[int]:
        if not shape:
            raise InvalidArgumentError("StickBreakingTransform: the shape is that of a number. Got [], expected at least one axis. Write [n].")
        return (*shape[:-1], shape[-1] + by)


class TanhTransform(Transform):
    """Tanh transform, y = tanh(x).

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: in `forward` and `inverse`: the argument is not a Tensor (also a ValueError).

    Source:
        `paddle.distribution.TanhTransform`.

    Examples:
        >>> from wherry.distribution import TanhTransform
        >>> print(TanhTransform().forward(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       0.7615...]
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        return ops.tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return ops.atanh(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        # log(1 - tanh(x)^2), without the cancellation.
        return 2 * (math.log(2) - x - ops.softplus(-2 * x, beta=1.0, threshold=20.0))


def _first(x: Tensor) -> Tensor:
    return ops.slice(x, axes=(x.ndim - 1,), starts=(0,), ends=(1,), steps=(1,))


explained(globals())
