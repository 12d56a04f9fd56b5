"""Ops that have no decomposition because the number of their steps depends on sizes or values, as programs with loops.

Formats that have no operator for such an op, and have loops, write these. A function takes and gives what its op does.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_program.program.control.loops import while_loop
from wherry_tensor import ops
from wherry_tensor._core import Op, Tensor, int64

__all__ = ["LOOP_FORMS"]


def _gcd(x: Tensor, y: Tensor) -> Tensor:
    """Euclid's remainders, of all elements together until none is left."""
    zero = ops.full(shape=(), value=0, dtype=x.dtype)
    one = ops.full(shape=(), value=1, dtype=x.dtype)
    # In one shape, which rounds keep.
    a, b = ops.abs(x + y * zero), ops.abs(y + x * zero)

    def left(a: Tensor, b: Tensor) -> Tensor:
        return ops.reduce_any(ops.not_equal(b, zero), axes=tuple(range(b.ndim)), keepdim=False)

    def step(a: Tensor, b: Tensor) -> list[Tensor]:
        some = ops.not_equal(b, zero)
        rest = ops.remainder(a, ops.where(some, b, one))
        return [ops.where(some, b, a), ops.where(some, rest, b)]

    return while_loop(left, step, [a, b])[0]


def _linear_scan(a: Tensor, b: Tensor, *, axis: int, reverse: bool) -> Tensor:
    """What `k` steps do is again a factor and a summand."""
    if reverse:
        a, b = ops.flip(a, axes=(axis,)), ops.flip(b, axes=(axis,))
    found = _doubling([a, b], [0, 0], axis, lambda old, new: [new[0] * old[0], new[1] + new[0] * old[1]])[1]
    return ops.flip(found, axes=(axis,)) if reverse else found


def _cumprod(x: Tensor, *, axis: int) -> Tensor:
    return _doubling([x], [1], axis, lambda old, new: [new[0] * old[0]])[0]


def _cummax(x: Tensor, *, axis: int) -> tuple[Tensor, Tensor]:
    """Of equal values the last one counts, and NaN is larger than all numbers."""

    def beats(new: Tensor, old: Tensor) -> Tensor:
        reached = ops.greater_equal(new, old)
        return ops.logical_or(reached, ops.isnan(new)) if x.dtype.is_floating else reached

    def later(old: list[Tensor], new: list[Tensor]) -> list[Tensor]:
        kept = ops.logical_or(beats(new[0], old[0]), ops.less_than(old[1], ops.full(shape=(), value=0, dtype=int64)))
        return [ops.where(kept, new[0], old[0]), ops.where(kept, new[1], old[1])]

    places = ops.broadcast_like(_places(x, axis), x)
    values, index = _doubling([x, places], [0, -1], axis, later)
    return values, index


def _places(x: Tensor, axis: int) -> Tensor:
    """0, 1, 2, ... along an axis."""
    shape: list[Any] = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return ops.reshape(ops.arange(start=0, step=1, length=x.shape[axis], dtype=int64), shape=tuple(shape))


def _doubling(
    values: list[Tensor], fills: list[int], axis: int, joined: Callable[[list[Tensor], list[Tensor]], list[Tensor]]
) -> list[Tensor]:
    """A scan by steps of 1, 2, 4, ...: each place joins what it has with what stands k before it (Hillis and Steele, 1986).

    Args:
        values: what each place begins with.
        fills: what stands before the first place, by value.
        axis: of the scan.
        joined: what stands before, and what a place has, as one.
    """
    if not values[0].ndim:
        return values
    places = _places(values[0], axis)
    flat = ops.reshape(places, shape=(-1,))
    zero, one = (ops.full(shape=(), value=n, dtype=int64) for n in (0, 1))
    blanks = [ops.full(shape=(), value=fill, dtype=x.dtype) for x, fill in zip(values, fills)]
    end = ops.reduce_sum(ops.full_like(flat, value=1, dtype=int64), axes=(0,), keepdim=False)

    def step(k: Tensor, *now: Tensor) -> list[Tensor]:
        source, outside = ops.maximum(flat - k, zero), ops.less_than(places, k)
        old = [ops.where(outside, blank, ops.gather(x, source, axis=axis)) for x, blank in zip(now, blanks)]
        return [k + k, *joined(old, list(now))]

    return list(while_loop(lambda k, *_now: ops.less_than(k, end), step, [one, *values])[1:])


def _suppress(boxes: Tensor, group: Tensor, *, threshold: float, offset: float) -> Tensor:
    """Each box in order suppresses later ones, unless an earlier box has suppressed it."""
    many = boxes.shape[0]
    places = ops.arange(start=0, step=1, length=many, dtype=int64)
    zero, longer, limit = (ops.full(shape=(), value=value, dtype=boxes.dtype) for value in (0, offset, threshold))
    low, high = (ops.slice(boxes, axes=(1,), starts=(i,), ends=(i + 2,), steps=(1,)) for i in (0, 2))

    def product(sides: Tensor) -> Tensor:
        return ops.reduce_prod(sides, axes=(1,), keepdim=False)

    area = product(high - low + longer)

    def step(i: Tensor, kept: Tensor) -> list[Tensor]:
        this = ops.reshape(i, shape=(1,))
        mine = [ops.gather(x, this, axis=0) for x in (low, high, area, group, kept)]
        sides = ops.minimum(high, mine[1]) - ops.maximum(low, mine[0])
        common = product(ops.where(ops.greater_equal(sides, zero), sides + longer, zero))
        struck = ops.greater_than(common / (area + mine[2] - common), limit)
        for other in (ops.equal(group, mine[3]), ops.greater_than(places, this), mine[4]):
            struck = ops.logical_and(struck, other)
        return [i + ops.full(shape=(), value=1, dtype=int64), ops.logical_and(kept, ops.logical_not(struck))]

    kept = ops.equal(group, group)
    end = ops.reduce_sum(ops.full_like(group, value=1, dtype=int64), axes=(0,), keepdim=False)
    begin = [ops.full(shape=(), value=0, dtype=int64), kept]
    return while_loop(lambda i, _kept: ops.less_than(i, end), step, begin)[1]


LOOP_FORMS: dict[Op, Callable[..., Any]] = {
    ops.gcd: _gcd, ops.linear_scan: _linear_scan, ops.cumprod: _cumprod, ops.cummax: _cummax, ops.suppress: _suppress,
}  # fmt: skip
