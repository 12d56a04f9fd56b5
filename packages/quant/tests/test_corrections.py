"""SmoothQuant before calibration, bias correction after it."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_quant import PTQ, QuantConfig
from wherry_quant.corrections import correct_biases, smooth
from wherry_quant.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver
from wherry_tensor import ones, randn, seed, to_tensor

wherry_ops_cpu.column.register()


def calibrated(net, x, weight_bits=8):
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config([nn.Linear, nn.Conv2D], AbsmaxObserver(), AbsMaxChannelWiseWeightObserver(quant_bits=weight_bits))
    net.eval()
    observed = PTQ(config).quantize(net)
    observed(x)
    return PTQ(config).convert(observed)


def error(model, net, x):
    return float(((model(x) - net(x)) ** 2).mean())


def transformer_like():
    """A normalization with three columns that are forty times as large as the others, as language models have them."""
    seed(3)
    net = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    scale = np.ones(32, np.float32)
    scale[[3, 11, 20]] = 40.0
    net[0].weight.set_value(scale)
    net[1].weight.set_value(net[1].weight.numpy() / scale[:, None])
    net.eval()
    return net


def test_smoothing_keeps_results_and_lowers_the_error_of_rounding():
    net, x = transformer_like(), randn([256, 32])
    easier = smooth(net, [x])
    np.testing.assert_allclose(easier(x).numpy(), net(x).numpy(), rtol=1e-4, atol=1e-5)
    assert error(calibrated(easier, x), net, x) < 0.1 * error(calibrated(net, x), net, x)
    assert np.abs(easier[1].weight.numpy() - net[1].weight.numpy()).max() > 0.01  # the first is not the model itself


def test_smoothing_leaves_alone_what_others_read():
    class Residual(nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm, self.linear = nn.LayerNorm(8), nn.Linear(8, 8)

        def forward(self, x):
            y = self.norm(x)
            return y + self.linear(y)

    seed(1)
    net, x = Residual(), randn([16, 8]) * to_tensor([9.0] + [1.0] * 7)
    found = smooth(net, [x])
    assert (found(x).numpy() == net(x).numpy()).all() and (found.norm.weight.numpy() == 1).all()


def test_corrected_biases_lower_the_error_on_inputs_with_a_mean():
    seed(2)
    net = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 8, bias_attr=False))
    x = ones([256, 32]) * 2.0 + randn([256, 32]) * 0.1
    plain = calibrated(net, x, weight_bits=4)
    found = correct_biases(plain, net, [x[:128], x[128:]])
    assert error(found, net, x) < 0.2 * error(plain, net, x)
    np.testing.assert_allclose(found(x).mean(0).numpy(), net(x).mean(0).numpy(), atol=1e-4)
    assert plain[2].bias is None and found[2].bias.shape == [8]


def test_convolutions_are_corrected_by_channel():
    seed(4)
    net = nn.Sequential(nn.Conv2D(2, 4, 3, padding=1), nn.ReLU(), nn.Conv2D(4, 3, 3))
    x = ones([16, 2, 8, 8]) + randn([16, 2, 8, 8]) * 0.1
    plain = calibrated(net, x, weight_bits=4)
    found = correct_biases(plain, net, [x])
    assert error(found, net, x) < 0.5 * error(plain, net, x)
    np.testing.assert_allclose(found(x).mean([0, 2, 3]).numpy(), net(x).mean([0, 2, 3]).numpy(), atol=1e-4)


def test_what_is_refused():
    net = nn.Sequential(nn.Linear(4, 2))
    x = randn([4, 4])
    for call, message in (
        (lambda: smooth(net, []), "no batch"), (lambda: smooth(net, [x], alpha=2), "alpha=2"), (lambda: smooth(3, [x]), "not a layer"),
        (lambda: correct_biases(net, net, [x]), "nothing is rounded"), (lambda: correct_biases(calibrated(net, x), net, []), "no batch"),
        (lambda: correct_biases(calibrated(net, x), nn.Linear(4, 2), [x]), "no layer '0'"),
        (lambda: correct_biases(2, net, [x]), "not a layer. Got 2"), (lambda: correct_biases(net, -1.0, [x]), "not a layer. Got -1"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()
