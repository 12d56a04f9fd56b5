"""LeNet, for small grey images."""
from __future__ import annotations

from wherry_nn import Layer, Sequential
from wherry_nn.layers.activation import ReLU
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.pooling import MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten
from wherry_vision.blocks import check_count

__all__ = ["LeNet"]


class LeNet(Layer):
    """LeNet: two convolutions and three linear layers.

    Args:
        num_classes: of the output; 0 or less leaves out the linear layers.

    Shape:
        `[N, 1, 28, 28]` to `[N, num_classes]`, or to `[N, 16, 5, 5]` without the linear layers.

    Raises:
        TypeError: `num_classes` is not an int.
        ValueError: while running, the image is not 28 x 28.

    Source:
        `paddle.vision.models.LeNet`; LeCun, Bottou, Bengio & Haffner (1998), with ReLU and maxima.

    Examples:
        >>> model = wherry.vision.models.LeNet()
        >>> model(wherry.ones([2, 1, 28, 28])).shape
        [2, 10]
    """

    num_classes: int

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        check_count("LeNet", num_classes)
        self.num_classes = num_classes
        self.features = Sequential(
            Conv2D(1, 6, 3, stride=1, padding=1),
            ReLU(),
            MaxPool2D(2, 2),
            Conv2D(6, 16, 5, stride=1, padding=0),
            ReLU(),
            MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = Sequential(Linear(400, 120), Linear(120, 84), Linear(84, num_classes))

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.features(inputs)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


explained(globals())
