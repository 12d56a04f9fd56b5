"""Arithmetic on quantized tensors: products and convolutions whose sums are int32, and what stands after them.

Sums are exact (until they pass 2^31, where they wrap) and so the same on every device. Images lie with channels last.

`quantized_*` are for programs: their weights were put in order before (see the helpers below), and what follows a product is done on the
spot. All of it in float32, each step rounded:

    v = float32(sum [+ bias, where it is int32]) * scale [+ bias, where it is float32] [+ residual]
    v = activation(v)                                        "none", or the op of that name among blocked.ACTIVATIONS
    out = v                                                  where `dtype` is a float
        = clip(round(v / out_scale) + out_zero_point, low, high)     where it is int8 or uint8

`v / out_scale` is v * (1 / out_scale), and v itself without `out_scale`: then `scale` counts steps already. A residual of integers stands for
(residual - residual_zero_point) * residual_scale. `low` and `high` are by default those of the dtype.
"""
from typing import Any

from wherry_tensor import ops
from wherry_tensor._core import bfloat16, float16, float32, int8, int32, uint8
from wherry_tensor.ops.blocked import ACTIVATIONS, applied, filled
from wherry_tensor.ops.convolution import (
    _bias,
    _convolved_channels,
    _convolved_size,
    _image,
    _pooled,
    _seen,
    _shape,
    _window,
    convolved,
)
from wherry_tensor.ops.declare import DType, Meta, decompose, infer, op
from wherry_tensor.ops.quantization import (
    limited,
    number,
    require_limits,
    require_zero_point,
    rounded,
)
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    broadcast_shapes,
    require_dtype,
    require_known,
    require_same_shape,
    same_shape,
    same_size,
    show,
)

BLOCK = 16  # outputs side by side in a weight
FOUR = 4  # inputs beside each other below an output: what one instruction adds up

# (x - x_zero_point) by (y - y_zero_point), summed in int32. Zero points have the dtype of what they belong to and are [], or one for each
# row of x and column of y.
matmul_int8 = op("matmul_int8", "x, y, x_zero_point?, y_zero_point?", transpose_x=bool, transpose_y=bool)
# The border is x_zero_point: it stands for zero. weight_zero_point is [] or [out].
conv2d_int8 = op(
    "conv2d_int8", "x, weight, x_zero_point?, weight_zero_point?", strides=tuple, paddings=tuple, dilations=tuple, groups=int, data_format=str
)
# The same for programs: the second factor is in order (see the helpers below), and sums [out] is int32 what its bytes add up to for each output.
packed_matmul_int8 = op("packed_matmul_int8", "x, weight, sums, x_zero_point?, weight_zero_point?")
packed_conv2d_int8 = op(
    "packed_conv2d_int8", "x, weight, sums, x_zero_point?, weight_zero_point?", strides=tuple, paddings=tuple, dilations=tuple, data_format=str
)

_BEHIND: Any = dict(
    x_zero_point=int, residual_scale=float, residual_zero_point=int, activation=str, out_scale=float, out_zero_point=int, low=int, high=int,
    dtype=DType,
)
# x [..., in] int8 or uint8; or floats, of which each row is quantized on the way: q = round(x * (127 / largest)), and 1 stands for largest / 127,
# by which sums are multiplied before `scale`. weight int8 [out blocks, in fours, 16, 4], scale [out].
quantized_linear = op("quantized_linear", "x, weight, scale, bias?, residual?", **_BEHIND)
# x [n, h, w, c], weight int8 [out blocks, kh, kw, in fours, 16, 4].
quantized_conv2d = op("quantized_conv2d", "x, weight, scale, bias?, residual?", strides=tuple, paddings=tuple, dilations=tuple, **_BEHIND)
# Each channel by itself: weight int8 [kh, kw, c].
quantized_depthwise_conv2d = op(
    "quantized_depthwise_conv2d", "x, weight, scale, bias?, residual?", strides=tuple, paddings=tuple, dilations=tuple, **_BEHIND
)
# v = (x - x_zero_point) * x_scale + (y - y_zero_point) * y_scale, and then as above.
quantized_add = op(
    "quantized_add", "x, y", x_scale=float, x_zero_point=int, y_scale=float, y_zero_point=int, activation=str, out_scale=float,
    out_zero_point=int, low=int, high=int, dtype=DType,
)
# A window that holds nothing gives the least byte.
quantized_max_pool2d = op("quantized_max_pool2d", "x", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool)
# What a table of bytes says of each byte: table [256], its first for the least byte of x's dtype. The result has the table's dtype.
mapped_bytes = op("mapped_bytes", "x, table")

_BYTES = (uint8, int8)


# Weights in order. What is added up to fill blocks is zero.


def blocks_of(count, size):
    """How many blocks of a size hold so many."""
    return UNKNOWN if count == UNKNOWN else -(-count // size)


def packed_linear_weight(weight):
    """[in, out] as quantized_linear takes it."""
    inside, out = weight.shape
    n, m = blocks_of(inside, FOUR), blocks_of(out, BLOCK)
    full = ops.reshape(filled(filled(weight, 0, n * FOUR), 1, m * BLOCK), shape=(n, FOUR, m, BLOCK))
    return ops.copy(ops.transpose(full, perm=(2, 0, 3, 1)))


def packed_conv_weight(weight):
    """[out, in, kh, kw] as quantized_conv2d takes it."""
    out, inside, kh, kw = weight.shape
    n, m = blocks_of(inside, FOUR), blocks_of(out, BLOCK)
    full = ops.reshape(filled(filled(weight, 1, n * FOUR), 0, m * BLOCK), shape=(m, BLOCK, n, FOUR, kh, kw))
    return ops.copy(ops.transpose(full, perm=(0, 4, 5, 2, 1, 3)))


def signed_weight(weight, zero):
    """A weight and its zero point of uint8, or none, as int8 that stand for the same numbers; those of int8 as they are."""
    if weight.dtype is int8:
        return weight, zero
    zero = number(0, int32) if zero is None else ops.cast(zero, dtype=int32)
    return (ops.cast(ops.cast(weight, dtype=int32) - number(128, int32), dtype=int8), ops.cast(zero - number(128, int32), dtype=int8))


def packed_depthwise_weight(weight):
    """[channels, 1, kh, kw] as quantized_depthwise_conv2d takes it."""
    channels, _one, kh, kw = weight.shape
    return ops.copy(ops.transpose(ops.reshape(weight, shape=(channels, kh, kw)), perm=(1, 2, 0)))


def _plain_linear_weight(weight, inside, out):
    m, n, *_lanes = weight.shape
    whole = ops.reshape(ops.transpose(weight, perm=(1, 3, 0, 2)), shape=(n * FOUR, m * BLOCK))
    return ops.slice(whole, axes=(0, 1), starts=(0, 0), ends=(inside, out), steps=(1, 1))


def _plain_conv_weight(weight, inside, out):
    m, kh, kw, n, *_lanes = weight.shape
    whole = ops.reshape(ops.transpose(weight, perm=(0, 4, 3, 5, 1, 2)), shape=(m * BLOCK, n * FOUR, kh, kw))
    return ops.slice(whole, axes=(0, 1), starts=(0, 0), ends=(out, inside), steps=(1, 1))


# Shape rules.


@infer.rule(matmul_int8)
def infer_matmul_int8(x, y, x_zero_point, y_zero_point, *, transpose_x, transpose_y):
    name = "matmul_int8"
    for what, meta in ("x", x), ("y", y):
        require_dtype(name, what, meta.dtype, _BYTES)
        if len(meta.shape) < 2:
            raise ValueError(
                f"{name}: `{what}` is not a matrix. Got x of shape {show(x.shape)} and y of shape {show(y.shape)}, expected at least two axes "
                f"each. Add one with unsqueeze."
            )
    left, right = (m.shape[:-2] + (m.shape[:-3:-1] if turned else m.shape[-2:]) for m, turned in ((x, transpose_x), (y, transpose_y)))
    if not same_size(left[-1], right[-2]):
        raise ValueError(
            f"{name}: the axes that are summed differ. Got x of shape {show(x.shape)} (transposed: {transpose_x}) and y of shape "
            f"{show(y.shape)} (transposed: {transpose_y}), expected {left[-1]} and {right[-2]} to be equal. Transpose one of them."
        )
    batch = broadcast_shapes(name, left[:-2], right[:-2])
    _require_zero_points(name, "x", x, x_zero_point, left[-2], "row")
    _require_zero_points(name, "y", y, y_zero_point, right[-1], "column")
    return Meta((*batch, left[-2], right[-1]), int32)


@infer.rule(conv2d_int8)
def infer_conv2d_int8(x, weight, x_zero_point, weight_zero_point, *, strides, paddings, dilations, groups, data_format):
    name = "conv2d_int8"
    require_dtype(name, "x", x.dtype, _BYTES)
    require_dtype(name, "weight", weight.dtype, _BYTES)
    image = _image(name, "x", x, data_format)
    _window(name, weight, strides, paddings, dilations, groups)
    _convolved_channels(name, image, weight, groups)
    _require_zero_points(name, "x", x, x_zero_point, None, "")
    _require_zero_points(name, "weight", weight, weight_zero_point, weight.shape[0], "output channel")
    size = _convolved_size(name, image, weight, strides, paddings, dilations)
    return Meta(_shape(image[0], weight.shape[0], size, data_format), int32)


def _require_zero_points(name, what, meta, zero, count, each):
    if zero is None:
        return
    require_dtype(name, f"{what}_zero_point", zero.dtype, (meta.dtype,))
    if not (zero.shape == () or len(zero.shape) == 1 and (same_size(zero.shape[0], 1) or count is not None and same_size(zero.shape[0], count))):
        raise ValueError(
            f"{name}: `{what}_zero_point` does not fit `{what}`. Got shape {show(zero.shape)} for {what} of shape {show(meta.shape)}, expected []"
            + (f" or [{count}], one for each {each}." if count is not None else ".") + " Give one zero point where there is one scale."
        )


@infer.rule(packed_matmul_int8)
def infer_packed_matmul_int8(x, weight, sums, x_zero_point, weight_zero_point):
    name = "packed_matmul_int8"
    require_dtype(name, "x", x.dtype, _BYTES)
    require_packed(name, weight, int8, "[out blocks, in fours, 16, 4]", (UNKNOWN, UNKNOWN, BLOCK, FOUR), "quantized.packed_linear_weight")
    if len(x.shape) < 2 or not same_size(blocks_of(x.shape[-1], FOUR), weight.shape[1]):
        raise ValueError(
            f"{name}: `x` does not fit `weight`. Got x of shape {show(x.shape)} and weight of shape {show(weight.shape)}, expected rows "
            f"of at most {weight.shape[1]} * 4, and more than 4 less. Weights are packed in fours of inputs."
        )
    _require_sums(name, weight, sums, x, x_zero_point, x.shape[-2], "row", weight_zero_point)
    return Meta((*x.shape[:-1], sums.shape[0]), int32)


@infer.rule(packed_conv2d_int8)
def infer_packed_conv2d_int8(x, weight, sums, x_zero_point, weight_zero_point, *, strides, paddings, dilations, data_format):
    name = "packed_conv2d_int8"
    require_dtype(name, "x", x.dtype, _BYTES)
    wanted = (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, BLOCK, FOUR)
    require_packed(name, weight, int8, "[out blocks, kh, kw, in fours, 16, 4]", wanted, "quantized.packed_conv_weight")
    image = _image(name, "x", x, data_format)
    if not same_size(blocks_of(image[1], FOUR), weight.shape[3]):
        raise ValueError(
            f"{name}: the channels of `x` do not fit `weight`. Got x of shape {show(x.shape)} and weight of shape {show(weight.shape)}, expected "
            f"at most {weight.shape[3]} * 4 channels, and more than 4 less. Weights are packed in fours of inputs."
        )
    _require_sums(name, weight, sums, x, x_zero_point, None, "", weight_zero_point)
    plain = Meta((sums.shape[0], image[1], *weight.shape[1:3]), int8)
    _window(name, plain, strides, paddings, dilations, 1)
    return Meta(_shape(image[0], sums.shape[0], _convolved_size(name, image, plain, strides, paddings, dilations), data_format), int32)


def _require_sums(name, weight, sums, x, x_zero_point, rows, each, weight_zero_point):
    require_dtype(name, "sums", sums.dtype, (int32,))
    if len(sums.shape) != 1 or not same_size(blocks_of(sums.shape[0], BLOCK), weight.shape[0]):
        raise ValueError(
            f"{name}: `sums` does not fit `weight`. Got sums of shape {show(sums.shape)} and weight of shape {show(weight.shape)}, expected "
            f"[out] with {weight.shape[0]} blocks of up to {BLOCK} outputs. Add up the weights of each output."
        )
    _require_zero_points(name, "x", x, x_zero_point, rows, each)
    _require_zero_points(name, "weight", weight, weight_zero_point, sums.shape[0], "output")


@infer.rule(quantized_linear)
def infer_quantized_linear(x, weight, scale, bias, residual, *, x_zero_point, dtype, **behind):
    name = "quantized_linear"
    require_dtype(name, "x", x.dtype, (*_BYTES, float16, bfloat16, float32))
    require_packed(name, weight, int8, "[out blocks, in fours, 16, 4]", (UNKNOWN, UNKNOWN, BLOCK, FOUR), "quantized.packed_linear_weight")
    if not x.shape or not same_size(blocks_of(x.shape[-1], FOUR), weight.shape[1]):
        raise ValueError(
            f"{name}: `x` does not fit `weight`. Got x of shape {show(x.shape)} and weight of shape {show(weight.shape)}, expected a last axis of x "
            f"of at most {weight.shape[1]} * 4, and more than 4 less. Weights are packed in fours of inputs."
        )
    if x.dtype.is_floating:
        if x_zero_point != 0:
            raise ValueError(
                f"{name}: rows that are quantized here have no zero point. Got x_zero_point={x_zero_point} for x of {x.dtype.name}, expected 0. "
                f"Quantize x with quantize_linear to choose one."
            )
    else:
        require_zero_point(name, "x_zero_point", x_zero_point, x.dtype)
    _require_outputs(name, weight, scale)
    return _finished_meta(name, (*x.shape[:-1], scale.shape[0]), scale, bias, residual, dtype, **behind)


@infer.rule(quantized_conv2d)
def infer_quantized_conv2d(x, weight, scale, bias, residual, *, strides, paddings, dilations, x_zero_point, dtype, **behind):
    name = "quantized_conv2d"
    wanted = (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, BLOCK, FOUR)
    require_packed(name, weight, int8, "[out blocks, kh, kw, in fours, 16, 4]", wanted, "quantized.packed_conv_weight")
    _require_outputs(name, weight, scale)
    shape = _quantized_image(name, x, weight.shape[1:3], strides, paddings, dilations, x_zero_point)
    if not same_size(blocks_of(x.shape[3], FOUR), weight.shape[3]):
        raise ValueError(
            f"{name}: the channels of `x` do not fit `weight`. Got x of shape {show(x.shape)} and weight of shape {show(weight.shape)}, expected "
            f"at most {weight.shape[3]} * 4 channels, and more than 4 less. Weights are packed in fours of inputs; x lies with channels last."
        )
    return _finished_meta(name, (*shape, scale.shape[0]), scale, bias, residual, dtype, **behind)


@infer.rule(quantized_depthwise_conv2d)
def infer_quantized_depthwise_conv2d(x, weight, scale, bias, residual, *, strides, paddings, dilations, x_zero_point, dtype, **behind):
    name = "quantized_depthwise_conv2d"
    require_packed(name, weight, int8, "[kh, kw, channels]", (UNKNOWN, UNKNOWN, scale.shape[0] if scale.shape else UNKNOWN),
                    "quantized.packed_depthwise_weight")
    shape = _quantized_image(name, x, weight.shape[:2], strides, paddings, dilations, x_zero_point)
    if not same_size(x.shape[3], weight.shape[2]):
        raise ValueError(
            f"{name}: the channels of `x` do not fit `weight`. Got x of shape {show(x.shape)} and weight of shape {show(weight.shape)}, expected "
            f"{weight.shape[2]} channels. x lies with channels last."
        )
    return _finished_meta(name, (*shape, weight.shape[2]), scale, bias, residual, dtype, **behind)


@infer.rule(quantized_add)
def infer_quantized_add(x, y, *, x_scale, x_zero_point, y_scale, y_zero_point, dtype, **behind):
    name = "quantized_add"
    for what, meta, scale, zero in ("x", x, x_scale, x_zero_point), ("y", y, y_scale, y_zero_point):
        require_dtype(name, what, meta.dtype, _BYTES)
        require_zero_point(name, f"{what}_zero_point", zero, meta.dtype)
        _require_step(name, f"{what}_scale", scale)
    shape = require_same_shape(name, "y", y.shape, "x", x.shape)
    _require_end(name, dtype, **behind)
    return Meta(shape, dtype)


@infer.rule(quantized_max_pool2d)
def infer_quantized_max_pool2d(x, *, kernel, strides, paddings, ceil_mode):
    name = "quantized_max_pool2d"
    require_dtype(name, "x", x.dtype, _BYTES)
    return Meta(_pooled(name, "x", Meta(x.shape, float32), kernel, strides, paddings, ceil_mode, "NHWC"), x.dtype)


@infer.rule(mapped_bytes)
def infer_mapped_bytes(x, table):
    name = "mapped_bytes"
    require_dtype(name, "x", x.dtype, _BYTES)
    require_dtype(name, "table", table.dtype, _BYTES)
    if not same_shape(table.shape, (256,)):
        raise ValueError(
            f"{name}: `table` does not say what each byte becomes. Got shape {show(table.shape)}, expected [256]. Give one result for each byte."
        )
    return Meta(x.shape, table.dtype)


def require_packed(name, weight, dtype, layout, shape, helper):
    """Refuse a weight that is not in order; `shape` has -1 where any size will do."""
    require_dtype(name, "weight", weight.dtype, (dtype,))
    if not same_shape(weight.shape, shape):
        raise ValueError(
            f"{name}: `weight` is not in order. Got shape {show(weight.shape)}, expected {layout}. "
            f"wherry_tensor.ops.{helper} puts it in order."
        )


def _require_outputs(name, weight, scale):
    if len(scale.shape) != 1 or not same_size(blocks_of(scale.shape[0], BLOCK), weight.shape[0]):
        raise ValueError(
            f"{name}: `scale` does not fit `weight`. Got scale of shape {show(scale.shape)} and weight of shape {show(weight.shape)}, expected "
            f"[out] with {weight.shape[0]} blocks of up to {BLOCK} outputs. Give one scale for each output."
        )


def _quantized_image(name, x, kernel, strides, paddings, dilations, zero):
    require_dtype(name, "x", x.dtype, _BYTES)
    require_zero_point(name, "x_zero_point", zero, x.dtype)
    n, channels, *size = _image(name, "x", x, "NHWC")
    _window(name, Meta((UNKNOWN, channels, *kernel), x.dtype), strides, paddings, dilations, 1)
    return n, *_convolved_size(name, (n, channels, *size), Meta((UNKNOWN, UNKNOWN, *kernel), x.dtype), strides, paddings, dilations)


def _finished_meta(name, shape, scale, bias, residual, dtype, *, residual_scale, residual_zero_point, **behind):
    require_dtype(name, "scale", scale.dtype, (float32,))
    if not (len(scale.shape) == 1 and same_size(scale.shape[0], shape[-1])):
        raise ValueError(
            f"{name}: `scale` does not fit. Got shape {show(scale.shape)}, expected [{shape[-1]}]. Give one scale for each output."
        )
    if bias is not None:
        require_dtype(name, "bias", bias.dtype, (int32, float32))
        _bias(name, bias, shape[-1])
    _require_end(name, dtype, **behind)
    if residual is not None:
        require_dtype(name, "residual", residual.dtype, (*_BYTES, float16, bfloat16, float32))
        shape = require_same_shape(name, "residual", residual.shape, "the result", shape)
        if residual.dtype in _BYTES:
            require_zero_point(name, "residual_zero_point", residual_zero_point, residual.dtype)
            _require_step(name, "residual_scale", residual_scale)
    return Meta(shape, dtype)


def _require_end(name, dtype, *, activation, out_scale, out_zero_point, low, high):
    if activation != "none" and activation not in ACTIVATIONS:
        raise ValueError(
            f"{name}: this activation cannot come after. Got activation={activation!r}, expected 'none' or one of {', '.join(ACTIVATIONS)}. "
            f"Use an op of its own."
        )
    if not isinstance(dtype, DType):
        raise TypeError(f"{name}: `dtype` is not a dtype. Got {dtype!r}, expected that of the result, such as paddle.int8 or paddle.float32.")
    require_dtype(name, "dtype", dtype, (*_BYTES, float16, bfloat16, float32))
    if dtype.is_floating:
        return
    require_limits(name, *_ends(low, high, dtype), dtype)
    require_zero_point(name, "out_zero_point", out_zero_point, dtype)
    if out_scale is not None:
        _require_step(name, "out_scale", out_scale)


def _ends(low, high, dtype):
    least, largest = (0, 255) if dtype is uint8 else (-128, 127)
    return least if low is None else low, largest if high is None else high


def _require_step(name, what, step):
    if not 2.0**-126 <= step <= 2.0**126:
        raise ValueError(
            f"{name}: {what} is not the size of a step. Got {what}={step}, expected a positive number that float32 holds. "
            f"Tensors that are zero everywhere have any scale: 1.0."
        )


# Decompositions.


def _less(x, zero):
    """x as int32, less its zero point (a tensor that broadcasts, or a number)."""
    x = ops.cast(x, dtype=int32)
    if zero is None or (isinstance(zero, int) and zero == 0):
        return x
    return x - (number(zero, int32) if isinstance(zero, int) else ops.cast(zero, dtype=int32))


@decompose.rule(matmul_int8)
def decompose_matmul_int8(x, y, x_zero_point, y_zero_point, *, transpose_x, transpose_y):
    if x_zero_point is not None and x_zero_point.ndim:
        x_zero_point = ops.reshape(x_zero_point, shape=(1, -1) if transpose_x else (-1, 1))
    if y_zero_point is not None and y_zero_point.ndim:
        y_zero_point = ops.reshape(y_zero_point, shape=(-1, 1) if transpose_y else (1, -1))
    return ops.matmul(_less(x, x_zero_point), _less(y, y_zero_point), transpose_x=transpose_x, transpose_y=transpose_y)


@decompose.rule(conv2d_int8)
def decompose_conv2d_int8(x, weight, x_zero_point, weight_zero_point, *, strides, paddings, dilations, groups, data_format):
    require_known("conv2d_int8", "weight", weight.shape)
    if x_zero_point is not None:
        x_zero_point = ops.reshape(x_zero_point, shape=())
    if weight_zero_point is not None:
        weight_zero_point = ops.reshape(weight_zero_point, shape=(-1, 1, 1, 1))
    return convolved(
        _less(x, x_zero_point), _less(weight, weight_zero_point), strides, paddings, dilations, groups, data_format
    )


@decompose.rule(packed_matmul_int8)
def decompose_packed_matmul_int8(x, weight, sums, x_zero_point, weight_zero_point):
    require_known("packed_matmul_int8", "sums", sums.shape)
    require_known("packed_matmul_int8", "x", x.shape[-1:])
    plain = _plain_linear_weight(weight, x.shape[-1], sums.shape[0])
    return ops.matmul_int8(x, plain, x_zero_point, weight_zero_point, transpose_x=False, transpose_y=False)


@decompose.rule(packed_conv2d_int8)
def decompose_packed_conv2d_int8(x, weight, sums, x_zero_point, weight_zero_point, *, data_format, **window):
    inside = x.shape[3 if data_format == "NHWC" else 1]
    require_known("packed_conv2d_int8", "x", (inside,))
    require_known("packed_conv2d_int8", "sums", sums.shape)
    plain = _plain_conv_weight(weight, inside, sums.shape[0])
    return ops.conv2d_int8(x, plain, x_zero_point, weight_zero_point, groups=1, data_format=data_format, **window)


def _finished(sums, step, scale, bias, residual, *, residual_scale, residual_zero_point, dtype, **behind):
    """What stands after the sums of a product; `step` is what 1 stands for in each row, or None."""
    if bias is not None and bias.dtype is int32:
        sums, bias = sums + bias, None
    v = ops.cast(sums, dtype=float32)
    v = (v if step is None else v * step) * scale
    if bias is not None:
        v = v + bias
    if residual is not None:
        v = v + (_real(residual, residual_scale, residual_zero_point) if residual.dtype in _BYTES else ops.cast(residual, dtype=float32))
    return _ended(v, dtype, **behind)


def _real(x, scale, zero):
    return ops.cast(_less(x, zero), dtype=float32) * number(scale, float32)


def _ended(v, dtype, *, activation, out_scale, out_zero_point, low, high):
    v = applied(activation, v)
    if dtype.is_floating:
        return ops.cast(v, dtype=dtype)
    if out_scale is not None:
        v = v * (number(1.0, float32) / number(out_scale, float32))
    return ops.cast(limited(rounded(v) + number(out_zero_point, float32), *_ends(low, high, dtype)), dtype=dtype)


@decompose.rule(quantized_linear)
def decompose_quantized_linear(x, weight, scale, bias, residual, *, x_zero_point, **behind):
    require_known("quantized_linear", "weight", (*weight.shape, *scale.shape, x.shape[-1]))
    step = None
    if x.dtype.is_floating:
        x = ops.cast(x, dtype=float32)
        largest = ops.reduce_max(ops.abs(x), axes=(x.ndim - 1,), keepdim=True) if x.shape[-1] else number(0.0, float32)
        largest = ops.maximum(largest, number(1e-30, float32))  # a row of zeros: any step will do
        most = number(127.0, float32)
        step, x = largest / most, ops.cast(limited(rounded(x * (most / largest)), -127, 127), dtype=int8)
    plain = _plain_linear_weight(weight, x.shape[-1], scale.shape[0])
    zero = number(x_zero_point, x.dtype) if x_zero_point else None
    sums = ops.matmul_int8(x if x.ndim > 1 else ops.unsqueeze(x, axes=(0,)), plain, zero, None, transpose_x=False, transpose_y=False)
    return _finished(sums if x.ndim > 1 else ops.squeeze(sums, axes=(0,)), step, scale, bias, residual, **behind)


@decompose.rule(quantized_conv2d)
def decompose_quantized_conv2d(x, weight, scale, bias, residual, *, strides, paddings, dilations, x_zero_point, **behind):
    require_known("quantized_conv2d", "weight", (*weight.shape, *scale.shape, x.shape[3]))
    plain = _plain_conv_weight(weight, x.shape[3], scale.shape[0])
    out, inside, kh, kw = plain.shape
    wide = ops.cast(x, dtype=int32)  # Paddle, which runs files of this, neither pads nor slices bytes
    if any(paddings):  # with what stands for zero
        top, bottom, left, right = paddings
        wide = ops.pad(wide, paddings=(0, 0, top, bottom, left, right, 0, 0), value=float(x_zero_point))
    seen = ops.cast(_seen(wide, plain.shape, strides, (0, 0, 0, 0), dilations, 1), dtype=x.dtype)
    matrix = ops.reshape(ops.transpose(plain, perm=(2, 3, 1, 0)), shape=(kh * kw * inside, out))
    zero = number(x_zero_point, x.dtype) if x_zero_point else None
    return _finished(ops.matmul_int8(seen, matrix, zero, None, transpose_x=False, transpose_y=False), None, scale, bias, residual, **behind)


@decompose.rule(quantized_depthwise_conv2d)
def decompose_quantized_depthwise_conv2d(x, weight, scale, bias, residual, *, strides, paddings, dilations, x_zero_point, **behind):
    require_known("quantized_depthwise_conv2d", "weight", weight.shape)
    kh, kw, channels = weight.shape
    plain = ops.reshape(ops.transpose(ops.cast(weight, dtype=int32), perm=(2, 0, 1)), shape=(channels, 1, kh, kw))
    sums = convolved(_less(x, x_zero_point), plain, strides, paddings, dilations, channels, "NHWC")
    return _finished(sums, None, scale, bias, residual, **behind)


@decompose.rule(quantized_add)
def decompose_quantized_add(x, y, *, x_scale, x_zero_point, y_scale, y_zero_point, dtype, **behind):
    return _ended(_real(x, x_scale, x_zero_point) + _real(y, y_scale, y_zero_point), dtype, **behind)


@decompose.rule(quantized_max_pool2d)
def decompose_quantized_max_pool2d(x, *, kernel, strides, paddings, ceil_mode):
    pooled, _mask = ops.max_pool2d(
        ops.cast(x, dtype=float32), kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode, data_format="NHWC"
    )
    return ops.cast(ops.fmax(pooled, number(float(_ends(None, None, x.dtype)[0]), float32)), dtype=x.dtype)


@decompose.rule(mapped_bytes)
def decompose_mapped_bytes(x, table):
    return ops.gather(table, _less(x, _ends(None, None, x.dtype)[0]), axis=0)
