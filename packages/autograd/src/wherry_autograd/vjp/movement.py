"""Gradient rules for ops that move values: each one moves the cotangent back.

Values are never needed, so no rule here keeps an input alive.
"""
from wherry_autograd.rules import not_differentiable, vjp
from wherry_tensor import ops

# Views.


@vjp.rule(ops.reshape)
def vjp_reshape(ct, _out, _x, *, shape):
    return ops.reshape_like(ct, _x)


@vjp.rule(ops.transpose)
def vjp_transpose(ct, _out, _x, *, perm):
    inverse = [0] * len(perm)
    for to, axis in enumerate(perm):
        inverse[axis] = to
    return ops.transpose(ct, perm=tuple(inverse))


@vjp.rule(ops.broadcast_to)
def vjp_broadcast_to(ct, _out, _x, *, shape):
    return ops.sum_like(ct, _x)


@vjp.rule(ops.slice)
def vjp_slice(ct, _out, _x, *, axes, starts, ends, steps):
    return ops.slice_vjp(ct, _x, axes=axes, starts=starts, ends=ends, steps=steps)


@vjp.rule(ops.select)
def vjp_select(ct, _out, _x, *, axis, index):
    return ops.select_vjp(ct, _x, axis=axis, index=index)


@vjp.rule(ops.squeeze)
def vjp_squeeze(ct, _out, _x, *, axes):
    return ops.unsqueeze(ct, axes=axes)


@vjp.rule(ops.squeeze_ones)
def vjp_squeeze_ones(ct, _out, _x, *, axes):
    return ops.unsqueeze(ct, axes=axes)


@vjp.rule(ops.unsqueeze)
def vjp_unsqueeze(ct, _out, _x, *, axes):
    return ops.squeeze(ct, axes=axes)


@vjp.rule(ops.diagonal)
def vjp_diagonal(ct, _out, _x, *, offset, axis1, axis2):
    return ops.diagonal_vjp(ct, _x, offset=offset, axis1=axis1, axis2=axis2)


@vjp.rule(ops.as_complex)
def vjp_as_complex(ct, _out, _x):
    return ops.as_real(ct)


@vjp.rule(ops.as_real)
def vjp_as_real(ct, _out, _x):
    return ops.as_complex(ct)


@vjp.rule(ops.reshape_like)
def vjp_reshape_like(ct, _out, _x, _like):
    return ops.reshape_like(ct, _x), None


@vjp.rule(ops.broadcast_like)
def vjp_broadcast_like(ct, _out, _x, _like):
    return ops.sum_like(ct, _x), None


@vjp.rule(ops.unreduce_like)
def vjp_unreduce_like(ct, _out, _x, _like, *, axes, keepdim):
    return ops.reduce_sum(ct, axes=axes, keepdim=keepdim), None


@vjp.rule(ops.sum_like)
def vjp_sum_like(ct, _out, _x, _like):
    return ops.broadcast_like(ct, _x), None


# Copies.


@vjp.rule(ops.copy)
def vjp_copy(ct, _out, _x):
    return ct


@vjp.rule(ops.copy_to)
def vjp_copy_to(ct, _out, _x, *, device, source):
    return ops.copy_to(ct, source, device)


@vjp.rule(ops.concat)
def vjp_concat(ct, _out, *_xs, axis):
    sizes = [x.shape[axis] if x.ndim > axis else None for x in _xs]  # None: an empty 1-D tensor that was skipped
    parts, start = [], 0
    for size in sizes:
        if size is None:
            parts.append(None)
            continue
        end = start + size
        parts.append(ops.slice(ct, axes=(axis,), starts=(start,), ends=(end,), steps=(1,)))
        start = end
    return tuple(parts)


@vjp.rule(ops.pad)
def vjp_pad(ct, _out, _x, *, paddings, value):
    # What was added is cut off, and what was cut off had no influence.
    return ops.pad(ct, paddings=tuple(-p for p in paddings), value=0.0)


@vjp.rule(ops.flip)
def vjp_flip(ct, _out, _x, *, axes):
    return ops.flip(ct, axes=axes)


@vjp.rule(ops.roll)
def vjp_roll(ct, _out, _x, *, shifts, axes):
    return ops.roll(ct, shifts=tuple(-shift for shift in shifts), axes=axes)


@vjp.rule(ops.repeat_interleave)
def vjp_repeat_interleave(ct, _out, _x, *, repeats, axis):
    if repeats == 0:
        return ops.full_like(_x, value=0, dtype=ct.dtype)
    shape = list(ct.shape)
    # At most one size may be unknown, so the axis that is repeated leaves it to the others.
    shape[axis : axis + 1] = [_x.shape[axis], repeats]
    return ops.reduce_sum(ops.reshape(ct, shape=tuple(shape)), axes=(axis + 1,), keepdim=False)


@vjp.rule(ops.tril)
def vjp_tril(ct, _out, _x, *, diagonal):
    return ops.tril(ct, diagonal=diagonal)


@vjp.rule(ops.triu)
def vjp_triu(ct, _out, _x, *, diagonal):
    return ops.triu(ct, diagonal=diagonal)


# Adjoints of views: their adjoints are the views.


@vjp.rule(ops.slice_vjp)
def vjp_slice_vjp(ct, _out, _ct, _like, *, axes, starts, ends, steps):
    return ops.slice(ct, axes=axes, starts=starts, ends=ends, steps=steps), None


@vjp.rule(ops.select_vjp)
def vjp_select_vjp(ct, _out, _ct, _like, *, axis, index):
    return ops.select(ct, axis=axis, index=index), None


@vjp.rule(ops.diagonal_vjp)
def vjp_diagonal_vjp(ct, _out, _ct, _like, *, offset, axis1, axis2):
    return ops.diagonal(ct, offset=offset, axis1=axis1, axis2=axis2), None


not_differentiable(ops.shape_of, "a shape does not depend on the values")


@vjp.rule(ops.slice_put)
def vjp_slice_put(ct, _out, _x, _value, *, axes, starts, ends, steps):
    place = {"axes": axes, "starts": starts, "ends": ends, "steps": steps}
    of_value = ops.slice(ct, **place)
    return ops.slice_put(ct, ops.full_like(of_value, value=0, dtype=ct.dtype), **place), of_value
