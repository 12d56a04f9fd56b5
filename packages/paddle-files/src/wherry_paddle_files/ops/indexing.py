"""Indexing by data (gather, scatter), sorting, counting."""
import wherry_nn.functional as F
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes
from wherry_paddle_files.numbers import number_of
from wherry_paddle_files.writing import code_of, long
from wherry_tensor import ops
from wherry_tensor.functions import positions
from wherry_tensor.sizes import Size


@writes(ops.gather)
def write_gather(w, x, index, *, axis):
    if x.dtype in ("bool", "complex64", "complex128"):  # which the operator does not have
        if x.dtype != "bool" or w.outs[0].dtype.name != "bool":
            return NotImplemented
        return w.cast(w.held(write_gather(w, w.cast(x, "int32"), index, axis=axis)), "bool")
    if x.dtype == "float16" and w.outs[0].dtype.name == "float16":  # which it has on GPUs only
        return w.cast(write_gather(w, w.cast(x, "float32"), index, axis=axis), "float16")
    flat = index if index.ndim == 1 else w.reshape(index, (-1,))
    out = w("gather", {"X": w.held(x) if x.made_by == "gather" else x, "Index": flat}, {"axis": axis})
    if index.ndim == 1:
        return out
    if -1 in w.outs[0].sizes and w.outs[0].sizes.count(-1) > 1:
        return NotImplemented
    return w.reshape(out, w.outs[0].sizes)


@reads("gather")
def read_gather(o):
    axis = o.maybe("Axis")
    return api.gather(o.x("X"), o.x("Index"), o.integer("axis") if axis is None else number_of(axis))


@reads("index_select")
def read_index_select(o):
    return api.index_select(o.x("X"), o.x("Index"), o.integer("dim"))


@reads("index_sample")
def read_index_sample(o):
    return api.index_sample(o.x("X"), o.x("Index"))


@writes(ops.gather_nd)
def write_gather_nd(w, x, index):
    return w("gather_nd", {"X": x, "Index": index})


@reads("gather_nd")
def read_gather_nd(o):
    return api.gather_nd(o.x("X"), o.x("Index"))


@writes(ops.scatter_nd_add)
def write_scatter_nd_add(w, x, index, updates):
    return w("scatter_nd_add", {"X": x, "Index": index, "Updates": updates})


@reads("scatter_nd_add")
def read_scatter_nd_add(o):
    return api.scatter_nd_add(o.x("X"), o.x("Index"), o.x("Updates"))


@writes(ops.scatter)
def write_scatter(w, x, index, updates, *, overwrite):
    return w("scatter", {"X": x, "Ids": index, "Updates": updates}, {"overwrite": overwrite})


@reads("scatter")
def read_scatter(o):
    return api.scatter(o.x("X"), o.x("Ids"), o.x("Updates"), o.flag("overwrite", True))


@writes(ops.index_add)
def write_index_add(w, x, index, value, *, axis):
    return w("index_add", {"X": x, "Index": index, "AddValue": value}, {"axis": axis})


@reads("index_add")
def read_index_add(o):
    return api.index_add(o.x("X"), o.x("Index"), o.integer("axis"), o.x("AddValue"))


@writes(ops.take_along_axis)
def write_take_along_axis(w, x, index, *, axis):
    if any(n > m >= 0 for n, m in zip(index.shape, x.shape)):
        return NotImplemented  # Paddle's operator reads elsewhere
    return w("take_along_axis", {"Input": x, "Index": index}, {"Axis": axis}, "Result", shape=index.shape)


@reads("take_along_axis", out="Result")
def read_take_along_axis(o):
    return api.take_along_axis(o.x("Input"), o.x("Index"), o.integer("Axis"), broadcast=False)


@writes(ops.put_along_axis)
def write_put_along_axis(w, x, index, value, *, axis, reduce):
    if index.shape != x.shape or -1 in x.shape:  # Paddle's operator does not come back from fewer rows, or writes elsewhere
        return _put_at_places(w, x, index, value, axis, reduce)
    if value.shape != index.shape:
        value = w("expand_v2", {"X": value}, {"shape": list(index.shape)}, shape=index.shape)
    attrs = {"Axis": axis, "Reduce": {"multiply": "mul"}.get(reduce, reduce), "Include_self": True}
    return w("put_along_axis", {"Input": x, "Index": index, "Value": value}, attrs, "Result")


def _put_at_places(w, x, index, value, axis, reduce):
    """As writing at places that are said in full: what of the other axes they are is counted."""
    if reduce == "multiply" or not x.ndim:
        return NotImplemented
    places = []
    for n, size in enumerate(index.shape):
        if n == axis:
            places.append(w.cast(index, "int64"))
            continue
        places.append(w.reshape(w.count(size if size >= 0 else size_of(w, index, n)), [size if m == n else 1 for m in range(x.ndim)]))
    return _index_put(w, x, places, value, reduce == "add")


@reads("put_along_axis", out="Result")
def read_put_along_axis(o):
    reduce = {"mul": "multiply"}.get(o.text("Reduce", "assign"), o.text("Reduce", "assign"))
    return ops.put_along_axis(o.x("Input"), o.x("Index"), o.x("Value"), axis=o.integer("Axis") % o.x("Input").ndim, reduce=reduce)


@writes(ops.masked_select)
def write_masked_select(w, x, mask):
    return w("masked_select", {"X": x, "Mask": mask}, {}, "Y")


@reads("masked_select", out="Y")
def read_masked_select(o):
    return api.masked_select(o.x("X"), o.x("Mask"))


@writes(ops.nonzero)
def write_nonzero(w, x):
    return w("where_index", {"Condition": x}, dtype="int64")


@reads("pd_op.masked_fill", out="Out0")
def read_masked_fill(o):
    return api.masked_fill(o.x("X0"), o.x("X1"), o.x("X2"))


@reads("where_index")
def read_where_index(o):
    return api.nonzero(o.x("Condition"))


def size_of(w, x, axis):
    """A size that is known when the program runs."""
    shape = w("shape", {"Input": x}, dtype="int32", shape=(x.ndim,))
    attrs = {"axes": [0], "starts": [axis], "ends": [axis + 1], "infer_flags": [1], "decrease_axis": [0]}
    return w.cast(w("slice", {"Input": shape}, attrs, shape=()), "int64")


def _from_the_front(w, x, axis, index):
    """Turn indices that count from the end into ones that count from the front: the operator takes no others."""
    index = w.cast(index, "int64")
    zero = w.constant(0, "int64")
    size = w.constant(x.shape[axis], "int64") if x.shape[axis] >= 0 else size_of(w, x, axis)
    behind = w.cast(w("less_than", {"X": index, "Y": zero}, {"axis": -1}, dtype="bool"), "int64")
    more = w("elementwise_mul", {"X": behind, "Y": size}, {"axis": -1})
    return w("elementwise_add", {"X": index, "Y": more}, {"axis": -1})


@writes(ops.index_get)
def write_index_get(w, x, *indices, axes):
    indices = [_from_the_front(w, x, axis, index) for axis, index in zip(axes, indices)]
    before = list(range(x.ndim))
    perm = [*axes, *(n for n in before if n not in axes)]
    moved = x if perm == before else w("transpose2", {"X": x}, {"axis": perm}, ("Out", "~XShape"))
    found = w("gather_nd", {"X": moved, "Index": _stacked(w, indices)})
    rank = len(w.outs[0].sizes)
    index_rank = rank - (x.ndim - len(axes))
    if axes[0] == 0:
        return found
    order = [*range(index_rank, index_rank + axes[0]), *range(index_rank), *range(index_rank + axes[0], rank)]
    return w("transpose2", {"X": found}, {"axis": order}, ("Out", "~XShape"))


def _stacked(w, indices):
    """Index tensors of one shape beside each other in a last axis."""
    rank = max(x.ndim for x in indices)
    wide = [w.cast(x, "int64") for x in indices]
    if len({x.shape for x in wide}) > 1 or any(-1 in x.shape for x in wide):
        total = wide[0]
        for x in wide[1:]:
            total = w("elementwise_add", {"X": total, "Y": x}, {"axis": -1}, shape=[-1] * rank)
        zero = w("scale", {"X": total}, {"scale": 0.0, "bias": 0.0, "bias_after_scale": True})
        wide = [w("elementwise_add", {"X": zero, "Y": x}, {"axis": -1}) for x in wide]
    return w("stack", {"X": wide}, {"axis": rank}, "Y", shape=[*wide[0].shape, len(wide)])


def _index_put(w, x, indices, value, accumulate):
    """Over a copy: from its second run on, Paddle's predictor writes into what the first one has left in a result of its own."""
    out = w("assign", {"X": x})
    w("index_put", {"x": out, "indices": indices, "value": value}, {"accumulate": accumulate}, "out", into={"out": out})
    return out


@writes(ops.index_put)
def write_index_put(w, x, value, *indices, axes, accumulate):
    """The operator writes at the first axes: the others are moved after, and back."""
    rest = [n for n in range(x.ndim) if n not in axes]
    perm = [*axes, *rest]
    index_rank = max(n.ndim for n in indices)
    if not index_rank:  # the operator wants an axis
        indices = [w.reshape(n, [1]) for n in indices]
        index_rank, at = 1, axes[0]
        if value.ndim > len(rest) - at:
            more = len(rest) - value.ndim
            shape = (*(1,) * more, *value.shape)
            shape = (*shape[:at], 1, *shape[at:])
            value = w("unsqueeze2", {"X": value}, {"axes": [*range(more), at]}, ("Out", "~XShape"), shape=shape)
    if axes[0]:
        x = w("transpose2", {"X": x}, {"axis": perm}, ("Out", "~XShape"), shape=[x.shape[n] for n in perm])
        if value.ndim > len(rest) - axes[0]:
            full = index_rank + len(rest)
            if value.ndim < full:
                more = full - value.ndim
                value = w("unsqueeze2", {"X": value}, {"axes": list(range(more))}, ("Out", "~XShape"), shape=(1,) * more + value.shape)
            order = [*range(axes[0], axes[0] + index_rank), *range(axes[0]), *range(axes[0] + index_rank, full)]
            value = w("transpose2", {"X": value}, {"axis": order}, ("Out", "~XShape"), shape=[value.shape[n] for n in order])
    out = _index_put(w, x, [w.cast(n, "int64") for n in indices], value, accumulate)
    if axes[0]:
        out = w("transpose2", {"X": out}, {"axis": [perm.index(n) for n in range(len(perm))]}, ("Out", "~XShape"))
    return out


@reads("index_put", out="out")
def read_index_put(o):
    x, value, indices = o.x("x"), o.x("value"), o.xs("indices")
    if any(i.dtype.is_bool for i in indices):
        return api.index_put(x, tuple(indices), value, o.flag("accumulate"))
    return ops.index_put(x, value, *indices, axes=tuple(range(len(indices))), accumulate=o.flag("accumulate"))


@writes(ops.embedding)
def write_embedding(w, index, weight, *, padding_index):
    return w("lookup_table_v2", {"W": weight, "Ids": index}, {"padding_idx": long(padding_index)}, dtype=weight.dtype)


@reads("lookup_table_v2")
def read_embedding(o):
    return F.embedding(o.x("Ids"), o.x("W"), padding_idx=_padding(o))


@reads("lookup_table")
def read_old_embedding(o):
    return F.embedding(api.squeeze(o.x("Ids"), -1), o.x("W"), padding_idx=_padding(o))


def _padding(o):
    index = o.integer("padding_idx", -1)
    return None if index == -1 else index


@writes(ops.one_hot)
def write_one_hot(w, x, *, num_classes):
    more = {"depth_tensor": w.size(num_classes)} if type(num_classes) is Size else {}
    depth = -1 if more else num_classes
    attrs = {"depth": depth, "dtype": code_of("float32"), "allow_out_of_range": False}
    return w("one_hot_v2", {"X": x, **more}, attrs, dtype="float32")


@reads("one_hot_v2")
def read_one_hot(o):
    depth = o.maybe("depth_tensor")
    return F.one_hot(o.x("X"), o.integer("depth") if depth is None else number_of(depth)).astype(o.dtype("dtype", "float32"))


# Order.


@writes(ops.topk)
def write_topk(w, x, *, k, axis, largest, sorted):
    more = {"K": w.size(k)} if type(k) is Size else {}
    attrs = {"k": 1 if more else k, "axis": axis, "largest": largest, "sorted": sorted}
    return w("top_k_v2", {"X": x, **more}, attrs, ("Out", "Indices"), dtype=[x.dtype, "int64"])


@reads("top_k_v2", "top_k")
def read_topk(o):
    k = o.maybe("K")
    values, indices = api.topk(
        o.x("X"), o.integer("k", 1) if k is None else number_of(k), o.integer("axis", -1), o.flag("largest", True), o.flag("sorted", True)
    )
    return {"Out": values, "Indices": indices}


@writes(ops.sort)
def write_sort(w, x, *, axis, descending):
    return w("argsort", {"X": x}, {"axis": axis, "descending": descending}, ("Out", "Indices"), dtype=[x.dtype, "int64"])


@reads("argsort")
def read_argsort(o):
    x = o.x("X")
    if not x.ndim:
        return {"Out": x, "Indices": api.zeros([], "int64")}
    values, indices = ops.sort(x, axis=o.integer("axis", -1) % x.ndim, descending=o.flag("descending"))
    return {"Out": values, "Indices": indices}


@writes(ops.unique)
def write_unique(w, x, *, axis):
    attrs = {
        "return_index": True, "return_inverse": True, "return_counts": True, "axis": [] if axis is None else [axis], "dtype": code_of("int64"),
        "is_sorted": True,
    }
    return w("unique", {"X": x}, attrs, ("Out", "Indices", "Index", "Counts"), dtype=[x.dtype, "int64", "int64", "int64"])


@reads("unique")
def read_unique(o):
    axes, x = o.integers("axis"), o.x("X")
    if not o.flag("is_sorted", True):
        raise o.bad("it keeps the order of the first appearances", "is_sorted")
    out, index, inverse, counts = api.unique(x, True, True, True, axes[0] if axes else None, o.dtype("dtype", "int64"))
    return {"Out": out, "Indices": index, "Index": inverse, "Counts": counts}


@writes(ops.unique_consecutive)
def write_unique_consecutive(w, x, *, axis):
    attrs = {"return_inverse": True, "return_counts": True, "axis": [] if axis is None else [axis], "dtype": code_of("int64")}
    return w("unique_consecutive", {"X": x}, attrs, ("Out", "Index", "Counts"), dtype=[x.dtype, "int64", "int64"])


@reads("unique_consecutive")
def read_unique_consecutive(o):
    axes = o.integers("axis")
    out, inverse, counts = api.unique_consecutive(o.x("X"), True, True, axes[0] if axes else None, o.dtype("dtype", "int64"))
    return {"Out": out, "Index": inverse, "Counts": counts}


@writes(ops.searchsorted)
def write_searchsorted(w, sorted_sequence, values, *, right):
    given = {"SortedSequence": sorted_sequence, "Values": values}
    return w("searchsorted", given, {"out_int32": False, "right": right}, dtype="int64", shape=values.shape)


@reads("searchsorted")
def read_searchsorted(o):
    return api.searchsorted(o.x("SortedSequence"), o.x("Values"), o.flag("out_int32"), o.flag("right"))


@writes(ops.bincount)
def write_bincount(w, x, weights, *, minlength):
    return w("bincount", {"X": x, "Weights": weights}, {"minlength": minlength}, dtype=w.outs[0].dtype)


@reads("bincount")
def read_bincount(o):
    return api.bincount(o.x("X"), o.maybe("Weights"), o.integer("minlength"))


@writes(ops.histogram)
def write_histogram(w, x, *, bins, min, max):
    if min != int(min) or max != int(max):
        return NotImplemented
    return w("histogram", {"X": x}, {"bins": long(bins), "min": int(min), "max": int(max)}, dtype="int64")


@reads("histogram")
def read_histogram(o):
    return api.histogram(o.x("X"), o.integer("bins", 100), o.integer("min"), o.integer("max"))


@writes(ops.shard_index)
def write_shard_index(w, x, *, index_num, nshards, shard_id, ignore_value):
    return w("shard_index", {"X": x}, {"index_num": index_num, "nshards": nshards, "shard_id": shard_id, "ignore_value": ignore_value})


@reads("shard_index")
def read_shard_index(o):
    return api.shard_index(o.x("X"), o.integer("index_num"), o.integer("nshards"), o.integer("shard_id"), o.integer("ignore_value", -1))


@reads("multiplex")
def read_multiplex(o):
    return api.multiplex(o.xs("X"), o.x("Ids"))


@reads("kthvalue")
def read_kthvalue(o):
    values, indices = api.kthvalue(o.x("X"), o.integer("k", 1), o.integer("axis", -1), o.flag("keepdim"))
    return {"Out": values, "Indices": indices}


@reads("mode")
def read_mode(o):
    values, indices = api.mode(o.x("X"), o.integer("axis", -1), o.flag("keepdim"))
    return {"Out": values, "Indices": indices}


@reads("accuracy")
def read_accuracy(o):
    hits = api.any(api.equal(o.x("Indices"), o.x("Label").astype("int64")), 1).astype("float32")
    total = api.full([], hits.shape[0], "int32")
    correct = api.sum(hits)
    return {"Accuracy": correct / total.astype("float32"), "Correct": correct.astype("int32"), "Total": total}


reads("index_select_strided", out="out")(lambda o: ops.select(o.x("x"), axis=o.integer("axis"), index=o.integer("index")))


@reads("fill_diagonal")
def read_fill_diagonal(o):
    copied = ops.copy(o.x("X"))
    return positions.fill_diagonal_(copied, o.number("value"), o.integer("offset"), o.flag("wrap"))


@reads("fill_diagonal_tensor")
def read_fill_diagonal_tensor(o):
    return positions.fill_diagonal_tensor(o.x("X"), o.x("Y"), o.integer("offset"), o.integer("dim1"), o.integer("dim2", 1))
