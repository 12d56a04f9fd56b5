"""ShuffleNet, second version: Ma, Zhang, Zheng & Sun (2018)."""
from __future__ import annotations

from typing import Any

from wherry_nn import Layer
from wherry_nn.functional.vision import channel_shuffle
from wherry_nn.layers.activation import ReLU, Swish
from wherry_nn.layers.common import Linear
from wherry_nn.layers.pooling import AdaptiveAvgPool2D, MaxPool2D
from wherry_tensor import Tensor
from wherry_tensor.errors import UnavailableError, UnimplementedError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import concat, flatten, split
from wherry_vision.blocks import ConvNormActivation, check_count, is_key
from wherry_vision.models.pretrained import HAPI, Weights, with_weights

__all__ = [
    "ShuffleNetV2", "shufflenet_v2_x0_25", "shufflenet_v2_x0_33", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0", "shufflenet_v2_swish",
]  # fmt: skip

model_urls: Weights = {
    "shufflenet_v2_x0_25": (HAPI + "shufflenet_v2_x0_25.pdparams", "1e509b4c140eeb096bb16e214796d03b"),
    "shufflenet_v2_x0_33": (HAPI + "shufflenet_v2_x0_33.pdparams", "3d7b3ab0eaa5c0927ff1026d31b729bd"),
    "shufflenet_v2_x0_5": (HAPI + "shufflenet_v2_x0_5.pdparams", "5e5cee182a7793c4e4c73949b1a71bd4"),
    "shufflenet_v2_x1_0": (HAPI + "shufflenet_v2_x1_0.pdparams", "122d42478b9e81eb49f8a9ede327b1a4"),
    "shufflenet_v2_x1_5": (HAPI + "shufflenet_v2_x1_5.pdparams", "faced5827380d73531d0ee027c67826d"),
    "shufflenet_v2_x2_0": (HAPI + "shufflenet_v2_x2_0.pdparams", "cd3dddcd8305e7bcd8ad14d1c69a5784"),
    "shufflenet_v2_swish": (HAPI + "shufflenet_v2_swish.pdparams", "adde0aa3b023e5b0c94a68be1c394b84"),
}

_CHANNELS = {  # of the stem, the three stages and the last convolution
    0.25: (24, 24, 48, 96, 512), 0.33: (24, 32, 64, 128, 512), 0.5: (24, 48, 96, 192, 1024), 1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024), 2.0: (24, 224, 488, 976, 2048),
}  # fmt: skip
_REPEATS = (4, 8, 4)
_ACTIVATIONS = {"swish": Swish, "relu": ReLU, None: None}


class InvertedResidual(Layer):
    """Convolves one half of the channels, then shuffles both halves."""

    def __init__(self, channels: int, activation_layer: Any = ReLU) -> None:
        super().__init__()
        half = channels // 2
        self._conv_pw = ConvNormActivation(half, half, 1, 1, 0, activation_layer=activation_layer)
        self._conv_dw = ConvNormActivation(half, half, 3, 1, 1, half, activation_layer=None)
        self._conv_linear = ConvNormActivation(half, half, 1, 1, 0, activation_layer=activation_layer)

    def forward(self, x: Tensor) -> Tensor:
        kept, computed = split(x, 2, axis=1)
        computed = self._conv_linear(self._conv_dw(self._conv_pw(computed)))
        return channel_shuffle(concat([kept, computed], axis=1), 2)


class InvertedResidualDS(Layer):
    """Halves the image in two branches, whose channels are shuffled."""

    def __init__(self, in_channels: int, out_channels: int, activation_layer: Any = ReLU) -> None:
        super().__init__()
        half = out_channels // 2
        self._conv_dw_1 = ConvNormActivation(in_channels, in_channels, 3, 2, 1, in_channels, activation_layer=None)
        self._conv_linear_1 = ConvNormActivation(in_channels, half, 1, 1, 0, activation_layer=activation_layer)
        self._conv_pw_2 = ConvNormActivation(in_channels, half, 1, 1, 0, activation_layer=activation_layer)
        self._conv_dw_2 = ConvNormActivation(half, half, 3, 2, 1, half, activation_layer=None)
        self._conv_linear_2 = ConvNormActivation(half, half, 1, 1, 0, activation_layer=activation_layer)

    def forward(self, x: Tensor) -> Tensor:
        first = self._conv_linear_1(self._conv_dw_1(x))
        second = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(x)))
        return channel_shuffle(concat([first, second], axis=1), 2)


class ShuffleNetV2(Layer):
    """ShuffleNet v2: a small model whose blocks convolve half of the channels and shuffle all.

    Args:
        scale: of the numbers of channels: 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0.
        act: "relu", "swish", or None for no activation.
        num_classes: of the output; 0 or less leaves the linear layer out.
        with_pool: averages over the image before the linear layer.

    Shape:
        `[N, 3, H, W]` to `[N, num_classes]`; without classes to `[N, C, 1, 1]`, and without pooling to `[N, C, H/32, W/32]`.

    Raises:
        NotImplementedError: `scale` is not one of these.
        RuntimeError: `act` is not one of these.

    Source:
        `paddle.vision.models.ShuffleNetV2`.

    Examples:
        >>> model = wherry.vision.models.ShuffleNetV2(scale=0.5, num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """

    def __init__(self, scale: float = 1.0, act: str | None = "relu", num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        check_count("ShuffleNetV2", num_classes)
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        if not is_key(scale, _CHANNELS):
            raise UnimplementedError(
                f"ShuffleNetV2: this scale size {short(scale)} is not implemented. Got scale={short(scale)}, expected one of "
                f"{list(_CHANNELS)}. The default is 1.0."
            )
        if not is_key(act, _ACTIVATIONS):
            raise UnavailableError(
                f"ShuffleNetV2: The activation function is not supported: {short(act)}. Got act={short(act)}, expected 'relu', 'swish' or None. "
                f"The default is 'relu'."
            )
        activation = _ACTIVATIONS[act]
        stem, *stages, last = _CHANNELS[scale]
        self._conv1 = ConvNormActivation(3, stem, 3, 2, 1, activation_layer=activation)
        self._max_pool = MaxPool2D(3, stride=2, padding=1)
        self._order: list[str] = []
        before = stem
        for stage, (channels, count) in enumerate(zip(stages, _REPEATS, strict=True)):
            for i in range(count):
                block = InvertedResidual(channels, activation) if i else InvertedResidualDS(before, channels, activation)
                self._order.append(f"{stage + 2}_{i + 1}")
                self.add_sublayer(self._order[-1], block)
            before = channels
        self._last_conv = ConvNormActivation(before, last, 1, 1, 0, activation_layer=activation)
        if with_pool:
            self._pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = Linear(last, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self._max_pool(self._conv1(inputs))
        for name in self._order:
            x = getattr(self, name)(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        return self._fc(flatten(x, 1)) if self.num_classes > 0 else x


def _shufflenet_v2(name: str, scale: float, act: str, pretrained: bool, **kwargs: Any) -> ShuffleNetV2:
    return with_weights(ShuffleNetV2(scale=scale, act=act, **kwargs), name, pretrained, model_urls)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet, second version, with channels times 0.25.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ShuffleNetV2`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.shufflenet_v2_x0_25`.

    Examples:
        >>> model = wherry.vision.models.shufflenet_v2_x0_25(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _shufflenet_v2("shufflenet_v2_x0_25", 0.25, "relu", pretrained, **kwargs)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet, second version, with channels times 0.33.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ShuffleNetV2`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.shufflenet_v2_x0_33`.

    Examples:
        >>> model = wherry.vision.models.shufflenet_v2_x0_33(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _shufflenet_v2("shufflenet_v2_x0_33", 0.33, "relu", pretrained, **kwargs)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet, second version, with channels times 0.5.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ShuffleNetV2`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.shufflenet_v2_x0_5`.

    Examples:
        >>> model = wherry.vision.models.shufflenet_v2_x0_5(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _shufflenet_v2("shufflenet_v2_x0_5", 0.5, "relu", pretrained, **kwargs)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet, second version, with channels times 1.0.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ShuffleNetV2`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.shufflenet_v2_x1_0`.

    Examples:
        >>> model = wherry.vision.models.shufflenet_v2_x1_0(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _shufflenet_v2("shufflenet_v2_x1_0", 1.0, "relu", pretrained, **kwargs)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet, second version, with channels times 1.5.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ShuffleNetV2`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.shufflenet_v2_x1_5`.

    Examples:
        >>> model = wherry.vision.models.shufflenet_v2_x1_5(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _shufflenet_v2("shufflenet_v2_x1_5", 1.5, "relu", pretrained, **kwargs)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet, second version, with channels times 2.0.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ShuffleNetV2`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.shufflenet_v2_x2_0`.

    Examples:
        >>> model = wherry.vision.models.shufflenet_v2_x2_0(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _shufflenet_v2("shufflenet_v2_x2_0", 2.0, "relu", pretrained, **kwargs)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNet, second version, with the activation swish.

    Args:
        pretrained: load weights trained on ImageNet, which are downloaded once.
        kwargs: of `ShuffleNetV2`.

    Raises:
        RuntimeError: the weights cannot be downloaded, or have another MD5.

    Source:
        `paddle.vision.models.shufflenet_v2_swish`.

    Examples:
        >>> model = wherry.vision.models.shufflenet_v2_swish(num_classes=10)
        >>> model(wherry.ones([1, 3, 64, 64])).shape
        [1, 10]
    """
    return _shufflenet_v2("shufflenet_v2_swish", 1.0, "swish", pretrained, **kwargs)


explained(globals())
