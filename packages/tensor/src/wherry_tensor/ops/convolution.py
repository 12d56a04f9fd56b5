"""Two-dimensional convolution and pooling.

`paddings` is (top, bottom, left, right), already resolved from Paddle's forms; `data_format` is
"NCHW" or "NHWC". Weights are [out, in / groups, kh, kw] in both; the transposed convolution's are
[in, out / groups, kh, kw]. One dimension is two with height 1.
"""
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    floats,
    indices,
    int32,
    is_known,
    require_dtype,
    require_one_dtype,
    require_same_shape,
    same_size,
    show,
)

conv2d = op("conv2d", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple, groups=int,
            data_format=str)
# output_size (h, w) settles what the strides leave open.
conv2d_transpose = op("conv2d_transpose", "x, weight, bias?", strides=tuple, paddings=tuple, dilations=tuple,
                      groups=int, output_size=tuple, data_format=str)
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

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type(conv2d))]


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
            f"{op_name}: paddings are not those of {_WORDS[rank][0]}. Got paddings={paddings}, expected "
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
    _sizes(op_name, "output_size", output_size, rank=rank)
    for axis, (size, kernel, wanted) in enumerate(zip(given, weight.shape[2:], output_size, strict=True)):
        if UNKNOWN in (size, kernel):
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


# Decompositions.


@decompose.rule(conv2d_input_vjp)
def decompose_conv2d_input_vjp(ct, weight, like, *, strides, paddings, dilations, groups, data_format):
    size = _image("conv2d_input_vjp", "like", like, data_format)[2:]
    if not is_known(size):
        raise ValueError(
            f"conv2d_input_vjp: its decomposition needs a known size. Got `like` of shape {show(like.shape)}, expected its "
            f"height and width. Fix them in the input's description; the batch may stay open."
        )
    return conv2d_transpose(
        ct, weight, None, strides=strides, paddings=paddings, dilations=dilations, groups=groups, output_size=size,
        data_format=data_format,
    )
