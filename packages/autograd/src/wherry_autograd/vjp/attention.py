"""Gradient rule of attention that drops weights."""
from wherry_autograd.rules import vjp
from wherry_autograd.vjp.normalization import attention_cts
from wherry_tensor import ops
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
