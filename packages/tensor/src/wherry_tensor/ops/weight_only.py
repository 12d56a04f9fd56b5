"""Products of floats with weights of few bits, which are read as they lie: for weights that come out of memory once for a few rows.

Nothing of the inputs is rounded. A weight is `(q - zero_point) * scale`, with a scale for each output and group of inputs.
"""
from wherry_tensor import ops
from wherry_tensor._core import float32, float64, int8, uint8
from wherry_tensor.ops.blocked import filled
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.quantization import number
from wherry_tensor.ops.quantized import BLOCK, blocks_of, require_packed
from wherry_tensor.ops.recurrent import infer_gru, infer_lstm
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    floats,
    require_dtype,
    require_known,
    require_rank,
    require_same_shape,
    same_size,
    show,
)

EIGHT = 8  # inputs in the four bytes of an output, where weights have 4 bits

# x [..., in] floats by a weight of integers, which is read as it lies. int8 [out blocks, in, 16]; or, of 4 bits, uint8 [out blocks, in eights,
# 16, 4]: byte b of an output's four holds inputs 2 b and 2 b + 1 of the eight, the first in the lower half. scale [groups, out] for `group`
# inputs each (0: all of them). Without zero_point 8 stands for zero where there are 4 bits, and 0 otherwise.
weight_only_linear = op("weight_only_linear", "x, weight, scale, zero_point?, bias?", group=int)
# As `lstm` and `gru`, whose weights [gates * H, width] lie as int8 [out blocks, width, 16] with a scale for each output, [1, gates * H].
weight_only_lstm = op(
    "weight_only_lstm", "x, h, c, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length?", reverse=bool, outputs="out, h_last, c_last"
)
weight_only_gru = op(
    "weight_only_gru", "x, h, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length?", reverse=bool, outputs="out, h_last"
)


# Weights in order.


def packed_int8(weight):
    """int8 [in, out] as weight_only_linear takes it."""
    inside, out = weight.shape
    m = blocks_of(out, BLOCK)
    return ops.copy(ops.transpose(ops.reshape(filled(weight, 1, m * BLOCK), shape=(inside, m, BLOCK)), perm=(1, 0, 2)))


def packed_int4(weight):
    """uint8 [in, out] of numbers in [0, 15] as weight_only_linear takes it."""
    inside, out = weight.shape
    n, m = blocks_of(inside, EIGHT), blocks_of(out, BLOCK)
    full = ops.reshape(filled(filled(weight, 0, n * EIGHT), 1, m * BLOCK), shape=(n, EIGHT, m, BLOCK))
    return ops.pack_int4(ops.copy(ops.transpose(full, perm=(2, 0, 3, 1))))


def _plain_weight(weight, inside, out):
    if weight.ndim == 3:
        whole = ops.transpose(weight, perm=(1, 0, 2))
    else:
        whole = ops.transpose(ops.unpack_int4(weight, size=EIGHT, signed=False), perm=(1, 3, 0, 2))
    rows = whole.shape[0] * (1 if weight.ndim == 3 else EIGHT)
    whole = ops.reshape(whole, shape=(rows, weight.shape[0] * BLOCK))
    return ops.slice(whole, axes=(0, 1), starts=(0, 0), ends=(inside, out), steps=(1, 1))


# Shape rule.


@infer.rule(weight_only_linear)
def infer_weight_only_linear(x, weight, scale, zero_point, bias, *, group):
    name = "weight_only_linear"
    require_dtype(name, "x", x.dtype, floats)
    four = weight.dtype is uint8
    each = EIGHT if four else 1
    layout = ("[out blocks, in eights, 16, 4]", (UNKNOWN, UNKNOWN, BLOCK, 4), "weight_only.packed_int4") if four else (
        "[out blocks, in, 16]", (UNKNOWN, UNKNOWN, BLOCK), "weight_only.packed_int8")
    require_packed(name, weight, weight.dtype if four else int8, *layout)
    if not x.shape or not same_size(blocks_of(x.shape[-1], each), weight.shape[1]):
        raise ValueError(
            f"{name}: `x` does not fit `weight`. Got x of shape {show(x.shape)} and weight of shape {show(weight.shape)} {weight.dtype.name}, "
            f"expected a last axis of x of {weight.shape[1]}{f' * {each}, or less than {each} less' if four else ''}. The weight is {layout[0]}."
        )
    if group < 0 or group % EIGHT:
        raise ValueError(
            f"{name}: groups of this size are not served. Got group={group}, expected 0 (all inputs in one) or a multiple of {EIGHT}. "
            f"Usual ones are 32, 64 and 128."
        )
    require_dtype(name, "scale", scale.dtype, floats)
    n = x.shape[-1]
    groups = 1 if group == 0 else blocks_of(n, group)
    if len(scale.shape) != 2 or not same_size(scale.shape[0], groups) or not same_size(blocks_of(scale.shape[1], BLOCK), weight.shape[0]):
        raise ValueError(
            f"{name}: `scale` does not fit. Got scale of shape {show(scale.shape)} for weight of shape {show(weight.shape)}, {n} inputs and "
            f"group={group}, expected [{groups}, out] with {weight.shape[0]} blocks of up to 16 outputs. Give one scale for each group and output."
        )
    out = scale.shape[1]
    if zero_point is not None:
        require_dtype(name, "zero_point", zero_point.dtype, (weight.dtype,))
        require_same_shape(name, "zero_point", zero_point.shape, "scale", scale.shape)
    if bias is not None:
        require_dtype(name, "bias", bias.dtype, tuple(dict.fromkeys((float32, x.dtype))))
        if not (len(bias.shape) == 1 and same_size(bias.shape[0], out)):
            raise ValueError(
                f"{name}: `bias` does not fit the output. Got shape {show(bias.shape)}, expected [{out}]. Give one value for each output."
            )
    return Meta((*x.shape[:-1], out), x.dtype)


@infer.rule(weight_only_lstm)
def infer_weight_only_lstm(x, h, c, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length, *, reverse):
    weights = _recurrent_weights("weight_only_lstm", x, h, weight_ih, scale_ih, weight_hh, scale_hh)
    return infer_lstm(x, h, c, *weights, bias_ih, bias_hh, length, reverse=reverse)[:3]


@infer.rule(weight_only_gru)
def infer_weight_only_gru(x, h, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length, *, reverse):
    weights = _recurrent_weights("weight_only_gru", x, h, weight_ih, scale_ih, weight_hh, scale_hh)
    return infer_gru(x, h, *weights, bias_ih, bias_hh, length, reverse=reverse)[:2]


def _recurrent_weights(name, x, h, weight_ih, scale_ih, weight_hh, scale_hh):
    """Both weights as floats have them, after a look at how they lie."""
    require_dtype(name, "x", x.dtype, (float32, float64))
    require_rank(name, "h", h.shape, 2)
    found = []
    for what, weight, scale in ("ih", weight_ih, scale_ih), ("hh", weight_hh, scale_hh):
        require_packed(name, weight, int8, "[out blocks, in, 16]", (UNKNOWN, UNKNOWN, BLOCK), "weight_only.packed_int8")
        require_dtype(name, f"scale_{what}", scale.dtype, (float32,))
        if len(scale.shape) != 2 or not same_size(scale.shape[0], 1) or not same_size(blocks_of(scale.shape[1], BLOCK), weight.shape[0]):
            raise ValueError(
                f"{name}: `scale_{what}` does not fit. Got scale of shape {show(scale.shape)} for weight of shape {show(weight.shape)}, expected "
                f"[1, gates * H] with {weight.shape[0]} blocks of up to 16 outputs. Give one scale for each output."
            )
        found.append(Meta((scale.shape[1], weight.shape[1]), x.dtype))
    return found


# Decomposition.


@decompose.rule(weight_only_linear)
def decompose_weight_only_linear(x, weight, scale, zero_point, bias, *, group):
    n, out = x.shape[-1], scale.shape[1]
    require_known("weight_only_linear", "weight", (*weight.shape, n, out))
    wide = float64 if x.dtype is float64 else float32
    whole = steps_of(weight, zero_point, n, out, group, wide) * spread(scale, n, group, wide)
    bias = None if bias is None else ops.cast(bias, dtype=wide)
    return ops.cast(ops.linear(ops.cast(x, dtype=wide), whole, bias), dtype=x.dtype)


def steps_of(weight, zero_point, inside, out, group, dtype):
    """The weight as [in, out] before its scales: q - zero_point."""
    plain = ops.cast(_plain_weight(weight, inside, out), dtype=dtype)
    if zero_point is not None:
        return plain - spread(zero_point, inside, group, dtype)
    return plain - number(8.0, dtype) if weight.dtype is uint8 else plain


def spread(given, inside, group, dtype):
    """[groups, out] as [in, out]."""
    rows = ops.repeat_interleave(ops.cast(given, dtype=dtype), repeats=group or max(inside, 1), axis=0)
    return ops.slice(rows, axes=(0,), starts=(0,), ends=(inside,), steps=(1,))


@decompose.rule(weight_only_lstm)
def decompose_weight_only_lstm(x, h, c, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length, *, reverse):
    weights = _rows_of("weight_only_lstm", weight_ih, scale_ih, x.dtype), _rows_of("weight_only_lstm", weight_hh, scale_hh, x.dtype)
    return ops.lstm(x, h, c, *weights, bias_ih, bias_hh, length, reverse=reverse)[:3]


@decompose.rule(weight_only_gru)
def decompose_weight_only_gru(x, h, weight_ih, scale_ih, weight_hh, scale_hh, bias_ih, bias_hh, length, *, reverse):
    weights = _rows_of("weight_only_gru", weight_ih, scale_ih, x.dtype), _rows_of("weight_only_gru", weight_hh, scale_hh, x.dtype)
    return ops.gru(x, h, *weights, bias_ih, bias_hh, length, reverse=reverse)[:2]


def _rows_of(name, weight, scale, dtype):
    """The weight as floats [out, in]."""
    require_known(name, "weight", (*weight.shape, scale.shape[1]))
    whole = steps_of(weight, None, weight.shape[1], scale.shape[1], 0, dtype) * ops.cast(scale, dtype=dtype)
    return ops.copy(ops.transpose(whole, perm=(1, 0)))
