"""The networks that a page can train and a server can load, by name."""
from __future__ import annotations

import io
from collections.abc import Callable

import wherry as paddle
import wherry.nn as nn
from wherry import Tensor, flatten
from wherry.vision.models import LeNet


class MLP(nn.Layer):
    """Two linear layers with ReLU between: `[N, 1, 28, 28]` to `[N, num_classes]`.

    Args:
        num_classes: of the output.
        hidden: width of the layer between.
    """

    def __init__(self, num_classes: int = 10, hidden: int = 128) -> None:
        super().__init__()
        self.hidden = nn.Linear(784, hidden)
        self.out = nn.Linear(hidden, num_classes)

    def forward(self, images: Tensor) -> Tensor:
        return self.out(nn.functional.relu(self.hidden(flatten(images, 1))))


ARCHITECTURES: dict[str, Callable[[int], nn.Layer]] = {"LeNet": LeNet, "MLP": MLP}


def network(architecture: str, classes: int) -> nn.Layer:
    """A new network by the name that cards give it.

    Raises:
        ValueError: there is none of this name.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(f"unknown architecture: got {architecture!r}, expected one of {', '.join(ARCHITECTURES)}.")
    return ARCHITECTURES[architecture](classes)


def restore(net: nn.Layer, content: bytes) -> None:
    """Give a network the weights of a `.pdparams` file, all of them or none.

    Raises:
        ValueError: the file is broken, or holds the weights of another network.
    """
    try:
        state = paddle.load(io.BytesIO(content))
    except Exception as error:
        raise ValueError(f"This is not a file of weights: {error}") from error
    wanted = {key: list(value.shape) for key, value in net.state_dict().items()}
    if not isinstance(state, dict):
        raise ValueError(f"This file holds a {type(state).__name__}, expected the weights of a network by name.")
    found = {key: list(value.shape) for key, value in state.items() if hasattr(value, "shape")}
    if found != wanted:
        raise ValueError(
            f"These are the weights of another network. Got {summary(found)}, expected {summary(wanted)}. "
            f"Choose the network they belong to."
        )
    net.set_state_dict(state)


def summary(shapes: dict[str, list[int]]) -> str:
    first = ", ".join(f"{key} {shape}" for key, shape in list(shapes.items())[:3])
    return f"{len(shapes)} tensors ({first}{', ...' if len(shapes) > 3 else ''})" if shapes else "none"
