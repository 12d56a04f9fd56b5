"""Indexing by data (gather, scatter), and sorting."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import cannot, to_onnx
from wherry_tensor import ops
from wherry_tensor._core import bool_, int32, int64


@to_onnx.rule(ops.gather)
def onnx_gather(g, x, index, *, axis):
    return g.op("Gather", x, index, axis=axis)


@to_onnx.rule(ops.gather_nd)
def onnx_gather_nd(g, x, index):
    if not index.shape[-1] or index.shape[-1] < 0:
        return NotImplemented
    return g.op("GatherND", x, g.cast(index, int64))


@to_onnx.rule(ops.scatter_nd_add)
def onnx_scatter_nd_add(g, x, index, updates):
    if g.opset < 16:
        raise _needs_16("scatter_nd_add", g)
    return g.op("ScatterND", x, g.cast(index, int64), updates, reduction="add")


def _needs_16(name, g):
    return NotImplementedError(
        f"onnx: scattering with a sum came with opset 16. Got '{name}' for opset {g.opset}, expected opset 16 or later. "
        f"Export with opset_version=16."
    )


@to_onnx.rule(ops.take_along_axis)
def onnx_take_along_axis(g, x, index, *, axis):
    if x.rank != index.rank or any(a != b or -1 in (a, b) for i, (a, b) in enumerate(zip(x.shape, index.shape)) if i != axis):
        return NotImplemented  # the shapes are to be broadcast
    return g.op("GatherElements", x, index, axis=axis)


@to_onnx.rule(ops.put_along_axis)
def onnx_put_along_axis(g, x, index, value, *, axis, reduce):
    if reduce != "assign" and g.opset < 16:
        raise _needs_16("put_along_axis", g)
    value = g.op("Expand", value, g.shape_of(index)) if value.shape != index.shape else value
    how = {"assign": None, "add": "add", "multiply": "mul"}[reduce]
    return g.op("ScatterElements", x, index, value, axis=axis, reduction=how)


def _places(g, indices, sizes):
    """Index tensors, broadcast together, as the last axis of one; and their common rank."""
    rank = max(i.rank for i in indices)
    shape = None
    wide = []
    for i, size in zip(indices, sizes, strict=True):
        at = g.cast(i, int64)
        negative = g.op("Less", at, g.constant(0, "int64"))
        wide.append(g.op("Where", negative, g.op("Add", at, size), at))
    if len(wide) > 1 and any(i.shape != indices[0].shape or -1 in i.shape for i in indices):
        total = wide[0]
        for other in wide[1:]:
            total = g.op("Add", total, other)
        shape = g.shape_of(total)
        wide = [g.op("Expand", one, shape) for one in wide]
    return g.op("Concat", *[g.unsqueeze(one, [rank]) for one in wide], axis=-1), rank


@to_onnx.rule(ops.index_get)
def onnx_index_get(g, x, *indices, axes):
    sizes = [g.op("Gather", g.shape_of(x), g.constant(a, "int64"), axis=0) for a in axes]
    places, rank = _places(g, indices, sizes)
    rest = [a for a in range(x.rank) if a not in axes]
    before = sum(a < axes[0] for a in rest)
    out = g.op("GatherND", g.transpose(x, [*axes, *rest]), places)  # indices first, then the rest
    total = rank + len(rest)
    perm = [*range(rank, rank + before), *range(rank), *range(rank + before, total)]
    return g.transpose(out, perm) if total else out


@to_onnx.rule(ops.index_put)
def onnx_index_put(g, x, value, *indices, axes, accumulate):
    if accumulate and g.opset < 16:
        raise _needs_16("index_put", g)
    sizes = [g.op("Gather", g.shape_of(x), g.constant(a, "int64"), axis=0) for a in axes]
    places, rank = _places(g, indices, sizes)
    rest = [a for a in range(x.rank) if a not in axes]
    before = sum(a < axes[0] for a in rest)
    turned = g.transpose(x, [*axes, *rest])
    total = rank + len(rest)
    # The value has the shape of what reading would give: the indices in place of their axes.
    perm = [*range(rank, rank + before), *range(rank), *range(rank + before, total)]
    read = g.op("GatherND", turned, places)
    shape = g.shape_of(g.transpose(read, perm) if total else read)
    value = g.op("Expand", value, shape)
    value = g.transpose(value, list(np.argsort(perm))) if total else value
    out = g.op("ScatterND", turned, places, value, reduction="add" if accumulate else None)
    return g.transpose(out, list(np.argsort([*axes, *rest])))


@to_onnx.rule(ops.masked_select)
def onnx_masked_select(g, x, mask):
    if x.shape != mask.shape or -1 in x.shape:
        both = g.shape_of(g.op("Or", mask, g.op("Cast", g.op("Equal", x, x), to=9)))
        x, mask = g.op("Expand", x, both), g.op("Expand", mask, both)
    return g.op("Compress", g.op("Reshape", x, g.ints([-1])), g.op("Reshape", mask, g.ints([-1])), axis=0)


@to_onnx.rule(ops.nonzero)
def onnx_nonzero(g, x):
    if not x.rank:  # ONNX gives a 0-d value one index, where there is none to give
        found = g.op("Reshape", g.op("Cast", g.cast(x, bool_), to=7), g.ints([1]))
        return g.op("Expand", g.constant(np.zeros((1, 0), np.int64)), g.op("Concat", found, g.ints([0]), axis=0))
    return g.op("Transpose", g.op("NonZero", x), perm=[1, 0])


@to_onnx.rule(ops.embedding)
def onnx_embedding(g, index, weight, *, padding_index):
    out = g.op("Gather", weight, index, axis=0)
    if padding_index < 0:
        return out
    padded = g.unsqueeze(g.op("Equal", index, g.number(padding_index, index)), [index.rank])
    return g.op("Where", padded, g.number(0, weight), out)


@to_onnx.rule(ops.one_hot)
def onnx_one_hot(g, x, *, num_classes):
    if not x.rank:
        row = g.op("Reshape", g.cast(x, int64), g.ints([1]))
        return g.squeeze(g.op("OneHot", row, g.size(num_classes), g.constant(np.array([0, 1], np.float32))), [0])
    return g.op("OneHot", g.cast(x, int64), g.size(num_classes), g.constant(np.array([0, 1], np.float32)))


@to_onnx.rule(ops.topk)
def onnx_topk(g, x, *, k, axis, largest, sorted):
    return _ordered(g, x, g.size(k), axis, largest)


@to_onnx.rule(ops.sort)
def onnx_sort(g, x, *, axis, descending):
    if not x.rank:
        return _ordered(g, x, None, axis, descending)
    return _ordered(g, x, g.op("Gather", g.shape_of(x), g.ints([axis]), axis=0), axis, descending)


def _ordered(g, x, count, axis, largest):
    if not x.rank:
        return g.op("Identity", x), g.constant(0, "int64")
    values, places = g.op(
        "TopK", g.cast(x, int32) if x.dtype is bool_ else x, count, outputs=2, axis=axis, largest=int(largest), sorted=1
    )
    return g.cast(values, bool_) if x.dtype is bool_ else values, places


@to_onnx.rule(ops.unique)
def onnx_unique(g, x, *, axis):
    if x.dtype is not bool_:
        return g.op("Unique", x, outputs=4, axis=axis, sorted=1)
    values, *rest = g.op("Unique", g.cast(x, int64), outputs=4, axis=axis, sorted=1)
    return (g.cast(values, bool_), *rest)


for _name in ("unique_consecutive", "bincount", "histogram"):
    cannot(getattr(ops, _name), "ONNX has no operator whose result is as long as these data say")
cannot(ops.shard_index, "ONNX has no operator for it; it belongs to training on several machines")
