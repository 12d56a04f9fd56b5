"""MobileNet, second version: Sandler, Howard, Zhu, Zhmoginov & Chen (2018)."""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer, Sequential
from wherry_nn.layers.activation import ReLU6
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.norm import BatchNorm2D
from wherry_nn.layers.pooling import AdaptiveAvgPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten
from wherry_vision.blocks import ConvNormActivation, check_count, divisible
from wherry_vision.models.pretrained import HAPI, Weights, with_weights

__all__ = ["MobileNetV2", "mobilenet_v2"]

model_urls: Weights = {"mobilenetv2_1.0": (HAPI + "mobilenet_v2_x1.0.pdparams", "0340af0a901346c8d46f4529882fb63d")}

_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
# of each: expansion, channels, blocks, stride of the first


class InvertedResidual(Layer):
    """A depthwise convolution between an expansion and a projection; the input is added where the shapes agree."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: float, norm_layer: Any = BatchNorm2D) -> None:
        super().__init__()
        self.stride = stride
        self.use_res_connect = stride == 1 and inp == oup
        hidden = round(inp * expand_ratio)
        layers: list[Layer] = []
        if expand_ratio != 1:
            layers.append(ConvNormActivation(inp, hidden, 1, norm_layer=norm_layer, activation_layer=ReLU6))
        layers.append(ConvNormActivation(hidden, hidden, stride=stride, groups=hidden, norm_layer=norm_layer, activation_layer=ReLU6))
        layers += [Conv2D(hidden, oup, 1, bias_attr=False), norm_layer(oup)]
        self.conv = Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(Layer):
    """MobileNet v2: a small model of inverted residual blocks.

    Args:
        scale: of the numbers of channels.
        num_classes: of the output; 0 or less leaves the linear layer out.
        with_pool: averages over the image before the linear layer.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, C, 1, 1]`, and without pooling to `[N, C, H/32, W/32]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).
        ValueError: `scale` is not finite.

    Source:
        `paddle.vision.models.MobileNetV2`.

    Examples:
        >>> model = wherry.vision.models.MobileNetV2(scale=0.25, num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count("MobileNetV2", num_classes)
        self.num_classes = num_classes
        self.with_pool = with_pool
        before, last = divisible(32 * scale), divisible(1280 * max(1.0, scale))
        features: list[Layer] = [ConvNormActivation(3, before, stride=2, activation_layer=ReLU6)]
        for expansion, wanted, count, stride in _STAGES:
            channels = divisible(wanted * scale)
            for i in range(count):
                features.append(InvertedResidual(before, channels, stride if i == 0 else 1, expansion))
                before = channels
        features.append(ConvNormActivation(before, last, 1, activation_layer=ReLU6))
        self.features = Sequential(*features)
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(Dropout(0.2), Linear(last, num_classes))

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNet, second version.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once; only for scale 1.
        scale: of the numbers of channels.
        kwargs: of `MobileNetV2`.

    Raises:
        ValueError: `pretrained`, and there are no weights for this scale.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.mobilenet_v2`.

    Examples:
        >>> model = wherry.vision.models.mobilenet_v2(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return with_weights(MobileNetV2(scale=scale, **kwargs), f"mobilenetv2_{scale}", pretrained, model_urls)


explained(globals())
