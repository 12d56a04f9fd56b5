"""Functions of layers on sparse tensors: activations, attention, convolutions and pooling of points in space.

A convolution stores its result at the places that an input reaches; a submanifold convolution at the places of the input alone (Graham, Engelcke
& van der Maaten, 2018). Both gather, for each element of the window, the inputs that it moves somewhere, and add products there.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import wherry_nn.functional as F
from wherry_sparse.at_once import places_at_once
from wherry_sparse.products import blocks
from wherry_sparse.tensors import SparseCooTensor, SparseCsrTensor, SparseTensor, places, require_sparse, rows_of
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import one_axis, require_tensor, to_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.functions.movement import concat, reshape

__all__ = ["attention", "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax", "subm_conv2d", "subm_conv3d"]


def relu(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """max(x, 0) of the elements that are stored. Source: `paddle.sparse.nn.functional.relu`."""
    sparse = require_sparse(x, "relu")
    return sparse._with(F.relu(sparse.values()))


def relu6(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """min(max(x, 0), 6) of the elements that are stored. Source: `paddle.sparse.nn.functional.relu6`."""
    sparse = require_sparse(x, "relu6")
    return sparse._with(F.relu6(sparse.values()))


def leaky_relu(x: SparseTensor, negative_slope: float = 0.01, name: str | None = None) -> SparseTensor:
    """x, times `negative_slope` where it is negative. Source: `paddle.sparse.nn.functional.leaky_relu`."""
    sparse = require_sparse(x, "leaky_relu")
    return sparse._with(F.leaky_relu(sparse.values(), negative_slope))


@places_at_once
def softmax(x: SparseTensor, axis: int = -1, name: str | None = None) -> SparseTensor:
    """Softmax along an axis, among the elements that are stored; the others stay 0.

    Args:
        x: in COO or CSR form.
        axis: of CSR form the last one.
        name: accepted for compatibility; unused.

    Source:
        `paddle.sparse.nn.functional.softmax`.

    Examples:
        >>> x = wherry.sparse.sparse_csr_tensor([0, 2, 3], [0, 1, 0], [1.0, 1.0, 5.0], [2, 2])
        >>> print(wherry.sparse.nn.functional.softmax(x).values().tolist())
        [0.5, 0.5, 1.0]
    """
    sparse = require_sparse(x, "softmax")
    at = one_axis(axis, sparse.ndim, "softmax")
    if isinstance(sparse, SparseCsrTensor):
        if at != sparse.ndim - 1:
            raise UnimplementedError(f"softmax: of CSR form along the last axis. Got axis={axis}. Use to_sparse_coo(2) for others.")
        return sparse._with(_softmax(sparse.values(), rows_of(sparse), math.prod(sparse.shape[:-1])))
    assert isinstance(sparse, SparseCooTensor)
    group = ops.full_like(sparse.indices()[0], value=0, dtype=int64)
    for n, size in enumerate(sparse.shape):
        if n != at:
            group = group * size + to_dtype(sparse.indices()[n], int64)
    single, _, inverse, _ = ops.unique(group, axis=None)
    return sparse._with(_softmax(sparse.values(), inverse, single.shape[0]))


def _softmax(values: Tensor, group: Tensor, count: int) -> Tensor:
    largest = ops.edge_extreme(values.detach(), None, group, count=count, largest=True, sorted=False)
    powers = ops.exp(values - ops.gather(largest, group, axis=0))
    return powers / ops.gather(ops.edge_sum(powers, None, group, count=count, mean=False, sorted=False), group, axis=0)


@places_at_once
def attention(
    query: Tensor, key: Tensor, value: Tensor, sparse_mask: SparseTensor, key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None, name: str | None = None,
) -> Tensor:
    """Attention of which only the scores at the places of a mask are computed.

    Args:
        query: `[batch, heads, length, depth]`.
        key: the same.
        value: the same.
        sparse_mask: CSR `[batch * heads, length, length]`: which position looks at which; its values do not count.
        key_padding_mask: `[batch, length]`, added to the scores of each key.
        attn_mask: `[length, length]`, added to the scores.
        name: accepted for compatibility; unused.

    Source:
        `paddle.sparse.nn.functional.attention`.
    """
    batch, heads, length, depth = require_tensor(query, "attention", "query").shape
    mask = require_sparse(sparse_mask, "attention", "sparse_mask")
    if mask.shape != [batch * heads, length, length]:
        raise InvalidArgumentError(f"attention: the mask has another shape. Got {mask.shape}, expected {[batch * heads, length, length]}.")
    whole = blocks(mask)
    rows = rows_of(whole)
    scores = ops.csr_sample(reshape(query, [-1, depth]), reshape(key, [-1, depth]), whole.crows(), whole.cols()) / math.sqrt(depth)
    at = whole.cols() % length
    if key_padding_mask is not None:
        scores = scores + ops.gather(reshape(key_padding_mask, [-1]), rows // (heads * length) * length + at, axis=0)
    if attn_mask is not None:
        scores = scores + ops.gather(reshape(attn_mask, [-1]), rows % length * length + at, axis=0)
    weights = _softmax(scores, rows, batch * heads * length)
    return reshape(ops.csr_matmul(weights, whole.crows(), whole.cols(), reshape(value, [-1, depth])), [batch, heads, length, depth])


# Windows that move through space. Tensors are COO [batch, ...space, channels], the channels dense.


def conv2d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NHWC", name: str | None = None,
) -> SparseCooTensor:
    """Convolution of points in a plane; as `conv3d`, with one axis less. Source: `paddle.sparse.nn.functional.conv2d`."""
    return _convolved("conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, 2, False)


def conv3d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NDHWC", name: str | None = None,
) -> SparseCooTensor:
    """Convolution of points in space.

    Args:
        x: COO `[batch, depth, height, width, channels]`, with dense channels.
        weight: `[depth, height, width, channels, filters]`.
        bias: `[filters]`, added where the result is stored.
        stride: an int, or one for each axis.
        padding: an int, or one for each axis.
        dilation: an int, or one for each axis.
        groups: 1.
        data_format: "NDHWC".
        name: accepted for compatibility; unused.

    Raises:
        ValueError: the shapes do not fit, or groups are asked for.

    Source:
        `paddle.sparse.nn.functional.conv3d`.
    """
    return _convolved("conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, 3, False)


def subm_conv2d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NHWC", key: str | None = None, name: str | None = None,
) -> SparseCooTensor:
    """Submanifold convolution of points in a plane: the result is stored where x is. Source: `paddle.sparse.nn.functional.subm_conv2d`."""
    return _convolved("subm_conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, 2, True)


def subm_conv3d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NDHWC", key: str | None = None, name: str | None = None,
) -> SparseCooTensor:
    """Submanifold convolution of points in space: the result is stored where x is. Source: `paddle.sparse.nn.functional.subm_conv3d`."""
    return _convolved("subm_conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, 3, True)


@places_at_once
def max_pool3d(
    x: SparseTensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, data_format: str = "NDHWC",
    name: str | None = None,
) -> SparseCooTensor:
    """The largest of the elements that are stored in each window.

    Args:
        x: COO `[batch, depth, height, width, channels]`, with dense channels.
        kernel_size: an int, or one for each axis.
        stride: the same; None for `kernel_size`.
        padding: an int, or one for each axis.
        ceil_mode: a last window that is not full counts.
        data_format: "NDHWC".
        name: accepted for compatibility; unused.

    Source:
        `paddle.sparse.nn.functional.max_pool3d`.
    """
    kernel = _each("max_pool3d", "kernel_size", kernel_size, 3)
    points = _points("max_pool3d", x, data_format, 3)
    steps = kernel if stride is None else _each("max_pool3d", "stride", stride, 3)
    pads = _each("max_pool3d", "padding", padding, 3)
    sizes = [
        ((n + 2 * p - k + (s - 1 if ceil_mode else 0)) // s) + 1 for n, k, s, p in zip(points.shape[1:-1], kernel, steps, pads, strict=True)
    ]
    found = list(_moved(points, kernel, steps, pads, [1, 1, 1], sizes))
    source, key = concat([s for _, s, _ in found], 0), concat([k for _, _, k in found], 0)
    single, _, inverse, _ = ops.unique(key, axis=None)
    values = ops.edge_extreme(points.values(), source, inverse, count=single.shape[0], largest=True, sorted=False)
    return _placed(points, single, values, sizes)


@places_at_once
def _convolved(
    owner: str, x: Any, weight: Any, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: int, data_format: str, rank: int,
    submanifold: bool,
) -> SparseCooTensor:
    points, kernel = _points(owner, x, data_format, rank), require_tensor(weight, owner, "weight")
    if groups != 1 or kernel.ndim != rank + 2 or kernel.shape[-2] != points.shape[-1]:
        raise InvalidArgumentError(
            f"{owner}: the weight does not fit. Got shape {kernel.shape} and groups={groups} for x of shape {points.shape}, expected "
            f"[{'height, width' if rank == 2 else 'depth, height, width'}, {points.shape[-1]}, filters] and groups=1."
        )
    steps, pads, gaps = (_each(owner, n, v, rank) for n, v in (("stride", stride), ("padding", padding), ("dilation", dilation)))
    window, space = list(kernel.shape[:rank]), points.shape[1:-1]
    if submanifold:
        # Centred, whatever the padding says: the result is stored where x is.
        steps, pads, sizes = [1] * rank, [k // 2 * g for k, g in zip(window, gaps, strict=True)], space
    else:
        sizes = [(n + 2 * p - g * (k - 1) - 1) // s + 1 for n, k, s, p, g in zip(space, window, steps, pads, gaps, strict=True)]
    if min(sizes, default=0) < 1:
        raise InvalidArgumentError(f"{owner}: the window is larger than x. Got a window of {window} for x of shape {points.shape}.")
    flat = reshape(kernel, [-1, *kernel.shape[-2:]])
    found = list(_moved(points, window, steps, pads, gaps, sizes))
    if submanifold:
        own = _counted([points.indices()[i] for i in range(rank + 1)], [points.shape[0], *space])
        single, order = ops.sort(own, axis=0, descending=False)
    else:
        single, _, _, _ = ops.unique(concat([k for _, _, k in found], 0), axis=None)
        order = None
    total: Tensor | None = None
    for n, source, key in found:
        at = ops.searchsorted(single, key, right=False)
        if submanifold:
            near = ops.minimum(at, ops.full_like(at, value=max(single.shape[0] - 1, 0), dtype=at.dtype))
            kept = reshape(ops.nonzero(ops.equal(ops.gather(single, near, axis=0), key)), [-1])
            source, at = ops.gather(source, kept, axis=0), ops.gather(ops.gather(order, near, axis=0), kept, axis=0)
        if source.shape[0] == 0:
            continue
        sent = ops.gather(points.values(), source, axis=0) @ flat[n]
        part = ops.edge_sum(sent, None, at, count=single.shape[0], mean=False, sorted=False)
        total = part if total is None else total + part
    if total is None:
        total = ops.full(shape=(single.shape[0], kernel.shape[-1]), value=0, dtype=points.dtype)
    if bias is not None:
        total = total + bias
    if submanifold:
        return SparseCooTensor(points.indices(), total, [*points.shape[:-1], kernel.shape[-1]])
    return _placed(points, single, total, sizes)


def _moved(
    points: SparseCooTensor, window: list[int], steps: list[int], pads: list[int], gaps: list[int], sizes: list[int]
) -> Iterator[tuple[int, Tensor, Tensor]]:
    """For each element of the window: which points it sees, and the places where it sees them."""
    batch, *axes = (to_dtype(points.indices()[i], int64) for i in range(len(window) + 1))
    for n, offsets in enumerate(product(*map(range, window))):
        seen: Tensor | None = None
        moved = []
        for axis, offset, step, pad, gap, size in zip(axes, offsets, steps, pads, gaps, sizes, strict=True):
            shifted = axis + (pad - offset * gap)
            place = shifted // step
            inside = ops.logical_and(ops.logical_and(shifted >= 0, ops.equal(place * step, shifted)), place < size)
            seen = inside if seen is None else ops.logical_and(seen, inside)
            moved.append(place)
        source = reshape(ops.nonzero(seen), [-1])
        yield n, source, ops.gather(_counted([batch, *moved], [points.shape[0], *sizes]), source, axis=0)


def _counted(parts: list[Tensor], sizes: list[int]) -> Tensor:
    key = to_dtype(parts[0], int64)
    for part, size in zip(parts[1:], sizes[1:], strict=True):
        key = key * size + to_dtype(part, int64)
    return key


def _placed(points: SparseCooTensor, key: Tensor, values: Tensor, sizes: list[int]) -> SparseCooTensor:
    shape = [points.shape[0], *sizes]
    return SparseCooTensor(places(key, shape, points.indices().dtype), values, [*shape, values.shape[-1]], coalesced=True)


def _points(owner: str, x: Any, data_format: str, rank: int) -> SparseCooTensor:
    wanted = "NHWC" if rank == 2 else "NDHWC"
    if data_format != wanted:
        raise InvalidArgumentError(f"{owner}: the channels come last. Got data_format={data_format!r}, expected {wanted!r}.")
    sparse = require_sparse(x, owner)
    if not isinstance(sparse, SparseCooTensor) or sparse.ndim != rank + 2 or sparse.indices().shape[0] != rank + 1:
        raise InvalidArgumentError(
            f"{owner}: x is no list of points with channels. Got {'COO' if sparse.is_sparse_coo() else 'CSR'} of shape {sparse.shape}, expected COO "
            f"of {rank + 2} axes of which the last one is dense."
        )
    return sparse


def _each(owner: str, name: str, value: Any, rank: int) -> list[int]:
    values = [value] * rank if isinstance(value, int) else list(value) if isinstance(value, (list, tuple)) else []
    if len(values) != rank or not all(isinstance(v, int) and v >= (0 if name == "padding" else 1) for v in values):
        raise InvalidArgumentError(f"{owner}: {name} is out of range. Got {short(value)}, expected an int, or {rank} of them.")
    return values
