"""Gradient rules for losses.

Labels are data: they get no cotangent, as in Paddle. Weights of classes do.
"""
from wherry_autograd.rules import vjp
from wherry_tensor import ops
from wherry_tensor.ops.loss import kept_labels, label_divisor
from wherry_tensor.ops.reduction import widened


@vjp.rule(ops.nll_loss, keep_for={"x": "weight"})
def vjp_nll_loss(ct, _out, x, label, weight, *, ignore_index, axis, needs):
    x_ct = weight_ct = None
    if needs[0]:
        x_ct = ops.nll_loss_vjp(ct, label, weight, x, ignore_index=ignore_index, axis=axis)
    if weight is not None and needs[2]:
        plain = ops.nll_loss(x, label, None, ignore_index=ignore_index, axis=axis)
        weight_ct = _by_label(ct * plain, label, weight, ignore_index)
    return x_ct, None, weight_ct


@vjp.rule(ops.label_mean, keep_outputs=("mean", "total"))
def vjp_label_mean(ct, out, _loss, label, weight, *, ignore_index, needs):
    mean_ct, total_ct = ct
    mean, total = out
    loss_ct = weight_ct = None
    if needs[0] and mean_ct is not None:
        loss_ct = ops.label_mean_vjp(mean_ct, total, label, ignore_index=ignore_index)
    if weight is not None and needs[2]:
        each = 0.0 if mean_ct is None else -widened(mean_ct) * widened(mean) / label_divisor(total)
        if total_ct is not None:
            each = each + total_ct
        each = ops.broadcast_like(ops.cast(each, dtype=weight.dtype), label)
        weight_ct = _by_label(each, label, weight, ignore_index)
    return loss_ct, None, weight_ct


@vjp.rule(ops.binary_cross_entropy)
def vjp_binary_cross_entropy(ct, _out, x, label):
    return ops.binary_cross_entropy_vjp(ct, x, label), None


@vjp.rule(ops.binary_cross_entropy_logits)
def vjp_binary_cross_entropy_logits(ct, _out, logits, label):
    return ops.binary_cross_entropy_logits_vjp(ct, logits, label), None


@vjp.rule(ops.smooth_l1_loss)
def vjp_smooth_l1_loss(ct, _out, x, y, *, delta):
    x_ct = ops.smooth_l1_loss_vjp(ct, x, y, delta=delta)
    return x_ct, -x_ct


@vjp.rule(ops.difference_loss)
def vjp_difference_loss(ct, _out, x, y, *, kind, delta, mean, needs):
    x_ct = ops.difference_loss_vjp(ct, x, y, kind=kind, delta=delta, mean=mean)
    return x_ct if needs[0] else None, -x_ct if needs[1] else None


@vjp.rule(ops.kl_div)
def vjp_kl_div(ct, _out, _x, label):
    return -ct * ops.relu(label), None


def _by_label(value, label, weight, ignore_index):
    """Sums of `value` over the examples of each label."""
    kept, label = kept_labels(label, ignore_index)
    value = ops.where(kept, value, ops.full_like(value, value=0, dtype=value.dtype))
    return ops.gather_vjp(value, label, weight, axis=0)
