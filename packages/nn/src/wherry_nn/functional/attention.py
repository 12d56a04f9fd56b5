"""Scaled dot product attention, and attention with a sparse layout."""
from __future__ import annotations

import math

from wherry_tensor import ops
from wherry_tensor._core import Tensor, bool_, int32, int64
from wherry_tensor.arguments import flag, real_number, require_tensor, to_dtype, truth
from wherry_tensor.errors import InvalidArgumentError, InvalidIndexError, InvalidTypeError
from wherry_tensor.sizes import same_shapes
from wherry_tensor.spellings import spelled

__all__ = ["scaled_dot_product_attention", "sparse_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """Scaled dot product attention: `softmax(query @ key' / sqrt(D) + mask) @ value` for each head, without the matrix
    of scores in memory.

    Args:
        query, key, value: floating, of one dtype.
        attn_mask: bool (True attends), or a number of the dtype of `query` that is added to each score; None
            lets every query see every key. It broadcasts to `[batch, heads, Tq, Tk]`.
        dropout_p: the probability with which a weight is dropped while training; the others are divided by
            `1 - dropout_p`.
        is_causal: query i sees only keys up to i + Tk - Tq, and of these those that the mask allows.
        training: False drops nothing.

    Shape:
        query `[batch, Tq, heads, D]`, key `[batch, Tk, heads, D]` and value `[batch, Tk, heads, Dv]` to
        `[batch, Tq, heads, Dv]`. A query that sees no key gives zeros.

    Raises:
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).
        ValueError: the shapes do not fit, or `dropout_p` is not a probability.

    Source:
        `paddle.nn.functional.scaled_dot_product_attention`, which on a CPU refuses masks and is_causal, and drops
        weights although `training` is False. Dao et al. (2022), FlashAttention.

    Examples:
        >>> x = wherry.ones([1, 3, 2, 4])
        >>> out = wherry.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        >>> out.shape, bool((out == 1.0).all())
        ([1, 3, 2, 4], True)
    """
    op_name = "scaled_dot_product_attention"
    q, k, v = (
        _heads_first(require_tensor(x, op_name, what), op_name, what)
        for x, what in ((query, "query"), (key, "key"), (value, "value"))
    )
    p = dropped_share(dropout_p, op_name, "dropout_p")
    if attn_mask is not None:
        mask = require_tensor(attn_mask, op_name, "attn_mask")
        if mask.dtype is not bool_ and mask.dtype is not q.dtype:
            raise InvalidTypeError(
                f"{op_name}: 'attn_mask' and 'query' do not fit. Got dtype {mask.dtype.name} for queries of "
                f"{q.dtype.name}, expected bool or {q.dtype.name}. Cast the mask."
            )
        if len(mask.shape) > 4:
            raise InvalidArgumentError(
                f"{op_name}: 'attn_mask' has too many axes. Got shape {mask.shape}, expected one that broadcasts to "
                f"[batch, heads, Tq, Tk]. Squeeze it."
            )
    scale = 1.0 / math.sqrt(q.shape[3]) if q.shape[3] else 1.0
    causal = flag(is_causal, op_name, "is_causal")
    try:
        out, _ = attend(q, k, v, attn_mask, scale, causal, p if truth(training, op_name, "training") else 0.0)
    except ValueError as error:
        if "the shapes of q, k and v" not in str(error):
            raise
        raise InvalidArgumentError(
            f"{op_name}: query, key and value do not fit together. Got shapes {query.shape}, {key.shape} and {value.shape}, expected "
            f"[batch, Tq, heads, D], [batch, Tk, heads, D] and [batch, Tk, heads, Dv]. Transpose or repeat heads beforehand."
        ) from None
    return _heads_first(out, op_name, "out")


def attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float, causal: bool, p: float, with_weights: bool = False
) -> tuple[Tensor, Tensor | None]:
    """Attention on tensors with the heads first, `[batch, heads, T, D]`.

    Args:
        q, k, v: of one dtype.
        mask: as `ops.attention` takes it.
        scale: factor of the scores.
        causal: whether a query sees only keys up to its own place.
        p: the probability with which a weight is dropped.
        with_weights: whether to return the weights, too.

    Returns:
        The result, and the weights (as they were used, so after dropping) or None.
    """
    if not with_weights:
        if p:
            return ops.attention_dropout(q, k, v, mask, scale=scale, causal=causal, p=p)[0], None
        return ops.attention(q, k, v, mask, scale=scale, causal=causal)[0], None
    return drop_and_sum(ops.softmax(_scores(q, k, mask, scale, causal), axis=3), v, p)


def drop_and_sum(weights: Tensor, v: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """Weighted sums of `v` after dropout of the weights, and the weights after dropout."""
    if p:
        weights = ops.dropout(weights, p=p, upscale=True)[0]
    return ops.matmul(weights, v, transpose_x=False, transpose_y=False), weights


def dropped_share(value: float, op_name: str, name: str) -> float:
    """The argument `name` as a checked dropout probability."""
    p = real_number(value, op_name, name)
    if not 0.0 <= p <= 1.0:
        raise InvalidArgumentError(
            f"{op_name}: {name} is not a probability. Got {value}, expected a number in [0, 1]. It is the share of weights that are set to zero."
        )
    return p


def causal_pairs(q: Tensor, k: Tensor) -> Tensor:
    """The causal mask, bool `[Tq, Tk]`, in which the last query sees the last key."""
    rows, columns = q.shape[2], k.shape[2]
    seen = ops.tril(ops.full(shape=(rows, columns), value=1, dtype=int32), diagonal=columns - rows)
    return ops.cast(seen, dtype=bool_)  # type: ignore[no-any-return]


def _scores(q: Tensor, k: Tensor, mask: Tensor | None, scale: float, causal: bool) -> Tensor:
    # Scale the queries rather than the scores, which are more.
    scores = ops.matmul(q * scale, k, transpose_x=False, transpose_y=True)
    nothing = ops.full(shape=(), value=-math.inf, dtype=q.dtype)
    if mask is not None:
        scores = ops.where(mask, scores, nothing) if mask.dtype is bool_ else scores + mask
    if causal:
        scores = ops.where(causal_pairs(q, k), scores, nothing)
    return scores


def _heads_first(x: Tensor, op_name: str, name: str) -> Tensor:
    """`x` with time and heads exchanged. Its own inverse."""
    if len(x.shape) != 4:
        raise InvalidArgumentError(
            f"{op_name}: '{name}' needs four axes. Got shape {x.shape}, expected [batch, time, heads, width]. "
            f"Reshape it; for a single head unsqueeze axis 2."
        )
    return ops.transpose(x, perm=(0, 2, 1, 3))


def repeat_heads(x: Tensor, heads: int) -> Tensor:
    """`x`, `[batch, some heads, T, D]`, with each head repeated so that there are `heads`, a multiple of those that `x` has."""
    batch, own, steps, width = x.shape
    if own == heads:
        return x
    spread = ops.broadcast_to(ops.unsqueeze(x, axes=(2,)), shape=(batch, own, heads // own, steps, width))
    return ops.reshape(spread, shape=(batch, heads, steps, width))


def sparse_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_csr_offset: Tensor,
    sparse_csr_columns: Tensor,
    key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Sparse attention: `softmax(query @ key' / sqrt(D)) @ value`, where each query sees the keys that a sparse layout
    lists.

    The layout becomes a mask, so time and memory are those of dense attention.

    Args:
        query, key, value: float32 or float64, of one shape.
        sparse_csr_offset: int32 or int64; query i sees the keys `columns[offset[i]:offset[i + 1]]`.
        sparse_csr_columns: int32 or int64, which keys; those after the last offset are not used.
        key_padding_mask: `[batch, T]`; no query sees keys where it is 0.
        attn_mask: `[T, T]`; where it is 0, that query does not see that key.

    Shape:
        query, key and value `[batch, heads, T, D]`, offset `[batch, heads, T + 1]` and columns
        `[batch, heads, count]` to `[batch, heads, T, D]`. A query that sees no key gives zeros.

    Raises:
        TypeError: an argument is not a Tensor, or of another dtype (also a ValueError).
        ValueError: the shapes do not fit, or offsets are not ascending.
        IndexError: a column is out of range (also a ValueError).

    Source:
        `paddle.nn.functional.sparse_attention`, which Paddle has for GPUs only.

    Examples:
        >>> x = wherry.to_tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> offset, columns = wherry.to_tensor([[[0, 1, 2]]]), wherry.to_tensor([[[1, 0]]])
        >>> print(wherry.nn.functional.sparse_attention(x, x, x, offset, columns).numpy()[0, 0])
        [[2. 3.]
         [0. 1.]]
    """
    op_name = "sparse_attention"
    for what, x in ("query", query), ("key", key), ("value", value):
        if len(require_tensor(x, op_name, what).shape) != 4 or not same_shapes(x.shape, query.shape):
            raise InvalidArgumentError(
                f"{op_name}: query, key and value must have the same shape. Got {query.shape} for the query and {x.shape} for "
                f"'{what}', expected [batch, heads, T, D] for each. Repeat or reshape them."
            )
    batch, heads, count, width = query.shape
    seen = _layout_mask(sparse_csr_offset, sparse_csr_columns, batch, heads, count)
    for what, given, sizes, spread in (
        ("key_padding_mask", key_padding_mask, [batch, count], (batch, 1, 1, count)),
        ("attn_mask", attn_mask, [count, count], (1, 1, count, count)),
    ):
        if given is None:
            continue
        if require_tensor(given, op_name, what).shape != sizes:
            raise InvalidArgumentError(
                f"{op_name}: '{what}' does not fit. Got shape {given.shape}, expected {sizes} for a query of shape "
                f"{query.shape}. Reshape it."
            )
        seen = ops.logical_and(seen, ops.reshape(ops.cast(given, dtype=bool_), shape=spread))
    return ops.attention(query, key, value, seen, scale=1.0 / math.sqrt(width) if width else 1.0, causal=False)[0]


def _layout_mask(offset: Tensor, columns: Tensor, batch: int, heads: int, count: int) -> Tensor:
    """A CSR layout as bool `[batch, heads, T, T]`."""
    op_name = "sparse_attention"
    for what, x, shape in (
        ("sparse_csr_offset", offset, [batch, heads, count + 1]), ("sparse_csr_columns", columns, [batch, heads, None]),
    ):
        found = require_tensor(x, op_name, what).shape
        if x.dtype not in (int32, int64):
            raise InvalidTypeError(
                f"{op_name}: '{what}' holds positions. Got dtype {x.dtype.name}, expected int32 or int64. "
                f"Cast it with astype('int32')."
            )
        if len(found) != 3 or any(n not in (m, None) for n, m in zip(shape, found, strict=True)):
            raise InvalidArgumentError(
                f"{op_name}: '{what}' does not fit. Got shape {found}, expected "
                f"[{batch}, {heads}, {'count' if shape[2] is None else shape[2]}]. Each head has a layout of its own."
            )
    listed = columns.shape[2]
    lanes = batch * heads
    starts = ops.cast(ops.reshape(offset, shape=(lanes, count + 1)), dtype=int64)
    keys = ops.cast(ops.reshape(columns, shape=(lanes, listed)), dtype=int64)
    rows = starts.tolist()
    for row in rows:
        if row[0] != 0 or row[-1] > listed or any(a > b for a, b in zip(row, row[1:], strict=False)):
            raise InvalidArgumentError(
                f"{op_name}: the offsets are not ascending. Got {row if len(row) <= 9 else [*row[:8], '...']}, expected 0 first, "
                f"then ascending numbers up to {listed}, the number of columns. They count the keys of all queries before."
            )
    used = [key for row, line in zip(rows, keys.tolist(), strict=True) for key in line[: row[-1]]]
    wrong = [key for key in used if not 0 <= key < count]
    if wrong:
        raise InvalidIndexError(
            f"{op_name}: column {wrong[0]} is out of range. Got a key of number {wrong[0]}, expected each in [0, {count}). "
            f"Columns count the keys."
        )
    mask = ops.full(shape=(lanes * count * count,), value=0, dtype=int32)
    if listed:
        # Entry n of `columns` belongs to the query i with offset[i] <= n < offset[i + 1]; those after the last offset are unused.
        ends = ops.slice(starts, axes=(1,), starts=(1,), ends=(count + 1,), steps=(1,))
        places = ops.broadcast_to(ops.arange(start=0, step=1, length=listed, dtype=int64), shape=(lanes, listed))
        query = ops.searchsorted(ends, places, right=True)
        valid = ops.less_than(query, ops.full_like(query, value=count, dtype=int64))
        lane = ops.unsqueeze(ops.arange(start=0, step=count * count, length=lanes, dtype=int64), axes=(1,))
        target = ops.masked_select(lane + query * count + keys, valid)
        ones = ops.full(shape=(target.shape[0],), value=1, dtype=int32)
        mask = ops.scatter_nd_add(mask, ops.unsqueeze(target, axes=(1,)), ones)
    return ops.cast(ops.reshape(mask, shape=(batch, heads, count, count)), dtype=bool_)


def added_mask(mask: Tensor | None, like: Tensor, op_name: str) -> Tensor | None:
    """A mask as a number that is added to scores in the dtype of `like`: True, or 1, adds 0, and False -1e9.

    A query that sees no key then spreads over all of them, as in Paddle.

    Raises:
        TypeError: the mask is not a Tensor (also a ValueError).
    """
    if mask is None:
        return None
    dtype = require_tensor(mask, op_name, "attn_mask").dtype
    require_tensor(like, op_name, "query")
    if dtype.is_bool or dtype.is_integer:
        return (ops.cast(mask, dtype=like.dtype) - 1.0) * 1e9
    return to_dtype(mask, like.dtype)


spelled(globals())
