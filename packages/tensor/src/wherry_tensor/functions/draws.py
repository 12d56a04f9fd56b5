"""Random numbers that came with Paddle 3: more distributions, and tensors like another one."""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, int64
from wherry_tensor.arguments import (
    integer,
    real_number,
    require_room,
    require_tensor,
    require_writable,
    to_dtype,
    write,
)
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.functions import creation, movement, random
from wherry_tensor.spellings import spelled

__all__ = ["bernoulli_", "binomial", "log_normal", "log_normal_", "rand_like", "randn_like", "random_", "standard_gamma"]


def rand_like(input: Tensor, name: str | None = None, *, dtype: Any = None) -> Tensor:
    """Random numbers in [0, 1), as many as a tensor has.

    Args:
        input: gives the shape, and the dtype where none is named.
        dtype: a floating dtype.

    Shape:
        that of `input`.

    Raises:
        TypeError: `input` is not a Tensor, or the dtype is not floating (also a ValueError).

    Source:
        `paddle.rand_like`.

    Examples:
        >>> wherry.rand_like(wherry.ones([2, 3])).shape
        [2, 3]
    """
    return random.rand(require_tensor(input, "rand_like", "input").shape, input.dtype if dtype is None else as_dtype(dtype, "rand_like"))


def randn_like(x: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """Normally distributed random numbers of mean 0 and variance 1, as many as a tensor has.

    Args:
        x: gives the shape, and the dtype where none is named.
        dtype: a floating dtype.

    Shape:
        that of `x`.

    Raises:
        TypeError: `x` is not a Tensor, or the dtype is not floating (also a ValueError).

    Source:
        `paddle.randn_like`.

    Examples:
        >>> wherry.randn_like(wherry.ones([2, 3])).shape
        [2, 3]
    """
    return random.randn(require_tensor(x, "randn_like").shape, x.dtype if dtype is None else as_dtype(dtype, "randn_like"))


def log_normal(mean: Any = 1.0, std: Any = 2.0, shape: Any = None, name: str | None = None) -> Tensor:
    """Random numbers whose logarithms are normally distributed.

    Args:
        mean, std: of the logarithm; numbers, or tensors that broadcast.
        shape: of the result, where both are numbers.

    Shape:
        `shape`, or that of the tensors.

    Raises:
        TypeError: an argument is neither a number nor a Tensor (also a ValueError).

    Source:
        `paddle.log_normal`.

    Examples:
        >>> bool((wherry.log_normal(shape=[100]) > 0).all())
        True
    """
    return ops.exp(random.normal(mean, std, shape))


def log_normal_(x: Tensor, mean: float = 1.0, std: float = 2.0, name: str | None = None) -> Tensor:
    """Fill `x` with random numbers whose logarithms are normally distributed; returns `x`.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a floating Tensor, or an argument is not a number (also a ValueError).
        ValueError: `x` is a leaf that asks for gradients.

    Source:
        `paddle.log_normal_`.

    Examples:
        >>> wherry.zeros([3]).log_normal_().shape
        [3]
    """
    random.normal_(x, mean, std)
    return ops.exp.into((x,), x)


def bernoulli_(x: Tensor, p: Any = 0.5, name: str | None = None) -> Tensor:
    """Fill `x` with ones, of a probability, and zeros; returns `x`.

    Args:
        x: floating.
        p: the probability of a one, a number or a tensor that broadcasts to `x`.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a Tensor, or `p` neither a number nor a Tensor (also a ValueError).
        ValueError: `p` is not a probability, or `x` is a leaf that asks for gradients.

    Source:
        `paddle.bernoulli_`.

    Examples:
        >>> wherry.zeros([3]).bernoulli_(1.0).tolist()
        [1.0, 1.0, 1.0]
    """
    require_writable(x, "bernoulli_")
    if isinstance(p, Tensor):
        chances = movement.broadcast_to(to_dtype(p, float32), x.shape)
    else:
        chance = real_number(p, "bernoulli_", "p")
        if not 0.0 <= chance <= 1.0:
            raise InvalidArgumentError(f"bernoulli_: p is not a probability. Got {chance}, expected a number in [0, 1]. Divide percents by 100.")
        chances = ops.full(shape=tuple(x.shape), value=chance, dtype=float32)
    return write(x, to_dtype(ops.bernoulli(chances), x.dtype), "bernoulli_")


def random_(x: Tensor, from_: int = 0, to: int | None = None) -> Tensor:
    """Fill `x` with whole random numbers of [from_, to); returns `x`.

    Args:
        x: an integer or floating dtype.
        from_: the smallest.
        to: one more than the largest; None: what the dtype holds exactly.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a Tensor, or a bound no int (also a ValueError).
        ValueError: there is no number between the bounds, or `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.random_`.

    Examples:
        >>> x = wherry.zeros([100]).random_(2, 5)
        >>> bool(((x >= 2) & (x < 5)).all())
        True
    """
    require_writable(x, "random_")
    low = integer(from_, "random_", "from_")
    exact = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}.get(x.dtype.name, x.dtype.itemsize * 8 - (x.dtype.name != "uint8"))
    high = (1 << exact) - 1 + (exact < 63) if to is None else integer(to, "random_", "to")
    if low >= high:
        raise InvalidArgumentError(f"random_: there is no number between the bounds. Got [{low}, {high}), expected from_ < to. Exchange them.")
    return write(x, to_dtype(random.randint(low, high, x.shape, int64), x.dtype), "random_")


def standard_gamma(x: Tensor, name: str | None = None) -> Tensor:
    """Random numbers of gamma distributions of scale 1.

    Args:
        x: the shape of each distribution, floating and above 0.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).

    Source:
        `paddle.standard_gamma`. Gradients pass to `x`.

    Examples:
        >>> bool((wherry.standard_gamma(wherry.full([100], 2.0)) > 0).all())
        True
    """
    if not require_tensor(x, "standard_gamma").dtype.is_floating:
        raise InvalidTypeError(f"standard_gamma: 'x' must be floating. Got {x.dtype.name}, expected float32 or float64. Cast it.")
    return ops.exp(ops.log_standard_gamma(x))


def binomial(count: Tensor, prob: Tensor, name: str | None = None) -> Tensor:
    """Random numbers of successes among `count` trials of probability `prob`.

    Each trial is drawn, so that time and memory grow with the largest count.

    Args:
        count: whole numbers that are not negative.
        prob: floating, in [0, 1]; broadcasts with `count`.

    Returns:
        int64.

    Shape:
        `[...]` and `[...]` to the shape they broadcast to.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: a count is negative, a probability outside of [0, 1], or the shapes do not broadcast.
        MemoryError: the trials do not fit into memory.

    Source:
        `paddle.binomial`.

    Examples:
        >>> wherry.binomial(wherry.to_tensor([3, 5]), wherry.to_tensor([0.0, 1.0])).tolist()
        [0, 5]
    """
    shape = movement.broadcast_shape(require_tensor(count, "binomial", "count").shape, require_tensor(prob, "binomial", "prob").shape)
    if not prob.dtype.is_floating:
        raise InvalidTypeError(f"binomial: 'prob' must be floating. Got {prob.dtype.name}, expected float32 or float64. Cast it.")
    total = math.prod(shape)
    trials, chance = (movement.broadcast_to(one, shape) for one in (to_dtype(count, int64), prob))
    if not total:
        return trials
    every = tuple(range(len(shape)))
    if not bool(ops.reduce_all(ops.logical_and(chance >= 0, chance <= 1), axes=every, keepdim=False)):
        raise InvalidArgumentError(
            "binomial: a probability is outside of [0, 1]. Got such a prob, expected numbers in [0, 1]. Divide percents by 100."
        )
    most, least = (int(op(trials, axes=every, keepdim=False).item()) for op in (ops.reduce_max, ops.reduce_min))
    if least < 0:
        raise InvalidArgumentError(f"binomial: a count is negative. Got {least}, expected counts of trials. Take their magnitude.")
    require_room(total * most * 8.0, "binomial", f"{most} trials of {total} numbers")
    numbers = ops.uniform((most, *shape), 0.0, 1.0, prob.dtype)
    trial = movement.reshape(creation.arange(most), [most, *[1] * len(shape)])
    won = ops.logical_and(numbers < chance, trial < trials)
    return ops.reduce_sum(to_dtype(won, int64), axes=(0,), keepdim=False)


spelled(globals())
