"""`paddle.nn.functional.flash_attention`: attention under the names of FlashAttention, also over packed sequences; on all devices."""
from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from wherry_nn.functional.attention import (
    attend,
    causal_pairs,
    drop_and_sum,
    dropped_share,
    repeat_heads,
    scaled_dot_product_attention,
)
from wherry_tensor import ops
from wherry_tensor._core import Tensor, bool_, int32, int64, is_symbolic
from wherry_tensor.arguments import flag, integer, real_number, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.ops.attention import seen_of_lengths
from wherry_tensor.ops.reduction import count
from wherry_tensor.sizes import is_unknown
from wherry_tensor.spellings import spelled

__all__ = [
    "SDPBackend", "flash_attention", "flash_attn_qkvpacked", "flash_attn_unpadded", "flash_attn_varlen_func", "flash_attn_varlen_qkvpacked",
    "flashmask_attention", "scaled_dot_product_attention", "sdp_kernel", "sdpa_kernel",
]


def flash_attention(
    query: Tensor, key: Tensor, value: Tensor, dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, *,
    fixed_seed_offset: Tensor | None = None, rng_name: str = "", training: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Scaled dot product attention: `softmax(query @ key' / sqrt(D)) @ value` for each head, without the matrix of scores in memory.

    Args:
        query, key, value: floating, of one dtype. The heads of key and value divide those of query, each shared by as many of them.
        dropout: the probability with which a weight is dropped while training; the others are divided by `1 - dropout`.
        causal: query i sees keys up to i + Tk - Tq only.
        return_softmax: whether to return the weights as well, as they were used. They are then a matrix in memory.
        fixed_seed_offset: None; dropout follows `wherry.seed`.
        rng_name: empty; dropout uses the device's generator.
        training: False drops nothing.

    Returns:
        (the result, the weights or None).

    Shape:
        query `[batch, Tq, heads, D]`, key and value `[batch, Tk, kv_heads, D]` to `[batch, Tq, heads, D]` and weights
        `[batch, heads, Tq, Tk]`. A query that sees no key gives zeros.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not fit, or `dropout` is not a probability.
        NotImplementedError: `fixed_seed_offset` or `rng_name` is given.

    Source:
        `paddle.nn.functional.flash_attention.flash_attention`, which on a CPU refuses `causal`. Dao et al. (2022), FlashAttention.

    Examples:
        >>> x = wherry.ones([1, 3, 2, 4])
        >>> out, weights = wherry.nn.functional.flash_attention.flash_attention(x, x, x, causal=True)
        >>> out.shape, weights
        ([1, 3, 2, 4], None)
    """
    op_name = "flash_attention"
    q, k, v = _checked(op_name, query, key, value, "batch, T, heads, D")
    p = _dropout(op_name, dropout, training, fixed_seed_offset, rng_name)
    q, k, v = (ops.transpose(x, perm=(0, 2, 1, 3)) for x in (q, k, v))
    k, v = repeat_heads(k, q.shape[1]), repeat_heads(v, q.shape[1])
    scale = 1.0 / math.sqrt(q.shape[3]) if q.shape[3] else 1.0
    causal, weights = flag(causal, op_name, "causal"), None
    if flag(return_softmax, op_name, "return_softmax") and causal:
        out, weights = _with_weights(q, k, v, causal_pairs(q, k), scale, p)
    else:
        out, weights = attend(q, k, v, None, scale, causal, p, return_softmax)
    return ops.transpose(out, perm=(0, 2, 1, 3)), weights


def flash_attn_unpadded(
    query: Tensor, key: Tensor, value: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int, max_seqlen_k: int, scale: float,
    dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, fixed_seed_offset: Tensor | None = None, rng_name: str = "",
    training: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Attention over packed sequences of different lengths: `softmax(scale * query @ key') @ value` in each of them.

    Args:
        query, key, value: floating, of one dtype. The heads of key and value divide those of query, each shared by as many of them.
        cu_seqlens_q: where the sequences of query begin, and where the last one ends: `[batch + 1]`, int32 or int64, 0 first and then
            ascending. On a CPU they are checked; a GPU is not waited for.
        cu_seqlens_k: the same for key and value.
        max_seqlen_q: no sequence of query is longer than this.
        max_seqlen_k: the same for key and value.
        scale: the factor of the scores.
        dropout: the probability with which a weight is dropped while training; the others are divided by `1 - dropout`.
        causal: the last query of a sequence sees its last key, the one before sees one key less, and so on.
        return_softmax: whether to return the weights as well, as they were used, 0 where there is padding. They are then a matrix in memory.
        fixed_seed_offset: None; dropout follows `wherry.seed`.
        rng_name: empty; dropout uses the device's generator.
        training: False drops nothing.

    Returns:
        (the result, the weights or None).

    Shape:
        query `[total_q, heads, D]`, key and value `[total_k, kv_heads, D]` to `[total_q, heads, D]` and weights
        `[batch, heads, max_seqlen_q, max_seqlen_k]`. A query that sees no key gives zeros.

    Raises:
        TypeError: an argument is not a Tensor, or of another dtype (also a ValueError).
        ValueError: the shapes do not fit, the sequences do not cover query or key, one is longer than its maximum, or `dropout` is not a
            probability.
        NotImplementedError: `fixed_seed_offset` or `rng_name` is given.

    Source:
        `paddle.nn.functional.flash_attention.flash_attn_unpadded`, which Paddle has on GPUs only. Dao et al. (2022), FlashAttention.

    Examples:
        >>> x = wherry.to_tensor([[[1.0]], [[3.0]], [[5.0]]])  # a sequence of one step, and one of two
        >>> ends = wherry.to_tensor([0, 1, 3], dtype="int32")
        >>> F = wherry.nn.functional.flash_attention
        >>> F.flash_attn_unpadded(x, x, x, ends, ends, 2, 2, scale=0.0)[0].tolist()
        [[[1.0]], [[4.0]], [[4.0]]]
    """
    op_name = "flash_attn_unpadded"
    q, k, v = _checked(op_name, query, key, value, "total, heads, D")
    p = _dropout(op_name, dropout, training, fixed_seed_offset, rng_name)
    most_q, most_k = integer(max_seqlen_q, op_name, "max_seqlen_q"), integer(max_seqlen_k, op_name, "max_seqlen_k")
    starts_q, lengths_q = _sequences(op_name, "q", cu_seqlens_q, q, most_q)
    starts_k, lengths_k = _sequences(op_name, "k", cu_seqlens_k, k, most_k)
    if not is_unknown(starts_q.shape[0]) and not is_unknown(starts_k.shape[0]) and starts_q.shape != starts_k.shape:
        raise InvalidArgumentError(
            f"{op_name}: query and key have different numbers of sequences. Got {starts_q.shape[0]} and {starts_k.shape[0]}, by the sizes of "
            f"cu_seqlens_q and cu_seqlens_k, expected one number. Write a length of 0 where a sequence has no keys."
        )
    heads, causal = q.shape[1], flag(causal, op_name, "causal")
    q, k, v = _padded(q, starts_q, most_q), _padded(k, starts_k, most_k), _padded(v, starts_k, most_k)
    k, v = repeat_heads(k, heads), repeat_heads(v, heads)
    diagonal = lengths_k - lengths_q if causal else None
    factor, weights = real_number(scale, op_name, "scale"), None
    if flag(return_softmax, op_name, "return_softmax") or p:
        pairs = seen_of_lengths(q, k, None, lengths_q, lengths_k, diagonal)[2]
        if return_softmax:
            out, weights = _with_weights(q, k, v, pairs, factor, p)
        else:
            out = attend(q, k, v, pairs, factor, False, p)[0]
    else:
        out = ops.attention_lengths(q, k, v, None, lengths_q, lengths_k, diagonal, scale=factor)[0]
    return _packed(out, query, starts_q, lengths_q), weights


@contextlib.contextmanager
def sdp_kernel(enable_math: bool = False, enable_flash: bool = True, enable_mem_efficient: bool = True) -> Iterator[None]:
    """A `with` block that selects attention kernels in Paddle. Here each device has one kernel, so it changes nothing.

    Args:
        enable_math, enable_flash, enable_mem_efficient: bools, no effect.

    Raises:
        TypeError: an argument is not a bool (also a ValueError).

    Source:
        `paddle.nn.functional.flash_attention.sdp_kernel`.

    Examples:
        >>> x = wherry.ones([1, 3, 2, 4])
        >>> with wherry.nn.functional.flash_attention.sdp_kernel(enable_flash=False):
        ...     out = wherry.nn.functional.scaled_dot_product_attention(x, x, x)
    """
    for name, value in (("enable_math", enable_math), ("enable_flash", enable_flash), ("enable_mem_efficient", enable_mem_efficient)):
        flag(value, "sdp_kernel", name)
    yield


class SDPBackend(IntEnum):
    """Ways in which Paddle computes attention. Here each device has one.

    Source:
        `paddle.nn.attention.SDPBackend`.

    Examples:
        >>> wherry.nn.attention.SDPBackend.MATH.name
        'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """A `with` block that selects attention kernels in Paddle. Here each device has one kernel, so it changes nothing.

    Args:
        backends: a `SDPBackend`, or a list of them; no effect.
        set_priority: no effect.

    Raises:
        TypeError: `backends` is none of these (also a ValueError).

    Source:
        `paddle.nn.attention.sdpa_kernel`.

    Examples:
        >>> x = wherry.ones([1, 3, 2, 4])
        >>> with wherry.nn.attention.sdpa_kernel(wherry.nn.attention.SDPBackend.MATH):
        ...     out = wherry.nn.functional.scaled_dot_product_attention(x, x, x)
    """
    flag(set_priority, "sdpa_kernel", "set_priority")
    for backend in backends if isinstance(backends, (list, tuple)) else [backends]:
        if not isinstance(backend, SDPBackend):
            raise InvalidTypeError(f"sdpa_kernel: not a backend. Got {short(backend)}, expected a SDPBackend, or a list. Use SDPBackend.MATH.")
    yield


def flash_attn_qkvpacked(
    qkv: Tensor, dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, *, fixed_seed_offset: Tensor | None = None,
    rng_name: str = "", training: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`flash_attention` of query, key and value that lie in one tensor.

    Args:
        qkv: `[batch, T, groups + 2, kv_heads, D]`: first the heads of query in groups, then those of key, then those of value.
        dropout, causal, return_softmax, fixed_seed_offset, rng_name, training: as those of `flash_attention`.

    Shape:
        `[batch, T, groups + 2, kv_heads, D]` to `[batch, T, groups * kv_heads, D]`.

    Raises:
        TypeError, ValueError, NotImplementedError: as `flash_attention`; ValueError: the tensor has another rank.

    Source:
        `paddle.nn.functional.flash_attn_qkvpacked`.

    Examples:
        >>> out, _ = wherry.nn.functional.flash_attn_qkvpacked(wherry.ones([1, 3, 3, 2, 4]))
        >>> out.shape
        [1, 3, 2, 4]
    """
    parts = _unpacked(qkv, "flash_attn_qkvpacked", "batch, T, groups + 2, kv_heads, D")
    return flash_attention(
        *parts, dropout, causal, return_softmax, fixed_seed_offset=fixed_seed_offset, rng_name=rng_name, training=training
    )


def _unpacked(qkv: Tensor, op_name: str, axes: str) -> tuple[Tensor, Tensor, Tensor]:
    shape = require_tensor(qkv, op_name, "qkv").shape
    if len(shape) != axes.count(",") + 1 or shape[-3] < 3:
        raise InvalidArgumentError(
            f"{op_name}: qkv does not fit. Got shape {shape}, expected [{axes}] with a group at least. Stack query, key and value."
        )
    groups, heads, width = shape[-3] - 2, *shape[-2:]
    axis = len(shape) - 3
    bounds = ((0, groups), (groups, groups + 1), (groups + 1, groups + 2))
    query, key, value = (ops.slice(qkv, axes=(axis,), starts=(a,), ends=(b,), steps=(1,)) for a, b in bounds)
    return (
        ops.reshape(query, shape=(*shape[:-3], groups * heads, width)), ops.reshape(key, shape=(*shape[:-3], heads, width)),
        ops.reshape(value, shape=(*shape[:-3], heads, width)),
    )


def flash_attn_varlen_qkvpacked(
    qkv: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int, max_seqlen_k: int, scale: float, dropout: float = 0.0,
    causal: bool = False, return_softmax: bool = False, fixed_seed_offset: Tensor | None = None, rng_name: str = "", varlen_padded: bool = True,
    training: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`flash_attn_unpadded` of query, key and value that lie in one tensor.

    Args:
        qkv: `[total, groups + 2, kv_heads, D]`: first the heads of query in groups, then those of key, then those of value.
        varlen_padded: False; padded sequences are refused.
        cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, dropout, causal, return_softmax, fixed_seed_offset, rng_name, training: as
            those of `flash_attn_unpadded`.

    Shape:
        `[total, groups + 2, kv_heads, D]` to `[total, groups * kv_heads, D]`.

    Raises:
        TypeError, ValueError, NotImplementedError: as `flash_attn_unpadded`; ValueError: the tensor has another rank.

    Source:
        `paddle.nn.functional.flash_attn_varlen_qkvpacked`.

    Examples:
        >>> qkv, ends = wherry.ones([5, 3, 2, 4]), wherry.to_tensor([0, 2, 5])
        >>> out, _ = wherry.nn.functional.flash_attn_varlen_qkvpacked(qkv, ends, ends, 3, 3, 0.5, varlen_padded=False)
        >>> out.shape
        [5, 2, 4]
    """
    op_name = "flash_attn_varlen_qkvpacked"
    parts = _unpacked(qkv, op_name, "total, groups + 2, kv_heads, D")
    require_tensor(cu_seqlens_q, op_name, "cu_seqlens_q")
    if flag(varlen_padded, op_name, "varlen_padded") and qkv.shape[0] != int(cu_seqlens_q[-1]):
        raise UnimplementedError(
            f"{op_name}: sequences lie one after the other. Got padded ones, expected varlen_padded=False. Take the padding out."
        )
    return flash_attn_unpadded(
        *parts, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, dropout, causal, return_softmax, fixed_seed_offset, rng_name, training
    )


def flash_attn_varlen_func(
    query: Tensor, key: Tensor, value: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int, max_seqlen_k: int,
    softmax_scale: float | None = None, causal: bool = False,
) -> Tensor:
    """`flash_attn_unpadded` with the arguments of the library flash-attn; gives the result alone.

    Args:
        query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal: as those of `flash_attn_unpadded`.
        softmax_scale: the factor of the scores; None: 1 / sqrt(D).

    Shape:
        as of `flash_attn_unpadded`.

    Raises:
        TypeError, ValueError: as `flash_attn_unpadded`.

    Source:
        `paddle.nn.functional.flash_attention.flash_attn_varlen_func`.

    Examples:
        >>> x, ends = wherry.ones([5, 2, 4]), wherry.to_tensor([0, 2, 5])
        >>> wherry.nn.functional.flash_attention.flash_attn_varlen_func(x, x, x, ends, ends, 3, 3).shape
        [5, 2, 4]
    """
    width = require_tensor(query, "flash_attn_varlen_func", "query").shape[-1]
    scale = 1.0 / math.sqrt(width) if softmax_scale is None else softmax_scale
    return flash_attn_unpadded(query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, causal=causal)[0]


def flashmask_attention(
    query: Tensor, key: Tensor, value: Tensor, startend_row_indices: Tensor | None = None, *, dropout: float = 0.0, causal: bool = False,
    window_size: int | tuple[int, int] | None = None, training: bool = True, name: str | None = None,
) -> Tensor:
    """Attention with a mask that is given column by column: for each key, which queries do not see it.

    Args:
        query, key, value: floating, `[batch, T, heads, D]`.
        startend_row_indices: int32 `[batch, 1 or kv_heads, Tk, n]`. With `causal` n is 1 (queries from there on do not see the key) or 2 (nor those
            from the first to the second); otherwise 2 (from the first on, and those below the second) or 4 (first to second, and third to fourth).
        dropout: the probability with which a weight is dropped while training.
        causal: query i sees keys up to i.
        window_size: how far a query sees, before and after; an int for both.
        training: False drops nothing.

    Shape:
        `[batch, Tq, heads, D]` to the same.

    Raises:
        TypeError: an argument is not a Tensor (also a ValueError).
        ValueError: the shapes do not fit.

    Source:
        `paddle.nn.functional.flashmask_attention`; Wang et al. (2024), FlashMask. The mask is a matrix in memory.

    Examples:
        >>> x = wherry.ones([1, 3, 2, 4])
        >>> rows = wherry.to_tensor([3, 2, 3], "int32").reshape([1, 1, 3, 1])
        >>> wherry.nn.functional.flashmask_attention(x, x, x, rows, causal=True).shape
        [1, 3, 2, 4]
    """
    op_name = "flashmask_attention"
    q, k, _ = _checked(op_name, query, key, value, "batch, T, heads, D")
    tq, tk = q.shape[1], k.shape[1]
    rows, columns = ops.unsqueeze(_range(tq), axes=(1,)), ops.unsqueeze(_range(tk), axes=(0,))
    seen = ops.full(shape=(1, 1, tq, tk), value=True, dtype=bool_)
    if flag(causal, op_name, "causal"):
        seen = ops.logical_and(seen, columns <= rows + (tk - tq))
    if window_size is not None:
        both = window_size if isinstance(window_size, (list, tuple)) else (window_size, window_size)
        before, behind = (min(max(integer(n, op_name, "window_size"), -tq - tk), tq + tk) for n in both)
        seen = ops.logical_and(seen, ops.logical_and(columns >= rows - before, columns <= rows + behind))
    if startend_row_indices is not None:
        hidden = _hidden(require_tensor(startend_row_indices, op_name, "startend_row_indices"), rows, causal, [q.shape[0], k.shape[2], tk], op_name)
        if hidden.shape[1] != 1:
            hidden = repeat_heads(hidden, q.shape[2])
        seen = ops.logical_and(seen, ops.logical_not(hidden))
    return scaled_dot_product_attention(query, key, value, seen, dropout, False, training)


def _range(n: int) -> Tensor:
    return ops.arange(start=0, step=1, length=n, dtype=int64)


def _hidden(bounds: Tensor, rows: Tensor, causal: bool, sizes: list[int], op_name: str) -> Tensor:
    """Where a query does not see a key: `[batch, heads, Tq, Tk]`."""
    allowed = (1, 2) if causal else (2, 4)
    if bounds.ndim != 4 or bounds.shape[0] != sizes[0] or bounds.shape[1] not in (1, sizes[1]) or bounds.shape[2] != sizes[2] \
            or bounds.shape[3] not in allowed:
        raise InvalidArgumentError(
            f"{op_name}: startend_row_indices does not fit. Got shape {bounds.shape}, expected [{sizes[0]}, 1 or {sizes[1]}, {sizes[2]}, "
            f"{' or '.join(map(str, allowed))}]. The last axis has the bounds of each key."
        )
    low = [ops.unsqueeze(ops.cast(ops.select(bounds, axis=3, index=i), dtype=int64), axes=(2,)) for i in range(bounds.shape[3])]
    if causal:
        lower = rows >= low[0] if len(low) == 1 else ops.logical_and(rows >= low[0], rows < low[1])
        return lower
    if len(low) == 2:
        return ops.logical_or(rows >= low[0], rows < low[1])
    return ops.logical_or(ops.logical_and(rows >= low[0], rows < low[1]), ops.logical_and(rows >= low[2], rows < low[3]))


def _checked(op_name: str, query: Tensor, key: Tensor, value: Tensor, axes: str) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (require_tensor(x, op_name, what).shape for what, x in (("query", query), ("key", key), ("value", value)))
    rank = axes.count(",") + 1
    if not len(q) == len(k) == len(v) == rank or k[-2] != v[-2] or not k[-2] or q[-2] % k[-2]:
        raise InvalidArgumentError(
            f"{op_name}: query, key and value do not fit together. Got shapes {q}, {k} and {v}, expected [{axes}] for each, with heads of key and "
            f"value that divide those of query. Reshape them."
        )
    return query, key, value


def _dropout(op_name: str, dropout: float, training: bool, fixed_seed_offset: Tensor | None, rng_name: str) -> float:
    p = dropped_share(dropout, op_name, "dropout")
    if fixed_seed_offset is not None or rng_name:
        given = "fixed_seed_offset" if fixed_seed_offset is not None else f"rng_name={rng_name!r}"
        raise UnimplementedError(
            f"{op_name}: the numbers of dropout come from the device's generator. Got {given}, expected it to be left out. "
            f"Call seed() before."
        )
    return p if flag(training, op_name, "training") else 0.0


def _with_weights(q: Tensor, k: Tensor, v: Tensor, pairs: Tensor, scale: float, p: float) -> tuple[Tensor, Tensor]:
    """The result and the weights, with the heads first; `pairs` is the mask."""
    scores = ops.matmul(q * scale, k, transpose_x=False, transpose_y=True)
    # Finite, not -inf: a row without any key would divide by 0, and its gradient would be NaN.
    scores = ops.where(pairs, scores, ops.full_like(scores, value=-1e4 if scores.dtype.itemsize == 2 else -1e30, dtype=scores.dtype))
    weights = ops.softmax(scores, axis=3)
    return drop_and_sum(ops.where(pairs, weights, ops.full_like(weights, value=0, dtype=weights.dtype)), v, p)


def _sequences(op_name: str, letter: str, ends: Tensor, x: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Where sequences begin, and how long they are: int64 `[batch]`, both."""
    name, total = f"cu_seqlens_{letter}", x.shape[0]
    if require_tensor(ends, op_name, name).dtype not in (int32, int64):
        raise InvalidTypeError(
            f"{op_name}: '{name}' holds positions. Got dtype {ends.dtype.name}, expected int32 or int64. Cast it with astype('int32')."
        )
    if len(ends.shape) != 1 or (not is_unknown(ends.shape[0]) and ends.shape[0] == 0):
        raise InvalidArgumentError(
            f"{op_name}: '{name}' is not a list of positions. Got shape {ends.shape}, expected [batch + 1]. It holds where sequences begin, and "
            f"where the last one ends."
        )
    if not is_symbolic(ends) and not is_symbolic(x) and ends.place.is_cpu_place():
        values = ends.tolist()
        if values[0] != 0 or values[-1] != total or any(a > b for a, b in zip(values, values[1:], strict=False)):
            raise InvalidArgumentError(
                f"{op_name}: '{name}' does not cover {'query' if letter == 'q' else 'key'}. "
                f"Got {values if len(values) <= 9 else [*values[:8], '...']}, expected 0 first, then ascending numbers up to {total}. "
                f"They are sums of the lengths."
            )
        longest = max((b - a for a, b in zip(values, values[1:], strict=False)), default=0)
        if longest > most:
            raise InvalidArgumentError(
                f"{op_name}: max_seqlen_{letter} is too small. Got {most} beside a sequence of {longest} steps in '{name}', expected {longest} or "
                f"more. Pass the length of the longest one."
            )
    ends = ops.cast(ends, dtype=int64)
    return ends[:-1], ends[1:] - ends[:-1]


def _padded(x: Tensor, starts: Tensor, most: int) -> Tensor:
    """Packed rows `[total, heads, D]` as `[batch, heads, most, D]`. Rows after the end of a sequence are arbitrary; they are masked."""
    batch, (_, heads, width) = starts.shape[0], x.shape
    if not is_unknown(x.shape[0]) and x.shape[0] == 0:
        return ops.full(shape=(batch, heads, most, width), value=0, dtype=x.dtype)
    rows = ops.unsqueeze(starts, axes=(1,)) + ops.arange(start=0, step=1, length=most, dtype=int64)
    rows = ops.reshape(ops.minimum(rows, count(x, 0) - 1), shape=(-1,))
    return ops.transpose(ops.reshape(ops.gather(x, rows, axis=0), shape=(batch, most, heads, width)), perm=(0, 2, 1, 3))


def _packed(out: Tensor, query: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
    """The rows of `out`, `[batch, heads, T, D]`, that belong to steps, as `[total, heads, D]`."""
    _, heads, most, width = out.shape
    place = ops.arange(start=0, step=1, length=query.shape[0], dtype=int64)
    sequence = ops.searchsorted(starts + lengths, place, right=True)
    rows = sequence * most + place - ops.gather(starts, sequence, axis=0)
    flat = ops.reshape(ops.transpose(out, perm=(0, 2, 1, 3)), shape=(-1, heads, width))
    return ops.gather(flat, rows, axis=0)


spelled(globals())
