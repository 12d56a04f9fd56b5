"""Batched products, distances, sums to a shape and histograms that came with Paddle 3."""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import Tensor, float32, int64
from wherry_tensor.arguments import (
    MAX_RANK,
    integer,
    integers_of,
    number,
    real_number,
    require_rank,
    require_tensor,
    to_dtype,
)
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions import creation, linalg, logic, movement, positions, reduction, search
from wherry_tensor.functions.inplace import inplace_form
from wherry_tensor.sizes import known
from wherry_tensor.spellings import spelled

__all__ = ["baddbmm", "baddbmm_", "histogram_bin_edges", "histogramdd", "pdist", "reduce_as"]


def baddbmm(input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """`beta * input + alpha * x @ y` for batches of matrices.

    Args:
        input: floating; broadcasts to the product.
        x, y: of one batch.
        beta, alpha: factors.

    Shape:
        `[b, m, n]`, `[b, m, k]` and `[b, k, n]` to `[b, m, n]`.

    Raises:
        TypeError: an argument is not a Tensor, or no number (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.baddbmm`.

    Examples:
        >>> x = wherry.ones([1, 2, 2])
        >>> wherry.baddbmm(x, x, x, beta=0.5).tolist()
        [[[2.5, 2.5], [2.5, 2.5]]]
    """
    require_tensor(input, "baddbmm", "input")
    product = linalg.bmm(x, y)
    try:
        fits = movement.broadcast_shape(input.shape, product.shape) == product.shape
    except ValueError:
        fits = False
    if not fits:
        raise InvalidArgumentError(
            f"baddbmm: the input does not fit. Got {input.shape}, expected a shape that broadcasts to {product.shape}. Reshape it."
        )
    kept, factor = number(beta, "baddbmm", "beta"), number(alpha, "baddbmm", "alpha")
    product = product if factor == 1 else product * factor
    return product + (input if kept == 1 else input * kept)


baddbmm_ = inplace_form(baddbmm)


def reduce_as(x: Tensor, target: Tensor, name: str | None = None) -> Tensor:
    """Sums of `x` along the axes in which it is larger than `target`: what undoes a broadcast.

    Args:
        x: any dtype of numbers.
        target: gives the shape, which broadcasts to that of `x`.

    Shape:
        `[a, b, c]` with a target of `[b, 1]` to `[b, 1]`.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the target does not broadcast to the shape of `x`.

    Source:
        `paddle.reduce_as`.

    Examples:
        >>> wherry.reduce_as(wherry.ones([2, 3]), wherry.zeros([3])).tolist()
        [2.0, 2.0, 2.0]
    """
    mine, wanted = require_tensor(x, "reduce_as").shape, require_tensor(target, "reduce_as", "target").shape
    more = len(mine) - len(wanted)
    if more < 0 or any(a != b and b != 1 for a, b in zip(mine[more:], wanted)):
        raise InvalidArgumentError(
            f"reduce_as: the target does not broadcast to x. Got shapes {wanted} and {mine}, expected sizes that are equal or 1."
        )
    axes = [*range(more), *(i + more for i, n in enumerate(wanted) if n != mine[i + more])]
    return movement.reshape(reduction.sum(x, axes), wanted) if axes else x


def pdist(x: Tensor, p: float = 2.0, name: str | None = None) -> Tensor:
    """The distance of each pair of rows, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Args:
        x: floating, a row for each point.
        p: of the p-norm.

    Shape:
        `[n, m]` to `[n * (n - 1) / 2]`.

    Raises:
        TypeError: `x` is not a floating Tensor (also a ValueError).
        ValueError: it is not a matrix, or `p` is negative.

    Source:
        `paddle.pdist`.

    Examples:
        >>> wherry.pdist(wherry.to_tensor([[0.0, 0.0], [3.0, 4.0]])).tolist()
        [5.0]
    """
    n = known(require_rank(x, "pdist", 2).shape[0], "pdist: the number of pairs")
    rows, columns = creation.triu_indices(n, n, 1).unbind(0)
    distances = linalg.cdist(x, x, float(real_number(p, "pdist", "p")))
    return positions.gather(movement.reshape(distances, [-1]), rows * n + columns)


def histogram_bin_edges(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0, name: str | None = None) -> Tensor:
    """The bounds of the bins that `histogram` counts in.

    Args:
        input: numbers.
        bins: how many.
        min, max: the range; both 0: that of the numbers.

    Returns:
        float32.

    Shape:
        `[bins + 1]`.

    Raises:
        TypeError: `input` is not a Tensor (also a ValueError).
        ValueError: there are no bins, or `max` is below `min`.

    Source:
        `paddle.histogram_bin_edges`.

    Examples:
        >>> wherry.histogram_bin_edges(wherry.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
        [0.0, 0.75, 1.5, 2.25, 3.0]
    """
    require_tensor(input, "histogram_bin_edges", "input")
    count = integer(bins, "histogram_bin_edges", "bins")
    low, high = (real_number(one, "histogram_bin_edges", name) for one, name in ((min, "min"), (max, "max")))
    if count < 1 or high < low:
        raise InvalidArgumentError(
            f"histogram_bin_edges: the bins cannot be. Got bins={count}, min={low}, max={high}, expected bins >= 1 and min <= max."
        )
    if low == high == 0 and input.size:
        low, high = float(reduction.min(input)), float(reduction.max(input))
    if low == high:
        low, high = low - 0.5, high + 0.5
    return creation.linspace(low, high, count + 1, float32)


def histogram_of_weights(
    input: Tensor, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None, weight: Tensor | None = None, density: bool = False
) -> Tensor:
    """`histogram` of elements that count as much as their weights, or whose bins are divided by the whole and by their width."""
    edges = histogram_bin_edges(input, bins, min, max)
    values = movement.reshape(to_dtype(input, float32), [-1, 1])
    weights = None if weight is None else to_dtype(movement.reshape(require_tensor(weight, "histogram", "weight"), [-1]), float32)
    counts, _ = histogramdd(values, [edges], None, bool(density), weights)
    return counts if weight is not None or density else to_dtype(counts, int64)


def histogramdd(
    x: Tensor, bins: Any = 10, ranges: Any = None, density: bool = False, weights: Tensor | None = None, name: str | None = None
) -> tuple[Tensor, list[Tensor]]:
    """How many points lie in each cell of a grid.

    Args:
        x: floating, a row for each point: the last axis has its coordinates.
        bins: the number of cells along each axis, one for all, a list, or a list of tensors with the bounds of the cells.
        ranges: the smallest and largest coordinate along each axis, one list; None: those of the points.
        density: divide by the weight of all points and by the volume of the cell.
        weights: of the points, of the shape of `x` without its last axis.

    Returns:
        The counts, in the dtype of `x`, and the bounds of the cells along each axis.

    Shape:
        `[..., d]` to `[bins[0], ..., bins[d - 1]]`, and vectors of one more.

    Raises:
        TypeError: an argument is of another kind (also a ValueError).
        ValueError: the numbers of bins, ranges or weights do not fit.

    Source:
        `paddle.histogramdd`.

    Examples:
        >>> counts, edges = wherry.histogramdd(wherry.to_tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), bins=[2, 2])
        >>> counts.tolist()
        [[0.0, 1.0], [1.0, 1.0]]
    """
    require_rank(x, "histogramdd", 2, MAX_RANK)
    if not x.dtype.is_floating:
        raise InvalidTypeError(f"histogramdd: 'x' must be floating. Got {x.dtype.name}, expected float32 or float64. Cast it.")
    d = x.shape[-1]
    points = movement.reshape(x, [-1, d]).detach()
    edges = _edges(points, d, bins, ranges)
    cell, inside = creation.zeros([points.shape[0]], int64), creation.ones([points.shape[0]], "bool")
    for axis, edge in enumerate(edges):
        values, count = points[:, axis], edge.shape[0] - 1
        at = search.searchsorted(edge, values, right=True) - 1
        at = logic.where(values == edge[-1], creation.full_like(at, count - 1), at)  # the last cell has both of its bounds
        fits = logic.logical_and(at >= 0, at < count)
        inside = logic.logical_and(inside, fits)
        cell = cell * count + logic.where(fits, at, creation.zeros_like(at))
    sizes = [edge.shape[0] - 1 for edge in edges]
    weight = creation.ones([points.shape[0]], x.dtype)
    if weights is not None:
        if require_tensor(weights, "histogramdd", "weights").shape != x.shape[:-1]:
            raise InvalidArgumentError(f"histogramdd: the weights do not fit. Got {weights.shape}, expected {x.shape[:-1]}, one for each point.")
        weight = to_dtype(movement.reshape(weights, [-1]), x.dtype)
    weight = logic.where(inside, weight, creation.zeros_like(weight))
    counts = movement.reshape(ops.put_along_axis(creation.zeros([math.prod(sizes)], x.dtype), cell, weight, axis=0, reduce="add"), sizes)
    if density:
        counts = counts / reduction.sum(counts)
        for axis, edge in enumerate(edges):
            counts = counts / movement.reshape(edge[1:] - edge[:-1], [-1 if i == axis else 1 for i in range(d)])
    return counts, edges


def _edges(points: Tensor, d: int, bins: Any, ranges: Any) -> list[Tensor]:
    if isinstance(bins, (list, tuple)) and bins and all(isinstance(one, Tensor) for one in bins):
        found = [to_dtype(require_rank(one, "histogramdd", 1, name="bins"), points.dtype) for one in bins]
        if len(found) != d:
            raise InvalidArgumentError(f"histogramdd: bounds are missing. Got {len(found)} tensors for {d} axes, expected one for each.")
        return found
    counts = [integer(bins, "histogramdd", "bins")] * d if isinstance(bins, int) else list(integers_of(bins, "histogramdd", "bins"))
    if len(counts) != d or any(n < 1 for n in counts):
        raise InvalidArgumentError(f"histogramdd: the bins do not fit. Got bins={short(bins)} for {d} axes, expected a count of at least 1 for each.")
    if ranges is not None and len(ranges) != 2 * d:
        raise InvalidArgumentError(f"histogramdd: the ranges do not fit. Got {len(ranges)} numbers, expected {2 * d}, two for each axis.")
    edges = []
    for axis, count in enumerate(counts):
        if ranges is not None:
            low, high = (real_number(one, "histogramdd", "ranges") for one in ranges[2 * axis : 2 * axis + 2])
        elif points.shape[0]:
            low, high = float(reduction.min(points[:, axis])), float(reduction.max(points[:, axis]))
        else:
            low, high = 0.0, 1.0
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges.append(creation.linspace(low, high, count + 1, points.dtype))
    return edges


spelled(globals())
