"""Weights of 8 and 4 bits for activations in floats."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_quant.nn import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize
from wherry_quant.weight_only import quantize_weights
from wherry_tensor import randn, seed, to_tensor

wherry_ops_cpu.column.register()


@pytest.mark.parametrize(("algo", "dtype", "shape"), [("weight_only_int8", "int8", [32, 48]), ("weight_only_int4", "int4", [16, 48])])
def test_a_product_is_that_of_the_dequantized_weight(algo, dtype, shape):
    seed(0)
    weight, x, bias = randn([48, 32]), randn([2, 3, 48]), randn([32])
    q, scale = weight_quantize(weight, algo)
    assert q.shape == shape and q.dtype.name == "int8" and scale.shape == [32]
    back = weight_dequantize(q, scale, algo, "float32")
    high = 127 if dtype == "int8" else 7
    assert np.all(np.abs((back - weight).numpy()) <= np.abs(weight.numpy()).max(0) / high * 0.501)
    found = weight_only_linear(x, q, bias, scale, dtype)
    np.testing.assert_allclose(found.numpy(), (x @ back + bias).numpy(), rtol=1e-4, atol=1e-4)


def test_a_written_weight_is_taken_anew():
    weight, x = randn([16, 16]), randn([1, 16])
    q, scale = weight_quantize(weight)
    before = weight_only_linear(x, q, weight_scale=scale).numpy()
    q.set_value(-q)
    np.testing.assert_allclose(weight_only_linear(x, q, weight_scale=scale).numpy(), -before, rtol=1e-5, atol=1e-6)


def test_large_columns_are_multiplied_in_floats():
    seed(0)
    weight, x = randn([64, 16]), randn([4, 64])
    x[:, 5] = 90.0
    q, scale = weight_quantize(weight, "llm.int8")
    exact = (x @ weight_dequantize(q, scale, "llm.int8", "float32")).numpy()
    assert np.abs(llm_int8_linear(x, q, weight_scale=scale).numpy() - exact).max() < 0.3
    assert np.abs(llm_int8_linear(x, q, weight_scale=scale, threshold=1e9).numpy() - exact).max() > 1


@pytest.mark.parametrize(("bits", "group", "near"), [(8, 0, 0.02), (8, 32, 0.02), (4, 32, 0.25), (4, 0, 0.4)])
def test_models_with_small_weights_are_near(bits, group, near):
    seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 8))
    small, x = quantize_weights(model, bits, group), randn([16, 64])
    expected = model(x).numpy()
    assert np.abs(small(x).numpy() - expected).max() < near * np.abs(expected).max()
    assert type(model[0]) is nn.Linear and small[0].bits == bits
    other = quantize_weights(nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 8)), bits, group)
    other.set_state_dict(small.state_dict())
    assert np.array_equal(other(x).numpy(), small(x).numpy())


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda q, s: weight_quantize(randn([4, 4]), "int3"), "not known"),
        (lambda q, s: weight_quantize(randn([4])), "not a matrix"),
        (lambda q, s: weight_quantize(randn([4, 3]), "weight_only_int4"), "share a byte"),
        (lambda q, s: weight_only_linear(randn([1, 4]), q, weight_scale=s[:2]), "scales do not fit"),
        (lambda q, s: weight_only_linear(randn([1, 4]), q), "scales do not fit"),
        (lambda q, s: weight_only_linear(randn([1, 4]), q, weight_scale=s, weight_dtype="int2"), "other bits"),
        (lambda q, s: weight_only_linear(q, q, weight_scale=s), "not a tensor of floats"),
        (lambda q, s: llm_int8_linear(randn([1, 4]), s, weight_scale=s), "not whole numbers"),
        (lambda q, s: weight_only_linear(randn([1, 5]), q, weight_scale=s), "x"),
        (lambda q, s: quantize_weights(3), "not a layer"),
        (lambda q, s: quantize_weights(nn.Linear(16, 4), bits=3), "only 8 and 4"),
        (lambda q, s: quantize_weights(nn.Linear(16, 4), group_size=12), "multiple of 8"),
    ],
)
def test_wrong_arguments_are_named(call, match):
    q, scale = weight_quantize(to_tensor(np.eye(4, dtype=np.float32)))
    with pytest.raises((TypeError, ValueError), match=match):
        call(q, scale)
