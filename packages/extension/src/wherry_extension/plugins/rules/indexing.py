"""Rows and elements by their positions."""
from wherry_extension.plugins.column import serves
from wherry_extension.plugins.programs import Declined
from wherry_tensor import ops


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
