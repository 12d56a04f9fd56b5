"""Normalization, probability and attention: the fused ops of layers."""
from wherry_tensor import ops
from wherry_tensor._core import bool_, float32, float64, uint8
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.reduction import count, largest_of, positions, widened
from wherry_tensor.ops.shapes import (
    UNKNOWN,
    bools,
    floats,
    integers,
    merge_shapes,
    merge_size,
    require_axis,
    require_broadcast_to,
    require_dtype,
    require_one_dtype,
    require_rank,
    require_same_shape,
    same_shape,
    same_size,
    show,
)

softmax = op("softmax", "x", axis=int)
log_softmax = op("log_softmax", "x", axis=int)
softmax_vjp = op("softmax_vjp", "ct, out", axis=int)
log_softmax_vjp = op("log_softmax_vjp", "ct, out", axis=int)
# The first half along an axis times the sigmoid of the second one, and the cotangent of both halves.
glu = op("glu", "x", axis=int)
glu_vjp = op("glu_vjp", "ct, x", axis=int)

# Normalizes the axes from begin_axis on; scale and bias have their shape. mean and rstd (1 / sqrt(
# variance + epsilon)) have the shape of the leading axes, in float32 (float64 for float64). Scale
# and bias have the dtype of x, or float32 beside an x of 16 bits; so in batch_norm.
layer_norm = op("layer_norm", "x, scale?, bias?", epsilon=float, begin_axis=int, outputs="out, mean, rstd")
layer_norm_vjp = op("layer_norm_vjp", "ct, x, scale?, mean, rstd", begin_axis=int,
                    outputs="x_ct, scale_ct, bias_ct")

# x [N, channels, ...]: the channels fall into `groups` of neighbours, each of which is normalized by itself, with the axes
# after. mean and rstd [N, groups] as in layer_norm; scale and bias [channels].
group_norm = op("group_norm", "x, scale?, bias?", epsilon=float, groups=int, outputs="out, mean, rstd")
group_norm_vjp = op("group_norm_vjp", "ct, x, scale?, mean, rstd", groups=int, outputs="x_ct, scale_ct, bias_ct")

# The channel axis is 1 ("NCHW": any rank >= 2) or the last ("NHWC"). variance is the biased one.
# mean and variance are float32 (float64 for float64) of shape [channels], like scale and bias.
batch_norm = op("batch_norm", "x, scale?, bias?", epsilon=float, data_format=str, outputs="out, mean, variance")
batch_norm_infer = op("batch_norm_infer", "x, mean, variance, scale?, bias?", epsilon=float, data_format=str)
batch_norm_vjp = op("batch_norm_vjp", "ct, x, scale?, mean, variance", epsilon=float, data_format=str,
                    outputs="x_ct, scale_ct, bias_ct")
# batch_norm and relu in one pass over memory, with every bit of the two ops, and what the gradients of relu and batch_norm give one after the
# other.
batch_norm_relu = op("batch_norm_relu", "x, scale?, bias?", epsilon=float, data_format=str, outputs="out, mean, variance")
batch_norm_relu_vjp = op("batch_norm_relu_vjp", "ct, x, scale?, bias?, mean, variance", epsilon=float, data_format=str,
                         outputs="x_ct, scale_ct, bias_ct")

# mask uint8: 1 kept. `upscale` divides what is kept by 1 - p. Element i is kept where the float32
# uniform number of element i (see ops/random.py) is below 1 - p.
dropout = op("dropout", "x", p=float, upscale=bool, effects="random", outputs="out, mask")
dropout_vjp = op("dropout_vjp", "ct, mask", scale=float)  # ct * scale where kept, else 0
# dropout(x) + y in one pass over memory: the numbers, the mask and every bit of the two ops. So with 16 bits, too, what is kept is rounded before
# y is added. x and y have one shape and one dtype.
dropout_add = op("dropout_add", "x, y", p=float, upscale=bool, effects="random", outputs="out, mask")

# Softmax and cross entropy together along `axis`. Hard labels: int, the shape of logits with size 1
# at axis; soft labels: the shape and dtype of logits. weight: [classes]. loss has size 1 at axis and
# is 0 where the label is ignore_index. A soft label's weight is the mean of weight under the label.
cross_entropy = op("cross_entropy", "logits, label, weight?", soft_label=bool, ignore_index=int, axis=int,
                   outputs="loss, softmax")
cross_entropy_vjp = op("cross_entropy_vjp", "ct, softmax, label, weight?", soft_label=bool, ignore_index=int,
                       axis=int)

# q [B, heads, Tq, D], k [B, heads, Tk, D], v [B, heads, Tk, Dv], mask broadcastable to [B, heads, Tq, Tk]: bool
# (True attends) or added. lse, [B, heads, Tq], is the logarithm of the softmax's denominator, float32
# (float64 for float64). `causal` aligns the last query with the last key: query i sees keys up to
# i + Tk - Tq. A query that sees no key gives zeros and lse -inf.
attention = op("attention", "q, k, v, mask?", scale=float, causal=bool, outputs="out, lse")
attention_vjp = op("attention_vjp", "ct, q, k, v, mask?, out, lse", scale=float, causal=bool,
                   outputs="q_ct, k_ct, v_ct")


# Shape rules.


@infer.rule(softmax)
def infer_softmax(x, *, axis):
    return _along("softmax", x, axis)


@infer.rule(log_softmax)
def infer_log_softmax(x, *, axis):
    return _along("log_softmax", x, axis)


@infer.rule(glu)
def infer_glu(x, *, axis):
    require_dtype("glu", "x", x.dtype, floats)
    require_axis("glu", axis, x.shape)
    n = x.shape[axis]
    if n != UNKNOWN and n % 2:
        raise ValueError(f"glu: the axis cannot be halved. Got size {n} along axis {axis}, expected an even size. Choose another axis.")
    return Meta((*x.shape[:axis], n if n == UNKNOWN else n // 2, *x.shape[axis + 1 :]), x.dtype)


@infer.rule(glu_vjp)
def infer_glu_vjp(ct, x, *, axis):
    require_one_dtype("glu_vjp", ct=ct.dtype, x=x.dtype)
    require_same_shape("glu_vjp", "ct", ct.shape, "a half", infer_glu(x, axis=axis).shape)
    return x


@infer.rule(softmax_vjp)
def infer_softmax_vjp(ct, out, *, axis):
    return _along("softmax_vjp", _alike("softmax_vjp", ct=ct, out=out), axis)


@infer.rule(log_softmax_vjp)
def infer_log_softmax_vjp(ct, out, *, axis):
    return _along("log_softmax_vjp", _alike("log_softmax_vjp", ct=ct, out=out), axis)


@infer.rule(layer_norm)
def infer_layer_norm(x, scale, bias, *, epsilon, begin_axis):
    rows, columns = _layer_norm_parts("layer_norm", x, begin_axis)
    _affine("layer_norm", x, columns, scale=scale, bias=bias)
    statistic = Meta(rows, _statistic_dtype(x))
    return x, statistic, statistic


@infer.rule(layer_norm_vjp)
def infer_layer_norm_vjp(ct, x, scale, mean, rstd, *, begin_axis):
    x = _alike("layer_norm_vjp", ct=ct, x=x)
    rows, columns = _layer_norm_parts("layer_norm_vjp", x, begin_axis)
    _affine("layer_norm_vjp", x, columns, scale=scale)
    _statistics("layer_norm_vjp", x, rows, mean=mean, rstd=rstd)
    parameter = Meta(columns, scale.dtype if scale is not None else x.dtype)
    return x, parameter, parameter


@infer.rule(group_norm)
def infer_group_norm(x, scale, bias, *, epsilon, groups):
    rows, channels = _grouped("group_norm", x, groups)
    _affine("group_norm", x, channels, scale=scale, bias=bias)
    statistic = Meta(rows, _statistic_dtype(x))
    return x, statistic, statistic


@infer.rule(group_norm_vjp)
def infer_group_norm_vjp(ct, x, scale, mean, rstd, *, groups):
    x = _alike("group_norm_vjp", ct=ct, x=x)
    rows, channels = _grouped("group_norm_vjp", x, groups)
    _affine("group_norm_vjp", x, channels, scale=scale)
    _statistics("group_norm_vjp", x, rows, mean=mean, rstd=rstd)
    parameter = Meta(channels, scale.dtype if scale is not None else x.dtype)
    return x, parameter, parameter


@infer.rule(batch_norm)
def infer_batch_norm(x, scale, bias, *, epsilon, data_format):
    return _batch_normalized("batch_norm", x, scale, bias, data_format)


@infer.rule(batch_norm_infer)
def infer_batch_norm_infer(x, mean, variance, scale, bias, *, epsilon, data_format):
    channels = _channels("batch_norm_infer", x, data_format)
    _statistics("batch_norm_infer", x, channels, mean=mean, variance=variance)
    _affine("batch_norm_infer", x, channels, scale=scale, bias=bias)
    return x


@infer.rule(batch_norm_vjp)
def infer_batch_norm_vjp(ct, x, scale, mean, variance, *, epsilon, data_format):
    return _batch_norm_cts("batch_norm_vjp", ct, x, mean, variance, data_format, scale=scale)


@infer.rule(batch_norm_relu)
def infer_batch_norm_relu(x, scale, bias, *, epsilon, data_format):
    return _batch_normalized("batch_norm_relu", x, scale, bias, data_format)


@infer.rule(batch_norm_relu_vjp)
def infer_batch_norm_relu_vjp(ct, x, scale, bias, mean, variance, *, epsilon, data_format):
    return _batch_norm_cts("batch_norm_relu_vjp", ct, x, mean, variance, data_format, scale=scale, bias=bias)


def _batch_normalized(op_name, x, scale, bias, data_format):
    channels = _channels(op_name, x, data_format)
    _affine(op_name, x, channels, scale=scale, bias=bias)
    statistic = Meta(channels, _statistic_dtype(x))
    return x, statistic, statistic


def _batch_norm_cts(op_name, ct, x, mean, variance, data_format, **parameters):
    x = _alike(op_name, ct=ct, x=x)
    channels = _channels(op_name, x, data_format)
    _affine(op_name, x, channels, **parameters)
    _statistics(op_name, x, channels, mean=mean, variance=variance)
    parameter = Meta(channels, next((given.dtype for given in parameters.values() if given is not None), x.dtype))
    return x, parameter, parameter


@infer.rule(dropout)
def infer_dropout(x, *, p, upscale):
    return _dropped("dropout", x, p)


def _dropped(op_name, x, p):
    require_dtype(op_name, "x", x.dtype, floats)
    if not 0 <= p <= 1:
        raise ValueError(
            f"{op_name}: p is not a probability. Got p={p}, expected 0 <= p <= 1. "
            f"p is the share of elements that are set to zero."
        )
    return x, Meta(x.shape, uint8)


@infer.rule(dropout_add)
def infer_dropout_add(x, y, *, p, upscale):
    return _dropped("dropout_add", _alike("dropout_add", x=x, y=y), p)


@infer.rule(dropout_vjp)
def infer_dropout_vjp(ct, mask, *, scale):
    require_dtype("dropout_vjp", "ct", ct.dtype, floats)
    require_dtype("dropout_vjp", "mask", mask.dtype, (uint8,))
    return Meta(require_same_shape("dropout_vjp", "ct", ct.shape, "mask", mask.shape), ct.dtype)


@infer.rule(cross_entropy)
def infer_cross_entropy(logits, label, weight, *, soft_label, ignore_index, axis):
    shape, loss = labelled_shapes("cross_entropy", "logits", logits, label, weight, soft_label, axis)
    return Meta(loss, logits.dtype), Meta(shape, logits.dtype)


@infer.rule(cross_entropy_vjp)
def infer_cross_entropy_vjp(ct, softmax, label, weight, *, soft_label, ignore_index, axis):
    shape, loss = labelled_shapes("cross_entropy_vjp", "softmax", softmax, label, weight, soft_label, axis)
    require_one_dtype("cross_entropy_vjp", ct=ct.dtype, softmax=softmax.dtype)
    require_same_shape("cross_entropy_vjp", "ct", ct.shape, "loss", loss)
    return Meta(shape, softmax.dtype)


@infer.rule(attention)
def infer_attention(q, k, v, mask, *, scale, causal):
    rows, width = _attended("attention", q, k, v, mask)
    return Meta((*rows, width), q.dtype), Meta(rows, _statistic_dtype(q))


@infer.rule(attention_vjp)
def infer_attention_vjp(ct, q, k, v, mask, out, lse, *, scale, causal):
    rows, width = _attended("attention_vjp", q, k, v, mask)
    require_one_dtype("attention_vjp", ct=ct.dtype, out=out.dtype, q=q.dtype)
    require_dtype("attention_vjp", "lse", lse.dtype, (_statistic_dtype(q),))
    for name, meta in ("ct", ct), ("out", out):
        require_same_shape("attention_vjp", name, meta.shape, "the result of attention", (*rows, width))
    require_same_shape("attention_vjp", "lse", lse.shape, "the rows of q", rows)
    return q, k, v


def _along(op_name, x, axis):
    require_dtype(op_name, "x", x.dtype, floats)
    require_axis(op_name, axis, x.shape)
    return x


def _alike(op_name, **metas):
    """The meta that two inputs share."""
    (name, a), (other, b) = metas.items()
    dtype = require_one_dtype(op_name, **{name: a.dtype, other: b.dtype})
    require_dtype(op_name, name, dtype, floats)
    return Meta(require_same_shape(op_name, name, a.shape, other, b.shape), dtype)


def _statistic_dtype(x):
    return float64 if x.dtype == float64 else float32


def _layer_norm_parts(op_name, x, begin_axis):
    require_dtype(op_name, "x", x.dtype, floats)
    require_axis(op_name, begin_axis, x.shape, "begin_axis")
    return x.shape[:begin_axis], x.shape[begin_axis:]


def _grouped(op_name, x, groups):
    """The shapes of the statistics and of the parameters."""
    channels = _channels(op_name, x, "NCHW")
    if groups < 1 or channels[0] != UNKNOWN and channels[0] % groups:
        raise ValueError(
            f"{op_name}: groups does not divide the channels. Got groups={groups} for x of shape {show(x.shape)}, expected a "
            f"divisor of {channels[0]}. 1 normalizes the channels together, {channels[0]} each alone."
        )
    return (x.shape[0], groups), channels


def _channels(op_name, x, data_format):
    require_dtype(op_name, "x", x.dtype, floats)
    if len(x.shape) < 2:
        raise ValueError(
            f"{op_name}: x needs a batch and a channel axis. Got shape {show(x.shape)}, expected rank 2 or more. "
            f"Add the missing axis with unsqueeze."
        )
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(
            f"{op_name}: unknown data_format. Got {data_format!r}, expected 'NCHW' (channels at axis 1) or "
            f"'NHWC' (channels last). Formats of other ranks, such as 'NLC', are one of the two."
        )
    return (x.shape[_channel_axis(x, data_format)],)


def _channel_axis(x, data_format):
    return 1 if data_format == "NCHW" else len(x.shape) - 1


def _counted(loss, label):
    """", but there are 8 rows and 7 labels": what mostly is wrong."""
    if len(loss) != len(label.shape) or same_size(loss[0], label.shape[0]):
        return ""
    return f", but there are {loss[0]} rows and {label.shape[0]} labels"


def _affine(op_name, x, shape, **parameters):
    allowed = (x.dtype, float32) if x.dtype.itemsize == 2 else (x.dtype,)
    present = {name: meta for name, meta in parameters.items() if meta is not None}
    for name, meta in present.items():
        require_dtype(op_name, name, meta.dtype, allowed)
        require_same_shape(op_name, name, meta.shape, "the normalized axes", shape)
    if len(present) > 1:
        require_one_dtype(op_name, **{name: meta.dtype for name, meta in present.items()})


def _statistics(op_name, x, shape, **statistics):
    for name, meta in statistics.items():
        require_dtype(op_name, name, meta.dtype, (_statistic_dtype(x),))
        require_same_shape(op_name, name, meta.shape, "the statistics of x", shape)


def labelled_shapes(op_name, name, logits, label, weight, soft_label, axis):
    """The shapes of the logits and of the loss."""
    require_dtype(op_name, name, logits.dtype, floats)
    require_axis(op_name, axis, logits.shape)
    loss = (*logits.shape[:axis], 1, *logits.shape[axis + 1:])
    if soft_label:
        require_one_dtype(op_name, **{name: logits.dtype, "label": label.dtype})
        shape = require_same_shape(op_name, "label", label.shape, name, logits.shape)
        loss = (*shape[:axis], 1, *shape[axis + 1:])
    else:
        require_dtype(op_name, "label", label.dtype, integers)
        if not same_shape(label.shape, loss):
            raise ValueError(
                f"{op_name}: a class label must have the shape of `{name}` with size 1 at axis {axis}{_counted(loss, label)}. "
                f"Got label of shape {show(label.shape)} and {name} of shape {show(logits.shape)}, expected a label "
                f"of shape {show(loss)}. Add the axis with unsqueeze, or pass probabilities with soft_label=True."
            )
        loss = merge_shapes(loss, label.shape)
        shape = (*loss[:axis], logits.shape[axis], *loss[axis + 1:])
    if weight is not None:
        require_one_dtype(op_name, **{name: logits.dtype, "weight": weight.dtype})
        if len(weight.shape) != 1 or not same_size(weight.shape[0], logits.shape[axis]):
            raise ValueError(
                f"{op_name}: `weight` needs one number for each class. "
                f"Got weight of shape {show(weight.shape)}, expected [{logits.shape[axis]}], the size of axis {axis} "
                f"of `{name}` with shape {show(logits.shape)}. Check the number of classes."
            )
    return shape, loss


def _attended(op_name, q, k, v, mask):
    """The shape of lse, and the width of the result."""
    for name, meta in ("q", q), ("k", k), ("v", v):
        require_rank(op_name, name, meta.shape, 4)
    dtype = require_one_dtype(op_name, q=q.dtype, k=k.dtype, v=v.dtype)
    require_dtype(op_name, "q", dtype, floats)
    same = all(
        same_size(a.shape[axis], b.shape[axis])
        for a, b, axis in ((q, k, 0), (q, v, 0), (q, k, 1), (q, v, 1), (q, k, 3), (k, v, 2))
    )
    if not same:
        raise ValueError(
            f"{op_name}: the shapes of q, k and v do not fit together. "
            f"Got {show(q.shape)}, {show(k.shape)} and {show(v.shape)}, expected [batch, heads, Tq, D], "
            f"[batch, heads, Tk, D] and [batch, heads, Tk, Dv]. Transpose or repeat heads beforehand."
        )
    rows = (merge_size(q.shape[0], k.shape[0]), merge_size(q.shape[1], k.shape[1]), q.shape[2])
    if mask is not None:
        require_dtype(op_name, "mask", mask.dtype, (*bools, dtype))
        require_broadcast_to(op_name, "mask", mask.shape, (*rows, merge_size(k.shape[2], v.shape[2])))
    return rows, v.shape[3]


# Decompositions.


@decompose.rule(softmax)
def decompose_softmax(x, *, axis):
    if x.shape[axis] == 0:  # which has no maximum
        return ops.copy(x)
    wide = widened(x)
    # Shifting by the maximum leaves the quotient unchanged and keeps exp from overflowing.
    e = ops.exp(wide - largest_of(wide, (axis,)))
    return ops.cast(e / ops.reduce_sum(e, axes=(axis,), keepdim=True), dtype=x.dtype)


@decompose.rule(log_softmax)
def decompose_log_softmax(x, *, axis):
    if x.shape[axis] == 0:
        return ops.copy(x)
    wide = widened(x)
    # Not log(softmax(x)): that is -inf where the quotient underflows.
    shifted = wide - largest_of(wide, (axis,))
    total = ops.reduce_sum(ops.exp(shifted), axes=(axis,), keepdim=True)
    return ops.cast(shifted - ops.log(total), dtype=x.dtype)


@decompose.rule(glu)
def decompose_glu(x, *, axis):
    first, second = _halves("glu", widened(x), axis)
    return ops.cast(first * ops.sigmoid(second), dtype=x.dtype)


@decompose.rule(glu_vjp)
def decompose_glu_vjp(ct, x, *, axis):
    first, second = _halves("glu_vjp", widened(x), axis)
    gate, wide = ops.sigmoid(second), widened(ct)
    return ops.cast(ops.concat(wide * gate, wide * first * gate * (1.0 - gate), axis=axis), dtype=x.dtype)


def _halves(op_name, x, axis):
    n = x.shape[axis]
    if n == UNKNOWN:
        raise ValueError(
            f"{op_name}: the size of the axis must be known here. Got x of shape {show(x.shape)}, expected a known size of axis {axis}. Fix it."
        )
    return (ops.slice(x, axes=(axis,), starts=(first,), ends=(first + n // 2,), steps=(1,)) for first in (0, n // 2))


@decompose.rule(softmax_vjp)
def decompose_softmax_vjp(ct, out, *, axis):
    c, y = widened(ct), widened(out)
    return ops.cast((c - ops.reduce_sum(c * y, axes=(axis,), keepdim=True)) * y, dtype=out.dtype)


@decompose.rule(log_softmax_vjp)
def decompose_log_softmax_vjp(ct, out, *, axis):
    c, y = widened(ct), widened(out)
    return ops.cast(c - ops.exp(y) * ops.reduce_sum(c, axes=(axis,), keepdim=True), dtype=out.dtype)


@decompose.rule(layer_norm)
def decompose_layer_norm(x, scale, bias, *, epsilon, begin_axis):
    wide = widened(x)
    axes = tuple(range(begin_axis, len(x.shape)))
    mean = ops.reduce_mean(wide, axes=axes, keepdim=True)
    centred = wide - mean
    rstd = ops.rsqrt(ops.reduce_mean(ops.square(centred), axes=axes, keepdim=True) + epsilon)
    out = _scaled(centred * rstd, scale, bias)
    return ops.cast(out, dtype=x.dtype), ops.squeeze(mean, axes=axes), ops.squeeze(rstd, axes=axes)


@decompose.rule(layer_norm_vjp)
def decompose_layer_norm_vjp(ct, x, scale, mean, rstd, *, begin_axis):
    wide, c = widened(x), widened(ct)
    axes = tuple(range(begin_axis, len(x.shape)))
    rstd = ops.unsqueeze(rstd, axes=axes)
    normal = (wide - ops.unsqueeze(mean, axes=axes)) * rstd
    leading = tuple(range(begin_axis))
    dtype = x.dtype if scale is None else scale.dtype
    scale_ct = ops.cast(ops.reduce_sum(c * normal, axes=leading, keepdim=False), dtype=dtype)
    bias_ct = ops.cast(ops.reduce_sum(c, axes=leading, keepdim=False), dtype=dtype)
    return ops.cast(_centred_ct(c, scale, normal, rstd, axes), dtype=x.dtype), scale_ct, bias_ct


@decompose.rule(group_norm)
def decompose_group_norm(x, scale, bias, *, epsilon, groups):
    parts, axes = grouped_parts(widened(x), groups)
    mean = ops.reduce_mean(parts, axes=axes, keepdim=True)
    centred = parts - mean
    rstd = ops.rsqrt(ops.reduce_mean(ops.square(centred), axes=axes, keepdim=True) + epsilon)
    out = _scaled(centred * rstd, *(_grouped_parameter(each, parts) for each in (scale, bias)))
    out = ops.cast(ops.reshape(out, shape=tuple(x.shape)), dtype=x.dtype)
    return out, ops.squeeze(mean, axes=axes), ops.squeeze(rstd, axes=axes)


@decompose.rule(group_norm_vjp)
def decompose_group_norm_vjp(ct, x, scale, mean, rstd, *, groups):
    parts, axes = grouped_parts(widened(x), groups)
    c, _ = grouped_parts(widened(ct), groups)
    rstd = ops.unsqueeze(rstd, axes=axes)
    normal = (parts - ops.unsqueeze(mean, axes=axes)) * rstd
    dtype = x.dtype if scale is None else scale.dtype
    others = (0, *range(3, len(parts.shape)))
    scale_ct, bias_ct = (
        ops.cast(ops.reshape(ops.reduce_sum(each, axes=others, keepdim=False), shape=(x.shape[1],)), dtype=dtype)
        for each in (c * normal, c)
    )
    x_ct = _centred_ct(c, _grouped_parameter(scale, parts), normal, rstd, axes)
    return ops.cast(ops.reshape(x_ct, shape=tuple(x.shape)), dtype=x.dtype), scale_ct, bias_ct


@decompose.rule(batch_norm)
def decompose_batch_norm(x, scale, bias, *, epsilon, data_format):
    wide = widened(x)
    axes = _reduced_axes(x, data_format)
    mean = ops.reduce_mean(wide, axes=axes, keepdim=True)
    variance = ops.variance(wide, axes=axes, keepdim=True, correction=0)
    scale, bias = _spread_channels(scale, axes), _spread_channels(bias, axes)
    out = _scaled((wide - mean) * ops.rsqrt(variance + epsilon), scale, bias)
    return ops.cast(out, dtype=x.dtype), ops.squeeze(mean, axes=axes), ops.squeeze(variance, axes=axes)


@decompose.rule(batch_norm_infer)
def decompose_batch_norm_infer(x, mean, variance, scale, bias, *, epsilon, data_format):
    axes = _reduced_axes(x, data_format)
    mean, rstd, scale, bias = (
        _spread_channels(each, axes) for each in (mean, ops.rsqrt(variance + epsilon), scale, bias)
    )
    return ops.cast(_scaled((widened(x) - mean) * rstd, scale, bias), dtype=x.dtype)


@decompose.rule(batch_norm_vjp)
def decompose_batch_norm_vjp(ct, x, scale, mean, variance, *, epsilon, data_format):
    wide, c = widened(x), widened(ct)
    axes = _reduced_axes(x, data_format)
    dtype = x.dtype if scale is None else scale.dtype
    rstd = _spread_channels(ops.rsqrt(variance + epsilon), axes)
    normal = (wide - _spread_channels(mean, axes)) * rstd
    scale_ct = ops.cast(ops.reduce_sum(c * normal, axes=axes, keepdim=False), dtype=dtype)
    bias_ct = ops.cast(ops.reduce_sum(c, axes=axes, keepdim=False), dtype=dtype)
    x_ct = _centred_ct(c, _spread_channels(scale, axes), normal, rstd, axes)
    return ops.cast(x_ct, dtype=x.dtype), scale_ct, bias_ct


@decompose.rule(batch_norm_relu)
def decompose_batch_norm_relu(x, scale, bias, *, epsilon, data_format):
    out, mean, variance = batch_norm(x, scale, bias, epsilon=epsilon, data_format=data_format)
    return ops.relu(out), mean, variance


@decompose.rule(batch_norm_relu_vjp)
def decompose_batch_norm_relu_vjp(ct, x, scale, bias, mean, variance, *, epsilon, data_format):
    out = batch_norm_infer(x, mean, variance, scale, bias, epsilon=epsilon, data_format=data_format)
    return batch_norm_vjp(ops.relu_vjp(ct, out), x, scale, mean, variance, epsilon=epsilon, data_format=data_format)


@decompose.rule(dropout)
def decompose_dropout(x, *, p, upscale):
    keep = ops.bernoulli(ops.full_like(x, value=1.0 - p, dtype=float32))
    mask = ops.cast(keep, dtype=uint8)
    return dropout_vjp(x, mask, scale=dropout_scale(p, upscale)), mask


@decompose.rule(dropout_add)
def decompose_dropout_add(x, y, *, p, upscale):
    out, mask = dropout(x, p=p, upscale=upscale)
    return out + y, mask


@decompose.rule(dropout_vjp)
def decompose_dropout_vjp(ct, mask, *, scale):
    # A choice rather than a product: what is dropped is 0 even where it was infinite.
    return ops.where(ops.cast(mask, dtype=bool_), ct * scale, ops.full_like(ct, value=0, dtype=ct.dtype))


def dropout_scale(p, upscale):
    """The factor of what dropout keeps; with p = 1 nothing is kept."""
    return 1.0 / (1.0 - p) if upscale and p < 1 else 1.0


@decompose.rule(cross_entropy)
def decompose_cross_entropy(logits, label, weight, *, soft_label, ignore_index, axis):
    log_probability = log_softmax(widened(logits), axis=axis)
    target = label_distribution(log_probability, label, soft_label, ignore_index, axis)
    # A choice, because 0 * -inf is NaN.
    nothing = ops.full_like(target, value=0, dtype=target.dtype)
    chosen = ops.where(ops.not_equal(target, nothing), target * log_probability, nothing)
    loss = -ops.reduce_sum(chosen, axes=(axis,), keepdim=True)
    if weight is not None:
        loss = loss * label_weight(target, weight, axis)
    return ops.cast(loss, dtype=logits.dtype), softmax(logits, axis=axis)


@decompose.rule(cross_entropy_vjp)
def decompose_cross_entropy_vjp(ct, softmax, label, weight, *, soft_label, ignore_index, axis):
    probability, c = widened(softmax), widened(ct)
    target = label_distribution(probability, label, soft_label, ignore_index, axis)
    total = ops.reduce_sum(target, axes=(axis,), keepdim=True)  # 0 where the label is ignored
    if weight is not None:
        c = c * label_weight(target, weight, axis)
    return ops.cast(c * (probability * total - target), dtype=softmax.dtype)


def label_distribution(probability, label, soft_label, ignore_index, axis):
    """The labels as probabilities: one 1 per hard label, none where it is ignored."""
    if soft_label:
        return ops.cast(label, dtype=probability.dtype)
    classes = ops.arange(start=0, step=1, length=probability.shape[axis], dtype=label.dtype)
    hit = ops.equal(label, _spread_class(classes, len(probability.shape), axis))
    # Out of range ignore_index values, as -100 is, match no class by themselves.
    return ops.cast(ops.logical_and(hit, ops.not_equal(label, ops.full_like(
        label, value=ignore_index, dtype=label.dtype))), dtype=probability.dtype)


def label_weight(target, weight, axis):
    """The class weights' mean under each label."""
    spread = _spread_class(widened(weight), len(target.shape), axis)
    return ops.reduce_sum(target * spread, axes=(axis,), keepdim=True)


@decompose.rule(attention)
def decompose_attention(q, k, v, mask, *, scale, causal):
    scores = attention_scores(widened(q), widened(k), mask, scale, causal)
    lse = ops.logsumexp(scores, axes=(3,), keepdim=False)
    out = ops.matmul(attention_probability(scores, lse), widened(v), transpose_x=False, transpose_y=False)
    return ops.cast(out, dtype=q.dtype), lse


@decompose.rule(attention_vjp)
def decompose_attention_vjp(ct, q, k, v, mask, out, lse, *, scale, causal):
    cw, qw, kw, vw = widened(ct), widened(q), widened(k), widened(v)
    p = attention_probability(attention_scores(qw, kw, mask, scale, causal), lse)
    v_ct = ops.matmul(p, cw, transpose_x=True, transpose_y=False)
    scores_ct = p * (
        ops.matmul(cw, vw, transpose_x=False, transpose_y=True)
        - ops.reduce_sum(cw * widened(out), axes=(3,), keepdim=True)
    ) * scale
    q_ct = ops.matmul(scores_ct, kw, transpose_x=False, transpose_y=False)
    k_ct = ops.matmul(scores_ct, qw, transpose_x=True, transpose_y=False)
    return ops.cast(q_ct, dtype=q.dtype), ops.cast(k_ct, dtype=k.dtype), ops.cast(v_ct, dtype=v.dtype)


def attention_scores(q, k, mask, scale, causal):
    """Scaled products of queries and keys, -inf where a query may not look."""
    scores = ops.matmul(q, k, transpose_x=False, transpose_y=True) * scale
    nothing = ops.full_like(scores, value=-float("inf"), dtype=scores.dtype)
    if mask is not None:
        scores = ops.where(mask, scores, nothing) if mask.dtype.is_bool else scores + widened(mask)
    if causal:
        # The last query sees the last key.
        ahead = positions(scores, 3) - positions(scores, 2)
        scores = ops.where(ops.less_equal(ahead, count(scores, 3) - count(scores, 2)), scores, nothing)
    return scores


def attention_probability(scores, lse):
    """The softmax of `scores`; zeros in rows that see nothing, whose lse is -inf."""
    lse = ops.where(ops.isfinite(lse), lse, ops.full_like(lse, value=0, dtype=lse.dtype))
    return ops.exp(scores - ops.unsqueeze(lse, axes=(3,)))


# Helpers of the decompositions.


def _scaled(normal, scale, bias):
    out = normal if scale is None else normal * widened(scale)
    return out if bias is None else out + widened(bias)


def _centred_ct(ct, scale, normal, rstd, axes):
    """Cotangent of x where normal = (x - mean(x)) * rstd, over `axes`: the statistics depend on x too."""
    c = ct if scale is None else ct * widened(scale)
    along = ops.reduce_mean(c * normal, axes=axes, keepdim=True)
    return (c - ops.reduce_mean(c, axes=axes, keepdim=True) - normal * along) * rstd


def grouped_parts(x, groups):
    """[N, groups, channels of one, ...], and the axes that are normalized."""
    n, channels, *rest = x.shape
    parts = ops.reshape(x, shape=(n, groups, channels // groups, *rest))
    return parts, tuple(range(2, len(parts.shape)))


def _grouped_parameter(x, parts):
    if x is None:
        return None
    return ops.reshape(x, shape=(1, *parts.shape[1:3], *[1] * (len(parts.shape) - 3)))


def _reduced_axes(x, data_format):
    """The axes that are normalized, which are also those that a [channels] tensor lacks beside x."""
    channel = _channel_axis(x, data_format)
    return tuple(axis for axis in range(len(x.shape)) if axis != channel)


def _spread_channels(x, axes):
    return None if x is None else ops.unsqueeze(widened(x), axes=axes)


def _spread_class(x, rank, axis):
    return ops.unsqueeze(x, axes=tuple(other for other in range(rank) if other != axis))
