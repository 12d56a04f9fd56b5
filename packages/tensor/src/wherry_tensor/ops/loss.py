"""Losses: those that one pass over memory computes, and those that read labels.

Hard labels are integers; those equal to `ignore_index` count nothing. Cross entropy of logits stands
beside softmax in normalization.py.
"""
from wherry_tensor import ops
from wherry_tensor._core import float32, float64, int64
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.normalization import labelled_shapes
from wherry_tensor.ops.reduction import count_of, widened
from wherry_tensor.ops.shapes import (
    floats,
    integers,
    require_dtype,
    require_one_dtype,
    require_same_shape,
    show,
)

# The negative of x at the label, times the label's weight; size 1 at axis. The label has that shape.
nll_loss = op("nll_loss", "x, label, weight?", ignore_index=int, axis=int)
nll_loss_vjp = op("nll_loss_vjp", "ct, label, weight?, like~", ignore_index=int, axis=int)  # like: only its shape counts

# Sum of the losses whose label is not ignored, divided by the sum of these labels' weights (1 each
# without weight). total is that sum, float32 (float64 for float64); where it is 0, the mean is 0.
label_mean = op("label_mean", "loss, label, weight?", ignore_index=int, outputs="mean, total")
label_mean_vjp = op("label_mean_vjp", "ct, total, label", ignore_index=int)

# Of probabilities, whose logarithms end at -100 as in Paddle, and of logits. Labels are numbers in
# [0, 1] and data: they get no cotangent.
binary_cross_entropy = op("binary_cross_entropy", "x, label")
binary_cross_entropy_vjp = op("binary_cross_entropy_vjp", "ct, x, label")
binary_cross_entropy_logits = op("binary_cross_entropy_logits", "logits, label")
binary_cross_entropy_logits_vjp = op("binary_cross_entropy_logits_vjp", "ct, logits, label")

# Huber's: d * d / 2 of a difference up to delta, delta * (d - delta / 2) beyond.
smooth_l1_loss = op("smooth_l1_loss", "x, y", delta=float)
smooth_l1_loss_vjp = op("smooth_l1_loss_vjp", "ct, x, y", delta=float)  # the cotangent of x; that of y is its negative

# The mean (the sum) of a function of all differences, 0-d: their squares, their absolute values, or Huber's loss with `delta`.
difference_loss = op("difference_loss", "x, y", kind=str, delta=float, mean=bool)
difference_loss_vjp = op("difference_loss_vjp", "ct, x, y", kind=str, delta=float, mean=bool)  # the cotangent of x

# label * (log(label) - x), 0 where the label is not positive. The label is data.
kl_div = op("kl_div", "x, label")


# Shape rules.


@infer.rule(nll_loss)
def infer_nll_loss(x, label, weight, *, ignore_index, axis):
    _, loss = labelled_shapes("nll_loss", "x", x, label, weight, False, axis)
    return Meta(loss, x.dtype)


@infer.rule(nll_loss_vjp)
def infer_nll_loss_vjp(ct, label, weight, like, *, ignore_index, axis):
    shape, loss = labelled_shapes("nll_loss_vjp", "like", Meta(like.shape, ct.dtype), label, weight, False, axis)
    require_same_shape("nll_loss_vjp", "ct", ct.shape, "loss", loss)
    return Meta(shape, ct.dtype)


@infer.rule(label_mean)
def infer_label_mean(loss, label, weight, *, ignore_index):
    require_dtype("label_mean", "loss", loss.dtype, floats)
    require_dtype("label_mean", "label", label.dtype, integers)
    require_same_shape("label_mean", "loss", loss.shape, "label", label.shape)
    if weight is not None:
        require_one_dtype("label_mean", loss=loss.dtype, weight=weight.dtype)
        if len(weight.shape) != 1:
            raise ValueError(
                f"label_mean: `weight` needs one number for each class. "
                f"Got shape {show(weight.shape)}, expected rank 1. Reshape it."
            )
    return Meta((), loss.dtype), Meta((), float64 if loss.dtype == float64 else float32)


@infer.rule(label_mean_vjp)
def infer_label_mean_vjp(ct, total, label, *, ignore_index):
    require_dtype("label_mean_vjp", "ct", ct.dtype, floats)
    require_dtype("label_mean_vjp", "total", total.dtype, (float64 if ct.dtype == float64 else float32,))
    require_dtype("label_mean_vjp", "label", label.dtype, integers)
    require_same_shape("label_mean_vjp", "ct", ct.shape, "the mean", ())
    require_same_shape("label_mean_vjp", "total", total.shape, "the mean", ())
    return Meta(label.shape, ct.dtype)


@infer.rule(binary_cross_entropy)
def infer_binary_cross_entropy(x, label):
    return _alike("binary_cross_entropy", x=x, label=label)


@infer.rule(binary_cross_entropy_vjp)
def infer_binary_cross_entropy_vjp(ct, x, label):
    return _alike("binary_cross_entropy_vjp", ct=ct, x=x, label=label)


@infer.rule(binary_cross_entropy_logits)
def infer_binary_cross_entropy_logits(logits, label):
    return _alike("binary_cross_entropy_logits", logits=logits, label=label)


@infer.rule(binary_cross_entropy_logits_vjp)
def infer_binary_cross_entropy_logits_vjp(ct, logits, label):
    return _alike("binary_cross_entropy_logits_vjp", ct=ct, logits=logits, label=label)


@infer.rule(smooth_l1_loss)
def infer_smooth_l1_loss(x, y, *, delta):
    return _alike("smooth_l1_loss", x=x, y=y)


@infer.rule(smooth_l1_loss_vjp)
def infer_smooth_l1_loss_vjp(ct, x, y, *, delta):
    return _alike("smooth_l1_loss_vjp", ct=ct, x=x, y=y)


@infer.rule(difference_loss)
def infer_difference_loss(x, y, *, kind, delta, mean):
    _require_kind("difference_loss", kind)
    return Meta((), _alike("difference_loss", x=x, y=y).dtype)


@infer.rule(difference_loss_vjp)
def infer_difference_loss_vjp(ct, x, y, *, kind, delta, mean):
    _require_kind("difference_loss_vjp", kind)
    require_same_shape("difference_loss_vjp", "ct", ct.shape, "the loss", ())
    require_one_dtype("difference_loss_vjp", ct=ct.dtype, x=x.dtype)
    return _alike("difference_loss_vjp", x=x, y=y)


@infer.rule(kl_div)
def infer_kl_div(x, label):
    return _alike("kl_div", x=x, label=label)


def _require_kind(op_name, kind):
    if kind not in ("squared", "absolute", "smooth"):
        raise ValueError(f"{op_name}: unknown kind. Got {kind!r}, expected 'squared', 'absolute' or 'smooth'. Use one of them.")


def _alike(op_name, **metas):
    """The meta that all inputs share."""
    (first, meta), *others = metas.items()
    require_dtype(op_name, first, meta.dtype, floats)
    shape = meta.shape
    for name, other in others:
        require_one_dtype(op_name, **{first: meta.dtype, name: other.dtype})
        shape = require_same_shape(op_name, name, other.shape, first, shape)
    return Meta(shape, meta.dtype)


# Decompositions.


@decompose.rule(nll_loss)
def decompose_nll_loss(x, label, weight, *, ignore_index, axis):
    kept, label = kept_labels(label, ignore_index)
    loss = -widened(ops.take_along_axis(x, label, axis=axis))
    if weight is not None:
        loss = loss * widened(_of_label(weight, label))
    return ops.cast(ops.where(kept, loss, _zeros(loss)), dtype=x.dtype)


@decompose.rule(nll_loss_vjp)
def decompose_nll_loss_vjp(ct, label, weight, like, *, ignore_index, axis):
    kept, label = kept_labels(label, ignore_index)
    c = -widened(ct)
    if weight is not None:
        c = c * widened(_of_label(weight, label))
    zeros = ops.full_like(like, value=0, dtype=ct.dtype)
    c = ops.cast(ops.where(kept, c, _zeros(c)), dtype=ct.dtype)
    return ops.put_along_axis(zeros, label, c, axis=axis, reduce="assign")


@decompose.rule(label_mean)
def decompose_label_mean(loss, label, weight, *, ignore_index):
    axes = tuple(range(len(loss.shape)))
    kept, label = kept_labels(label, ignore_index)
    wide = widened(loss)
    each = ops.full_like(wide, value=1, dtype=wide.dtype) if weight is None else widened(_of_label(weight, label))
    total = ops.reduce_sum(ops.where(kept, each, _zeros(each)), axes=axes, keepdim=False)
    mean = ops.reduce_sum(ops.where(kept, wide, _zeros(wide)), axes=axes, keepdim=False) / label_divisor(total)
    return ops.cast(mean, dtype=loss.dtype), total


@decompose.rule(label_mean_vjp)
def decompose_label_mean_vjp(ct, total, label, *, ignore_index):
    kept, _ = kept_labels(label, ignore_index)
    each = ops.broadcast_like(widened(ct) / label_divisor(total), label)
    return ops.cast(ops.where(kept, each, _zeros(each)), dtype=ct.dtype)


@decompose.rule(binary_cross_entropy)
def decompose_binary_cross_entropy(x, label):
    p, y = widened(x), widened(label)
    lowest = ops.full(shape=(), value=-100.0, dtype=p.dtype)
    yes, no = ops.maximum(ops.log(p), lowest), ops.maximum(ops.log1p(-p), lowest)
    return ops.cast((y - 1.0) * no - y * yes, dtype=x.dtype)


@decompose.rule(binary_cross_entropy_vjp)
def decompose_binary_cross_entropy_vjp(ct, x, label):
    c, p, y = widened(ct), widened(x), widened(label)
    # At 0 and 1 the slope is infinite: Paddle ends it at 1e12.
    least = ops.full(shape=(), value=1e-12, dtype=p.dtype)
    return ops.cast(c * (p - y) / ops.maximum(p * (1.0 - p), least), dtype=x.dtype)


@decompose.rule(binary_cross_entropy_logits)
def decompose_binary_cross_entropy_logits(logits, label):
    z, y = widened(logits), widened(label)
    # No term is large where the result is small, as z would be beside softplus(-z).
    zero = ops.full(shape=(), value=0, dtype=z.dtype)
    return ops.cast(ops.maximum(z, zero) - z * y + ops.log1p(ops.exp(-ops.abs(z))), dtype=logits.dtype)


@decompose.rule(binary_cross_entropy_logits_vjp)
def decompose_binary_cross_entropy_logits_vjp(ct, logits, label):
    return ops.cast(widened(ct) * (ops.sigmoid(widened(logits)) - widened(label)), dtype=logits.dtype)


@decompose.rule(smooth_l1_loss)
def decompose_smooth_l1_loss(x, y, *, delta):
    distance = ops.abs(widened(x) - widened(y))
    # With near = min(d, delta) both branches are near * (d - near / 2).
    near = ops.minimum(distance, ops.full(shape=(), value=delta, dtype=distance.dtype))
    return ops.cast(near * (distance - near * 0.5), dtype=x.dtype)


@decompose.rule(smooth_l1_loss_vjp)
def decompose_smooth_l1_loss_vjp(ct, x, y, *, delta):
    difference = widened(x) - widened(y)
    limit = ops.full(shape=(), value=delta, dtype=difference.dtype)
    return ops.cast(widened(ct) * ops.clip(difference, -limit, limit), dtype=x.dtype)


@decompose.rule(difference_loss)
def decompose_difference_loss(x, y, *, kind, delta, mean):
    wide, other, axes = widened(x), widened(y), tuple(range(x.ndim))
    if kind == "smooth":
        loss = smooth_l1_loss(wide, other, delta=delta)
    else:
        loss = (ops.square if kind == "squared" else ops.abs)(wide - other)
    return ops.cast((ops.reduce_mean if mean else ops.reduce_sum)(loss, axes=axes, keepdim=False), dtype=x.dtype)


@decompose.rule(difference_loss_vjp)
def decompose_difference_loss_vjp(ct, x, y, *, kind, delta, mean):
    difference, each = widened(x) - widened(y), widened(ct)
    if mean:
        each = each / count_of(x, tuple(range(x.ndim)), each.dtype, keepdim=False)
    if kind == "smooth":
        slope = smooth_l1_loss_vjp(ops.full_like(difference, value=1, dtype=difference.dtype), widened(x), widened(y), delta=delta)
    else:
        slope = difference * 2.0 if kind == "squared" else ops.sign(difference)
    return ops.cast(slope * each, dtype=x.dtype)


@decompose.rule(kl_div)
def decompose_kl_div(x, label):
    wide = widened(label)
    positive = ops.greater_than(wide, ops.full(shape=(), value=0, dtype=wide.dtype))
    # The logarithm of 1 where nothing is taken: that of 0 would spoil the gradient.
    logarithm = ops.log(ops.where(positive, wide, ops.full_like(wide, value=1, dtype=wide.dtype)))
    return ops.cast(ops.where(positive, wide * (logarithm - widened(x)), _zeros(wide)), dtype=x.dtype)


# Helpers.


def kept_labels(label, ignore_index):
    """Which labels count, and the labels as int64 with 0 for those that do not."""
    label = ops.cast(label, dtype=int64)  # an unsigned label cannot be compared with -100
    kept = ops.not_equal(label, ops.full(shape=(), value=ignore_index, dtype=int64))
    return kept, ops.where(kept, label, _zeros(label))


def _of_label(weight, label):
    return ops.gather(weight, label, axis=0)


def label_divisor(total):
    return ops.where(ops.equal(total, _zeros(total)), ops.full_like(total, value=1, dtype=total.dtype), total)


def _zeros(x):
    return ops.full_like(x, value=0, dtype=x.dtype)
