"""Fused parts of language models: `paddle.incubate.nn.functional`. Paddle has them on GPUs only; here they are composed of ops, run
on every device and have gradients.
"""
from __future__ import annotations

import math
from typing import Any

from wherry_nn.functional.activation import softmax
from wherry_nn.functional.attention import repeat_heads
from wherry_nn.functional.norm import layer_norm
from wherry_tensor import (
    arange,
    cast,
    clip,
    concat,
    full_like,
    gather,
    matmul,
    mean,
    ops,
    reshape,
    stack,
    transpose,
    where,
)
from wherry_tensor._core import Tensor, int8, set_grad_mode
from wherry_tensor.arguments import integer, require_tensor, to_dtype
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = [
    "block_multihead_attention",
    "fused_ec_moe",
    "fused_layer_norm",
    "fused_rms_norm",
    "fused_rotary_position_embedding",
    "masked_multihead_attention",
    "variable_length_memory_efficient_attention",
]


def fused_rms_norm(
    x: Tensor, norm_weight: Tensor, norm_bias: Tensor | None, epsilon: float, begin_norm_axis: int, bias: Tensor | None = None,
    residual: Tensor | None = None, quant_scale: float = -1, quant_round_type: int = 0, quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Tensor, Tensor | None]:
    """RMS norm: `s / sqrt(mean(s * s) + epsilon) * norm_weight + norm_bias` with s = x + bias + residual, over the axes from
    `begin_norm_axis` on.

    Args:
        x: floating.
        norm_weight: one number for each element of these axes.
        norm_bias: the same, or None.
        epsilon: is added to the mean of squares.
        begin_norm_axis: the first of the axes.
        bias: is added to x; of the last axes, or None.
        residual: is added to x; of its shape, or None.
        quant_scale: above 0 the result is int8: `quant_max_bound * quant_scale * result`, rounded and cut to the bounds.
        quant_round_type: 0 rounds halves to even numbers, 1 away from 0.
        quant_max_bound: the largest of the int8.
        quant_min_bound: the smallest.

    Returns:
        (the result, s); s is None without a residual.

    Shape:
        That of x, both.

    Raises:
        ValueError: there is no such axis, or a weight has another size.
        TypeError: one of them is not a Tensor (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.fused_rms_norm`, which Paddle has on GPUs only. Zhang and Sennrich, "Root mean square layer
        normalization" (2019).

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> out, _ = F.fused_rms_norm(wherry.to_tensor([[2.0, -2.0]]), wherry.ones([2]), None, 0.0, 1)
        >>> out.tolist()
        [[1.0, -1.0]]
    """
    summed, axes = _summed("fused_rms_norm", x, bias, residual, 1.0, begin_norm_axis)
    # Squares are summed in float32: those of 256 and more are beyond float16.
    wide = cast(summed, "float32") if summed.dtype.itemsize == 2 else summed
    root = ops.rsqrt(mean(wide * wide, axis=axes, keepdim=True) + epsilon)
    out = cast(wide * root, summed.dtype) * _shaped(norm_weight, summed, axes, "fused_rms_norm", "norm_weight")
    if norm_bias is not None:
        out = out + _shaped(norm_bias, summed, axes, "fused_rms_norm", "norm_bias")
    return _quantized(out, quant_scale, quant_round_type, quant_max_bound, quant_min_bound), None if residual is None else summed


def fused_layer_norm(
    x: Tensor, norm_weight: Tensor | None, norm_bias: Tensor | None, epsilon: float, residual_alpha: float = 1.0, begin_norm_axis: int = 1,
    bias: Tensor | None = None, residual: Tensor | None = None, quant_scale: float = -1, quant_round_type: int = 0,
    quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Tensor, Tensor | None]:
    """Layer norm of s = x + bias + residual_alpha * residual, over the axes from `begin_norm_axis` on; s itself where both
    `norm_weight` and `norm_bias` are None.

    Args:
        x: floating.
        norm_weight: one number for each element of these axes, or None.
        norm_bias: the same.
        epsilon: is added to the variance.
        residual_alpha: the factor of the residual.
        begin_norm_axis: the first of the axes.
        bias: is added to x; of the last axes, or None.
        residual: of the shape of x, or None.
        quant_scale, quant_round_type, quant_max_bound, quant_min_bound: as `fused_rms_norm`.

    Returns:
        (the result, s); s is None without a residual.

    Shape:
        That of x, both.

    Raises:
        ValueError: there is no such axis, or a weight has another size.
        TypeError: one of them is not a Tensor (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.fused_layer_norm`, which Paddle has on GPUs only.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> out, _ = F.fused_layer_norm(wherry.to_tensor([[1.0, 3.0]]), wherry.ones([2]), None, 0.0)
        >>> out.tolist()
        [[-1.0, 1.0]]
    """
    op_name = "fused_layer_norm"
    summed, axes = _summed(op_name, x, bias, residual, residual_alpha, begin_norm_axis)
    out = summed
    if norm_weight is not None or norm_bias is not None:
        scale, shift = (
            None if given is None else _shaped(given, summed, axes, op_name, name)
            for given, name in ((norm_weight, "norm_weight"), (norm_bias, "norm_bias"))
        )
        out = layer_norm(summed, summed.shape[axes[0] :], scale, shift, epsilon)
    return _quantized(out, quant_scale, quant_round_type, quant_max_bound, quant_min_bound), None if residual is None else summed


def _summed(
    op_name: str, x: Tensor, bias: Tensor | None, residual: Tensor | None, alpha: float, begin: int
) -> tuple[Tensor, list[int]]:
    """x with bias and residual, and the axes from `begin` on."""
    rank = len(require_tensor(x, op_name).shape)
    first = integer(begin, op_name, "begin_norm_axis")
    if not -rank <= first < rank:
        raise InvalidArgumentError(
            f"{op_name}: there is no such axis. Got begin_norm_axis={first} for x of shape {x.shape}, expected one in [{-rank}, {rank}). "
            f"{rank - 1} normalizes along the last axis."
        )
    summed = x if bias is None else x + require_tensor(bias, op_name, "bias")
    if residual is not None:
        summed = summed + (require_tensor(residual, op_name, "residual") if alpha == 1.0 else residual * alpha)
    if len(summed.shape) != rank:
        raise InvalidArgumentError(f"{op_name}: bias or residual has more axes than x. Got shape {x.shape} for x, expected them to fit it.")
    return summed, list(range(first % rank, rank))


def _shaped(given: Tensor, x: Tensor, axes: list[int], op_name: str, name: str) -> Tensor:
    """A weight, flat or not, in the shape of the normalized axes."""
    expected = x.shape[axes[0] :]
    if require_tensor(given, op_name, name).shape == expected:
        return given
    if len(given.shape) != 1 or given.shape[0] != math.prod(expected):
        raise InvalidArgumentError(
            f"{op_name}: {name} has another size. Got shape {given.shape}, expected {expected} or [{math.prod(expected)}]. Reshape it."
        )
    return reshape(given, expected)


def _quantized(x: Tensor, scale: float, round_type: int, largest: float, smallest: float) -> Tensor:
    if scale <= 0:
        return x
    grown = cast(x, "float32") * (largest * scale)
    whole = ops.round(grown)  # halves away from 0
    if round_type == 0:
        whole = where(grown - ops.floor(grown) == 0.5, ops.round(grown * 0.5) * 2.0, whole)
    return cast(clip(whole, smallest, largest), int8)


def fused_rotary_position_embedding(
    q: Tensor, k: Tensor | None = None, v: Tensor | None = None, sin: Tensor | None = None, cos: Tensor | None = None,
    position_ids: Tensor | None = None, use_neox_rotary_style: bool = True,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Rotary position embedding: rotate queries, keys and values by angles that depend on their positions.

    Args:
        q: floating; the head_dim is even.
        k: the same, also with other numbers of heads; or None.
        v: the same.
        sin: the sines, `[S, head_dim]` or `[1, S, 1, head_dim]`; None are those of the angles position / 10000 ** (2 i / head_dim).
        cos: the cosines; given where `sin` is.
        position_ids: the position of each step, `[batch, T]`; None counts from 0.
        use_neox_rotary_style: True rotates pairs of neighbours (0, 1), (2, 3), ...; False pairs of the first half and the second.

    Returns:
        Three tensors, None for those that are None.

    Shape:
        `[batch, T, heads, head_dim]`, and the same.

    Raises:
        ValueError: shapes that do not fit; `sin` without `cos`.
        TypeError: one of them is not a Tensor (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.fused_rotary_position_embedding`, which Paddle has on GPUs only. Su et al., "RoFormer" (2021).

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> q = wherry.ones([1, 2, 1, 2])
        >>> out, _, _ = F.fused_rotary_position_embedding(q)
        >>> print(out[0, :, 0].numpy().round(3))  # the second step by an angle of 1
        [[ 1.     1.   ]
         [-0.301  1.382]]
    """
    op_name = "fused_rotary_position_embedding"
    shape = require_tensor(q, op_name, "q").shape
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x is not None:
            own = require_tensor(x, op_name, name).shape
            if len(own) != 4 or own[:2] != shape[:2] or own[3] != shape[3] or own[3] % 2 or own[3] == 0:
                raise InvalidArgumentError(
                    f"{op_name}: {name} does not fit. Got shape {own} beside q of {shape}, expected [batch, T, heads, head_dim] with an even "
                    f"head_dim. Reshape it."
                )
    if (sin is None) != (cos is None):
        raise InvalidArgumentError(f"{op_name}: sin and cos must be given together. Got one of them, expected both or none. Pass the other one.")
    steps, size = shape[1], shape[3]
    if sin is None or cos is None:
        sin, cos = _turns(steps if position_ids is None else None, position_ids, size, use_neox_rotary_style)
    else:
        sin, cos = (_table(table, name, size, steps, position_ids, op_name) for name, table in (("sin", sin), ("cos", cos)))
    sine, cosine = cast(sin, q.dtype), cast(cos, q.dtype)
    q, k, v = (None if x is None else x * cosine + _quarter(x, use_neox_rotary_style) * sine for x in (q, k, v))  # type: ignore[assignment]
    return q, k, v


def _turns(steps: int | None, positions: Tensor | None, size: int, neighbours: bool) -> tuple[Tensor, Tensor]:
    """Sine and cosine of each element's angle, `[1 or batch, T, 1, size]`."""
    places = reshape(arange(steps, dtype="float32"), [1, -1]) if positions is None else cast(positions, "float32")
    speed = ops.exp(arange(0, size, 2, dtype="float32") * (-math.log(10000.0) / size))
    angle = ops.unsqueeze(places, axes=(2,)) * speed
    parts = [angle, angle]
    every = reshape(stack(parts, -1), [*angle.shape[:2], size]) if neighbours else concat(parts, -1)
    every = ops.unsqueeze(every, axes=(2,))
    return ops.sin(every), ops.cos(every)


def _table(table: Tensor, name: str, size: int, steps: int, positions: Tensor | None, op_name: str) -> Tensor:
    """The rows of `table` at the positions, `[1 or batch, T, 1, size]`."""
    shape = require_tensor(table, op_name, name).shape
    rows = shape[1] if len(shape) == 4 and shape[0] == shape[2] == 1 else shape[0] if len(shape) == 2 else None
    if rows is None or shape[-1] != size or (positions is None and rows < steps):
        raise InvalidArgumentError(
            f"{op_name}: {name} does not fit. Got shape {shape}, expected [S, {size}] or [1, S, 1, {size}] with S of {steps} or more. "
            f"Compute it for all positions."
        )
    flat = reshape(table, [rows, size])
    if positions is None:
        return reshape(flat[:steps], [1, steps, 1, size])
    return reshape(gather(flat, reshape(positions, [-1])), [*positions.shape, 1, size])


def _quarter(x: Tensor, neighbours: bool) -> Tensor:
    """Each pair rotated by 90 degrees: (a, b) becomes (-b, a)."""
    if neighbours:
        return reshape(stack([-x[..., 1::2], x[..., ::2]], -1), x.shape)
    half = x.shape[3] // 2
    return concat([-x[..., half:], x[..., :half]], -1)


def variable_length_memory_efficient_attention(
    query: Tensor, key: Tensor, value: Tensor, seq_lens: Tensor, kv_seq_lens: Tensor, mask: Tensor | None = None, scale: float | None = None,
    causal: bool = False, pre_cache_length: int = 0,
) -> Tensor:
    """Attention over sequences of different lengths in one batch, without a matrix of scores, and in time that goes by the lengths.

    Keys beyond a sequence's length are masked; queries beyond it, and queries that see no key, give 0.

    Args:
        query: `[batch, heads, T, head_dim]`.
        key: `[batch, kv_heads, S, head_dim]`; kv_heads divide the heads, each shared by as many of them.
        value: the same.
        seq_lens: how many steps the queries have, `[batch, 1]`, integers.
        kv_seq_lens: how many keys there are, `[batch, 1]`, integers.
        mask: is added to the scores, `[batch, 1 or heads, T, S]`, in the dtype of query; or None.
        scale: the factor of the scores; None is 1 / sqrt(head_dim).
        causal: step i sees the keys 0..i, and the cache before them.
        pre_cache_length: how many keys stand before those of the sequence.

    Shape:
        That of query.

    Raises:
        ValueError: shapes that do not fit.
        TypeError: one of them is not a Tensor (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.variable_length_memory_efficient_attention`, which Paddle has on GPUs only.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> x = wherry.to_tensor([[[[1.0], [3.0]]]])
        >>> one = wherry.to_tensor([[1]])
        >>> F.variable_length_memory_efficient_attention(x, x, x, one, one).tolist()
        [[[[1.0], [0.0]]]]
    """
    op_name = "variable_length_memory_efficient_attention"
    q, k, v = (require_tensor(x, op_name, name).shape for x, name in ((query, "query"), (key, "key"), (value, "value")))
    if not (len(q) == len(k) == 4 and k == v and q[0] == k[0] and q[3] == k[3] and q[1] % k[1] == 0):
        raise InvalidArgumentError(
            f"{op_name}: shapes do not fit. Got {q}, {k} and {v}, expected [batch, heads, T, head_dim] and twice "
            f"[batch, kv_heads, S, head_dim] with kv_heads that divide the heads. Transpose them."
        )
    batch, heads, _, size = q
    key, value = repeat_heads(key, heads), repeat_heads(value, heads)
    if mask is not None:
        mask = to_dtype(require_tensor(mask, op_name, "mask"), query.dtype)
    lengths, key_lengths = (
        cast(reshape(require_tensor(x, op_name, name), [batch]), "int64") for x, name in ((seq_lens, "seq_lens"), (kv_seq_lens, "kv_seq_lens"))
    )
    return ops.attention_lengths(
        query, key, value, mask, lengths, key_lengths + pre_cache_length, full_like(lengths, pre_cache_length) if causal else None,
        scale=1.0 / math.sqrt(size) if scale is None else float(scale),
    )[0]


def masked_multihead_attention(
    x: Tensor, cache_kv: Tensor | None = None, bias: Tensor | None = None, src_mask: Tensor | None = None, cum_offsets: Tensor | None = None,
    sequence_lengths: Tensor | None = None, rotary_tensor: Tensor | None = None, beam_cache_offset: Tensor | None = None,
    qkv_out_scale: Tensor | None = None, out_shift: Tensor | None = None, out_smooth: Tensor | None = None, seq_len: int = 1,
    rotary_emb_dims: int = 0, use_neox_rotary_style: bool = False, compute_dtype: str = "default", out_scale: float = -1,
    quant_round_type: int = 1, quant_max_bound: float = 127.0, quant_min_bound: float = -127.0,
) -> tuple[Tensor, Tensor]:
    """One decoding step of attention: keys and values of this step are written to the cache, and the query attends to all steps so far.

    Args:
        x: queries, keys and values of one step, `[batch, 3 * heads * head_dim]`.
        cache_kv: those of the steps before, `[2, batch, heads, room, head_dim]`; is written to.
        bias: is added to x, `[3, heads, head_dim]`; or None.
        src_mask: is added to the scores, `[batch, 1, 1, steps]` with this step as the last one; or None.
        cum_offsets: None.
        sequence_lengths: how many steps each sequence of the cache holds already, `[batch, 1]`; None is one less than `src_mask` has.
        rotary_tensor, beam_cache_offset, qkv_out_scale, out_shift, out_smooth: None; rotate with `fused_rotary_position_embedding` before.
        seq_len: no effect.
        rotary_emb_dims: 0.
        use_neox_rotary_style: no effect.
        compute_dtype: no effect.
        out_scale: -1: nothing is quantized.
        quant_round_type, quant_max_bound, quant_min_bound: no effect.

    Returns:
        (the result, cache_kv).

    Shape:
        `[batch, heads * head_dim]`.

    Raises:
        ValueError: shapes that do not fit; neither `src_mask` nor `sequence_lengths`; the cache is full.
        NotImplementedError: an argument of rotation, beams or quantization.

    Source:
        `paddle.incubate.nn.functional.masked_multihead_attention`, which Paddle has on GPUs only. Without gradients.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> cache = wherry.zeros([2, 1, 1, 4, 2])
        >>> out, cache = F.masked_multihead_attention(wherry.to_tensor([[1.0, 0, 1, 0, 5, 6]]), cache, src_mask=wherry.zeros([1, 1, 1, 1]))
        >>> out.tolist(), cache[1, 0, 0, 0].tolist()
        ([[5.0, 6.0]], [5.0, 6.0])
    """
    op_name = "masked_multihead_attention"
    given = {
        "cum_offsets": cum_offsets, "rotary_tensor": rotary_tensor, "beam_cache_offset": beam_cache_offset, "qkv_out_scale": qkv_out_scale,
        "out_shift": out_shift, "out_smooth": out_smooth,
    }
    unserved = [name for name, value in given.items() if value is not None]
    if unserved or rotary_emb_dims or out_scale > 0:
        raise UnimplementedError(
            f"{op_name}: rotation, beams and quantization are not available. Got {', '.join(unserved) or 'rotary_emb_dims or out_scale'}, "
            f"expected them to be left out. Rotate queries and keys before, with fused_rotary_position_embedding."
        )
    cache = require_tensor(cache_kv, op_name, "cache_kv")
    shape = cache.shape
    if len(shape) != 5 or require_tensor(x, op_name).shape != [shape[1], 3 * shape[2] * shape[4]] or shape[0] != 2:
        raise InvalidArgumentError(
            f"{op_name}: x and cache_kv do not fit. Got shapes {x.shape} and {shape}, expected [batch, 3 * heads * head_dim] and "
            f"[2, batch, heads, room, head_dim]. Reshape x."
        )
    _, batch, heads, room, size = shape
    if sequence_lengths is None and src_mask is None:
        raise InvalidArgumentError(
            f"{op_name}: the step is not known. Got neither src_mask nor sequence_lengths, expected one of them. "
            f"Pass sequence_lengths, [batch, 1]."
        )
    if sequence_lengths is not None:
        step = reshape(require_tensor(sequence_lengths, op_name, "sequence_lengths"), [batch, 1, 1, 1])
        last = int(step.max().item())
    else:
        last = require_tensor(src_mask, op_name, "src_mask").shape[-1] - 1
        step = ops.full(shape=(batch, 1, 1, 1), value=last, dtype=arange(1).dtype)
    if last >= room:
        raise InvalidArgumentError(
            f"{op_name}: the cache is full. Got step {last}, expected {room} steps at most. Make it longer: [2, batch, heads, room, head_dim]."
        )
    parts = reshape(x, [batch, 3, heads, size])
    if bias is not None:
        parts = parts + reshape(require_tensor(bias, op_name, "bias"), [3, heads, size])
    column = arange(room, dtype=step.dtype)
    before = set_grad_mode(False)
    try:
        here = ops.unsqueeze(column == reshape(step, [batch, 1, 1]), axes=(3,))  # [batch, 1, room, 1]
        fresh = ops.unsqueeze(transpose(parts[:, 1:], [1, 0, 2, 3]), axes=(3,))  # [2, batch, heads, 1, head_dim]
        ops.copy.into((cache,), where(here, fresh, cache))
        scores = matmul(ops.unsqueeze(parts[:, 0] * (1.0 / math.sqrt(size)), axes=(2,)), cache[0], transpose_y=True)
        if src_mask is not None:
            steps = src_mask.shape[-1]
            scores = concat([scores[..., :steps] + src_mask, scores[..., steps:]], -1)
        weights = softmax(where(column <= step, scores, full_like(scores, -math.inf)))
        return reshape(matmul(weights, cache[1]), [batch, heads * size]), cache
    finally:
        set_grad_mode(before)


def block_multihead_attention(
    qkv: Tensor, key_cache: Tensor, value_cache: Tensor, seq_lens_encoder: Tensor, seq_lens_decoder: Tensor, seq_lens_this_time: Tensor,
    padding_offsets: Tensor, cum_offsets: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, block_tables: Tensor,
    pre_key_cache: Tensor | None = None, pre_value_cache: Tensor | None = None, cache_k_quant_scales: Tensor | None = None,
    cache_v_quant_scales: Tensor | None = None, cache_k_dequant_scales: Tensor | None = None,
    cache_v_dequant_scales: Tensor | None = None, qkv_out_scale: Tensor | None = None, qkv_bias: Tensor | None = None,
    out_shift: Tensor | None = None, out_smooth: Tensor | None = None, rope_emb: Tensor | None = None, mask: Tensor | None = None,
    tgt_mask: Tensor | None = None, max_seq_len: int = -1, block_size: int = 64, use_neox_style: bool = False,
    use_dynamic_cachekv_quant: bool = False, quant_round_type: int = 1, quant_max_bound: float = 127.0, quant_min_bound: float = -127.0,
    out_scale: float = -1, compute_dtype: str = "default",
) -> Any:
    """Not implemented: attention over a cache of blocks (paged attention).

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.incubate.nn.functional.block_multihead_attention`.

    Examples:
        >>> wherry.incubate.nn.functional.block_multihead_attention(*[None] * 11)
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) block_multihead_attention: attention over a cache of blocks is not available. ...
    """
    raise UnimplementedError(
        "block_multihead_attention: attention over a cache of blocks is not available. Got a call of it, expected a cache of one piece. "
        "Use variable_length_memory_efficient_attention for prompts and masked_multihead_attention for the steps after them."
    )


def fused_ec_moe(
    x: Tensor, gate: Tensor, bmm0_weight: Tensor, bmm0_bias: Tensor, bmm1_weight: Tensor, bmm1_bias: Tensor, act_type: str
) -> Tensor:
    """Not implemented: Paddle's documentation does not say how many tokens an expert takes.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.incubate.nn.functional.fused_ec_moe`.

    Examples:
        >>> wherry.incubate.nn.functional.fused_ec_moe(*[wherry.ones([1])] * 6, "relu")
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) fused_ec_moe: experts that choose their tokens are not available. ...
    """
    raise UnimplementedError(
        f"fused_ec_moe: experts that choose their tokens are not available. Got x of shape {short(getattr(x, 'shape', x))}, expected a "
        f"function of your own. Choose with topk of softmax(gate), gather the tokens, multiply with bmm, and add with scatter_nd_add."
    )


explained(globals())
spelled(globals())
