"""Parts of language models in one call, against their definitions in NumPy."""
import math

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import grad
from wherry_nn.functional import language as L
from wherry_nn.layers.fused import FusedEcMoe

RNG = np.random.default_rng(0)


def drawn(*shape, dtype="float64", stop_gradient=True):
    return wt.to_tensor(RNG.normal(size=shape).astype(dtype), stop_gradient=stop_gradient)


def near(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_rms_norm_divides_by_the_root_of_the_mean_of_squares(axis):
    x, residual = drawn(2, 3, 4), drawn(2, 3, 4)
    shape = x.shape[axis % 3 :]
    weight, shift, bias = drawn(math.prod(shape)), drawn(*shape), drawn(4)
    out, summed = L.fused_rms_norm(x, weight, shift, 1e-5, axis, bias, residual)
    s = x.numpy() + bias.numpy() + residual.numpy()
    axes = tuple(range(axis % 3, 3))
    near(summed, s)
    near(out, s / np.sqrt((s * s).mean(axes, keepdims=True) + 1e-5) * weight.numpy().reshape(shape) + shift.numpy())
    assert L.fused_rms_norm(x, weight, None, 1e-5, axis)[1] is None


def test_rms_norm_of_float16_sums_squares_in_float32():
    x = wt.full([2, 8], 300.0, "float16")
    out, _ = L.fused_rms_norm(x, wt.ones([8], "float16"), None, 1e-6, 1)
    assert out.dtype is wt.float16 and out.tolist() == [[1.0] * 8] * 2


def test_layer_norm_takes_a_share_of_the_residual():
    x, residual, weight, bias = drawn(2, 3, 4), drawn(2, 3, 4), drawn(4), drawn(4)
    out, summed = L.fused_layer_norm(x, weight, None, 1e-5, 0.5, 2, bias, residual)
    s = x.numpy() + bias.numpy() + 0.5 * residual.numpy()
    near(summed, s)
    near(out, (s - s.mean(-1, keepdims=True)) / np.sqrt(s.var(-1, keepdims=True) + 1e-5) * weight.numpy())
    near(L.fused_layer_norm(x, None, None, 1e-5, 0.5, 2, bias, residual)[0], s)


def test_results_are_rounded_to_bytes_in_both_ways():
    x = wt.to_tensor([[0.5, 1.5, -0.5, -300.0]])
    for kind, expected in ((0, [0, 2, 0, -127]), (1, [1, 2, -1, -127])):
        out, _ = L.fused_layer_norm(x, None, None, 0.0, quant_scale=0.1, quant_round_type=kind, quant_max_bound=10.0, quant_min_bound=-127.0)
        assert out.dtype is wt.int8 and out.tolist() == [expected]


def turned(x, angle, neighbours):
    """Pairs of x as complex numbers, turned by `angle` [T, head_dim / 2]."""
    half = x.shape[-1] // 2
    pairs = x[..., ::2] + 1j * x[..., 1::2] if neighbours else x[..., :half] + 1j * x[..., half:]
    pairs = pairs * np.exp(1j * angle)[..., None, :]
    return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape) if neighbours else np.concatenate([pairs.real, pairs.imag], -1)


@pytest.mark.parametrize("neighbours", [True, False])
def test_positions_turn_queries_and_keys(neighbours):
    q, k = drawn(2, 5, 3, 6), drawn(2, 5, 1, 6)
    angle = np.arange(5)[:, None] * 10000.0 ** (-np.arange(0, 6, 2) / 6)
    out_q, out_k, out_v = L.fused_rotary_position_embedding(q, k, use_neox_rotary_style=neighbours)
    assert out_v is None
    near(out_q, turned(q.numpy(), angle, neighbours), 1e-6)  # angles are those of float32
    near(out_k, turned(k.numpy(), angle, neighbours), 1e-6)
    places = wt.to_tensor([[4, 3, 2, 1, 0], [0, 0, 2, 2, 9]])
    out, _, _ = L.fused_rotary_position_embedding(q, position_ids=places, use_neox_rotary_style=neighbours)
    near(out, turned(q.numpy(), places.numpy()[..., None] * angle[1], neighbours), 1e-5)


@pytest.mark.parametrize("shape", [[7, 6], [1, 7, 1, 6]])
def test_positions_turn_by_tables(shape):
    q, angle = drawn(2, 5, 3, 6), RNG.normal(size=(7, 3))
    table = np.repeat(angle, 2, -1)
    sin, cos = (wt.to_tensor(f(table).reshape(shape)) for f in (np.sin, np.cos))
    near(L.fused_rotary_position_embedding(q, sin=sin, cos=cos)[0], turned(q.numpy(), angle[:5], True))
    places = wt.to_tensor([[6, 5, 4, 3, 2], [1, 1, 0, 6, 6]])
    near(L.fused_rotary_position_embedding(q, None, q, sin, cos, places)[2], turned(q.numpy(), angle[places.numpy()], True))


def test_turning_and_normalizing_have_the_gradient_of_their_definition():
    q = drawn(1, 3, 2, 4, stop_gradient=False)
    out, _, _ = L.fused_rotary_position_embedding(q)
    near(grad((out * out).sum(), q)[0], 2 * q.numpy(), 1e-6)  # a turn keeps lengths
    x, weight = drawn(2, 4, stop_gradient=False), drawn(4, stop_gradient=False)
    direction, step = drawn(2, 4), 1e-6

    def loss(values):
        return (L.fused_rms_norm(values, weight, None, 1e-5, 1)[0] ** 3).sum()

    slope = (loss(x + step * direction) - loss(x - step * direction)) / (2 * step)
    near((grad(loss(x), x)[0] * direction).sum(), slope.numpy(), 1e-6)


def attention(q, k, v, allowed, added=0.0):
    scores = q @ k.T / math.sqrt(q.shape[-1]) + added
    scores = np.where(allowed, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize("causal", [False, True])
def test_sequences_of_different_lengths_see_their_own_keys(causal):
    q, k, v, mask = drawn(2, 4, 3, 5), drawn(2, 2, 6, 5), drawn(2, 2, 6, 5), drawn(2, 1, 3, 6)
    lengths, key_lengths = wt.to_tensor([[3], [2]], "int32"), wt.to_tensor([[5], [2]], "int32")
    out = L.variable_length_memory_efficient_attention(q, k, v, lengths, key_lengths, mask, None, causal, 1).numpy()
    for b in range(2):
        for head in range(4):
            for row in range(3):
                allowed = np.arange(6) < key_lengths[b].item() + 1
                if causal:
                    allowed &= np.arange(6) <= row + 1
                one = attention(q[b, head, row].numpy(), k[b, head // 2].numpy(), v[b, head // 2].numpy(), allowed, mask[b, 0, row].numpy())
                np.testing.assert_allclose(out[b, head, row], one if row < lengths[b].item() else np.zeros(5), rtol=1e-9)


def test_a_query_that_sees_nothing_has_finite_gradients():
    q = drawn(1, 1, 2, 4, stop_gradient=False)
    none = wt.to_tensor([[0]])
    out = L.variable_length_memory_efficient_attention(q, q, q, wt.to_tensor([[2]]), none)
    assert np.isfinite(grad(out.sum(), q)[0].numpy()).all()


def test_padding_may_hold_anything():
    q, k = drawn(2, 1, 4, 3, stop_gradient=False), drawn(2, 1, 5, 3, stop_gradient=False)
    dirty = [x.numpy() for x in (q, k)]
    dirty[0][0, :, 2:] = dirty[1][0, :, 3:] = dirty[1][1, :, 4:] = np.nan
    dirty = [wt.to_tensor(x, stop_gradient=False) for x in dirty]
    lengths, key_lengths = wt.to_tensor([[2], [4]]), wt.to_tensor([[3], [4]])
    clean, other = (L.variable_length_memory_efficient_attention(x, y, y, lengths, key_lengths) for x, y in ((q, k), dirty))
    np.testing.assert_array_equal(clean.numpy(), other.numpy())
    for mine, theirs in zip(grad(clean.sum(), [q, k]), grad(other.sum(), dirty), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize("by_lengths", [False, True])
def test_a_decoder_step_attends_to_all_steps_up_to_it(by_lengths):
    cache, bias = drawn(2, 2, 3, 6, 4), drawn(3, 3, 4)
    before, x = cache.numpy(), drawn(2, 36)
    lengths = [4, 2] if by_lengths else [3, 3]
    mask = drawn(2, 1, 1, 4)
    told = {"sequence_lengths": wt.to_tensor(np.array(lengths)[:, None])} if by_lengths else {"src_mask": mask}
    out, same = L.masked_multihead_attention(x, cache, bias, **told)
    assert same is cache and out.shape == [2, 12] and out.stop_gradient
    parts = x.numpy().reshape(2, 3, 3, 4) + bias.numpy()
    for b, step in enumerate(lengths):
        for head in range(3):
            k, v = (np.concatenate([before[i, b, head, :step], parts[b, i + 1, head][None]]) for i in (0, 1))
            added = 0.0 if by_lengths else mask[b, 0, 0].numpy()
            near(out[b, head * 4 : head * 4 + 4], attention(parts[b, 0, head], k, v, True, added))
            near(cache[0, b, head, : step + 1], k)
            near(cache[1, b, head, step + 1 :], before[1, b, head, step + 1 :])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda x: L.fused_rms_norm(x, wt.ones([4]), None, 1e-5, 3), "no such axis. Got begin_norm_axis=3"),
        (lambda x: L.fused_rms_norm(x, wt.ones([3]), None, 1e-5, 2), r"norm_weight has another size. Got shape \[3\], expected \[4\]"),
        (lambda x: L.fused_rotary_position_embedding(x), "q does not fit"),
        (lambda x: L.fused_rotary_position_embedding(wt.ones([1, 2, 1, 3])), "an even head_dim"),
        (lambda x: L.fused_rotary_position_embedding(wt.ones([1, 2, 1, 4]), sin=x), "sin and cos must be given together"),
        (lambda x: L.fused_rotary_position_embedding(wt.ones([1, 2, 1, 4]), sin=x, cos=x), "sin does not fit"),
        (lambda x: L.variable_length_memory_efficient_attention(x, x, x, x, x), "shapes do not fit"),
        (lambda x: L.masked_multihead_attention(x, x), "x and cache_kv do not fit"),
        (lambda x: L.masked_multihead_attention(wt.ones([1, 6]), wt.ones([2, 1, 1, 3, 2])), "the step is not known"),
        (lambda x: L.masked_multihead_attention(wt.ones([1, 6]), wt.ones([2, 1, 1, 3, 2]), src_mask=wt.ones([1, 1, 1, 4])), "the cache is full"),
        (lambda x: L.masked_multihead_attention(x, x, rotary_tensor=x), "Got rotary_tensor"),
        (lambda x: L.fused_ec_moe(x, x, x, x, x, x, "gelu"), "scatter_nd_add"),
        (lambda x: L.block_multihead_attention(x, x, x, x, x, x, x, x, x, x, x), "a cache of blocks is not available"),
        (lambda x: FusedEcMoe(4, 8, 2, "gelu"), "scatter_nd_add"),
    ],
)
def test_what_does_not_fit_is_named(call, match):
    with pytest.raises((ValueError, NotImplementedError), match=match):
        call(wt.ones([2, 3, 4]))


def test_layers_of_them_train():
    weight = nn.initializer.Constant(1.0)
    layer = nn.Linear(4, 4, weight_attr=weight)
    out, _ = L.fused_rms_norm(layer(drawn(3, 4, dtype="float32")), wt.ones([4]), None, 1e-5, 1)
    (out * wt.arange(4, dtype="float32")).sum().backward()
    assert layer.weight.grad is not None
