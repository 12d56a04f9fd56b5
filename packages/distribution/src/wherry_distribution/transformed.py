"""Base of transforms, chains of them, and transformed distributions.

Calling a transform with a distribution makes a transformed distribution, which holds a chain of transforms, so they share a file.
"""
from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NoReturn

from wherry_distribution import variable
from wherry_distribution.distribution import Distribution, require_distribution, total, zeros
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integers_of
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["ChainTransform", "Transform", "TransformedDistribution"]


class Type(enum.Enum):
    """Kinds of functions: whether they are injective, surjective, both, or neither."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, kind: Type) -> bool:
        """Whether different arguments have different values."""
        return kind in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """Base of transforms.

    A custom transform defines `_forward` and `_inverse`, one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian`, and, where
    shapes change, `_forward_shape` and `_inverse_shape`. `_type` says whether it is injective, `_domain` and `_codomain` describe the values.

    Calling it with a tensor transforms the tensor; with a distribution it makes the transformed distribution, with a transform the chain of both.

    Shape:
        `[...]` to the same, unless the class defines `_forward_shape` and `_inverse_shape`.

    Raises:
        TypeError: in `forward` and `inverse`: the argument is not a Tensor (also a ValueError).
        ValueError: in `forward` and `inverse`: the argument has fewer axes than an event.
        NotImplementedError: the class does not define what a method needs, or its Jacobian has no determinant.

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
            return TransformedDistribution(input, [self])
        if isinstance(input, Transform):
            return ChainTransform([self, input])
        return self.forward(input)

    def forward(self, x: Tensor) -> Tensor:
        """The transform of `x`."""
        self._require(x, "x", self._domain.event_rank)
        return self._forward(x)

    def inverse(self, y: Tensor) -> Tensor:
        """The inverse of `forward` at `y`; a pair of tensors for AbsTransform."""
        self._require(y, "y", self._codomain.event_rank)
        return self._inverse(y)

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """Logarithm of the absolute determinant of the Jacobian at `x`, one number for each event."""
        self._require(x, "x", self._domain.event_rank)
        if not self._is_injective():
            raise NotImplementedError(
                f"{type(self).__name__}: it maps several values to one, so its Jacobian has no determinant. Got a call, expected an injective "
                f"transform. Use another one."
            )
        if _defines(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if _defines(self, "_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self._forward(x))
        self._lacks("_forward_log_det_jacobian or _inverse_log_det_jacobian")

    def inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        """Logarithm of the absolute determinant of the inverse's Jacobian at `y`, one number for each event."""
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
            raise InvalidTypeError(f"{type(self).__name__}: '{name}' is not a Tensor. Got {short(x)}, expected a Tensor. Make one with to_tensor.")
        if x.ndim < rank:
            raise InvalidArgumentError(
                f"{type(self).__name__}: '{name}' has too few axes. Got shape {list(x.shape)}, expected at least {rank} axes. Reshape it."
            )

    def _shape(self, shape: Any) -> tuple[int, ...]:
        if not isinstance(shape, (list, tuple)):
            raise InvalidTypeError(
                f"{type(self).__name__}: the shape is not a list. Got {short(shape)}, expected a list of sizes. Write [{short(shape)}] for one axis."
            )
        return integers_of(shape, type(self).__name__, "shape")


def _defines(transform: Transform, name: str) -> bool:
    return getattr(type(transform), name) is not getattr(Transform, name)


class ChainTransform(Transform):
    """Composition of transforms, applied one after another.

    Args:
        transforms: a list, in the order in which they are applied.

    Shape:
        `[...]` to what the transforms make of it in turn.

    Raises:
        TypeError: `transforms` is not a list of transforms (also a ValueError).

    Source:
        `paddle.distribution.ChainTransform`.

    Examples:
        >>> from wherry.distribution import ChainTransform, ExpTransform, TanhTransform
        >>> chain = ChainTransform([ExpTransform(), TanhTransform()])
        >>> print(chain.forward(wherry.to_tensor(0.0)).numpy())  # tanh(exp(0))
        0.7615...
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = list_of_transforms("ChainTransform", transforms)

    def _is_injective(self) -> bool:  # type: ignore[override]  # of those it holds
        return all(transform._is_injective() for transform in self.transforms)

    @property
    def _domain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        # The rank of the chain's events, from the last transform back to the first.
        rank = 0
        for transform in reversed(self.transforms):
            rank = max(rank + transform._domain.event_rank - transform._codomain.event_rank, transform._domain.event_rank)
        return of_rank(self.transforms[0]._domain, rank)

    @property
    def _codomain(self) -> variable.Variable:
        if not self.transforms:
            return variable.real
        rank = self._domain.event_rank
        for transform in self.transforms:
            rank += transform._codomain.event_rank - transform._domain.event_rank
        return of_rank(self.transforms[-1]._codomain, rank)

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


class TransformedDistribution(Distribution):
    """The distribution of a transformed random variable.

    Args:
        base: a distribution.
        transforms: a list, in the order in which they are applied.

    Raises:
        TypeError: `base` is not a distribution, or `transforms` is not a list of transforms (also a ValueError).
        ValueError: a transform works on more axes than a draw of `base` has.

    Source:
        `paddle.distribution.TransformedDistribution`.

    Examples:
        >>> from wherry.distribution import ExpTransform, Normal, TransformedDistribution
        >>> positive = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
        >>> print(positive.log_prob(wherry.to_tensor(1.0)).numpy())
        -0.9189385
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        require_distribution("TransformedDistribution", base)
        if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
            raise InvalidTypeError(
                f"TransformedDistribution: 'transforms' is not a list of transforms. Got {short(transforms)}, expected one, as [ExpTransform()]. "
                f"Put a single one in brackets."
            )
        self._base, self._transforms = base, list(transforms)
        chain = ChainTransform(self._transforms)
        shape, rank = base.batch_shape + base.event_shape, len(base.event_shape)
        if chain._domain.event_rank > len(shape):
            raise InvalidArgumentError(
                f"TransformedDistribution: the transforms work on more axes than a draw has. Got draws of shape {list(shape)}, expected at "
                f"least {chain._domain.event_rank} axes. Give the base a larger batch."
            )
        # A transform of vectors turns a batch of numbers into one event.
        self._base_rank = max(rank, chain._domain.event_rank)
        self._gained = self._base_rank - rank
        rank = self._base_rank + chain._codomain.event_rank - chain._domain.event_rank
        shape = tuple(chain.forward_shape(shape))
        super().__init__(shape[: len(shape) - rank], shape[len(shape) - rank :])

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the base, transformed."""
        return self._forward(self._base.sample(shape))

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the base with its gradients, transformed."""
        return self._forward(self._base.rsample(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`."""
        y = value if isinstance(value, Tensor) else self._value(value, self._base.sample())
        rank, logarithm = len(self.event_shape), None
        for transform in reversed(self._transforms):
            x = transform.inverse(y)
            rank += transform._domain.event_rank - transform._codomain.event_rank
            jacobian = transform._summed_jacobian(x, rank)
            logarithm = -jacobian if logarithm is None else logarithm - jacobian
            y = x
        density = total(self._base.log_prob(y), self._gained)
        return density if logarithm is None else logarithm + density

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self._transforms:
            x = transform.forward(x)
        return x


def of_rank(kind: variable.Variable, rank: int) -> variable.Variable:
    """`kind` with events of rank `rank`."""
    return kind if kind.event_rank == rank else variable.Independent(kind, rank - kind.event_rank)


def list_of_transforms(owner: str, transforms: Any) -> list[Transform]:
    """The argument `transforms` as a checked list."""
    if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
        raise InvalidTypeError(
            f"{owner}: 'transforms' is not a list of transforms. Got {short(transforms)}, expected one. Write [ExpTransform()], say."
        )
    return list(transforms)


explained(globals())
