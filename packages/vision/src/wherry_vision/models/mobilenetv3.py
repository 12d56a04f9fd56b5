"""MobileNet, third version: Howard et al. (2019)."""
from __future__ import annotations

from functools import partial
from typing import Any

from wherry_nn import Layer, Sequential
from wherry_nn.layers.activation import Hardsigmoid, Hardswish, ReLU, Sigmoid
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.norm import BatchNorm2D
from wherry_nn.layers.pooling import AdaptiveAvgPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten
from wherry_vision.blocks import ConvNormActivation, check_count, divisible
from wherry_vision.models.pretrained import HAPI, Weights, with_weights

__all__ = ["MobileNetV3Large", "MobileNetV3Small", "mobilenet_v3_large", "mobilenet_v3_small"]

model_urls: Weights = {
    "mobilenet_v3_small_x1.0": (HAPI + "mobilenet_v3_small_x1.0.pdparams", "34fe0e7c1f8b00b2b056ad6788d0590c"),
    "mobilenet_v3_large_x1.0": (HAPI + "mobilenet_v3_large_x1.0.pdparams", "118db5792b4e183b925d8e8e334db3df"),
}

# Of each block: kernel, expanded channels, channels, squeeze-and-excitation, activation, stride.
_SMALL = (
    (3, 16, 16, True, ReLU, 2), (3, 72, 24, False, ReLU, 2), (3, 88, 24, False, ReLU, 1), (5, 96, 40, True, Hardswish, 2),
    (5, 240, 40, True, Hardswish, 1), (5, 240, 40, True, Hardswish, 1), (5, 120, 48, True, Hardswish, 1), (5, 144, 48, True, Hardswish, 1),
    (5, 288, 96, True, Hardswish, 2), (5, 576, 96, True, Hardswish, 1), (5, 576, 96, True, Hardswish, 1),
)  # fmt: skip
_LARGE = (
    (3, 16, 16, False, ReLU, 1), (3, 64, 24, False, ReLU, 2), (3, 72, 24, False, ReLU, 1), (5, 72, 40, True, ReLU, 2),
    (5, 120, 40, True, ReLU, 1), (5, 120, 40, True, ReLU, 1), (3, 240, 80, False, Hardswish, 2), (3, 200, 80, False, Hardswish, 1),
    (3, 184, 80, False, Hardswish, 1), (3, 184, 80, False, Hardswish, 1), (3, 480, 112, True, Hardswish, 1), (3, 672, 112, True, Hardswish, 1),
    (5, 672, 160, True, Hardswish, 2), (5, 960, 160, True, Hardswish, 1), (5, 960, 160, True, Hardswish, 1),
)  # fmt: skip


class SqueezeExcitation(Layer):
    """Squeeze and excitation: scales each channel by a factor computed from the means of all (Hu, Shen & Sun, 2017)."""

    def __init__(self, input_channels: int, squeeze_channels: int, activation: Any = ReLU, scale_activation: Any = Sigmoid) -> None:
        super().__init__()
        self.avgpool = AdaptiveAvgPool2D(1)
        self.fc1 = Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, x: Tensor) -> Tensor:
        scale = self.fc2(self.activation(self.fc1(self.avgpool(x))))
        return self.scale_activation(scale) * x


class InvertedResidual(Layer):
    """A depthwise convolution between an expansion and a projection; the input is added where the shapes agree."""

    def __init__(
        self,
        in_channels: int,
        expanded_channels: int,
        out_channels: int,
        filter_size: int,
        stride: int,
        use_se: bool,
        activation_layer: Any,
        norm_layer: Any,
    ) -> None:
        super().__init__()
        self.use_res_connect = stride == 1 and in_channels == out_channels
        self.use_se = use_se
        self.expand = in_channels != expanded_channels
        if self.expand:
            self.expand_conv = ConvNormActivation(in_channels, expanded_channels, 1, 1, 0, norm_layer=norm_layer, activation_layer=activation_layer)
        self.bottleneck_conv = ConvNormActivation(
            expanded_channels, expanded_channels, filter_size, stride, (filter_size - 1) // 2, expanded_channels, norm_layer, activation_layer
        )
        if use_se:
            self.mid_se = SqueezeExcitation(expanded_channels, divisible(expanded_channels // 4), scale_activation=Hardsigmoid)
        self.linear_conv = ConvNormActivation(expanded_channels, out_channels, 1, 1, 0, norm_layer=norm_layer, activation_layer=None)

    def forward(self, x: Tensor) -> Tensor:
        out = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        if self.use_se:
            out = self.mid_se(out)
        out = self.linear_conv(out)
        return x + out if self.use_res_connect else out


class MobileNetV3(Layer):
    """The base of both sizes. `config` has a row for each block, at scale 1."""

    def __init__(self, config: Any, last_channel: int, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count(type(self).__name__, num_classes)
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.last_channel = last_channel
        norm = partial(BatchNorm2D, epsilon=0.001, momentum=0.99)
        before = divisible(16 * scale)
        self.conv = ConvNormActivation(3, before, 3, 2, 1, norm_layer=norm, activation_layer=Hardswish)
        blocks = []
        for kernel, expanded, channels, squeezed, activation, stride in config:
            channels = divisible(channels * scale)
            blocks.append(InvertedResidual(before, divisible(expanded * scale), channels, kernel, stride, squeezed, activation, norm))
            before = channels
        self.blocks = Sequential(*blocks)
        self.lastconv = ConvNormActivation(before, before * 6, 1, 1, 0, norm_layer=norm, activation_layer=Hardswish)
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(Linear(before * 6, last_channel), Hardswish(), Dropout(0.2), Linear(last_channel, num_classes))

    def forward(self, x: Tensor) -> Tensor:
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


class MobileNetV3Small(MobileNetV3):
    """MobileNet v3, the smaller of two sizes, with blocks from an architecture search.

    Args:
        scale: of the numbers of channels.
        num_classes: of the output; 0 or less leaves the linear layers out.
        with_pool: averages over the image before the linear layers.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, C, 1, 1]`, and without pooling to `[N, C, H/32, W/32]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).
        ValueError: `scale` is not finite.

    Source:
        `paddle.vision.models.MobileNetV3Small`.

    Examples:
        >>> model = wherry.vision.models.MobileNetV3Small(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_SMALL, divisible(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """MobileNet v3, the larger of two sizes, with blocks from an architecture search.

    Args:
        scale: of the numbers of channels.
        num_classes: of the output; 0 or less leaves the linear layers out.
        with_pool: averages over the image before the linear layers.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, C, 1, 1]`, and without pooling to `[N, C, H/32, W/32]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).
        ValueError: `scale` is not finite.

    Source:
        `paddle.vision.models.MobileNetV3Large`.

    Examples:
        >>> model = wherry.vision.models.MobileNetV3Large(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_LARGE, divisible(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """MobileNet, third version, the smaller.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once; only for scale 1.
        scale: of the numbers of channels.
        kwargs: of `MobileNetV3Small`.

    Raises:
        ValueError: `pretrained`, and there are no weights for this scale.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.mobilenet_v3_small`.

    Examples:
        >>> model = wherry.vision.models.mobilenet_v3_small(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return with_weights(MobileNetV3Small(scale=scale, **kwargs), f"mobilenet_v3_small_x{scale}", pretrained, model_urls)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """MobileNet, third version, the larger.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once; only for scale 1.
        scale: of the numbers of channels.
        kwargs: of `MobileNetV3Large`.

    Raises:
        ValueError: `pretrained`, and there are no weights for this scale.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.mobilenet_v3_large`.

    Examples:
        >>> model = wherry.vision.models.mobilenet_v3_large(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return with_weights(MobileNetV3Large(scale=scale, **kwargs), f"mobilenet_v3_large_x{scale}", pretrained, model_urls)


explained(globals())
