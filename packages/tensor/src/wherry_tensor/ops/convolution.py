"""Two-dimensional convolution and pooling.

`paddings` is (top, bottom, left, right), already resolved from Paddle's forms; `data_format` is
"NCHW" or "NHWC". Weights are [out, in / groups, kh, kw] in both; the transposed convolution's are
[in, out / groups, kh, kw]. One dimension is two with height 1.
"""
import math
from typing import NamedTuple

from wherry_tensor import _core, ops
from wherry_tensor._core import int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import INT_MAX, widened
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    floats,
    indices,
    int32,
    require_dtype,
    require_known,
    require_one_dtype,
    require_same_shape,
    same_size,
    show,
)
from wherry_tensor.sizes import is_unknown
from wherry_tensor.tracebacks import warn

conv2d = op("conv2d", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple, groups=int,
            data_format=str)
# output_size (h, w) settles what the strides leave open.
conv2d_transpose = op("conv2d_transpose", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple,
                      groups=int, output_size=tuple, data_format=str,
                      sizes="output_size")
# The gradients of conv2d for its input and its weight, of which only the shapes are used (`like`,
# and `weight` of the second).
conv2d_input_vjp = op("conv2d_input_vjp", "ct, weight, like~", strides=tuple, paddings=tuple, dilations=tuple,
                      groups=int, data_format=str)
conv2d_weight_vjp = op("conv2d_weight_vjp", "ct, x, weight~", strides=tuple, paddings=tuple, dilations=tuple,
                       groups=int, data_format=str)

# `mask` is int32, the flat h * w position of the maximum inside its input plane, as Paddle returns it;
# -1 for a window that holds no number. NaN loses, and of equal values the first in the window wins.
max_pool2d = op("max_pool2d", "x", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool, data_format=str,
                outputs="out, mask")
max_pool2d_vjp = op("max_pool2d_vjp", "ct, mask, like~", data_format=str)  # adds each value at its position
max_pool2d_take = op("max_pool2d_take", "x, mask", data_format=str)  # reads each position: 0 at -1
max_unpool2d = op("max_unpool2d", "x, index", output_size=tuple, data_format=str)
# exclusive: only positions inside the input count; otherwise those of the padding do too. A window of which
# nothing counts gives 0.
avg_pool2d = op("avg_pool2d", "x", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool, exclusive=bool,
                divisor=int, data_format=str)  # divisor None: the window's size
avg_pool2d_vjp = op("avg_pool2d_vjp", "ct, like~", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool,
                    exclusive=bool, divisor=int, data_format=str)
# Window i of n over a size s covers floor(i * s / n) to ceil((i + 1) * s / n).
adaptive_avg_pool2d = op("adaptive_avg_pool2d", "x", output_size=tuple, data_format=str)
adaptive_avg_pool2d_vjp = op("adaptive_avg_pool2d_vjp", "ct, like~", data_format=str)
adaptive_max_pool2d = op("adaptive_max_pool2d", "x", output_size=tuple, data_format=str, outputs="out, mask")


# Shape rules.


def shape_rules_of_convolution(rank, conv, conv_transpose, input_vjp, weight_vjp):
    """The shape rules of a convolution, its transpose and its two gradients: of images (2) or of volumes (3)."""

    @infer.rule(conv)
    def infer_conv(x, weight, bias, *, strides, paddings, dilations, groups, data_format):
        return _convolved(conv.name, rank, x, weight, bias, strides, paddings, dilations, groups, data_format)

    @infer.rule(conv_transpose)
    def infer_conv_transpose(
        x, weight, bias, *, strides, paddings, dilations, groups, output_size, data_format
    ):
        return _convolved_transposed(
            conv_transpose.name, rank, x, weight, bias, strides, paddings, dilations, groups, output_size, data_format
        )

    @infer.rule(input_vjp)
    def infer_conv_input_vjp(ct, weight, like, *, strides, paddings, dilations, groups, data_format):
        _require_convolution(input_vjp.name, rank, ct, like, weight, strides, paddings, dilations, groups, data_format)
        return Meta(like.shape, ct.dtype)

    @infer.rule(weight_vjp)
    def infer_conv_weight_vjp(ct, x, weight, *, strides, paddings, dilations, groups, data_format):
        require_one_dtype(weight_vjp.name, ct=ct.dtype, x=x.dtype)
        _require_convolution(weight_vjp.name, rank, ct, x, weight, strides, paddings, dilations, groups, data_format)
        return Meta(weight.shape, ct.dtype)


shape_rules_of_convolution(2, conv2d, conv2d_transpose, conv2d_input_vjp, conv2d_weight_vjp)


@infer.rule(max_pool2d)
def infer_max_pool2d(x, *, kernel, strides, paddings, ceil_mode, data_format):
    shape = _pooled("max_pool2d", "x", x, kernel, strides, paddings, ceil_mode, data_format)
    return Meta(shape, x.dtype), Meta(shape, int32)


@infer.rule(max_pool2d_vjp)
def infer_max_pool2d_vjp(ct, mask, like, *, data_format):
    _image("max_pool2d_vjp", "ct", ct, data_format)
    _image("max_pool2d_vjp", "like", like, data_format)
    require_dtype("max_pool2d_vjp", "ct", ct.dtype, floats)
    require_dtype("max_pool2d_vjp", "mask", mask.dtype, indices)
    require_same_shape("max_pool2d_vjp", "mask", mask.shape, "ct", ct.shape)
    _same_planes("max_pool2d_vjp", "ct", ct, "like", like, data_format)
    return Meta(like.shape, ct.dtype)


@infer.rule(max_pool2d_take)
def infer_max_pool2d_take(x, mask, *, data_format):
    _image("max_pool2d_take", "x", x, data_format)
    _image("max_pool2d_take", "mask", mask, data_format)
    require_dtype("max_pool2d_take", "x", x.dtype, floats)
    require_dtype("max_pool2d_take", "mask", mask.dtype, indices)
    _same_planes("max_pool2d_take", "x", x, "mask", mask, data_format)
    return Meta(mask.shape, x.dtype)


@infer.rule(max_unpool2d)
def infer_max_unpool2d(x, index, *, output_size, data_format):
    n, channels, _, _ = _image("max_unpool2d", "x", x, data_format)
    require_dtype("max_unpool2d", "x", x.dtype, floats)
    require_dtype("max_unpool2d", "index", index.dtype, indices)
    require_same_shape("max_unpool2d", "index", index.shape, "x", x.shape)
    _sizes("max_unpool2d", "output_size", output_size)
    return Meta(_shape(n, channels, tuple(output_size), data_format), x.dtype)


@infer.rule(avg_pool2d)
def infer_avg_pool2d(x, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    shape = _pooled("avg_pool2d", "x", x, kernel, strides, paddings, ceil_mode, data_format)
    _divisor("avg_pool2d", divisor)
    return Meta(shape, x.dtype)


@infer.rule(avg_pool2d_vjp)
def infer_avg_pool2d_vjp(ct, like, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    pooled = _pooled("avg_pool2d_vjp", "like", like, kernel, strides, paddings, ceil_mode, data_format)
    _divisor("avg_pool2d_vjp", divisor)
    require_dtype("avg_pool2d_vjp", "ct", ct.dtype, floats)
    require_same_shape("avg_pool2d_vjp", "ct", ct.shape, "the pooled `like`", pooled)
    return Meta(like.shape, ct.dtype)


@infer.rule(adaptive_avg_pool2d)
def infer_adaptive_avg_pool2d(x, *, output_size, data_format):
    return Meta(_adaptively_pooled("adaptive_avg_pool2d", x, output_size, data_format), x.dtype)


@infer.rule(adaptive_avg_pool2d_vjp)
def infer_adaptive_avg_pool2d_vjp(ct, like, *, data_format):
    _image("adaptive_avg_pool2d_vjp", "ct", ct, data_format)
    _image("adaptive_avg_pool2d_vjp", "like", like, data_format)
    require_dtype("adaptive_avg_pool2d_vjp", "ct", ct.dtype, floats)
    _same_planes("adaptive_avg_pool2d_vjp", "ct", ct, "like", like, data_format)
    return Meta(like.shape, ct.dtype)


@infer.rule(adaptive_max_pool2d)
def infer_adaptive_max_pool2d(x, *, output_size, data_format):
    shape = _adaptively_pooled("adaptive_max_pool2d", x, output_size, data_format)
    return Meta(shape, x.dtype), Meta(shape, int32)


_RANKS = {2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
_WORDS = {2: ("images", "four", ("height", "width")), 3: ("volumes", "five", ("depth", "height", "width"))}
_BORDERS = ("front, back, ", "top, bottom, left, right")


def _image(op_name, name, meta, data_format, rank=2):
    """n, channels and sizes (h, w or d, h, w) of a batch of images or volumes."""
    first, last = _RANKS[rank]
    if data_format not in (first, last):
        raise ValueError(
            f"{op_name}: data_format is not known. Got {data_format!r}, expected {first!r} or {last!r}. "
            f"Transpose `{name}` to one of them."
        )
    if len(meta.shape) != rank + 2:
        raise ValueError(
            f"{op_name}: `{name}` is not a batch of {_WORDS[rank][0]}. Got shape {show(meta.shape)}, expected "
            f"{_WORDS[rank][1]} axes, {list(data_format)}. Add a batch axis with unsqueeze."
        )
    n, *rest = meta.shape
    return (n, *rest) if data_format == first else (n, rest[-1], *rest[:-1])


def _shape(n, channels, size, data_format):
    return (n, channels, *size) if data_format[1] == "C" else (n, *size, channels)


def _sizes(op_name, name, values, least=0, rank=2):
    if len(values) != rank or min(values) < least:
        raise ValueError(
            f"{op_name}: {name} is not a {' and a '.join(_WORDS[rank][2])}. Got {name}={values}, expected {rank} ints of at "
            f"least {least}. Repeat a single number for all."
        )


def _borders(op_name, paddings, rank=2):
    if len(paddings) != 2 * rank or min(paddings) < 0:
        raise ValueError(
            f"{op_name}: paddings do not fit {_WORDS[rank][0]}. Got paddings={paddings}, expected "
            f"({''.join(_BORDERS[3 - rank:])}), none negative. Cut the input with slice where less of it is wanted."
        )


def _window(op_name, weight, strides, paddings, dilations, groups, rank=2):
    if len(weight.shape) != rank + 2 or 0 in weight.shape[2:]:
        raise ValueError(
            f"{op_name}: `weight` is not a set of windows. Got shape {show(weight.shape)}, expected {_WORDS[rank][1]} axes "
            f"with a {' and a '.join(_WORDS[rank][2])} of at least 1. One dimension is two with height 1."
        )
    _sizes(op_name, "strides", strides, 1, rank)
    _sizes(op_name, "dilations", dilations, 1, rank)
    _borders(op_name, paddings, rank)
    if groups < 1:
        raise ValueError(
            f"{op_name}: groups must be positive. Got groups={groups}, expected at least 1. "
            f"groups=1 connects every input channel with every output channel."
        )


def _convolved_channels(op_name, image, weight, groups):
    channels = image[1]
    taken = UNKNOWN if weight.shape[1] == UNKNOWN else weight.shape[1] * groups
    if not same_size(channels, taken):
        raise ValueError(
            f"{op_name}: the channels of the input do not fit `weight`. Got {channels} channels, weight of shape "
            f"{show(weight.shape)} and groups={groups}, expected {weight.shape[1]} * {groups} = {taken} channels. "
            f"The weight is [out, in / groups, kh, kw]; check data_format too."
        )
    if weight.shape[0] != UNKNOWN and weight.shape[0] % groups:
        raise ValueError(
            f"{op_name}: groups do not divide the output channels. Got weight of shape {show(weight.shape)} and "
            f"groups={groups}, expected a number of output channels divisible by {groups}. "
            f"Every group makes as many of them as the others."
        )


def _bias(op_name, bias, channels):
    if bias is not None and not (len(bias.shape) == 1 and same_size(bias.shape[0], channels)):
        raise ValueError(
            f"{op_name}: `bias` does not fit the output. Got shape {show(bias.shape)}, expected [{channels}]. "
            f"Give one value for each output channel."
        )


def _convolved_size(op_name, image, weight, strides, paddings, dilations):
    sizes = []
    for axis, (size, kernel) in enumerate(zip(image[2:], weight.shape[2:], strict=True)):
        if UNKNOWN in (size, kernel):
            sizes.append(UNKNOWN)
            continue
        padded = size + paddings[2 * axis] + paddings[2 * axis + 1]
        reach = dilations[axis] * (kernel - 1) + 1
        if padded < reach:
            raise ValueError(
                f"{op_name}: the window is larger than the padded input. Got a window of {reach} (kernel {kernel}, dilation "
                f"{dilations[axis]}) over {padded} ({size} and padding), expected at most {padded}. "
                f"Pad more, or use a smaller kernel or dilation."
            )
        sizes.append((padded - reach) // strides[axis] + 1)
    return tuple(sizes)


# The shape rules of convolutions of either rank.


def _convolved(op_name, rank, x, weight, bias, strides, paddings, dilations, groups, data_format):
    """The result of a convolution."""
    dtype = require_one_dtype(op_name, x=x.dtype, weight=weight.dtype, bias=None if bias is None else bias.dtype)
    require_dtype(op_name, "x", dtype, floats)
    image = _image(op_name, "x", x, data_format, rank)
    _window(op_name, weight, strides, paddings, dilations, groups, rank)
    _convolved_channels(op_name, image, weight, groups)
    _bias(op_name, bias, weight.shape[0])
    size = _convolved_size(op_name, image, weight, strides, paddings, dilations)
    return Meta(_shape(image[0], weight.shape[0], size, data_format), dtype)


def _convolved_transposed(
    op_name, rank, x, weight, bias, strides, paddings, dilations, groups, output_size, data_format
):
    """The result of a transposed convolution."""
    dtype = require_one_dtype(op_name, x=x.dtype, weight=weight.dtype, bias=None if bias is None else bias.dtype)
    require_dtype(op_name, "x", dtype, floats)
    n, channels, *given = _image(op_name, "x", x, data_format, rank)
    _window(op_name, weight, strides, paddings, dilations, groups, rank)
    if not same_size(channels, weight.shape[0]) or (channels != UNKNOWN and channels % groups):
        raise ValueError(
            f"{op_name}: the channels of `x` do not fit `weight`. Got {channels} channels, weight of shape "
            f"{show(weight.shape)} and groups={groups}, expected {weight.shape[0]} channels, divisible by groups. "
            f"The weight of a transposed convolution is [in, out / groups, ...]."
        )
    out_channels = UNKNOWN if weight.shape[1] == UNKNOWN else weight.shape[1] * groups
    _bias(op_name, bias, out_channels)
    output_size = tuple(UNKNOWN if is_unknown(n) else n for n in output_size)
    _sizes(op_name, "output_size", tuple(1 if n == UNKNOWN else n for n in output_size), rank=rank)
    for axis, (size, kernel, wanted) in enumerate(zip(given, weight.shape[2:], output_size, strict=True)):
        if UNKNOWN in (size, kernel, wanted):
            continue
        least = (size - 1) * strides[axis] - paddings[2 * axis] - paddings[2 * axis + 1]
        least += dilations[axis] * (kernel - 1) + 1
        if size > 0 and not max(least, 0) <= wanted < least + strides[axis]:
            raise ValueError(
                f"{op_name}: output_size does not belong to an input of this size. Got output_size={output_size} for x of "
                f"shape {show(x.shape)}, expected a {_WORDS[rank][2][axis]} in [{least}, {least + strides[axis]}). "
                f"Strides of {strides} leave no more open than that."
            )
    return Meta(_shape(n, out_channels, tuple(output_size), data_format), dtype)


def _require_convolution(op_name, rank, ct, x, weight, strides, paddings, dilations, groups, data_format):
    """Refuse a cotangent that is not of the shape that the convolution gives."""
    require_dtype(op_name, "ct", require_one_dtype(op_name, ct=ct.dtype, weight=weight.dtype), floats)
    image = _image(op_name, "x", x, data_format, rank)
    _window(op_name, weight, strides, paddings, dilations, groups, rank)
    _convolved_channels(op_name, image, weight, groups)
    size = _convolved_size(op_name, image, weight, strides, paddings, dilations)
    expected = _shape(image[0], weight.shape[0], size, data_format)
    require_same_shape(op_name, "ct", ct.shape, "the convolution", expected)


def _pooled(op_name, name, meta, kernel, strides, paddings, ceil_mode, data_format):
    require_dtype(op_name, name, meta.dtype, floats)
    n, channels, *image = _image(op_name, name, meta, data_format)
    _sizes(op_name, "kernel", kernel, least=1)
    _sizes(op_name, "strides", strides, least=1)
    _borders(op_name, paddings)
    sizes = []
    for axis, size in enumerate(image):
        if size == UNKNOWN:
            sizes.append(UNKNOWN)
            continue
        room = size + paddings[2 * axis] + paddings[2 * axis + 1] - kernel[axis]
        # Rounded towards zero, not down: a window that is too large by less than a stride still
        # gives one output, as in Paddle.
        count = int((room + (strides[axis] - 1 if ceil_mode else 0)) / strides[axis]) + 1
        if size == 0 or count < 1:
            raise ValueError(
                f"{op_name}: the window is larger than the padded input. Got kernel={kernel} and paddings={paddings} for "
                f"`{name}` of shape {show(meta.shape)}, expected a window of at most {room + kernel[axis]} along the "
                f"{'height width'.split()[axis]}. Pad more, or use a smaller kernel."
            )
        if room < 0 and _core.asked_by_a_call():
            warn(
                f"{op_name}: the window is larger than the padded input, so there is one output, of what the window covers, as "
                f"in Paddle. Got kernel={kernel} and paddings={paddings} for `{name}` of shape {show(meta.shape)}, expected a "
                f"window of at most {room + kernel[axis]} along the {'height width'.split()[axis]}. Use a smaller kernel."
            )
        sizes.append(count)
    return _shape(n, channels, tuple(sizes), data_format)


def _adaptively_pooled(op_name, x, output_size, data_format):
    require_dtype(op_name, "x", x.dtype, floats)
    n, channels, h, w = _image(op_name, "x", x, data_format)
    _sizes(op_name, "output_size", output_size)
    if 0 in (h, w):
        raise ValueError(
            f"{op_name}: `x` has no positions to pool. Got shape {show(x.shape)}, expected a height and width of at "
            f"least 1. Pad it first."
        )
    return _shape(n, channels, tuple(output_size), data_format)


def _divisor(op_name, divisor):
    if divisor is not None and divisor == 0:
        raise ValueError(
            f"{op_name}: divisor is zero. Got divisor=0, expected another number or None. "
            f"None divides by the size of each window."
        )


def _same_planes(op_name, name, meta, other_name, other, data_format):
    a, b = (_image(op_name, name, meta, data_format)[:2], _image(op_name, other_name, other, data_format)[:2])
    if not all(map(same_size, a, b)):
        raise ValueError(
            f"{op_name}: `{name}` and `{other_name}` have different batches or channels. Got shapes {show(meta.shape)} "
            f"and {show(other.shape)}, expected both to begin alike. Give what came out of one pooling."
        )


# Decompositions. They work on channels last, where a product over the channels is a matrix product. The batch
# may be unknown; what windows need is numbers.


@decompose.rule(conv2d)
def decompose_conv2d(x, weight, bias, *, strides, paddings, dilations, groups, data_format):
    require_known("conv2d", "weight", weight.shape)
    result = convolved(widened(x), widened(weight), strides, paddings, dilations, groups, data_format)
    if bias is not None:
        result = result + ops.reshape(widened(bias), shape=(-1,) if data_format == "NHWC" else (-1, 1, 1))
    return ops.cast(result, dtype=x.dtype)


def convolved(x, weight, strides, paddings, dilations, groups, data_format):
    """A convolution as products of what windows see; x and weight, whose shape is known, are floats or integers of one dtype."""
    seen = _seen(_channels_last(x, data_format), weight.shape, strides, paddings, dilations, groups)
    out, inside, *kernel = weight.shape
    matrix = ops.reshape(weight, shape=(groups, out // groups, inside, *kernel))
    matrix = ops.reshape(ops.transpose(matrix, perm=(0, 3, 4, 2, 1)), shape=(groups, -1, out // groups))
    if groups == 1:
        result = ops.matmul(seen, ops.select(matrix, axis=0, index=0), transpose_x=False, transpose_y=False)
    else:
        rows = ops.matmul(ops.unsqueeze(seen, axes=(4,)), matrix, transpose_x=False, transpose_y=False)
        result = _joined(ops.squeeze(rows, axes=(4,)))
    return _from_channels_last(result, data_format)


@decompose.rule(conv2d_transpose)
def decompose_conv2d_transpose(x, weight, bias, *, strides, paddings, dilations, groups, output_size, data_format):
    x, dtype = _channels_last(widened(x), data_format), x.dtype
    require_known("conv2d_transpose", "weight", weight.shape)
    require_known("conv2d_transpose", "x", x.shape[1:3])
    channels, out, *kernel = weight.shape
    matrix = ops.reshape(widened(weight), shape=(groups, channels // groups, out, *kernel))
    # Each tap of the window writes what it makes of input i to i * stride + tap * dilation of a canvas,
    # of which the paddings are cut away.
    reach = [(x.shape[1 + a] - 1) * strides[a] + 1 for a in range(2)]
    canvas = [
        max((kernel[a] - 1) * dilations[a] + reach[a], paddings[2 * a] + output_size[a], 0) for a in range(2)
    ]
    one = ops.full_like(ops.reduce_sum(x, axes=(1, 2, 3), keepdim=True), value=0, dtype=x.dtype)
    total = ops.broadcast_to(one, shape=(UNKNOWN, *canvas, out * groups))
    parts = _split(x, 3, groups) if groups > 1 else x
    for i in range(kernel[0] if 0 not in x.shape[1:3] else 0):
        for j in range(kernel[1]):
            tap = ops.select(ops.select(matrix, axis=4, index=j), axis=3, index=i)
            if groups == 1:
                part = ops.matmul(parts, ops.select(tap, axis=0, index=0), transpose_x=False, transpose_y=False)
            else:
                rows = ops.matmul(ops.unsqueeze(parts, axes=(4,)), tap, transpose_x=False, transpose_y=False)
                part = _joined(ops.squeeze(rows, axes=(4,)))
            begin = i * dilations[0], j * dilations[1]
            end = begin[0] + reach[0], begin[1] + reach[1]
            total = total + ops.slice_vjp(part, total, axes=(1, 2), starts=begin, ends=end, steps=tuple(strides))
    top, left = paddings[0], paddings[2]
    total = ops.slice(
        total, axes=(1, 2), starts=(top, left), ends=(top + output_size[0], left + output_size[1]), steps=(1, 1)
    )
    total = ops.copy(total) if bias is None else total + widened(bias)
    return ops.cast(_from_channels_last(total, data_format), dtype=dtype)


@decompose.rule(conv2d_input_vjp)
def decompose_conv2d_input_vjp(ct, weight, like, *, strides, paddings, dilations, groups, data_format):
    size = _image("conv2d_input_vjp", "like", like, data_format)[2:]
    require_known("conv2d_input_vjp", "like", size)
    return conv2d_transpose(
        ct, weight, None, strides=strides, paddings=paddings, dilations=dilations, groups=groups, output_size=size,
        data_format=data_format,
    )


@decompose.rule(conv2d_weight_vjp)
def decompose_conv2d_weight_vjp(ct, x, weight, *, strides, paddings, dilations, groups, data_format):
    require_known("conv2d_weight_vjp", "weight", weight.shape)
    out, inside, *kernel = weight.shape
    seen = _seen(_channels_last(widened(x), data_format), weight.shape, strides, paddings, dilations, groups)
    grown = _channels_last(widened(ct), data_format)
    if groups == 1:
        matrices = ops.unsqueeze(ops.outer_sum(seen, grown), axes=(0,))
    else:
        # Group by group in the batch of a product; then all places of all images are summed.
        perm = (0, 1, 3, 2, 4)
        products = ops.matmul(
            ops.transpose(seen, perm=perm), ops.transpose(_split(grown, 3, groups), perm=perm),
            transpose_x=True, transpose_y=False,
        )
        matrices = ops.reduce_sum(products, axes=(0, 1), keepdim=False)
    windows = ops.reshape(matrices, shape=(groups, *kernel, inside, out // groups))
    windows = ops.transpose(windows, perm=(0, 4, 3, 1, 2))
    return ops.cast(ops.reshape(windows, shape=(out, inside, *kernel)), dtype=ct.dtype)


def _seen(x, window, strides, paddings, dilations, groups):
    """The window of each output in x, [N, h, w, C]: [N, oh, ow, kh * kw * C]; or [N, oh, ow, groups, kh * kw * C / groups]."""
    top, bottom, left, right = paddings
    if any(paddings):
        x = ops.pad(x, paddings=(0, 0, top, bottom, left, right, 0, 0), value=0.0)
    taps = []
    for i in range(window[2]):
        for j in range(window[3]):
            # Counted from the end, the last place is known where the size is not.
            starts = i * dilations[0], j * dilations[1]
            rest = [(window[2 + a] - 1) * dilations[a] - starts[a] for a in range(2)]
            met = ops.slice(
                x, axes=(1, 2), starts=starts, ends=tuple(-n if n else INT_MAX for n in rest), steps=tuple(strides)
            )
            taps.append(_split(met, 3, groups) if groups > 1 else met)
    return taps[0] if len(taps) == 1 else ops.concat(*taps, axis=taps[0].ndim - 1)


def _split(x, axis, groups):
    """The last axis as [groups, size / groups]."""
    size = x.shape[axis]
    require_known("a convolution with groups", "x", (size,))
    numbers = ops.arange(start=0, step=1, length=size, dtype=int64)
    return ops.index_get(x, ops.reshape(numbers, shape=(groups, size // groups)), axes=(axis,))


def _joined(x):
    """The last two axes as one."""
    groups, size = x.shape[-2:]
    numbers = ops.arange(start=0, step=1, length=groups * size, dtype=int64)
    divisor = ops.full(shape=(), value=max(size, 1), dtype=int64)
    places = ops.floor_divide(numbers, divisor), ops.remainder(numbers, divisor)
    return ops.index_get(x, *places, axes=(x.ndim - 2, x.ndim - 1))


def _channels_last(x, data_format):
    return x if data_format == "NHWC" else ops.transpose(x, perm=(0, 2, 3, 1))


def _from_channels_last(x, data_format):
    return x if data_format == "NHWC" else ops.transpose(x, perm=(0, 3, 1, 2))


# Pooling. Windows are slices: one for each tap, in the order in which a window is read.


@decompose.rule(max_pool2d)
def decompose_max_pool2d(x, *, kernel, strides, paddings, ceil_mode, data_format):
    plan = _windows_of("max_pool2d", x, kernel, strides, paddings, ceil_mode, data_format)
    plane = [p._replace(axis=a) for a, p in enumerate(plan)]
    image, places = _framed(x, plan, math.nan), _framed(_numbers(plan), plane, -1)
    taps = [(i, j) for i in range(kernel[0]) for j in range(kernel[1])]
    return _first_largest([(_tap(image, plan, tap), _tap(places, plane, tap)) for tap in taps], plan, x)


@decompose.rule(adaptive_max_pool2d)
def decompose_adaptive_max_pool2d(x, *, output_size, data_format):
    plan = _windows_of("adaptive_max_pool2d", x, (1, 1), (1, 1), (0, 0, 0, 0), False, data_format)
    spans = [_spans(p.size, n) for p, n in zip(plan, output_size, strict=True)]
    # One more place than there is, without a number, for windows that are shorter than others.
    image, places = x, _numbers(plan)
    for a, p in enumerate(plan):
        image = _framed_axis(image, p.axis, 0, 1, math.nan)
        places = _framed_axis(places, a, 0, 1, -1)
    candidates = []
    for i in range(max((end - begin for begin, end in spans[0]), default=1)):
        for j in range(max((end - begin for begin, end in spans[1]), default=1)):
            met, numbers = image, places
            for a, (p, t) in enumerate(zip(plan, (i, j), strict=True)):
                rows = [begin + t if begin + t < end else p.size for begin, end in spans[a]]
                met, numbers = _taken(met, p.axis, rows), _taken(numbers, a, rows)
            candidates.append((met, numbers))
    return _first_largest(candidates, plan, x)


def _first_largest(candidates, plan, x):
    """The maximum of each window and its position: NaN is skipped, and of equal values the first counts."""
    best = place = None
    for value, numbers in candidates:
        numbers = ops.unsqueeze(numbers, axes=tuple(range(2, x.ndim - plan[0].axis)))
        if best is None:
            # Of no number at all: the lowest float32 and -1, as in Paddle.
            best = ops.full_like(value, value=-3.4028234663852886e38, dtype=x.dtype)
            place = ops.full_like(value, value=-1, dtype=int32)
        none_yet = place < 0
        better = ops.logical_or(ops.logical_and(none_yet, ops.logical_not(ops.isnan(value))), ops.less_than(best, value))
        best = ops.where(better, value, best)
        place = ops.where(better, numbers, place)
    return best, place


@decompose.rule(max_pool2d_vjp)
def decompose_max_pool2d_vjp(ct, mask, like, *, data_format):
    n, *planes = like.shape  # of a shape alone, so that nothing may be done with `like` itself
    require_known("max_pool2d_vjp", "like", planes)
    axis = 2 if data_format == "NCHW" else 1
    flat = (n, planes[0], planes[1] * planes[2]) if axis == 2 else (n, planes[0] * planes[1], planes[2])
    place, _ = _flat_planes("max_pool2d_vjp", "mask", mask, data_format)
    value, _ = _flat_planes("max_pool2d_vjp", "ct", ct, data_format)
    nowhere = place < 0
    value = ops.where(nowhere, ops.full_like(value, value=0, dtype=ct.dtype), value)
    place = ops.where(nowhere, ops.full_like(place, value=0, dtype=place.dtype), place)
    zeros = ops.full(shape=flat, value=0, dtype=ct.dtype)
    return ops.reshape(ops.put_along_axis(zeros, place, value, axis=axis, reduce="add"), shape=(n, *planes))


@decompose.rule(max_pool2d_take)
def decompose_max_pool2d_take(x, mask, *, data_format):
    flat, _ = _flat_planes("max_pool2d_take", "x", x, data_format)
    place, shape = _flat_planes("max_pool2d_take", "mask", mask, data_format)
    nowhere = place < 0
    inside = ops.where(nowhere, ops.full_like(place, value=0, dtype=place.dtype), place)
    taken = ops.take_along_axis(flat, inside, axis=2 if data_format == "NCHW" else 1)
    return ops.reshape(ops.where(nowhere, ops.full_like(taken, value=0, dtype=x.dtype), taken), shape=shape)


@decompose.rule(max_unpool2d)
def decompose_max_unpool2d(x, index, *, output_size, data_format):
    value, shape = _flat_planes("max_unpool2d", "x", x, data_format)
    place, _ = _flat_planes("max_unpool2d", "index", index, data_format)
    axis, size = (2 if data_format == "NCHW" else 1), output_size[0] * output_size[1]
    # A negative position is out of range here, and not counted from the end.
    place = ops.where(place < 0, ops.full_like(place, value=size, dtype=place.dtype), place)
    one = ops.full_like(ops.reduce_sum(value, axes=(axis,), keepdim=True), value=0, dtype=x.dtype)
    zeros = ops.copy(ops.broadcast_to(one, shape=tuple(size if a == axis else UNKNOWN for a in range(3))))
    out = ops.put_along_axis(zeros, place, value, axis=axis, reduce="assign")
    return ops.reshape(out, shape=_shape(shape[0], shape[1] if axis == 2 else shape[3], tuple(output_size), data_format))


def _flat_planes(op_name, name, x, data_format):
    """x with its two spatial axes merged, and the shape that it had."""
    require_known(op_name, name, x.shape[1:])
    n, *rest = x.shape
    if data_format == "NCHW":
        return ops.reshape(x, shape=(n, rest[0], rest[1] * rest[2])), tuple(x.shape)
    return ops.reshape(x, shape=(n, rest[0] * rest[1], rest[2])), tuple(x.shape)


@decompose.rule(avg_pool2d)
def decompose_avg_pool2d(x, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    plan = _windows_of("avg_pool2d", x, kernel, strides, paddings, ceil_mode, data_format)
    total = _framed(widened(x), plan, 0.0)
    for p in plan:  # sums over rows, of sums over columns
        total = _sum_of_taps(total, p)
    return ops.cast(total / _window_sizes(plan, exclusive, divisor, total), dtype=x.dtype)


@decompose.rule(avg_pool2d_vjp)
def decompose_avg_pool2d_vjp(ct, like, *, kernel, strides, paddings, ceil_mode, exclusive, divisor, data_format):
    plan = _windows_of("avg_pool2d_vjp", like, kernel, strides, paddings, ceil_mode, data_format)
    share = widened(ct) / _window_sizes(plan, exclusive, divisor, widened(ct))
    for p in plan:
        canvas = _blank(share, p.axis, p.total)
        total = None
        for tap in range(p.kernel):
            part = ops.slice_vjp(
                share, canvas, axes=(p.axis,), starts=(tap,), ends=(tap + (p.windows - 1) * p.stride + 1,), steps=(p.stride,)
            )
            total = part if total is None else total + part
        share = _framed_axis(total, p.axis, -p.before, p.size + p.before - p.total, 0.0)
    return ops.cast(share, dtype=ct.dtype)


@decompose.rule(adaptive_avg_pool2d)
def decompose_adaptive_avg_pool2d(x, *, output_size, data_format):
    total = widened(x)
    for p, n in zip(_planes("adaptive_avg_pool2d", x, data_format), output_size, strict=True):
        means = [
            ops.reduce_mean(_part(total, p.axis, begin, end), axes=(p.axis,), keepdim=True)
            for begin, end in _spans(p.size, n)
        ]
        total = ops.concat(*means, axis=p.axis) if means else _part(total, p.axis, 0, 0)
    return ops.cast(total, dtype=x.dtype)


@decompose.rule(adaptive_avg_pool2d_vjp)
def decompose_adaptive_avg_pool2d_vjp(ct, like, *, data_format):
    share = widened(ct)
    counts = [p.size for p in _planes("adaptive_avg_pool2d_vjp", ct, data_format)]
    for p, n in zip(_planes("adaptive_avg_pool2d_vjp", like, data_format), counts, strict=True):
        total = _blank(share, p.axis, p.size)
        for i, (begin, end) in enumerate(_spans(p.size, n)):
            each = _part(share, p.axis, i, i + 1) / float(end - begin)
            total = total + _framed_axis(_blank(each, p.axis, end - begin) + each, p.axis, begin, p.size - end, 0.0)
        share = total
    return ops.cast(ops.copy(share), dtype=ct.dtype)


class _Axis(NamedTuple):
    """The windows along one axis."""

    axis: int
    size: int
    kernel: int = 1
    stride: int = 1
    before: int = 0
    windows: int = 0  # how many
    total: int = 0  # places that they reach over, paddings included


def _planes(op_name, x, data_format):
    sizes = _image(op_name, "x", x, data_format)[2:]
    require_known(op_name, "x", sizes)
    first = 2 if data_format == "NCHW" else 1
    return [_Axis(first + a, size) for a, size in enumerate(sizes)]


def _windows_of(op_name, x, kernel, strides, paddings, ceil_mode, data_format):
    plan = []
    for a, p in enumerate(_planes(op_name, x, data_format)):
        room = p.size + paddings[2 * a] + paddings[2 * a + 1] - kernel[a]
        count = int((room + (strides[a] - 1 if ceil_mode else 0)) / strides[a]) + 1
        plan.append(_Axis(
            p.axis, p.size, kernel[a], strides[a], paddings[2 * a], count, (count - 1) * strides[a] + kernel[a]
        ))
    return plan


def _spans(size, count):
    """Where each of `count` windows over `size` places begins and ends."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _numbers(plan):
    """The flat index of each position of a plane, int32 [h, w]."""
    h, w = (p.size for p in plan)
    return ops.reshape(ops.arange(start=0, step=1, length=h * w, dtype=int32), shape=(h, w))


def _framed_axis(x, axis, before, after, value):
    paddings = [0] * (2 * x.ndim)
    paddings[2 * axis], paddings[2 * axis + 1] = before, after
    return ops.pad(x, paddings=tuple(paddings), value=float(value)) if before or after else x


def _framed(x, plan, value):
    """x padded to what the windows reach, and cut where none reaches."""
    for p in plan:
        x = _framed_axis(x, p.axis, p.before, p.total - p.size - p.before, value)
    return x


def _tap(x, plan, taps):
    """The elements that this tap of each window meets."""
    for p, tap in zip(plan, taps, strict=True):
        x = ops.slice(
            x, axes=(p.axis,), starts=(tap,), ends=(tap + (p.windows - 1) * p.stride + 1,), steps=(p.stride,)
        )
    return x


def _sum_of_taps(x, p):
    total = None
    for tap in range(p.kernel):
        part = _tap(x, [p], [tap])
        total = part if total is None else total + part
    return total


def _window_sizes(plan, exclusive, divisor, like):
    """What the sum of each window is divided by: a number, or a tensor that broadcasts against the result."""
    if divisor is not None:
        return float(divisor)
    sizes = None
    for p in plan:
        ones = ops.full(shape=(p.size,), value=1, dtype=like.dtype)
        line = p._replace(axis=0)
        # The padding that counts is as wide after as in front, as in Paddle; beyond it nothing does.
        ones = _framed_axis(ones, 0, p.before, p.before, 0.0 if exclusive else 1.0)
        ones = _framed_axis(ones, 0, 0, p.total - p.size - 2 * p.before, 0.0)
        along = ops.unsqueeze(_sum_of_taps(ones, line), axes=tuple(range(1, like.ndim - p.axis)))
        sizes = along if sizes is None else sizes * along
    return ops.maximum(sizes, ops.full(shape=(), value=1, dtype=like.dtype))


def _blank(x, axis, size):
    """Zeros of the shape of x but for the size of one axis."""
    one = ops.full_like(ops.reduce_sum(x, axes=(axis,), keepdim=True), value=0, dtype=x.dtype)
    return ops.broadcast_to(one, shape=tuple(size if a == axis else UNKNOWN for a in range(x.ndim)))


def _part(x, axis, begin, end):
    return ops.slice(x, axes=(axis,), starts=(begin,), ends=(end,), steps=(1,))


def _taken(x, axis, rows):
    """The rows named, in their order."""
    if not rows:
        return _part(x, axis, 0, 0)
    return ops.concat(*(_part(x, axis, row, row + 1) for row in rows), axis=axis)
