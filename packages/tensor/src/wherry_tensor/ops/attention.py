"""Attention that drops weights, with what decided about each of them kept as one byte.

As `attention` in ops/normalization.py, and in the order softmax, dropout, product with v. `keep`, [B, heads, Tq, Tk]
in uint8, is the mask of `dropout` over the weights; what is kept is divided by 1 - p.
"""
from wherry_tensor import ops
from wherry_tensor._core import uint8
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.normalization import (
    attention_probability,
    attention_scores,
    dropout_scale,
    infer_attention,
    infer_attention_vjp,
    infer_dropout,
)
from wherry_tensor.ops.reduction import widened
from wherry_tensor.ops.shapes import merge_size, require_dtype, require_same_shape

attention_dropout = op("attention_dropout", "q, k, v, mask?", effects="random", scale=float, causal=bool, p=float,
                       outputs="out, lse, keep")
attention_dropout_vjp = op("attention_dropout_vjp", "ct, q, k, v, mask?, out, lse, keep", scale=float, causal=bool,
                           p=float, outputs="q_ct, k_ct, v_ct")


# Shape rules.


@infer.rule(attention_dropout)
def infer_attention_dropout(q, k, v, mask, *, scale, causal, p):
    infer_dropout(q, p=p, upscale=True)  # says what is wrong with p
    out, lse = infer_attention(q, k, v, mask, scale=scale, causal=causal)
    return out, lse, Meta((*lse.shape, merge_size(k.shape[2], v.shape[2])), uint8)


@infer.rule(attention_dropout_vjp)
def infer_attention_dropout_vjp(ct, q, k, v, mask, out, lse, keep, *, scale, causal, p):
    require_dtype("attention_dropout_vjp", "keep", keep.dtype, (uint8,))
    weights = (*lse.shape, merge_size(k.shape[2], v.shape[2]))
    require_same_shape("attention_dropout_vjp", "keep", keep.shape, "the weights", weights)
    return infer_attention_vjp(ct, q, k, v, mask, out, lse, scale=scale, causal=causal)


# Decompositions.


@decompose.rule(attention_dropout)
def decompose_attention_dropout(q, k, v, mask, *, scale, causal, p):
    scores = attention_scores(widened(q), widened(k), mask, scale, causal)
    lse = ops.logsumexp(scores, axes=(3,), keepdim=False)
    weights, keep = ops.dropout(attention_probability(scores, lse), p=p, upscale=True)
    out = ops.matmul(weights, widened(v), transpose_x=False, transpose_y=False)
    return ops.cast(out, dtype=q.dtype), lse, keep


@decompose.rule(attention_dropout_vjp)
def decompose_attention_dropout_vjp(ct, q, k, v, mask, out, lse, keep, *, scale, causal, p):
    cw, qw, kw, vw = widened(ct), widened(q), widened(k), widened(v)
    weights = attention_probability(attention_scores(qw, kw, mask, scale, causal), lse)
    v_ct = ops.matmul(_kept(weights, keep, p), cw, transpose_x=True, transpose_y=False)
    weights_ct = _kept(ops.matmul(cw, vw, transpose_x=False, transpose_y=True), keep, p)
    scores_ct = weights * (weights_ct - ops.reduce_sum(cw * widened(out), axes=(3,), keepdim=True)) * scale
    q_ct = ops.matmul(scores_ct, kw, transpose_x=False, transpose_y=False)
    k_ct = ops.matmul(scores_ct, qw, transpose_x=True, transpose_y=False)
    return ops.cast(q_ct, dtype=q.dtype), ops.cast(k_ct, dtype=k.dtype), ops.cast(v_ct, dtype=v.dtype)


def _kept(x, keep, p):
    return ops.dropout_vjp(x, keep, scale=dropout_scale(p, True))
