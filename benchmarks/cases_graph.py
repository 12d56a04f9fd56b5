"""The cases of programs: answers of trained models, batch by batch.

`wherry` runs the planned program after the passes of inference, `plan` the planned program as it was captured, `eager` calls the
layers, `onnx` is ONNX Runtime on the same architecture (exported by PyTorch). Weights are random in all of them.
"""
from __future__ import annotations

import io
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np


class Case:
    """Builds its step at the first call, and runs it at each."""

    def __init__(self, build: Callable[[], Callable[[], object]]) -> None:
        self.build: Callable[[], Callable[[], object]] | None = build

    def __call__(self) -> None:
        if self.build is not None:
            self.step, self.build = self.build(), None
        self.step()


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


CASES = {
    "MLP 64-128-64-10, 1": ("mlp", (1, 64)),
    "LeNet, 1 x 28 x 28": ("lenet", (1, 1, 28, 28)),
    "LeNet, 8 x 28 x 28": ("lenet", (8, 1, 28, 28)),
    "ResNet-18, 1 x 224 x 224": ("resnet18", (1, 3, 224, 224)),
    "ResNet-18, 8 x 224 x 224": ("resnet18", (8, 3, 224, 224)),
    "MobileNetV2, 1 x 224 x 224": ("mobilenet", (1, 3, 224, 224)),
    "MobileNetV2, 8 x 224 x 224": ("mobilenet", (8, 3, 224, 224)),
    "Transformer, 4 layers of 256, 8 x 128": ("transformer", (8, 128, 256)),
    "LSTM 64-128, 8 x 100": ("lstm", (8, 100, 64)),
}


# The models, written once for both libraries: `n` holds the layers under one name each.


def mlp(n):
    return n.sequence(n.linear(64, 128), n.relu(), n.linear(128, 64), n.relu(), n.linear(64, 10))


def lenet(n):
    return n.sequence(
        n.conv(1, 6, 3, 1, 1, bias=True), n.relu(), n.pool(2, 2, 0), n.conv(6, 16, 5, 1, 0, bias=True), n.relu(), n.pool(2, 2, 0), n.flatten(),
        n.linear(400, 120), n.linear(120, 84), n.linear(84, 10),
    )


def resnet18(n):
    class Block(n.Layer):
        def __init__(self, before, after, stride):
            super().__init__()
            self.path = n.sequence(
                n.conv(before, after, 3, stride, 1), n.norm(after), n.relu(), n.conv(after, after, 3, 1, 1), n.norm(after)
            )
            short = [n.conv(before, after, 1, stride, 0), n.norm(after)] if stride != 1 or before != after else []
            self.short = n.sequence(*short)
            self.relu = n.relu()

        def forward(self, x):
            return self.relu(self.path(x) + self.short(x))

    blocks, before = [], 64
    for after, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        blocks.append(Block(before, after, stride))
        before = after
    return n.sequence(
        n.conv(3, 64, 7, 2, 3), n.norm(64), n.relu(), n.pool(3, 2, 1), *blocks, n.mean(), n.flatten(), n.linear(512, 1000)
    )


def mobilenet(n):
    class Block(n.Layer):
        def __init__(self, before, after, stride, factor):
            super().__init__()
            wide = before * factor
            grow = [n.conv(before, wide, 1, 1, 0), n.norm(wide), n.relu6()] if factor != 1 else []
            self.path = n.sequence(
                *grow, n.conv(wide, wide, 3, stride, 1, groups=wide), n.norm(wide), n.relu6(), n.conv(wide, after, 1, 1, 0), n.norm(after)
            )
            self.short = stride == 1 and before == after

        def forward(self, x):
            return x + self.path(x) if self.short else self.path(x)

    blocks, before = [], 32
    for factor, after, count, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)
    ):
        for i in range(count):
            blocks.append(Block(before, after, stride if i == 0 else 1, factor))
            before = after
    return n.sequence(
        n.conv(3, 32, 3, 2, 1), n.norm(32), n.relu6(), *blocks, n.conv(320, 1280, 1, 1, 0), n.norm(1280), n.relu6(), n.mean(), n.flatten(),
        n.linear(1280, 1000),
    )


def transformer(n):
    return n.encoder(256, 8, 1024, 4)


def lstm(n):
    return n.lstm(64, 128)


MODELS = {f.__name__: f for f in (mlp, lenet, resnet18, mobilenet, transformer, lstm)}


def make(framework: str) -> dict[str, Case]:
    if framework not in ("onnx", "eager", "plan", "wherry"):
        return {}
    build = {"onnx": onnx_case, "eager": eager_case, "plan": planned_case, "wherry": passed_case}[framework]

    def case(name, shape):
        return Case(lambda: build(MODELS[name], shape))

    return {title: case(name, shape) for title, (name, shape) in CASES.items()}


# ONNX Runtime.


def torch_layers():
    """The layers of PyTorch under the names that the models have for them."""
    import torch
    from torch import nn

    class First(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x)[0]

    torch.manual_seed(0)
    return SimpleNamespace(
        Layer=nn.Module, sequence=nn.Sequential, linear=nn.Linear, relu=nn.ReLU, relu6=nn.ReLU6, norm=nn.BatchNorm2d, flatten=nn.Flatten,
        conv=lambda i, o, k, s, p, groups=1, bias=False: nn.Conv2d(i, o, k, s, p, groups=groups, bias=bias),
        pool=lambda k, s, p: nn.MaxPool2d(k, s, p), mean=lambda: nn.AdaptiveAvgPool2d(1),
        encoder=lambda d, heads, wide, count: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(d, heads, wide, batch_first=True), count, enable_nested_tensor=False
        ),
        lstm=lambda i, h: First(nn.LSTM(i, h, batch_first=True)),
    )


def onnx_case(model, shape):
    import onnxruntime
    import torch

    net = model(torch_layers()).eval()
    x = values(*shape)
    file = io.BytesIO()
    torch.backends.mha.set_fastpath_enabled(False)
    torch.onnx.export(net, (torch.from_numpy(x),), file, input_names=["x"], opset_version=17, dynamo=False)
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": x})


# Wherry.


def wherry_net(model):
    import wherry
    from wherry import nn

    class First(nn.Layer):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x)[0]

    layers = SimpleNamespace(
        Layer=nn.Layer, sequence=nn.Sequential, linear=nn.Linear, relu=nn.ReLU, relu6=nn.ReLU6, norm=nn.BatchNorm2D, flatten=nn.Flatten,
        conv=lambda i, o, k, s, p, groups=1, bias=False: nn.Conv2D(i, o, k, s, p, groups=groups, bias_attr=None if bias else False),
        pool=lambda k, s, p: nn.MaxPool2D(k, s, p), mean=lambda: nn.AdaptiveAvgPool2D(1),
        encoder=lambda d, heads, wide, count: nn.TransformerEncoder(nn.TransformerEncoderLayer(d, heads, wide), count),
        lstm=lambda i, h: First(nn.LSTM(i, h)),
    )
    wherry.seed(0)
    net = model(layers)
    net.eval()
    return net


def eager_case(model, shape):
    import wherry

    net, x = wherry_net(model), wherry.to_tensor(values(*shape))

    def step():
        with wherry.no_grad():
            return net(x)

    return step


def captured(model, shape):
    import wherry
    from wherry_program import Program
    from wherry_program.program.capture import capture

    net, program = wherry_net(model), Program()
    x = program.feed([-1, *shape[1:]], wherry.float32, "x")
    with capture(program), wherry.no_grad():
        program.fetches = [net(x)]
    return program, wherry.to_tensor(values(*shape))


def planned_case(model, shape):
    from wherry_program.run.executor import compiled

    program, x = captured(model, shape)
    run = compiled(program)
    return lambda: run(x)


def passed_case(model, shape):
    from wherry_program import passes
    from wherry_program.run.executor import compiled

    program, x = captured(model, shape)
    run = compiled(passes.default(program, passes.INFERENCE))
    return lambda: run(x)
