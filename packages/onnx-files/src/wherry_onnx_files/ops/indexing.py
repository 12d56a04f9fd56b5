"""Gather, scatter, selection, order."""
import numpy as np

from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import Numbers, is_known, same
from wherry_onnx_files.ops.elementwise import scalar
from wherry_tensor import _core, ops
from wherry_tensor._core import from_buffer


def indices(x):
    """Indices as ops take them."""
    return x if x.dtype.name in ("int32", "int64") else ops.cast(x, dtype=_core.int64)


@reads("Gather")
def read_gather(o):
    known, at = o.numbers(0), o.numbers(1)
    if known is not None and at is not None and known.ndim == 1 and all(is_known(n) for n in at.flat):
        return Numbers(np.asarray(known[np.asarray(at, np.int64)], object), o.value(0).dtype)
    x = o.x(0)
    axis = o.integer("axis") % x.ndim
    if at is not None and at.ndim == 0 and is_known(at.item()):
        return ops.select(x, axis=axis, index=int(at.item()))
    return ops.gather(x, indices(o.x(1)), axis=axis)


@reads("GatherElements")
def read_gather_elements(o):
    x, index = o.x(0), indices(o.x(1))
    axis = o.integer("axis") % x.ndim
    return _along(x, index, axis)


def _along(x, index, axis):
    """Indices may have fewer places than x along the other axes."""
    for i, (n, m) in enumerate(zip(x.shape, index.shape)):
        if i != axis and not same(n, m):
            x = ops.slice(x, axes=(i,), starts=(0,), ends=(m,), steps=(1,))
    return ops.take_along_axis(x, index, axis=axis)


@reads("GatherND")
def read_gather_nd(o):
    x, index, batch = o.x(0), indices(o.x(1)), o.integer("batch_dims")
    if batch:
        index = _with_batch(index, batch)
    return ops.gather_nd(x, index)


def _with_batch(index, batch):
    """Indices after their own place along the first axes."""
    parts = []
    for axis in range(batch):
        at = ops.arange(start=0, step=1, length=index.shape[axis], dtype=index.dtype)
        shape = tuple(index.shape[axis] if i == axis else 1 for i in range(index.ndim))
        parts.append(ops.broadcast_to(ops.reshape(at, shape=shape), shape=(*index.shape[:-1], 1)))
    return ops.concat(*parts, index, axis=index.ndim - 1)


# Scatter.


def _combined(kind, old, new):
    return {"add": ops.add, "mul": ops.multiply, "max": ops.maximum, "min": ops.minimum}[kind](old, new)


def _wraps(index, n):
    """Indices that count from the front."""
    count = _core.scalar(n, index.dtype) if is_known(n) else n.tensor(index.dtype)
    return ops.where(ops.less_than(index, scalar(index, 0)), ops.add(index, count), index)


@reads("Scatter", "ScatterElements")
def read_scatter_elements(o):
    x, index, updates = o.x(0), indices(o.x(1)), o.x(2)
    axis, kind = o.integer("axis") % x.ndim, o.text("reduction", "none")
    index = _wraps(index, x.shape[axis])
    if kind in ("none", "add", "mul"):
        alike = all(same(n, m) for i, (n, m) in enumerate(zip(x.shape, index.shape)) if i != axis)
        if alike:
            return ops.put_along_axis(x, index, updates, axis=axis, reduce={"none": "assign", "mul": "multiply"}.get(kind, kind))
    places = []
    for i in range(x.ndim):
        if i == axis:
            places.append(index)
            continue
        at = ops.arange(start=0, step=1, length=index.shape[i], dtype=index.dtype)
        at = ops.reshape(at, shape=tuple(index.shape[i] if j == i else 1 for j in range(x.ndim)))
        places.append(ops.broadcast_to(at, shape=tuple(index.shape)))
    nd = ops.concat(*(ops.unsqueeze(p, axes=(x.ndim,)) for p in places), axis=x.ndim)
    return _scattered(o, x, nd, updates, kind)


@reads("ScatterND")
def read_scatter_nd(o):
    return _scattered(o, o.x(0), indices(o.x(1)), o.x(2), o.text("reduction", "none"))


def _scattered(o, x, index, updates, kind):
    """Updates at indices whose last axis names a place along the first axes of x."""
    depth = int(index.shape[-1])
    places = tuple(_wraps(ops.select(index, axis=index.ndim - 1, index=k), x.shape[k]) for k in range(depth))
    if kind == "none":
        return ops.index_put(x, updates, *places, axes=tuple(range(depth)), accumulate=False)
    if kind == "add":
        if x.dtype.name == "bool":
            raise o.bad("it adds to bool", "numbers")
        return ops.index_put(x, updates, *places, axes=tuple(range(depth)), accumulate=True)
    if kind not in ("mul", "max", "min"):
        raise o.bad(f"its reduction is {kind!r}", "none, add, mul, max or min")
    # One update after the other: two may meet at one place.
    rows = index.ndim - 1
    count = 1
    for n in index.shape[:-1]:
        count = n * count
    if not is_known(count) or count > 4096:
        raise o.unsupported(f"{kind} of {'an open number of' if not is_known(count) else count} updates", "at most 4096, whose number is known")
    flat = [ops.reshape(p, shape=(count,)) for p in places]
    updates = ops.reshape(updates, shape=(count, *updates.shape[rows:]))
    for i in range(count):
        at = tuple(ops.slice(p, axes=(0,), starts=(i,), ends=(i + 1,), steps=(1,)) for p in flat)
        old = ops.index_get(x, *at, axes=tuple(range(depth)))
        new = ops.slice(updates, axes=(0,), starts=(i,), ends=(i + 1,), steps=(1,))
        x = ops.index_put(x, _combined(kind, old, new), *at, axes=tuple(range(depth)), accumulate=False)
    return x


@reads("TensorScatter")
def read_tensor_scatter(o):
    past, update = o.x(0), o.x(1)
    axis = o.integer("axis", -2) % past.ndim
    n, m, batch = past.shape[axis], update.shape[axis], past.shape[0]
    start = ops.cast(o.x(2), dtype=_core.int64) if o.has(2) else ops.full(shape=(batch,), value=0, dtype=_core.int64)
    at = ops.add(ops.unsqueeze(start, axes=(1,)), ops.unsqueeze(ops.arange(start=0, step=1, length=m, dtype=_core.int64), axes=(0,)))
    if o.text("mode", "linear") == "circular":
        at = ops.remainder(at, _core.scalar(n, _core.int64) if is_known(n) else n.tensor(_core.int64))
    shape = tuple(m if i == axis else batch if i == 0 else 1 for i in range(past.ndim))
    at = ops.broadcast_to(ops.reshape(at, shape=shape), shape=tuple(update.shape))
    return ops.put_along_axis(past, at, update, axis=axis, reduce="assign")


# Selection.


@reads("NonZero", keeps=False)
def read_nonzero(o):
    x = o.x(0)
    if not x.ndim:
        x = ops.reshape(x, shape=(1,))
        return ops.full(shape=(0, ops.nonzero(x).shape[0]), value=0, dtype=_core.int64)
    return ops.transpose(ops.nonzero(x), perm=(1, 0))


@reads("Compress")
def read_compress(o):
    x, condition = o.x(0), o.x(1)
    at = ops.reshape(ops.nonzero(condition), shape=(-1,))
    if not o.given("axis"):
        return ops.gather(ops.reshape(x, shape=(-1,)), at, axis=0)
    return ops.gather(x, at, axis=o.integer("axis") % x.ndim)


@reads("OneHot", keeps=False)
def read_one_hot(o):
    index, values = o.x(0), o.x(2)
    depth = int(o.scalar(1, "the depth"))
    if not index.dtype.name.startswith("int"):
        index = ops.cast(index, dtype=_core.int64)
    axis = o.integer("axis", -1) % (index.ndim + 1)
    places = ops.arange(start=0, step=1, length=depth, dtype=index.dtype)
    places = ops.reshape(places, shape=tuple(depth if i == axis else 1 for i in range(index.ndim + 1)))
    index = _wraps(index, depth)
    off, on = (ops.select(values, axis=0, index=i) for i in (0, 1))
    return ops.where(ops.equal(ops.unsqueeze(index, axes=(axis,)), places), on, off)


@reads("ArrayFeatureExtractor", domain="ai.onnx.ml")
def read_array_feature_extractor(o):
    x = o.x(0)
    at = ops.reshape(indices(o.x(1)), shape=(-1,))
    out = ops.gather(x, at, axis=x.ndim - 1)
    return ops.unsqueeze(out, axes=(0,)) if x.ndim == 1 else out


@reads("Binarizer", domain="ai.onnx.ml")
def read_binarizer(o):
    x = o.x(0)
    return ops.cast(ops.greater_than(x, scalar(x, o.number("threshold"))), dtype=x.dtype)


# Order.


@reads("TopK")
def read_topk(o):
    x = o.x(0)
    k = o.integer("k") if o.version < 10 else o.size(1, "how many")
    axis = o.integer("axis", -1) % x.ndim
    dtype = x.dtype
    if dtype.name in ("uint8", "int8", "int16", "float16", "bfloat16"):
        x = ops.cast(x, dtype=_core.float32 if dtype.is_floating else _core.int64)
    values, index = ops.sort(x, axis=axis, descending=o.flag("largest", True))  # stable: of equal ones the first
    values, index = (ops.slice(y, axes=(axis,), starts=(0,), ends=(k,), steps=(1,)) for y in (values, index))
    return ops.cast(values, dtype=dtype) if dtype is not values.dtype else values, index


@reads("Unique")
def read_unique(o):
    x, axis = o.x(0), o.integer("axis", 0) if o.given("axis") else None
    if axis is not None:
        axis %= x.ndim
    dtype = x.dtype
    if dtype.name not in ("float32", "float64", "int32", "int64"):
        x = ops.cast(x, dtype=_core.float32 if dtype.is_floating else _core.int64)
    out, first, inverse, counts = ops.unique(x, axis=axis)
    inverse = ops.reshape(inverse, shape=(-1,))
    if not o.flag("sorted", True):
        order = ops.sort(first, axis=0, descending=False)[1]
        rank = ops.sort(order, axis=0, descending=False)[1]
        out = ops.gather(out, order, axis=axis or 0)
        first, counts, inverse = ops.gather(first, order, axis=0), ops.gather(counts, order, axis=0), ops.gather(rank, inverse, axis=0)
    return (ops.cast(out, dtype=dtype) if out.dtype is not dtype else out), first, inverse, counts


def index_of(values):
    """A constant of indices."""
    return from_buffer(np.ascontiguousarray(values, np.int64))
