"""Pictures of bytes, resized and recoloured: the bytes that Pillow gives, found by comparing with it.

Both are steps of Pillow's, and they round as it does: a sum of weighted bytes is an integer, and what is computed of colours is float32.
"""
import math

from wherry_tensor import _core, ops
from wherry_tensor._core import float32, float64, int32, int64, uint8
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.quantization import number
from wherry_tensor.ops.shapes import require_axis, require_dtype, require_known, require_rank, same_size, show

# Resized along an axis. A new place covers old / new places, and the filter is as much wider where that is more than one: nothing is skipped.
# A weight has 22 bits behind the point, the weights of a place together 1; sums are rounded, halves up, and cut to bytes.
resample_bytes = op("resample_bytes", "x", axis=int, size=int, method=str)
# Pixels [..., 4] of red, green, blue and a byte that stays as it is. With `kind`
#   "brightness"  x * factor; as those below, cut downwards and to a byte
#   "contrast"    gray + factor * (x - gray), the mean gray of all pixels rounded
#   "saturation"  gray + factor * (x - gray), the gray of the pixel
#   "hue"         through hue, saturation and value, each a byte; the hue goes on by `factor`, a whole number from 0 to 255
recolor = op("recolor", "x, factor", kind=str)

_FRACTION = 22
_GRAY = (19595, 38470, 7471)  # of 65536: luma of ITU-R BT.601
_HAMMING = (0.5400000214576721, 0.46000000834465027)  # 0.54 and 0.46 in float32, which are more than 1 together
_KINDS = ("brightness", "contrast", "saturation", "hue")


def _sinc(x):
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def _cubic(x):
    return ((1.5 * x - 2.5) * x) * x + 1 if x < 1 else (((x - 5) * x + 8) * x - 4) * -0.5


_FILTERS = {  # how far each reaches, and its weight at a distance within
    "box": (0.5, lambda x: float(-0.5 < x <= 0.5)),
    "bilinear": (1.0, lambda x: max(1 - abs(x), 0.0)),
    "hamming": (1.0, lambda x: _sinc(x) * (_HAMMING[0] + _HAMMING[1] * math.cos(math.pi * x)) if 0 < abs(x) < 1 else float(x == 0)),
    "bicubic": (2.0, lambda x: _cubic(abs(x)) if abs(x) < 2 else 0.0),
    "lanczos": (3.0, lambda x: _sinc(x) * _sinc(x / 3) if -3 <= x < 3 else 0.0),
}


@infer.rule(resample_bytes)
def infer_resample_bytes(x, *, axis, size, method):
    name = "resample_bytes"
    require_dtype(name, "x", x.dtype, (uint8,))
    require_axis(name, axis, x.shape)
    if method not in _FILTERS:
        raise ValueError(f"{name}: the method is unknown. Got {method!r}, expected one of {', '.join(_FILTERS)}. bilinear is usual.")
    if size < 1 or x.shape[axis] == 0:
        raise ValueError(
            f"{name}: nothing can be resized. Got size={size} and x of shape {show(x.shape)}, expected at least 1 place each. Look at what cut it."
        )
    return Meta((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)


@infer.rule(recolor)
def infer_recolor(x, factor, *, kind):
    name = "recolor"
    require_dtype(name, "x", x.dtype, (uint8,))
    require_dtype(name, "factor", factor.dtype, (float32,))
    require_rank(name, "factor", factor.shape, 0)
    if kind not in _KINDS:
        raise ValueError(f"{name}: the kind is unknown. Got {kind!r}, expected one of {', '.join(_KINDS)}. Choose one of them.")
    if not x.shape or not same_size(x.shape[-1], 4):
        raise ValueError(f"{name}: `x` has no pixels of 4 bytes. Got shape {show(x.shape)}, expected [..., 4]. Add a byte to each pixel.")
    return Meta(x.shape, x.dtype)


def fixed_weights(places, size, method):
    """For each of `size` new places, the first old one and the integers by which it and those behind it are multiplied."""
    reach, weight = _FILTERS[method]
    scale = places / size
    wide = max(scale, 1.0)
    for i in range(size):
        center = (i + 0.5) * scale
        first, last = max(int(center - reach * wide + 0.5), 0), min(int(center + reach * wide + 0.5), places)
        shares = [weight((place - center + 0.5) * (1 / wide)) for place in range(first, last)]
        total = sum(shares) or 1.0
        yield first, [int(math.copysign(0.5, share) + share / total * (1 << _FRACTION)) for share in shares]


@decompose.rule(resample_bytes)
def decompose_resample_bytes(x, *, axis, size, method):
    require_known("resample_bytes", "x", x.shape[axis : axis + 1])
    rows = list(fixed_weights(x.shape[axis], size, method))
    tail = (1,) * (x.ndim - 1 - axis)
    total = number(1 << (_FRACTION - 1), int32)
    for k in range(max(len(weights) for _, weights in rows)):
        places = [first + min(k, len(weights) - 1) for first, weights in rows]
        shares = [weights[k] if k < len(weights) else 0 for _, weights in rows]
        picked = ops.cast(ops.gather(x, _integers(places, int64), axis), dtype=int32)
        total = total + picked * ops.reshape(_integers(shares, int32), (size, *tail))
    return _byte(ops.floor_divide(total, number(1 << _FRACTION, int32)))


def _integers(values, dtype):
    return _core.from_values(values, (len(values),), dtype)


def _byte(x):
    return ops.cast(ops.clip(x, number(0, x.dtype), number(255, x.dtype)), dtype=uint8)


@decompose.rule(recolor)
def decompose_recolor(x, factor, *, kind):
    red, green, blue, last = (ops.cast(ops.select(x, x.ndim - 1, channel), dtype=int32) for channel in range(4))
    if kind == "hue":
        changed = _turned(red, green, blue, ops.cast(factor, dtype=int32))
        return _pixels(*(ops.cast(channel, dtype=uint8) for channel in (*changed, last)))
    if kind == "brightness":
        base = number(0, float32)
    else:
        parts = (channel * number(share, int32) for channel, share in zip((red, green, blue), _GRAY, strict=True))
        gray = ops.floor_divide(sum(parts, number(1 << 15, int32)), number(1 << 16, int32))
        if kind == "contrast":
            mean = ops.reduce_mean(ops.cast(gray, dtype=float64), axes=tuple(range(gray.ndim)), keepdim=False)
            gray = ops.floor(mean + number(0.5, float64))
        base = ops.cast(gray, dtype=float32)
    blended = (_byte(base + factor * (ops.cast(channel, dtype=float32) - base)) for channel in (red, green, blue))
    return _pixels(*blended, ops.cast(last, dtype=uint8))


def _pixels(*channels):
    axis = channels[0].ndim
    return ops.concat(*(ops.unsqueeze(channel, axes=(axis,)) for channel in channels), axis=axis)


def _turned(red, green, blue, step):
    """Channels as integers, with the hue `step` of 256 further; `wherry_ops_cpu` computes it the same way."""
    one, zero = number(1, float32), number(0, float32)
    most, least = ops.maximum(ops.maximum(red, green), blue), ops.minimum(ops.minimum(red, green), blue)
    spread, value = most - least, ops.cast(most, dtype=float32)
    # How far the middle channel is from the largest: sixths of a turn before or behind the corner of the largest.
    q = _floats(most + most + least - red - green - blue) / _floats(ops.maximum(spread, number(1, int32)))
    no_red, no_blue = ops.equal(red, least), ops.equal(blue, least)
    sixths = ops.where(no_red, q + number(3, float32), number(5, float32) - q)
    sixths = ops.where(ops.equal(green, most), ops.where(no_blue, q + one, number(3, float32) - q), sixths)
    sixths = ops.where(ops.equal(red, most), ops.where(no_blue, one - q, q - one), sixths) / number(6, float32)
    sixths = ops.where(ops.less_than(sixths, zero), sixths + one, sixths)
    hue = ops.where(ops.equal(spread, number(0, int32)), spread, ops.cast(sixths * number(255, float32), dtype=int32))
    hue = ops.remainder(hue + step, number(256, int32))
    share = _floats(spread) / _floats(ops.maximum(most, number(1, int32))) * number(255, float32)
    share = ops.trunc(share) / number(255, float32)
    at = _floats(hue) * number(6, float32) / number(255, float32)
    part = ops.floor(at)
    shares = one, at - part, one - (at - part)
    low, falling, rising = (ops.cast(ops.round(value * (one - share * rest)), dtype=int32) for rest in shares)
    channels = (most, falling, low, low, rising), (rising, most, most, falling, low, low), (low, low, rising, most, most, falling)
    return [_chosen(part, *channel) for channel in channels]


def _chosen(part, first, *others):
    """The first tensor, or of the others the one whose number this is."""
    for i, other in enumerate(others, 1):
        first = ops.where(ops.equal(part, number(i, float32)), other, first)
    return first


def _floats(x):
    return ops.cast(x, dtype=float32)
