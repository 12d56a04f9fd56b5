"""The cases of training: one step of forward, backward and update; one pass over a DataLoader.

Each case is built when it is first called, so that a process that runs only one of them
(`run.py train --memory`) holds only that one. Each framework first trains one number for one step:
what it imports late belongs to no case.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

ROWS = 1_000_000  # of a table of embeddings, of which a step looks up 256
IMAGES = 320  # of one pass over a DataLoader, in batches of 32


def convert(model):
    """What trains: the model as it is. `cases_static` puts another function in this place."""
    return model


class Case:
    """Builds its step at the first call, and runs it at each."""

    def __init__(self, build: Callable[[], Callable[[], object]]) -> None:
        self.build: Callable[[], Callable[[], object]] | None = build

    def __call__(self) -> None:
        if self.build is not None:
            self.step, self.build = self.build(), None
        self.step()


def make(framework: str) -> dict[str, Case]:
    if framework == "numpy":  # nothing to compare with
        return {}
    return {"torch": torch_cases, "paddle": paddle_cases, "wherry": wherry_cases}[framework]()


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def classes(*shape: int, n: int = 10) -> np.ndarray:
    return np.random.default_rng(1).integers(0, n, shape)


class Pictures:
    """Images that are decoded already, as uint8 [224, 224, 3]; what is asked for is float32 [3, 224, 224], normalised."""

    def __init__(self) -> None:
        self.pictures = np.random.default_rng(0).integers(0, 256, (32, 224, 224, 3), dtype="uint8")

    def __len__(self) -> int:
        return IMAGES

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.int64]:
        picture = self.pictures[i % len(self.pictures)].transpose(2, 0, 1).astype("float32")
        picture -= 127.5
        picture /= 127.5
        return picture, np.int64(i % 10)


class RawPictures(Pictures):
    """The same as they are, for a loader that leaves arithmetic to the model."""

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.int64]:
        return self.pictures[i % len(self.pictures)], np.int64(i % 10)


def torch_cases():
    import torch
    import torch.nn.functional as F
    from torch import nn

    def step_of(model, x, label, optimizer, rank=2):
        x, label = torch.from_numpy(x), torch.from_numpy(label)
        update, run = optimizer(model.parameters()), convert(model)

        def step():
            logits = run(x)
            loss = F.cross_entropy(logits if rank == 2 else logits.flatten(0, 1), label.flatten())
            loss.backward()
            update.step()
            update.zero_grad()

        return step

    adam = lambda parameters: torch.optim.Adam(parameters, 1e-3)
    momentum = lambda parameters: torch.optim.SGD(parameters, 1e-2, 0.9)

    def mlp():
        model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        return step_of(model, values(32, 64), classes(32), adam)

    def lenet():
        model = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10),
        )
        return step_of(model, values(32, 1, 28, 28), classes(32), adam)

    def vgg():
        layers, channels = [], 3
        for width, count in ((32, 3), (64, 2), (128, 2)):
            for _ in range(count):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
                channels = width
            layers.append(nn.MaxPool2d(2, 2))
        model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 4 * 4, 10))
        return step_of(model, values(32, 3, 32, 32), classes(32), momentum)

    def transformer():
        layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
        model = nn.Sequential(nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 4), nn.Linear(256, 1000))
        return step_of(model, classes(8, 128, n=1000), classes(8, 128, n=1000), adam, rank=3)

    def inference():
        layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
        model = nn.Sequential(nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 4), nn.Linear(256, 1000)).eval()
        x = torch.from_numpy(classes(8, 128, n=1000))

        def answer():
            with torch.no_grad():
                return model(x)

        return answer

    def lstm():
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.head = nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 10)

            def forward(self, x):
                return self.head(self.lstm(x)[0][:, -1])

        return step_of(Model(), values(32, 32, 64), classes(32), adam)

    def embedding(sparse):
        table = nn.Embedding(ROWS, 64, sparse=sparse)
        update, x = torch.optim.SGD(table.parameters(), 0.1), torch.from_numpy(classes(256, n=ROWS))

        def step():
            table(x).square().mean().backward()
            update.step()
            update.zero_grad()

        return step

    def loader(pictures):
        batches = torch.utils.data.DataLoader(pictures, 32, num_workers=2, persistent_workers=True)
        return lambda: [None for _ in batches]

    step_of(nn.Linear(1, 2), values(1, 1), classes(1, n=2), adam)()
    return named(mlp, lenet, vgg, transformer, inference, lstm, embedding, loader)


def paddle_cases():
    import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

    import paddle

    paddle.set_device("cpu")
    return shared(paddle)


def wherry_cases():
    import wherry

    return shared(wherry)


def shared(paddle):
    """The cases of real Paddle and of wherry: one API."""
    nn = paddle.nn

    def step_of(model, x, label, optimizer):
        x, label = paddle.to_tensor(x), paddle.to_tensor(label)
        update, cross_entropy = optimizer(model.parameters()), nn.functional.cross_entropy
        run = convert(model)

        def step():
            loss = cross_entropy(run(x), label)
            loss.backward()
            update.step()
            update.clear_grad()

        return step

    adam = lambda parameters: paddle.optimizer.Adam(1e-3, parameters=parameters)
    momentum = lambda parameters: paddle.optimizer.Momentum(1e-2, 0.9, parameters)

    def mlp():
        model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        return step_of(model, values(32, 64), classes(32), adam)

    def lenet():
        return step_of(paddle.vision.models.LeNet(), values(32, 1, 28, 28), classes(32), adam)

    def vgg():
        layers, channels = [], 3
        for width, count in ((32, 3), (64, 2), (128, 2)):
            for _ in range(count):
                layers += [nn.Conv2D(channels, width, 3, padding=1), nn.BatchNorm2D(width), nn.ReLU()]
                channels = width
            layers.append(nn.MaxPool2D(2, 2))
        model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 4 * 4, 10))
        return step_of(model, values(32, 3, 32, 32), classes(32), momentum)

    def transformer():
        layer = nn.TransformerEncoderLayer(256, 8, 1024)
        model = nn.Sequential(nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 4), nn.Linear(256, 1000))
        return step_of(model, classes(8, 128, n=1000), classes(8, 128, n=1000), adam)

    def inference():
        layer = nn.TransformerEncoderLayer(256, 8, 1024)
        model = nn.Sequential(nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 4), nn.Linear(256, 1000))
        model.eval()
        x = paddle.to_tensor(classes(8, 128, n=1000))

        def answer():
            with paddle.no_grad():
                return model(x)

        return answer

    def lstm():
        class Model(nn.Layer):
            def __init__(self):
                super().__init__()
                self.lstm, self.head = nn.LSTM(64, 128), nn.Linear(128, 10)

            def forward(self, x):
                return self.head(self.lstm(x)[0][:, -1])

        return step_of(Model(), values(32, 32, 64), classes(32), adam)

    def embedding(sparse):
        table = nn.Embedding(ROWS, 64, sparse=sparse)
        update, x = paddle.optimizer.SGD(0.1, parameters=table.parameters()), paddle.to_tensor(classes(256, n=ROWS))

        def step():
            table(x).square().mean().backward()
            update.step()
            update.clear_grad()

        return step

    def loader(pictures):
        class Data(type(pictures), paddle.io.Dataset):
            pass

        batches = paddle.io.DataLoader(Data(), batch_size=32, num_workers=2, persistent_workers=True)
        return lambda: [None for _ in batches]

    step_of(nn.Linear(1, 2), values(1, 1), classes(1, n=2), adam)()
    return named(mlp, lenet, vgg, transformer, inference, lstm, embedding, loader)


def named(mlp, lenet, vgg, transformer, inference, lstm, embedding, loader):
    return {
        "step: MLP 64-128-64-10, batch 32, Adam": Case(mlp),
        "step: LeNet 28x28, batch 32, Adam": Case(lenet),
        "step: VGG-like 32x32, batch 32, Momentum": Case(vgg),
        "step: Transformer 4 x 256, batch 8 x 128, Adam": Case(transformer),
        "inference: Transformer 4 x 256, batch 8 x 128": Case(inference),
        "step: LSTM 64-128, batch 32 x 32, Adam": Case(lstm),
        "step: Embedding 1e6 x 64, batch 256, SGD, sparse": Case(lambda: embedding(True)),
        "step: Embedding 1e6 x 64, batch 256, SGD, dense": Case(lambda: embedding(False)),
        f"DataLoader: {IMAGES} images 3x224x224 float32, 2 workers": Case(lambda: loader(Pictures())),
        f"DataLoader: {IMAGES} images 224x224x3 uint8, 2 workers": Case(lambda: loader(RawPictures())),
    }
