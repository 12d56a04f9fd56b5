"""DenseNet: Huang, Liu, van der Maaten & Weinberger (2016)."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn import Layer
from wherry_nn.initializer import Uniform
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.norm import BatchNorm
from wherry_nn.layers.pooling import AdaptiveAvgPool2D, AvgPool2D, MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.errors import AssertedArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import concat, flatten
from wherry_vision.blocks import check_count, is_key
from wherry_vision.models.pretrained import IMAGENET, Weights, with_weights

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201", "densenet264"]

model_urls: Weights = {
    "densenet121": (IMAGENET + "DenseNet121_pretrained.pdparams", "db1b239ed80a905290fd8b01d3af08e4"),
    "densenet161": (IMAGENET + "DenseNet161_pretrained.pdparams", "62158869cb315098bd25ddbfd308a853"),
    "densenet169": (IMAGENET + "DenseNet169_pretrained.pdparams", "82cc7c635c3f19098c748850efb2d796"),
    "densenet201": (IMAGENET + "DenseNet201_pretrained.pdparams", "16ca29565a7712329cf9e36e02caaf58"),
    "densenet264": (IMAGENET + "DenseNet264_pretrained.pdparams", "3270ce516b85370bba88cfdd9f60bff4"),
}

_SIZES = {  # channels of the stem, channels that each layer adds, layers of the blocks
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(Layer):
    """A normalization with ReLU, and a convolution."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: int, pad: int = 0) -> None:
        super().__init__()
        self._batch_norm = BatchNorm(num_channels, act="relu")
        self._conv = Conv2D(num_channels, num_filters, filter_size, padding=pad, bias_attr=False)

    def forward(self, x: Tensor) -> Tensor:
        return self._conv(self._batch_norm(x))


class ConvBNLayer(Layer):
    """A convolution, and a normalization with ReLU."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: int, stride: int, pad: int) -> None:
        super().__init__()
        self._conv = Conv2D(num_channels, num_filters, filter_size, stride=stride, padding=pad, bias_attr=False)
        self._batch_norm = BatchNorm(num_filters, act="relu")

    def forward(self, x: Tensor) -> Tensor:
        return self._batch_norm(self._conv(x))


class DenseLayer(Layer):
    """Adds `growth_rate` channels to those that came in."""

    def __init__(self, num_channels: int, growth_rate: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(num_channels, bn_size * growth_rate, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth_rate, growth_rate, 3, pad=1)
        if dropout:
            self.dropout_func = Dropout(p=dropout, mode="downscale_in_infer")

    def forward(self, x: Tensor) -> Tensor:
        added = self.bn_ac_func2(self.bn_ac_func1(x))
        if self.dropout:
            added = self.dropout_func(added)
        return concat([x, added], axis=1)


class DenseBlock(Layer):
    """Dense layers in a row."""

    def __init__(self, num_channels: int, num_layers: int, bn_size: int, growth_rate: int, dropout: float, name: str) -> None:
        super().__init__()
        self.dropout = dropout
        for i in range(num_layers):
            self.add_sublayer(f"{name}_{i + 1}", DenseLayer(num_channels + i * growth_rate, growth_rate, bn_size, dropout))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.children():
            x = layer(x)
        return x


class TransitionLayer(Layer):
    """Halves the channels and the image."""

    def __init__(self, num_channels: int, num_output_features: int) -> None:
        super().__init__()
        self.conv_ac_func = BNACConvLayer(num_channels, num_output_features, 1)
        self.pool2d_avg = AvgPool2D(2, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.pool2d_avg(self.conv_ac_func(x))


class DenseNet(Layer):
    """DenseNet: in each block, a layer gets the outputs of all layers before it.

    Args:
        layers: 121, 161, 169, 201 or 264.
        bn_size: channels inside a layer, in multiples of those that it adds.
        dropout: share of what a layer adds that is left out in training.
        num_classes: of the output; 0 or less leaves the linear layer out.
        with_pool: averages over the image before the linear layer.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, C, 1, 1]`, and without pooling to `[N, C, H/32, W/32]`.

    Raises:
        AssertionError: `layers` is not one of these (also a ValueError).

    Source:
        `paddle.vision.models.DenseNet`.

    Examples:
        >>> model = wherry.vision.models.DenseNet(num_classes=10)
        >>> model(wherry.ones([1, 3, 32, 32])).shape
        [1, 10]
    """

    def __init__(
        self, layers: int = 121, bn_size: int = 4, dropout: float = 0.0, num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__()
        check_count("DenseNet", num_classes)
        if not is_key(layers, _SIZES):
            raise AssertedArgumentError(
                f"DenseNet: supported layers are {list(_SIZES)}. Got layers={short(layers)}, expected one of these. The default is 121."
            )
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels, growth, counts = _SIZES[layers]
        self.conv1_func = ConvBNLayer(3, channels, 7, stride=2, pad=3)
        self.pool2d_max = MaxPool2D(3, stride=2, padding=1)
        self._order: list[str] = []
        for i, count in enumerate(counts):
            self._append(f"db_conv_{i + 2}", DenseBlock(channels, count, bn_size, growth, dropout, name=f"conv{i + 2}"))
            channels += count * growth
            if i < len(counts) - 1:
                self._append(f"tr_conv{i + 2}_blk", TransitionLayer(channels, channels // 2))
                channels //= 2
        self.batch_norm = BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1 / math.sqrt(channels)
            self.out = Linear(channels, num_classes, weight_attr=Uniform(-bound, bound))

    def _append(self, name: str, layer: Layer) -> None:
        self._order.append(name)
        self.add_sublayer(name, layer)

    def forward(self, input: Tensor) -> Tensor:
        x = self.pool2d_max(self.conv1_func(input))
        for name in self._order:
            x = getattr(self, name)(x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.out(flatten(x, 1)) if self.num_classes > 0 else x


def _densenet(layers: int, pretrained: bool, **kwargs: Any) -> DenseNet:
    return with_weights(DenseNet(layers=layers, **kwargs), f"densenet{layers}", pretrained, model_urls)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 121 layers.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `DenseNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.densenet121`.

    Examples:
        >>> model = wherry.vision.models.densenet121(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _densenet(121, pretrained, **kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 161 layers.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `DenseNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.densenet161`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.densenet161()
        >>> sum(parameter.size for parameter in model.parameters())
        28900936
    """
    return _densenet(161, pretrained, **kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 169 layers.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `DenseNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.densenet169`.

    Examples:
        >>> model = wherry.vision.models.densenet169(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _densenet(169, pretrained, **kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 201 layers.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `DenseNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.densenet201`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.densenet201()
        >>> sum(parameter.size for parameter in model.parameters())
        20242984
    """
    return _densenet(201, pretrained, **kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 264 layers.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `DenseNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.densenet264`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.densenet264()
        >>> sum(parameter.size for parameter in model.parameters())
        33736232
    """
    return _densenet(264, pretrained, **kwargs)


explained(globals())
