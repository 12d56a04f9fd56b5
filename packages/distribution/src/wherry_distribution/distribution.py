"""Base of distributions: a batch of random variables, each with an event of some shape."""
from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from wherry_autograd import no_grad
from wherry_distribution.divergence import kl_divergence
from wherry_tensor import ops
from wherry_tensor._core import DType, Tensor, is_symbolic
from wherry_tensor.arguments import at_hand, sizes_of, to_dtype
from wherry_tensor.dtype import as_dtype, default_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import to_tensor

__all__ = ["Distribution"]


class Distribution:
    """Base of distributions.

    `batch_shape` counts independent variables, `event_shape` is the shape of one draw of one of them: a sample of shape `[n]` has the shape
    `[n, *batch_shape, *event_shape]`, and `log_prob` has one number for each event.

    Args:
        batch_shape: shape of the batch.
        event_shape: shape of one event.

    Raises:
        NotImplementedError: a method that the distribution does not define is called.

    Source:
        `paddle.distribution.Distribution`.

    Examples:
        >>> from wherry.distribution import Distribution
        >>> class Constant(Distribution):
        ...     def rsample(self, shape=()):
        ...         return wherry.ones(self._extend_shape(shape))
        >>> Constant([2]).sample([3]).shape
        [3, 2]
    """

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape, self._event_shape = tuple(batch_shape), tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch of variables."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """Shape of one event: `()` for numbers."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """Expected value."""
        self._lacks("mean")

    @property
    def variance(self) -> Tensor:
        """Variance."""
        self._lacks("variance")

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the shape `[*shape, *batch_shape, *event_shape]`."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Reparameterized draws: gradients reach the parameters."""
        self._lacks("rsample", "Its draws are not differentiable in the parameters: use sample().")

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        self._lacks("entropy")

    def kl_divergence(self, other: Distribution) -> Tensor:
        """Kullback-Leibler divergence from `other`, in nats."""
        return kl_divergence(self, other)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density, or of the probability of discrete variables, at `value`."""
        self._lacks("log_prob")

    def prob(self, value: Tensor) -> Tensor:
        """Density, or probability of discrete variables, at `value`."""
        return ops.exp(self.log_prob(value))

    if TYPE_CHECKING:
        probs: Any  # a parameter of some distributions
    else:

        def probs(self, value: Tensor) -> Tensor:
            """The same as `prob`."""
            return self.prob(value)

    def _lacks(self, what: str, remedy: str = "Define it in the class, or use another distribution.") -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__}: there is no {what}. {remedy}")

    def _extend_shape(self, sample_shape: Sequence[int]) -> tuple[int, ...]:
        """Shape of that many draws."""
        if isinstance(sample_shape, (str, int)) or not isinstance(sample_shape, (Iterable, Tensor)):
            raise InvalidTypeError(
                f"{type(self).__name__}: the shape of a sample is not a list. Got {short(sample_shape)}, expected sizes such as [3] or (2, 3). "
                f"Put a single size in brackets."
            )
        return (*sizes_of(sample_shape, f"{type(self).__name__}.sample"), *self._batch_shape, *self._event_shape)  # type: ignore[arg-type]

    def _value(self, value: Any, like: Tensor) -> Tensor:
        """`value` as a tensor of the dtype of a parameter."""
        return to_dtype(tensor_of(value, type(self).__name__, "value", like.dtype), like.dtype)


def parameters(owner: str, **values: Any) -> list[Tensor]:
    """Parameters as tensors of one floating dtype, the widest one among them, and of one shape."""
    names = {getattr(getattr(value, "dtype", None), "name", None) for value in values.values()}
    wide = next((name for name in ("float64", "float32", "bfloat16", "float16") if name in names), None)
    dtype = default_dtype() if wide is None else as_dtype(wide, owner)
    found = [to_dtype(tensor_of(value, owner, name, dtype), dtype) for name, value in values.items()]
    if any(is_symbolic(x) or x.shape != found[0].shape for x in found[1:]):
        # Broadcast by a sum, which also works with unknown sizes.
        zero = reduce(operator.add, map(zeros, found))
        found = [x + zero for x in found]
    return found


def tensor_of(value: Any, owner: str, name: str, dtype: DType) -> Tensor:
    """A number, a list or an array as a tensor of this dtype; a tensor as it is."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float, list, tuple)) or hasattr(value, "__array__"):
        return to_tensor(value, dtype=dtype)
    raise InvalidTypeError(
        f"{owner}: '{name}' is not a number. Got {short(value)}, expected a number, a list, an array or a Tensor. Convert it first."
    )


def require_values(owner: str, name: str, x: Tensor, within: Callable[[Tensor], Tensor], expected: str) -> None:
    """Refuse parameters for which `within(x)` is false somewhere, if their values are at hand."""
    if at_hand(x) and x.size and not bool(within(x).all()):
        raise InvalidArgumentError(
            f"{owner}: '{name}' is out of range. Got values from {float(x.min()):g} to {float(x.max()):g}, expected {expected}. "
            f"Clip it first."
        )


def total(x: Tensor, rank: int) -> Tensor:
    """The sum over the last `rank` axes."""
    return ops.reduce_sum(x, axes=tuple(range(x.ndim - rank, x.ndim)), keepdim=False) if rank else x


def zeros(x: Tensor) -> Tensor:
    """Zeros of the shape and dtype of `x`."""
    return ops.full_like(x, value=0, dtype=x.dtype)


def uniform(shape: Sequence[int], like: Tensor) -> Tensor:
    """Numbers from (0, 1], whose logarithms are finite."""
    return 1 - ops.uniform(shape=tuple(shape), min=0.0, max=1.0, dtype=like.dtype)


def require_distribution(owner: str, base: Any) -> None:
    """Raise unless `base` is a distribution."""
    if not isinstance(base, Distribution):
        raise InvalidTypeError(f"{owner}: 'base' is not a distribution. Got {short(base)}, expected a Distribution. Pass one, as Normal(0.0, 1.0).")


explained(globals())
