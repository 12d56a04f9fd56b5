"""Indexing, gather, scatter, sorting and search: ops whose positions are data."""
from wherry_tensor import ops
from wherry_tensor._core import float32, float64, int32, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import count, positions
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    bools,
    broadcast_shapes,
    complexes,
    element_count,
    floats,
    indices,
    integers,
    require_axis,
    require_broadcast_to,
    require_dtype,
    require_known,
    require_one_dtype,
    require_rank,
    require_same_shape,
    same_shape,
    show,
)
from wherry_tensor.sizes import is_unknown

# Indices are int32 or int64; negative ones count from the end; out of range is WRY_OUT_OF_RANGE.
gather = op("gather", "x, index", axis=int)  # index of any rank replaces the axis; 1-D is Paddle's index_select
gather_vjp = op("gather_vjp", "ct, index, like~", axis=int)  # adds ct into zeros
gather_nd = op("gather_nd", "x, index")
scatter_nd_add = op("scatter_nd_add", "x, index, updates")
scatter = op("scatter", "x, index, updates", overwrite=bool)  # rows of axis 0; not overwrite: zero the rows, then add
index_add = op("index_add", "x, index, value", axis=int)
take_along_axis = op("take_along_axis", "x, index", axis=int)
put_along_axis = op("put_along_axis", "x, index, value", axis=int, reduce=str)  # assign | add | multiply
masked_select = op("masked_select", "x, mask")  # 1-D, length depends on data
masked_select_vjp = op("masked_select_vjp", "ct, mask")  # zeros where the mask is false
nonzero = op("nonzero", "x")  # int64 [count, rank]

# NumPy's advanced indexing: the index tensors broadcast together and stand for `axes`, which are
# consecutive; the result has the broadcast shape in place of them. Bool masks became nonzero before.
index_get = op("index_get", "x, *indices", axes=tuple)
index_put = op("index_put", "x, value, *indices", axes=tuple, accumulate=bool)

embedding = op("embedding", "index, weight", padding_index=int)  # padding_index -1: none
embedding_vjp = op("embedding_vjp", "ct, index, weight~", padding_index=int)
one_hot = op("one_hot", "x", num_classes=int, sizes="num_classes")  # float32

# Order.
topk = op("topk", "x", k=int, axis=int, largest=bool, sorted=bool, sizes="k", outputs="values, indices")
sort = op("sort", "x", axis=int, descending=bool, outputs="values, indices")  # stable
unique = op("unique", "x", axis=int, outputs="out, index, inverse, counts")  # axis None: flattened; all index outputs int64
unique_consecutive = op("unique_consecutive", "x", axis=int, outputs="out, inverse, counts")
searchsorted = op("searchsorted", "sorted_sequence, values", right=bool)  # int64; rows match when the sequence is not 1-D
bincount = op("bincount", "x, weights?", minlength=int)
histogram = op("histogram", "x", bins=int, min=float, max=float)  # int64; min == max: the data's range
shard_index = op("shard_index", "x", index_num=int, nshards=int, shard_id=int, ignore_value=int)


# Shape rules.


@infer.rule(gather)
def infer_gather(x, index, *, axis):
    _require_index("gather", index)
    require_axis("gather", axis, x.shape)
    return Meta((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)


@infer.rule(gather_vjp)
def infer_gather_vjp(ct, index, like, *, axis):
    gathered = infer_gather(Meta(like.shape, ct.dtype), index, axis=axis)
    _require_shape("gather_vjp", "ct", ct.shape, gathered.shape)
    return Meta(like.shape, ct.dtype)


@infer.rule(gather_nd)
def infer_gather_nd(x, index):
    return Meta(_places_shape("gather_nd", x, index), x.dtype)


@infer.rule(scatter_nd_add)
def infer_scatter_nd_add(x, index, updates):
    _require_shape("scatter_nd_add", "updates", updates.shape, _places_shape("scatter_nd_add", x, index))
    require_one_dtype("scatter_nd_add", x=x.dtype, updates=updates.dtype)
    return Meta(x.shape, x.dtype)


@infer.rule(scatter)
def infer_scatter(x, index, updates, *, overwrite):
    _require_index("scatter", index)
    require_rank("scatter", "index", index.shape, 1)
    require_axis("scatter", 0, x.shape)
    require_one_dtype("scatter", x=x.dtype, updates=updates.dtype)
    _require_shape("scatter", "updates", updates.shape, (*index.shape, *x.shape[1:]))
    return Meta(x.shape, x.dtype)


@infer.rule(index_add)
def infer_index_add(x, index, value, *, axis):
    _require_index("index_add", index)
    require_rank("index_add", "index", index.shape, 1)
    require_axis("index_add", axis, x.shape)
    require_one_dtype("index_add", x=x.dtype, value=value.dtype)
    _require_shape("index_add", "value", value.shape, (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))
    return Meta(x.shape, x.dtype)


@infer.rule(take_along_axis)
def infer_take_along_axis(x, index, *, axis):
    _require_along("take_along_axis", x, index, axis)
    return Meta(index.shape, x.dtype)


@infer.rule(put_along_axis)
def infer_put_along_axis(x, index, value, *, axis, reduce):
    _require_along("put_along_axis", x, index, axis)
    require_one_dtype("put_along_axis", x=x.dtype, value=value.dtype)
    require_broadcast_to("put_along_axis", "value", value.shape, index.shape)
    if reduce not in ("assign", "add", "multiply"):
        raise ValueError(
            f"put_along_axis: unknown reduce '{reduce}'. "
            f"Got reduce='{reduce}', expected 'assign', 'add' or 'multiply'. "
            f"Use 'assign' to replace the values of x."
        )
    return Meta(x.shape, x.dtype)


@infer.rule(masked_select)
def infer_masked_select(x, mask):
    require_dtype("masked_select", "mask", mask.dtype, bools)
    require_same_shape("masked_select", "mask", mask.shape, "x", x.shape)
    return Meta((UNKNOWN,), x.dtype)


@infer.rule(masked_select_vjp)
def infer_masked_select_vjp(ct, mask):
    require_dtype("masked_select_vjp", "mask", mask.dtype, bools)
    require_rank("masked_select_vjp", "ct", ct.shape, 1)
    return Meta(mask.shape, ct.dtype)


@infer.rule(nonzero)
def infer_nonzero(x):
    return Meta((UNKNOWN, x.rank), int64)


@infer.rule(index_get)
def infer_index_get(x, *indices, axes):
    return Meta(_indexed_shape("index_get", x, indices, axes), x.dtype)


@infer.rule(index_put)
def infer_index_put(x, value, *indices, axes, accumulate):
    shape = _indexed_shape("index_put", x, indices, axes)
    require_one_dtype("index_put", x=x.dtype, value=value.dtype)
    # NumPy drops leading axes of size 1 that the values have too many.
    values = value.shape
    while len(values) > len(shape) and values[0] == 1:
        values = values[1:]
    require_broadcast_to("index_put", "value", values, shape)
    if accumulate and x.dtype in bools:
        require_dtype("index_put", "x", x.dtype, integers + floats + complexes)
    return Meta(x.shape, x.dtype)


@infer.rule(embedding)
def infer_embedding(index, weight, *, padding_index):
    _require_index("embedding", index)
    require_rank("embedding", "weight", weight.shape, 2)
    return Meta((*index.shape, weight.shape[1]), weight.dtype)


@infer.rule(embedding_vjp)
def infer_embedding_vjp(ct, index, weight, *, padding_index):
    looked_up = infer_embedding(index, weight, padding_index=padding_index)
    _require_shape("embedding_vjp", "ct", ct.shape, looked_up.shape)
    return Meta(weight.shape, ct.dtype)


@infer.rule(one_hot)
def infer_one_hot(x, *, num_classes):
    require_dtype("one_hot", "x", x.dtype, integers)
    if not is_unknown(num_classes) and num_classes < 1:
        raise ValueError(
            f"one_hot: num_classes must be positive. Got num_classes={num_classes}, expected 1 or more. "
            f"It is one more than the largest label."
        )
    return Meta((*x.shape, UNKNOWN if is_unknown(num_classes) else num_classes), float32)


@infer.rule(topk)
def infer_topk(x, *, k, axis, largest, sorted):
    _require_line("topk", x, axis)
    size = x.shape[axis] if x.shape else 1
    if not is_unknown(k) and (k < 0 or (size != UNKNOWN and k > size)):
        raise ValueError(
            f"topk: there are fewer than {k} values along axis {axis}. "
            f"Got k={k} for x of shape {show(x.shape)}, expected k in [0, {size}]. Lower k."
        )
    shape = (*x.shape[:axis], UNKNOWN if is_unknown(k) else k, *x.shape[axis + 1 :]) if x.shape else ()
    return Meta(shape, x.dtype), Meta(shape, int64)


@infer.rule(sort)
def infer_sort(x, *, axis, descending):
    _require_line("sort", x, axis)
    return Meta(x.shape, x.dtype), Meta(x.shape, int64)


@infer.rule(unique)
def infer_unique(x, *, axis):
    out, size = _unique_shape("unique", x, axis)
    return Meta(out, x.dtype), Meta((UNKNOWN,), int64), Meta((size,), int64), Meta((UNKNOWN,), int64)


@infer.rule(unique_consecutive)
def infer_unique_consecutive(x, *, axis):
    out, size = _unique_shape("unique_consecutive", x, axis)
    return Meta(out, x.dtype), Meta((size,), int64), Meta((UNKNOWN,), int64)


@infer.rule(searchsorted)
def infer_searchsorted(sorted_sequence, values, *, right):
    require_one_dtype("searchsorted", sorted_sequence=sorted_sequence.dtype, values=values.dtype)
    require_dtype("searchsorted", "values", values.dtype, bools + integers + floats)
    if sorted_sequence.rank != 1 and not (
        sorted_sequence.rank and same_shape(sorted_sequence.shape[:-1], values.shape[:-1]) and values.rank
    ):
        raise ValueError(
            f"searchsorted: the rows of the sequence and of the values do not belong together. "
            f"Got shapes {show(sorted_sequence.shape)} and {show(values.shape)}, expected a 1-D sequence, or equal sizes in "
            f"all axes but the last. Reshape the values so that each row looks into its own sequence."
        )
    return Meta(values.shape, int64)


@infer.rule(bincount)
def infer_bincount(x, weights, *, minlength):
    require_dtype("bincount", "x", x.dtype, indices)
    require_rank("bincount", "x", x.shape, 1)
    if minlength < 0:
        raise ValueError(
            f"bincount: a length cannot be negative. Got minlength={minlength}, expected 0 or more. Use 0 for no minimum."
        )
    if weights is None:
        return Meta((UNKNOWN,), int64)
    require_dtype("bincount", "weights", weights.dtype, (int32, int64, float32, float64))
    require_same_shape("bincount", "weights", weights.shape, "x", x.shape)
    # Paddle sums float32 weights in float32 and every other kind in float64.
    return Meta((UNKNOWN,), float32 if weights.dtype == float32 else float64)


@infer.rule(histogram)
def infer_histogram(x, *, bins, min, max):
    require_dtype("histogram", "x", x.dtype, integers + floats)
    if bins < 1 or max < min:
        raise ValueError(
            f"histogram: the bins are not a range. "
            f"Got bins={bins}, min={min}, max={max}, expected at least 1 bin and min <= max. "
            f"Leave both bounds at 0 for the range of the data."
        )
    return Meta((bins,), int64)


@infer.rule(shard_index)
def infer_shard_index(x, *, index_num, nshards, shard_id, ignore_value):
    require_dtype("shard_index", "x", x.dtype, indices)
    if index_num < 1 or nshards < 1 or not 0 <= shard_id < nshards:
        raise ValueError(
            f"shard_index: these shards do not divide the indices. "
            f"Got index_num={index_num}, nshards={nshards}, shard_id={shard_id}, expected positive counts and "
            f"shard_id in [0, {nshards}). Number the shards from 0."
        )
    return Meta(x.shape, x.dtype)


# Decompositions. Reading and writing by position come down to index_get and index_put.


@decompose.rule(gather)
def decompose_gather(x, index, *, axis):
    return ops.index_get(x, index, axes=(axis,))


@decompose.rule(gather_vjp)
def decompose_gather_vjp(ct, index, like, *, axis):
    return ops.index_put(_zeros(ct, like), ct, index, axes=(axis,), accumulate=True)


@decompose.rule(gather_nd)
def decompose_gather_nd(x, index):
    k = _known_columns("gather_nd", index)
    if k == 0:
        return ops.index_get(ops.unsqueeze(x, axes=(0,)), _first_row(index), axes=(0,))
    return ops.index_get(x, *_columns(index, k), axes=tuple(range(k)))


@decompose.rule(scatter_nd_add)
def decompose_scatter_nd_add(x, index, updates):
    k = _known_columns("scatter_nd_add", index)
    if k == 0:
        whole = ops.index_put(ops.unsqueeze(x, axes=(0,)), updates, _first_row(index), axes=(0,), accumulate=True)
        return ops.copy(ops.squeeze(whole, axes=(0,)))
    return ops.index_put(x, updates, *_columns(index, k), axes=tuple(range(k)), accumulate=True)


@decompose.rule(scatter)
def decompose_scatter(x, index, updates, *, overwrite):
    if overwrite:
        return ops.index_put(x, updates, index, axes=(0,), accumulate=False)
    cleared = ops.index_put(x, _zeros(x, updates), index, axes=(0,), accumulate=False)
    return ops.index_put(cleared, updates, index, axes=(0,), accumulate=True)


@decompose.rule(index_add)
def decompose_index_add(x, index, value, *, axis):
    return ops.index_put(x, value, index, axes=(axis,), accumulate=True)


@decompose.rule(take_along_axis)
def decompose_take_along_axis(x, index, *, axis):
    places = [index if at == axis else positions(index, at) for at in range(x.ndim)]
    places = [place if place is index else ops.cast(place, dtype=index.dtype) for place in places]
    return ops.index_get(x, *places, axes=tuple(range(x.ndim)))


@decompose.rule(masked_select)
def decompose_masked_select(x, mask):
    return ops.gather_nd(x, ops.nonzero(mask))


@decompose.rule(masked_select_vjp)
def decompose_masked_select_vjp(ct, mask):
    places = ops.nonzero(mask)
    return ops.index_put(_zeros(ct, mask), ct, *_columns(places, mask.ndim), axes=tuple(range(mask.ndim)), accumulate=False)


@decompose.rule(embedding)
def decompose_embedding(index, weight, *, padding_index):
    rows = ops.gather(weight, index, axis=0)
    if padding_index < 0:
        return rows
    return ops.where(_is_padding(index, padding_index), _zeros(rows, rows), rows)


@decompose.rule(embedding_vjp)
def decompose_embedding_vjp(ct, index, weight, *, padding_index):
    if padding_index >= 0:
        ct = ops.where(_is_padding(index, padding_index), _zeros(ct, ct), ct)
    return ops.gather_vjp(ct, index, weight, axis=0)


@decompose.rule(searchsorted)
def decompose_searchsorted(sorted_sequence, values, *, right):
    # Binary search, every value at once. As many halvings as the sequence, or any, can need.
    axis = sorted_sequence.ndim - 1
    size = sorted_sequence.shape[axis]
    low = _zeros_int(values)
    high = low + count(sorted_sequence, axis)
    if size == 0:
        return low
    # One more in the back, so that there is something to look at in a sequence of none.
    padded = ops.pad(sorted_sequence, paddings=(0,) * (2 * axis) + (0, 1), value=0.0) if size == UNKNOWN else sorted_sequence
    for _ in range(63 if size == UNKNOWN else size.bit_length()):
        open_ = ops.less_than(low, high)
        middle = ops.floor_divide(low + high, ops.full_like(low, value=2, dtype=int64))
        place = ops.where(open_, middle, _zeros_int(values))
        at = ops.index_get(padded, place, axes=(0,)) if axis == 0 else ops.take_along_axis(padded, place, axis=axis)
        before = _ordered(at, values) if not right else ops.logical_not(_ordered(values, at))
        low = ops.where(ops.logical_and(open_, before), middle + 1, low)
        high = ops.where(ops.logical_and(open_, ops.logical_not(before)), middle, high)
    return low


def _ordered(x, y):
    """x < y where NaN is larger than every number."""
    return ops.logical_or(ops.less_than(x, y), ops.logical_and(ops.isnan(y), ops.logical_not(ops.isnan(x))))


def _zeros_int(x):
    return ops.full_like(x, value=0, dtype=int64)


@decompose.rule(one_hot)
def decompose_one_hot(x, *, num_classes):
    classes = ops.arange(start=0, step=1, length=num_classes, dtype=x.dtype)
    return ops.cast(ops.equal(ops.unsqueeze(x, axes=(x.ndim,)), classes), dtype=float32)


@decompose.rule(topk)
def decompose_topk(x, *, k, axis, largest, sorted):
    values, positions = ops.sort(x, axis=axis, descending=largest)
    if x.ndim == 0:
        return values, positions
    first = {"axes": (axis,), "starts": (0,), "ends": (k,), "steps": (1,)}
    return ops.slice(values, **first), ops.slice(positions, **first)


# Helpers.


def _zeros(x, like):
    """Zeros of the dtype of `x` and the shape of `like`."""
    return ops.full_like(like, value=0, dtype=x.dtype)


def _columns(index, k):
    """The `k` index tensors in the last axis of `index`."""
    return [ops.select(index, axis=index.ndim - 1, index=i) for i in range(k)]


def _known_columns(op_name, index):
    require_known(op_name, "index", index.shape[-1:])
    return index.shape[-1]


def _first_row(index):
    """Zeros for each row of an index without columns."""
    return ops.full_like(ops.reduce_sum(index, axes=(index.ndim - 1,), keepdim=False), value=0, dtype=int64)


def _is_padding(index, padding_index):
    padding = ops.full(shape=(), value=padding_index, dtype=index.dtype)
    return ops.unsqueeze(ops.equal(index, padding), axes=(index.ndim,))


def _require_index(op_name, index):
    require_dtype(op_name, "index", index.dtype, indices)


def _require_shape(op_name, name, shape, wanted):
    if not same_shape(shape, wanted):
        raise ValueError(
            f"{op_name}: `{name}` does not have the shape of what is indexed. "
            f"Got {show(shape)}, expected {show(wanted)}. "
            f"Reshape or broadcast `{name}` to that shape."
        )


def _places_shape(op_name, x, index):
    _require_index(op_name, index)
    if index.rank == 0 or not 0 <= index.shape[-1] <= x.rank:
        raise ValueError(
            f"{op_name}: the last axis of `index` must name axes of x. "
            f"Got index of shape {show(index.shape)} for x of shape {show(x.shape)}, expected a last axis of known size, "
            f"at most {x.rank}. Each row of index is a position in the first axes of x."
        )
    return (*index.shape[:-1], *x.shape[index.shape[-1] :])


def _require_along(op_name, x, index, axis):
    _require_index(op_name, index)
    require_axis(op_name, axis, x.shape)
    fits = index.rank == x.rank and all(
        UNKNOWN in (a, b) or a <= b for at, (a, b) in enumerate(zip(index.shape, x.shape, strict=True)) if at != axis
    )
    if not fits:
        raise ValueError(
            f"{op_name}: `index` does not fit x. "
            f"Got index of shape {show(index.shape)} for x of shape {show(x.shape)}, expected the same rank and, except along "
            f"axis {axis}, sizes no larger than x's. Broadcast or slice the index."
        )


def _indexed_shape(op_name, x, indices, axes):
    if len(indices) != len(axes) or not axes or tuple(axes) != tuple(range(axes[0], axes[0] + len(axes))):
        raise ValueError(
            f"{op_name}: each index tensor stands for one axis, and the axes follow each other. "
            f"Got {len(indices)} index tensors and axes={list(axes)}, expected as many axes as tensors, in sequence. "
            f"Transpose x so that the indexed axes are neighbours."
        )
    require_axis(op_name, axes, x.shape, "axes")
    for index in indices:
        _require_index(op_name, index)
    shape = broadcast_shapes(op_name, *(index.shape for index in indices))
    return (*x.shape[: axes[0]], *shape, *x.shape[axes[-1] + 1 :])


def _require_line(op_name, x, axis):
    require_dtype(op_name, "x", x.dtype, bools + integers + floats)
    require_axis(op_name, axis, x.shape or (1,))


def _unique_shape(op_name, x, axis):
    """Shape of the result, and how many values or rows go in."""
    require_dtype(op_name, "x", x.dtype, bools + integers + floats)
    if axis is None:
        return (UNKNOWN,), element_count(x.shape)
    require_axis(op_name, axis, x.shape)
    return (*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :]), x.shape[axis]


# What has no decomposition, and why.
for _reason, _ops in {
    "reading at positions, which the rest is built of": (index_get,),
    "writing at positions, which the rest is built of": (index_put,),
    "can multiply several values into one place": (put_along_axis,),
    "the order that the rest is built of": (sort,),
    "the size of its result depends on values": (nonzero, unique, unique_consecutive, bincount),
    "refuses values that are out of its range": (histogram, shard_index),
}.items():
    for _op in _ops:
        decompose.exempt(_op, _reason)
