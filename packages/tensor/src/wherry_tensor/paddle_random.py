"""Random numbers as Paddle 2.6.2 draws them on a CPU: what FLAGS_paddle_random switches on.

A script then sees the same numbers under both and prints the same losses. The rules below stand in
place of the kernels of the random ops; each was found by comparing draws with Paddle's, and the
streams are in csrc/mersenne.c. Numbers are drawn one after the other on the host, so this is slower
than Philox, and a draw for another device is copied there. `poisson` has Paddle's numbers where all
expected numbers are below 12, and Wherry's own else. float16 and bfloat16 are drawn as float32 and rounded,
where Paddle cuts bfloat16 off.
"""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Generator, Mersenne, Tensor, float32, float64, from_values, int64, uint8
from wherry_tensor.arguments import to_dtype
from wherry_tensor.ops.attention import decompose_attention_dropout
from wherry_tensor.ops.normalization import decompose_dropout_add, dropout_scale, dropout_vjp


def stream() -> Mersenne:
    """The stream of the generator in use."""
    generator = _core.get_default_generator()
    if generator.stream is None:
        generator.stream = Mersenne(generator.initial_seed())
    return generator.stream


_on = False


def enabled() -> bool:
    """Whether FLAGS_paddle_random is set."""
    return _on


def enable(wanted: bool) -> None:
    """Switch Paddle's random numbers on or off. The stream begins at the last `seed`."""
    global _on
    if wanted != _on:
        _core.get_default_generator().stream = None
    _on = wanted
    _core.set_random_rules(_rules if wanted else None)


def generator_of_op(seed: int) -> Generator:
    """The generator of one call that has a seed of its own, which Paddle puts into the twister as it is."""
    generator = Generator(seed)
    if _on:
        generator.stream = Mersenne(seed, directly=True)
    return generator


# The rules. Arguments are those of the ops; NotImplemented leaves a call to the kernel, which also says what is
# wrong with an input.


def uniform(*, shape: tuple[int, ...], min: float, max: float, dtype: Any) -> Tensor:
    return to_dtype(stream().uniform(shape, min, max, dtype if dtype is float64 else float32), dtype)


def normal(*, shape: tuple[int, ...], mean: float, std: float, dtype: Any) -> Tensor:
    return to_dtype(stream().normal(shape, mean, std, dtype if dtype is float64 else float32), dtype)


def randint(*, shape: tuple[int, ...], low: int, high: int, dtype: Any) -> Tensor:
    return to_dtype(stream().integers(shape, low, high), dtype)


def randperm(*, n: int, dtype: Any) -> Tensor:
    return to_dtype(stream().permutation(n), dtype)


def _within(x: Tensor, low: float, high: float) -> bool:
    inside = ops.logical_and(ops.greater_equal(x, _core.scalar(low, x.dtype)), ops.less_equal(x, _core.scalar(high, x.dtype)))
    return ops.reduce_all(inside, axes=tuple(range(x.ndim)), keepdim=False).item()


def bernoulli(x: Tensor) -> Any:
    if not _within(x, 0.0, 1.0):
        return NotImplemented
    drawn = stream().uniform(tuple(x.shape), 0.0, 1.0, float64 if x.dtype is float64 else float32)
    return to_dtype(ops.less_equal(drawn, to_dtype(x, drawn.dtype)), x.dtype)


def dropout(x: Tensor, *, p: float, upscale: bool) -> tuple[Tensor, Tensor]:
    drawn = stream().uniform(tuple(x.shape), 0.0, 1.0, float32)
    mask = ops.cast(ops.greater_equal(drawn, _core.scalar(p, float32)), dtype=uint8)
    return dropout_vjp(x, mask, scale=dropout_scale(p, upscale)), mask


def multinomial(x: Tensor, *, num_samples: int, replacement: bool) -> Any:
    """Each draw is looked up in the running sum; without replacement what was drawn weighs nothing from then on."""
    kind = float64 if x.dtype is float64 else float32
    rows = x.tolist() if x.ndim == 2 else [x.tolist()]
    if not _within(x, 0.0, 3e38) or any(sum(w > 0 for w in row) < (1 if replacement else num_samples) for row in rows):
        return NotImplemented
    found: list[int] = []
    for weights in rows:
        draws = stream().uniform((num_samples,), 0.0, 1.0, kind).tolist()
        total = sum(weights)
        for draw in draws:
            target, reached, chosen = draw * total, 0.0, 0
            for at, weight in enumerate(weights):
                if weight > 0:
                    reached, chosen = reached + weight, at
                if reached > target:
                    break
            found.append(chosen)
            if not replacement:
                weights[chosen] = 0.0
                total = sum(weights)
    return from_values(found, (*x.shape[:-1], num_samples), int64)


def poisson(x: Tensor) -> Any:
    """Uniform numbers are multiplied until the product falls to exp(-rate): Knuth's method, which is slow for large rates."""
    if not _within(x, 0.0, 11.999):
        return NotImplemented
    counts = []
    for rate in ops.reshape(x, (x.size,)).tolist():
        least, product, count = math.exp(-rate), 1.0, -1
        while True:
            product *= stream().uniform((), 0.0, 1.0, float64).item()
            count += 1
            if product <= least:
                break
        counts.append(count)
    return to_dtype(from_values(counts, tuple(x.shape), int64), x.dtype)


_rules = {
    ops.uniform: uniform, ops.normal: normal, ops.randint: randint, ops.randperm: randperm, ops.bernoulli: bernoulli,
    ops.dropout: dropout, ops.dropout_add: decompose_dropout_add, ops.multinomial: multinomial, ops.poisson: poisson,
    ops.attention_dropout: decompose_attention_dropout,
}
