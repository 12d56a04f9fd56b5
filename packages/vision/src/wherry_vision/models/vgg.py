"""VGG: Simonyan & Zisserman (2014)."""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer, Sequential
from wherry_nn.layers.activation import ReLU
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.norm import BatchNorm2D
from wherry_nn.layers.pooling import AdaptiveAvgPool2D, MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten
from wherry_vision.blocks import check_count
from wherry_vision.models.pretrained import HAPI, Weights, with_weights

__all__ = ["VGG", "vgg11", "vgg13", "vgg16", "vgg19"]

model_urls: Weights = {
    "vgg16": (HAPI + "vgg16.pdparams", "89bbffc0f87d260be9b8cdc169c991c4"),
    "vgg19": (HAPI + "vgg19.pdparams", "23b18bb13d8894f60f54e642be79a0dd"),
}

_CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}  # of the stages, each halves the image


class VGG(Layer):
    """VGG: convolutions, and three linear layers.

    Args:
        features: the layers before the linear ones.
        num_classes: of the output; 0 or less leaves the linear layers out.
        with_pool: averages the image to 7 x 7 before the linear layers.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, 512, 7, 7]`.

    Raises:
        TypeError: `num_classes` is not an int (also a ValueError).

    Source:
        `paddle.vision.models.VGG`.

    Examples:
        >>> model = wherry.vision.models.VGG(wherry.nn.Conv2D(3, 512, 3), num_classes=0)
        >>> model(wherry.ones([1, 3, 16, 16])).shape
        [1, 512, 7, 7]
    """

    def __init__(self, features: Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count("VGG", num_classes)
        self.features = features
        self.num_classes = num_classes
        self.with_pool = with_pool
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = Sequential(
                Linear(512 * 7 * 7, 4096), ReLU(), Dropout(), Linear(4096, 4096), ReLU(), Dropout(), Linear(4096, num_classes)
            )

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


def _vgg(depth: int, batch_norm: bool, pretrained: bool, **kwargs: Any) -> VGG:
    layers: list[Layer] = []
    before = 3
    for channels, count in zip((64, 128, 256, 512, 512), _CONVOLUTIONS[depth], strict=True):
        for _ in range(count):
            layers.append(Conv2D(before, channels, 3, padding=1))
            if batch_norm:
                layers.append(BatchNorm2D(channels))
            layers.append(ReLU())
            before = channels
        layers.append(MaxPool2D(2, stride=2))
    name = f"vgg{depth}_bn" if batch_norm else f"vgg{depth}"
    return with_weights(VGG(Sequential(*layers), **kwargs), name, pretrained, model_urls)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 11 layers that have weights.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        batch_norm: add a batch normalization after each convolution.
        kwargs: of `VGG`.

    Raises:
        ValueError: there are no such weights.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.vgg11`.

    Examples:
        >>> model = wherry.vision.models.vgg11(num_classes=0)  # the features alone
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 512, 7, 7]
    """
    return _vgg(11, batch_norm, pretrained, **kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 13 layers that have weights.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        batch_norm: add a batch normalization after each convolution.
        kwargs: of `VGG`.

    Raises:
        ValueError: there are no such weights.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.vgg13`.

    Examples:
        >>> model = wherry.vision.models.vgg13(num_classes=0)  # the features alone
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 512, 7, 7]
    """
    return _vgg(13, batch_norm, pretrained, **kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 16 layers that have weights.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        batch_norm: add a batch normalization after each convolution.
        kwargs: of `VGG`.

    Raises:
        ValueError: there are no such weights.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.vgg16`.

    Examples:
        >>> model = wherry.vision.models.vgg16(num_classes=0)  # the features alone
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 512, 7, 7]
    """
    return _vgg(16, batch_norm, pretrained, **kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 19 layers that have weights.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        batch_norm: add a batch normalization after each convolution.
        kwargs: of `VGG`.

    Raises:
        ValueError: there are no such weights.
        RuntimeError: they cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.vgg19`.

    Examples:
        >>> model = wherry.vision.models.vgg19(num_classes=0)  # the features alone
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 512, 7, 7]
    """
    return _vgg(19, batch_norm, pretrained, **kwargs)


explained(globals())
