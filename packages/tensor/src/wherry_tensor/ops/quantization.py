"""Between floats and the integers that stand for them.

A float is `(q - zero_point) * scale`. `scale` is the step from integer to integer: positive and finite, which no op checks, for shape rules see no
data. Rounding is to the nearest integer, ties to the even one. NaN becomes `low`.

Scales and zero points belong to the whole tensor (`axis` None, shape [] or [1]), to the places along an axis (shape [n]), or to runs of `group`
places along it (the shape of the tensor, with ceil(n / group) along the axis). A zero point may be of any integer dtype; none is 0.
"""
from wherry_tensor import ops
from wherry_tensor._core import float32, float64, int8, int16, int32, uint8
from wherry_tensor.ops.declare import DType, Meta, decompose, infer, op
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    floats,
    integers,
    require_axis,
    require_dtype,
    require_known,
    same_shape,
    same_size,
    show,
)

quantize_linear = op("quantize_linear", "x, scale, zero_point?", axis=int, group=int, low=int, high=int, dtype=DType)
dequantize_linear = op("dequantize_linear", "x, scale, zero_point?", axis=int, group=int, dtype=DType)
# The two in one, in the dtype of x. Its gradients are those of training: straight through for x, of the learned step for the scale.
fake_quantize = op("fake_quantize", "x, scale, zero_point?", axis=int, group=int, low=int, high=int)
# Sums of products as integers of few bits: clip(round(float32(x + bias) * scale) + zero_point, low, high), `scale` [] or [n].
requantize = op("requantize", "x, scale, bias?", axis=int, zero_point=int, low=int, high=int, dtype=DType)
# Two numbers of 4 bits in a byte along the last axis, the first in the lower half; an odd last one lies beside a 0.
pack_int4 = op("pack_int4", "x")
unpack_int4 = op("unpack_int4", "x", size=int, signed=bool)
# float8 e4m3fn in a byte: 1 bit of sign, 4 of an exponent, 3 of a fraction; no infinity, NaN is 127. What is too large becomes 448, the largest.
quantize_fp8 = op("quantize_fp8", "x")
dequantize_fp8 = op("dequantize_fp8", "x", dtype=DType)

quantized_dtypes = (uint8, int8, int16)
_LIMITS = {uint8: (0, 255), int8: (-128, 127), int16: (-(2**15), 2**15 - 1)}


# Shape rules.


@infer.rule(quantize_linear)
def infer_quantize_linear(x, scale, zero_point, *, axis, group, low, high, dtype):
    name = "quantize_linear"
    require_dtype(name, "x", x.dtype, floats)
    _require_scale(name, x, scale, zero_point, axis, group, x.dtype)
    require_limits(name, low, high, dtype)
    return Meta(x.shape, dtype)


@infer.rule(dequantize_linear)
def infer_dequantize_linear(x, scale, zero_point, *, axis, group, dtype):
    name = "dequantize_linear"
    require_dtype(name, "x", x.dtype, (*quantized_dtypes, int32))
    require_dtype(name, "dtype", dtype, floats)
    _require_scale(name, x, scale, zero_point, axis, group, dtype)
    return Meta(x.shape, dtype)


@infer.rule(fake_quantize)
def infer_fake_quantize(x, scale, zero_point, *, axis, group, low, high):
    name = "fake_quantize"
    require_dtype(name, "x", x.dtype, floats)
    _require_scale(name, x, scale, zero_point, axis, group, x.dtype)
    require_limits(name, low, high, int16 if low < 0 else None)
    return Meta(x.shape, x.dtype)


@infer.rule(requantize)
def infer_requantize(x, scale, bias, *, axis, zero_point, low, high, dtype):
    name = "requantize"
    require_dtype(name, "x", x.dtype, (int32,))
    _require_scale(name, x, scale, None, axis, None, float32)
    if bias is not None:
        require_dtype(name, "bias", bias.dtype, (int32,))
        _require_places(name, "bias", x, bias.shape, axis, None)
    require_limits(name, low, high, dtype)
    require_zero_point(name, "zero_point", zero_point, dtype)
    return Meta(x.shape, dtype)


@infer.rule(pack_int4)
def infer_pack_int4(x):
    require_dtype("pack_int4", "x", x.dtype, (uint8, int8))
    _require_last_axis("pack_int4", x)
    n = x.shape[-1]
    return Meta((*x.shape[:-1], UNKNOWN if n == UNKNOWN else (n + 1) // 2), uint8)


@infer.rule(unpack_int4)
def infer_unpack_int4(x, *, size, signed):
    require_dtype("unpack_int4", "x", x.dtype, (uint8,))
    _require_last_axis("unpack_int4", x)
    if size < 0 or not same_size(x.shape[-1], (size + 1) // 2):
        raise ValueError(
            f"unpack_int4: `x` does not hold so many numbers. Got size={size} and x of shape {show(x.shape)}, expected a last axis of "
            f"{(max(size, 0) + 1) // 2}. A byte holds two numbers; only the last may hold one."
        )
    return Meta((*x.shape[:-1], size), int8 if signed else uint8)


@infer.rule(quantize_fp8)
def infer_quantize_fp8(x):
    require_dtype("quantize_fp8", "x", x.dtype, floats)
    return Meta(x.shape, uint8)


@infer.rule(dequantize_fp8)
def infer_dequantize_fp8(x, *, dtype):
    require_dtype("dequantize_fp8", "x", x.dtype, (uint8,))
    require_dtype("dequantize_fp8", "dtype", dtype, floats)
    return Meta(x.shape, dtype)


def require_limits(name, low, high, dtype):
    """Refuse limits that the dtype (None: 16 bits without sign) does not hold."""
    if dtype is not None:
        require_dtype(name, "dtype", dtype, quantized_dtypes)
    least, largest = _LIMITS.get(dtype, (0, 2**16 - 1))
    if not least <= low < high <= largest:
        raise ValueError(
            f"{name}: low and high are not a range of {dtype.name if dtype else '16 bits'}. Got low={low} and high={high}, expected "
            f"{least} <= low < high <= {largest}. Choose a dtype that holds them."
        )


def require_zero_point(name, what, zero_point, dtype):
    """Refuse a zero point, given as a number, that is not a value of the dtype."""
    least, largest = _LIMITS[dtype]
    if not least <= zero_point <= largest:
        raise ValueError(
            f"{name}: {what} is out of range. Got {what}={zero_point}, expected a value of {dtype.name}: {least} to {largest}. "
            f"Zero must be a number that can be stored."
        )


def _require_scale(name, x, scale, zero_point, axis, group, dtype):
    require_dtype(name, "scale", scale.dtype, tuple(dict.fromkeys((float32, dtype))))
    _require_places(name, "scale", x, scale.shape, axis, group)
    if zero_point is None:
        return
    require_dtype(name, "zero_point", zero_point.dtype, integers)
    if not same_shape(zero_point.shape, scale.shape):
        raise ValueError(
            f"{name}: `zero_point` and `scale` have different shapes. Got {show(zero_point.shape)} and {show(scale.shape)}, expected one shape. "
            f"Give each scale a zero point of its own, or none at all."
        )


def _require_places(name, what, x, shape, axis, group):
    """Refuse scales that do not lie as `axis` and `group` say."""
    if axis is None:
        wanted = [(), (1,)]
        if group is not None:
            raise ValueError(
                f"{name}: groups need an axis. Got group={group} and axis=None, expected an axis along which groups lie. "
                f"Give axis, or group=None."
            )
    else:
        require_axis(name, axis, x.shape)
        n = x.shape[axis]
        if group is None:
            wanted = [(n,)]
        elif group < 1:
            raise ValueError(
                f"{name}: a group has no places. Got group={group}, expected at least 1, or None. None gives each place along the axis its scale."
            )
        else:
            wanted = [(*x.shape[:axis], UNKNOWN if n == UNKNOWN else -(-n // group), *x.shape[axis + 1:])]
    if not any(same_shape(shape, one) for one in wanted):
        along = "" if axis is None else f", axis={axis}" + ("" if group is None else f" and group={group}")
        raise ValueError(
            f"{name}: `{what}` does not fit `x`. Got {what} of shape {show(shape)} for x of shape {show(x.shape)}{along}, expected "
            f"{' or '.join(map(show, wanted))}. axis=None takes one for all, axis alone one for each place, group one for so many places."
        )


def _require_last_axis(name, x):
    if not x.shape:
        raise ValueError(
            f"{name}: `x` is 0-d. Got shape [], expected at least one axis: numbers are packed along the last. Reshape it to [1]."
        )


# Decompositions.


def number(value, dtype):
    """A number as a 0-d tensor."""
    return ops.full(shape=(), value=value, dtype=dtype)


def rounded(x):
    """Floats (float32 or float64) rounded, ties to even, and kept within some 17 bits; NaN becomes the least of them.

    Beside 1.5 * 2^23 (2^52) floats are whole, and the addition rounds as it should."""
    least, shift = number(-(2.0**17), x.dtype), number(1.5 * 2.0 ** (52 if x.dtype is float64 else 23), x.dtype)
    kept = ops.minimum(ops.where(ops.greater_equal(x, least), x, least), number(2.0**17, x.dtype))
    return (kept + shift) - shift


def limited(x, low, high):
    """Floats without NaN, in [low, high]."""
    return ops.minimum(ops.maximum(x, number(low, x.dtype)), number(high, x.dtype))


def spread(scale, x, axis, group):
    """A scale or zero point with the rank of x, so that both broadcast."""
    if axis is None:
        return ops.reshape(scale, shape=())
    if group is None:
        return ops.reshape(scale, shape=(*(1,) * axis, -1, *(1,) * (x.ndim - 1 - axis)))
    n = x.shape[axis]
    require_known("a scale of groups", "x", (n,))
    each = ops.repeat_interleave(scale, repeats=group, axis=axis)
    return each if n % group == 0 else ops.slice(each, axes=(axis,), starts=(0,), ends=(n,), steps=(1,))


def computed_in(dtype):
    """The dtype of arithmetic on floats of this one."""
    return float64 if dtype is float64 else float32


def _steps(x, scale, zero_point, axis, group, low, high):
    """x in the dtype that is computed in, what stands for it as floats without fraction, and what they are spread from."""
    dtype = computed_in(x.dtype)
    x, scale = ops.cast(x, dtype=dtype), ops.cast(spread(scale, x, axis, group), dtype=dtype)
    zero = None if zero_point is None else ops.cast(spread(zero_point, x, axis, group), dtype=dtype)
    q = rounded(x / scale)
    return x, scale, zero, limited(q if zero is None else q + zero, low, high)


@decompose.rule(quantize_linear)
def decompose_quantize_linear(x, scale, zero_point, *, axis, group, low, high, dtype):
    return ops.cast(_steps(x, scale, zero_point, axis, group, low, high)[-1], dtype=dtype)


@decompose.rule(dequantize_linear)
def decompose_dequantize_linear(x, scale, zero_point, *, axis, group, dtype):
    wide, q = computed_in(dtype), ops.cast(x, dtype=int32)
    if zero_point is not None:
        q = q - ops.cast(spread(zero_point, x, axis, group), dtype=int32)
    return ops.cast(ops.cast(q, dtype=wide) * ops.cast(spread(scale, x, axis, group), dtype=wide), dtype=dtype)


@decompose.rule(fake_quantize)
def decompose_fake_quantize(x, scale, zero_point, *, axis, group, low, high):
    _x, scale, zero, q = _steps(x, scale, zero_point, axis, group, low, high)
    return ops.cast((q if zero is None else q - zero) * scale, dtype=x.dtype)


@decompose.rule(requantize)
def decompose_requantize(x, scale, bias, *, axis, zero_point, low, high, dtype):
    if bias is not None:
        x = x + spread(bias, x, axis, None)
    q = rounded(ops.cast(x, dtype=float32) * spread(scale, x, axis, None))
    return ops.cast(limited(q + number(zero_point, float32), low, high), dtype=dtype)


@decompose.rule(pack_int4)
def decompose_pack_int4(x):
    n = x.shape[-1]
    require_known("pack_int4", "x", (n,))
    half = ops.bitwise_and(ops.cast(x, dtype=uint8), number(15, uint8))
    if n % 2:
        half = ops.pad(half, paddings=(*(0,) * (2 * x.ndim - 1), 1), value=0.0)
    last = x.ndim - 1
    low, high = (ops.slice(half, axes=(last,), starts=(i,), ends=(n + n % 2,), steps=(2,)) for i in range(2))
    return low + high * number(16, uint8)


@decompose.rule(unpack_int4)
def decompose_unpack_int4(x, *, size, signed):
    sixteen, last = number(16, uint8), x.ndim
    halves = ops.remainder(x, sixteen), ops.floor_divide(x, sixteen)
    both = ops.concat(*(ops.unsqueeze(half, axes=(last,)) for half in halves), axis=last)
    out = ops.reshape(both, shape=(*x.shape[:-1], size + size % 2))
    if size % 2:
        out = ops.copy(ops.slice(out, axes=(last - 1,), starts=(0,), ends=(size,), steps=(1,)))
    if not signed:
        return out
    eight = number(8, int8)
    return ops.bitwise_xor(ops.cast(out, dtype=int8), eight) - eight


@decompose.rule(quantize_fp8)
def decompose_quantize_fp8(x):
    # In steps of an eighth of the power of two below, but at least of 2^-9: powers of two change no digit, so that only one rounding is left.
    x = ops.cast(x, dtype=computed_in(x.dtype))
    zero, one, two = (number(value, x.dtype) for value in (0.0, 1.0, 2.0))
    size = ops.minimum(ops.abs(x), number(448.0, x.dtype))
    exponent, step = zero, number(2.0**-9, x.dtype)
    for power in range(-5, 9):
        reached = ops.greater_equal(size, number(2.0**power, x.dtype))
        exponent = exponent + ops.where(reached, one, zero)
        step = step * ops.where(reached, two, one)
    code = exponent * number(8.0, x.dtype) + rounded(size / step)
    below = ops.where(ops.equal(x, zero), ops.less_than(one / x, zero), ops.less_than(x, zero))  # -0.0 too
    code = code + ops.where(below, number(128.0, x.dtype), zero)
    return ops.cast(ops.where(ops.isnan(x), number(127.0, x.dtype), code), dtype=uint8)


@decompose.rule(dequantize_fp8)
def decompose_dequantize_fp8(x, *, dtype):
    wide = computed_in(dtype)
    zero, one = number(0.0, wide), number(1.0, wide)
    rest = ops.cast(x, dtype=wide)
    factor, parts = one, {}
    for bit in (128, 64, 32, 16, 8):
        there = ops.greater_equal(rest, number(float(bit), wide))
        parts[bit] = there
        rest = ops.where(there, rest - number(float(bit), wide), rest)
        if bit < 128:
            factor = factor * ops.where(there, number(2.0 ** (bit // 8), wide), one)
    normal = ops.greater_equal(factor, number(2.0, wide))
    value = ops.where(normal, (rest + number(8.0, wide)) * factor * number(2.0**-10, wide), rest * number(2.0**-9, wide))
    value = ops.where(ops.greater_than(value, number(448.0, wide)), zero / zero, value)
    return ops.cast(ops.where(parts[128], ops.negative(value), value), dtype=dtype)
