"""The cases of vision: ResNet-50 and MobileNetV3 beside PyTorch, operators on boxes and regions and loading a file beside Paddle. float32.

PyTorch's models are written here, with the layers and numbers of parameters of `paddle.vision.models`: torchvision is not needed.
"""
from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cases_graph import Case

IMAGES = (8, 3, 224, 224)
# MobileNetV3 (large), table 1 of Howard et al. (2019): kernel, expanded, channels, squeeze and excitation, hard swish, stride.
LARGE = (
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1),
    (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
    (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1),
)


def values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def make(framework: str) -> dict[str, Case]:
    if framework == "torch":
        return torch_cases()
    if framework not in ("wherry", "paddle"):
        return {}
    if framework == "wherry":
        import wherry as paddle
    else:
        import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

        import paddle
    return paddle_cases(paddle)


def torch_cases() -> dict[str, Case]:
    import torch
    from torch import nn

    class Block(nn.Module):
        """`path`, with what came in added to it."""

        def __init__(self, path: nn.Module, short: nn.Module | None, after: Callable | None) -> None:
            super().__init__()
            self.path, self.short, self.after = path, short, after

        def forward(self, x):
            y = self.path(x)
            y = y + self.short(x) if self.short is not None else y
            return y if self.after is None else self.after(y)

    class Squeeze(nn.Module):
        def __init__(self, channels: int, between: int) -> None:
            super().__init__()
            self.gate = nn.Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, between, 1), nn.ReLU(), nn.Conv2d(between, channels, 1), nn.Hardsigmoid()
            )

        def forward(self, x):
            return x * self.gate(x)

    def conv(before, after, kernel, stride=1, groups=1):
        return [nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(after)]

    def resnet50():
        layers, before = [*conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                step = stride if i == 0 else 1
                path = [*conv(before, width, 1), nn.ReLU(), *conv(width, width, 3, step), nn.ReLU(), *conv(width, 4 * width, 1)]
                short = nn.Identity() if i else nn.Sequential(*conv(before, 4 * width, 1, step))
                layers.append(Block(nn.Sequential(*path), short, torch.relu))
                before = 4 * width
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))

    def mobilenet_v3_large():
        layers, before = [*conv(3, 16, 3, 2), nn.Hardswish()], 16
        for kernel, wide, channels, squeezed, swish, stride in LARGE:
            act = nn.Hardswish if swish else nn.ReLU
            path = [*conv(before, wide, 1), act()] if before != wide else []
            path += [*conv(wide, wide, kernel, stride, wide), act()]
            path += [Squeeze(wide, (wide // 4 + 4) // 8 * 8)] if squeezed else []
            path += conv(wide, channels, 1)
            layers.append(Block(nn.Sequential(*path), nn.Identity() if stride == 1 and before == channels else None, None))
            before = channels
        return nn.Sequential(*layers, *conv(160, 960, 1), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(960, 1280),
                             nn.Hardswish(), nn.Dropout(0.2), nn.Linear(1280, 1000))

    images, labels = torch.from_numpy(values(*IMAGES)), torch.arange(IMAGES[0])

    def inference(model):
        net = model().eval()

        def run():
            with torch.no_grad():
                net(images)

        return run

    def step(model):
        net = model().train()
        optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)

        def run():
            nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
            optimizer.zero_grad()

        return run

    return models({"ResNet-50": resnet50, "MobileNetV3 (large)": mobilenet_v3_large}, inference, step)


def models(made: dict[str, Callable], inference: Callable, step: Callable) -> dict[str, Case]:
    found = {}
    for name, model in made.items():
        found[f"{name}, inference"] = Case(lambda model=model: inference(model))
        found[f"{name}, training step"] = Case(lambda model=model: step(model))
    return found


def paddle_cases(paddle) -> dict[str, Case]:
    """The cases of real Paddle and of wherry: one API."""
    images, labels = paddle.to_tensor(values(*IMAGES)), paddle.to_tensor(np.arange(IMAGES[0]))

    def inference(model):
        net = model()
        net.eval()

        def run():
            with paddle.no_grad():
                net(images)

        return run

    def step(model):
        net = model()
        net.train()
        optimizer = paddle.optimizer.Momentum(0.01, 0.9, parameters=net.parameters())

        def run():
            paddle.nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
            optimizer.clear_grad()

        return run

    def boxes(count: int, height: float, width: float):
        rng = np.random.default_rng(0)
        corner = rng.uniform(0, 0.8, (count, 2)) * (width, height)
        return np.concatenate([corner, corner + rng.uniform(0.02, 0.2, (count, 2)) * (width, height)], 1).astype("float32")

    def nms():
        given, scores = paddle.to_tensor(boxes(10**4, 1000, 1000)), paddle.to_tensor(np.random.default_rng(1).random(10**4, "float32"))
        return lambda: paddle.vision.ops.nms(given, 0.5, scores)

    def roi_align():
        x, given = paddle.to_tensor(values(2, 256, 50, 68)), paddle.to_tensor(boxes(256, 50, 68))
        counts = paddle.to_tensor(np.array([128, 128], "int32"))
        return lambda: paddle.vision.ops.roi_align(x, given, counts, 7)

    def deform_conv2d():
        x, weight = paddle.to_tensor(values(2, 64, 56, 56)), paddle.to_tensor(values(64, 64, 3, 3))
        offset, mask = paddle.to_tensor(values(2, 18, 56, 56)), paddle.to_tensor(np.random.default_rng(1).random((2, 9, 56, 56), "float32"))
        return lambda: paddle.vision.ops.deform_conv2d(x, offset, weight, padding=1, mask=mask)

    def loading():
        net = paddle.vision.models.resnet50()
        folder = tempfile.TemporaryDirectory()
        file = str(Path(folder.name, "resnet50.pdparams"))
        paddle.save(net.state_dict(), file)

        def run(folder=folder):  # which goes when the case goes
            net.set_state_dict(paddle.load(file))

        return run

    made = {"ResNet-50": paddle.vision.models.resnet50, "MobileNetV3 (large)": paddle.vision.models.mobilenet_v3_large}
    return models(made, inference, step) | {
        "nms of 10^4 boxes": Case(nms), "roi_align, 256 boxes of [2, 256, 50, 68] to 7 x 7": Case(roi_align),
        "deform_conv2d, [2, 64, 56, 56], 64 channels, 3 x 3, mask": Case(deform_conv2d), "resnet50: load and set_state_dict": Case(loading),
    }
