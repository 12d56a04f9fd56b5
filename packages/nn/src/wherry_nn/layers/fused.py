"""Fused parts of transformers as layers: `paddle.incubate.nn`."""
from __future__ import annotations

from typing import Any

from wherry_nn.functional import fused as F
from wherry_nn.initializer import Constant
from wherry_nn.layer import Layer
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, UnimplementedError, short
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = [
    "FusedBiasDropoutResidualLayerNorm",
    "FusedDropoutAdd",
    "FusedEcMoe",
    "FusedFeedForward",
    "FusedLinear",
    "FusedMultiHeadAttention",
    "FusedMultiTransformer",
    "FusedTransformerEncoderLayer",
]


def _positive(layer: str, **sizes: Any) -> None:
    for name, value in sizes.items():
        if type(value) is not int or value < 1:
            raise AssertedArgumentError(
                f"{layer}: Expected {name} to be greater than 0. Got {short(value)}, expected a positive int. Give the size of that axis."
            )


def _divides(layer: str, num_heads: int, embed_dim: int) -> None:
    if embed_dim % num_heads:
        raise AssertedArgumentError(
            f"{layer}: embed_dim must be divisible by num_heads. Got embed_dim={embed_dim} and num_heads={num_heads}, expected no "
            f"remainder. Each head takes embed_dim / num_heads columns."
        )


class _Fused(Layer):
    def _weight(self, shape: list[int], attr: Any) -> Any:
        return self.create_parameter(shape, attr=attr)

    def _bias(self, shape: list[int], attr: Any) -> Any:
        return self.create_parameter(shape, attr=attr, is_bias=True)

    def _scale(self, shape: list[int], attr: Any) -> Any:
        return self.create_parameter(shape, attr=attr, default_initializer=Constant(1.0))


class FusedLinear(_Fused):
    """Linear transformation with a weight that may be transposed.

    Args:
        in_features: width of the input.
        out_features: width of the output.
        weight_attr: a ParamAttr or an initializer.
        bias_attr: likewise; False leaves the bias out.
        transpose_weight: the weight is `[out_features, in_features]`.

    Shape:
        `[..., in_features]` to `[..., out_features]`.

    Raises:
        ValueError: a size is not positive (also an AssertionError).

    Source:
        `paddle.incubate.nn.FusedLinear`.

    Examples:
        >>> wherry.incubate.nn.FusedLinear(4, 5)(wherry.rand([3, 4])).shape
        [3, 5]
    """

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None, transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _positive("FusedLinear", in_features=in_features, out_features=out_features)
        self.weight = self._weight([out_features, in_features] if transpose_weight else [in_features, out_features], weight_attr)
        self.bias = self._bias([out_features], bias_attr)
        self.transpose_weight = transpose_weight

    def forward(self, input: Tensor) -> Tensor:
        return F.fused_linear(input, self.weight, self.bias, self.transpose_weight)


@documented_by(F.fused_dropout_add)
class FusedDropoutAdd(_Fused):
    """Dropout and sum: `dropout(x) + y`.

    Examples:
        >>> layer = wherry.incubate.nn.FusedDropoutAdd(p=0.5)
        >>> sorted(set(layer(wherry.ones([1000]), wherry.ones([1000])).tolist()))
        [1.0, 3.0]
    """

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.mode = mode

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.fused_dropout_add(x, y, self.p, self.training, self.mode)


class FusedEcMoe(_Fused):
    """Not implemented: Paddle's documentation does not say how many tokens an expert takes.

    Raises:
        NotImplementedError: always.

    Source:
        `paddle.incubate.nn.FusedEcMoe`.

    Examples:
        >>> wherry.incubate.nn.FusedEcMoe(8, 16, 4, "relu")
        Traceback (most recent call last):
            ...
        wherry_tensor.errors.UnimplementedError: (Unimplemented) FusedEcMoe: experts that choose their tokens are not available. ...
    """

    def __init__(
        self, hidden_size: int, inter_size: int, num_experts: int, act_type: str, weight_attr: Any = None, bias_attr: Any = None
    ) -> None:
        raise UnimplementedError(
            f"FusedEcMoe: experts that choose their tokens are not available. Got num_experts={short(num_experts)}, expected a layer of your "
            f"own. Choose with topk of softmax(gate), gather the tokens, multiply with bmm, and add with scatter_nd_add."
        )


class FusedBiasDropoutResidualLayerNorm(_Fused):
    """Bias, dropout, residual sum and layer norm: `layer_norm(residual + dropout(x + bias))`.

    Args:
        embed_dim: width of the last axis.
        dropout_rate: the probability with which an element is dropped.
        weight_attr: of the scale: a ParamAttr or an initializer.
        bias_attr: of both biases; False leaves them out.
        epsilon: is added to the variance.

    Shape:
        x and residual `[..., embed_dim]`, to the same.

    Raises:
        ValueError: `embed_dim` is not positive (also an AssertionError).

    Source:
        `paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm`.

    Examples:
        >>> layer = wherry.incubate.nn.FusedBiasDropoutResidualLayerNorm(4)
        >>> layer(wherry.rand([2, 3, 4]), wherry.rand([2, 3, 4])).shape
        [2, 3, 4]
    """

    def __init__(
        self, embed_dim: int, dropout_rate: float = 0.5, weight_attr: Any = None, bias_attr: Any = None, epsilon: float = 1e-05,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _positive("FusedBiasDropoutResidualLayerNorm", embed_dim=embed_dim)
        self.linear_bias = self._bias([embed_dim], bias_attr)
        self.ln_scale = self._scale([embed_dim], weight_attr)
        self.ln_bias = self._bias([embed_dim], bias_attr)
        self.dropout_rate = dropout_rate
        self._epsilon = epsilon

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return F.fused_bias_dropout_residual_layer_norm(
            x, residual, self.linear_bias, self.ln_scale, self.ln_bias, self.dropout_rate, self._epsilon, self.training,
        )


class FusedMultiHeadAttention(_Fused):
    """Attention block: self-attention, dropout, residual sum and layer norm.

    Args:
        embed_dim: width of inputs and outputs.
        num_heads: the number of heads; it divides the width.
        dropout_rate: of the result.
        attn_dropout_rate: of the weights of the keys.
        kdim, vdim: None or `embed_dim`: keys and values are the input.
        normalize_before: normalize the input, not the result.
        need_weights: False.
        qkv_weight_attr, qkv_bias_attr, linear_weight_attr, linear_bias_attr, pre_ln_scale_attr, pre_ln_bias_attr, ln_scale_attr,
            ln_bias_attr: a ParamAttr or an initializer each; False leaves a bias out.
        epsilon: is added to the variance.
        nranks, ring_id: 1 and -1; others are for tensor parallelism.
        transpose_qkv_wb: the weight of the projections is `[embed_dim, 3 * embed_dim]` and not `[3, heads, head_dim, embed_dim]`.

    Shape:
        `[batch, T, embed_dim]` to the same; with a cache `[2, batch, heads, earlier, head_dim]` also the longer cache.

    Raises:
        ValueError: a size is not positive or not divisible; `need_weights` (also AssertionErrors); keys or values other than
            the query.
        NotImplementedError: several ranks.

    Source:
        `paddle.incubate.nn.FusedMultiHeadAttention`.

    Examples:
        >>> wherry.incubate.nn.FusedMultiHeadAttention(8, 2)(wherry.rand([2, 3, 8])).shape
        [2, 3, 8]
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout_rate: float = 0.5, attn_dropout_rate: float = 0.5, kdim: int | None = None,
        vdim: int | None = None, normalize_before: bool = False, need_weights: bool = False, qkv_weight_attr: Any = None,
        qkv_bias_attr: Any = None, linear_weight_attr: Any = None, linear_bias_attr: Any = None, pre_ln_scale_attr: Any = None,
        pre_ln_bias_attr: Any = None, ln_scale_attr: Any = None, ln_bias_attr: Any = None, epsilon: float = 1e-05, nranks: int = 1,
        ring_id: int = -1, transpose_qkv_wb: bool = False, name: str | None = None,
    ) -> None:
        super().__init__()
        _positive("FusedMultiHeadAttention", embed_dim=embed_dim, num_heads=num_heads)
        _divides("FusedMultiHeadAttention", num_heads, embed_dim)
        if need_weights:
            raise AssertedArgumentError(
                "FusedMultiHeadAttention: Only support need_weight is False now. Got True, expected False. Use nn.MultiHeadAttention."
            )
        F.refuse_ring("FusedMultiHeadAttention", ring_id, nranks)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout_rate, self.attn_dropout_rate = dropout_rate, attn_dropout_rate
        self.kdim, self.vdim, self.need_weights = kdim, vdim, need_weights
        self.normalize_before, self.transpose_qkv_wb, self._epsilon = normalize_before, transpose_qkv_wb, epsilon
        split = [3, num_heads, self.head_dim]
        self.qkv_weight = self._weight([embed_dim, 3 * embed_dim] if transpose_qkv_wb else [*split, embed_dim], qkv_weight_attr)
        self.qkv_bias = self._bias([3 * embed_dim] if transpose_qkv_wb else split, qkv_bias_attr)
        self.linear_weight = self._weight([embed_dim, embed_dim], linear_weight_attr)
        self.linear_bias = self._bias([embed_dim], linear_bias_attr)
        before, behind = ([embed_dim] if normalize_before else None), (None if normalize_before else [embed_dim])
        self.pre_ln_scale = None if before is None else self._scale(before, pre_ln_scale_attr)
        self.pre_ln_bias = None if before is None else self._bias(before, pre_ln_bias_attr)
        self.ln_scale = None if behind is None else self._scale(behind, ln_scale_attr)
        self.ln_bias = None if behind is None else self._bias(behind, ln_bias_attr)

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, attn_mask: Tensor | None = None, cache: Any = None
    ) -> Any:
        if any(other is not None and other is not query for other in (key, value)):
            raise InvalidArgumentError(
                "FusedMultiHeadAttention: key and value must be the query. Got another key or value, expected the query. Leave them out, "
                "or use nn.MultiHeadAttention."
            )
        return F.fused_multi_head_attention(
            query, self.qkv_weight, self.linear_weight, self.normalize_before, self.pre_ln_scale, self.pre_ln_bias, self.ln_scale,
            self.ln_bias, self._epsilon, self.qkv_bias, self.linear_bias, cache, attn_mask, self.dropout_rate, self.attn_dropout_rate,
            self._epsilon, self.training, num_heads=self.num_heads, transpose_qkv_wb=self.transpose_qkv_wb,
        )


class FusedFeedForward(_Fused):
    """Feed-forward block: two linear layers, dropout, residual sum and layer norm.

    Args:
        d_model: width of inputs and outputs.
        dim_feedforward: width between the linear layers.
        dropout_rate: of the result.
        epsilon: is added to variances.
        activation: the name of a function of `nn.functional`.
        act_dropout_rate: after the activation; None is `dropout_rate`.
        normalize_before: normalize the input, not the result.
        linear1_weight_attr, linear1_bias_attr, linear2_weight_attr, linear2_bias_attr, ln1_scale_attr, ln1_bias_attr, ln2_scale_attr,
            ln2_bias_attr: a ParamAttr or an initializer each; False leaves a bias out.
        nranks, ring_id: 1 and -1; others are for tensor parallelism.

    Shape:
        `[batch, T, d_model]` to the same.

    Raises:
        ValueError: a size is not positive (also an AssertionError); no such activation.
        NotImplementedError: several ranks.

    Source:
        `paddle.incubate.nn.FusedFeedForward`.

    Examples:
        >>> wherry.incubate.nn.FusedFeedForward(8, 16)(wherry.rand([2, 3, 8])).shape
        [2, 3, 8]
    """

    def __init__(
        self, d_model: int, dim_feedforward: int, dropout_rate: float = 0.1, epsilon: float = 1e-05, activation: str = "relu",
        act_dropout_rate: float | None = None, normalize_before: bool = False, linear1_weight_attr: Any = None,
        linear1_bias_attr: Any = None, linear2_weight_attr: Any = None, linear2_bias_attr: Any = None, ln1_scale_attr: Any = None,
        ln1_bias_attr: Any = None, ln2_scale_attr: Any = None, ln2_bias_attr: Any = None, nranks: int = 1, ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _positive("FusedFeedForward", d_model=d_model, dim_feedforward=dim_feedforward)
        F.refuse_ring("FusedFeedForward", ring_id, nranks)
        F.activation_of(activation, "FusedFeedForward")
        self._epsilon = epsilon
        self._dropout_rate, self._act_method, self._normalize_before = dropout_rate, activation, normalize_before
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._linear1_weight = self._weight([d_model, dim_feedforward], linear1_weight_attr)
        self._linear1_bias = self._bias([dim_feedforward], linear1_bias_attr)
        self._linear2_weight = self._weight([dim_feedforward, d_model], linear2_weight_attr)
        self._linear2_bias = self._bias([d_model], linear2_bias_attr)
        self._ln1_scale = self._scale([d_model], ln1_scale_attr) if normalize_before else None
        self._ln1_bias = self._bias([d_model], ln1_bias_attr) if normalize_before else None
        self._ln2_scale = None if normalize_before else self._scale([d_model], ln2_scale_attr)
        self._ln2_bias = None if normalize_before else self._bias([d_model], ln2_bias_attr)

    def forward(self, src: Tensor, cache: Any = None) -> Tensor:
        return F.fused_feedforward(
            src, self._linear1_weight, self._linear2_weight, self._linear1_bias, self._linear2_bias, self._ln1_scale, self._ln1_bias,
            self._ln2_scale, self._ln2_bias, self._act_dropout_rate, self._dropout_rate, self._act_method, self._epsilon, self._epsilon,
            self._normalize_before, self.training,
        )


class FusedTransformerEncoderLayer(_Fused):
    """Encoder layer: `FusedMultiHeadAttention`, then `FusedFeedForward`.

    Args:
        d_model: width of inputs and outputs.
        nhead: the number of heads.
        dim_feedforward: width between the linear layers.
        dropout_rate: of the results of both parts.
        activation: the name of a function of `nn.functional`.
        attn_dropout_rate: of the weights of the keys; None is `dropout_rate`.
        act_dropout_rate: after the activation; None is `dropout_rate`.
        normalize_before: normalize the inputs of the parts, not their results.
        weight_attr: of the weights: a ParamAttr or an initializer, or a list of two, for attention and feed-forward part.
        bias_attr: likewise; False leaves the biases out.

    Shape:
        `[batch, T, d_model]` to the same; with a cache also the longer cache.

    Raises:
        ValueError: a size is not positive, or `nhead` does not divide `d_model` (also AssertionErrors); there is no such activation; a list
            of attributes does not have two entries; the input is not `[batch, T, d_model]`.
        TypeError: the input is not a Tensor, or its dtype differs from that of the weights (also a ValueError).

    Source:
        `paddle.incubate.nn.FusedTransformerEncoderLayer`.

    Examples:
        >>> wherry.incubate.nn.FusedTransformerEncoderLayer(8, 2, 16)(wherry.rand([2, 3, 8])).shape
        [2, 3, 8]
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int, dropout_rate: float = 0.1, activation: str = "relu",
        attn_dropout_rate: float | None = None, act_dropout_rate: float | None = None, normalize_before: bool = False,
        weight_attr: Any = None, bias_attr: Any = None,
    ) -> None:
        super().__init__()
        weights, biases = (list(a) if isinstance(a, (list, tuple)) else [a, a] for a in (weight_attr, bias_attr))
        if len(weights) != 2 or len(biases) != 2:
            raise InvalidArgumentError(
                f"FusedTransformerEncoderLayer: weight_attr and bias_attr have one entry per part. Got {len(weights)} and {len(biases)}, "
                f"expected 2. Give one attribute for both parts, or two."
            )
        self.normalize_before = normalize_before
        self.fused_attn = FusedMultiHeadAttention(
            d_model, nhead, dropout_rate, dropout_rate if attn_dropout_rate is None else attn_dropout_rate, normalize_before=normalize_before,
            qkv_weight_attr=weights[0], qkv_bias_attr=biases[0], linear_weight_attr=weights[0], linear_bias_attr=biases[0],
        )
        self.ffn = FusedFeedForward(
            d_model, dim_feedforward, dropout_rate, activation=activation, act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before, linear1_weight_attr=weights[1], linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1], linear2_bias_attr=biases[1],
        )

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        attended = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        if cache is None:
            return self.ffn(attended)
        return self.ffn(attended[0]), attended[1]


_KINDS = ("ln_scale", "ln_bias", "qkv_weight", "qkv_bias", "linear_weight", "linear_bias", "ffn_ln_scale", "ffn_ln_bias", "ffn1_weight",
          "ffn1_bias", "ffn2_weight", "ffn2_bias")


class FusedMultiTransformer(_Fused):
    """Several transformer layers, with caches for generation.

    Args:
        embed_dim: width of inputs and outputs.
        num_heads: the number of heads.
        dim_feedforward: width between the linear layers.
        dropout_rate: of the results of the parts.
        activation: the name of a function of `nn.functional`.
        normalize_before: normalize the inputs of the parts, not their results.
        ln_scale_attrs, ln_bias_attrs, qkv_weight_attrs, qkv_bias_attrs, linear_weight_attrs, linear_bias_attrs, ffn_ln_scale_attrs,
            ffn_ln_bias_attrs, ffn1_weight_attrs, ffn1_bias_attrs, ffn2_weight_attrs, ffn2_bias_attrs: one attribute, or a list with
            one for each layer.
        epsilon: is added to variances.
        num_layers: how many; -1 is as many as `qkv_weight_attrs` has.
        nranks, ring_id: 1 and -1; others are for tensor parallelism.
        trans_qkvw: weights of projections are `[3, heads, head_dim, embed_dim]`, otherwise `[embed_dim, 3, heads, head_dim]`.

    Shape:
        `[batch, T, embed_dim]` to the same; with caches, also the caches.

    Raises:
        ValueError: a size is not positive, or the number of layers is not known (also AssertionErrors).
        NotImplementedError: several ranks.

    Source:
        `paddle.incubate.nn.FusedMultiTransformer`, whose `state_dict()` is empty; here it has `qkv_weights_0`, ...

    Examples:
        >>> wherry.incubate.nn.FusedMultiTransformer(8, 2, 16, num_layers=2)(wherry.rand([2, 3, 8])).shape
        [2, 3, 8]
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dim_feedforward: int, dropout_rate: float = 0.0, activation: str = "gelu",
        normalize_before: bool = True, ln_scale_attrs: Any = None, ln_bias_attrs: Any = None, qkv_weight_attrs: Any = None,
        qkv_bias_attrs: Any = None, linear_weight_attrs: Any = None, linear_bias_attrs: Any = None, ffn_ln_scale_attrs: Any = None,
        ffn_ln_bias_attrs: Any = None, ffn1_weight_attrs: Any = None, ffn1_bias_attrs: Any = None, ffn2_weight_attrs: Any = None,
        ffn2_bias_attrs: Any = None, epsilon: float = 1e-05, num_layers: int = -1, nranks: int = 1, trans_qkvw: bool = True,
        ring_id: int = -1, name: str | None = None,
    ) -> None:
        given = locals()
        super().__init__()
        _positive("FusedMultiTransformer", embed_dim=embed_dim, num_heads=num_heads, dim_feedforward=dim_feedforward)
        _divides("FusedMultiTransformer", num_heads, embed_dim)
        F.refuse_ring("FusedMultiTransformer", ring_id, nranks)
        F.activation_of(activation, "FusedMultiTransformer")
        if num_layers == -1 and isinstance(qkv_weight_attrs, (list, tuple)):
            num_layers = len(qkv_weight_attrs)
        _positive("FusedMultiTransformer", num_layers=num_layers)
        self.normalize_before, self.activation, self.dropout_rate = normalize_before, activation, dropout_rate
        self.num_layers, self._epsilon, self._trans_qkvw = num_layers, epsilon, trans_qkvw
        split = [3, num_heads, embed_dim // num_heads]
        shapes = {
            "qkv_weight": [*split, embed_dim] if trans_qkvw else [embed_dim, *split], "qkv_bias": split,
            "linear_weight": [embed_dim, embed_dim], "ffn1_weight": [embed_dim, dim_feedforward], "ffn1_bias": [dim_feedforward],
            "ffn2_weight": [dim_feedforward, embed_dim],
        }
        makers = {"weight": self._weight, "bias": self._bias, "scale": self._scale}
        for kind in _KINDS:
            attrs = given[f"{kind}_attrs"]
            if isinstance(attrs, (list, tuple)) and len(attrs) != num_layers:
                raise AssertedArgumentError(
                    f"FusedMultiTransformer: {kind}_attrs has one entry per layer. Got {len(attrs)}, expected {num_layers}. Give one "
                    f"attribute for all."
                )
            for layer in range(num_layers):
                attr = attrs[layer] if isinstance(attrs, (list, tuple)) else attrs
                made = makers[kind.rpartition("_")[2]](shapes.get(kind, [embed_dim]), attr)
                setattr(self, f"{_plural(kind)}_{layer}", made)

    def _all(self, kind: str) -> list[Any]:
        return [getattr(self, f"{_plural(kind)}_{layer}") for layer in range(self.num_layers)]

    def forward(
        self, src: Tensor, attn_mask: Tensor | None = None, caches: Any = None, pre_caches: Any = None, rotary_embs: Any = None,
        rotary_emb_dims: int = 0, seq_lens: Any = None, time_step: Tensor | None = None,
    ) -> Any:
        lists: Any = tuple(map(self._all, _KINDS))
        call: Any = F.fused_multi_transformer
        return call(
            src, *lists, pre_layer_norm=self.normalize_before, epsilon=self._epsilon, cache_kvs=caches,
            pre_caches=pre_caches, seq_lens=seq_lens, rotary_embs=rotary_embs, time_step=time_step, attn_mask=attn_mask,
            dropout_rate=self.dropout_rate, rotary_emb_dims=rotary_emb_dims, activation=self.activation, training=self.training,
            trans_qkvw=self._trans_qkvw,
        )


def _plural(kind: str) -> str:
    return f"{kind}es" if kind.endswith("bias") else f"{kind}s"


explained(globals())
spelled(globals())
