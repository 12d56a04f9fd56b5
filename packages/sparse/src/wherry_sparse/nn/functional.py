"""`paddle.sparse.nn.functional`: activations, attention, convolutions and pooling of sparse tensors.

A convolution stores its result at all indices that an input reaches; a submanifold convolution only at those of the input (Graham, Engelcke
& van der Maaten, 2018). Both gather, for each element of the window, the inputs that it applies to, and scatter-add the products.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import wherry_nn.functional as F
from wherry_sparse.eager_indices import eager_indices
from wherry_sparse.products import blocks
from wherry_sparse.tensors import SparseCooTensor, SparseCsrTensor, SparseTensor, require_sparse, rows_of, unraveled
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import flag, integer, one_axis, require_tensor, to_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.functions.movement import concat, reshape

__all__ = ["attention", "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax", "subm_conv2d", "subm_conv3d"]


def relu(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """ReLU of the elements that are stored, max(x, 0).

    Args:
        x: in COO or CSR form.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse.

    Source:
        `paddle.sparse.nn.functional.relu`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], [-2.0, 8.0])
        >>> print(wherry.sparse.nn.functional.relu(x).values().numpy())
        [0. 8.]
    """
    sparse = require_sparse(x, "relu")
    return sparse._with(F.relu(sparse.values()))


def relu6(x: SparseTensor, name: str | None = None) -> SparseTensor:
    """ReLU6 of the elements that are stored, min(max(x, 0), 6).

    Args:
        x: in COO or CSR form.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse.

    Source:
        `paddle.sparse.nn.functional.relu6`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], [-2.0, 8.0])
        >>> print(wherry.sparse.nn.functional.relu6(x).values().numpy())
        [0. 6.]
    """
    sparse = require_sparse(x, "relu6")
    return sparse._with(F.relu6(sparse.values()))


def leaky_relu(x: SparseTensor, negative_slope: float = 0.01, name: str | None = None) -> SparseTensor:
    """Leaky ReLU of the elements that are stored: `x`, or `negative_slope * x` where it is negative.

    Args:
        x: in COO or CSR form.
        negative_slope: a number.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `negative_slope` is not a number (also a ValueError).

    Source:
        `paddle.sparse.nn.functional.leaky_relu`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 2]], [-2.0, 8.0])
        >>> print(wherry.sparse.nn.functional.leaky_relu(x, 0.5).values().numpy())
        [-1.  8.]
    """
    sparse = require_sparse(x, "leaky_relu")
    return sparse._with(F.leaky_relu(sparse.values(), negative_slope))


@eager_indices
def softmax(x: SparseTensor, axis: int = -1, name: str | None = None) -> SparseTensor:
    """Softmax along an axis, among the elements that are stored; the others stay 0.

    Args:
        x: in COO or CSR form.
        axis: in `[-rank, rank)`; in CSR form the last one. Along a dense axis of COO form each stored element is normalized by itself.

    Shape:
        `[...]` to the same.

    Raises:
        NotImplementedError: `x` is not sparse; another axis of CSR form.
        ValueError: `axis` is out of range.

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
            raise UnimplementedError(
                f"softmax: CSR form is normalized along the last axis. Got axis={axis}, expected -1. Use to_sparse_coo(2) for others."
            )
        return sparse._with(_softmax(sparse.values(), rows_of(sparse), math.prod(sparse.shape[:-1])))
    assert isinstance(sparse, SparseCooTensor)
    sparse_shape = sparse._sparse_shape
    if at >= len(sparse_shape):  # an element has all places of a dense axis
        return sparse._with(F.softmax(sparse.values(), at - len(sparse_shape) + 1))
    group = ops.full_like(sparse.indices()[0], value=0, dtype=int64)
    for n, size in enumerate(sparse_shape):
        if n != at:
            group = group * size + to_dtype(sparse.indices()[n], int64)
    single, _, inverse, _ = ops.unique(group, axis=None)
    return sparse._with(_softmax(sparse.values(), inverse, single.shape[0]))


def _softmax(values: Tensor, group: Tensor, count: int) -> Tensor:
    largest = ops.edge_extreme(values.detach(), None, group, count=count, largest=True, sorted=False)
    powers = ops.exp(values - ops.gather(largest, group, axis=0))
    return powers / ops.gather(ops.edge_sum(powers, None, group, count=count, mean=False, sorted=False), group, axis=0)


@eager_indices
def attention(
    query: Tensor, key: Tensor, value: Tensor, sparse_mask: SparseTensor, key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None, name: str | None = None,
) -> Tensor:
    """Attention that computes only the scores where a mask stores elements.

    Args:
        query, key, value: dense, `[batch, heads, length, depth]`.
        sparse_mask: sparse `[batch * heads, length, length]`: which query sees which key; its values are not used.
        key_padding_mask: `[batch, length]`, added to the scores of each key.
        attn_mask: `[length, length]`, added to the scores.

    Shape:
        `[batch, heads, length, depth]` three times to the same.

    Raises:
        NotImplementedError: `sparse_mask` is not sparse.
        TypeError: `query` is not a Tensor (also a ValueError).
        ValueError: `query` is not 4-D, or the mask has another shape.

    Source:
        `paddle.sparse.nn.functional.attention`.

    Examples:
        >>> x = wherry.to_tensor([[[[1.0], [3.0]]]])
        >>> mask = wherry.to_tensor([[[1.0, 0.0], [0.0, 1.0]]]).to_sparse_csr()  # each position sees itself alone
        >>> print(wherry.sparse.nn.functional.attention(x, x, x, mask).flatten().numpy())
        [1. 3.]
    """
    shape = require_tensor(query, "attention", "query").shape
    if len(shape) != 4:
        raise InvalidArgumentError(
            f"attention: query has the wrong rank. Got shape {shape}, expected [batch, heads, length, depth]. Add the missing axes with unsqueeze."
        )
    batch, heads, length, depth = shape
    mask = require_sparse(sparse_mask, "attention", "sparse_mask")
    if mask.shape != [batch * heads, length, length]:
        raise InvalidArgumentError(
            f"attention: the mask has another shape. Got {mask.shape}, expected {[batch * heads, length, length]}. Reshape it."
        )
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


# Convolutions and pooling. Tensors are COO [batch, ...space, channels] with dense channels.


def conv2d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NHWC", name: str | None = None,
) -> SparseCooTensor:
    """2-D convolution of a sparse tensor; the result is stored wherever an element of `x` reaches.

    Args:
        x: COO `[batch, height, width, channels]`, with dense channels.
        weight: `[height, width, channels, filters]`.
        bias: `[filters]`, added where the result is stored; or None.
        stride: an int, or one for each axis.
        padding: an int, or one for each axis.
        dilation: an int, or one for each axis.
        groups: 1.
        data_format: "NHWC".

    Shape:
        `[batch, height, width, channels]` to `[batch, height', width', filters]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `weight` is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit, `x` is in CSR form, `groups` is not 1, or an argument is out of range.

    Source:
        `paddle.sparse.nn.functional.conv2d`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 1])
        >>> out = wherry.sparse.nn.functional.conv2d(x, wherry.ones([2, 2, 1, 1]))
        >>> out.shape, out.values().flatten().tolist()
        ([1, 1, 1, 1], [3.0])
    """
    return _convolved("conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, 2, False)


def conv3d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NDHWC", name: str | None = None,
) -> SparseCooTensor:
    """3-D convolution of a sparse tensor; the result is stored wherever an element of `x` reaches.

    Args:
        x: COO `[batch, depth, height, width, channels]`, with dense channels.
        weight: `[depth, height, width, channels, filters]`.
        bias: `[filters]`, added where the result is stored; or None.
        stride: an int, or one for each axis.
        padding: an int, or one for each axis.
        dilation: an int, or one for each axis.
        groups: 1.
        data_format: "NDHWC".

    Shape:
        `[batch, depth, height, width, channels]` to `[batch, depth', height', width', filters]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `weight` is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit, `x` is in CSR form, `groups` is not 1, or an argument is out of range.

    Source:
        `paddle.sparse.nn.functional.conv3d`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 2, 1])
        >>> out = wherry.sparse.nn.functional.conv3d(x, wherry.ones([2, 2, 2, 1, 1]))
        >>> out.shape, out.values().flatten().tolist()
        ([1, 1, 1, 1, 1], [3.0])
    """
    return _convolved("conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, 3, False)


def subm_conv2d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NHWC", key: str | None = None, name: str | None = None,
) -> SparseCooTensor:
    """2-D submanifold convolution: the result is stored where `x` is.

    Args:
        x: COO `[batch, height, width, channels]`, with dense channels.
        weight: `[height, width, channels, filters]`.
        bias: `[filters]`, added where the result is stored; or None.
        stride: an int, or one for each axis; no effect.
        padding: an int, or one for each axis; no effect.
        dilation: an int, or one for each axis.
        groups: 1.
        data_format: "NHWC".
        key: no effect.

    Shape:
        `[batch, height, width, channels]` to `[batch, height, width, filters]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `weight` is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit, `x` is in CSR form, `groups` is not 1, or an argument is out of range.

    Source:
        `paddle.sparse.nn.functional.subm_conv2d`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 1])
        >>> out = wherry.sparse.nn.functional.subm_conv2d(x, wherry.ones([3, 3, 1, 1]))
        >>> out.shape, out.values().flatten().tolist()
        ([1, 2, 2, 1], [3.0, 3.0])
    """
    return _convolved("subm_conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, 2, True)


def subm_conv3d(
    x: SparseTensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NDHWC", key: str | None = None, name: str | None = None,
) -> SparseCooTensor:
    """3-D submanifold convolution: the result is stored where `x` is.

    Args:
        x: COO `[batch, depth, height, width, channels]`, with dense channels.
        weight: `[depth, height, width, channels, filters]`.
        bias: `[filters]`, added where the result is stored; or None.
        stride: an int, or one for each axis; no effect.
        padding: an int, or one for each axis; no effect.
        dilation: an int, or one for each axis.
        groups: 1.
        data_format: "NDHWC".
        key: no effect.

    Shape:
        `[batch, depth, height, width, channels]` to `[batch, depth, height, width, filters]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        TypeError: `weight` is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit, `x` is in CSR form, `groups` is not 1, or an argument is out of range.

    Source:
        `paddle.sparse.nn.functional.subm_conv3d`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 2, 1])
        >>> out = wherry.sparse.nn.functional.subm_conv3d(x, wherry.ones([3, 3, 3, 1, 1]))
        >>> out.shape, out.values().flatten().tolist()
        ([1, 2, 2, 2, 1], [3.0, 3.0])
    """
    return _convolved("subm_conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, 3, True)


@eager_indices
def max_pool3d(
    x: SparseTensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, data_format: str = "NDHWC",
    name: str | None = None,
) -> SparseCooTensor:
    """3-D max pooling of a sparse tensor: the largest of the elements that are stored in each window.

    Args:
        x: COO `[batch, depth, height, width, channels]`, with dense channels.
        kernel_size: an int, or one for each axis.
        stride: an int, or one for each axis; None is `kernel_size`.
        padding: an int, or one for each axis.
        ceil_mode: whether a last window that the input fills only partly counts.
        data_format: "NDHWC".

    Shape:
        `[batch, depth, height, width, channels]` to `[batch, depth', height', width', channels]`.

    Raises:
        NotImplementedError: `x` is not sparse.
        ValueError: `x` is in CSR form or of another rank, or an argument is out of range.

    Source:
        `paddle.sparse.nn.functional.max_pool3d`.

    Examples:
        >>> x = wherry.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [2.0]], [1, 2, 2, 2, 1])
        >>> out = wherry.sparse.nn.functional.max_pool3d(x, 2)
        >>> out.shape, out.values().tolist()
        ([1, 1, 1, 1, 1], [[2.0]])
    """
    kernel = _each("max_pool3d", "kernel_size", kernel_size, 3)
    points = _points("max_pool3d", x, data_format, 3)
    steps = kernel if stride is None else _each("max_pool3d", "stride", stride, 3)
    pads, ceil_mode = _each("max_pool3d", "padding", padding, 3), flag(ceil_mode, "max_pool3d", "ceil_mode")
    sizes = [
        ((n + 2 * p - k + (s - 1 if ceil_mode else 0)) // s) + 1 for n, k, s, p in zip(points.shape[1:-1], kernel, steps, pads, strict=True)
    ]
    found = list(_moved(points, kernel, steps, pads, [1, 1, 1], sizes))
    source, key = concat([s for _, s, _ in found], 0), concat([k for _, _, k in found], 0)
    single, _, inverse, _ = ops.unique(key, axis=None)
    values = ops.edge_extreme(points.values(), source, inverse, count=single.shape[0], largest=True, sorted=False)
    return _placed(points, single, values, sizes)


@eager_indices
def _convolved(
    owner: str, x: Any, weight: Any, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: int, data_format: str, rank: int,
    submanifold: bool,
) -> SparseCooTensor:
    points, kernel = _points(owner, x, data_format, rank), require_tensor(weight, owner, "weight")
    if integer(groups, owner, "groups") != 1 or kernel.ndim != rank + 2 or kernel.shape[-2] != points.shape[-1]:
        raise InvalidArgumentError(
            f"{owner}: the weight does not fit. Got shape {kernel.shape} and groups={groups} for x of shape {points.shape}, expected "
            f"[{'height, width' if rank == 2 else 'depth, height, width'}, {points.shape[-1]}, filters] and groups=1."
        )
    steps, pads, gaps = (_each(owner, n, v, rank) for n, v in (("stride", stride), ("padding", padding), ("dilation", dilation)))
    window, space = list(kernel.shape[:rank]), points.shape[1:-1]
    if submanifold:
        # Centred, whatever the padding: the result is stored where x is.
        steps, pads, sizes = [1] * rank, [k // 2 * g for k, g in zip(window, gaps, strict=True)], space
    else:
        sizes = [(n + 2 * p - g * (k - 1) - 1) // s + 1 for n, k, s, p, g in zip(space, window, steps, pads, gaps, strict=True)]
    if min(sizes, default=0) < 1:
        raise InvalidArgumentError(
            f"{owner}: the window is larger than x. Got a window of {window} for x of shape {points.shape}, expected a smaller one. Use padding."
        )
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
    """For each element of the window: the inputs that it applies to, and the flat indices of their results."""
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
    return SparseCooTensor(unraveled(key, shape, points.indices().dtype), values, [*shape, values.shape[-1]], coalesced=True)


def _points(owner: str, x: Any, data_format: str, rank: int) -> SparseCooTensor:
    wanted = "NHWC" if rank == 2 else "NDHWC"
    if not isinstance(data_format, str) or data_format != wanted:
        raise InvalidArgumentError(f"{owner}: data_format is not channels-last. Got {short(data_format)}, expected {wanted!r}. Transpose x.")
    sparse = require_sparse(x, owner)
    if not isinstance(sparse, SparseCooTensor) or sparse.ndim != rank + 2 or sparse.indices().shape[0] != rank + 1:
        raise InvalidArgumentError(
            f"{owner}: x is not in COO form with dense channels. Got {'COO' if sparse.is_sparse_coo() else 'CSR'} of shape {sparse.shape}, "
            f"expected COO "
            f"of {rank + 2} axes of which the last one is dense. Use to_sparse_coo."
        )
    return sparse


def _each(owner: str, name: str, value: Any, rank: int) -> list[int]:
    values = [value] * rank if isinstance(value, int) else list(value) if isinstance(value, (list, tuple)) else []
    if len(values) != rank or not all(isinstance(v, int) and v >= (0 if name == "padding" else 1) for v in values):
        raise InvalidArgumentError(f"{owner}: {name} is out of range. Got {short(value)}, expected an int, or {rank} of them. Write {name}=1, say.")
    return values
