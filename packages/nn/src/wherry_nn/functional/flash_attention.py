"""`paddle.nn.functional.flash_attention`: attention under the names of FlashAttention, also over packed sequences; on all devices."""
from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

from wherry_nn.functional.attention import (
    attend,
    causal_pairs,
    drop_and_sum,
    dropped_share,
    repeat_heads,
    scaled_dot_product_attention,
)
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int32, int64, is_symbolic
from wherry_tensor.arguments import flag, integer, real_number, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from wherry_tensor.ops.attention import seen_of_lengths
from wherry_tensor.ops.reduction import count
from wherry_tensor.sizes import is_unknown
from wherry_tensor.spellings import spelled

__all__ = ["flash_attention", "flash_attn_unpadded", "scaled_dot_product_attention", "sdp_kernel"]


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
    """Packed rows `[total, heads, D]` as `[batch, heads, most, D]`. Rows behind the end of a sequence are arbitrary; they are masked."""
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
