"""The training steps of `cases_train` with captured models: `to_static` here, `torch.compile` there, and eager for comparison.

The first step of torch.compile runs a C++ compiler, for a minute or more of each case.
"""
from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import cases_graph
import cases_train
import numpy as np


def make(framework: str) -> dict[str, cases_train.Case]:
    if framework not in ("wherry", "eager", "torch"):
        return {}
    made = cases_train.make("wherry" if framework == "eager" else framework)  # trains a small model as it is
    if framework == "torch":
        import torch

        cases_train.convert = torch.compile
    elif framework == "wherry":
        import wherry

        cases_train.convert = wherry.jit.to_static
    found = {name: case for name, case in made.items() if name.startswith("step: ") and "Embedding" not in name}
    library = "torch" if framework == "torch" else "wherry"
    found |= {"step: ResNet-18, 4 of 64 x 64": cases_graph.Case(lambda: resnet18(library, 4, 64))}
    found |= {"call: ResNet-18, 1 of 224 x 224": cases_graph.Case(lambda: resnet18(library, 1, 224, step=False))}
    return found | {f"{name} of [2048, 1024]": cases_graph.Case(lambda name=name: chain(library, name)) for name in CHAINS}


# Element-wise functions of two tensors: one pass over memory as a program, one for each function as eager code.
CHAINS = {
    "relu(a + b)": lambda n, a, b: n.relu(a + b),
    "tanh(exp(a + b))": lambda n, a, b: n.tanh(n.exp(a + b)),
    "(a * b + a) * 0.5 - b * a": lambda n, a, b: (a * b + a) * 0.5 - b * a,
}


def chain(framework: str, name: str) -> Callable[[], object]:
    if framework == "torch":
        import torch as n

        a, b = (n.from_numpy(cases_graph.values(2048, 1024)) for _ in range(2))
    else:
        import wherry

        a, b = (wherry.to_tensor(cases_graph.values(2048, 1024)) for _ in range(2))
        n = SimpleNamespace(relu=wherry.nn.functional.relu, tanh=wherry.tanh, exp=wherry.exp)
    run = cases_train.convert(lambda a, b: CHAINS[name](n, a, b))
    return lambda: run(a, b)


def resnet18(framework: str, batch: int, size: int, step: bool = True) -> Callable[[], object]:
    """A training step: loss, gradients, and momentum; without `step` the forward call in training alone."""
    x, label = cases_graph.values(batch, 3, size, size), np.arange(batch) * 7
    if framework == "torch":
        import torch

        net = cases_graph.resnet18(cases_graph.torch_layers()).train()
        images, labels = torch.from_numpy(x), torch.from_numpy(label)
        optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
        loss_of = torch.nn.functional.cross_entropy
    else:
        import wherry

        net = cases_graph.wherry_net(cases_graph.resnet18)
        net.train()
        images, labels = wherry.to_tensor(x), wherry.to_tensor(label)
        optimizer = wherry.optimizer.Momentum(0.01, 0.9, parameters=net.parameters())
        loss_of = wherry.nn.functional.cross_entropy
    run = cases_train.convert(net)

    def whole_step() -> None:
        loss_of(run(images), labels).backward()
        optimizer.step()
        optimizer.zero_grad() if framework == "torch" else optimizer.clear_grad()

    return whole_step if step else lambda: run(images)
