"""Rounding that looks at data."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_quant import PTQ, QuantConfig
from wherry_quant.adaptive import adaround, adaround_weight
from wherry_quant.aware import awq, awq_weight
from wherry_quant.observers import AbsMaxChannelWiseWeightObserver
from wherry_quant.rounding import gptq, gptq_weight
from wherry_quant.weight_only import quantize_weights, rounded_weight
from wherry_tensor import randn, seed, to_tensor

wherry_ops_cpu.column.register()


def inputs(rows, columns):
    """Inputs that hang together, as those of a network do."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, 8)) @ rng.standard_normal((8, columns)) + 0.1 * rng.standard_normal((rows, columns))).astype(np.float32)


def converted(net, x):
    """The model with weights of 4 bits by PTQ."""
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config([nn.Linear, nn.Conv2D], activation=None, weight=AbsMaxChannelWiseWeightObserver(quant_bits=4))
    net.eval()
    observed = PTQ(config).quantize(net)
    observed(x)
    return PTQ(config).convert(observed)


@pytest.mark.parametrize(("bits", "group"), [(4, 0), (4, 32), (8, 0)])
def test_results_change_less_than_by_rounding_to_nearest(bits, group):
    x = inputs(512, 64)
    weight = np.random.default_rng(1).standard_normal((64, 24)).astype(np.float32)
    nearest, found = rounded_weight(weight, bits, group), gptq_weight(weight, x.T @ x, bits, group)
    assert found.codes.dtype == nearest.codes.dtype and found.scales.shape == nearest.scales.shape

    def error(q):
        return np.square(x @ weight - x @ q.numpy()).sum()

    assert error(found) < 0.5 * error(nearest)


def test_without_correlations_it_is_rounding_to_nearest():
    weight = np.random.default_rng(1).standard_normal((16, 4)).astype(np.float32)
    assert np.array_equal(gptq_weight(weight, np.eye(16), 8).codes, rounded_weight(weight, 8).codes)


def test_inputs_that_never_come_need_no_weight():
    weight, moments = np.ones((8, 2), np.float32), np.diag([1.0] * 7 + [0.0])
    assert np.array_equal(gptq_weight(weight, moments, 8).numpy()[:7], weight[:7])


def test_models_are_nearer_than_with_nearest_weights():
    seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
    x = to_tensor(inputs(512, 64))
    expected = model(x).numpy()
    near, nearer = quantize_weights(model, 4, 32)(x).numpy(), gptq(model, [x], 4, 32)(x).numpy()
    assert np.square(nearer - expected).mean() < 0.7 * np.square(near - expected).mean()


def test_it_needs_batches():
    with pytest.raises(ValueError, match="no batch"):
        gptq(nn.Sequential(nn.Linear(16, 4)), [])
    with pytest.raises(ValueError, match="only 8 and 4"):
        gptq(nn.Sequential(nn.Linear(16, 4)), [randn([4, 16])], bits=3)


@pytest.mark.parametrize("bits", [3, 4, 8])
def test_the_error_of_the_results_is_below_that_of_rounding_to_nearest(bits):
    x = inputs(512, 64)
    weight = np.random.default_rng(1).standard_normal((64, 24)).astype(np.float32)
    high = 2 ** (bits - 1) - 1
    scales = np.abs(weight).max(0)
    found = adaround_weight(weight, x.T @ x, scales, bits)
    exact = weight / scales * high

    def error(q):
        return np.square(x @ (q - exact)).sum(0)

    assert (found == np.rint(found)).all() and np.abs(found - exact).max() < 1.0001 and np.abs(found).max() == high
    assert (error(found) <= error(np.rint(exact))).all() and error(found).sum() < 0.5 * error(np.rint(exact)).sum()


def test_without_correlations_nearest_is_best():
    weight = np.random.default_rng(1).standard_normal((16, 4)).astype(np.float32)
    scales = np.abs(weight).max(0)
    assert (adaround_weight(weight, np.eye(16), scales, 4) == np.rint(weight / scales * 7)).all()


def test_calibration_and_weights_alone_keep_these_whole_numbers():
    seed(0)
    net, x = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)), to_tensor(inputs(512, 64))
    rounded = adaround(net, [x[:256], x[256:]], bits=4)
    expected, on_grid = net(x).numpy(), rounded(x).numpy()
    nearest = quantize_weights(net, 4)(x).numpy()
    assert np.square(on_grid - expected).mean() < 0.5 * np.square(nearest - expected).mean()
    np.testing.assert_allclose(quantize_weights(rounded, 4)(x).numpy(), on_grid, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(converted(rounded, x)(x).numpy(), on_grid, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("options", [{"padding": 1}, {"stride": 2, "padding": [0, 1, 2, 1]}, {"dilation": 2}])
def test_convolutions(options):
    seed(5)
    net = nn.Sequential(nn.Conv2D(3, 6, 3, **options))
    smooth_images = to_tensor(np.cumsum(np.cumsum(np.random.default_rng(0).standard_normal((8, 3, 12, 12)), 2), 3).astype(np.float32))
    expected = net(smooth_images).numpy()
    found = converted(adaround(net, [smooth_images], bits=4), smooth_images)(smooth_images).numpy()
    nearest = converted(net, smooth_images)(smooth_images).numpy()
    assert np.square(found - expected).mean() < 0.5 * np.square(nearest - expected).mean()


def test_what_adaround_refuses():
    net = nn.Sequential(nn.Linear(4, 2))
    for call, message in (
        (lambda: adaround(net, []), "no batch"), (lambda: adaround(net, [randn([2, 4])], bits=1), "so many bits"),
        (lambda: adaround(net, [randn([2, 4])], steps=0), "steps=0"), (lambda: adaround(1, []), "not a layer"),
        (lambda: gptq(np.ones(3), []), "gptq: not a layer"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()


@pytest.mark.parametrize(("bits", "group"), [(4, 0), (4, 32)])
def test_limits_of_groups_change_results_less(bits, group):
    x = inputs(512, 64)
    weight = np.random.default_rng(1).standard_normal((64, 24)).astype(np.float32)
    nearest, found = rounded_weight(weight, bits, group), awq_weight(weight, x.T @ x, bits, group)

    def error(q):
        return np.square(x @ weight - x @ q.numpy()).sum()

    assert error(found) < 0.9 * error(nearest)


def test_weights_of_large_inputs_are_scaled_up_and_what_gives_them_down():
    seed(3)
    net = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    net[0].weight.set_value(np.where(np.arange(32) % 10 == 3, 40, 1).astype(np.float32))
    net.eval()
    x = randn([256, 32])
    small, plain = awq(net, [x], bits=4, group_size=16), quantize_weights(net, bits=4, group_size=16)

    def error(model):
        return float(((model(x) - net(x)) ** 2).mean())

    assert error(small) < 0.5 * error(plain)
    assert not np.array_equal(small[0].weight.numpy(), net[0].weight.numpy())


def test_what_others_read_keeps_its_scale():
    class Residual(nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm, self.linear = nn.LayerNorm(16), nn.Linear(16, 16)

        def forward(self, x):
            y = self.norm(x)
            return y + self.linear(y)

    net = Residual()
    small = awq(net, [randn([64, 16]) * to_tensor([9.0] + [1.0] * 15)])
    assert np.array_equal(small.norm.weight.numpy(), net.norm.weight.numpy())
    with pytest.raises(TypeError, match="not a layer"):
        awq(3, [])
    with pytest.raises(ValueError, match="no batch"):
        awq(net, [])
