"""Parts of transformers in one call, against the layers that they stand for; softmax with masks; marks of losses."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_nn import functional as F
from wherry_nn.functional import fused
from wherry_nn.incubate import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle
from wherry_nn.layers.fused import (
    FusedBiasDropoutResidualLayerNorm,
    FusedDropoutAdd,
    FusedFeedForward,
    FusedLinear,
    FusedMultiHeadAttention,
    FusedMultiTransformer,
    FusedTransformerEncoderLayer,
)


def near(a, b):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def filled(layer):
    """The layer with numbers in all parameters, also in biases and scales."""
    for parameter in layer.parameters():
        parameter.set_value(wt.randn(parameter.shape) * 0.5)
    return layer


def copied(fused_layer, plain):
    """The weights of nn.TransformerEncoderLayer in the fused one."""
    attention, ffn, whole = fused_layer.fused_attn, fused_layer.ffn, plain.self_attn
    projections = (whole.q_proj, whole.k_proj, whole.v_proj)
    attention.qkv_weight.set_value(wt.stack([wt.reshape(p.weight.t(), [2, 4, 8]) for p in projections]))
    attention.qkv_bias.set_value(wt.stack([wt.reshape(p.bias, [2, 4]) for p in projections]))
    pairs = [
        (attention.linear_weight, whole.out_proj.weight), (attention.linear_bias, whole.out_proj.bias),
        (ffn._linear1_weight, plain.linear1.weight), (ffn._linear1_bias, plain.linear1.bias),
        (ffn._linear2_weight, plain.linear2.weight), (ffn._linear2_bias, plain.linear2.bias),
    ]
    if plain.normalize_before:
        pairs += [(attention.pre_ln_scale, plain.norm1.weight), (attention.pre_ln_bias, plain.norm1.bias),
                  (ffn._ln1_scale, plain.norm2.weight), (ffn._ln1_bias, plain.norm2.bias)]
    else:
        pairs += [(attention.ln_scale, plain.norm1.weight), (attention.ln_bias, plain.norm1.bias),
                  (ffn._ln2_scale, plain.norm2.weight), (ffn._ln2_bias, plain.norm2.bias)]
    for mine, theirs in pairs:
        mine.set_value(theirs)


@pytest.mark.parametrize("before", [False, True])
def test_an_encoder_layer_is_the_plain_one_with_the_same_gradients(before):
    plain = filled(nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", normalize_before=before))
    layer = FusedTransformerEncoderLayer(8, 2, 16, 0.0, "gelu", normalize_before=before)
    copied(layer, plain)
    mask = wt.tril(wt.ones([3, 3])).astype("bool")
    one, other = (wt.to_tensor(np.random.default_rng(0).standard_normal((2, 3, 8)).astype("float32"), stop_gradient=False) for _ in "ab")
    mine, theirs = layer(one, mask), plain(other, mask)
    near(mine, theirs)
    (mine * mine).sum().backward()
    (theirs * theirs).sum().backward()
    np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_the_other_form_of_the_projections_gives_the_same():
    layer = filled(FusedMultiHeadAttention(8, 2, 0.0, 0.0))
    other = FusedMultiHeadAttention(8, 2, 0.0, 0.0, transpose_qkv_wb=True)
    assert other.qkv_weight.shape == [8, 24] and other.qkv_bias.shape == [24]
    other.qkv_weight.set_value(wt.reshape(layer.qkv_weight, [24, 8]).t())
    other.qkv_bias.set_value(wt.reshape(layer.qkv_bias, [24]))
    for name in ("linear_weight", "linear_bias", "ln_scale", "ln_bias"):
        getattr(other, name).set_value(getattr(layer, name))
    x = wt.randn([2, 3, 8])
    near(layer(x), other(x))


def test_a_cache_of_attention_grows_and_gives_what_the_whole_sequence_gives():
    layer, x = filled(FusedMultiHeadAttention(8, 2, 0.0, 0.0)), wt.randn([2, 3, 8])
    whole = layer(x, attn_mask=wt.tril(wt.ones([3, 3])).astype("bool"))
    cache = wt.zeros([2, 2, 2, 0, 4])
    for step in range(3):
        out, cache = layer(x[:, step : step + 1], cache=cache)
        near(out[:, 0], whole[:, step])
    assert cache.shape == [2, 2, 2, 3, 4]


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("width_last", [False, True])
def test_several_layers_are_attention_and_feed_forward_one_after_the_other(before, width_last):
    layers = filled(FusedMultiTransformer(8, 2, 16, normalize_before=before, num_layers=2, trans_qkvw=width_last))
    expected = x = wt.randn([2, 3, 8])
    for i in range(2):
        of = {kind: getattr(layers, f"{kind}_{i}") for kind in (
            "ln_scales", "ln_biases", "qkv_weights", "qkv_biases", "linear_weights", "linear_biases", "ffn_ln_scales", "ffn_ln_biases",
            "ffn1_weights", "ffn1_biases", "ffn2_weights", "ffn2_biases")}
        weight = of["qkv_weights"] if width_last else wt.transpose(of["qkv_weights"], [1, 2, 3, 0])
        expected = fused.fused_multi_head_attention(
            expected, weight, of["linear_weights"], before, of["ln_scales"], of["ln_biases"], of["ln_scales"], of["ln_biases"],
            qkv_bias=of["qkv_biases"], linear_bias=of["linear_biases"], training=False,
        )
        expected = fused.fused_feedforward(
            expected, of["ffn1_weights"], of["ffn2_weights"], of["ffn1_biases"], of["ffn2_biases"], of["ffn_ln_scales"],
            of["ffn_ln_biases"], of["ffn_ln_scales"], of["ffn_ln_biases"], activation="gelu", pre_layer_norm=before, training=False,
        )
    near(layers(x), expected)


def test_caches_of_several_layers_generate_step_by_step():
    layers, x = filled(FusedMultiTransformer(8, 2, 16, num_layers=2)), wt.randn([2, 4, 8])
    layers.eval()
    whole = layers(x, attn_mask=wt.tril(wt.ones([4, 4])).astype("bool"))
    caches = [wt.zeros([2, 2, 2, 4, 4]) for _ in range(2)]
    with no_grad():
        begun, caches = layers(x[:, :2], attn_mask=wt.tril(wt.ones([2, 2])).astype("bool"), caches=caches)
        near(begun, whole[:, :2])
        for step in (2, 3):
            out, caches = layers(x[:, step : step + 1], caches=caches, time_step=wt.to_tensor([step]))
            near(out[:, 0], whole[:, step])
        with pytest.raises(ValueError, match="a cache is full"):
            layers(x[:, :1], caches=caches, time_step=wt.to_tensor([4]))


def test_linear_parts_are_products_and_sums():
    x, w, b = wt.randn([3, 4]), wt.randn([4, 5]), wt.randn([5])
    near(fused.fused_matmul_bias(x, w, b), x @ w + b)
    near(fused.fused_matmul_bias(x.t(), w.t(), None, True, True), x @ w)
    near(fused.fused_linear(x, w.t(), b, transpose_weight=True), x @ w + b)
    near(fused.fused_linear_activation(x, w, b, activation="relu"), F.relu(x @ w + b))
    near(fused.fused_linear_activation(x, w, b), x @ w + b)
    layer = filled(FusedLinear(4, 5, transpose_weight=True))
    assert layer.weight.shape == [5, 4]
    near(layer(x), x @ layer.weight.t() + layer.bias)


def test_dropout_and_normalization_with_a_residual():
    x, y = wt.randn([3, 4]), wt.randn([3, 4])
    near(fused.fused_dropout_add(x, y, 0.5, training=False), x + y)
    near(fused.fused_dropout_add(x, y, 0.5, training=False, mode="downscale_in_infer"), x * 0.5 + y)
    assert set((FusedDropoutAdd()(wt.ones([1000]), wt.zeros([1000]))).tolist()) == {0.0, 2.0}
    layer = filled(FusedBiasDropoutResidualLayerNorm(4))
    layer.eval()
    near(layer(x, y), F.layer_norm(y + x + layer.linear_bias, 4, layer.ln_scale, layer.ln_bias))


def gradients(call, *inputs):
    """The result and the gradients of a call that draws the same numbers each time."""
    wt.seed(4)
    for x in inputs:
        x.stop_gradient = False
        x.clear_gradient()
    out = call(*inputs)
    (out * out).sum().backward()
    return [each.astype("float32").numpy() for each in (out, *(x.grad for x in inputs))]


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_dropout_with_a_residual_is_one_op_with_the_bits_of_two(mode, dtype):
    x, y, scale = (wt.randn(shape).astype(dtype) for shape in ([5, 33], [5, 33], [33]))
    pairs = [
        (lambda x, y: fused.fused_dropout_add(x, y, 0.3, mode=mode), lambda x, y: F.dropout(x, 0.3, mode=mode) + y),
        (
            lambda x, y: fused.fused_bias_dropout_residual_layer_norm(x, y, scale, scale, scale, 0.3, mode=mode),
            lambda x, y: F.layer_norm(y + F.dropout(x + scale, 0.3, mode=mode), 33, scale, scale),
        ),
    ]
    for together, apart in pairs:
        for a, b in zip(gradients(together, x, y), gradients(apart, x, y), strict=True):
            np.testing.assert_array_equal(a, b)
    assert fused.fused_dropout_add(x, y, 0.3, mode=mode).grad_fn.name() == "dropout_add"


def test_a_summand_that_is_broadcast_or_of_another_dtype_is_added_behind():
    x, y = wt.randn([4, 6]), wt.randn([6])
    for a, b in zip(gradients(fused.fused_dropout_add, x, y), gradients(lambda x, y: F.dropout(x) + y, x, y), strict=True):
        np.testing.assert_array_equal(a, b)
    assert fused.fused_dropout_add(x, y.astype("float64")).shape == [4, 6]
    assert set(fused.fused_dropout_add(wt.ones([100]), wt.zeros([100]), wt.to_tensor(0.5)).tolist()) == {0.0, 2.0}
    assert fused.fused_dropout_add(x, x, 1).tolist() == x.tolist()
    for p, error in (1.5, "between 0 and 1"), (-0.5, "between 0 and 1"):
        with pytest.raises(ValueError, match=error):
            fused.fused_dropout_add(x, x, p)
    with pytest.raises(ValueError, match="mode argument"):
        fused.fused_dropout_add(x, x, 0.5, mode="upscale")


def test_downscaled_dropout_of_attention_scales_the_weights_of_the_keys():
    x, qkv, linear = wt.randn([2, 3, 4]), wt.randn([3, 2, 2, 4]), wt.randn([4, 4])
    options = {"pre_layer_norm": True, "dropout_rate": 0.0, "training": False, "add_residual": False}
    whole = fused.fused_multi_head_attention(x, qkv, linear, attn_dropout_rate=0.25, **options)
    scaled = fused.fused_multi_head_attention(x, qkv, linear, attn_dropout_rate=0.25, mode="downscale_in_infer", **options)
    near(scaled, whole * 0.75)


def test_softmax_with_masks():
    x = wt.randn([2, 2, 3, 3])
    seen = wt.tril(wt.ones([3, 3]))
    near(softmax_mask_fuse(x, wt.reshape((seen - 1) * 1e4, [1, 1, 3, 3])), softmax_mask_fuse_upper_triangle(x))
    near(softmax_mask_fuse(x, wt.zeros([2, 1, 3, 3])), F.softmax(x))
    with pytest.raises(ValueError, match="four axes"):
        softmax_mask_fuse(wt.ones([2, 2]), wt.ones([2, 2]))
    with pytest.raises(TypeError):
        softmax_mask_fuse_upper_triangle(3)


@pytest.mark.parametrize(("reduction", "expected"), [("sum", 12.0), (0, 12.0), ("mean", 3.0), (1, 3.0), ("none", [1, 2, 3, 6]), (2, [1, 2, 3, 6])])
def test_identity_loss_reduces(reduction, expected):
    assert identity_loss(wt.to_tensor([1.0, 2.0, 3.0, 6.0]), reduction).tolist() == expected


@pytest.mark.parametrize("reduction", ["x", 3, None])
def test_identity_loss_refuses_other_reductions(reduction):
    with pytest.raises(ValueError, match="Unsupported reduction type"):
        identity_loss(wt.ones([2]), reduction)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: FusedMultiHeadAttention(4, 3), AssertionError, "divisible"),
        (lambda: FusedMultiHeadAttention(-1, 3), AssertionError, "greater than 0"),
        (lambda: FusedMultiHeadAttention(4, 2, need_weights=True), AssertionError, "need_weight"),
        (lambda: FusedMultiHeadAttention(4, 2, ring_id=0), NotImplementedError, "several devices"),
        (lambda: FusedMultiHeadAttention(4, 2)(wt.ones([1, 2, 4]), wt.ones([1, 2, 4])), ValueError, "another key"),
        (lambda: FusedMultiHeadAttention(4, 2)(wt.ones([1, 2, 5])), ValueError, "do not fit"),
        (lambda: FusedFeedForward(4, 8, activation="sinus"), ValueError, "no such activation"),
        (lambda: FusedMultiTransformer(4, 2, 8), AssertionError, "num_layers"),
        (lambda: FusedMultiTransformer(4, 2, 8, num_layers=2, ln_bias_attrs=[None]), AssertionError, "one entry per layer"),
        (lambda: FusedMultiTransformer(4, 2, 8, num_layers=1)(wt.ones([1, 2, 4]), seq_lens=3), NotImplementedError, "seq_lens"),
        (lambda: fused.fused_linear_activation(wt.ones([1, 2]), wt.ones([2, 2]), wt.ones([2]), activation="tanh"), ValueError, "activation"),
        (lambda: FusedTransformerEncoderLayer(4, 2, 8, weight_attr=[None]), ValueError, "expected 2"),
    ],
)
def test_a_wrong_argument_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()
