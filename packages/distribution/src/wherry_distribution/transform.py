"""Functions of random variables that know their inverses, and how densities change behind them."""
from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from wherry_distribution import constraint, variable
from wherry_distribution.distribution import Distribution, total, zeros
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
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


class Type(enum.Enum):
    """What of the values of a function comes from how many arguments."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, kind: Type) -> bool:
        """Whether each value comes from one argument."""
        return kind in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """The base of transforms.

    A class of your own defines `_forward` and `_inverse`, one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian`, and, where
    shapes change, `_forward_shape` and `_inverse_shape`. `_type` says whether it is invertible, `_domain` and `_codomain` what it maps to what.

    Called with a tensor it transforms it, with a distribution it gives the transformed distribution, with a transform the chain of both.

    Source:
        `paddle.distribution.Transform`.

    Examples:
        >>> from wherry.distribution import ExpTransform
        >>> print(ExpTransform().forward(wherry.to_tensor([0.0, 1.0])).numpy())
        [1.        2.7182817]
    """

    _type = Type.INJECTION

    @property
    def _domain(self) -> variable.Variable:
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        return variable.real

    @classmethod
    def _is_injective(cls) -> bool:
        return Type.is_injective(cls._type)

    def __call__(self, input: Any) -> Any:
        """The transformed tensor, the transformed distribution, or the chain of two transforms."""
        if isinstance(input, Distribution):
            from wherry_distribution.composed import TransformedDistribution

            return TransformedDistribution(input, [self])
        if isinstance(input, Transform):
            return ChainTransform([self, input])
        return self.forward(input)

    def forward(self, x: Tensor) -> Tensor:
        """The transform of `x`."""
        self._require(x, "x", self._domain.event_rank)
        return self._forward(x)

    def inverse(self, y: Tensor) -> Tensor:
        """What `forward` maps to `y`; a pair of tensors where two values are."""
        self._require(y, "y", self._codomain.event_rank)
        return self._inverse(y)

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Logarithm of the absolute determinant of the Jacobian at `x`, one number for each event."""
        self._require(x, "x", self._domain.event_rank)
        if not self._is_injective():
            raise NotImplementedError(
                f"{type(self).__name__}: a function that maps several values to one has no such determinant. Use a transform that can be inverted."
            )
        if _defines(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if _defines(self, "_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self._forward(x))
        self._lacks("_forward_log_det_jacobian or _inverse_log_det_jacobian")

    def inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        """The same of the inverse, at `y`."""
        self._require(y, "y", self._codomain.event_rank)
        if _defines(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if _defines(self, "_forward_log_det_jacobian"):
            return -self._forward_log_det_jacobian(self._inverse(y))
        self._lacks("_forward_log_det_jacobian or _inverse_log_det_jacobian")

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the transform of a tensor of this shape."""
        return tuple(self._forward_shape(self._shape(shape)))

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape that `forward_shape` maps to this one."""
        return tuple(self._inverse_shape(self._shape(shape)))

    def _forward(self, x: Tensor) -> Tensor:
        self._lacks("_forward")

    def _inverse(self, y: Tensor) -> Any:
        self._lacks("_inverse")

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        self._lacks("_forward_log_det_jacobian")

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        self._lacks("_inverse_log_det_jacobian")

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return shape

    def _summed_jacobian(self, x: Tensor, rank: int) -> Tensor:
        """`forward_log_det_jacobian`, summed over the axes of an event of `rank` axes."""
        jacobian, extra = self.forward_log_det_jacobian(x), rank - self._domain.event_rank
        if extra and self._domain.event_rank == 0:
            jacobian = jacobian + zeros(x)  # it may have been the same for all elements
        return total(jacobian, extra)

    def _lacks(self, what: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__}: {what} is not defined. Define it in the class.")

    def _require(self, x: Any, name: str, rank: int) -> None:
        if not isinstance(x, Tensor):
            raise InvalidTypeError(f"{type(self).__name__}: '{name}' is no Tensor. Got {short(x)}, expected Tensor. Make one with to_tensor.")
        if x.ndim < rank:
            raise InvalidArgumentError(
                f"{type(self).__name__}: '{name}' has too few axes. Got shape {list(x.shape)}, expected at least {rank} axes. Reshape it."
            )

    def _shape(self, shape: Any) -> tuple[int, ...]:
        if not isinstance(shape, (list, tuple)):
            raise InvalidTypeError(f"{type(self).__name__}: a shape is a list of sizes. Got {short(shape)}, expected e.g. [2, 3].")
        return tuple(shape)


def _defines(transform: Transform, name: str) -> bool:
    return getattr(type(transform), name) is not getattr(Transform, name)


class AbsTransform(Transform):
    """y = |x|. Its inverse is the pair (-y, y).

    Source:
        `paddle.distribution.AbsTransform`.
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
    """y = loc + scale x.

    Args:
        loc: a Tensor.
        scale: a Tensor.

    Source:
        `paddle.distribution.AffineTransform`.
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Tensor, scale: Tensor) -> None:
        self._require(loc, "loc", 0)
        self._require(scale, "scale", 0)
        self._loc, self._scale = loc, scale

    @property
    def loc(self) -> Tensor:
        """What is added."""
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


class ChainTransform(Transform):
    """Several transforms, one after another.

    Args:
        transforms: a list, in the order in which they are applied.

    Source:
        `paddle.distribution.ChainTransform`.
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = _list_of_transforms("ChainTransform", transforms)

    def _is_injective(self) -> bool:  # type: ignore[override]  # of those it holds
        return all(transform._is_injective() for transform in self.transforms)

    @property
    def _domain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        # What the last of them asks for reaches back to the first through the ranks that each adds or takes.
        rank = 0
        for transform in reversed(self.transforms):
            rank = max(rank + transform._domain.event_rank - transform._codomain.event_rank, transform._domain.event_rank)
        return _of_rank(self.transforms[0]._domain, rank)

    @property
    def _codomain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        rank = self._domain.event_rank
        for transform in self.transforms:
            rank += transform._codomain.event_rank - transform._domain.event_rank
        return _of_rank(self.transforms[-1]._codomain, rank)

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform.forward(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            y = transform.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        rank, found = self._domain.event_rank, None
        for transform in self.transforms:
            jacobian = transform._summed_jacobian(x, rank)
            found = jacobian if found is None else found + jacobian
            x = transform.forward(x)
            rank += transform._codomain.event_rank - transform._domain.event_rank
        return zeros(x) if found is None else found

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        for transform in self.transforms:
            shape = transform.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        return shape


class ExpTransform(Transform):
    """y = exp(x).

    Source:
        `paddle.distribution.ExpTransform`.
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
    """A transform of numbers, taken as one of whole events: its Jacobians are summed over their axes.

    Args:
        base: a transform.
        reinterpreted_batch_rank: how many axes.

    Source:
        `paddle.distribution.IndependentTransform`.
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise InvalidTypeError(f"IndependentTransform: 'base' is a transform. Got {short(base)}, expected e.g. ExpTransform().")
        if reinterpreted_batch_rank < 1:
            raise InvalidArgumentError(
                f"IndependentTransform: there are no axes to count as the event. Got reinterpreted_batch_rank={reinterpreted_batch_rank}, "
                f"expected 1 or more. Use the transform itself for none."
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
    """y = x^power, of positive numbers.

    Args:
        power: a Tensor.

    Source:
        `paddle.distribution.PowerTransform`.
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
    """Events of one shape in another.

    Args:
        in_event_shape: the shape of an event before.
        out_event_shape: the shape behind it, of as many elements.

    Source:
        `paddle.distribution.ReshapeTransform`.
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        self._in, self._out = self._shape(in_event_shape), self._shape(out_event_shape)
        if math.prod(self._in) != math.prod(self._out):
            raise InvalidArgumentError(
                f"ReshapeTransform: the shapes have different numbers of elements. Got {list(self._in)} and {list(self._out)}, which hold "
                f"{math.prod(self._in)} and {math.prod(self._out)}."
            )

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of an event before."""
        return self._in

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape of an event behind it."""
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
            raise InvalidArgumentError(f"ReshapeTransform: this is not the shape of an event. Got {list(shape)}, expected [..., {str(list(old))[1:]}")
        return (*shape[:kept], *new)


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    Source:
        `paddle.distribution.SigmoidTransform`.
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
    """Rows of numbers to probabilities; the inverse is the logarithm, which is one of many.

    Source:
        `paddle.distribution.SoftmaxTransform`.
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
            raise InvalidArgumentError("SoftmaxTransform: there is no axis of a row. Got shape [], expected at least one axis.")
        return shape

    _inverse_shape = _forward_shape


class StackTransform(Transform):
    """One transform for each slice along an axis.

    Args:
        transforms: a list, as long as the axis.
        axis: the axis.

    Source:
        `paddle.distribution.StackTransform`.
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        self._transforms = _list_of_transforms("StackTransform", transforms)
        if not self._transforms:
            raise InvalidTypeError("StackTransform: 'transforms' is empty. Expected one transform for each slice.")
        if not isinstance(axis, int):
            raise InvalidTypeError(f"StackTransform: 'axis' is an int. Got {short(axis)}.")
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
                f"StackTransform: there are not as many slices as transforms. Got shape {list(x.shape)}, expected {len(self._transforms)} along "
                f"axis {self._axis}."
            )
        return stack([getattr(t, method)(part) for t, part in zip(self._transforms, unstack(x, self._axis), strict=True)], self._axis)


class StickBreakingTransform(Transform):
    """n numbers to n + 1 probabilities: each says how much of what is left of a stick is broken off.

    Source:
        `paddle.distribution.StickBreakingTransform`.
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
        """What each breaks off of the rest, and what is left behind it."""
        broken = ops.sigmoid(x - ops.log(self._evens(x)))
        return broken, ops.cumprod(1 - broken, axis=x.ndim - 1)

    def _evens(self, x: Tensor) -> Tensor:
        """n, n - 1, ..., 1: with these divided out, zeros break the stick into equal parts."""
        n = x.shape[-1]
        return ops.arange(start=n, step=-1, length=n, dtype=x.dtype)

    def _longer(self, shape: tuple[int, ...], by: int) -> Sequence[int]:
        if not shape:
            raise InvalidArgumentError("StickBreakingTransform: there is no axis of a row. Got shape [], expected at least one axis.")
        return (*shape[:-1], shape[-1] + by)


class TanhTransform(Transform):
    """y = tanh(x).

    Source:
        `paddle.distribution.TanhTransform`.
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


def _of_rank(kind: variable.Variable, rank: int) -> variable.Variable:
    return kind if kind.event_rank == rank else variable.Independent(kind, rank - kind.event_rank)


def _first(x: Tensor) -> Tensor:
    return ops.slice(x, axes=(x.ndim - 1,), starts=(0,), ends=(1,), steps=(1,))


def _list_of_transforms(owner: str, transforms: Any) -> list[Transform]:
    if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
        raise InvalidTypeError(f"{owner}: 'transforms' is a list of transforms. Got {short(transforms)}, expected e.g. [ExpTransform()].")
    return list(transforms)
