"""Gradient rules for normalizations, softmax, cross entropy and attention.

The fused gradient ops (softmax_vjp, layer_norm_vjp ...) are differentiated again through their
decompositions. There the statistics, and the softmax, are inputs of their own; so the rules below
also take cotangents for these outputs.
"""
import math

from wherry_autograd.rules import vjp
from wherry_tensor import ops
from wherry_tensor.ops.normalization import (
    attention_probability,
    attention_scores,
    dropout_scale,
    grouped_parts,
    label_distribution,
)
from wherry_tensor.ops.reduction import count_of, widened
from wherry_tensor.ops.shapes import UNKNOWN, element_count


@vjp.rule(ops.softmax)
def vjp_softmax(ct, out, _x, *, axis):
    return ops.softmax_vjp(ct, out, axis=axis)


@vjp.rule(ops.log_softmax)
def vjp_log_softmax(ct, out, _x, *, axis):
    return ops.log_softmax_vjp(ct, out, axis=axis)


@vjp.rule(ops.layer_norm, keep_outputs=("mean", "rstd"), again=True)
def vjp_layer_norm(ct, out, x, scale, _bias, *, epsilon, begin_axis):
    out_ct, mean_ct, rstd_ct = ct
    _, mean, rstd = out
    x_ct = scale_ct = bias_ct = None
    if out_ct is not None and scale is None and _bias is None and element_count(x.shape) != UNKNOWN:
        # Rows are then channels of one image; the sums for parameters would be half of the work.
        shape = (1, math.prod(x.shape[:begin_axis]), math.prod(x.shape[begin_axis:]))
        variance = ops.reshape(1.0 / ops.square(rstd), shape=(shape[1],))
        x_ct, _, _ = ops.batch_norm_vjp(
            ops.reshape(out_ct, shape=shape), ops.reshape(x, shape=shape), None, ops.reshape(mean, shape=(shape[1],)), variance,
            epsilon=0.0, data_format="NCHW",
        )
        x_ct = ops.reshape(x_ct, shape=tuple(x.shape))
    elif out_ct is not None:
        x_ct, scale_ct, bias_ct = ops.layer_norm_vjp(out_ct, x, scale, mean, rstd, begin_axis=begin_axis)
    axes = tuple(range(begin_axis, len(x.shape)))
    n = count_of(x, axes, mean.dtype)
    if mean_ct is not None:
        x_ct = _plus(x_ct, ops.unreduce_like(ops.unsqueeze(mean_ct, axes=axes) / n, x, axes=axes, keepdim=True))
    if rstd_ct is not None:
        # rstd ** -2 is the variance and epsilon, so rstd' = -rstd ** 3 / 2 * variance'.
        slope = ops.unsqueeze(rstd_ct * rstd * rstd * rstd, axes=axes) / n
        x_ct = _plus(x_ct, (ops.unsqueeze(mean, axes=axes) - widened(x)) * slope)
    return x_ct, None if scale is None else scale_ct, None if _bias is None else bias_ct


@vjp.rule(ops.group_norm, keep_outputs=("mean", "rstd"))
def vjp_group_norm(ct, out, x, scale, _bias, *, epsilon, groups):
    out_ct, mean_ct, rstd_ct = ct
    _, mean, rstd = out
    x_ct = scale_ct = bias_ct = None
    if out_ct is not None:
        x_ct, scale_ct, bias_ct = ops.group_norm_vjp(out_ct, x, scale, mean, rstd, groups=groups)
    if mean_ct is not None or rstd_ct is not None:
        parts, axes = grouped_parts(widened(x), groups)
        n = count_of(parts, axes, mean.dtype)
        slope = None
        if mean_ct is not None:
            slope = ops.unreduce_like(ops.unsqueeze(mean_ct, axes=axes) / n, parts, axes=axes, keepdim=True)
        if rstd_ct is not None:
            slope = _plus(slope, (ops.unsqueeze(mean, axes=axes) - parts) * (ops.unsqueeze(rstd_ct * rstd * rstd * rstd, axes=axes) / n))
        x_ct = _plus(x_ct, ops.reshape(slope, shape=tuple(x.shape)))
    return x_ct, None if scale is None else scale_ct, None if _bias is None else bias_ct


@vjp.rule(ops.batch_norm, keep_outputs=("mean", "variance"))
def vjp_batch_norm(ct, out, x, scale, _bias, *, epsilon, data_format):
    out_ct, mean_ct, variance_ct = ct
    _, mean, variance = out
    x_ct = scale_ct = bias_ct = None
    if out_ct is not None:
        x_ct, scale_ct, bias_ct = ops.batch_norm_vjp(
            out_ct, x, scale, mean, variance, epsilon=epsilon, data_format=data_format
        )
    channel = 1 if data_format == "NCHW" else len(x.shape) - 1
    axes = tuple(axis for axis in range(len(x.shape)) if axis != channel)
    n = count_of(x, axes, mean.dtype)
    if mean_ct is not None:
        x_ct = _plus(x_ct, ops.unreduce_like(ops.unsqueeze(mean_ct, axes=axes) / n, x, axes=axes, keepdim=True))
    if variance_ct is not None:
        slope = ops.unsqueeze(variance_ct * 2.0, axes=axes) / n
        x_ct = _plus(x_ct, (widened(x) - ops.unsqueeze(mean, axes=axes)) * slope)
    return x_ct, None if scale is None else scale_ct, None if _bias is None else bias_ct


@vjp.rule(ops.batch_norm_infer, keep_for={"x": "mean, variance, scale, bias"})
def vjp_batch_norm_infer(ct, _out, x, mean, variance, scale, _bias, *, epsilon, data_format, needs):
    x_ct = mean_ct = variance_ct = scale_ct = bias_ct = None
    if needs[0]:
        # The same affine map without its constants.
        x_ct = ops.batch_norm_infer(
            ct, ops.full_like(mean, value=0, dtype=mean.dtype), variance, scale, None, epsilon=epsilon, data_format=data_format
        )
    if any(needs[1:]):
        _, scale_ct, bias_ct = ops.batch_norm_vjp(
            ct, x, scale, mean, variance, epsilon=epsilon, data_format=data_format
        )
    if needs[1] or needs[2]:
        # The output depends on (x - mean) * rstd, where rstd' = -rstd ** 3 / 2 * variance'.
        rstd = ops.rsqrt(variance + epsilon)
        factor = rstd if scale is None else rstd * widened(scale)
        mean_ct = -widened(bias_ct) * factor
        variance_ct = widened(scale_ct) * factor * rstd * -0.5
    return x_ct, mean_ct, variance_ct, None if scale is None else scale_ct, None if _bias is None else bias_ct


@vjp.rule(ops.dropout, keep_outputs=("mask",))
def vjp_dropout(ct, out, _x, *, p, upscale):
    return ops.dropout_vjp(ct[0], out[1], scale=dropout_scale(p, upscale))


@vjp.rule(ops.dropout_add, keep_outputs=("mask",))
def vjp_dropout_add(ct, out, _x, _y, *, p, upscale, needs):
    return ops.dropout_vjp(ct[0], out[1], scale=dropout_scale(p, upscale)) if needs[0] else None, ct[0]


@vjp.rule(ops.dropout_vjp)
def vjp_dropout_vjp(ct, _out, _ct, mask, *, scale):
    return ops.dropout_vjp(ct, mask, scale=scale), None


@vjp.rule(ops.cross_entropy, keep_outputs=("softmax",), keep_for={"logits": "weight"})
def vjp_cross_entropy(ct, out, logits, label, weight, *, soft_label, ignore_index, axis, needs):
    # As in Paddle, a soft label is data: it gets no cotangent.
    loss_ct, softmax_ct = ct
    softmax = out[1]
    logits_ct = weight_ct = None
    if needs[0] and loss_ct is not None:
        logits_ct = ops.cross_entropy_vjp(
            loss_ct, softmax, label, weight, soft_label=soft_label, ignore_index=ignore_index, axis=axis
        )
    if needs[0] and softmax_ct is not None:
        logits_ct = _plus(logits_ct, ops.softmax_vjp(softmax_ct, softmax, axis=axis))
    if weight is not None and needs[2] and loss_ct is not None:
        plain, _ = ops.cross_entropy(
            logits, label, None, soft_label=soft_label, ignore_index=ignore_index, axis=axis
        )
        target = label_distribution(widened(logits), label, soft_label, ignore_index, axis)
        others = tuple(other for other in range(len(logits.shape)) if other != axis)
        weight_ct = ops.reduce_sum(target * widened(loss_ct * plain), axes=others, keepdim=False)
    return logits_ct, None, weight_ct


@vjp.rule(ops.attention, keep_outputs=("out", "lse"))
def vjp_attention(ct, out, q, k, v, mask, *, scale, causal, needs):
    out_ct, lse_ct = ct
    out, lse = out
    q_ct = k_ct = v_ct = None
    if out_ct is not None:
        q_ct, k_ct, v_ct = ops.attention_vjp(out_ct, q, k, v, mask, out, lse, scale=scale, causal=causal)
    learned = mask is not None and needs[3]
    if lse_ct is None and not learned:
        return q_ct, k_ct, v_ct, None
    return attention_cts(q_ct, k_ct, v_ct, out_ct, lse_ct, q, k, v, mask, out, lse, scale, causal, learned)


def attention_cts(q_ct, k_ct, v_ct, out_ct, lse_ct, q, k, v, mask, out, lse, scale, causal, learned, dropped=None):
    """What lse and a learned mask add to the cotangents of attention, with the matrix of probabilities written out.

    That is rare: a learned bias, or second derivatives. `dropped` does to a cotangent of the weights what dropout did.
    """
    qw, kw = widened(q), widened(k)
    mask_ct = None
    p = attention_probability(attention_scores(qw, kw, mask, scale, causal), lse)
    if lse_ct is not None:
        scores_ct = p * ops.unsqueeze(lse_ct, axes=(3,))
        q_ct = _plus(q_ct, ops.matmul(scores_ct, kw, transpose_x=False, transpose_y=False) * scale)
        k_ct = _plus(k_ct, ops.matmul(scores_ct, qw, transpose_x=True, transpose_y=False) * scale)
        if learned:
            mask_ct = scores_ct
    if learned and out_ct is not None:
        cw = widened(out_ct)
        p_ct = ops.matmul(cw, widened(v), transpose_x=False, transpose_y=True)
        if dropped is not None:
            p_ct = dropped(p_ct)
        mask_ct = _plus(mask_ct, p * (p_ct - ops.reduce_sum(cw * widened(out), axes=(3,), keepdim=True)))
    return q_ct, k_ct, v_ct, mask_ct


def _plus(x, y):
    return y if x is None else x + ops.cast(y, dtype=x.dtype)


@vjp.rule(ops.glu)
def vjp_glu(ct, _out, x, *, axis):
    return ops.glu_vjp(ct, x, axis=axis)
