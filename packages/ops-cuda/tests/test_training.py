"""Training on the emulated GPU gives the cpu's numbers."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor
from wherry_tensor import to_tensor
from wherry_train import optimizer


class LeNet(nn.Layer):
    """LeNet on images of 12 x 12, whose layers are those of the full one."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 3), nn.ReLU(), nn.AvgPool2D(2, 2)
        )
        self.classifier = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def _train(device, make_optimizer, steps=3):
    wherry_tensor.set_device(device)
    wherry_tensor.seed(3)
    model = LeNet()
    rng = np.random.default_rng(0)
    weights = [rng.normal(0, 0.2, p.shape).astype("float32") for p in model.parameters()]
    for parameter, value in zip(model.parameters(), weights):
        parameter.set_value(to_tensor(value))
    chosen = make_optimizer(model.parameters())
    losses = []
    for _ in range(steps):
        images = to_tensor(rng.normal(size=(4, 1, 12, 12)).astype("float32"))
        labels = to_tensor(rng.integers(0, 10, (4, 1)))
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        chosen.step()
        chosen.clear_grad()
        losses.append(float(loss.numpy()))
    return losses, [p.numpy() for p in model.parameters()]


@pytest.mark.filterwarnings("error:.*cpu.*")
@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam"])
def test_lenet_steps_on_the_gpu_are_those_of_the_cpu(gpu, name):
    def make(parameters):
        return getattr(optimizer, name)(learning_rate=0.05 if name != "Adam" else 0.003, parameters=parameters)

    expected_losses, expected = _train("cpu", make)
    losses, got = _train("gpu", make)
    # Sums of the same numbers in another order, three steps of them.
    np.testing.assert_allclose(losses, expected_losses, rtol=0, atol=1e-5)
    for one, other in zip(got, expected):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


def test_the_same_bits_from_run_to_run(gpu):
    def make(parameters):
        return optimizer.SGD(learning_rate=0.05, parameters=parameters)

    first, second = _train("gpu", make, steps=2), _train("gpu", make, steps=2)
    assert first[0] == second[0]
    assert all(one.tobytes() == other.tobytes() for one, other in zip(first[1], second[1]))
