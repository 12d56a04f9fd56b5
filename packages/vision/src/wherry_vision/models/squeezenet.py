"""SqueezeNet: Iandola et al. (2016)."""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer
from wherry_nn.functional.activation import relu
from wherry_nn.layers.common import Dropout
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.pooling import AdaptiveAvgPool2D, MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.errors import AssertedArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import concat, squeeze
from wherry_vision.blocks import check_count, is_key
from wherry_vision.models.pretrained import IMAGENET, Weights, with_weights

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

model_urls: Weights = {
    "squeezenet1_0": (IMAGENET + "SqueezeNet1_0_pretrained.pdparams", "30b95af60a2178f03cf9b66cd77e1db1"),
    "squeezenet1_1": (IMAGENET + "SqueezeNet1_1_pretrained.pdparams", "a11250d3a1f91d7131fd095ebbf09eee"),
}

_FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))  # channels squeezed, and of both halves
_POOLED = {"1.0": (3, 7), "1.1": (2, 4)}  # the fire modules before which the image is halved


class MakeFireConv(Layer):
    """A convolution and a ReLU."""

    def __init__(self, input_channels: int, output_channels: int, filter_size: int, padding: int = 0) -> None:
        super().__init__()
        self._conv = Conv2D(input_channels, output_channels, filter_size, padding=padding)

    def forward(self, x: Tensor) -> Tensor:
        return relu(self._conv(x))


class MakeFire(Layer):
    """A fire module: a squeezing 1 x 1 convolution, then a 1 x 1 and a 3 x 3 convolution in parallel."""

    def __init__(self, input_channels: int, squeeze_channels: int, expand1x1_channels: int, expand3x3_channels: int) -> None:
        super().__init__()
        self._conv = MakeFireConv(input_channels, squeeze_channels, 1)
        self._conv_path1 = MakeFireConv(squeeze_channels, expand1x1_channels, 1)
        self._conv_path2 = MakeFireConv(squeeze_channels, expand3x3_channels, 3, padding=1)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._conv(inputs)
        return concat([self._conv_path1(x), self._conv_path2(x)], axis=1)


class SqueezeNet(Layer):
    """SqueezeNet: a small model without linear layers.

    Args:
        version: "1.0", or "1.1", which computes less.
        num_classes: of the output; 0 or less leaves the last convolution out.
        with_pool: averages over the image.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without pooling to `[N, num_classes, H', W']`, without classes to `[N, 512]`.

    Raises:
        AssertionError: `version` is not one of these (also a ValueError).

    Source:
        `paddle.vision.models.SqueezeNet`.

    Examples:
        >>> model = wherry.vision.models.SqueezeNet("1.1", num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count("SqueezeNet", num_classes)
        self.version = version
        self.num_classes = num_classes
        self.with_pool = with_pool
        if not is_key(version, _POOLED):
            raise AssertedArgumentError(f"SqueezeNet: version is not known. Got {short(version)}, expected '1.0' or '1.1'. Versions are text.")
        before = 96 if version == "1.0" else 64
        self._conv = Conv2D(3, before, 7 if version == "1.0" else 3, stride=2, padding=0 if version == "1.0" else 1)
        self._pool = MaxPool2D(3, stride=2)
        for i, (squeezed, half) in enumerate(_FIRES):
            setattr(self, f"_conv{i + 1}", MakeFire(before, squeezed, half, half))
            before = 2 * half
        if num_classes > 0:
            self._drop = Dropout(p=0.5, mode="downscale_in_infer")
            self._conv9 = Conv2D(512, num_classes, 1)
        if with_pool:
            self._avg_pool = AdaptiveAvgPool2D(1)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._pool(relu(self._conv(inputs)))
        for i in range(len(_FIRES)):
            if i in _POOLED[self.version]:
                x = self._pool(x)
            x = getattr(self, f"_conv{i + 1}")(x)
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
        if self.with_pool:
            x = squeeze(self._avg_pool(relu(x)), axis=[2, 3])
        return x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `SqueezeNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.squeezenet1_0`.

    Examples:
        >>> model = wherry.vision.models.squeezenet1_0(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return with_weights(SqueezeNet("1.0", **kwargs), "squeezenet1_0", pretrained, model_urls)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `SqueezeNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.squeezenet1_1`.

    Examples:
        >>> model = wherry.vision.models.squeezenet1_1(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return with_weights(SqueezeNet("1.1", **kwargs), "squeezenet1_1", pretrained, model_urls)


explained(globals())
