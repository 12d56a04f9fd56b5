"""LeNet: its parts, and what it gives."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_vision.models import LeNet

SHAPES = {
    "features.0.weight": [6, 1, 3, 3],
    "features.0.bias": [6],
    "features.3.weight": [16, 6, 5, 5],
    "features.3.bias": [16],
    "fc.0.weight": [400, 120],
    "fc.0.bias": [120],
    "fc.1.weight": [120, 84],
    "fc.1.bias": [84],
    "fc.2.weight": [84, 10],
    "fc.2.bias": [10],
}


def test_parameters_have_paddles_names_and_shapes():
    assert {name: x.shape for name, x in LeNet().state_dict().items()} == SHAPES


def test_output_is_what_its_layers_give():
    model = LeNet(3)
    x = wt.randn([2, 1, 28, 28])
    y = model(x)
    assert y.shape == [2, 3]
    flat = LeNet(0)
    assert not hasattr(flat, "fc")
    flat.set_state_dict({name: p for name, p in model.state_dict().items() if name.startswith("features")})
    features = flat(x).numpy()
    assert features.shape == (2, 16, 5, 5)
    state = {name: p.numpy().astype("float64") for name, p in model.state_dict().items()}
    for i in range(3):
        features = features.reshape(2, -1) @ state[f"fc.{i}.weight"] + state[f"fc.{i}.bias"]
    np.testing.assert_allclose(y.numpy(), features, atol=1e-5)


def test_every_parameter_gets_a_gradient():
    model = LeNet()
    model(wt.randn([2, 1, 28, 28])).sum().backward()
    assert all(float(p.grad.abs().max()) > 0 for p in model.parameters())


def test_wrong_use_is_refused():
    with pytest.raises(TypeError, match="num_classes is not an int"):
        LeNet("10")
    with pytest.raises(ValueError, match="400"):
        LeNet()(wt.ones([1, 1, 32, 32]))
