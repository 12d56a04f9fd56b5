"""The training steps of `cases_train` with captured models: `to_static` here, `torch.compile` there, and eager for comparison.

The first step of torch.compile runs a C++ compiler, for a minute or more of each case.
"""
from __future__ import annotations

from collections.abc import Callable

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
    return found | {"step: ResNet-18, 4 of 64 x 64": cases_graph.Case(lambda: resnet18("torch" if framework == "torch" else "wherry"))}


def resnet18(framework: str) -> Callable[[], object]:
    """A training step: loss, gradients, and momentum."""
    x, label = cases_graph.values(4, 3, 64, 64), np.arange(4) * 7
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

    def step() -> None:
        loss_of(run(images), labels).backward()
        optimizer.step()
        optimizer.zero_grad() if framework == "torch" else optimizer.clear_grad()

    return step
