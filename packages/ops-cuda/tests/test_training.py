"""Training on the emulated GPU gives the cpu's numbers."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor
from wherry_tensor import ops, to_tensor
from wherry_train import amp, optimizer
from wherry_train.io import DataLoader


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


def _train_with_amp(device, level, dtype, steps=3):
    wherry_tensor.set_device(device)
    wherry_tensor.seed(3)
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4))
    rng = np.random.default_rng(0)
    for parameter in model.parameters():
        parameter.set_value(to_tensor(rng.normal(0, 0.3, parameter.shape).astype("float32")))
    chosen = optimizer.Momentum(learning_rate=0.05, parameters=model.parameters(), multi_precision=level == "O2")
    if level == "O2":
        model, chosen = amp.decorate(models=model, optimizers=chosen, level="O2", dtype=dtype)
    scaler = amp.GradScaler(init_loss_scaling=1024.0, incr_every_n_steps=2)
    losses, scales = [], []
    for step in range(steps):
        images = to_tensor(rng.normal(size=(6, 8)).astype("float32"))
        labels = to_tensor(rng.integers(0, 4, (6, 1)))
        with amp.auto_cast(level=level, dtype=dtype):
            loss = nn.functional.cross_entropy(model(images).astype("float32"), labels)
            if step == 1:
                loss = loss * float("inf")  # whose step is left out
        scaler.scale(loss).backward()
        scaler.step(chosen)
        scaler.update()
        chosen.clear_grad()
        losses.append(float(loss.numpy()))
        scales.append(np.asarray(scaler.state_dict()["scale"]).item())
    return losses, scales, [p.astype("float32").numpy() for p in model.parameters()]


@pytest.mark.parametrize(("level", "dtype"), [("O1", "float16"), ("O2", "float16"), ("O1", "bfloat16")])
def test_mixed_precision_scales_skips_and_steps_as_on_the_cpu(gpu, level, dtype):
    if dtype not in ops.exp.kernel_dtypes("gpu"):
        pytest.skip("these kernels were compiled without bfloat16, which is computed as float16 is: WHERRY_CUDA_ALL_DTYPES=1 compiles it")
    expected_losses, expected_scales, expected = _train_with_amp("cpu", level, dtype)
    losses, scales, got = _train_with_amp("gpu", level, dtype)
    assert scales == expected_scales
    assert scales[1] < scales[0]
    np.testing.assert_allclose([losses[0], losses[2]], [expected_losses[0], expected_losses[2]], rtol=0, atol=2e-3)
    for one, other in zip(got, expected):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-3)  # a 16-bit float has three digits


def test_batches_of_a_loader_train_as_those_that_are_made_on_the_cpu(gpu):
    data = [(np.full(3, i, "float32") / 8, np.array([i % 2])) for i in range(8)]

    def train(device):
        wherry_tensor.set_device(device)
        model = nn.Linear(3, 2)
        model.weight.set_value(to_tensor(np.linspace(-1, 1, 6, dtype="float32").reshape(3, 2)))
        chosen = optimizer.SGD(learning_rate=0.1, parameters=model.parameters())
        for x, y in DataLoader(data, batch_size=2):
            nn.functional.cross_entropy(model(x), y).backward()
            chosen.step()
            chosen.clear_grad()
        return model.weight.numpy()

    np.testing.assert_allclose(train("gpu"), train("cpu"), rtol=0, atol=1e-6)
