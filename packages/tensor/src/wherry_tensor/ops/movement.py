"""Reshaping, slicing, joining, padding and repeating: ops that move values and never compute with them.

Those under *views* have no kernels: the core answers them with a new shape, strides and offset on
the same memory wherever that is possible.
"""
from builtins import slice as _python_slice  # the op `slice` takes the name below

from wherry_tensor import ops
from wherry_tensor._core import bool_, float32, float64, int32, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import INT_MAX, count, positions
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    bools,
    complex_dtype,
    complexes,
    element_count,
    floats,
    merge_shapes,
    merge_size,
    real_dtype,
    reduced_shape,
    require_axis,
    require_broadcast_to,
    require_dtype,
    require_known,
    require_one_dtype,
    same_shape,
    same_size,
    show,
)
from wherry_tensor.sizes import has_sizes, is_unknown

# Views. Sizes and axes are resolved: non-negative axes; a size of -1 means unknown (capture only).
reshape = op("reshape", "x", shape=tuple, sizes="shape", view=True)  # copies when strides do not allow a view
transpose = op("transpose", "x", perm=tuple, view=True)
broadcast_to = op("broadcast_to", "x", shape=tuple, sizes="shape", view=True)
# Python bounds; steps != 0.
slice = op("slice", "x", axes=tuple, starts=tuple, ends=tuple, steps=tuple, sizes="starts, ends", view=True)
select = op("select", "x", axis=int, index=int, sizes="index", view=True)  # drops the axis
squeeze = op("squeeze", "x", axes=tuple, view=True)
unsqueeze = op("unsqueeze", "x", axes=tuple, view=True)  # axes of the result
diagonal = op("diagonal", "x", offset=int, axis1=int, axis2=int, view=True)  # the diagonal becomes the last axis
as_complex = op("as_complex", "x", view=True)
as_real = op("as_real", "x", view=True)

# Views whose target shape is that of another tensor, of which only the shape is used. VJP rules
# are written with these so that they hold for shapes not known at capture.
reshape_like = op("reshape_like", "x, like~", view=True)
broadcast_like = op("broadcast_like", "x, like~", view=True)
unreduce_like = op("unreduce_like", "x, like~", axes=tuple, keepdim=bool, view=True)  # undo a reduction by broadcasting
sum_like = op("sum_like", "x, like~")  # undo broadcasting by summing

# Of a program alone: `squeeze` without axes of a tensor of which not all sizes are known. `axes` are known to be 1; the others must not be.
squeeze_ones = op("squeeze_ones", "x", axes=tuple)

# Copies.
copy = op("copy", "x")  # contiguous
copy_to = op("copy_to", "x", device=str, source=str)  # to another device; `source` is where x is, for the way back
concat = op("concat", "*xs", axis=int)  # an empty 1-D x, shape [0], is skipped beside others, as in Paddle
pad = op("pad", "x", paddings=tuple, value=float, sizes="paddings")  # (before, after) for every axis, flattened; negative ones cut
flip = op("flip", "x", axes=tuple)
roll = op("roll", "x", shifts=tuple, axes=tuple, sizes="shifts")
repeat_interleave = op("repeat_interleave", "x", repeats=int, axis=int, sizes="repeats")
tril = op("tril", "x", diagonal=int)
triu = op("triu", "x", diagonal=int)
# x with `value` (of the slice's shape) written over the slice; in place into x, it touches nothing else.
slice_put = op("slice_put", "x, value", axes=tuple, starts=tuple, ends=tuple, steps=tuple, sizes="starts, ends")

# Adjoints of views: zeros of the shape of `like` with `ct` written (or added) at the viewed place.
slice_vjp = op("slice_vjp", "ct, like~", axes=tuple, starts=tuple, ends=tuple, steps=tuple, sizes="starts, ends")
select_vjp = op("select_vjp", "ct, like~", axis=int, index=int, sizes="index")
diagonal_vjp = op("diagonal_vjp", "ct, like~", offset=int, axis1=int, axis2=int)

# A shape as data: int32 [rank] (Paddle's paddle.shape).
shape_of = op("shape_of", "x~")


# Shape rules.


@infer.rule(reshape)
def infer_reshape(x, *, shape):
    inferred = sum(n == UNKNOWN and not is_unknown(n) for n in shape)
    if inferred > 1:
        raise ValueError(
            f"reshape: only one size can follow from the others. Got shape={list(shape)} with {inferred} sizes of -1 for x "
            f"of shape {show(x.shape)}, expected one. While a program is captured, take sizes that are not known yet from "
            f"the tensor, as in x.shape[0], or write 0 in the public function to keep them."
        )
    shape = _require_sizes("reshape", shape)
    have, wanted = element_count(x.shape), element_count(shape)
    if have != UNKNOWN and shape.count(UNKNOWN) == 1:
        # One unknown size follows from the others.
        rest = element_count(tuple(n for n in shape if n != UNKNOWN))
        if rest > 0 and have % rest == 0:
            shape = tuple(have // rest if n == UNKNOWN else n for n in shape)
            wanted = have
    if not same_size(have, wanted):
        raise ValueError(
            f"reshape: x does not fit into the new shape. "
            f"Got x of shape {show(x.shape)} ({have} elements) and shape {show(shape)} ({wanted} elements), "
            f"expected equally many. Change one size of the shape, or leave it out as -1 in the public function."
        )
    return Meta(shape, x.dtype)


@infer.rule(transpose)
def infer_transpose(x, *, perm):
    if sorted(perm) != list(range(x.rank)):
        raise ValueError(
            f"transpose: perm does not name every axis of x once. "
            f"Got perm={list(perm)} for x of shape {show(x.shape)}, expected the numbers 0 to {x.rank - 1} in some order. "
            f"List each axis exactly once."
        )
    return Meta(tuple(x.shape[axis] for axis in perm), x.dtype)


@infer.rule(broadcast_to)
def infer_broadcast_to(x, *, shape):
    shape = _require_sizes("broadcast_to", shape)
    require_broadcast_to("broadcast_to", "x", x.shape, shape)
    return Meta(_fill_unknown(shape, x.shape), x.dtype)


@infer.rule(slice)
def infer_slice(x, *, axes, starts, ends, steps):
    _require_slices("slice", x.shape, axes, starts, ends, steps)
    shape = list(x.shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        unknown = is_unknown(start) or is_unknown(end)
        shape[axis] = UNKNOWN if unknown else _sliced_size(shape[axis], start, end, step)
    return Meta(tuple(shape), x.dtype)


@infer.rule(select)
def infer_select(x, *, axis, index):
    _require_index("select", x.shape, axis, index)
    return Meta(reduced_shape(x.shape, (axis,), False), x.dtype)


@infer.rule(squeeze)
def infer_squeeze(x, *, axes):
    require_axis("squeeze", axes, x.shape, "axes")
    for axis in axes:
        if not same_size(x.shape[axis], 1):
            raise ValueError(
                f"squeeze: axis {axis} has more than one element. "
                f"Got size {x.shape[axis]} in shape {show(x.shape)}, expected 1. "
                f"Remove axes of size 1 only, or select an index of this one."
            )
    return Meta(reduced_shape(x.shape, axes, False), x.dtype)


@infer.rule(squeeze_ones)
def infer_squeeze_ones(x, *, axes):
    kept = [axis for axis in range(x.rank) if axis not in axes and x.shape[axis] == 1]
    if kept:
        raise ValueError(
            f"squeeze: the rank of the result was captured for sizes that are not 1. Got shape {show(x.shape)}, expected another size along "
            f"axes {kept}, whose sizes were open. Say which axes go: squeeze(x, axis), or capture this size by itself."
        )
    return infer_squeeze(x, axes=axes)


@infer.rule(unsqueeze)
def infer_unsqueeze(x, *, axes):
    rank = x.rank + len(axes)
    if len(set(axes)) != len(axes) or any(not 0 <= axis < rank for axis in axes):
        raise ValueError(
            f"unsqueeze: axes must be different places in the result. "
            f"Got axes={list(axes)} for x of shape {show(x.shape)}, expected each in [0, {rank}) and none twice. "
            f"The axes count in the result, which has rank {rank}."
        )
    sizes = iter(x.shape)
    return Meta(tuple(1 if axis in axes else next(sizes) for axis in range(rank)), x.dtype)


@infer.rule(diagonal)
def infer_diagonal(x, *, offset, axis1, axis2):
    return Meta(_diagonal_shape("diagonal", x.shape, offset, axis1, axis2), x.dtype)


@infer.rule(as_complex)
def infer_as_complex(x):
    require_dtype("as_complex", "x", x.dtype, (float32, float64))
    if not x.shape or not same_size(x.shape[-1], 2):
        raise ValueError(
            f"as_complex: the last axis of x must hold real and imaginary part. "
            f"Got shape {show(x.shape)}, expected a last axis of size 2. "
            f"Stack the two parts along a new last axis."
        )
    return Meta(x.shape[:-1], complex_dtype[x.dtype])


@infer.rule(as_real)
def infer_as_real(x):
    require_dtype("as_real", "x", x.dtype, complexes)
    return Meta((*x.shape, 2), real_dtype[x.dtype])


@infer.rule(reshape_like)
def infer_reshape_like(x, like):
    if not same_size(element_count(x.shape), element_count(like.shape)):
        raise ValueError(
            f"reshape_like: x does not fit into the shape of `like`. "
            f"Got shapes {show(x.shape)} and {show(like.shape)}, expected equally many elements. "
            f"Broadcast or slice x first."
        )
    return Meta(like.shape, x.dtype)


@infer.rule(broadcast_like)
def infer_broadcast_like(x, like):
    require_broadcast_to("broadcast_like", "x", x.shape, like.shape)
    return Meta(_fill_unknown(like.shape, x.shape), x.dtype)


@infer.rule(unreduce_like)
def infer_unreduce_like(x, like, *, axes, keepdim):
    require_axis("unreduce_like", axes, like.shape, "axes")
    reduced = reduced_shape(like.shape, axes, keepdim)
    if not same_shape(x.shape, reduced):
        raise ValueError(
            f"unreduce_like: x is not a reduction of `like`. "
            f"Got x of shape {show(x.shape)}, expected {show(reduced)}: shape {show(like.shape)} of `like` reduced over "
            f"axes {list(axes)}, keepdim={keepdim}. Pass the axes and keepdim of the reduction."
        )
    sizes = iter(x.shape)
    shape = []
    for axis, size in enumerate(like.shape):
        if axis not in axes:
            size = merge_size(size, next(sizes))
        elif keepdim:
            next(sizes)
        shape.append(size)
    return Meta(tuple(shape), x.dtype)


@infer.rule(sum_like)
def infer_sum_like(x, like):
    require_broadcast_to("sum_like", "like", like.shape, x.shape)
    if x.dtype in bools:
        require_dtype("sum_like", "x", x.dtype, (*floats, int32, int64))
    return Meta(like.shape, x.dtype)


@infer.rule(copy)
def infer_copy(x):
    return Meta(x.shape, x.dtype)


@infer.rule(copy_to)
def infer_copy_to(x, *, device, source):
    return Meta(x.shape, x.dtype)


@infer.rule(concat)
def infer_concat(*xs, axis):
    if not xs:
        raise ValueError("concat: there is nothing to join. Got no tensors, expected at least one. Pass a list of tensors.")
    require_one_dtype("concat", **{f"xs[{i}]": x.dtype for i, x in enumerate(xs)})
    rank = max(x.rank for x in xs)
    # A size that is not known yet can only be that of a skipped one where the others have more axes.
    skipped = [x.shape == (0,) or (x.shape == (UNKNOWN,) and rank > 1) for x in xs]
    parts = [x for x, skip in zip(xs, skipped, strict=True) if not skip] or [xs[0]]
    first = parts[0]
    require_axis("concat", axis, first.shape)
    shape, total = first.shape, 0
    for x in parts:
        if x.rank != first.rank or not all(
            same_size(a, b) for at, (a, b) in enumerate(zip(x.shape, shape, strict=True)) if at != axis
        ):
            raise ValueError(
                f"concat: all tensors must have one shape except along axis {axis}. "
                f"Got {', '.join(show(p.shape) for p in xs)}, expected each to differ from {show(first.shape)} in axis "
                f"{axis} only. Reshape or slice those that do not fit."
            )
        shape = merge_shapes(shape, x.shape)
        total = UNKNOWN if UNKNOWN in (total, x.shape[axis]) else total + x.shape[axis]
    return Meta((*shape[:axis], total, *shape[axis + 1 :]), first.dtype)


@infer.rule(pad)
def infer_pad(x, *, paddings, value):
    if len(paddings) != 2 * x.rank:
        raise ValueError(
            f"pad: paddings must give two numbers for every axis of x. "
            f"Got {len(paddings)} numbers for x of shape {show(x.shape)}, expected {2 * x.rank}: "
            f"before and after axis 0, before and after axis 1, ... Use 0 for axes that stay."
        )
    shape = []
    for axis, n in enumerate(x.shape):
        around = tuple(paddings[2 * axis : 2 * axis + 2])
        unknown = n == UNKNOWN or has_sizes(around)
        shape.append(UNKNOWN if unknown else n + sum(around))
        cut = 0 if unknown else sum(-p for p in around if p < 0)
        if cut > n and not unknown:
            raise ValueError(
                f"pad: negative paddings cut away more than axis {axis} has. "
                f"Got paddings {list(paddings[2 * axis : 2 * axis + 2])} for size {n}, expected at most {n} to cut. "
                f"Cut less."
            )
    return Meta(tuple(shape), x.dtype)


@infer.rule(flip)
def infer_flip(x, *, axes):
    _require_different_axes("flip", axes, x.shape)
    return Meta(x.shape, x.dtype)


@infer.rule(roll)
def infer_roll(x, *, shifts, axes):
    require_axis("roll", axes, x.shape, "axes")
    if len(shifts) != len(axes):
        raise ValueError(
            f"roll: each axis needs its shift. "
            f"Got shifts={list(shifts)} and axes={list(axes)}, expected as many of one as of the other. "
            f"Repeat a shift that several axes share."
        )
    return Meta(x.shape, x.dtype)


@infer.rule(repeat_interleave)
def infer_repeat_interleave(x, *, repeats, axis):
    require_axis("repeat_interleave", axis, x.shape)
    if not is_unknown(repeats) and repeats < 0:
        raise ValueError(
            f"repeat_interleave: a value cannot be repeated {repeats} times. "
            f"Got repeats={repeats}, expected 0 or more. Use 0 to drop every value."
        )
    size = UNKNOWN if UNKNOWN in (x.shape[axis], repeats) else x.shape[axis] * repeats
    return Meta((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)


@infer.rule(tril)
def infer_tril(x, *, diagonal):
    return _triangle("tril", x)


@infer.rule(triu)
def infer_triu(x, *, diagonal):
    return _triangle("triu", x)


@infer.rule(slice_put)
def infer_slice_put(x, value, *, axes, starts, ends, steps):
    require_one_dtype("slice_put", x=x.dtype, value=value.dtype)
    part = infer_slice(x, axes=axes, starts=starts, ends=ends, steps=steps).shape
    if not same_shape(value.shape, part):
        raise ValueError(
            f"slice_put: the value does not have the shape of the slice. "
            f"Got value of shape {show(value.shape)}, expected {show(part)}, the slice of x of shape {show(x.shape)}. "
            f"Broadcast or reshape the value."
        )
    return Meta(x.shape, x.dtype)


@infer.rule(slice_vjp)
def infer_slice_vjp(ct, like, *, axes, starts, ends, steps):
    return _adjoint("slice_vjp", ct, like, infer_slice(like, axes=axes, starts=starts, ends=ends, steps=steps).shape)


@infer.rule(select_vjp)
def infer_select_vjp(ct, like, *, axis, index):
    _require_index("select_vjp", like.shape, axis, index)
    return _adjoint("select_vjp", ct, like, reduced_shape(like.shape, (axis,), False))


@infer.rule(diagonal_vjp)
def infer_diagonal_vjp(ct, like, *, offset, axis1, axis2):
    return _adjoint("diagonal_vjp", ct, like, _diagonal_shape("diagonal_vjp", like.shape, offset, axis1, axis2))


@infer.rule(shape_of)
def infer_shape_of(x):
    return Meta((x.rank,), int32)


# Decompositions. Where sizes are not known, positions are data: those of an axis come from `positions`, and a
# slice of them says which places the slice of x takes.


@decompose.rule(sum_like)
def decompose_sum_like(x, like):
    added = x.ndim - like.ndim
    axes = list(range(added))
    for axis in range(added, x.ndim):
        size = like.shape[axis - added]
        if size == UNKNOWN and x.shape[axis] != 1:
            # Either as long as that of x, or 1. Every place of x goes to the place of the same number, or to 0.
            places = ops.minimum(positions(x, axis), count(like, axis - added) - 1)
            total = ops.full(shape=(*x.shape[:axis], size, *x.shape[axis + 1 :]), value=0, dtype=x.dtype)
            x = ops.index_put(total, x, ops.reshape(places, shape=(x.shape[axis],)), axes=(axis,), accumulate=True)
        elif size == 1 and x.shape[axis] != 1:
            axes.append(axis)
    total = ops.reduce_sum(x, axes=tuple(axes), keepdim=False)
    return ops.cast(ops.reshape_like(total, like), dtype=x.dtype)  # integers sum in int64


@decompose.rule(squeeze_ones)
def decompose_squeeze_ones(x, *, axes):
    return ops.copy(ops.squeeze(x, axes=axes))


@decompose.rule(flip)
def decompose_flip(x, *, axes):
    n = len(axes)
    # An end far before index 0: Python's bounds have no other name for "up to the first".
    return ops.copy(ops.slice(x, axes=axes, starts=(-1,) * n, ends=(-INT_MAX,) * n, steps=(-1,) * n))


@decompose.rule(roll)
def decompose_roll(x, *, shifts, axes):
    for shift, axis in zip(shifts, axes, strict=True):
        size = x.shape[axis]
        if size == UNKNOWN:
            size = count(x, axis)
            # The remainder of the divisor 0, where there is nothing to roll, is an error.
            size = ops.maximum(size, ops.full_like(size, value=1, dtype=int64))
            places = ops.remainder(ops.reshape(positions(x, axis), shape=(UNKNOWN,)) - shift, size)
            x = ops.index_get(x, places, axes=(axis,))
            continue
        cut = -shift % size if size else 0
        back = ops.slice(x, axes=(axis,), starts=(cut,), ends=(size,), steps=(1,))
        front = ops.slice(x, axes=(axis,), starts=(0,), ends=(cut,), steps=(1,))
        x = ops.concat(back, front, axis=axis)
    return ops.copy(x)


@decompose.rule(repeat_interleave)
def decompose_repeat_interleave(x, *, repeats, axis):
    if repeats == 0:
        return ops.copy(ops.slice(x, axes=(axis,), starts=(0,), ends=(0,), steps=(1,)))
    places = ops.reshape(positions(x, axis), shape=(x.shape[axis], 1))
    repeated = ops.reshape(ops.broadcast_to(places, shape=(UNKNOWN, repeats)), shape=(UNKNOWN,))
    return ops.index_get(x, repeated, axes=(axis,))


@decompose.rule(pad)
def decompose_pad(x, *, paddings, value):
    for axis in range(x.ndim):
        before, after = paddings[2 * axis], paddings[2 * axis + 1]
        cut, end = (0 if is_unknown(n) else min(n, 0) for n in (before, after))
        if cut or end:
            x = ops.slice(x, axes=(axis,), starts=(-cut,), ends=(end or INT_MAX,), steps=(1,))
        parts = [_filled(x, axis, before, value), x, _filled(x, axis, after, value)]
        parts = [part for part in parts if part is not None]
        x = ops.concat(*parts, axis=axis) if len(parts) > 1 else x
    return ops.copy(x)


def _filled(x, axis, n, value):
    """A block of the shape of x but for `n` places along `axis`."""
    if not is_unknown(n) and n <= 0:
        return None
    one = ops.full_like(ops.reduce_sum(x, axes=(axis,), keepdim=True), value=value, dtype=x.dtype)
    shape = tuple(n if at == axis else UNKNOWN for at in range(x.ndim))
    return ops.broadcast_to(one, shape=shape)


@decompose.rule(slice_vjp)
def decompose_slice_vjp(ct, like, *, axes, starts, ends, steps):
    # Each axis of the result at once: the places of the slice are the slice of the places.
    places = []
    for axis in range(ct.ndim):
        along = ops.reshape(positions(like, axis), shape=(like.shape[axis],))
        for which, start, end, step in zip(axes, starts, ends, steps, strict=True):
            if which == axis:
                along = ops.slice(along, axes=(0,), starts=(start,), ends=(end,), steps=(step,))
        places.append(ops.unsqueeze(along, axes=tuple(range(1, ct.ndim - axis))))
    zeros = ops.full_like(like, value=0, dtype=ct.dtype)
    if not places:
        return ops.copy(ct)
    return ops.index_put(zeros, ct, *places, axes=tuple(range(ct.ndim)), accumulate=False)


@decompose.rule(diagonal_vjp)
def decompose_diagonal_vjp(ct, like, *, offset, axis1, axis2):
    # The places of the diagonal are the diagonal of the places.
    rows, columns = _plane_positions(like, axis1, axis2)
    places = (ops.copy(ops.diagonal(each, offset=offset, axis1=0, axis2=1)) for each in (rows, columns))
    last = [axis for axis in range(like.ndim) if axis not in (axis1, axis2)] + [axis1, axis2]
    zeros = ops.full(shape=tuple(like.shape[axis] for axis in last), value=0, dtype=ct.dtype)
    out = ops.index_put(zeros, ct, *places, axes=(like.ndim - 2, like.ndim - 1), accumulate=False)
    return ops.copy(ops.transpose(out, perm=tuple(last.index(axis) for axis in range(like.ndim))))


def _plane_positions(x, axis1, axis2):
    """Of each place in the plane of two axes: its number along the first, and along the second."""
    rows = ops.reshape(positions(x, axis1), shape=(x.shape[axis1], 1))
    columns = ops.reshape(positions(x, axis2), shape=(1, x.shape[axis2]))
    both = rows + columns
    return ops.broadcast_like(rows, both), ops.broadcast_like(columns, both)


@decompose.rule(shape_of)
def decompose_shape_of(x):
    require_known("shape_of", "x", x.shape)
    if not x.ndim:
        return ops.full(shape=(0,), value=0, dtype=int32)
    return ops.concat(*(ops.full(shape=(1,), value=n, dtype=int32) for n in x.shape), axis=0)


@decompose.rule(tril)
def decompose_tril(x, *, diagonal):
    return _where(ops.less_equal(_diagonal_number(x), _scalar(diagonal, int64)), x)


@decompose.rule(triu)
def decompose_triu(x, *, diagonal):
    return _where(ops.greater_equal(_diagonal_number(x), _scalar(diagonal, int64)), x)


@decompose.rule(slice_put)
def decompose_slice_put(x, value, *, axes, starts, ends, steps):
    place = {"axes": axes, "starts": starts, "ends": ends, "steps": steps}
    written = ops.slice_vjp(ops.full_like(value, value=1, dtype=bool_), x, **place)
    return ops.where(written, ops.slice_vjp(value, x, **place), x)


@decompose.rule(select_vjp)
def decompose_select_vjp(ct, like, *, axis, index):
    if is_unknown(index):
        index = index % like.shape[axis]  # it may count from the end, where the end of a slice of one element is another number
        end = index + 1
    else:
        end = index + 1 if index != -1 else INT_MAX
    return ops.slice_vjp(ops.unsqueeze(ct, axes=(axis,)), like, axes=(axis,), starts=(index,), ends=(end,), steps=(1,))


# Helpers.


def _diagonal_number(x):
    """Of each element of a matrix: column minus row, the number of its diagonal."""
    return ops.subtract(positions(x, x.ndim - 1), positions(x, x.ndim - 2))


def _scalar(value, dtype):
    return ops.full(shape=(), value=value, dtype=dtype)


def _where(condition, x):
    """x, or 0 where the condition does not hold."""
    return ops.where(condition, x, _scalar(0, x.dtype))


def _require_sizes(op_name, shape):
    if any(not is_unknown(n) and n < UNKNOWN for n in shape) or len(shape) > 12:
        raise ValueError(
            f"{op_name}: the shape is not one. "
            f"Got shape={list(shape)}, expected at most 12 sizes of 0 or more. "
            f"Only -1, for a size that is not known, may be negative."
        )
    return tuple(UNKNOWN if is_unknown(n) else n for n in shape)


def _fill_unknown(shape, source):
    """`shape`, its unknown sizes replaced by those of `source` that are known and not repeated."""
    added = len(shape) - len(source)
    return tuple(
        source[axis - added] if size == UNKNOWN and axis >= added and source[axis - added] > 1 else size
        for axis, size in enumerate(shape)
    )


def _require_different_axes(op_name, axes, shape):
    require_axis(op_name, axes, shape, "axes")
    if len(set(axes)) != len(axes):
        raise ValueError(
            f"{op_name}: an axis is named twice. "
            f"Got axes={list(axes)} for shape {show(shape)}, expected each at most once. Remove the repeat."
        )


def _require_slices(op_name, shape, axes, starts, ends, steps):
    require_axis(op_name, axes, shape, "axes")
    if not len(axes) == len(starts) == len(ends) == len(steps):
        raise ValueError(
            f"{op_name}: each axis needs a start, an end and a step. "
            f"Got {len(axes)} axes, {len(starts)} starts, {len(ends)} ends and {len(steps)} steps, expected as many of each. "
            f"Give steps of 1 where nothing is skipped."
        )
    if 0 in steps:
        raise ValueError(
            f"{op_name}: a step of 0 never ends. "
            f"Got steps={list(steps)}, expected none of 0. Use 1 to take every element."
        )


def _sliced_size(size, start, end, step):
    if size == UNKNOWN:
        # Known only where both ends are counted from the same side, and then only a bound.
        return UNKNOWN
    return len(range(*_python_slice(start, end, step).indices(size)))


def _require_index(op_name, shape, axis, index):
    require_axis(op_name, axis, shape)
    size = shape[axis]
    if size != UNKNOWN and not is_unknown(index) and not -size <= index < size:
        raise IndexError(
            f"{op_name}: index {index} is out of range for axis {axis} of shape {show(shape)}. "
            f"Got {index}, expected an index in [{-size}, {size}). "
            f"Indices count from 0; the last one is {size - 1}, or -1."
        )


def _diagonal_shape(op_name, shape, offset, axis1, axis2):
    require_axis(op_name, axis1, shape, "axis1")
    require_axis(op_name, axis2, shape, "axis2")
    if axis1 == axis2:
        raise ValueError(
            f"{op_name}: a diagonal runs along two axes. "
            f"Got axis1={axis1} and axis2={axis2} for shape {show(shape)}, expected different ones. Change one of them."
        )
    rows, columns = shape[axis1], shape[axis2]
    if UNKNOWN in (rows, columns):
        size = UNKNOWN
    else:
        size = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    return (*reduced_shape(shape, (axis1, axis2), False), size)


def _triangle(op_name, x):
    if x.rank < 2:
        raise ValueError(
            f"{op_name}: x is not a matrix. Got shape {show(x.shape)}, expected rank 2 or more. Unsqueeze x first."
        )
    return Meta(x.shape, x.dtype)


def _adjoint(op_name, ct, like, viewed):
    if not same_shape(ct.shape, viewed):
        raise ValueError(
            f"{op_name}: the cotangent does not fit the view. "
            f"Got ct of shape {show(ct.shape)}, expected {show(viewed)}, the view of shape {show(like.shape)}. "
            f"Pass the attributes of the view."
        )
    return Meta(like.shape, ct.dtype)


decompose.exempt(copy, "fresh memory for what views show")
decompose.exempt(concat, "fresh memory for several tensors")


decompose.exempt(copy_to, "the core moves the memory itself: no device has a kernel for it")
