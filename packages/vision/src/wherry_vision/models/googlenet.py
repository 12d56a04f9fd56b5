"""GoogLeNet: Szegedy et al. (2014)."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn import Layer
from wherry_nn.functional.activation import relu
from wherry_nn.initializer import Uniform
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.pooling import AdaptiveAvgPool2D, AvgPool2D, MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import concat, flatten, squeeze
from wherry_vision.blocks import check_count
from wherry_vision.models.pretrained import IMAGENET, Weights, with_weights

__all__ = ["GoogLeNet", "googlenet"]

model_urls: Weights = {"googlenet": (IMAGENET + "GoogLeNet_pretrained.pdparams", "80c06f038e905c53ab32c40eca6e26ae")}


class ConvLayer(Layer):
    """A convolution that keeps the size where its stride is 1."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: int, stride: int = 1) -> None:
        super().__init__()
        self._conv = Conv2D(num_channels, num_filters, filter_size, stride=stride, padding=(filter_size - 1) // 2, bias_attr=False)

    def forward(self, x: Tensor) -> Tensor:
        return self._conv(x)


class Inception(Layer):
    """Convolutions of three sizes and max pooling in parallel."""

    def __init__(
        self, input_channels: int, filter1: int, filter3R: int, filter3: int, filter5R: int, filter5: int, proj: int  # noqa: N803  as in Paddle
    ) -> None:
        super().__init__()
        self._conv1 = ConvLayer(input_channels, filter1, 1)
        self._conv3r = ConvLayer(input_channels, filter3R, 1)
        self._conv3 = ConvLayer(filter3R, filter3, 3)
        self._conv5r = ConvLayer(input_channels, filter5R, 1)
        self._conv5 = ConvLayer(filter5R, filter5, 5)
        self._pool = MaxPool2D(3, stride=1, padding=1)
        self._convprj = ConvLayer(input_channels, proj, 1)

    def forward(self, x: Tensor) -> Tensor:
        branches = [self._conv1(x), self._conv3(self._conv3r(x)), self._conv5(self._conv5r(x)), self._convprj(self._pool(x))]
        return relu(concat(branches, axis=1))


class GoogLeNet(Layer):
    """GoogLeNet: nine inception blocks, with two auxiliary outputs for training.

    Args:
        num_classes: of the outputs; 0 or less leaves the linear layers out.
        with_pool: averages over the image before the linear layers.

    Returns:
        Of a call: the output, and the two auxiliary outputs.

    Shape:
        `[N, 3, 224, 224]` to three times `[N, num_classes]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).

    Source:
        `paddle.vision.models.GoogLeNet`.

    Examples:
        >>> model = wherry.vision.models.GoogLeNet(num_classes=10)
        >>> [out.shape for out in model(wherry.ones([1, 3, 224, 224]))]
        [[1, 10], [1, 10], [1, 10]]
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count("GoogLeNet", num_classes)
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = MaxPool2D(3, stride=2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        self._ince3a = Inception(192, 64, 96, 128, 16, 32, 32)
        self._ince3b = Inception(256, 128, 128, 192, 32, 96, 64)
        self._ince4a = Inception(480, 192, 96, 208, 16, 48, 64)
        self._ince4b = Inception(512, 160, 112, 224, 24, 64, 64)
        self._ince4c = Inception(512, 128, 128, 256, 24, 64, 64)
        self._ince4d = Inception(512, 112, 144, 288, 32, 64, 64)
        self._ince4e = Inception(528, 256, 160, 320, 32, 128, 128)
        self._ince5a = Inception(832, 256, 160, 320, 32, 128, 128)
        self._ince5b = Inception(832, 384, 192, 384, 48, 128, 128)
        if with_pool:
            self._pool_5 = AdaptiveAvgPool2D(1)
            self._pool_o1 = AvgPool2D(5, stride=3)
            self._pool_o2 = AvgPool2D(5, stride=3)
        if num_classes > 0:
            self._drop = Dropout(p=0.4, mode="downscale_in_infer")
            self._fc_out = _linear(1024, num_classes, 1024)
            self._conv_o1 = ConvLayer(512, 128, 1)
            self._fc_o1 = _linear(1152, 1024, 2048)
            self._drop_o1 = Dropout(p=0.7, mode="downscale_in_infer")
            self._out1 = _linear(1024, num_classes, 1024)
            self._conv_o2 = ConvLayer(528, 128, 1)
            self._fc_o2 = _linear(1152, 1024, 2048)
            self._drop_o2 = Dropout(p=0.7, mode="downscale_in_infer")
            self._out2 = _linear(1024, num_classes, 1024)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        ince4a = self._ince4a(x)
        ince4d = self._ince4d(self._ince4c(self._ince4b(ince4a)))
        x = self._pool(self._ince4e(ince4d))
        out, out1, out2 = self._ince5b(self._ince5a(x)), ince4a, ince4d
        if self.with_pool:
            out, out1, out2 = self._pool_5(out), self._pool_o1(out1), self._pool_o2(out2)
        if self.num_classes > 0:
            out = self._fc_out(squeeze(self._drop(out), axis=[2, 3]))
            out1 = self._out1(self._drop_o1(relu(self._fc_o1(flatten(self._conv_o1(out1), 1)))))
            out2 = self._out2(self._drop_o2(self._fc_o2(flatten(self._conv_o2(out2), 1))))
        return out, out1, out2


def _linear(before: int, after: int, spread: int) -> Linear:
    bound = math.sqrt(3 / spread)
    return Linear(before, after, weight_attr=Uniform(-bound, bound))


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `GoogLeNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.googlenet`.

    Examples:
        >>> model = wherry.vision.models.googlenet(num_classes=10)
        >>> out, first, second = model(wherry.ones([1, 3, 224, 224]))
        >>> out.shape, first.shape, second.shape
        ([1, 10], [1, 10], [1, 10])
    """
    return with_weights(GoogLeNet(**kwargs), "googlenet", pretrained, model_urls)


explained(globals())
