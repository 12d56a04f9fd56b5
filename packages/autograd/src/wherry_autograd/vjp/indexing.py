"""Gradient rules for indexing, gather, scatter and sorting.

Reading gives each position the sum of the cotangents of its readers; writing gives the written values
the cotangents of their positions, and the replaced values zeros.
"""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_autograd.selected_rows import table_gradient
from wherry_tensor import ops


@vjp.rule(ops.gather)
def vjp_gather(ct, _out, _x, index, *, axis):
    return ops.gather_vjp(ct, index, _x, axis=axis), None


@vjp.rule(ops.gather_vjp)
def vjp_gather_vjp(ct, _out, _ct, index, _like, *, axis):
    return ops.gather(ct, index, axis=axis), None, None


@vjp.rule(ops.gather_nd)
def vjp_gather_nd(ct, _out, _x, index):
    return ops.scatter_nd_add(_zeros(ct, _x), index, ct), None


@vjp.rule(ops.scatter_nd_add)
def vjp_scatter_nd_add(ct, _out, _x, index, _updates):
    return ct, None, ops.gather_nd(ct, index)


@vjp.rule(ops.scatter)
def vjp_scatter(ct, _out, _x, index, _updates, *, overwrite):
    # Of several rows written to one place only the last stays, but each gets its cotangent, as in Paddle.
    cleared = ops.scatter(ct, index, _zeros(ct, _updates), overwrite=True)
    return cleared, None, ops.gather(ct, index, axis=0)


@vjp.rule(ops.index_add)
def vjp_index_add(ct, _out, _x, index, _value, *, axis):
    return ct, None, ops.gather(ct, index, axis=axis)


@vjp.rule(ops.take_along_axis)
def vjp_take_along_axis(ct, _out, _x, index, *, axis):
    return _put_back(_x, ct, index, axis), None


@vjp.rule(ops.put_along_axis)
def vjp_put_along_axis(ct, out, x, index, value, *, axis, reduce):
    taken = ops.take_along_axis(ct, index, axis=axis)
    if reduce == "add":
        return ct, None, ops.sum_like(taken, value)
    if reduce == "multiply":
        # Each factor's derivative is the product over itself; the out of the place holds it whole.
        x_ct = ct * ops.put_along_axis(ops.full_like(x, value=1, dtype=x.dtype), index, value, axis=axis, reduce="multiply")
        of_value = taken * ops.take_along_axis(out, index, axis=axis) / value
        return x_ct, None, ops.sum_like(of_value, value)
    cleared = ops.put_along_axis(
        ct, index, ops.full(shape=(), value=0, dtype=ct.dtype), axis=axis, reduce="assign"
    )
    return cleared, None, ops.sum_like(taken, value)


@vjp.rule(ops.masked_select)
def vjp_masked_select(ct, _out, _x, mask):
    return ops.masked_select_vjp(ct, mask), None


@vjp.rule(ops.masked_select_vjp)
def vjp_masked_select_vjp(ct, _out, _ct, mask):
    return ops.masked_select(ct, mask), None


@vjp.rule(ops.index_get)
def vjp_index_get(ct, _out, _x, *indices, axes):
    return ops.index_put(_zeros(ct, _x), ct, *indices, axes=axes, accumulate=True), *[None] * len(indices)


@vjp.rule(ops.index_put)
def vjp_index_put(ct, _out, _x, _value, *indices, axes, accumulate):
    of_x = ct
    if not accumulate:
        of_x = ops.index_put(
            ct, ops.full(shape=(), value=0, dtype=ct.dtype), *indices, axes=axes, accumulate=False
        )
    of_value = ops.index_get(ct, *indices, axes=axes)
    extra = _value.ndim - of_value.ndim
    if extra > 0:  # leading axes of size 1 that broadcasting dropped
        of_value = ops.unsqueeze(of_value, axes=tuple(range(extra)))
    return of_x, ops.sum_like(of_value, _value), *[None] * len(indices)


@vjp.rule(ops.embedding)
def vjp_embedding(ct, _out, index, _weight, *, padding_index):
    return None, table_gradient(ct, index, _weight, padding_index)


@vjp.rule(ops.embedding_vjp)
def vjp_embedding_vjp(ct, _out, _ct, index, _weight, *, padding_index):
    return ops.embedding(index, ct, padding_index=padding_index), None, None


# Order: values move, positions stay what they are.


@vjp.rule(ops.topk, keep_outputs=["indices"])
def vjp_topk(ct, out, _x, *, k, axis, largest, sorted):
    return _back_to(_x, ct[0], out[1], axis)


@vjp.rule(ops.sort, keep_outputs=["indices"])
def vjp_sort(ct, out, _x, *, axis, descending):
    return _back_to(_x, ct[0], out[1], axis)


not_differentiable(ops.nonzero, "positions are integers")
not_differentiable(ops.one_hot, "classes are integers")
not_differentiable(ops.unique, "which values are equal does not change smoothly; Paddle gives no gradient either")
not_differentiable(ops.unique_consecutive, "which values are equal does not change smoothly; Paddle gives no gradient either")
not_differentiable(ops.searchsorted, "positions are integers")
not_differentiable(ops.bincount, "counts are integers, and Paddle gives the weights no gradient")
not_differentiable(ops.histogram, "counts are integers")
not_differentiable(ops.shard_index, "indices are integers")


def _zeros(x, like):
    """Zeros of the dtype of `x` and the shape of `like`."""
    return ops.full_like(like, value=0, dtype=x.dtype)


def _back_to(x, ct, positions, axis):
    """The cotangent of values that were taken at `positions`, in the places they came from."""
    if ct is None:
        return None
    if x.ndim == 0:
        return ct
    return _put_back(x, ct, positions, axis)


def _put_back(x, ct, positions, axis):
    # Of the zeros there is one, repeated: the kernel writes them where it adds.
    zeros = ops.broadcast_like(ops.full(shape=(), value=0, dtype=ct.dtype), x)
    return ops.put_along_axis(zeros, positions, ct, axis=axis, reduce="add")
