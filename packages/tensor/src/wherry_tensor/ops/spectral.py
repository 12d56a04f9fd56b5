"""Discrete Fourier transforms, and the frames of short-time transforms.

`axes` are distinct and non-negative; of real transforms the last one is that of which one half is kept. `forward` is the
sign of the exponent, `exp(-2 pi i j k / n)`; `normalization` is what the sums are divided by: "none", "sqrt" for the root of
the number of elements that were summed, "n" for that number.
"""
from wherry_tensor import ops
from wherry_tensor._core import float32, float64, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    bools,
    complex_dtype,
    complexes,
    floats,
    integers,
    real_dtype,
    require_axis,
    require_dtype,
    show,
)
from wherry_tensor.sizes import is_unknown

fft_c2c = op("fft_c2c", "x", axes=tuple, normalization=str, forward=bool)
fft_r2c = op("fft_r2c", "x", axes=tuple, normalization=str, forward=bool)  # n to n // 2 + 1 along the last of axes
# The other half of the last of axes follows from conjugates; its first element (and the one in the middle) is real.
fft_c2r = op("fft_c2r", "x", axes=tuple, normalization=str, forward=bool, size=int, sizes="size")

# Frames of `length` elements, `hop` apart: x [..., n] to [..., length, count], or with `leading` x [n, ...] to
# [count, length, ...]. And their sum where they overlap.
frame = op("frame", "x", length=int, hop=int, leading=bool)
overlap_add = op("overlap_add", "x", hop=int, leading=bool)


# Shape rules.


def _require_transform(op_name, x, allowed, axes, normalization):
    require_dtype(op_name, "x", x.dtype, allowed)
    require_axis(op_name, axes, x.shape, "axes")
    if len(set(axes)) != len(axes):
        raise ValueError(f"{op_name}: an axis is named twice. Got axes={axes}, expected distinct ones. Leave one out.")
    if normalization not in ("none", "sqrt", "n"):
        raise ValueError(
            f"{op_name}: unknown normalization. Got {normalization!r}, expected 'none', 'sqrt' or 'n'. Pass one of them."
        )


def _require_last(op_name, axes):
    if not axes:
        raise ValueError(f"{op_name}: there is no axis to transform. Got axes=(), expected one or more. Name the last one.")


@infer.rule(fft_c2c)
def infer_fft_c2c(x, *, axes, normalization, forward):
    _require_transform("fft_c2c", x, complexes, axes, normalization)
    return x


@infer.rule(fft_r2c)
def infer_fft_r2c(x, *, axes, normalization, forward):
    _require_transform("fft_r2c", x, (float32, float64), axes, normalization)
    _require_last("fft_r2c", axes)
    shape = list(x.shape)
    n = shape[axes[-1]]
    if n == 0:
        raise ValueError(f"fft_r2c: an axis has no elements. Got shape {show(x.shape)}, expected sizes of 1 or more. Pad it.")
    shape[axes[-1]] = UNKNOWN if n == UNKNOWN else n // 2 + 1
    return Meta(tuple(shape), complex_dtype[x.dtype])


@infer.rule(fft_c2r)
def infer_fft_c2r(x, *, axes, normalization, forward, size):
    _require_transform("fft_c2r", x, complexes, axes, normalization)
    _require_last("fft_c2r", axes)
    shape = list(x.shape)
    n = shape[axes[-1]]
    if is_unknown(size):
        shape[axes[-1]] = UNKNOWN
    else:
        if size < 1 or (n != UNKNOWN and n != size // 2 + 1):
            raise ValueError(
                f"fft_c2r: the last axis does not fit. Got size={size} and x of shape {show(x.shape)} with axis {axes[-1]}, expected "
                f"a size of 1 or more and size // 2 + 1 elements. Cut or pad the axis."
            )
        shape[axes[-1]] = size
    return Meta(tuple(shape), real_dtype[x.dtype])


_NUMBERS = floats + complexes + integers + bools


def _require_hop(op_name, hop):
    if hop < 1:
        raise ValueError(f"{op_name}: frames do not advance. Got hop={hop}, expected 1 or more. Pass how far apart they begin.")


@infer.rule(frame)
def infer_frame(x, *, length, hop, leading):
    require_dtype("frame", "x", x.dtype, _NUMBERS)
    _require_hop("frame", hop)
    if not x.shape:
        raise ValueError("frame: `x` is 0-d. Got shape [], expected an axis to cut into frames. Add one with unsqueeze.")
    n = x.shape[0] if leading else x.shape[-1]
    if length < 1 or (n != UNKNOWN and length > n):
        raise ValueError(
            f"frame: the frame does not fit into the axis. Got length={length} and x of shape {show(x.shape)}, expected one in [1, {n}]. "
            f"Pad x, or take shorter frames."
        )
    count = UNKNOWN if n == UNKNOWN else 1 + (n - length) // hop
    return Meta((count, length, *x.shape[1:]) if leading else (*x.shape[:-1], length, count), x.dtype)


@infer.rule(overlap_add)
def infer_overlap_add(x, *, hop, leading):
    require_dtype("overlap_add", "x", x.dtype, _NUMBERS)
    _require_hop("overlap_add", hop)
    if len(x.shape) < 2:
        raise ValueError(
            f"overlap_add: `x` has no frames. Got shape {show(x.shape)}, expected {'[count, length, ...]' if leading else '[..., length, count]'}. "
            f"Add an axis with unsqueeze."
        )
    length, count = (x.shape[1], x.shape[0]) if leading else x.shape[-2:]
    if length != UNKNOWN and hop > length:
        raise ValueError(
            f"overlap_add: there are gaps between the frames. Got hop={hop} and frames of {length}, expected at most {length}. "
            f"Take a smaller hop."
        )
    n = UNKNOWN if UNKNOWN in (length, count) else (0 if count == 0 else (count - 1) * hop + length)
    return Meta((n, *x.shape[2:]) if leading else (*x.shape[:-2], n), x.dtype)


# Decompositions.


def _places(length, hop, count, leading):
    """Where element j of frame i stands: [count, length] with `leading`, else [length, count]."""
    within = ops.arange(start=0, step=1, length=length, dtype=int64)
    begin = ops.arange(start=0, step=hop, length=count, dtype=int64)
    if leading:
        return ops.unsqueeze(begin, axes=(1,)) + ops.unsqueeze(within, axes=(0,))
    return ops.unsqueeze(within, axes=(1,)) + ops.unsqueeze(begin, axes=(0,))


@decompose.rule(frame)
def decompose_frame(x, *, length, hop, leading):
    axis = 0 if leading else x.ndim - 1
    count = (x.shape[axis] - length) // hop + 1
    return ops.index_get(x, _places(length, hop, count, leading), axes=(axis,))


@decompose.rule(overlap_add)
def decompose_overlap_add(x, *, hop, leading):
    rank = x.ndim
    count, length = (x.shape[0], x.shape[1]) if leading else (x.shape[-1], x.shape[-2])
    n = (count - 1) * hop + length
    if count == 0:
        n = 0
    shape = (n, *x.shape[2:]) if leading else (*x.shape[:-2], n)
    zeros = ops.full(shape=shape, value=0, dtype=x.dtype)
    axis = 0 if leading else rank - 2
    return ops.index_put(zeros, x, _places(length, hop, count, leading), axes=(axis,), accumulate=True)


for _op in (fft_c2c, fft_r2c, fft_c2r):
    decompose.exempt(_op, "as matrices they would cost n * n; their steps depend on the factors of the size")
