"""Random tensors and the generator they draw from.

Numbers come from Philox counters: the same seed gives the same numbers on every device and with any
number of threads. With FLAGS_paddle_random they are Paddle's (paddle_random.py).
"""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import _core, ops, paddle_random
from wherry_tensor._core import Generator, Tensor, float64, int32, int64
from wherry_tensor.arguments import Shape, integer, number, real_number, require_tensor, sizes_of, to_dtype, truth
from wherry_tensor.cuda import device_count
from wherry_tensor.device import device_code
from wherry_tensor.dtype import as_dtype, default_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.spellings import spelled

__all__ = [
    "Generator",
    "bernoulli",
    "cauchy_",
    "exponential_",
    "geometric_",
    "get_cuda_rng_state",
    "get_rng_state",
    "multinomial",
    "normal",
    "normal_",
    "poisson",
    "rand",
    "randint",
    "randint_like",
    "randn",
    "randperm",
    "seed",
    "set_cuda_rng_state",
    "set_rng_state",
    "standard_normal",
    "uniform",
    "uniform_",
]


def seed(seed: int) -> Generator:
    """Start the generators of all devices over from `seed`.

    DataLoader and the samplers shuffle with `numpy.random`, as Paddle's do, and so do not follow this seed;
    `wherry.seed_everything` seeds both, and Python's `random`.

    Args:
        seed: an int from 0 to 2 ** 64 - 1.

    Returns:
        The generator that all random functions draw from.

    Raises:
        TypeError: `seed` is not a number, or outside of the range (also a ValueError).

    Source:
        `paddle.seed`. The numbers differ from Paddle's, unless FLAGS_paddle_random is set.

    Examples:
        >>> generator = wherry.seed(7)
        >>> first = wherry.rand([3])
        >>> generator = wherry.seed(7)
        >>> bool((wherry.rand([3]) == first).all())
        True
    """
    value = _seed(seed, "seed")
    if value < 0 or value >> 64:
        raise InvalidTypeError(
            f"seed: the seed does not fit into 64 unsigned bits. Got {value}, expected an int in [0, {1 << 64}). Take it modulo 2 ** 64."
        )
    return _core.seed_generators(value)


def initial_seed() -> int:
    """The seed that the current device's generator began with.

    Source:
        `paddle.random.initial_seed`.

    Examples:
        >>> generator = wherry.seed(7)
        >>> wherry.random.initial_seed()
        7
    """
    return int(_core.get_default_generator().initial_seed())


def _seed(seed: Any, op_name: str) -> int:
    try:
        return int(seed)
    except (TypeError, ValueError, OverflowError):
        raise InvalidTypeError(f"{op_name}: the seed is not a number. Got {short(seed)}, expected an int. Pass an int.") from None


def get_rng_state(device: str | None = None) -> list[Any]:
    """The state of the generator of a device, in a list, for `set_rng_state`.

    Args:
        device: the name of a device, or its place; None is the current one.

    Raises:
        ValueError: the device does not exist.

    Source:
        `paddle.get_rng_state`.

    Examples:
        >>> state = wherry.get_rng_state()
        >>> first = wherry.rand([3])
        >>> wherry.set_rng_state(state)
        >>> bool((wherry.rand([3]) == first).all())
        True
    """
    return _states([device_code(device, "get_rng_state")])


def set_rng_state(state_list: list[Any], device: str | None = None) -> None:
    """Go back to a state that `get_rng_state` gave.

    Args:
        state_list: what `get_rng_state` gave.
        device: the name of a device, or its place; None is the current one.

    Raises:
        TypeError: `state_list` is not a list of states.
        ValueError: it holds another number of states than 1, or the device does not exist.

    Source:
        `paddle.set_rng_state`.

    Examples:
        >>> state = wherry.get_rng_state()
        >>> first = wherry.rand([3])
        >>> wherry.set_rng_state(state)
        >>> bool((wherry.rand([3]) == first).all())
        True
    """
    _set_states([device_code(device, "set_rng_state")], state_list, "set_rng_state")


def get_cuda_rng_state() -> list[Any]:
    """The states of the generators of all GPUs, for `set_cuda_rng_state`; an empty list without a GPU.

    Source:
        `paddle.get_cuda_rng_state`.

    Examples:
        >>> len(wherry.get_cuda_rng_state()) == wherry.device.cuda.device_count()
        True
    """
    return _states(_gpus())


def set_cuda_rng_state(state_list: list[Any]) -> None:
    """Go back to the states that `get_cuda_rng_state` gave.

    Args:
        state_list: what `get_cuda_rng_state` gave: one state for each GPU.

    Raises:
        TypeError: `state_list` is not a list of states.
        ValueError: it holds another number of states than there are GPUs.

    Source:
        `paddle.set_cuda_rng_state`.

    Examples:
        >>> state = wherry.get_cuda_rng_state()
        >>> wherry.set_cuda_rng_state(state)
    """
    _set_states(_gpus(), state_list, "set_cuda_rng_state")


def _gpus() -> list[int]:
    return [device_code(f"gpu:{number}", "get_cuda_rng_state") for number in range(device_count())]


def _states(devices: list[int]) -> list[Any]:
    return [_core.get_default_generator(code).get_state() for code in devices]


def _set_states(devices: list[int], states: Any, op_name: str) -> None:
    if not isinstance(states, (list, tuple)):
        raise TypeError(f"{op_name}: the states must be a list. Got {type(states).__name__}, expected what {op_name.replace('set', 'get')}() gave.")
    if len(states) != len(devices):
        raise InvalidArgumentError(
            f"{op_name}: wrong number of states. Got {len(states)} states, expected {len(devices)}. "
            f"Pass what {op_name.replace('set', 'get')}() gave."
        )
    for code, state in zip(devices, states, strict=True):
        try:
            _core.get_default_generator(code).set_state(state)
        except (TypeError, ValueError, OverflowError):
            raise InvalidTypeError(
                f"{op_name}: this is not the state of a generator. Got {short(state)}, expected what {op_name.replace('set', 'get')}() gave."
            ) from None


def _floating(dtype: Any, op_name: str) -> Any:
    if dtype is None:
        return default_dtype()
    known = as_dtype(dtype, op_name)
    if not known.is_floating:
        raise InvalidTypeError(
            f"{op_name}: only floating dtypes can be drawn. Got dtype={known.name}, expected float16, bfloat16, float32 or float64. "
            f"Use randint for integers, or cast the result."
        )
    return known


def uniform(
    shape: Shape, dtype: Any = None, min: Any = -1.0, max: Any = 1.0, seed: int = 0, name: str | None = None
) -> Tensor:
    """Random numbers, each equally likely in `[min, max)`.

    Args:
        shape: sizes >= 0.
        dtype: a floating dtype; None is the default dtype.
        min, max: the bounds: numbers, or tensors of one element.
        seed: other than 0, the numbers are those of this seed, and the generator is left alone.

    Shape:
        None to `shape`.

    Raises:
        TypeError: `shape` or a bound is of another type, or `dtype` is not floating (also a ValueError).
        ValueError: a size is negative.

    Source:
        `paddle.uniform`.

    Examples:
        >>> x = wherry.uniform([100], min=2.0, max=3.0)
        >>> bool((x >= 2.0).all()), bool((x < 3.0).all())
        (True, True)
    """
    sizes = sizes_of(shape, "uniform")
    known = _floating(dtype, "uniform")
    low, high = real_number(min, "uniform", "min"), real_number(max, "uniform", "max")
    if truth(seed, "uniform", "seed"):
        before = _core.set_default_generator(paddle_random.generator_of_op(_seed(seed, "uniform")))
        try:
            return ops.uniform(sizes, low, high, known)
        finally:
            _core.set_default_generator(before)
    return ops.uniform(sizes, low, high, known)


def rand(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
    """Random numbers, each equally likely in `[0, 1)`. Arguments are those of `uniform`.

    Shape:
        None to `shape`.

    Raises:
        TypeError: `shape` is not made of ints, or `dtype` is not floating (also a ValueError).
        ValueError: a size is negative.

    Source:
        `paddle.rand`.

    Examples:
        >>> wherry.rand([2, 3]).shape
        [2, 3]
    """
    return ops.uniform(sizes_of(shape, "rand"), 0.0, 1.0, _floating(dtype, "rand"))


def standard_normal(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
    """Normally distributed random numbers with mean 0 and standard deviation 1.

    Args:
        shape: sizes >= 0.
        dtype: a floating dtype; None is the default dtype.

    Shape:
        None to `shape`.

    Raises:
        TypeError: `shape` is of another type, or `dtype` is not floating (also a ValueError).
        ValueError: a size is negative.

    Source:
        `paddle.standard_normal`.

    Examples:
        >>> wherry.standard_normal([2, 3]).shape
        [2, 3]
    """
    return ops.normal(sizes_of(shape, "standard_normal"), 0.0, 1.0, _floating(dtype, "standard_normal"))


def randn(shape: Shape, dtype: Any = None, name: str | None = None) -> Tensor:
    """Normally distributed random numbers with mean 0 and standard deviation 1, as `standard_normal`.

    Shape:
        None to `shape`.

    Raises:
        TypeError: `shape` is not made of ints, or `dtype` is not floating (also a ValueError).
        ValueError: a size is negative.

    Source:
        `paddle.randn`.

    Examples:
        >>> wherry.randn([2, 3]).shape
        [2, 3]
    """
    return ops.normal(sizes_of(shape, "randn"), 0.0, 1.0, _floating(dtype, "randn"))


def normal(mean: Any = 0.0, std: Any = 1.0, shape: Shape | None = None, name: str | None = None) -> Tensor:
    """Normally distributed random numbers.

    Args:
        mean: of all numbers, or a floating tensor with one for each.
        std: the standard deviation, likewise.
        shape: of the result; only used where both are numbers. The result has the shape of a tensor else.

    Returns:
        The dtype of `mean` or `std` where one is a tensor, else the default dtype.

    Shape:
        None to `shape`; the shape of a tensor `mean` or `std`.

    Raises:
        TypeError: `mean` or `std` is neither a number nor a floating tensor, or `shape` is missing
            (also a ValueError).
        ValueError: the shapes of `mean` and `std` differ, or a size is negative.

    Source:
        `paddle.normal`.

    Examples:
        >>> wherry.normal(mean=wherry.zeros([4]), std=0.1).shape
        [4]
    """
    given = [v for v in (mean, std) if isinstance(v, Tensor)]
    if not given:
        return ops.normal(
            sizes_of(shape, "normal"),  # type: ignore[arg-type]  # None is refused there
            real_number(mean, "normal", "mean"), real_number(std, "normal", "std"),
            default_dtype(),
        )
    like = given[0]
    for value, which in ((mean, "mean"), (std, "std")):
        if isinstance(value, Tensor) and not value.dtype.is_floating:
            raise InvalidTypeError(
                f"normal: {which} must be floating. Got dtype {value.dtype.name}, expected float32 or float64. "
                f"Cast it with astype('float32')."
            )
    if len(given) == 2 and mean.size != std.size:
        raise InvalidArgumentError(
            f"normal: mean and std must have as many elements. Got shapes {mean.shape} and {std.shape}, expected equal "
            f"ones. Expand one of them first."
        )
    out = ops.normal(tuple(like.shape), 0.0, 1.0, like.dtype)
    return out * (std if isinstance(std, Tensor) else number(std, "normal", "std")) + (
        mean if isinstance(mean, Tensor) else number(mean, "normal", "mean")
    )


def _bounds(low: Any, high: Any, op_name: str) -> tuple[int, int]:
    if high is None:
        if isinstance(low, int) and low <= 0:
            raise InvalidArgumentError(
                f"{op_name}: If high is None, low must be greater than 0. Got low={low}, expected how many numbers to "
                f"choose from. Pass both bounds."
            )
        low, high = 0, low
    low, high = integer(low, op_name, "low"), integer(high, op_name, "high")
    if low >= high:
        raise InvalidArgumentError(
            f"{op_name}: there is no integer in [low, high). Got low={low} and high={high}, expected low < high. "
            f"The upper bound itself is never drawn."
        )
    return low, high


def randint(
    low: int = 0, high: int | None = None, shape: Shape = (1,), dtype: Any = None, name: str | None = None
) -> Tensor:
    """Random integers, each equally likely in `[low, high)`.

    Args:
        low: the smallest; the only bound is `high`, and low is 0 then.
        high: one more than the largest.
        shape: sizes >= 0.
        dtype: int32 or int64; None is int64.

    Shape:
        None to `shape`.

    Raises:
        TypeError: a bound is not an int or `dtype` is another (also a ValueError).
        ValueError: `low >= high`, or a size is negative.

    Source:
        `paddle.randint`.

    Examples:
        >>> x = wherry.randint(2, 5, [100])
        >>> int(x.min()), int(x.max())
        (2, 4)
    """
    low, high = _bounds(low, high, "randint")
    known = int64 if dtype is None else as_dtype(dtype, "randint")
    if known is not int64 and known is not int32:
        raise InvalidTypeError(
            f"randint: random integers are int32 or int64. Got dtype={known.name}, expected one of these. "
            f"Cast the result with astype('{known.name}')."
        )
    return ops.randint(sizes_of(shape, "randint"), low, high, known)


def randint_like(
    x: Tensor, low: int = 0, high: int | None = None, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Random integers in `[low, high)`, in the shape of `x` and in its dtype unless another is named.

    Args:
        x: any dtype and shape.
        low: the smallest; the only bound is `high`, and low is 0 then.
        high: one more than the largest.
        dtype: any.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor, or a bound is not an int (also a ValueError).
        ValueError: `low >= high`.

    Source:
        `paddle.randint_like`.

    Examples:
        >>> print(wherry.randint_like(wherry.zeros([2]), 1, 2).numpy())
        [1. 1.]
    """
    require_tensor(x, "randint_like")
    known = x.dtype if dtype is None else as_dtype(dtype, "randint_like")
    low, high = _bounds(low, high, "randint_like")
    return to_dtype(ops.randint(tuple(x.shape), low, high, int64), known)


def randperm(n: int, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """Permutation: the integers from 0 to n - 1 in random order.

    Args:
        n: how many, >= 0.
        dtype: int32, int64, float32 or float64.

    Shape:
        `[n]`.

    Raises:
        TypeError: `n` is not an int, or `dtype` is another (also a ValueError).
        ValueError: `n` is negative.
        MemoryError: there is not that much memory.

    Source:
        `paddle.randperm`.

    Examples:
        >>> print(wherry.randperm(4).sort().numpy())
        [0 1 2 3]
    """
    n = integer(n, "randperm", "n")
    known = as_dtype(dtype, "randperm")
    if n < 0:
        raise InvalidArgumentError(
            f"randperm: n is negative. Got n={n}, expected an int >= 0. Check how it was computed."
        )
    sizes_of((n,), "randperm", "n")
    if known.is_bool or known.is_complex:
        raise InvalidTypeError(
            f"randperm: positions do not fit into this dtype. Got dtype={known.name}, expected int32, int64, float32 or "
            f"float64. The default is int64."
        )
    return to_dtype(ops.randperm(n, int32 if known is int32 else int64), known)


def bernoulli(x: Tensor, name: str | None = None) -> Tensor:
    """Bernoulli draws: 1 with the probability in `x`, else 0.

    Args:
        x: floating, each value in [0, 1].

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        IndexError: a value lies outside [0, 1] or is NaN, as in Paddle.

    Source:
        `paddle.bernoulli`.

    Examples:
        >>> print(wherry.bernoulli(wherry.to_tensor([0.0, 1.0])).numpy())
        [0. 1.]
    """
    return ops.bernoulli(_floating_tensor(x, "bernoulli"))


def _floating_tensor(x: Any, op_name: str) -> Tensor:
    require_tensor(x, op_name)
    if not x.dtype.is_floating:
        raise InvalidTypeError(
            f"{op_name}: x must be floating. Got dtype {x.dtype.name}, expected float32 or float64. "
            f"Cast it with x.astype('float32')."
        )
    return x


def multinomial(x: Tensor, num_samples: int = 1, replacement: bool = False, name: str | None = None) -> Tensor:
    """Sampling without or with replacement: random positions, drawn with the weights of each row.

    Args:
        x: floating, `[categories]` or `[rows, categories]`: weights >= 0, not all 0. They need not sum to 1.
        num_samples: how many positions to draw from each row, at least 1.
        replacement: whether a position can be drawn again.

    Returns:
        int64.

    Shape:
        `[num_samples]` or `[rows, num_samples]`.

    Raises:
        TypeError: `x` is not a floating Tensor or `num_samples` not an int (also a ValueError).
        ValueError: weights are negative, NaN or all 0; or fewer than `num_samples` are positive and
            `replacement` is False; or `x` has another rank.

    Source:
        `paddle.multinomial`.

    Examples:
        >>> print(wherry.multinomial(wherry.to_tensor([0.0, 1.0, 0.0]), 3, replacement=True).numpy())
        [1 1 1]
    """
    _floating_tensor(x, "multinomial")
    num_samples = integer(num_samples, "multinomial", "num_samples")
    if num_samples <= 0:
        raise InvalidArgumentError(
            f"multinomial: num_samples must be positive. Got {short(num_samples)}, expected at least 1. Draw one at least."
        )
    sizes_of([num_samples], "multinomial", "num_samples")
    return ops.multinomial(x, num_samples, bool(replacement))


def poisson(x: Tensor, name: str | None = None) -> Tensor:
    """Poisson draws: random counts with the expected values `x`.

    Args:
        x: floating, each value >= 0; a negative one gives 0, as in Paddle.

    Returns:
        The shape and dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).

    Source:
        `paddle.poisson`.

    Examples:
        >>> print(wherry.poisson(wherry.to_tensor([0.0, 0.0])).numpy())
        [0. 0.]
    """
    return ops.poisson(_floating_tensor(x, "poisson"))


def uniform_(x: Tensor, min: Any = -1.0, max: Any = 1.0, seed: int = 0, name: str | None = None) -> Tensor:
    """Fill `x` with random numbers in `[min, max)`; returns `x`.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a floating Tensor, or a bound is not a number (also a ValueError).
        ValueError: not `min < max`, or `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.uniform_`.

    Examples:
        >>> bool((wherry.zeros([100]).uniform_(0.0, 1.0) < 1.0).all())
        True
    """
    _floating_tensor(x, "uniform_")
    low, high = real_number(min, "uniform_", "min"), real_number(max, "uniform_", "max")
    if not low < high:
        raise InvalidArgumentError(
            f"uniform_: there is no number in [min, max). Got min={low} and max={high}, expected min < max. Swap them."
        )
    before = _core.set_default_generator(paddle_random.generator_of_op(_seed(seed, "uniform_"))) if truth(seed, "uniform_", "seed") else None
    try:
        return ops.uniform.into((x,), shape=tuple(x.shape), min=low, max=high, dtype=x.dtype)
    finally:
        if before is not None:
            _core.set_default_generator(before)


def normal_(x: Tensor, mean: Any = 0.0, std: Any = 1.0, name: str | None = None) -> Tensor:
    """Fill `x` with normally distributed random numbers; returns `x`.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a floating Tensor, or `mean` or `std` is not a number (also a ValueError).
        ValueError: `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.normal_`.

    Examples:
        >>> wherry.zeros([3]).normal_().shape
        [3]
    """
    _floating_tensor(x, "normal_")
    mean, std = real_number(mean, "normal_", "mean"), real_number(std, "normal_", "std")
    return ops.normal.into((x,), shape=tuple(x.shape), mean=mean, std=std, dtype=x.dtype)


def _open_unit(x: Tensor) -> Tensor:
    """Random numbers in (0, 1] of the shape of `x`, in float64 (drawn, where Paddle's are wanted, in the dtype of `x`)."""
    return to_dtype(1.0 - ops.uniform(tuple(x.shape), 0.0, 1.0, x.dtype if paddle_random.enabled() else float64), float64)


def exponential_(x: Tensor, lam: Any = 1.0, name: str | None = None) -> Tensor:
    """Fill `x` with exponentially distributed random numbers of rate `lam` (mean 1 / lam); returns `x`.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a floating Tensor, or `lam` is not a number (also a ValueError).
        ValueError: `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.exponential_`.

    Examples:
        >>> bool((wherry.zeros([100]).exponential_() >= 0.0).all())
        True
    """
    _floating_tensor(x, "exponential_")
    rate = real_number(lam, "exponential_", "lam")
    return ops.copy.into((x,), to_dtype(ops.negative(ops.log(_open_unit(x))) / rate, x.dtype))


def cauchy_(x: Tensor, loc: Any = 0, scale: Any = 1, name: str | None = None) -> Tensor:
    """Fill `x` with Cauchy distributed random numbers around `loc`; returns `x`.

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a floating Tensor, or `loc` or `scale` is not a number (also a ValueError).
        ValueError: `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.cauchy_`.

    Examples:
        >>> wherry.zeros([3]).cauchy_().shape
        [3]
    """
    _floating_tensor(x, "cauchy_")
    loc, scale = real_number(loc, "cauchy_", "loc"), real_number(scale, "cauchy_", "scale")
    # What Paddle takes for a uniform number here is a normal one.
    unit = ops.normal(tuple(x.shape), 0.0, 1.0, x.dtype) if paddle_random.enabled() else _open_unit(x)
    angle = (unit - 0.5) * math.pi
    return ops.copy.into((x,), to_dtype(ops.tan(angle) * scale + loc, x.dtype))


def geometric_(x: Tensor, probs: Any, name: str | None = None) -> Tensor:
    """Fill `x` with numbers of trials up to the first success of probability `probs`; returns `x`.

    As in Paddle the numbers are not rounded: they are log(u) / log(1 - probs) for u in (0, 1].

    Shape:
        `[...]` to the same: `x` keeps its shape.

    Raises:
        TypeError: `x` is not a floating Tensor, or `probs` is not a number (also a ValueError).
        ValueError: `probs` is not in (0, 1), or `x` is a leaf that asks for gradients.

    Source:
        `paddle.Tensor.geometric_`.

    Examples:
        >>> wherry.zeros([3]).geometric_(0.5).shape
        [3]
    """
    _floating_tensor(x, "geometric_")
    chance = real_number(probs, "geometric_", "probs")
    if not 0.0 < chance < 1.0:
        raise InvalidArgumentError(
            f"geometric_: probs is not a probability. Got {chance}, expected a number in (0, 1). Divide percents by 100."
        )
    unit = ops.uniform(tuple(x.shape), 0.0, 1.0, x.dtype) if paddle_random.enabled() else _open_unit(x)
    return ops.copy.into((x,), to_dtype(ops.log(unit) / math.log1p(-chance), x.dtype))


spelled(globals())
