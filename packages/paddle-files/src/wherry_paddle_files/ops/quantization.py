"""Numbers of few bits with a scale: what Paddle's quantization of both styles writes.

Paddle's scale is the largest magnitude, the op's is the step: `scale / (2 ** (bits - 1) - 1)`. Whole numbers of Paddle are often held in floats;
here they are int8. Operators that only observe (`only_observer`, thresholds of outputs) hand their input on.
"""
import struct

from wherry_paddle_files.column import reads, writes
from wherry_tensor import _core, ops

# Operators named fake_ round half away from zero, quantize_linear half to even. Dividing by a step that is smaller by less than what float32
# can tell of a whole number decides ties as they do, and nothing else.
_AWAY = 1.0 - 2.0**-22


def _levels(o, name="bit_length"):
    bits = o.integer(name, 8)
    if not 2 <= bits <= 16:
        raise o.bad(f"{name}={bits}", "2 to 16 bits")
    return 2 ** (bits - 1) - 1


def _range(o, levels):
    """Check the range of whole numbers, where an operator names one: Paddle 3's do."""
    low, high = o.integer("qmin", -levels - 1), o.integer("qmax", levels)
    if (low, high) != (-levels - 1, levels):
        raise o.bad(f"whole numbers from {low} to {high}", f"those of bit_length, {-levels - 1} to {levels}")


def _step(scale, levels):
    return ops.divide(scale, ops.full(shape=(), value=float(levels), dtype=scale.dtype))


def _one(scale):
    """A scale of one number, without axes."""
    return ops.reshape(scale, shape=()) if scale.ndim else scale


def _placed(o, scale):
    """The scale and where it belongs."""
    axis = o.integer("quant_axis", -1)
    if scale.ndim == 0 or (axis == -1 and scale.ndim == 1):
        return _one(scale), None
    if scale.ndim != 1:
        raise o.bad(f"scales of shape {list(scale.shape)}", "one number, or one for each place of quant_axis")
    return scale, axis


def _holder(levels):
    return _core.int8 if levels <= 127 else _core.int16


def _rounded(o, x, scale, axis, levels, low=None):
    """Whole numbers, as the operators named fake_ round them: half away from zero, unless Paddle 3 says half to even."""
    step = _step(scale, levels)
    if o.integer("round_type", 1):
        step = ops.multiply(step, ops.full(shape=(), value=_AWAY, dtype=scale.dtype))
    low = -levels if low is None else low
    return ops.quantize_linear(x, step, None, axis=axis, group=None, low=low, high=levels, dtype=_holder(levels))


def _back(q, step, axis, dtype):
    return ops.dequantize_linear(q, step, None, axis=axis, group=None, dtype=dtype)


@reads("quantize_linear", out="Y")
def read_quantize_linear(o):
    x = o.x("X")
    if o.flag("only_observer"):
        return x
    levels = _levels(o)
    _range(o, levels)
    scale, axis = _placed(o, o.scale("Scale"))
    if o.integer("round_type", 0):
        return _rounded(o, x, scale, axis, levels, -levels - 1)
    return ops.quantize_linear(x, _step(scale, levels), None, axis=axis, group=None, low=-levels - 1, high=levels, dtype=_holder(levels))


@reads("dequantize_linear", out="Y")
def read_dequantize_linear(o):
    x = o.x("X")
    if o.flag("only_observer"):
        return x
    levels = _levels(o)
    _range(o, levels)
    scale, axis = _placed(o, o.scale("Scale"))
    if x.dtype.is_floating:
        x = ops.cast(x, dtype=_holder(levels))
    return _back(x, _step(scale, levels), axis, scale.dtype)


# The operators of 2.3.


def _largest(x, axis=None):
    axes = tuple(i for i in range(x.ndim) if i != axis)
    return ops.reduce_max(ops.abs(x), axes=axes, keepdim=False)


def _fixed(o):
    """The scale of an operator that has one: a file for prediction does not change it."""
    return _one(o.scale("InScale"))


def _whole(o, scale, axis, **others):
    """Whole numbers, held in floats; their step is 1."""
    levels, x = _levels(o), o.x("X")
    q = _rounded(o, x, scale, axis, levels)
    return {"Out": _back(q, ops.full(shape=(), value=1.0, dtype=x.dtype), None, x.dtype), **others}


def _simulated(o, scale, axis, **others):
    """Values as whole numbers say them."""
    levels, x = _levels(o), o.x("X")
    return {"Out": _back(_rounded(o, x, scale, axis, levels), _step(scale, levels), axis, x.dtype), **others}


def _state(o):
    return {out: o.x(name) for out, name in (("OutScale", "InScale"), ("OutAccum", "InAccum"), ("OutState", "InState")) if o.maybe(name) is not None}


@reads("fake_quantize_range_abs_max", "fake_quantize_moving_average_abs_max")
def read_fake_quantize(o):
    return _whole(o, _fixed(o), None, **_state(o))


@reads("fake_quantize_dequantize_moving_average_abs_max")
def read_fake_quantize_dequantize(o):
    return _simulated(o, _fixed(o), None, **_state(o))


@reads("fake_quantize_abs_max")
def read_fake_quantize_abs_max(o):
    scale = _largest(o.x("X"))
    return _whole(o, scale, None, OutScale=ops.reshape(scale, shape=(1,)))


@reads("fake_quantize_dequantize_abs_max")
def read_fake_quantize_dequantize_abs_max(o):
    scale = _largest(o.x("X"))
    return _simulated(o, scale, None, OutScale=ops.reshape(scale, shape=(1,)))


@reads("fake_channel_wise_quantize_abs_max")
def read_fake_channel_wise_quantize(o):
    axis = o.integer("quant_axis", 0)
    scale = o.scale("InScale") if o.flag("is_test") and o.maybe("InScale") is not None else _largest(o.x("X"), axis)
    return _whole(o, scale, axis, OutScale=scale)


@reads("fake_channel_wise_quantize_dequantize_abs_max")
def read_fake_channel_wise_quantize_dequantize(o):
    axis = o.integer("quant_axis", 0)
    scale = _largest(o.x("X"), axis)
    return _simulated(o, scale, axis, OutScale=scale)


@reads("moving_average_abs_max_scale")
def read_moving_average_scale(o):
    x = o.x("X")
    kept = {out: o.x(name) for out, name in (("OutAccum", "InAccum"), ("OutState", "InState")) if o.maybe(name) is not None}
    if o.out("OutScale") is not None:
        kept["OutScale"] = ops.reshape(_largest(x), shape=(1,))
    return {"Out": x, **kept}


@reads("fake_dequantize_max_abs")
def read_fake_dequantize(o):
    x, scale = o.x("X"), _one(o.scale("Scale"))
    return ops.multiply(x, _step(scale, o.number("max_range", 127.0)))


@reads("fake_channel_wise_dequantize_max_abs")
def read_fake_channel_wise_dequantize(o):
    o.require_scales("Scales")
    x, scales, bits = o.x("X"), o.xs("Scales"), o.integers("quant_bits", [8])
    if not 1 <= len(scales) <= 2 or len(bits) < len(scales) or any(not 2 <= b <= 16 for b in bits):
        raise o.bad(f"{len(scales)} scales and quant_bits={bits}", "one or two scales with 2 to 16 bits each")
    # With the scale of the input, the channels are those of a result: after the axes that its rows have.
    axis = o.integer("quant_axis", 0) if len(scales) == 1 else max(o.integer("x_num_col_dims", 1), 1)
    if not 0 <= axis < x.ndim:
        raise o.bad(f"an axis {axis} of {x.ndim}", "an axis of X")
    channels = ops.reshape(scales[0], shape=tuple(-1 if i == axis else 1 for i in range(x.ndim)))
    out = ops.multiply(x, _step(channels, 2 ** (bits[0] - 1) - 1))
    return out if len(scales) == 1 else ops.multiply(out, _step(_one(scales[1]), 2 ** (bits[1] - 1) - 1))


# Writing. A step that is a constant becomes Paddle's scale, a constant too.


def _bits(low, high):
    """The bits of whole numbers in this range; None where Paddle has no such range."""
    bits = int(high).bit_length() + 1
    return bits if high == 2 ** (bits - 1) - 1 and low in (-high, -high - 1) else None


def _scale(w, step, bits):
    levels = float(2 ** (bits - 1) - 1)
    number = w.number(step)
    if number is not None:
        return w.constant(_single(_single(number) * levels), step.dtype, step.shape or (1,))
    return w("scale", {"X": step}, {"scale": levels, "bias": 0.0, "bias_after_scale": True})


def _single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def _zero(w, scale, axis):
    return w.constant(0, "int32", scale.shape if axis is not None else (1,))


def _attrs(axis, bits):
    return {"quant_axis": -1 if axis is None else axis, "bit_length": bits, "round_type": 0, "is_test": True, "only_observer": False}


@writes(ops.quantize_linear)
def write_quantize_linear(w, x, scale, zero_point=None, *, axis, group, low, high, dtype):
    bits = _bits(low, high)
    if zero_point is not None or group is not None or bits is None or low != -high - 1:
        return NotImplemented
    if dtype not in (_core.int8, _core.int16) or x.dtype != "float32":
        return NotImplemented
    scale = _scale(w, scale, bits)
    # Its kernel writes whole numbers in floats. dequantize_linear, before which they mostly stand, takes both.
    out = w("quantize_linear", {"X": x, "Scale": scale, "ZeroPoint": _zero(w, scale, axis)}, _attrs(axis, bits), "Y", dtype="float32", shape=x.shape)
    return w.cast(out, dtype)


@writes(ops.dequantize_linear)
def write_dequantize_linear(w, x, scale, zero_point=None, *, axis, group, dtype):
    if zero_point is not None or group is not None or x.dtype != "int8" or dtype is not _core.float32 or scale.dtype != "float32":
        return NotImplemented
    scale = _scale(w, scale, 8)
    given = {"X": x if w.takes_int8 else w.cast(x, _core.float32), "Scale": scale, "ZeroPoint": _zero(w, scale, axis)}
    return w("dequantize_linear", given, _attrs(axis, 8), "Y", dtype="float32", shape=x.shape)
