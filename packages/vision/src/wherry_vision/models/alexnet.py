"""AlexNet: Krizhevsky (2014), for one device."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn import Layer
from wherry_nn.functional.activation import relu
from wherry_nn.initializer import Uniform
from wherry_nn.layers.activation import ReLU
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.pooling import MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten
from wherry_vision.blocks import check_count
from wherry_vision.models.pretrained import IMAGENET, Weights, with_weights

__all__ = ["AlexNet", "alexnet"]

model_urls: Weights = {"alexnet": (IMAGENET + "AlexNet_pretrained.pdparams", "7f0f9f737132e02732d75a1459d98a43")}


def _within(bound: float) -> dict[str, Any]:
    return {"weight_attr": Uniform(-bound, bound), "bias_attr": Uniform(-bound, bound)}


def _convolution(before: int, channels: int, size: int, stride: int, padding: int) -> Conv2D:
    return Conv2D(before, channels, size, stride=stride, padding=padding, **_within(1 / math.sqrt(before * size * size)))


class ConvPoolLayer(Layer):
    """A convolution, a ReLU and max pooling."""

    def __init__(self, input_channels: int, output_channels: int, filter_size: int, stride: int, padding: int) -> None:
        super().__init__()
        self.relu = ReLU()
        self._conv = _convolution(input_channels, output_channels, filter_size, stride, padding)
        self._pool = MaxPool2D(3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return self._pool(self.relu(self._conv(x)))


class AlexNet(Layer):
    """AlexNet: five convolutions and three linear layers.

    Args:
        num_classes: of the output; 0 or less leaves the linear layers out.

    Shape:
        `[N, 3, 224, 224]` to `[N, num_classes]`; without classes to `[N, 256, 6, 6]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).

    Source:
        `paddle.vision.models.AlexNet`.

    Examples:
        >>> model = wherry.vision.models.AlexNet(num_classes=0)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 256, 1, 1]
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        check_count("AlexNet", num_classes)
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = _convolution(192, 384, 3, 1, 1)
        self._conv4 = _convolution(384, 256, 3, 1, 1)
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            uniform = _within(1 / math.sqrt(256 * 6 * 6))
            self._drop1 = Dropout(p=0.5, mode="downscale_in_infer")
            self._fc6 = Linear(256 * 6 * 6, 4096, **uniform)
            self._drop2 = Dropout(p=0.5, mode="downscale_in_infer")
            self._fc7 = Linear(4096, 4096, **uniform)
            self._fc8 = Linear(4096, num_classes, **uniform)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._conv2(self._conv1(inputs))
        x = relu(self._conv4(relu(self._conv3(x))))
        x = self._conv5(x)
        if self.num_classes > 0:
            x = relu(self._fc6(self._drop1(flatten(x, 1))))
            x = relu(self._fc7(self._drop2(x)))
            x = self._fc8(x)
        return x


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `AlexNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.alexnet`.

    Examples:
        >>> model = wherry.vision.models.alexnet(num_classes=0)  # the features alone
        >>> model(wherry.ones([1, 3, 224, 224])).shape
        [1, 256, 6, 6]
    """
    return with_weights(AlexNet(**kwargs), "alexnet", pretrained, model_urls)


explained(globals())
