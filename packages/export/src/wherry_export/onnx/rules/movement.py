"""Data movement: reshaping, slicing, joining."""
from __future__ import annotations

import numpy as np

from wherry_export.onnx.column import cannot, to_onnx
from wherry_tensor import ops
from wherry_tensor._core import int32


@to_onnx.rule(ops.reshape)
def onnx_reshape(g, x, *, shape):
    if 0 in [n for n in shape if type(n) is int]:
        if g.opset < 14:
            return _empty(g, x, shape)
        return g.op("Reshape", x, g.shape(shape), allowzero=1)
    return g.op("Reshape", x, g.shape(shape))


def _empty(g, x, shape):
    """Nothing, in a shape with a 0, which Reshape took as "keep" before opset 14."""
    return g.cast(g.op("ConstantOfShape", g.shape(shape)), x.dtype)


@to_onnx.rule(ops.transpose)
def onnx_transpose(g, x, *, perm):
    return g.op("Transpose", x, perm=list(perm)) if perm else g.op("Identity", x)


@to_onnx.rule(ops.broadcast_to)
def onnx_broadcast_to(g, x, *, shape):
    return g.op("Expand", x, g.shape([1 if type(n) is int and n < 0 else n for n in shape]))  # 1 keeps what x has


@to_onnx.rule(ops.slice)
def onnx_slice(g, x, *, axes, starts, ends, steps):
    if not axes:
        return g.op("Identity", x)
    if len(set(axes)) < len(axes):  # one after the other; ONNX takes each axis once
        for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
            x = g.op("Slice", x, g.size(start), g.size(end), g.ints([axis]), g.ints([step]))
        return x
    return g.op("Slice", x, g.shape(starts), g.shape(ends), g.ints(axes), g.ints(steps))


@to_onnx.rule(ops.select)
def onnx_select(g, x, *, axis, index):
    return g.squeeze(g.op("Gather", x, g.size(index), axis=axis), [axis])


@to_onnx.rule(ops.squeeze)
def onnx_squeeze(g, x, *, axes):
    return g.squeeze(x, axes) if axes else g.op("Identity", x)


@to_onnx.rule(ops.squeeze_ones)
def onnx_squeeze_ones(g, x, *, axes):
    return onnx_squeeze(g, x, axes=axes)


@to_onnx.rule(ops.unsqueeze)
def onnx_unsqueeze(g, x, *, axes):
    return g.unsqueeze(x, axes) if axes else g.op("Identity", x)


@to_onnx.rule(ops.diagonal)
def onnx_diagonal(g, x, *, offset, axis1, axis2):
    rows, columns = x.shape[axis1], x.shape[axis2]
    if rows < 0 or columns < 0:
        raise NotImplementedError(
            f"onnx: a diagonal of a matrix of unknown size. Got shape {list(x.shape)}, expected known sizes along axes {axis1} and {axis2}. "
            f"Fix them in the input_spec."
        )
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    at = np.arange(length, dtype=np.int64)
    places = (at - min(offset, 0)) * columns + at + max(offset, 0)
    rest = [a for a in range(x.rank) if a not in (axis1, axis2)]
    flat = g.transpose(x, [*rest, axis1, axis2])
    if rest:
        lead = g.op("Gather", g.shape_of(x), g.ints(rest), axis=0)
        shape = g.op("Concat", lead, g.ints([rows * columns]), axis=0)
    else:
        shape = g.ints([rows * columns])
    return g.op("Gather", g.op("Reshape", flat, shape), g.constant(places), axis=len(rest))


@to_onnx.rule(ops.reshape_like)
def onnx_reshape_like(g, x, like):
    return g.op("Reshape", x, g.shape_of(like))


@to_onnx.rule(ops.broadcast_like)
def onnx_broadcast_like(g, x, like):
    return g.op("Expand", x, g.shape_of(like))


@to_onnx.rule(ops.unreduce_like)
def onnx_unreduce_like(g, x, like, *, axes, keepdim):
    return g.op("Expand", x if keepdim else g.unsqueeze(x, list(axes)), g.shape_of(like))


@to_onnx.rule(ops.copy)
def onnx_copy(g, x):
    return g.op("Identity", x)


@to_onnx.rule(ops.copy_to)
def onnx_copy_to(g, x, *, device, source):
    return g.op("Identity", x)  # the runtime decides on devices


@to_onnx.rule(ops.concat)
def onnx_concat(g, *xs, axis):
    rank = max(x.rank for x in xs)
    joined = [x for x in xs if x.rank == rank and not (x.shape == (0,) and len(xs) > 1 and rank == 1)]
    return g.op("Concat", *(joined or xs[:1]), axis=axis)


@to_onnx.rule(ops.pad)
def onnx_pad(g, x, *, paddings, value):
    return g.op("Pad", x, g.shape([*paddings[0::2], *paddings[1::2]]), g.number(value, x))


@to_onnx.rule(ops.flip)
def onnx_flip(g, x, *, axes):
    if not axes:
        return g.op("Identity", x)
    n = len(axes)
    return g.op("Slice", x, g.ints([-1] * n), g.ints([-(2**31)] * n), g.ints(axes), g.ints([-1] * n))


@to_onnx.rule(ops.shape_of)
def onnx_shape_of(g, x):
    return g.cast(g.shape_of(x), int32)


for _op in (ops.as_complex, ops.as_real):
    cannot(_op, "ONNX's operators do not take complex tensors")
