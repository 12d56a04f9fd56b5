"""Trains whole models in one framework, and exchanges files with the other.

    python training_worker.py wherry|paddle curve MODEL WEIGHTS.npz RESULT.json
    python training_worker.py wherry|paddle begin FOLDER RESULT.json
    python training_worker.py wherry|paddle resume FOLDER RESULT.json

`curve` writes the weights if they are not there yet, and starts from them otherwise. `begin` trains, saves
into FOLDER and trains on; `resume` loads what is in FOLDER and trains on. `test_training.py` compares.
"""
from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np

STEPS = 20


def resnet18(paddle, classes=10):
    """He et al. (2016), for images of 32 x 32: the first convolution has no stride, and no pooling follows it."""
    nn = paddle.nn

    class Block(nn.Layer):
        def __init__(self, channels, width, stride):
            super().__init__()
            self.conv1 = nn.Conv2D(channels, width, 3, stride, 1, bias_attr=False)
            self.bn1 = nn.BatchNorm2D(width)
            self.conv2 = nn.Conv2D(width, width, 3, 1, 1, bias_attr=False)
            self.bn2 = nn.BatchNorm2D(width)
            self.relu = nn.ReLU()
            self.shortcut = nn.Identity() if stride == 1 and channels == width else nn.Sequential(
                nn.Conv2D(channels, width, 1, stride, bias_attr=False), nn.BatchNorm2D(width))

        def forward(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(y + self.shortcut(x))

    blocks, channels = [], 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [Block(channels, width, stride), Block(width, width, 1)]
        channels = width
    return nn.Sequential(nn.Conv2D(3, 64, 3, 1, 1, bias_attr=False), nn.BatchNorm2D(64), nn.ReLU(), *blocks,
                         nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(512, classes))


def transformer(paddle, symbols=20, width=32):
    """Two encoder layers and two decoder layers that learn to reverse sequences. Dropout is off: both compute the same."""
    nn = paddle.nn

    class Reverser(nn.Layer):
        def __init__(self):
            super().__init__()
            self.source, self.target, self.places = nn.Embedding(symbols, width), nn.Embedding(symbols, width), nn.Embedding(16, width)
            self.transformer = nn.Transformer(width, 4, 2, 2, 64, dropout=0.0)
            self.head = nn.Linear(width, symbols)

        def forward(self, source, target):
            places = self.places(paddle.arange(source.shape[1]))
            mask = self.transformer.generate_square_subsequent_mask(target.shape[1])
            return self.head(self.transformer(self.source(source) + places, self.target(target) + places, tgt_mask=mask))

    return Reverser()


def convolutional(paddle):
    nn = paddle.nn
    return nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.LayerNorm(8 * 16),
                         nn.Linear(8 * 16, 10))


def picture_loss(paddle, model, size, batch):
    """The same pictures at every step: with new ones rounding grows tenfold from step to step."""
    rng = np.random.default_rng(0)
    x = paddle.to_tensor(rng.standard_normal((batch, 3, size, size)).astype("float32"))
    y = paddle.to_tensor(rng.integers(0, 10, batch))
    return lambda: paddle.nn.functional.cross_entropy(model(x), y)


def reversal_loss(paddle, model):
    rng = np.random.default_rng(0)
    source = rng.integers(1, 20, (8, 10))
    target = np.concatenate([np.zeros((8, 1), "int64"), source[:, :0:-1]], 1)
    source, target, wanted = (paddle.to_tensor(a) for a in (source, target, source[:, ::-1].copy()))
    return lambda: paddle.nn.functional.cross_entropy(model(source, target), wanted)


def train(loss_of, optimizer, scheduler, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        scheduler.step()
        losses.append(float(loss))
    return losses


def curve(paddle, name, weights):
    lr = paddle.optimizer.lr
    if name == "resnet18":
        model = resnet18(paddle)
        scheduler = lr.LinearWarmup(lr.CosineAnnealingDecay(0.002, STEPS), 5, 0.0, 0.002)
        optimizer = paddle.optimizer.Momentum(scheduler, 0.9, model.parameters(), weight_decay=5e-4)
        loss_of = picture_loss(paddle, model, 32, 8)
    else:
        model = transformer(paddle)
        scheduler = lr.NoamDecay(32, 10, 0.1)
        optimizer = paddle.optimizer.AdamW(scheduler, parameters=model.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0))
        loss_of = reversal_loss(paddle, model)
    if os.path.exists(weights):
        with np.load(weights) as saved:
            missing, unexpected = model.set_state_dict(dict(saved.items()))
        assert not missing and not unexpected, (missing, unexpected)
    else:
        np.savez(weights, **{key: value.numpy() for key, value in model.state_dict().items()})
    losses = train(loss_of, optimizer, scheduler, STEPS)
    model.eval()
    return {"losses": losses, "evaluated": float(loss_of())}


def parts(paddle):
    with paddle.utils.unique_name.guard():
        model = convolutional(paddle)
        scheduler = paddle.optimizer.lr.StepDecay(0.01, 4, 0.5)
        optimizer = paddle.optimizer.Adam(scheduler, parameters=model.parameters(), weight_decay=0.01)
    return model, scheduler, optimizer, picture_loss(paddle, model, 8, 6)


def objects(paddle):
    """Nested objects as programs save them beside weights."""
    return {"epoch": 3, "best": 0.25, "names": ["a", "b"], "history": [{"loss": 1.5}, {"loss": 0.5}],
            "array": np.arange(6.0).reshape(2, 3),
            "tensors": [paddle.arange(3), (paddle.ones([2, 2]), None)], "half": paddle.ones([2]).astype("float16"),
            "flag": paddle.to_tensor([True, False])}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if hasattr(value, "stop_gradient"):
        return ["tensor", str(value.dtype).split(".")[-1].lower(), np.asarray(value.numpy(), "float64").tolist()]
    return ["array", str(value.dtype), value.tolist()] if isinstance(value, np.ndarray) else value


def begin(paddle, folder):
    model, scheduler, optimizer, loss_of = parts(paddle)
    train(loss_of, optimizer, scheduler, 6)
    paddle.save(model.state_dict(), f"{folder}/model.pdparams")
    paddle.save(optimizer.state_dict(), f"{folder}/model.pdopt")
    paddle.save(objects(paddle), f"{folder}/objects.pd")
    paddle.save(paddle.arange(5), f"{folder}/tensor.pd")
    return {"losses": train(loss_of, optimizer, scheduler, 10), "rate": optimizer.get_lr(),
            "objects": plain(paddle.load(f"{folder}/objects.pd")), "arrays": plain(paddle.load(f"{folder}/objects.pd", return_numpy=True)),
            "tensor": plain(paddle.load(f"{folder}/tensor.pd"))}


def resume(paddle, folder):
    model, scheduler, optimizer, loss_of = parts(paddle)
    missing, unexpected = model.set_state_dict(paddle.load(f"{folder}/model.pdparams"))
    assert not missing and not unexpected, (missing, unexpected)
    optimizer.set_state_dict(paddle.load(f"{folder}/model.pdopt"))
    return {"losses": train(loss_of, optimizer, scheduler, 10), "rate": optimizer.get_lr(),
            "objects": plain(paddle.load(f"{folder}/objects.pd")), "arrays": plain(paddle.load(f"{folder}/objects.pd", return_numpy=True)),
            "tensor": plain(paddle.load(f"{folder}/tensor.pd"))}


def main() -> None:
    framework, task, *arguments, target = sys.argv[1:]
    paddle = importlib.import_module(framework)
    paddle.set_device("cpu")
    paddle.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {"curve": curve, "begin": begin, "resume": resume}[task](paddle, *arguments)
    with open(target, "w") as file:
        json.dump(found, file)


main()
