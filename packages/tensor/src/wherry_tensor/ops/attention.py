"""Attention with dropout of the weights, and attention over padded sequences of different lengths.

Plain `attention` is in ops/normalization.py."""
from wherry_tensor import ops
from wherry_tensor._core import int64, uint8
from wherry_tensor.ops.declare import Meta, decompose, infer, op
from wherry_tensor.ops.normalization import (
    attention_probability,
    attention_scores,
    decompose_attention,
    decompose_attention_vjp,
    dropout_scale,
    infer_attention,
    infer_attention_vjp,
    infer_dropout,
)
from wherry_tensor.ops.reduction import positions, widened
from wherry_tensor.ops.shapes import (
    indices,
    merge_size,
    require_dtype,
    require_one_dtype,
    require_same_shape,
    same_size,
    show,
)

# In the order softmax, dropout, product with v. `keep`, [B, heads, Tq, Tk] in uint8, is the dropout mask of the weights, one byte
# each; weights that are kept are divided by 1 - p.
attention_dropout = op("attention_dropout", "q, k, v, mask?", effects="random", scale=float, causal=bool, p=float,
                       outputs="out, lse, keep")
attention_dropout_vjp = op("attention_dropout_vjp", "ct, q, k, v, mask?, out, lse, keep", scale=float, causal=bool,
                           p=float, outputs="q_ct, k_ct, v_ct")

# Sequences of different lengths, padded to one. Lengths and diagonal are [B], int32 or int64: query i of sequence b counts where
# i < q_lengths[b], key j is seen where j < k_lengths[b] and, with a diagonal, j <= i + diagonal[b]. These are comparisons, so a length
# after the last step means all of them, and one below 0 none. A query that does not count gives zeros and lse -inf. What lies in rows
# that do not count, or that no query sees, is not looked at, NaN included; their gradients are zeros.
attention_lengths = op("attention_lengths", "q, k, v, mask?, q_lengths, k_lengths, diagonal?", scale=float, outputs="out, lse")
attention_lengths_vjp = op("attention_lengths_vjp", "ct, q, k, v, mask?, q_lengths, k_lengths, diagonal?, out, lse", scale=float,
                           outputs="q_ct, k_ct, v_ct")


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


@infer.rule(attention_lengths)
def infer_attention_lengths(q, k, v, mask, q_lengths, k_lengths, diagonal, *, scale):
    out, lse = infer_attention(q, k, v, mask, scale=scale, causal=False)
    _require_lengths("attention_lengths", lse.shape[0], q_lengths=q_lengths, k_lengths=k_lengths, diagonal=diagonal)
    return out, lse


@infer.rule(attention_lengths_vjp)
def infer_attention_lengths_vjp(ct, q, k, v, mask, q_lengths, k_lengths, diagonal, out, lse, *, scale):
    _require_lengths("attention_lengths_vjp", q.shape[0], q_lengths=q_lengths, k_lengths=k_lengths, diagonal=diagonal)
    return infer_attention_vjp(ct, q, k, v, mask, out, lse, scale=scale, causal=False)


def _require_lengths(op_name, batch, **lengths):
    lengths = {name: meta for name, meta in lengths.items() if meta is not None}
    for name, meta in lengths.items():
        require_dtype(op_name, name, meta.dtype, indices)
        if len(meta.shape) != 1 or not same_size(meta.shape[0], batch):
            raise ValueError(
                f"{op_name}: `{name}` needs one number for each sequence. Got shape {show(meta.shape)} for a batch of {show((batch,))[1:-1]}, "
                f"expected [{show((batch,))[1:-1]}]. Reshape it."
            )
    require_one_dtype(op_name, **{name: meta.dtype for name, meta in lengths.items()})


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


@decompose.rule(attention_lengths)
def decompose_attention_lengths(q, k, v, mask, q_lengths, k_lengths, diagonal, *, scale):
    counts, seen, mask = seen_of_lengths(q, k, mask, q_lengths, k_lengths, diagonal)
    return decompose_attention(
        zeros_where_not(counts, q), zeros_where_not(seen, k), zeros_where_not(seen, v), mask, scale=scale, causal=False
    )


@decompose.rule(attention_lengths_vjp)
def decompose_attention_lengths_vjp(ct, q, k, v, mask, q_lengths, k_lengths, diagonal, out, lse, *, scale):
    counts, seen, mask = seen_of_lengths(q, k, mask, q_lengths, k_lengths, diagonal)
    return decompose_attention_vjp(
        zeros_where_not(counts, ct), zeros_where_not(counts, q), zeros_where_not(seen, k), zeros_where_not(seen, v), mask,
        zeros_where_not(counts, out), lse, scale=scale, causal=False,
    )


def seen_of_lengths(q, k, mask, q_lengths, k_lengths, diagonal):
    """The lengths as masks, for attention without lengths.

    Returns:
        Which queries count and which keys anyone sees, bool `[B, 1, T, 1]` both; and a mask of all, bool if `mask` is bool or None.
    """
    q_lengths, k_lengths = (ops.unsqueeze(ops.cast(x, dtype=int64), axes=(1, 2, 3)) for x in (q_lengths, k_lengths))
    row, column = positions(q, 2), positions(k, 2)  # [T, 1]
    counts, seen = ops.less_than(row, q_lengths), ops.less_than(column, k_lengths)
    pairs = ops.logical_and(counts, ops.transpose(seen, perm=(0, 1, 3, 2)))
    if diagonal is not None:
        diagonal = ops.unsqueeze(ops.cast(diagonal, dtype=int64), axes=(1, 2, 3))
        pairs = ops.logical_and(pairs, ops.less_equal(ops.transpose(column, perm=(1, 0)) - row, diagonal))
        seen = ops.logical_and(seen, ops.less_than(column, q_lengths + diagonal))
    if mask is None:
        return counts, seen, pairs
    if mask.dtype.is_bool:
        return counts, seen, ops.logical_and(mask, pairs)
    return counts, seen, ops.where(pairs, mask, ops.full(shape=(), value=-float("inf"), dtype=mask.dtype))


def zeros_where_not(counts, x):
    """`x` with zeros in the rows that do not count: multiplying by a weight of 0 would let NaN through."""
    return ops.where(counts, x, ops.full(shape=(), value=0, dtype=x.dtype))


def _kept(x, keep, p):
    return ops.dropout_vjp(x, keep, scale=dropout_scale(p, True))
