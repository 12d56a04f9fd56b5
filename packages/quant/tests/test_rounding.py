"""Rounding that looks at data."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_quant.rounding import gptq, gptq_weight
from wherry_quant.weight_only import quantize_weights, rounded_weight
from wherry_tensor import randn, seed, to_tensor

wherry_ops_cpu.column.register()


def inputs(rows, columns):
    """Inputs that hang together, as those of a network do."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, 8)) @ rng.standard_normal((8, columns)) + 0.1 * rng.standard_normal((rows, columns))).astype(np.float32)


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
