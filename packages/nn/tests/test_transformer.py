"""Attention of several heads, encoders, decoders: values, masks, caches, attributes."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn.initializer import Constant


@pytest.fixture(autouse=True)
def seed():
    wt.seed(5)


def tensor(*shape, seed=0):
    return wt.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def linear(layer, x):
    y = x @ layer.weight.numpy().astype(np.float64)
    return y if layer.bias is None else y + layer.bias.numpy()


def attended(layer, query, key, value, added=0.0):
    """Results and weights of a MultiHeadAttention, head by head."""
    q, k, v = linear(layer.q_proj, query), linear(layer.k_proj, key), linear(layer.v_proj, value)
    width, outs, weights = layer.head_dim, [], []
    added = np.broadcast_to(added, (len(q), layer.num_heads, q.shape[1], k.shape[1]))
    for h in range(layer.num_heads):
        part = slice(h * width, (h + 1) * width)
        scores = q[..., part] @ np.swapaxes(k[..., part], 1, 2) / np.sqrt(width) + added[:, h]
        weights.append(softmax(scores))
        outs.append(weights[-1] @ v[..., part])
    return linear(layer.out_proj, np.concatenate(outs, axis=2)), np.stack(weights, axis=1)


def normalized(layer, x):
    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return x * layer.weight.numpy() + layer.bias.numpy()


def varied(layer):
    """The layer with parameters that all differ, so that mixing them up shows."""
    rng = np.random.default_rng(9)
    for p in layer.parameters():
        p.set_value((rng.standard_normal(p.shape) * 0.4).astype(np.float32))
    return layer


def close(got, expected):
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-4, atol=1e-5)


# MultiHeadAttention.


MASKS = {
    "none": (None, 0.0),
    "bool": (np.tril(np.ones((5, 5), bool)), np.where(np.tril(np.ones((5, 5))), 0, -1e9)),
    "int": (np.tril(np.ones((5, 5), np.int64)), np.where(np.tril(np.ones((5, 5))), 0, -1e9)),
    "float": (np.arange(25, dtype=np.float32).reshape(5, 5) / 9, np.arange(25).reshape(5, 5) / 9),
    "float64": (np.arange(25, dtype=np.float64).reshape(5, 5) / 9, np.arange(25).reshape(5, 5) / 9),
    "heads": (np.arange(8, dtype=np.float32).reshape(2, 4, 1, 1) * np.arange(5, dtype=np.float32) / 9,
              np.arange(8).reshape(2, 4, 1, 1) * np.arange(5) / 9),
    "nothing is seen": (np.zeros((5, 5), bool), -1e12),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("need_weights", [False, True])
def test_attention_with_masks(mask, need_weights):
    given, added = MASKS[mask]
    layer, x = varied(nn.MultiHeadAttention(8, 4, need_weights=need_weights)), tensor(2, 5, 8)
    out = layer(x, x, x, None if given is None else wt.to_tensor(given))
    expected, weights = attended(layer, x.numpy(), x.numpy(), x.numpy(), added)
    if mask == "nothing is seen":  # float32 has no digits for scores beside -1e9: all keys count alike
        weights = np.full_like(weights, 0.2)
        values = np.broadcast_to(linear(layer.v_proj, x.numpy()).mean(axis=1, keepdims=True), (2, 5, 8))
        expected = linear(layer.out_proj, values)
    close(out[0] if need_weights else out, expected)
    if need_weights:
        close(out[1], weights)


def test_gradients_where_no_key_is_seen():
    # With the weights written out, and without them.
    found = []
    for need_weights in False, True:
        layer, x = varied(nn.MultiHeadAttention(8, 2, need_weights=need_weights)), tensor(1, 5, 8)
        out = layer(x, attn_mask=wt.zeros([5, 5], "bool"))
        (out[0] if need_weights else out).square().sum().backward()
        found.append([p.grad.numpy() for p in layer.parameters()])
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert np.abs(found[0][4]).max() > 0.1  # the projection of the values


def test_keys_and_values_of_other_widths():
    layer = varied(nn.MultiHeadAttention(8, 2, kdim=3, vdim=6, bias_attr=False))
    query, key, value = tensor(2, 5, 8), tensor(2, 7, 3, seed=1), tensor(2, 7, 6, seed=2)
    close(layer(query, key, value), attended(layer, query.numpy(), key.numpy(), value.numpy())[0])
    assert list(layer.state_dict()) == [f"{name}_proj.weight" for name in ("q", "k", "v", "out")]


def test_missing_keys_and_values_are_the_query():
    layer, x = nn.MultiHeadAttention(8, 2), tensor(2, 5, 8)
    np.testing.assert_array_equal(layer(x).numpy(), layer(x, x, x).numpy())


def test_weights_are_dropped_only_while_training():
    layer, x = nn.MultiHeadAttention(8, 2, dropout=0.5, need_weights=True), tensor(2, 40, 8)
    dropped = layer(x)[1].numpy()
    assert 0.4 < (dropped == 0).mean() < 0.6
    layer.eval()
    kept = layer(x)[1].numpy()
    np.testing.assert_allclose(dropped[dropped > 0], 2 * kept[dropped > 0], rtol=1e-5)


def test_a_growing_cache_gives_what_a_causal_mask_gives():
    layer, x = nn.MultiHeadAttention(8, 2), tensor(2, 5, 8)
    cache, steps = layer.gen_cache(x), []
    for t in range(5):
        out, cache = layer(x[:, t : t + 1], cache=cache)
        steps.append(out.numpy())
    whole = layer(x, attn_mask=wt.to_tensor(np.tril(np.ones((5, 5), bool))))
    np.testing.assert_allclose(np.concatenate(steps, axis=1), whole.numpy(), rtol=1e-4, atol=1e-5)
    assert isinstance(cache, nn.MultiHeadAttention.Cache) and cache.k.shape == [2, 2, 5, 4]


def test_a_static_cache_stands_in_for_keys_and_values():
    layer, x, memory = nn.MultiHeadAttention(8, 2), tensor(2, 3, 8), tensor(2, 7, 8, seed=1)
    cache = layer.gen_cache(memory, memory, nn.MultiHeadAttention.StaticCache)
    out, same = layer(x, cache=cache)
    assert same is cache
    np.testing.assert_array_equal(out.numpy(), layer(x, memory, memory).numpy())
    assert layer.gen_cache(memory, type=nn.MultiHeadAttention.StaticCache).k.shape == [2, 2, 7, 4]


def test_a_cache_may_begin_with_keys_and_values():
    layer, x = nn.MultiHeadAttention(8, 2), tensor(2, 3, 8)
    k, v = layer.compute_kv(x, x)
    cache = layer.gen_cache(k, v)
    assert cache.k is k
    layer.need_weights = True
    _, weights, cache = layer(x, cache=cache)
    assert weights.shape == [2, 2, 3, 6] and cache.v.shape == [2, 2, 6, 4]


# Layers.


def feed_forward(layer, x):
    return linear(layer.linear2, np.maximum(linear(layer.linear1, x), 0))


@pytest.mark.parametrize("normalize_before", [False, True])
def test_encoder_layer(normalize_before):
    layer, src = varied(nn.TransformerEncoderLayer(8, 2, 16, 0.0, normalize_before=normalize_before)), tensor(2, 5, 8)
    x = src.numpy().astype(np.float64)
    if normalize_before:
        y = normalized(layer.norm1, x)
        x = x + attended(layer.self_attn, y, y, y)[0]
        x = x + feed_forward(layer, normalized(layer.norm2, x))
    else:
        x = normalized(layer.norm1, x + attended(layer.self_attn, x, x, x)[0])
        x = normalized(layer.norm2, x + feed_forward(layer, x))
    close(layer(src), x)


@pytest.mark.parametrize("normalize_before", [False, True])
def test_decoder_layer(normalize_before):
    layer = varied(nn.TransformerDecoderLayer(8, 2, 16, 0.0, normalize_before=normalize_before))
    tgt, memory = tensor(2, 5, 8), tensor(2, 7, 8, seed=1)
    x, m = tgt.numpy().astype(np.float64), memory.numpy().astype(np.float64)
    causal = np.where(np.tril(np.ones((5, 5))), 0, -1e9)
    seen = np.random.default_rng(1).random((5, 7)) > 0.3
    if normalize_before:
        y = normalized(layer.norm1, x)
        x = x + attended(layer.self_attn, y, y, y, causal)[0]
        x = x + attended(layer.cross_attn, normalized(layer.norm2, x), m, m, np.where(seen, 0, -1e9))[0]
        x = x + feed_forward(layer, normalized(layer.norm3, x))
    else:
        x = normalized(layer.norm1, x + attended(layer.self_attn, x, x, x, causal)[0])
        x = normalized(layer.norm2, x + attended(layer.cross_attn, x, m, m, np.where(seen, 0, -1e9))[0])
        x = normalized(layer.norm3, x + feed_forward(layer, x))
    close(layer(tgt, memory, wt.to_tensor(causal.astype(np.float32)), wt.to_tensor(seen)), x)


def test_activation_is_found_by_name():
    relu, gelu = nn.TransformerEncoderLayer(8, 2, 16, 0.0), nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu")
    gelu.set_state_dict(relu.state_dict())
    assert gelu.activation is nn.functional.gelu
    assert not np.allclose(relu(tensor(1, 3, 8)).numpy(), gelu(tensor(1, 3, 8)).numpy())


def test_dropouts_are_told_apart():
    layer = nn.TransformerDecoderLayer(8, 2, 16, 0.1, attn_dropout=0.2, act_dropout=0.3)
    assert [layer.dropout.p, layer.dropout1.p, layer.dropout2.p, layer.dropout3.p] == [0.3, 0.1, 0.1, 0.1]
    assert layer.self_attn.dropout == layer.cross_attn.dropout == 0.2
    default = nn.TransformerEncoderLayer(8, 2, 16, 0.4)
    assert (default.self_attn.dropout, default.dropout.p, default.dropout1.p) == (0.4, 0.4, 0.4)


def values(layer, kind):
    """The first values of weights, or biases, by the part of the layer they are in."""
    return {name.split(".")[0]: float(p.numpy().flat[0]) for name, p in layer.named_parameters()
            if name.endswith(kind) and "norm" not in name}


@pytest.mark.parametrize("attr, expected", [
    (Constant(2.0), {"self_attn": 2, "cross_attn": 2, "linear1": 2, "linear2": 2}),
    ([Constant(2.0), Constant(3.0), Constant(4.0)], {"self_attn": 2, "cross_attn": 3, "linear1": 4, "linear2": 4}),
    ([False, Constant(3.0), None], {"cross_attn": 3, "linear1": 0, "linear2": 0}),
    (False, {}),
])
def test_attributes_of_the_parts(attr, expected):
    assert values(nn.TransformerDecoderLayer(8, 2, 16, bias_attr=attr), "bias") == expected


@pytest.mark.parametrize("count, encoder, decoder", [(1, [2, 2], [2, 2, 2]), (2, [2, 3], [2, 2, 3]), (3, [2, 4], [2, 3, 4])])
def test_attributes_of_a_whole_transformer(count, encoder, decoder):
    model = nn.Transformer(8, 2, 1, 1, 16, weight_attr=[Constant(2.0 + n) for n in range(count)])
    found = values(model.encoder.layers[0], "weight")
    assert [found["self_attn"], found["linear1"]] == encoder
    found = values(model.decoder.layers[0], "weight")
    assert [found["self_attn"], found["cross_attn"], found["linear1"]] == decoder


# Stacks.


def test_stack_makes_layers_like_the_first():
    first = nn.TransformerEncoderLayer(8, 2, 16, 0.3, "gelu", bias_attr=False)
    encoder = nn.TransformerEncoder(first, 3, nn.LayerNorm(8))
    assert encoder.layers[0] is first and len(encoder.layers) == encoder.num_layers == 3
    other = encoder.layers[2]
    assert (other.dropout1.p, other.activation, other.linear1.bias) == (0.3, first.activation, None)
    assert not np.array_equal(other.linear1.weight.numpy(), first.linear1.weight.numpy())
    assert list(encoder.state_dict())[-2:] == ["norm.weight", "norm.bias"]
    assert "layers.2.self_attn.out_proj.weight" in encoder.state_dict()


def test_stack_copies_a_layer_it_cannot_make():
    class Layer(nn.Layer):
        def __init__(self, size):
            super().__init__()
            self.linear = nn.Linear(size, size)

        def forward(self, src, src_mask=None):
            return self.linear(src)

    encoder = nn.TransformerEncoder(Layer(4), 2)
    assert encoder(wt.ones([1, 2, 4])).shape == [1, 2, 4]
    assert encoder.layers[0].linear.weight is not encoder.layers[1].linear.weight


def test_transformer_trains_every_parameter():
    model = nn.Transformer(8, 2, 2, 2, 16)
    model(tensor(2, 7, 8), tensor(2, 5, 8, seed=1)).square().sum().backward()
    assert all(np.abs(p.grad.numpy()).max() > 0 for p in model.parameters() if "k_proj.bias" not in p.name)


@pytest.mark.parametrize("normalize_before", [False, True])
def test_decoding_step_by_step_gives_what_decoding_at_once_gives(normalize_before):
    model = nn.Transformer(8, 2, 2, 2, 16, normalize_before=normalize_before)
    model.eval()
    tgt, memory = tensor(2, 5, 8), tensor(2, 7, 8, seed=1)
    mask = model.generate_square_subsequent_mask(5)
    for whole, cache, run in [
        (model.decoder(tgt, memory, mask), model.decoder.gen_cache(memory), lambda x, c: model.decoder(x, memory, cache=c)),
        (model.encoder(tgt, mask), model.encoder.gen_cache(tgt), lambda x, c: model.encoder(x, cache=c)),
    ]:
        steps = []
        for t in range(5):
            out, cache = run(tgt[:, t : t + 1], cache)
            steps.append(out.numpy())
        np.testing.assert_allclose(np.concatenate(steps, axis=1), whole.numpy(), rtol=1e-4, atol=1e-5)


def test_caches_of_a_decoder_by_kind():
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 3)
    growing, static = decoder.gen_cache(tensor(2, 7, 8), do_zip=True)
    assert [c.k.shape[2] for c in growing] == [0, 0, 0] and [c.k.shape[2] for c in static] == [7, 7, 7]


def test_custom_parts_are_used():
    encoder, decoder = nn.Identity(), nn.Identity()
    model = nn.Transformer(8, 2, custom_encoder=encoder, custom_decoder=decoder)
    assert model.encoder is encoder and model.decoder is decoder


def test_subsequent_mask():
    mask = nn.Transformer(8, 2, 1, 1, 16).generate_square_subsequent_mask(3)
    np.testing.assert_array_equal(mask.numpy(), np.triu(np.full((3, 3), -np.inf, np.float32), 1))
    assert nn.Transformer(8, 2, 1, 1, 16).generate_square_subsequent_mask(0).shape == [0, 0]


# Errors.


@pytest.mark.parametrize("make, error, match", [
    (lambda: nn.MultiHeadAttention(8, 3), AssertionError, "embed_dim must be divisible by num_heads"),
    (lambda: nn.MultiHeadAttention(0, 3), AssertionError, "Expected embed_dim to be greater than 0, but received 0"),
    (lambda: nn.MultiHeadAttention(8, 2.5), TypeError, "'num_heads' must be one integer"),
    (lambda: nn.MultiHeadAttention(8, 2)(wt.ones([2, 3, 7])), ValueError, r"'query' does not fit. Got shape \[2, 3, 7\]"),
    (lambda: nn.MultiHeadAttention(8, 2)(wt.ones([3, 8])), ValueError, r"expected \[batch, time, 8\]"),
    (lambda: nn.MultiHeadAttention(8, 2)(np.ones((2, 3, 8))), TypeError, "'query' must be a Tensor"),
    (lambda: nn.MultiHeadAttention(8, 2)(wt.ones([2, 3, 8]), attn_mask=[[1]]), TypeError, "'attn_mask' must be a Tensor"),
    (lambda: nn.MultiHeadAttention(8, 2)(wt.ones([2, 3, 8]), attn_mask=wt.ones([4, 4])), ValueError, "does not broadcast"),
    (lambda: nn.MultiHeadAttention(8, 2)(wt.ones([2, 3, 8]), wt.ones([2, 5, 8])), ValueError, "do not fit together"),
    (lambda: nn.MultiHeadAttention(8, 2)(wt.ones([2, 3, 8]), cache=(1, 2)), TypeError, "this is not a cache"),
    (lambda: nn.MultiHeadAttention(8, 2).gen_cache(wt.ones([2, 3, 8]), type=int), TypeError, "type is not a kind of cache"),
    (lambda: nn.TransformerEncoderLayer(8, 2, 16, activation="foo"), AttributeError, "no such function. Got 'foo'"),
    (lambda: nn.TransformerEncoderLayer(8, 2, 0), AssertionError, "Expected dim_feedforward to be greater than 0"),
    (lambda: nn.TransformerEncoderLayer(8, 2, 16, weight_attr=[None] * 3), AssertionError, "length of weight_attr should be 2"),
    (lambda: nn.TransformerDecoderLayer(8, 2, 16, bias_attr=[None] * 2), AssertionError, "length of bias_attr should be 3"),
    (lambda: nn.Transformer(8, 2, 1, 1, 16, weight_attr=[None] * 4), AssertionError, "should be 1 or 2 or 3"),
    (lambda: nn.TransformerEncoder(nn.functional.relu, 2), TypeError, "'encoder_layer' must be a layer"),
    (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)(wt.ones([2, 3, 8]), cache=[1]), ValueError,
     "Got 1 caches, expected a list of 2"),
    (lambda: nn.TransformerDecoderLayer(8, 2, 16)(wt.ones([2, 3, 8]), wt.ones([2, 3, 8]), cache=1), TypeError,
     "this is not a cache. Got int"),
    (lambda: nn.Transformer(8, 2, 1, 1, 16).generate_square_subsequent_mask(2.5), TypeError, "'length' must be one integer"),
])
def test_errors(make, error, match):
    with pytest.raises(error, match=match):
        make()
