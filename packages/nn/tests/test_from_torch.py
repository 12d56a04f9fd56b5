"""Weights of PyTorch in our layers: the layers then give PyTorch's outputs. The file was written by torch 2.13."""
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_nn.utils import from_torch

FILE = Path(__file__).parent / "data" / "torch_layers.npz"  # made by make_torch_layers.py


@pytest.fixture(scope="module")
def saved():
    with np.load(FILE) as file:
        return dict(file)


def state_of(saved, name):
    start = f"{name}|state|"
    return {key.removeprefix(start): value for key, value in saved.items() if key.startswith(start)}


LAYERS = {
    "network": lambda: nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.PReLU(4), nn.Flatten(), nn.Linear(16, 5)),
    "lstm": lambda: nn.LSTM(3, 4, 2, "bidirect"),
    "gru": lambda: nn.GRU(3, 4, 2),
    "rnn": lambda: nn.SimpleRNN(3, 4, direction="bidirect"),
    "cell": lambda: nn.GRUCell(3, 4),
    "encoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2),
    "decoder": lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2),
    "instance_norm": lambda: nn.InstanceNorm2D(3),
    "transposed": lambda: nn.Conv2DTranspose(3, 4, 3, stride=2),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("prefix", ["", "module."])
def test_a_layer_with_pytorchs_weights_gives_pytorchs_output(name, prefix, saved):
    layer = LAYERS[name]()
    left = from_torch({prefix + key: value for key, value in state_of(saved, name).items()}, layer)
    assert left == ([f"{prefix}1.num_batches_tracked"] if name == "network" else [])
    layer.eval()
    x = wt.to_tensor(saved[f"{name}|x"])
    y = layer(x, x / 2) if name == "decoder" else layer(x)
    y = y[0] if isinstance(y, tuple) else y
    np.testing.assert_allclose(y.numpy(), saved[f"{name}|y"], rtol=1e-5, atol=2e-6)  # other orders of summation


def test_the_state_of_a_training_and_tensors_are_taken(saved):
    state = {key: wt.to_tensor(value) for key, value in state_of(saved, "network").items()}
    layer = LAYERS["network"]()
    from_torch({"epoch": 3, "state_dict": state}, layer)
    np.testing.assert_array_equal(layer[4].weight.numpy(), saved["network|state|4.weight"].T)
    layer.to(dtype="float64")
    from_torch(state, layer)
    assert layer[4].weight.dtype == wt.float64


def test_all_that_does_not_fit_is_listed_and_nothing_is_written(saved):
    state = state_of(saved, "network")
    layer = nn.Sequential(nn.Conv2D(3, 4, 5), nn.BatchNorm2D(4), nn.Tanh(), nn.Flatten(), nn.Linear(16, 6), nn.Linear(2, 2))
    before = {name: value.tolist() for name, value in layer.state_dict().items()}
    with pytest.raises(ValueError) as caught:
        from_torch(state, layer)
    message = str(caught.value)
    for part in (
        "Got 6 that differ, of 10", "another shape: 0.weight [4, 3, 3, 3], for 0.weight [4, 3, 5, 5]",
        "another shape: 4.weight [5, 16], for 4.weight [16, 6] (which is transposed)", "another shape: 4.bias [5], for 4.bias [6]",
        "missing: 5.weight, for 5.weight", "missing: 5.bias", "left over: 2.weight [4]", "Nothing was written",
    ):
        assert part in message
    assert {name: value.tolist() for name, value in layer.state_dict().items()} == before


def test_long_lists_are_cut(saved):
    with pytest.raises(ValueError, match=r"\.\.\. and \d+ more"):
        from_torch(state_of(saved, "network"), LAYERS["decoder"]())


@pytest.mark.parametrize(
    ("state", "layer", "message"),
    [
        ([1], nn.Linear(1, 1), "state is not a dict of tensors. Got list"),
        ({1: np.zeros(1)}, nn.Linear(1, 1), "state is not a dict of tensors"),
        ({"a": 1, "optimizer": {}}, nn.Linear(1, 1), r"holds something other than tensors. Got 'a' \(int\), 'optimizer' \(dict\)"),
        ({}, nn.Linear, "layer is not a Layer. Got type"),
    ],
)
def test_other_things_are_refused(state, layer, message):
    with pytest.raises(TypeError, match=message):
        from_torch(state, layer)


def head(classes):
    return nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.PReLU(4), nn.Flatten(), nn.Linear(16, classes))


def test_a_head_of_another_size_is_left_out(saved):
    state, layer = state_of(saved, "network"), head(3)
    before = layer[4].weight.numpy()
    assert from_torch(state, layer, skip=["4"]) == ["1.num_batches_tracked", "4.weight", "4.bias"]
    np.testing.assert_array_equal(layer[0].weight.numpy(), state["0.weight"])
    np.testing.assert_array_equal(layer[4].weight.numpy(), before)
    with pytest.raises(ValueError, match=r"skip names nothing that is there. Got 'fc', expected names .* such as 0, 1, 2, 4"):
        from_torch(state, layer, skip=["fc"])
    with pytest.raises(ValueError, match=r"leave parts out with skip=\['fc'\], or take what fits with strict=False"):
        from_torch(state, layer)


def test_without_strict_what_does_not_fit_stays_and_is_listed(saved):
    state, layer = {**state_of(saved, "network"), "aux.weight": np.zeros(3, "float32")}, head(3)
    with pytest.warns(UserWarning, match=r"(?s)7 of 9 entries.*another shape: 4.weight \[5, 16\], for 4.weight \[16, 3\].*left over: aux.weight"):
        left = from_torch(state, layer, strict=False)
    assert sorted(left) == ["1.num_batches_tracked", "4.bias", "4.weight", "aux.weight"]
    np.testing.assert_array_equal(layer[0].weight.numpy(), state["0.weight"])


def test_set_state_dict_refuses_what_is_of_torch(saved):
    layer = LAYERS["network"]()
    before = layer[0].weight.numpy()
    with pytest.raises(ValueError, match=r"this is a state of PyTorch. Got '1.running_mean', a name of PyTorch.*from_torch\(state, layer\)"):
        layer.set_state_dict(state_of(saved, "network"))
    with pytest.raises(ValueError, match=r"Got '0.weight' of shape \[3, 2\], which is transposed"):
        nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3)).set_state_dict({
            "0.weight": np.zeros([3, 2], "float32"), "0.bias": np.zeros(3, "float32"),
            "1.weight": np.zeros([3, 3], "float32"), "1.bias": np.zeros(3, "float32"),
        })
    np.testing.assert_array_equal(layer[0].weight.numpy(), before)

    class State(dict):
        written_by = "PyTorch"

    square = State(weight=np.eye(2, dtype="float32"), bias=np.zeros(2, "float32"))
    with pytest.raises(ValueError, match="Got a file that torch.save wrote"):
        nn.Linear(2, 2).set_state_dict(square)
    assert nn.Linear(2, 2).set_state_dict(dict(square)) == ([], [])
    with pytest.warns(UserWarning, match="receives a shape"):  # of another network, as before
        nn.Linear(2, 3).set_state_dict({"weight": np.zeros([4, 5], "float32"), "bias": np.zeros(3, "float32")})
