"""Operations as layers."""
import numpy as np

import wherry_nn as nn
import wherry_ops_cpu.column
from wherry_quant import PTQ, QuantConfig, functional
from wherry_quant.observers import AbsmaxObserver
from wherry_tensor import ones, randn

wherry_ops_cpu.column.register()


def test_they_compute_as_the_functions_of_their_names():
    x, y = randn([2, 3]), randn([2, 3])
    a, b = x.numpy(), y.numpy()
    assert np.array_equal(functional.add()(x, y).numpy(), a + b) and np.array_equal(functional.subtract()(x, y).numpy(), a - b)
    assert np.array_equal(functional.multiply()(x, y).numpy(), a * b) and np.allclose(functional.divide()(x, y).numpy(), a / b)
    np.testing.assert_allclose(functional.matmul()(x, y, transpose_y=True).numpy(), a @ b.T, rtol=1e-5)
    assert functional.concat()([x, y], axis=1).shape == [2, 6] and functional.flatten()(x).shape == [6]
    assert functional.reshape()(x, [3, 2]).shape == [3, 2] and functional.transpose()(x, [1, 0]).shape == [3, 2]


def test_calibration_observes_what_they_get():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.plus = functional.add()

        def forward(self, x):
            return self.plus(x, x)

    net = Net()
    net.eval()
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(functional.add, activation=AbsmaxObserver())
    observed = PTQ(config).quantize(net)
    observed(ones([3]) * 4.0)
    assert [float(layer.scales()) for layer in observed.sublayers() if hasattr(layer, "scales")] == [4.0]
