"""Networks that the page can train, besides LeNet."""
from __future__ import annotations

import wherry.nn as nn
from wherry import Tensor, flatten


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
