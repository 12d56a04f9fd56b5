"""Training on a device whose memory the host cannot touch gives the cpu's numbers, bit for bit."""
import numpy as np
import pytest

import wherry_tensor as w
from wherry_nn import Conv2D, Flatten, Linear, MaxPool2D, ReLU, Sequential
from wherry_nn.functional import cross_entropy
from wherry_tensor.testing import reference
from wherry_train.io import DataLoader, TensorDataset
from wherry_train.optimizer import Adam

if reference.compiler() is None:
    pytest.skip("the reference device needs a C compiler", allow_module_level=True)


@pytest.fixture(params=["reference", "reference_cached"])
def elsewhere(request):
    reference.register(request.param, caching=request.param == "reference_cached")
    before = w.get_device()
    yield request.param
    w.set_device(before)


def lenet():
    return Sequential(
        Conv2D(1, 6, 3, padding=1), ReLU(), MaxPool2D(2), Conv2D(6, 16, 5), ReLU(), MaxPool2D(2),
        Flatten(), Linear(400, 120), Linear(120, 84), Linear(84, 10),
    )


def trained(device, steps=4):
    """Losses and weights of some steps."""
    w.set_device(device)
    w.seed(3)
    rng = np.random.default_rng(0)
    images = rng.random((steps * 8, 1, 28, 28)).astype("float32")
    labels = rng.integers(0, 10, (steps * 8, 1))
    network = lenet()
    optimizer = Adam(learning_rate=0.01, parameters=network.parameters())
    losses = []
    for x, y in DataLoader(TensorDataset([images, labels]), batch_size=8):
        assert x.place == y.place == network[0].weight.place
        loss = cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss)  # stays on the device: nothing waits for it
    return [float(loss) for loss in losses], [p.numpy() for p in network.parameters()]


def test_lenet_trains_as_on_the_cpu(elsewhere):
    losses, weights = trained(elsewhere)
    expected_losses, expected_weights = trained("cpu")
    assert losses == expected_losses
    for found, expected in zip(weights, expected_weights):
        np.testing.assert_array_equal(found, expected)


def test_layers_move_and_move_back(elsewhere):
    w.set_device("cpu")
    network = lenet()
    x = w.rand([2, 1, 28, 28])
    expected = network(x).numpy()
    network.to(elsewhere)
    assert all(p.place.is_custom_place() for p in network.parameters())
    np.testing.assert_array_equal(network(x.to(elsewhere)).numpy(), expected)
    network.to("cpu")
    np.testing.assert_array_equal(network(x).numpy(), expected)


def test_loader_puts_batches_where_places_says(elsewhere):
    w.set_device("cpu")
    data = TensorDataset([np.arange(6, dtype="float32").reshape(6, 1)])
    for batch in DataLoader(data, batch_size=3, places=elsewhere, num_workers=1):
        assert batch[0].place.is_custom_place() and batch[0].shape == [3, 1]
