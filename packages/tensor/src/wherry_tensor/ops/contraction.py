"""Matrix products."""
from wherry_tensor import ops
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    broadcast_shapes,
    complexes,
    element_count,
    floats,
    integers,
    merge_size,
    require_dtype,
    require_one_dtype,
    same_size,
    show,
)

# Ranks >= 1 as in NumPy's matmul; the flags swap the last two axes of a matrix (ignored for rank 1).
matmul = op("matmul", "x, y", transpose_x=bool, transpose_y=bool)
linear = op("linear", "x, weight, bias?")  # x [..., in] @ weight [in, out] + bias [out]
# Summed over every axis but the last: x [..., m], y [..., n] to [m, n]. What a weight that serves a
# whole batch gets back.
outer_sum = op("outer_sum", "x, y")


# Shape rules.

_NUMBERS = integers + complexes + floats


@infer.rule(matmul)
def infer_matmul(x, y, *, transpose_x, transpose_y):
    dtype = require_one_dtype("matmul", x=x.dtype, y=y.dtype)
    require_dtype("matmul", "x", dtype, _NUMBERS)
    for name, meta in ("x", x), ("y", y):
        if not meta.shape:
            raise ValueError(
                f"matmul: `{name}` is 0-d, which has no axis to sum over. Got x of shape {show(x.shape)} and y of "
                f"shape {show(y.shape)}, expected ranks of at least 1. Multiply by a number with `*`."
            )
    # A vector is a row on the left and a column on the right; the axis added for that is removed from the result.
    left = (1, *x.shape) if len(x.shape) == 1 else _swapped(x.shape, transpose_x)
    right = (*y.shape, 1) if len(y.shape) == 1 else _swapped(y.shape, transpose_y)
    if not same_size(left[-1], right[-2]):
        raise ValueError(
            f"matmul: the axes that are summed differ. Got x of shape {show(x.shape)}"
            f"{_transposed(x, transpose_x)} and y of shape {show(y.shape)}{_transposed(y, transpose_y)}, expected the "
            f"last axis of x ({left[-1]}) to equal the {'only' if len(y.shape) == 1 else 'second to last'} axis of y "
            f"({right[-2]}). Transpose one of them, or check which sizes were meant."
        )
    batch = broadcast_shapes("matmul", left[:-2], right[:-2])
    rows = () if len(x.shape) == 1 else left[-2:-1]
    columns = () if len(y.shape) == 1 else right[-1:]
    return Meta((*batch, *rows, *columns), dtype)


@infer.rule(linear)
def infer_linear(x, weight, bias):
    dtype = require_one_dtype("linear", x=x.dtype, weight=weight.dtype, bias=None if bias is None else bias.dtype)
    require_dtype("linear", "x", dtype, _NUMBERS)
    if len(weight.shape) != 2:
        raise ValueError(
            f"linear: `weight` is not a matrix. Got shape {show(weight.shape)}, expected [in, out]. "
            f"Use matmul for a batch of weights."
        )
    if not x.shape or not same_size(x.shape[-1], weight.shape[0]):
        raise ValueError(
            f"linear: `x` does not fit `weight`: in_features={weight.shape[0]}, got {x.shape[-1] if x.shape else 'no axis'}. "
            f"Got x of shape {show(x.shape)} and weight of shape {show(weight.shape)}, which is [in, out], expected the last "
            f"axis of x to be {weight.shape[0]}. Reshape x, or make the layer with as many features as x has."
        )
    if bias is not None and not (len(bias.shape) == 1 and same_size(bias.shape[0], weight.shape[1])):
        raise ValueError(
            f"linear: `bias` does not fit `weight`. Got bias of shape {show(bias.shape)} and weight of shape "
            f"{show(weight.shape)}, expected bias of shape [{weight.shape[1]}]. Give one value for each output."
        )
    return Meta((*x.shape[:-1], weight.shape[1]), dtype)


@infer.rule(outer_sum)
def infer_outer_sum(x, y):
    dtype = require_one_dtype("outer_sum", x=x.dtype, y=y.dtype)
    require_dtype("outer_sum", "x", dtype, _NUMBERS)
    fits = len(x.shape) == len(y.shape) and len(x.shape) > 0
    if not fits or not all(map(same_size, x.shape[:-1], y.shape[:-1])):
        raise ValueError(
            f"outer_sum: the axes that are summed differ. Got x of shape {show(x.shape)} and y of shape "
            f"{show(y.shape)}, expected shapes that are equal but for the last axis. "
            f"Broadcast one of them first."
        )
    return Meta((x.shape[-1], y.shape[-1]), dtype)


def _swapped(shape, transposed):
    return (*shape[:-2], shape[-1], shape[-2]) if transposed else shape


def _transposed(meta, flag):
    return " (transposed)" if flag and len(meta.shape) > 1 else ""


# Decompositions.


@decompose.rule(linear)
def decompose_linear(x, weight, bias):
    product = matmul(x, weight, transpose_x=False, transpose_y=False)
    return product if bias is None else product + bias


@decompose.rule(outer_sum)
def decompose_outer_sum(x, y):
    if UNKNOWN in (*x.shape, *y.shape):
        if x.ndim == 1:
            x, y = ops.unsqueeze(x, axes=(0,)), ops.unsqueeze(y, axes=(0,))
        products = matmul(x, y, transpose_x=True, transpose_y=False)
        return ops.reduce_sum(products, axes=tuple(range(x.ndim - 2)), keepdim=False)
    rows = element_count(tuple(map(merge_size, x.shape[:-1], y.shape[:-1])))
    return matmul(
        ops.reshape(x, shape=(rows, x.shape[-1])), ops.reshape(y, shape=(rows, y.shape[-1])), transpose_x=True,
        transpose_y=False,
    )


decompose.exempt(matmul, "the product that the rest is built of")
