"""MobileNet, first version: Howard et al. (2017)."""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.layers.pooling import AdaptiveAvgPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten
from wherry_vision.blocks import ConvNormActivation, check_count, whole
from wherry_vision.models.pretrained import HAPI, Weights, with_weights

__all__ = ["MobileNetV1", "mobilenet_v1"]

model_urls: Weights = {"mobilenetv1_1.0": (HAPI + "mobilenetv1_1.0.pdparams", "3033ab1975b1670bef51545feb65fc45")}

_BLOCKS = (  # name, channels and stride
    ("conv2_1", 64, 1), ("conv2_2", 128, 2), ("conv3_1", 128, 1), ("conv3_2", 256, 2), ("conv4_1", 256, 1), ("conv4_2", 512, 2),
    *((f"conv5_{i}", 512, 1) for i in range(1, 6)), ("conv5_6", 1024, 2), ("conv6", 1024, 1),
)  # fmt: skip


class DepthwiseSeparable(Layer):
    """A depthwise 3 x 3 convolution, then a pointwise 1 x 1 convolution."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(in_channels, in_channels, 3, stride=stride, padding=1, groups=in_channels)
        self._pointwise_conv = ConvNormActivation(in_channels, out_channels, 1, stride=1, padding=0)

    def forward(self, x: Tensor) -> Tensor:
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(Layer):
    """MobileNet v1: a small model of depthwise separable convolutions.

    Args:
        scale: of the numbers of channels.
        num_classes: of the output; 0 or less leaves the linear layer out.
        with_pool: averages over the image before the linear layer.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, C, 1, 1]`, and without pooling to `[N, C, H/32, W/32]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).
        ValueError: `scale` is not positive, or too small for one channel (also an AssertionError).

    Source:
        `paddle.vision.models.MobileNetV1`.

    Examples:
        >>> model = wherry.vision.models.MobileNetV1(scale=0.25, num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count("MobileNetV1", num_classes)
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        before = whole(32 * scale)
        self.conv1 = ConvNormActivation(3, before, 3, stride=2, padding=1)
        for name, channels, stride in _BLOCKS:
            self.add_sublayer(name, DepthwiseSeparable(before, whole(channels * scale), stride))
            before = whole(channels * scale)
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = Linear(whole(1024 * scale), num_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(x)
        for name, _, _ in _BLOCKS:
            x = getattr(self, name)(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet, first version.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once; only for scale 1.
        scale: of the numbers of channels.
        kwargs: of `MobileNetV1`.

    Raises:
        ValueError: `pretrained`, and there are no weights for this scale.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.mobilenet_v1`.

    Examples:
        >>> model = wherry.vision.models.mobilenet_v1(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return with_weights(MobileNetV1(scale=scale, **kwargs), f"mobilenetv1_{scale}", pretrained, model_urls)


explained(globals())
