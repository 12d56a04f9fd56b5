"""Convolution and pooling in the channel-blocked layout (NCHW16c), which passes for inference make of the ops of `convolution`.

An image in blocks is [n, blocks, h, w, 16]; channel c is lane c % 16 of block c // 16. Where channels do not fill the last block, weights
are zero for the lanes that are left, so that nothing depends on what these hold (as long as it is finite).

`activation` is the name of an op among `ACTIVATIONS`, or "none"; it comes last, after bias [blocks * 16] and residual, which has the
shape of the result. `paddings` is (top, bottom, left, right).
"""
import math

from wherry_tensor import ops
from wherry_tensor.ops.convolution import _bias, _borders, _convolved_size, _pooled, _sizes
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import widened
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    floats,
    require_dtype,
    require_known,
    require_one_dtype,
    require_same_shape,
    same_size,
    show,
)

BLOCK = 16
ACTIVATIONS = ("relu", "relu6", "sigmoid", "silu", "hardswish", "gelu", "tanh")  # gelu: without approximation

# weight: [out blocks, blocks, kh, kw, 16 in, 16 out]; of a single block, those of the first channels may stand alone. An image of few
# channels may come as planes, [n, channels, h, w]; its weight is [out blocks, kh, kw, channels, 16 out].
conv2d_blocked = op("conv2d_blocked", "x, weight, bias?, residual?", strides=tuple, paddings=tuple, dilations=tuple, activation=str)
# The same for 3x3 windows with strides of 1, with weights that are transformed already: [36, out blocks, blocks, 16 in, 16 out] (see
# `winograd_weight`).
winograd_conv2d_blocked = op("winograd_conv2d_blocked", "x, weight, bias?, residual?", paddings=tuple, activation=str)
# Each channel by itself: weight [blocks, kh, kw, 16].
depthwise_conv2d_blocked = op(
    "depthwise_conv2d_blocked", "x, weight, bias?, residual?", strides=tuple, paddings=tuple, dilations=tuple, activation=str
)
max_pool2d_blocked = op("max_pool2d_blocked", "x", kernel=tuple, strides=tuple, paddings=tuple, ceil_mode=bool)  # no mask


# Shape rules.


@infer.rule(conv2d_blocked)
def infer_conv2d_blocked(x, weight, bias, residual, *, strides, paddings, dilations, activation):
    name, planes = "conv2d_blocked", len(x.shape) == 4
    if planes:
        layout, (inside, kernel) = "[out blocks, kh, kw, channels, 16]", (weight.shape[3:4], weight.shape[1:3])
    else:
        layout, (inside, kernel) = "[out blocks, blocks, kh, kw, 16, 16]", (weight.shape[1:2], weight.shape[2:4])
        _require_blocks(name, "x", x)
    _require_weight(name, weight, layout, 5 if planes else 6)
    if not planes and not (same_size(inside[0], 1) and 0 < weight.shape[4] < BLOCK):
        _require_lanes(name, "weight", weight, weight.shape[4])
    return _convolved(name, x, weight, bias, residual, inside[0], weight.shape[0], kernel, strides, paddings, dilations, activation)


@infer.rule(winograd_conv2d_blocked)
def infer_winograd_conv2d_blocked(x, weight, bias, residual, *, paddings, activation):
    name = "winograd_conv2d_blocked"
    _require_blocks(name, "x", x)
    _require_weight(name, weight, "[36, out blocks, blocks, 16, 16]", 5)
    _require_lanes(name, "weight", weight, weight.shape[3])
    if not same_size(weight.shape[0], 36):
        raise ValueError(
            f"{name}: `weight` is not transformed. Got shape {show(weight.shape)}, expected 36 sets of products in front. "
            f"Give what wherry_tensor.ops.blocked.winograd_weight returns."
        )
    return _convolved(name, x, weight, bias, residual, weight.shape[2], weight.shape[1], (3, 3), (1, 1), paddings, (1, 1), activation)


@infer.rule(depthwise_conv2d_blocked)
def infer_depthwise_conv2d_blocked(x, weight, bias, residual, *, strides, paddings, dilations, activation):
    name = "depthwise_conv2d_blocked"
    _require_blocks(name, "x", x)
    _require_weight(name, weight, "[blocks, kh, kw, 16]", 4)
    blocks = weight.shape[0]
    return _convolved(name, x, weight, bias, residual, blocks, blocks, weight.shape[1:3], strides, paddings, dilations, activation)


@infer.rule(max_pool2d_blocked)
def infer_max_pool2d_blocked(x, *, kernel, strides, paddings, ceil_mode):
    _require_blocks("max_pool2d_blocked", "x", x)
    pooled = _pooled("max_pool2d_blocked", "x", Meta(x.shape[:4], x.dtype), kernel, strides, paddings, ceil_mode, "NCHW")
    return Meta((*pooled, BLOCK), x.dtype)


def _convolved(name, x, weight, bias, residual, inside, out, kernel, strides, paddings, dilations, activation):
    given = dict(x=x.dtype, weight=weight.dtype, bias=bias and bias.dtype, residual=residual and residual.dtype)
    require_dtype(name, "x", require_one_dtype(name, **given), floats)
    _sizes(name, "strides", strides, least=1)
    _sizes(name, "dilations", dilations, least=1)
    _borders(name, paddings)
    if activation != "none" and activation not in ACTIVATIONS:
        raise ValueError(
            f"{name}: this activation cannot come after a convolution. Got activation={activation!r}, expected 'none' or one of "
            f"{', '.join(ACTIVATIONS)}. Use an op of its own."
        )
    if not same_size(x.shape[1], inside):
        raise ValueError(
            f"{name}: the channels of the input do not fit `weight`. Got x of shape {show(x.shape)} and a weight of shape "
            f"{show(weight.shape)}, expected {inside} along axis 1 of x. Put the weight of this convolution in order."
        )
    _require_lanes(name, "weight", weight, weight.shape[-1])
    _bias(name, bias, UNKNOWN if out == UNKNOWN else out * BLOCK)
    fake = Meta((UNKNOWN, UNKNOWN, *kernel), x.dtype)
    shape = (x.shape[0], out, *_convolved_size(name, x.shape[:4], fake, strides, paddings, dilations), BLOCK)
    if residual is not None:
        require_same_shape(name, "residual", residual.shape, "the convolution", shape)
    return Meta(shape, x.dtype)


def _require_blocks(name, what, x):
    if len(x.shape) != 5 or not same_size(x.shape[4], BLOCK):
        raise ValueError(
            f"{name}: `{what}` is not an image in blocks of channels. Got shape {show(x.shape)}, expected [n, blocks, h, w, {BLOCK}]. "
            f"Use wherry_tensor.ops.blocked.to_blocks."
        )


def _require_weight(name, weight, layout, rank):
    if len(weight.shape) != rank:
        raise ValueError(
            f"{name}: `weight` is not in order. Got shape {show(weight.shape)}, expected {layout}. "
            f"wherry_tensor.ops.blocked puts weights in order."
        )


def _require_lanes(name, what, meta, size):
    if not same_size(size, BLOCK):
        raise ValueError(
            f"{name}: `{what}` has blocks of another size. Got shape {show(meta.shape)}, expected blocks of {BLOCK} channels. "
            f"wherry_tensor.ops.blocked puts weights in order."
        )


# Into blocks and back. `x` may be symbolic; the batch may be unknown, and so may height and width.


def blocks_of(channels):
    """How many blocks hold so many channels."""
    return -(-channels // BLOCK)


def filled(x, axis, size):
    """x with zeros after, up to `size` along an axis."""
    missing = size - x.shape[axis]
    if not missing:
        return x
    paddings = [0] * (2 * x.ndim)
    paddings[2 * axis + 1] = missing
    return ops.pad(x, paddings=tuple(paddings), value=0.0)


def to_blocks(x):
    """[n, channels, h, w] as [n, blocks, h, w, 16]."""
    channels = x.shape[1]
    require_known("to_blocks", "x", (channels,))
    n, (batch, _channels, h, w) = blocks_of(channels), x.shape
    return ops.transpose(ops.reshape(filled(x, 1, n * BLOCK), shape=(batch, n, BLOCK, h, w)), perm=(0, 1, 3, 4, 2))


def from_blocks(x, channels):
    """[n, blocks, h, w, 16] as [n, channels, h, w]."""
    batch, n, h, w, _lanes = x.shape
    require_known("from_blocks", "x", (n,))
    planes = ops.reshape(ops.transpose(x, perm=(0, 1, 4, 2, 3)), shape=(batch, n * BLOCK, h, w))
    return planes if channels == n * BLOCK else ops.slice(planes, axes=(1,), starts=(0,), ends=(channels,), steps=(1,))


# Weights.


def blocked_weight(weight):
    """[out, in, kh, kw] as conv2d_blocked takes it: [out blocks, blocks, kh, kw, 16 in (or those of the only block), 16 out]."""
    out, inside, kh, kw = weight.shape
    m, n = blocks_of(out), blocks_of(inside)
    lanes = BLOCK if n > 1 else inside
    full = ops.reshape(filled(filled(weight, 0, m * BLOCK), 1, n * lanes), shape=(m, BLOCK, n * lanes * kh * kw))
    turned = ops.copy(ops.transpose(full, perm=(0, 2, 1)))
    if kh == kw == 1:
        return ops.reshape(turned, shape=(m, n, 1, 1, lanes, BLOCK))
    lanes_last = ops.reshape(turned, shape=(m, n, lanes, kh, kw, BLOCK))
    return ops.copy(ops.transpose(lanes_last, perm=(0, 1, 3, 4, 2, 5)))


def planar_weight(weight):
    """[out, in, kh, kw] for images that come as planes: [out blocks, kh, kw, in, 16 out]."""
    out, inside, kh, kw = weight.shape
    m = blocks_of(out)
    return ops.copy(ops.transpose(ops.reshape(filled(weight, 0, m * BLOCK), shape=(m, BLOCK, inside, kh, kw)), perm=(0, 3, 4, 2, 1)))


def depthwise_weight(weight):
    """[channels, 1, kh, kw] as [blocks, kh, kw, 16]."""
    channels, _one, kh, kw = weight.shape
    n = blocks_of(channels)
    return ops.copy(ops.transpose(ops.reshape(filled(weight, 0, n * BLOCK), shape=(n, BLOCK, kh, kw)), perm=(0, 2, 3, 1)))


def _transforms():
    """The matrices of minimal filtering F(4, 3) with polynomials at 0, +-sqrt(1/2), +-sqrt(2) and infinity (csrc/winograd.h of ops-cpu says
    why there): of 6 inputs, of a window's 3 values, and of 6 products back to 4 outputs."""
    squares = (0.5, 2.0)
    points = [sign * math.sqrt(square) for square in squares for sign in (1, -1)]
    total = sum(squares)
    inputs = [(1.0, 0.0, -total, 0.0, 1.0, 0.0)]
    windows = [(1.0, 0.0, 0.0)]
    for p in points:
        other = total - p * p
        inputs.append((0.0, -p * other, -other, p, 1.0, 0.0))
        factor = 1 / (2 * p * p * (p * p - other))  # the product of the point's distances from the others
        windows.append((factor, factor * p, factor * p * p))
    inputs.append((0.0, 1.0, 0.0, -total, 0.0, 1.0))
    windows.append((0.0, 0.0, 1.0))
    outputs = [(0.0**power, *(p**power for p in points), float(power == 3)) for power in range(4)]
    return inputs, windows, outputs


def _products(matrix, parts):
    """For each row of a matrix of numbers, the sum of its products with `parts`."""
    rows = []
    for row in matrix:
        terms = [part * ops.full(shape=(), value=number, dtype=part.dtype) for number, part in zip(row, parts, strict=True) if number]
        rows.append(sum(terms[1:], terms[0]))
    return rows


def _parts(x, axis, count, step=1, each=1):
    """`count` pieces along an axis: piece i begins at i and takes `each` values, `step` apart."""
    return [ops.slice(x, axes=(axis,), starts=(i,), ends=(i + (each - 1) * step + 1,), steps=(step,)) for i in range(count)]


def winograd_weight(weight):
    """[out, in, 3, 3] as winograd_conv2d_blocked takes it: [36, out blocks, blocks, 16 in, 16 out]."""
    _inputs, matrix, _outputs = _transforms()
    whole = filled(weight, 1, blocks_of(weight.shape[1]) * BLOCK)
    windows = ops.copy(ops.transpose(blocked_weight(whole), perm=(2, 3, 0, 1, 4, 5)))  # [3, 3, out blocks, blocks, 16, 16]
    for axis in 0, 1:
        windows = ops.concat(*_products(matrix, _parts(windows, axis, 3)), axis=axis)
    return ops.reshape(windows, shape=(36, *windows.shape[2:]))


# Decompositions: planes, and back.


def _behind(out, bias, residual, activation):
    if bias is not None:
        out = out + ops.reshape(widened(bias), shape=(-1, 1, 1, BLOCK))
    return applied(activation, out if residual is None else out + widened(residual))


def applied(activation, x):
    """What the activation of this name makes of x."""
    if activation == "none":
        return x
    return ops.gelu(x, approximate=False) if activation == "gelu" else getattr(ops, activation)(x)


def _through_planes(x, weight, strides, paddings, dilations, groups=1):
    planes = x if x.ndim == 4 else from_blocks(x, x.shape[1] * BLOCK)
    return to_blocks(ops.conv2d(
        widened(planes), widened(weight), None, strides=strides, paddings=paddings, dilations=dilations, groups=groups, data_format="NCHW"
    ))


@decompose.rule(conv2d_blocked)
def decompose_conv2d_blocked(x, weight, bias, residual, *, strides, paddings, dilations, activation):
    require_known("conv2d_blocked", "weight", weight.shape)
    m = weight.shape[0] * BLOCK
    if x.ndim == 4:
        _m, kh, kw, channels, _out = weight.shape
        plain = ops.reshape(ops.transpose(weight, perm=(0, 4, 3, 1, 2)), shape=(m, channels, kh, kw))
    else:
        _m, n, kh, kw, lanes, _out = weight.shape
        whole = filled(weight, 4, BLOCK) if lanes < BLOCK else weight
        plain = ops.reshape(ops.transpose(whole, perm=(0, 5, 1, 4, 2, 3)), shape=(m, n * BLOCK, kh, kw))
    out = _behind(_through_planes(x, plain, strides, paddings, dilations), bias, residual, activation)
    return ops.cast(out, dtype=x.dtype)


@decompose.rule(winograd_conv2d_blocked)
def decompose_winograd_conv2d_blocked(x, weight, bias, residual, *, paddings, activation):
    require_known("winograd_conv2d_blocked", "weight", weight.shape)
    require_known("winograd_conv2d_blocked", "x", x.shape[1:])
    batch, n, *size, _lanes = x.shape
    m = weight.shape[1]
    inputs, _windows, outputs = _transforms()
    wanted = [size[a] + paddings[2 * a] + paddings[2 * a + 1] - 2 for a in range(2)]
    h, w = (-(-count // 4) for count in wanted)  # tiles
    room = [4 * count + 2 - size[a] - paddings[2 * a] for a, count in enumerate((h, w))]
    framed = ops.pad(widened(x), paddings=(0, 0, 0, 0, paddings[0], room[0], paddings[2], room[1], 0, 0), value=0.0)
    lines = _products(inputs, _parts(framed, 2, 6, 4, h))
    tiles = [tile for line in lines for tile in _products(inputs, _parts(line, 3, 6, 4, w))]  # 36 times [n, blocks, h, w, 16]
    seen = ops.transpose(ops.concat(*(ops.unsqueeze(tile, axes=(0,)) for tile in tiles), axis=0), perm=(0, 1, 3, 4, 2, 5))
    matrix = ops.reshape(ops.transpose(widened(weight), perm=(0, 2, 3, 1, 4)), shape=(36, n * BLOCK, m * BLOCK))
    result = ops.matmul(ops.reshape(seen, shape=(36, batch * (h * w), n * BLOCK)), matrix, transpose_x=False, transpose_y=False)
    made = _parts(result, 0, 36)
    lines = [_products(outputs, made[6 * i : 6 * i + 6]) for i in range(6)]  # 6 times 4 of [1, tiles, out]
    pixels = list(zip(*(_products(outputs, column) for column in zip(*lines, strict=True)), strict=True))  # 4 times 4
    out = ops.concat(*(pixel for row in pixels for pixel in row), axis=0)
    out = ops.transpose(ops.reshape(out, shape=(4, 4, batch, h, w, m, BLOCK)), perm=(2, 5, 3, 0, 4, 1, 6))
    out = ops.reshape(out, shape=(batch, m, 4 * h, 4 * w, BLOCK))
    out = ops.slice(out, axes=(2, 3), starts=(0, 0), ends=tuple(wanted), steps=(1, 1))
    return ops.cast(_behind(out, bias, residual, activation), dtype=x.dtype)


@decompose.rule(depthwise_conv2d_blocked)
def decompose_depthwise_conv2d_blocked(x, weight, bias, residual, *, strides, paddings, dilations, activation):
    require_known("depthwise_conv2d_blocked", "weight", weight.shape)
    channels = weight.shape[0] * BLOCK
    plain = ops.reshape(ops.transpose(weight, perm=(0, 3, 1, 2)), shape=(channels, 1, *weight.shape[1:3]))
    out = _behind(_through_planes(x, plain, strides, paddings, dilations, channels), bias, residual, activation)
    return ops.cast(out, dtype=x.dtype)


@decompose.rule(max_pool2d_blocked)
def decompose_max_pool2d_blocked(x, *, kernel, strides, paddings, ceil_mode):
    planes = from_blocks(x, x.shape[1] * BLOCK)
    pooled, _mask = ops.max_pool2d(
        planes, kernel=kernel, strides=strides, paddings=paddings, ceil_mode=ceil_mode, data_format="NCHW"
    )
    return to_blocks(pooled)
