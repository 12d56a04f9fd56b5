"""ResNet, with its wider forms and those of grouped convolutions.

He, Zhang, Ren & Sun (2015); the stride of a bottleneck is at its 3 x 3 convolution. ResNeXt: Xie, Girshick, Dollar, Tu & He
(2016). Wide: Zagoruyko & Komodakis (2016).
"""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer, Sequential
from wherry_nn.layers.activation import ReLU
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.norm import BatchNorm2D
from wherry_nn.layers.pooling import AdaptiveAvgPool2D, MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten
from wherry_vision.blocks import check_count, is_key
from wherry_vision.models.pretrained import HAPI, Weights, with_weights

__all__ = [
    "ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext50_64x4d", "resnext101_32x4d",
    "resnext101_64x4d", "resnext152_32x4d", "resnext152_64x4d", "wide_resnet50_2", "wide_resnet101_2",
]  # fmt: skip

model_urls: Weights = {
    "resnet18": (HAPI + "resnet18.pdparams", "cf548f46534aa3560945be4b95cd11c4"),
    "resnet34": (HAPI + "resnet34.pdparams", "8d2275cf8706028345f78ac0e1d31969"),
    "resnet50": (HAPI + "resnet50.pdparams", "ca6f485ee1ab0492d38f323885b0ad80"),
    "resnet101": (HAPI + "resnet101.pdparams", "02f35f034ca3858e1e54d4036443c92d"),
    "resnet152": (HAPI + "resnet152.pdparams", "7ad16a2f1e7333859ff986138630fd7a"),
    "resnext50_32x4d": (HAPI + "resnext50_32x4d.pdparams", "dc47483169be7d6f018fcbb7baf8775d"),
    "resnext50_64x4d": (HAPI + "resnext50_64x4d.pdparams", "063d4b483e12b06388529450ad7576db"),
    "resnext101_32x4d": (HAPI + "resnext101_32x4d.pdparams", "967b090039f9de2c8d06fe994fb9095f"),
    "resnext101_64x4d": (HAPI + "resnext101_64x4d.pdparams", "98e04e7ca616a066699230d769d03008"),
    "resnext152_32x4d": (HAPI + "resnext152_32x4d.pdparams", "18ff0beee21f2efc99c4b31786107121"),
    "resnext152_64x4d": (HAPI + "resnext152_64x4d.pdparams", "77c4af00ca42c405fa7f841841959379"),
    "wide_resnet50_2": (HAPI + "wide_resnet50_2.pdparams", "0282f804d73debdab289bd9fea3fa6dc"),
    "wide_resnet101_2": (HAPI + "wide_resnet101_2.pdparams", "d4360a2d23657f059216f5d5a1a9ac93"),
}

_BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class BasicBlock(Layer):
    """Two 3 x 3 convolutions and a shortcut."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or BatchNorm2D
        if dilation > 1:
            raise InvalidArgumentError(
                f"BasicBlock: Dilation > 1 not supported in BasicBlock. Got dilation={dilation}, expected 1. BottleneckBlock takes others."
            )
        self.conv1 = Conv2D(inplanes, planes, 3, stride=stride, padding=1, bias_attr=False)
        self.bn1 = norm_layer(planes)
        self.relu = ReLU()
        self.conv2 = Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(Layer):
    """A 3 x 3 convolution between two of 1 x 1, and a shortcut."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Any = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer or BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm_layer(width)
        self.conv2 = Conv2D(width, width, 3, padding=dilation, stride=stride, groups=groups, dilation=dilation, bias_attr=False)
        self.bn2 = norm_layer(width)
        self.conv3 = Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(Layer):
    """ResNet: a stem, four stages of residual blocks, and a linear layer.

    Args:
        block: the class of the blocks, `BasicBlock` or `BottleneckBlock` of `paddle.vision.models.resnet`.
        depth: 18, 34, 50, 101 or 152.
        width: channels of a group in the first stage, for bottlenecks.
        num_classes: of the output; 0 or less leaves the linear layer out.
        with_pool: averages over the image before the linear layer.
        groups: of the 3 x 3 convolutions in bottlenecks.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, C, 1, 1]`, and without pooling to `[N, C, H/32, W/32]`.

    Raises:
        ValueError: `depth` is not one of these, or `block` is not a class of blocks.

    Source:
        `paddle.vision.models.ResNet`.

    Examples:
        >>> from wherry.vision.models.resnet import BasicBlock
        >>> model = wherry.vision.models.ResNet(BasicBlock, 18, num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """

    def __init__(self, block: Any, depth: int = 50, width: int = 64, num_classes: int = 1000, with_pool: bool = True, groups: int = 1) -> None:
        super().__init__()
        check_count("ResNet", num_classes)
        if not is_key(depth, _BLOCKS):
            raise InvalidArgumentError(f"ResNet: depth is not known. Got {short(depth)}, expected one of {list(_BLOCKS)}. The default is 50.")
        self.groups = groups
        self.base_width = width
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inplanes = 64
        self.dilation = 1
        self._norm_layer = BatchNorm2D
        self.conv1 = Conv2D(3, self.inplanes, 7, stride=2, padding=3, bias_attr=False)
        self.bn1 = BatchNorm2D(self.inplanes)
        self.relu = ReLU()
        self.maxpool = MaxPool2D(3, stride=2, padding=1)
        if not isinstance(getattr(block, "expansion", None), int):
            raise InvalidTypeError(
                f"ResNet: block is not a class of blocks. Got {short(block)}, expected BasicBlock or BottleneckBlock. Pass the class."
            )
        for i, (planes, count) in enumerate(zip((64, 128, 256, 512), _BLOCKS[depth], strict=True)):
            setattr(self, f"layer{i + 1}", self._make_layer(block, planes, count, stride=1 if i == 0 else 2))
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False) -> Sequential:
        """A stage; classes that come from this one call it under Paddle's name. With `dilate`, dilation takes the place of the stride."""
        channels, dilation = planes * block.expansion, self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        downsample = None
        if stride != 1 or self.inplanes != channels:
            downsample = Sequential(Conv2D(self.inplanes, channels, 1, stride=stride, bias_attr=False), self._norm_layer(channels))
        layers = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width, dilation, self._norm_layer)]
        self.inplanes = channels
        layers += [
            block(channels, planes, groups=self.groups, base_width=self.base_width, norm_layer=self._norm_layer) for _ in range(1, blocks)
        ]
        return Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


def _resnet(name: str, block: Any, depth: int, pretrained: bool, **kwargs: Any) -> ResNet:
    return with_weights(ResNet(block, depth, **kwargs), name, pretrained, model_urls)


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet-18.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnet18`.

    Examples:
        >>> model = wherry.vision.models.resnet18(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _resnet("resnet18", BasicBlock, 18, pretrained, **kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet-34.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnet34`.

    Examples:
        >>> model = wherry.vision.models.resnet34(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _resnet("resnet34", BasicBlock, 34, pretrained, **kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet-50.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnet50`.

    Examples:
        >>> model = wherry.vision.models.resnet50(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _resnet("resnet50", BottleneckBlock, 50, pretrained, **kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet-101.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnet101`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.resnet101()
        >>> sum(parameter.size for parameter in model.parameters())
        44654504
    """
    return _resnet("resnet101", BottleneckBlock, 101, pretrained, **kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet-152.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnet152`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.resnet152()
        >>> sum(parameter.size for parameter in model.parameters())
        60344232
    """
    return _resnet("resnet152", BottleneckBlock, 152, pretrained, **kwargs)


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt-50, 32 groups of 4 channels.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnext50_32x4d`.

    Examples:
        >>> model = wherry.vision.models.resnext50_32x4d(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    kwargs["groups"] = 32
    kwargs["width"] = 4
    return _resnet("resnext50_32x4d", BottleneckBlock, 50, pretrained, **kwargs)


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt-50, 64 groups of 4 channels.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnext50_64x4d`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.resnext50_64x4d()
        >>> sum(parameter.size for parameter in model.parameters())
        45290920
    """
    kwargs["groups"] = 64
    kwargs["width"] = 4
    return _resnet("resnext50_64x4d", BottleneckBlock, 50, pretrained, **kwargs)


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt-101, 32 groups of 4 channels.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnext101_32x4d`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.resnext101_32x4d()
        >>> sum(parameter.size for parameter in model.parameters())
        44315560
    """
    kwargs["groups"] = 32
    kwargs["width"] = 4
    return _resnet("resnext101_32x4d", BottleneckBlock, 101, pretrained, **kwargs)


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt-101, 64 groups of 4 channels.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnext101_64x4d`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.resnext101_64x4d()
        >>> sum(parameter.size for parameter in model.parameters())
        83658152
    """
    kwargs["groups"] = 64
    kwargs["width"] = 4
    return _resnet("resnext101_64x4d", BottleneckBlock, 101, pretrained, **kwargs)


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt-152, 32 groups of 4 channels.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnext152_32x4d`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.resnext152_32x4d()
        >>> sum(parameter.size for parameter in model.parameters())
        60150696
    """
    kwargs["groups"] = 32
    kwargs["width"] = 4
    return _resnet("resnext152_32x4d", BottleneckBlock, 152, pretrained, **kwargs)


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt-152, 64 groups of 4 channels.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.resnext152_64x4d`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.resnext152_64x4d()
        >>> sum(parameter.size for parameter in model.parameters())
        115266984
    """
    kwargs["groups"] = 64
    kwargs["width"] = 4
    return _resnet("resnext152_64x4d", BottleneckBlock, 152, pretrained, **kwargs)


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet-50 with twice the channels inside its blocks.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.wide_resnet50_2`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.wide_resnet50_2()
        >>> sum(parameter.size for parameter in model.parameters())
        68951464
    """
    kwargs["width"] = 128
    return _resnet("wide_resnet50_2", BottleneckBlock, 50, pretrained, **kwargs)


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet-101 with twice the channels inside its blocks.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ResNet`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.wide_resnet101_2`.

    Examples:
        >>> with wherry.LazyGuard():  # without values for the parameters
        ...     model = wherry.vision.models.wide_resnet101_2()
        >>> sum(parameter.size for parameter in model.parameters())
        127024552
    """
    kwargs["width"] = 128
    return _resnet("wide_resnet101_2", BottleneckBlock, 101, pretrained, **kwargs)


explained(globals())
