"""Inception, third version: Szegedy, Vanhoucke, Ioffe, Shlens & Wojna (2015)."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn import Layer, LayerList
from wherry_nn.initializer import Uniform
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.pooling import AdaptiveAvgPool2D, AvgPool2D, MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import concat, reshape
from wherry_vision.blocks import ConvNormActivation, check_count
from wherry_vision.models.pretrained import HAPI, Weights, with_weights

__all__ = ["InceptionV3", "inception_v3"]

model_urls: Weights = {"inception_v3": (HAPI + "inception_v3.pdparams", "649a4547c3243e8b59c656f41fe330b8")}


def _block(before: int, channels: int, size: Any, stride: int = 1, padding: Any = 0) -> ConvNormActivation:
    return ConvNormActivation(before, channels, size, stride, padding)


class InceptionStem(Layer):
    """Five convolutions, which make the image eight times smaller."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = _block(3, 32, 3, stride=2)
        self.conv_2a_3x3 = _block(32, 32, 3)
        self.conv_2b_3x3 = _block(32, 64, 3, padding=1)
        self.max_pool = MaxPool2D(3, stride=2)
        self.conv_3b_1x1 = _block(64, 80, 1)
        self.conv_4a_3x3 = _block(80, 192, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionA(Layer):
    """Convolutions of 1, 5 and twice 3, and average pooling, in parallel."""

    def __init__(self, num_channels: int, pool_features: int) -> None:
        super().__init__()
        self.branch1x1 = _block(num_channels, 64, 1)
        self.branch5x5_1 = _block(num_channels, 48, 1)
        self.branch5x5_2 = _block(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = _block(num_channels, 64, 1)
        self.branch3x3dbl_2 = _block(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _block(96, 96, 3, padding=1)
        self.branch_pool = AvgPool2D(3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _block(num_channels, pool_features, 1)

    def forward(self, x: Tensor) -> Tensor:
        branches = [
            self.branch1x1(x),
            self.branch5x5_2(self.branch5x5_1(x)),
            self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x))),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, axis=1)


class InceptionB(Layer):
    """Halves the image: convolutions of 3 and twice 3, and max pooling."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3 = _block(num_channels, 384, 3, stride=2)
        self.branch3x3dbl_1 = _block(num_channels, 64, 1)
        self.branch3x3dbl_2 = _block(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _block(96, 96, 3, stride=2)
        self.branch_pool = MaxPool2D(3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return concat([self.branch3x3(x), double, self.branch_pool(x)], axis=1)


class InceptionC(Layer):
    """Convolutions of 7 in both directions, one after the other."""

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        super().__init__()
        inner = channels_7x7
        self.branch1x1 = _block(num_channels, 192, 1)
        self.branch7x7_1 = _block(num_channels, inner, 1)
        self.branch7x7_2 = _block(inner, inner, (1, 7), padding=(0, 3))
        self.branch7x7_3 = _block(inner, 192, (7, 1), padding=(3, 0))
        self.branch7x7dbl_1 = _block(num_channels, inner, 1)
        self.branch7x7dbl_2 = _block(inner, inner, (7, 1), padding=(3, 0))
        self.branch7x7dbl_3 = _block(inner, inner, (1, 7), padding=(0, 3))
        self.branch7x7dbl_4 = _block(inner, inner, (7, 1), padding=(3, 0))
        self.branch7x7dbl_5 = _block(inner, 192, (1, 7), padding=(0, 3))
        self.branch_pool = AvgPool2D(3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _block(num_channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        branches = [
            self.branch1x1(x),
            self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x))),
            self.branch7x7dbl_5(self.branch7x7dbl_4(double)),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, axis=1)


class InceptionD(Layer):
    """Halves the image: convolutions of 3 and of 7 in both directions, and max pooling."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch3x3_1 = _block(num_channels, 192, 1)
        self.branch3x3_2 = _block(192, 320, 3, stride=2)
        self.branch7x7x3_1 = _block(num_channels, 192, 1)
        self.branch7x7x3_2 = _block(192, 192, (1, 7), padding=(0, 3))
        self.branch7x7x3_3 = _block(192, 192, (7, 1), padding=(3, 0))
        self.branch7x7x3_4 = _block(192, 192, 3, stride=2)
        self.branch_pool = MaxPool2D(3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        large = self.branch7x7x3_4(self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x))))
        return concat([self.branch3x3_2(self.branch3x3_1(x)), large, self.branch_pool(x)], axis=1)


class InceptionE(Layer):
    """Convolutions of 3 in either direction, in parallel."""

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.branch1x1 = _block(num_channels, 320, 1)
        self.branch3x3_1 = _block(num_channels, 384, 1)
        self.branch3x3_2a = _block(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3_2b = _block(384, 384, (3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = _block(num_channels, 448, 1)
        self.branch3x3dbl_2 = _block(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = _block(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = _block(384, 384, (3, 1), padding=(1, 0))
        self.branch_pool = AvgPool2D(3, stride=1, padding=1, exclusive=False)
        self.branch_pool_conv = _block(num_channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        single = self.branch3x3_1(x)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        branches = [
            self.branch1x1(x),
            self.branch3x3_2a(single),
            self.branch3x3_2b(single),
            self.branch3x3dbl_3a(double),
            self.branch3x3dbl_3b(double),
            self.branch_pool_conv(self.branch_pool(x)),
        ]
        return concat(branches, axis=1)


class InceptionV3(Layer):
    """Inception v3: eleven blocks of parallel convolutions, for images of 299 x 299.

    Args:
        num_classes: of the output; 0 or less leaves the linear layer out.
        with_pool: averages over the image before the linear layer.

    Shape:
        `[N, 3, 299, 299]` to `[N, num_classes]`; without classes to `[N, 2048, 1, 1]`, and without pooling to `[N, 2048, 8, 8]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).

    Source:
        `paddle.vision.models.InceptionV3`.

    Examples:
        >>> model = wherry.vision.models.InceptionV3(num_classes=10)
        >>> model(wherry.ones([1, 3, 96, 96])).shape
        [1, 10]
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count("InceptionV3", num_classes)
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inception_stem = InceptionStem()
        self.inception_block_list = LayerList(
            [InceptionA(192, 32), InceptionA(256, 64), InceptionA(288, 64), InceptionB(288)]
            + [InceptionC(768, inner) for inner in (128, 160, 160, 192)]
            + [InceptionD(768), InceptionE(1280), InceptionE(2048)]
        )
        if with_pool:
            self.avg_pool = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1 / math.sqrt(2048)
            self.dropout = Dropout(p=0.2, mode="downscale_in_infer")
            self.fc = Linear(2048, num_classes, weight_attr=Uniform(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        return self.fc(self.dropout(reshape(x, [-1, 2048]))) if self.num_classes > 0 else x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """Inception, third version.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `InceptionV3`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.inception_v3`.

    Examples:
        >>> model = wherry.vision.models.inception_v3(num_classes=10)
        >>> model(wherry.ones([1, 3, 299, 299])).shape
        [1, 10]
    """
    return with_weights(InceptionV3(**kwargs), "inception_v3", pretrained, model_urls)


explained(globals())
