"""Gradient rules of attention with dropout, and of attention over padded sequences."""
from wherry_autograd.rules import vjp
from wherry_autograd.vjp.normalization import attention_cts
from wherry_tensor import ops
from wherry_tensor.ops.attention import seen_of_lengths, zeros_where_not
from wherry_tensor.ops.normalization import dropout_scale


@vjp.rule(ops.attention_dropout)
def vjp_attention_dropout(ct, out, q, k, v, mask, *, scale, causal, p, needs):
    out_ct, lse_ct, _ = ct
    out, lse, keep = out
    q_ct = k_ct = v_ct = None
    if out_ct is not None:
        q_ct, k_ct, v_ct = ops.attention_dropout_vjp(
            out_ct, q, k, v, mask, out, lse, keep, scale=scale, causal=causal, p=p
        )
    learned = mask is not None and needs[3]
    if lse_ct is None and not learned:
        return q_ct, k_ct, v_ct, None
    return attention_cts(
        q_ct, k_ct, v_ct, out_ct, lse_ct, q, k, v, mask, out, lse, scale, causal, learned,
        lambda weights_ct: ops.dropout_vjp(weights_ct, keep, scale=dropout_scale(p, True)),
    )


@vjp.rule(ops.attention_lengths, keep_outputs=("out", "lse"))
def vjp_attention_lengths(ct, out, q, k, v, mask, q_lengths, k_lengths, diagonal, *, scale, needs):
    out_ct, lse_ct = ct
    out, lse = out
    q_ct = k_ct = v_ct = None
    if out_ct is not None:
        q_ct, k_ct, v_ct = ops.attention_lengths_vjp(out_ct, q, k, v, mask, q_lengths, k_lengths, diagonal, out, lse, scale=scale)
    learned = mask is not None and needs[3]
    if lse_ct is None and not learned:
        return q_ct, k_ct, v_ct, None, None, None, None
    counts, seen, mask = seen_of_lengths(q, k, mask, q_lengths, k_lengths, diagonal)
    q, k, v = zeros_where_not(counts, q), zeros_where_not(seen, k), zeros_where_not(seen, v)
    if out_ct is not None:
        out_ct = zeros_where_not(counts, out_ct)
    if lse_ct is not None:
        lse_ct = zeros_where_not(ops.squeeze(counts, axes=(3,)), lse_ct)
    cts = attention_cts(q_ct, k_ct, v_ct, out_ct, lse_ct, q, k, v, mask, out, lse, scale, False, learned)
    return *cts, None, None, None
