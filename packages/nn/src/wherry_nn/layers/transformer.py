"""Multi-head attention, and transformer encoders and decoders."""
from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from wherry_nn import functional as F
from wherry_nn.container import LayerList
from wherry_nn.functional.attention import added_mask, attend
from wherry_nn.layer import Layer
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.norm import LayerNorm
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import MAX_RANK, integer, repeats, require_rank, require_room, require_tensor
from wherry_tensor.dtype import as_dtype, get_default_dtype
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = [
    "MultiHeadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


class Cache(NamedTuple):
    """Keys and values of earlier steps, `[batch, heads, time, width]`; each call appends its own."""

    k: Tensor
    v: Tensor


class StaticCache(NamedTuple):
    """Keys and values of a memory that does not change, `[batch, heads, time, width]`."""

    k: Tensor
    v: Tensor


class MultiHeadAttention(Layer):
    """Multi-head attention: each head has its own projections.

    Args:
        embed_dim: width of queries and outputs.
        num_heads: the number of heads; it divides the width.
        dropout: the probability with which a weight is dropped while training.
        kdim, vdim: widths of keys and values; None is `embed_dim`.
        need_weights: whether to return the weights of the keys as well.
        weight_attr: of the four projections: a ParamAttr or an initializer.
        bias_attr: likewise; False leaves the biases out.

    Shape:
        query `[batch, Tq, embed_dim]`, key `[batch, Tk, kdim]` and value `[batch, Tk, vdim]`; a missing key or value
        is the query. attn_mask broadcasts to `[batch, heads, Tq, Tk]`: bool or integer (True or 1 attends), or a
        floating number that is added to the scores. cache is a `Cache`, to which the keys and values of this call are
        appended, or a `StaticCache`, which replaces them. Returns `[batch, Tq, embed_dim]`, or a tuple of that,
        the weights `[batch, heads, Tq, Tk]` if they are needed, and the new cache if there is one.

    Raises:
        ValueError: a size is not positive, or the heads do not divide `embed_dim` (also an AssertionError); a shape
            does not fit.
        TypeError: a size is not an int, or an input is not a Tensor (also a ValueError).

    Source:
        `paddle.nn.MultiHeadAttention`; Vaswani et al. (2017), Attention is all you need.

    Examples:
        >>> layer = wherry.nn.MultiHeadAttention(128, 2)
        >>> query = wherry.ones([2, 4, 128])
        >>> layer(query, attn_mask=wherry.ones([4, 4], "bool")).shape
        [2, 4, 128]
        >>> step, cache = layer(query[:, :1], cache=layer.gen_cache(query))
        >>> cache.k.shape
        [2, 2, 1, 64]
    """

    Cache = Cache
    StaticCache = StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        self.embed_dim = _positive(embed_dim, "MultiHeadAttention", "embed_dim")
        self.num_heads = _positive(num_heads, "MultiHeadAttention", "num_heads")
        self.kdim = self.embed_dim if kdim is None else integer(kdim, "MultiHeadAttention", "kdim")
        self.vdim = self.embed_dim if vdim is None else integer(vdim, "MultiHeadAttention", "vdim")
        self.dropout = dropout
        self.need_weights = need_weights
        self.head_dim, rest = divmod(self.embed_dim, self.num_heads)
        if rest:
            raise AssertedArgumentError(
                f"MultiHeadAttention: embed_dim must be divisible by num_heads. Got embed_dim={embed_dim} and "
                f"num_heads={num_heads}, expected no remainder. Each head takes embed_dim / num_heads columns."
            )
        self.q_proj = Linear(self.embed_dim, self.embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, self.embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, self.embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(self.embed_dim, self.embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Tensor) -> Tensor:
        """`[batch, time, embed_dim]` as `[batch, heads, time, head_dim]`."""
        batch, time, _ = x.shape
        split = ops.reshape(x, shape=(batch, time, self.num_heads, self.head_dim))
        return ops.transpose(split, perm=(0, 2, 1, 3))

    def compute_kv(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Projected keys and values by head, as a `StaticCache` holds them.

        Args:
            key: `[batch, Tk, kdim]`.
            value: `[batch, Tk, vdim]`.

        Returns:
            Two tensors `[batch, heads, Tk, head_dim]`.

        Source:
            `paddle.nn.MultiHeadAttention.compute_kv`.

        Examples:
            >>> k, v = wherry.nn.MultiHeadAttention(8, 2).compute_kv(wherry.ones([1, 3, 8]), wherry.ones([1, 3, 8]))
            >>> k.shape
            [1, 2, 3, 4]
        """
        return (
            self._heads(self.k_proj(_sequence(key, "key", self.kdim))),
            self._heads(self.v_proj(_sequence(value, "value", self.vdim))),
        )

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """An initial cache.

        Args:
            key: for an empty `Cache`, a tensor with the batch size; for a `StaticCache`, the keys to project; with a value,
                the keys by head that a `Cache` begins with.
            value: likewise; for a `StaticCache`, None is the key.
            type: `MultiHeadAttention.Cache` or `MultiHeadAttention.StaticCache`.

        Raises:
            TypeError: `type` is neither (also a ValueError).

        Source:
            `paddle.nn.MultiHeadAttention.gen_cache`, which needs both key and value for a `StaticCache`.

        Examples:
            >>> layer = wherry.nn.MultiHeadAttention(8, 2)
            >>> layer.gen_cache(wherry.ones([3, 5, 8])).k.shape
            [3, 2, 0, 4]
        """
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if type is not Cache:
            raise InvalidTypeError(
                f"gen_cache: type is not a kind of cache. Got type={short(type)}, expected MultiHeadAttention.Cache or "
                f"MultiHeadAttention.StaticCache. Leave it out for one that grows."
            )
        if value is not None:
            return Cache(key, value)
        batch = require_rank(key, "gen_cache", 1, MAX_RANK, "key", "the batch first").shape[0]
        shape = (batch, self.num_heads, 0, self.head_dim)
        return Cache(*(ops.full(shape=shape, value=0.0, dtype=key.dtype) for _ in range(2)))

    def _prepare_qkv(self, query: Tensor, key: Tensor, value: Tensor, cache: Any = None) -> tuple[Any, ...]:
        """Query, keys and values by head, and the new cache if there is one. Subclasses of other libraries call and replace it."""
        q = self._heads(self.q_proj(_sequence(query, "query", self.embed_dim)))
        if isinstance(cache, StaticCache):
            return q, *cache, cache
        k, v = self.compute_kv(key, value)
        if isinstance(cache, Cache):
            cache = Cache(ops.concat(cache.k, k, axis=2), ops.concat(cache.v, v, axis=2))
            return q, *cache, cache
        if cache is not None:
            raise InvalidTypeError(
                f"MultiHeadAttention: this is not a cache. Got {type(cache).__name__}, expected what gen_cache makes. "
                f"Call gen_cache(...), or leave it out."
            )
        return q, k, v

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        q, k, v, *caches = self._prepare_qkv(query, query if key is None else key, query if value is None else value, cache)
        p = float(self.dropout) if self.training and self.dropout else 0.0
        mask = added_mask(attn_mask, q, "MultiHeadAttention")
        out, weights = attend(q, k, v, mask, 1.0 / math.sqrt(self.head_dim), False, p, self.need_weights)
        batch, _, time, _ = out.shape
        out = ops.reshape(ops.transpose(out, perm=(0, 2, 1, 3)), shape=(batch, time, self.embed_dim))
        results: list[Any] = [self.out_proj(out)]
        if self.need_weights:
            results.append(weights)
        results += caches
        return results[0] if len(results) == 1 else tuple(results)


def _sequence(x: Any, name: str, width: int) -> Tensor:
    shape = require_tensor(x, "MultiHeadAttention", name).shape
    if len(shape) == 3 and shape[2] == width:
        return x
    raise InvalidArgumentError(
        f"MultiHeadAttention: '{name}' does not fit. Got shape {shape}, expected [batch, time, {width}]. "
        f"The width is the one that the layer was made with."
    )


# One layer of an encoder or decoder.


class _TransformerLayer(Layer):
    """Base of encoder and decoder layers: attentions and two linear maps, each part with dropout, a residual sum and a
    LayerNorm."""

    _attentions: tuple[str, ...]
    self_attn: MultiHeadAttention
    cross_attn: MultiHeadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    dropout3: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        # What TransformerEncoder and TransformerDecoder make further layers from.
        self._config = {
            "d_model": d_model, "nhead": nhead, "dim_feedforward": dim_feedforward, "dropout": dropout,
            "activation": activation, "attn_dropout": attn_dropout, "act_dropout": act_dropout,
            "normalize_before": normalize_before, "weight_attr": weight_attr, "bias_attr": bias_attr,
        }
        kind, parts = type(self).__name__, len(self._attentions) + 1
        _check_sizes(kind, d_model, nhead, dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights = _attributes(weight_attr, parts, kind, "weight_attr")
        biases = _attributes(bias_attr, parts, kind, "bias_attr")
        for name, weight, bias in zip(self._attentions, weights, biases):
            setattr(self, name, MultiHeadAttention(d_model, nhead, dropout=attn_dropout, weight_attr=weight, bias_attr=bias))
        self.linear1 = Linear(d_model, dim_feedforward, weights[-1], biases[-1])
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[-1], biases[-1])
        for i in range(1, parts + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model))
        for i in range(1, parts + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)


class TransformerEncoderLayer(_TransformerLayer):
    """Encoder layer: self-attention, then two linear maps, each with dropout, a residual sum and a LayerNorm.

    Args:
        d_model: width of the sequence.
        nhead: heads of the attention.
        dim_feedforward: width between the two linear maps.
        dropout: probability of dropping, before each residual sum.
        activation: the name of a function of `nn.functional`, between the linear maps.
        attn_dropout: of the attention's weights; None is `dropout`.
        act_dropout: after the activation; None is `dropout`.
        normalize_before: whether the LayerNorm comes before the attention and the maps, not after the sums.
        weight_attr: a ParamAttr or an initializer for all, or a list of two: attention, linear maps.
        bias_attr: likewise; False leaves biases out (LayerNorms keep theirs).

    Shape:
        src `[batch, time, d_model]` to the same; src_mask broadcasts to `[batch, nhead, time, time]`, as `attn_mask` of
        `MultiHeadAttention`. With a cache, which `gen_cache` makes, to a pair of that and the new cache.

    Raises:
        ValueError: a size is not positive, or a list of attributes has another length (also an AssertionError).
        AttributeError: there is no such activation.

    Source:
        `paddle.nn.TransformerEncoderLayer`; Vaswani et al. (2017), Attention is all you need.

    Examples:
        >>> layer = wherry.nn.TransformerEncoderLayer(128, 2, 512)
        >>> layer(wherry.ones([2, 4, 128])).shape
        [2, 4, 128]
    """

    _attentions = ("self_attn",)

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        src_mask = added_mask(src_mask, src, "TransformerEncoderLayer")
        x = self.norm1(src) if self.normalize_before else src
        if cache is None:
            x = self.self_attn(x, x, x, src_mask)
        else:
            x, cache = self.self_attn(x, x, x, src_mask, cache)
        src = src + self.dropout1(x)
        if not self.normalize_before:
            src = self.norm1(src)
        x = self.norm2(src) if self.normalize_before else src
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        src = src + self.dropout2(x)
        if not self.normalize_before:
            src = self.norm2(src)
        return src if cache is None else (src, cache)

    def gen_cache(self, src: Tensor) -> Cache:
        """An empty cache for decoding step by step.

        Args:
            src: `[batch, ...]`; gives the batch size and the dtype.

        Source:
            `paddle.nn.TransformerEncoderLayer.gen_cache`.

        Examples:
            >>> wherry.nn.TransformerEncoderLayer(8, 2, 16).gen_cache(wherry.ones([3, 1, 8])).v.shape
            [3, 2, 0, 4]
        """
        return self.self_attn.gen_cache(src, type=Cache)


class TransformerDecoderLayer(_TransformerLayer):
    """Decoder layer: self-attention, attention to a memory, then two linear maps, each with dropout, a residual sum and a
    LayerNorm.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before: as for
            `TransformerEncoderLayer`.
        weight_attr: a ParamAttr or an initializer for all, or a list of three: attention to itself, attention to the
            memory, linear maps.
        bias_attr: likewise; False leaves biases out (LayerNorms keep theirs).

    Shape:
        tgt `[batch, Tt, d_model]` and memory `[batch, Tm, d_model]` to the shape of tgt; tgt_mask broadcasts to
        `[batch, nhead, Tt, Tt]` and memory_mask to `[batch, nhead, Tt, Tm]`, as `attn_mask` of `MultiHeadAttention`.
        With a cache, which `gen_cache` makes, to a pair of that and the new cache.

    Raises:
        ValueError: a size is not positive, or a list of attributes has another length (also an AssertionError).
        AttributeError: there is no such activation.

    Source:
        `paddle.nn.TransformerDecoderLayer`; Vaswani et al. (2017), Attention is all you need.

    Examples:
        >>> layer = wherry.nn.TransformerDecoderLayer(128, 2, 512)
        >>> layer(wherry.ones([2, 4, 128]), wherry.ones([2, 6, 128])).shape
        [2, 4, 128]
    """

    _attentions = ("self_attn", "cross_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        tgt_mask = added_mask(tgt_mask, tgt, "TransformerDecoderLayer")
        memory_mask = added_mask(memory_mask, memory, "TransformerDecoderLayer")
        if cache is not None and not (isinstance(cache, (list, tuple)) and len(cache) == 2):
            raise InvalidTypeError(
                f"TransformerDecoderLayer: this is not a cache. Got {type(cache).__name__}, expected a pair as gen_cache makes: "
                f"one that grows, and one of the memory. Call gen_cache(memory)."
            )
        x = self.norm1(tgt) if self.normalize_before else tgt
        if cache is None:
            x = self.self_attn(x, x, x, tgt_mask)
        else:
            x, grown = self.self_attn(x, x, x, tgt_mask, cache[0])
        tgt = tgt + self.dropout1(x)
        if not self.normalize_before:
            tgt = self.norm1(tgt)

        x = self.norm2(tgt) if self.normalize_before else tgt
        if cache is None:
            x = self.cross_attn(x, memory, memory, memory_mask)
        else:
            x, static = self.cross_attn(x, memory, memory, memory_mask, cache[1])
        tgt = tgt + self.dropout2(x)
        if not self.normalize_before:
            tgt = self.norm2(tgt)

        x = self.norm3(tgt) if self.normalize_before else tgt
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        tgt = tgt + self.dropout3(x)
        if not self.normalize_before:
            tgt = self.norm3(tgt)
        return tgt if cache is None else (tgt, (grown, static))

    def gen_cache(self, memory: Tensor) -> tuple[Cache, StaticCache]:
        """Caches for decoding step by step: an empty one, and the projected memory.

        Args:
            memory: `[batch, Tm, d_model]`.

        Source:
            `paddle.nn.TransformerDecoderLayer.gen_cache`.

        Examples:
            >>> grows, static = wherry.nn.TransformerDecoderLayer(8, 2, 16).gen_cache(wherry.ones([3, 5, 8]))
            >>> grows.k.shape, static.k.shape
            ([3, 2, 0, 4], [3, 2, 5, 4])
        """
        return (
            self.self_attn.gen_cache(memory, type=Cache),
            self.cross_attn.gen_cache(memory, memory, type=StaticCache),
        )


def _positive(size: Any, op_name: str, name: str) -> int:
    found = integer(size, op_name, name)
    if found <= 0:
        raise AssertedArgumentError(
            f"{op_name}: Expected {name} to be greater than 0, but received {size}. Got {name}={size}, expected a positive "
            f"int. Check the order of the arguments."
        )
    return found


def _check_sizes(op_name: str, d_model: Any, nhead: Any, dim_feedforward: Any) -> None:
    _positive(d_model, op_name, "d_model")
    _positive(nhead, op_name, "nhead")
    _positive(dim_feedforward, op_name, "dim_feedforward")


def _attributes(attr: Any, count: int, op_name: str, name: str) -> list[Any]:
    """One attribute for each part of a layer, from one for all or a list of them."""
    if not isinstance(attr, (list, tuple)):
        return [attr] * count
    if len(attr) != count:
        raise AssertedArgumentError(
            f"{op_name}: length of {name} should be {count} when it is a list/tuple. Got {len(attr)}, expected {count}: one "
            f"for each attention and one for the linear maps. Pass a single attribute for all."
        )
    return list(attr)


def _activation(name: Any) -> Callable[[Tensor], Tensor]:
    function = getattr(F, name, None) if isinstance(name, str) else None
    if function is None:
        raise AttributeError(
            f"activation: nn.functional has no such function. Got {name!r}, expected a name such as 'relu' or 'gelu'. "
            f"Check the spelling."
        )
    return function


# Stacks of layers.


class TransformerEncoder(Layer):
    """Transformer encoder: several encoder layers in a row.

    Args:
        encoder_layer: the first layer. The others are made from the same arguments, or are copies
            of it, if it is of another class that does not keep its arguments in `_config`.
        num_layers: how many layers in all.
        norm: a layer after the last one, or None.

    Shape:
        src `[batch, time, d_model]` to the same; src_mask broadcasts to `[batch, nhead, time, time]`. With a cache, a list
        with one for each layer, to a pair of that and the list of the new ones.

    Raises:
        TypeError: `encoder_layer` is not a Layer, or `num_layers` is not an int (also a ValueError).

    Source:
        `paddle.nn.TransformerEncoder`.

    Examples:
        >>> encoder = wherry.nn.TransformerEncoder(wherry.nn.TransformerEncoderLayer(128, 2, 512), 2)
        >>> encoder(wherry.ones([2, 4, 128])).shape
        [2, 4, 128]
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers = _repeated(encoder_layer, num_layers, "TransformerEncoder", "encoder_layer")
        self.num_layers = len(self.layers)
        self.norm = norm

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        src_mask = added_mask(src_mask, src, "TransformerEncoder")
        new_caches = []
        _check_caches(cache, self.num_layers, "TransformerEncoder")
        for i, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, src_mask=src_mask)
            else:
                src, new = layer(src, src_mask=src_mask, cache=cache[i])
                new_caches.append(new)
        if self.norm is not None:
            src = self.norm(src)
        return src if cache is None else (src, new_caches)

    def gen_cache(self, src: Tensor) -> list[Any]:
        """Empty caches, one for each layer.

        Args:
            src: `[batch, ...]`; gives the batch size and the dtype.

        Source:
            `paddle.nn.TransformerEncoder.gen_cache`.

        Examples:
            >>> encoder = wherry.nn.TransformerEncoder(wherry.nn.TransformerEncoderLayer(8, 2, 16), 2)
            >>> step = wherry.ones([1, 1, 8])
            >>> out, caches = encoder(step, cache=encoder.gen_cache(step))
            >>> len(caches), caches[0].k.shape
            (2, [1, 2, 1, 4])
        """
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(Layer):
    """Transformer decoder: several decoder layers in a row.

    Args:
        decoder_layer: the first layer. The others are made from the same arguments, or are copies
            of it, if it is of another class that does not keep its arguments in `_config`.
        num_layers: how many layers in all.
        norm: a layer after the last one, or None.

    Shape:
        tgt `[batch, Tt, d_model]` and memory `[batch, Tm, d_model]` to the shape of tgt; tgt_mask broadcasts to
        `[batch, nhead, Tt, Tt]` and memory_mask to `[batch, nhead, Tt, Tm]`. With a cache, a list with one for each layer,
        to a pair of that and the list of the new ones.

    Raises:
        TypeError: `decoder_layer` is not a Layer, or `num_layers` is not an int (also a ValueError).

    Source:
        `paddle.nn.TransformerDecoder`.

    Examples:
        >>> decoder = wherry.nn.TransformerDecoder(wherry.nn.TransformerDecoderLayer(128, 2, 512), 2)
        >>> decoder(wherry.ones([2, 4, 128]), wherry.ones([2, 6, 128])).shape
        [2, 4, 128]
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers = _repeated(decoder_layer, num_layers, "TransformerDecoder", "decoder_layer")
        self.num_layers = len(self.layers)
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        tgt_mask = added_mask(tgt_mask, tgt, "TransformerDecoder")
        memory_mask = added_mask(memory_mask, memory, "TransformerDecoder")
        new_caches = []
        _check_caches(cache, self.num_layers, "TransformerDecoder")
        for i, layer in enumerate(self.layers):
            if cache is None:
                tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)
            else:
                tgt, new = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, cache=cache[i])
                new_caches.append(new)
        if self.norm is not None:
            tgt = self.norm(tgt)
        return tgt if cache is None else (tgt, new_caches)

    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> list[Any]:
        """Caches for decoding step by step.

        Args:
            memory: `[batch, Tm, d_model]`.
            do_zip: False gives a pair for each layer, as `forward` takes them; True the growing caches of all
                layers, and then those of the memory.

        Source:
            `paddle.nn.TransformerDecoder.gen_cache`.

        Examples:
            >>> decoder = wherry.nn.TransformerDecoder(wherry.nn.TransformerDecoderLayer(8, 2, 16), 2)
            >>> memory = wherry.ones([1, 3, 8])
            >>> out, caches = decoder(memory[:, :1], memory, cache=decoder.gen_cache(memory))
            >>> caches[1][0].k.shape, caches[1][1].k.shape
            ([1, 2, 1, 4], [1, 2, 3, 4])
        """
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


def _repeated(layer: Any, count: Any, op_name: str, name: str) -> LayerList:
    if not isinstance(layer, Layer):
        raise InvalidTypeError(
            f"{op_name}: argument '{name}' must be a layer. Got {type(layer).__name__}, expected a Layer. "
            f"Write {op_name}({op_name}Layer(...), num_layers)."
        )
    count = repeats(count, op_name, "num_layers", 0, "the parameters of a layer")
    require_room(count * sum(p.nbytes for p in layer.parameters()), op_name, f"{count} layers")
    config = getattr(layer, "_config", None)
    others = (copy.deepcopy(layer) if config is None else type(layer)(**config) for _ in range(count - 1))
    return LayerList([layer, *others] if count > 0 else [])


def _check_caches(cache: Any, count: int, op_name: str) -> None:
    if cache is not None and not (isinstance(cache, (list, tuple)) and len(cache) == count):
        got = f"{len(cache)} caches" if isinstance(cache, (list, tuple)) else type(cache).__name__
        raise InvalidArgumentError(
            f"{op_name}: cache is not a list of caches, one for each layer. Got {got}, expected a list of {count}. "
            f"Make them with gen_cache."
        )


class Transformer(Layer):
    """Transformer: an encoder, and a decoder that attends to its output.

    Args:
        d_model: width of both sequences.
        nhead: heads of each attention.
        num_encoder_layers, num_decoder_layers: how many layers.
        dim_feedforward: width between the two linear maps of each layer.
        dropout: probability of dropping, before each residual sum.
        activation: the name of a function of `nn.functional`, between the linear maps.
        attn_dropout: of the attention's weights; None is `dropout`.
        act_dropout: after the activation; None is `dropout`.
        normalize_before: whether each LayerNorm comes before the attention or the maps, not after the sums.
        weight_attr: a ParamAttr or an initializer for all, or a list: of one for all; of two for attentions and
            linear maps; of three for attentions to itself, to the memory, and linear maps.
        bias_attr: likewise; False leaves biases out (LayerNorms keep theirs).
        custom_encoder, custom_decoder: layers to use instead; None makes stacks with a LayerNorm at their end.

    Shape:
        src `[batch, Ts, d_model]` and tgt `[batch, Tt, d_model]` to `[batch, Tt, d_model]`. src_mask broadcasts to
        `[batch, nhead, Ts, Ts]`, tgt_mask to `[batch, nhead, Tt, Tt]` and memory_mask to `[batch, nhead, Tt, Ts]`, as
        `attn_mask` of `MultiHeadAttention`.

    Raises:
        ValueError: a size is not positive, or a list of attributes has another length (also an AssertionError).
        AttributeError: there is no such activation.

    Source:
        `paddle.nn.Transformer`; Vaswani et al. (2017), Attention is all you need.

    Examples:
        >>> model = wherry.nn.Transformer(128, 2, 1, 1, 512)
        >>> src, tgt = wherry.ones([2, 4, 128]), wherry.ones([2, 6, 128])
        >>> model(src, tgt, tgt_mask=model.generate_square_subsequent_mask(6)).shape
        [2, 6, 128]
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__()
        _check_sizes("Transformer", d_model, nhead, dim_feedforward)
        encoder_weights, decoder_weights = _parts(weight_attr, "weight_attr")
        encoder_biases, decoder_biases = _parts(bias_attr, "bias_attr")
        common = d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            first = TransformerEncoderLayer(*common, encoder_weights, encoder_biases)
            self.encoder = TransformerEncoder(first, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            last = TransformerDecoderLayer(*common, decoder_weights, decoder_biases)
            self.decoder = TransformerDecoder(last, num_decoder_layers, LayerNorm(d_model))
        self.d_model = d_model
        self.nhead = nhead

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        memory = self.encoder(src, src_mask=src_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """The causal mask: each step sees itself and the steps before.

        Args:
            length: how many steps.

        Returns:
            `[length, length]` in the default dtype: 0 where a step may attend, -inf elsewhere.

        Source:
            `paddle.nn.Transformer.generate_square_subsequent_mask`.

        Examples:
            >>> print(wherry.nn.Transformer(8, 2, 1, 1, 16).generate_square_subsequent_mask(2).numpy())
            [[  0. -inf]
             [  0.   0.]]
        """
        count = integer(length, "generate_square_subsequent_mask", "length")
        dtype = as_dtype(get_default_dtype(), "generate_square_subsequent_mask")
        return ops.triu(ops.full(shape=(count, count), value=-math.inf, dtype=dtype), diagonal=1)


def _parts(attr: Any, name: str) -> tuple[Any, Any]:
    """What an encoder layer and a decoder layer get of an attribute, which may be a list of up to three."""
    if not isinstance(attr, (list, tuple)):
        return attr, attr
    if len(attr) == 1:
        return attr[0], attr[0]
    if len(attr) == 2:
        return list(attr), [attr[0], attr[0], attr[1]]
    if len(attr) == 3:
        return [attr[0], attr[2]], list(attr)
    raise AssertedArgumentError(
        f"Transformer: length of {name} should be 1 or 2 or 3 when it is a list/tuple. Got {len(attr)}, expected 1, 2 or 3. "
        f"See the description of the argument."
    )


explained(globals())
spelled(globals())
