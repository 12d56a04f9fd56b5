"""Indexing: gather and scatter."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops
from wherry_tensor._core import int32, int64


@serves(ops.embedding, "embedding", first=False)
def plugin_embedding(w, out, index, weight, *, padding_index):
    w.call("embedding", index, weight, padding_index, out, dtype=weight.dtype)


@serves(ops.embedding_vjp, "embedding_grad")
def plugin_embedding_vjp(w, out, ct, index, weight, *, padding_index):
    w.call("embedding_grad", index, w.memory(out.dtype, weight.shape), ct, padding_index, out, dtype=ct.dtype)


@serves(ops.gather, "gather")
def plugin_gather(w, out, x, index, *, axis):
    if len(index.shape) != 1:
        raise Declined("the kernel takes a list of positions")
    w.call("gather", x, index, axis, out)


@serves(ops.gather_nd, "gather_nd")
def plugin_gather_nd(w, out, x, index):
    w.call("gather_nd", x, index, out)


@serves(ops.scatter, "scatter")
def plugin_scatter(w, out, x, index, updates, *, overwrite):
    w.call("scatter", x, index, updates, overwrite, out)


@serves(ops.take_along_axis, "take_along_axis")
def plugin_take_along_axis(w, out, x, index, *, axis):
    w.call("take_along_axis", x, index, axis, out)


@serves(ops.topk, "topk")
def plugin_topk(w, out, x, *, k, axis, largest, sorted):
    values, indices = out
    w.call("topk", x, k, axis, largest, sorted, values, indices)


@serves(ops.sort, "argsort")
def plugin_sort(w, out, x, *, axis, descending):
    args = (x, axis, descending)
    w.call("argsort", *args, *out, or_args=[(*args, True, *out)])  # later versions can be told to be stable


@serves(ops.one_hot, "one_hot")
def plugin_one_hot(w, out, x, *, num_classes):
    w.call("one_hot", x, num_classes, out)


@serves(ops.gather_vjp, "gather_grad")
def plugin_gather_vjp(w, out, ct, index, like, *, axis):
    if len(index.shape) != 1:
        raise Declined("the kernel takes a list of positions")
    args = (w.memory(ct.dtype, like.shape), index, ct, axis)  # of x, the shape alone counts
    w.call("gather_grad", *args, out, or_args=[(*args, False, out)])


@serves(ops.scatter_nd_add, "scatter_nd_add")
def plugin_scatter_nd_add(w, out, x, index, updates):
    w.call("scatter_nd_add", x, index, updates, out)


@serves(ops.index_add, "index_add")
def plugin_index_add(w, out, x, index, value, *, axis):
    w.call("index_add", x, index, value, axis, out)


@serves(ops.index_put, "index_put")
def plugin_index_put(w, out, x, value, *indices, axes, accumulate):
    shapes = {index.shape for index in indices}
    if tuple(axes) != tuple(range(len(indices))) or len(shapes) != 1 or any(index.dtype not in (int32, int64) for index in indices):
        raise Declined("the kernel takes positions along the first axes, in one shape")
    w.call("index_put", x, list(indices), w.expanded(value, (*indices[0].shape, *x.shape[len(indices):])), accumulate, out)


@serves(ops.put_along_axis, "put_along_axis")
def plugin_put_along_axis(w, out, x, index, value, *, axis, reduce):
    args = (x, index, w.expanded(value, index.shape), axis, reduce)
    w.call("put_along_axis", *args, True, out, or_args=[(*args, out)])  # what is there before counts, as it always did
