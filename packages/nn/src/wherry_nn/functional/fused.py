"""Fused parts of transformers: `paddle.incubate.nn.functional`. They compute what the layers do that they replace."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_nn.functional import activation as activations
from wherry_nn.functional.attention import added_mask, attend
from wherry_nn.functional.common import dropout
from wherry_nn.functional.norm import layer_norm
from wherry_tensor import concat, matmul, ops, reshape, stack, transpose
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = [
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_feedforward",
    "fused_linear",
    "fused_linear_activation",
    "fused_matmul_bias",
    "fused_multi_head_attention",
    "fused_multi_transformer",
]


def fused_matmul_bias(
    x: Tensor, y: Tensor, bias: Tensor | None = None, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Tensor:
    """Matrix product with a bias: `matmul(x, y) + bias`.

    Args:
        x: `[..., m, k]`.
        y: `[..., k, n]`.
        bias: `[n]`, or None.
        transpose_x: exchange the last two axes of x first.
        transpose_y: the same of y.

    Shape:
        `[..., m, n]`.

    Raises:
        ValueError: the shapes do not fit.
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.fused_matmul_bias`.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> F.fused_matmul_bias(wherry.ones([1, 2]), wherry.ones([2, 3]), wherry.ones([3])).tolist()
        [[3.0, 3.0, 3.0]]
    """
    product = matmul(x, y, transpose_x, transpose_y)
    return product if bias is None else product + require_tensor(bias, "fused_matmul_bias", "bias")


def fused_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, transpose_weight: bool = False, name: str | None = None
) -> Tensor:
    """Linear transformation: `matmul(x, weight) + bias`.

    Args:
        x: `[..., k]`.
        weight: `[k, n]`, or `[n, k]` with `transpose_weight`.
        bias: `[n]`, or None.
        transpose_weight: exchange the axes of the weight first.

    Shape:
        `[..., n]`.

    Raises:
        ValueError: the shapes do not fit.
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.fused_linear`.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> F.fused_linear(wherry.ones([1, 2]), wherry.ones([3, 2]), wherry.ones([3]), transpose_weight=True).tolist()
        [[3.0, 3.0, 3.0]]
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight, name)


def fused_linear_activation(
    x: Tensor, y: Tensor, bias: Tensor, trans_x: bool = False, trans_y: bool = False, activation: str | None = None
) -> Tensor:
    """Linear transformation with an activation: `activation(matmul(x, y) + bias)`.

    Args:
        x: `[..., m, k]`.
        y: `[k, n]`.
        bias: `[n]`.
        trans_x: exchange the last two axes of x first.
        trans_y: the same of y.
        activation: "gelu", "relu", "none" or None.

    Shape:
        `[..., m, n]`.

    Raises:
        ValueError: another activation; shapes that do not fit.

    Source:
        `paddle.incubate.nn.functional.fused_linear_activation`.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> F.fused_linear_activation(wherry.ones([1, 2]), -wherry.ones([2, 3]), wherry.ones([3]), activation="relu").tolist()
        [[0.0, 0.0, 0.0]]
    """
    if activation not in (None, "none", "gelu", "relu"):
        raise InvalidArgumentError(
            f"fused_linear_activation: there is no such activation. Got {short(activation)}, expected 'gelu', 'relu', 'none' or None. "
            f"Leave it out and call another one on the result."
        )
    made = fused_matmul_bias(x, y, bias, trans_x, trans_y)
    return made if activation in (None, "none") else getattr(activations, activation)(made)  # type: ignore[no-any-return, arg-type]


def fused_dropout_add(
    x: Tensor, y: Tensor, p: float = 0.5, training: bool = True, mode: str = "upscale_in_train", name: str | None = None
) -> Tensor:
    """Dropout and sum: `dropout(x) + y`, in training as one op that reads and writes memory once, with the same numbers.

    Args:
        x: floating.
        y: is added. With the shape and dtype of x, and no unknown sizes, it is one op, otherwise two.
        p: the probability with which an element of x is dropped.
        training: False drops nothing.
        mode: as that of `paddle.nn.functional.dropout`.

    Shape:
        That of x.

    Raises:
        ValueError: `p` is not in [0, 1], there is no such mode, or the shapes do not broadcast.
        TypeError: `x` or `y` is not a Tensor, `p` is not a number, or `x` is not floating (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.fused_dropout_add`.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> x, y = wherry.ones([1000]), wherry.ones([1000])
        >>> sorted(set(F.fused_dropout_add(x, y, p=0.5).tolist())), F.fused_dropout_add(x, y, training=False)[0].item()
        ([1.0, 3.0], 2.0)
    """
    return _dropped_and_added(x, require_tensor(y, "fused_dropout_add", "y"), p, training, mode)


def fused_bias_dropout_residual_layer_norm(
    x: Tensor, residual: Tensor, bias: Tensor | None = None, ln_scale: Tensor | None = None, ln_bias: Tensor | None = None,
    dropout_rate: float = 0.5, ln_epsilon: float = 1e-05, training: bool = True, mode: str = "upscale_in_train", name: str | None = None,
) -> Tensor:
    """Bias, dropout, residual sum and layer norm: `layer_norm(residual + dropout(x + bias))` along the last axis.

    Args:
        x: `[..., width]`.
        residual: the same.
        bias: `[width]`, or None.
        ln_scale: `[width]`; None is 1.
        ln_bias: `[width]`; None is 0.
        dropout_rate: the probability with which an element is dropped.
        ln_epsilon: is added to the variance.
        training: False drops nothing.
        mode: as that of `paddle.nn.functional.dropout`.

    Shape:
        That of x.

    Raises:
        ValueError: the shapes do not fit, `dropout_rate` is not in [0, 1], or there is no such mode.
        TypeError: an argument is not a Tensor, or dtypes differ (also a ValueError).

    Source:
        `paddle.incubate.nn.functional.fused_bias_dropout_residual_layer_norm`.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> x, residual = wherry.to_tensor([[1.0, 2.0]]), wherry.to_tensor([[0.0, 1.0]])
        >>> out = F.fused_bias_dropout_residual_layer_norm(x, residual, dropout_rate=0.0, ln_epsilon=0.0)
        >>> out.tolist()
        [[-1.0, 1.0]]
    """
    moved = require_tensor(x, "fused_bias_dropout_residual_layer_norm") if bias is None else x + bias
    return _normed(_dropped_and_added(moved, residual, dropout_rate, training, mode), ln_scale, ln_bias, ln_epsilon)


def fused_feedforward(
    x: Tensor, linear1_weight: Tensor, linear2_weight: Tensor, linear1_bias: Tensor | None = None, linear2_bias: Tensor | None = None,
    ln1_scale: Tensor | None = None, ln1_bias: Tensor | None = None, ln2_scale: Tensor | None = None, ln2_bias: Tensor | None = None,
    dropout1_rate: float = 0.5, dropout2_rate: float = 0.5, activation: str = "relu", ln1_epsilon: float = 1e-05,
    ln2_epsilon: float = 1e-05, pre_layer_norm: bool = False, training: bool = True, mode: str = "upscale_in_train", ring_id: int = -1,
    add_residual: bool = True, name: str | None = None,
) -> Tensor:
    """Feed-forward block: `layer_norm2(x + dropout2(linear2(dropout1(activation(linear1(x))))))`.

    With `pre_layer_norm` linear1 gets layer_norm1 of x, and the sum is the result.

    Args:
        x: `[batch, T, width]`.
        linear1_weight: `[width, hidden]`.
        linear2_weight: `[hidden, width]`.
        linear1_bias: `[hidden]`, or None.
        linear2_bias: `[width]`, or None.
        ln1_scale, ln1_bias, ln2_scale, ln2_bias: `[width]`; None is 1 and 0.
        dropout1_rate, dropout2_rate: the probabilities with which elements are dropped.
        activation: the name of a function of `paddle.nn.functional`.
        ln1_epsilon, ln2_epsilon: are added to variances.
        pre_layer_norm: normalize the input, not the result.
        training: False drops nothing.
        mode: as that of `paddle.nn.functional.dropout`.
        ring_id: -1; others are for tensor parallelism.
        add_residual: whether to add x.

    Shape:
        That of x.

    Raises:
        ValueError: no such activation; shapes that do not fit.
        NotImplementedError: `ring_id` is not -1.

    Source:
        `paddle.incubate.nn.functional.fused_feedforward`.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> F.fused_feedforward(wherry.rand([2, 3, 4]), wherry.rand([4, 8]), wherry.rand([8, 4])).shape
        [2, 3, 4]
    """
    refuse_ring("fused_feedforward", ring_id)
    function = activation_of(activation, "fused_feedforward")
    require_tensor(x, "fused_feedforward")
    out = _normed(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    out = dropout(function(fused_linear(out, linear1_weight, linear1_bias)), dropout1_rate, training=training, mode=mode)
    out = fused_linear(out, linear2_weight, linear2_bias)
    if add_residual:
        out = _dropped_and_added(out, x, dropout2_rate, training, mode)
    else:
        out = dropout(out, dropout2_rate, training=training, mode=mode)
    return out if pre_layer_norm else _normed(out, ln2_scale, ln2_bias, ln2_epsilon)


def fused_multi_head_attention(
    x: Tensor, qkv_weight: Tensor, linear_weight: Tensor, pre_layer_norm: bool = False, pre_ln_scale: Tensor | None = None,
    pre_ln_bias: Tensor | None = None, ln_scale: Tensor | None = None, ln_bias: Tensor | None = None, pre_ln_epsilon: float = 1e-05,
    qkv_bias: Tensor | None = None, linear_bias: Tensor | None = None, cache_kv: Tensor | None = None, attn_mask: Tensor | None = None,
    dropout_rate: float = 0.5, attn_dropout_rate: float = 0.5, ln_epsilon: float = 1e-05, training: bool = True,
    mode: str = "upscale_in_train", ring_id: int = -1, add_residual: bool = True, num_heads: int = -1, transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Any:
    """Attention block: `layer_norm(x + dropout(linear(attention(x))))`; with `pre_layer_norm` the input of attention is normalized instead.

    Args:
        x: `[batch, T, width]`.
        qkv_weight: `[3, heads, head_dim, width]`, or `[width, 3 * width]` with `transpose_qkv_wb`.
        linear_weight: `[heads * head_dim, width]`.
        pre_layer_norm: normalize the input, not the result.
        pre_ln_scale, pre_ln_bias, ln_scale, ln_bias: `[width]`; None is 1 and 0.
        pre_ln_epsilon: is added to the variance.
        qkv_bias: `[3, heads, head_dim]`, or `[3 * width]` with `transpose_qkv_wb`; or None.
        linear_bias: `[width]`, or None.
        cache_kv: keys and values of earlier steps, `[2, batch, heads, earlier, head_dim]`.
        attn_mask: broadcasts to `[batch, heads, T, S]`; True or 1 attends, floating numbers are added.
        dropout_rate: of the result of the last linear layer.
        attn_dropout_rate: of the weights of the keys.
        ln_epsilon: is added to the variance.
        training: False drops nothing.
        mode: as that of `paddle.nn.functional.dropout`.
        ring_id: -1; others are for tensor parallelism.
        add_residual: whether to add x.
        num_heads: the number of heads; only with `transpose_qkv_wb`.
        transpose_qkv_wb: the form of qkv_weight and qkv_bias.

    Returns:
        The result; with a cache also the longer cache.

    Shape:
        That of x.

    Raises:
        ValueError: shapes that do not fit.
        NotImplementedError: `ring_id` is not -1.

    Source:
        `paddle.incubate.nn.functional.fused_multi_head_attention`.

    Examples:
        >>> F = wherry.incubate.nn.functional
        >>> F.fused_multi_head_attention(wherry.rand([2, 3, 4]), wherry.rand([3, 2, 2, 4]), wherry.rand([4, 4])).shape
        [2, 3, 4]
    """
    refuse_ring("fused_multi_head_attention", ring_id)
    inner = _normed(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    if transpose_qkv_wb:
        width = require_tensor(qkv_weight, "fused_multi_head_attention", "qkv_weight").shape[0] if qkv_weight.ndim else 0
        if num_heads < 1 or not width or width % num_heads or qkv_weight.shape != [width, 3 * width]:
            raise InvalidArgumentError(
                f"fused_multi_head_attention: qkv_weight and num_heads do not fit. Got shape {qkv_weight.shape} and "
                f"num_heads={num_heads}, expected [width, 3 * width] with heads that divide the width. Pass num_heads."
            )
        qkv_weight = reshape(qkv_weight, [width, 3, num_heads, width // num_heads])
        qkv_bias = None if qkv_bias is None else reshape(qkv_bias, [3, num_heads, width // num_heads])
    q, k, v = _projected(inner, qkv_weight, qkv_bias, not transpose_qkv_wb, "fused_multi_head_attention")
    if cache_kv is not None:
        k, v = concat([cache_kv[0], k], axis=2), concat([cache_kv[1], v], axis=2)
    out = _attended(q, k, v, attn_mask, attn_dropout_rate, training, mode, "fused_multi_head_attention")
    out = fused_linear(out, linear_weight, linear_bias)
    if add_residual:
        out = _dropped_and_added(out, x, dropout_rate, training, mode)
    else:
        out = dropout(out, dropout_rate, training=training, mode=mode)
    if not pre_layer_norm:
        out = _normed(out, ln_scale, ln_bias, ln_epsilon)
    return out if cache_kv is None else (out, stack([k, v]))


def fused_multi_transformer(
    x: Tensor, ln_scales: Sequence[Tensor], ln_biases: Sequence[Any], qkv_weights: Sequence[Tensor], qkv_biases: Sequence[Any] | None,
    linear_weights: Sequence[Tensor], linear_biases: Sequence[Any] | None, ffn_ln_scales: Sequence[Tensor], ffn_ln_biases: Sequence[Any],
    ffn1_weights: Sequence[Tensor], ffn1_biases: Sequence[Any] | None, ffn2_weights: Sequence[Tensor], ffn2_biases: Sequence[Any] | None,
    pre_layer_norm: bool = True, epsilon: float = 1e-05, cache_kvs: Sequence[Tensor] | None = None, pre_caches: Any = None,
    seq_lens: Any = None, rotary_embs: Any = None, time_step: Tensor | None = None, attn_mask: Tensor | None = None,
    dropout_rate: float = 0.0, rotary_emb_dims: int = 0, activation: str = "gelu", training: bool = False,
    mode: str = "upscale_in_train", trans_qkvw: bool = True, ring_id: int = -1, name: str | None = None,
) -> Any:
    """Several transformer layers, each an attention block and a feed-forward block; lists have one entry per layer.

    Args:
        x: `[batch, T, width]`.
        ln_scales, ln_biases: of the normalization of attention, `[width]`.
        qkv_weights: `[3, heads, head_dim, width]`, or `[width, 3, heads, head_dim]` without `trans_qkvw`.
        qkv_biases: `[3, heads, head_dim]`, or None.
        linear_weights, linear_biases: `[heads * head_dim, width]` and `[width]`.
        ffn_ln_scales, ffn_ln_biases: of the normalization of the feed-forward part, `[width]`.
        ffn1_weights, ffn1_biases: `[width, hidden]` and `[hidden]`.
        ffn2_weights, ffn2_biases: `[hidden, width]` and `[width]`.
        pre_layer_norm: normalize the input of each part, not its result.
        epsilon: is added to variances.
        cache_kvs: keys and values of each layer, `[2, batch, heads, room, head_dim]`; those of this call are written to it.
        pre_caches, seq_lens, rotary_embs: not available.
        time_step: how many steps the caches hold already; None is 0.
        attn_mask: broadcasts to `[batch, heads, T, S]`; True or 1 attends, floating numbers are added.
        dropout_rate: the probability with which elements are dropped after each part.
        rotary_emb_dims: 0.
        activation: the name of a function of `paddle.nn.functional`.
        training: False drops nothing.
        mode: as that of `paddle.nn.functional.dropout`.
        trans_qkvw: the form of qkv_weights.
        ring_id: -1; others are for tensor parallelism.

    Returns:
        The result; with caches, also the caches.

    Shape:
        That of x.

    Raises:
        ValueError: shapes that do not fit, or a cache without room.
        NotImplementedError: `ring_id`, `pre_caches`, `seq_lens` or `rotary_embs` are given.

    Source:
        `paddle.incubate.nn.functional.fused_multi_transformer`.

    Examples:
        >>> F, rand = wherry.incubate.nn.functional, wherry.rand
        >>> ones, zeros = [wherry.ones([4])], [wherry.zeros([4])]
        >>> attention = [rand([3, 2, 2, 4])], [rand([3, 2, 2])], [rand([4, 4])], zeros
        >>> feed_forward = [rand([4, 8])], [rand([8])], [rand([8, 4])], zeros
        >>> F.fused_multi_transformer(rand([2, 3, 4]), ones, zeros, *attention, ones, zeros, *feed_forward).shape
        [2, 3, 4]
    """
    op_name = "fused_multi_transformer"
    refuse_ring(op_name, ring_id)
    for what, given in (("pre_caches", pre_caches), ("seq_lens", seq_lens), ("rotary_embs", rotary_embs)):
        if given is not None:
            raise NotImplementedError(
                f"{op_name}: {what} is not available. Got {type(given).__name__}, expected None. Mask with attn_mask, or apply it outside."
            )
    function = activation_of(activation, op_name)
    begin = 0 if time_step is None else int(time_step)
    out = require_tensor(x, op_name)
    for what, given in (
        ("ln_scales", ln_scales), ("ln_biases", ln_biases), ("qkv_biases", qkv_biases), ("linear_weights", linear_weights),
        ("linear_biases", linear_biases), ("ffn_ln_scales", ffn_ln_scales), ("ffn_ln_biases", ffn_ln_biases), ("ffn1_weights", ffn1_weights),
        ("ffn1_biases", ffn1_biases), ("ffn2_weights", ffn2_weights), ("ffn2_biases", ffn2_biases), ("cache_kvs", cache_kvs),
    ):
        if isinstance(given, (list, tuple)) and len(given) != len(qkv_weights):
            raise InvalidArgumentError(
                f"{op_name}: each layer has an entry in each list. Got {len(given)} in {what}, expected {len(qkv_weights)}, as in qkv_weights."
            )
    for layer in range(len(qkv_weights)):
        kept = out
        out = _normed(kept, ln_scales[layer], _of(ln_biases, layer), epsilon) if pre_layer_norm else kept
        q, k, v = _projected(out, qkv_weights[layer], _of(qkv_biases, layer), trans_qkvw, op_name)
        if cache_kvs is not None:
            k, v = _remember(cache_kvs[layer], k, v, begin)
        out = _attended(q, k, v, attn_mask, 0.0, training, mode, op_name)
        out = _dropped_and_added(fused_linear(out, linear_weights[layer], _of(linear_biases, layer)), kept, dropout_rate, training, mode)
        if not pre_layer_norm:
            out = _normed(out, ln_scales[layer], _of(ln_biases, layer), epsilon)
        kept = out
        if pre_layer_norm:
            out = _normed(out, ffn_ln_scales[layer], _of(ffn_ln_biases, layer), epsilon)
        out = dropout(function(fused_linear(out, ffn1_weights[layer], _of(ffn1_biases, layer))), dropout_rate, training=training, mode=mode)
        out = _dropped_and_added(fused_linear(out, ffn2_weights[layer], _of(ffn2_biases, layer)), kept, dropout_rate, training, mode)
        if not pre_layer_norm:
            out = _normed(out, ffn_ln_scales[layer], _of(ffn_ln_biases, layer), epsilon)
    return out if cache_kvs is None else (out, cache_kvs)


def _dropped_and_added(x: Tensor, residual: Tensor, p: Any, training: bool, mode: str) -> Tensor:
    """`residual + dropout(x)`: one op where it drops something and nothing is broadcast, with the bits of the two."""
    drops = training and isinstance(p, float) and 0 < p <= 1 and mode in ("upscale_in_train", "downscale_in_infer")
    if drops and isinstance(x, Tensor) and isinstance(residual, Tensor) and x.dtype is residual.dtype and _same_known_shape(x, residual):
        return ops.dropout_add(x, residual, p, mode == "upscale_in_train")[0]  # type: ignore[no-any-return]
    return residual + dropout(x, p, training=training, mode=mode)


def _same_known_shape(x: Tensor, y: Tensor) -> bool:
    """Whether the shapes are equal and known: sizes of a program may be unknown until it runs."""
    return -1 not in x.shape and -1 not in y.shape and x.shape == y.shape


def _of(values: Sequence[Any] | None, layer: int) -> Any:
    return None if values is None else values[layer]


def _remember(cache: Tensor, k: Tensor, v: Tensor, begin: int) -> tuple[Tensor, Tensor]:
    """Write keys and values to a cache from step `begin` on, and return all that it holds."""
    end = begin + k.shape[2]
    room = require_tensor(cache, "fused_multi_transformer", "cache_kvs").shape[3]
    if end > room:
        raise InvalidArgumentError(
            f"fused_multi_transformer: a cache is full. Got {end} steps, expected {room} at most. Make it longer: "
            f"[2, batch, heads, room, head_dim]."
        )
    cache[0, :, :, begin:end] = k
    cache[1, :, :, begin:end] = v
    return cache[0, :, :, :end], cache[1, :, :, :end]


def _normed(x: Tensor, scale: Tensor | None, bias: Tensor | None, epsilon: float) -> Tensor:
    return layer_norm(x, x.shape[-1:], scale, bias, epsilon)


def _projected(x: Tensor, weight: Tensor, bias: Tensor | None, width_last: bool, op_name: str) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values with the heads first, `[batch, heads, T, head_dim]`."""
    shape = require_tensor(weight, op_name, "qkv_weight").shape
    width = x.shape[-1] if require_tensor(x, op_name).ndim else None
    expected = "[3, heads, head_dim, width]" if width_last else "[width, 3, heads, head_dim]"
    if len(shape) != 4 or len(x.shape) != 3 or shape[0 if width_last else 1] != 3 or shape[3 if width_last else 0] != width:
        raise InvalidArgumentError(
            f"{op_name}: x and qkv_weight do not fit. Got shapes {x.shape} and {shape}, expected [batch, T, width] and {expected}. "
            f"Reshape the weight."
        )
    heads, size = shape[1:3] if width_last else shape[2:]
    made = matmul(x, reshape(weight, [-1, width] if width_last else [width, -1]), transpose_y=width_last)
    if bias is not None:
        made = made + reshape(bias, [-1])
    parts = transpose(reshape(made, [x.shape[0], x.shape[1], 3, heads, size]), [2, 0, 3, 1, 4])
    return parts[0], parts[1], parts[2]


def _attended(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, rate: float, training: bool, mode: str, op_name: str,
) -> Tensor:
    """Attention with the heads concatenated: `[batch, T, heads * head_dim]`."""
    added, scale = added_mask(mask, q, op_name), 1.0 / math.sqrt(q.shape[3])
    if mode == "upscale_in_train":
        out, _ = attend(q, k, v, added, scale, False, float(rate) if training else 0.0)
    else:
        _, weights = attend(q, k, v, added, scale, False, 0.0, True)
        out = matmul(dropout(weights, rate, training=training, mode=mode), v)  # type: ignore[arg-type]
    return reshape(ops.transpose(out, perm=(0, 2, 1, 3)), [q.shape[0], q.shape[2], -1])


def activation_of(name: Any, op_name: str) -> Any:
    """The function of `paddle.nn.functional` with this name."""
    if name not in activations.__all__:
        raise InvalidArgumentError(
            f"{op_name}: there is no such activation. Got {short(name)}, expected the name of a function such as 'relu' or 'gelu'. "
            f"Choose one of paddle.nn.functional."
        )
    return getattr(activations, name)


def refuse_ring(op_name: str, ring_id: int, nranks: int = 1) -> None:
    """Refuse a layer that is split over several devices."""
    if ring_id != -1 or nranks != 1:
        raise NotImplementedError(
            f"{op_name}: a layer on several devices is not available. Got ring_id={short(ring_id)} and nranks={short(nranks)}, expected "
            f"-1 and 1. Leave them out."
        )


explained(globals())
spelled(globals())
