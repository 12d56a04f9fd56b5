"""Layers that several models share."""
from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

from wherry_nn import Layer, Sequential
from wherry_nn.layers.activation import ReLU
from wherry_nn.layers.conv import Conv2D
from wherry_nn.layers.norm import BatchNorm2D
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained

__all__ = ["ConvNormActivation", "check_count", "divisible"]


class ConvNormActivation(Sequential):
    """A convolution, followed by a normalization and an activation.

    Args:
        in_channels: of the image.
        out_channels: of the result.
        kernel_size: of the convolution.
        stride: of the convolution.
        padding: of the convolution; None keeps the size where the stride is 1.
        groups: of the convolution.
        norm_layer: a function of the number of channels that makes the normalization; None leaves it out.
        activation_layer: a function without arguments that makes the activation; None leaves it out.
        dilation: of the convolution.
        bias: of the convolution, as its `bias_attr`; None adds a bias if there is no normalization.

    Shape:
        `[N, in_channels, H, W]` to `[N, out_channels, H', W']`.

    Raises:
        ValueError: the channels are not divisible by `groups`, or a number of channels is not positive.

    Source:
        `paddle.vision.ops.ConvNormActivation`.

    Examples:
        >>> block = wherry.vision.ops.ConvNormActivation(3, 8, stride=2)
        >>> block(wherry.ones([1, 3, 8, 8])).shape
        [1, 8, 4, 4]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Any = BatchNorm2D,
        activation_layer: Any = ReLU,
        dilation: int = 1,
        bias: Any = None,
    ) -> None:
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        if bias is None:
            bias = norm_layer is None
        convolution = Conv2D(
            in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups, bias_attr=None if bias is True else bias
        )
        layers: list[Layer] = [convolution]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)


def check_count(kind: str, num_classes: Any) -> None:
    """Raise an error if `num_classes` is not an int."""
    if isinstance(num_classes, bool) or not isinstance(num_classes, int):
        raise InvalidTypeError(
            f"{kind}: num_classes is not an int. Got {short(num_classes)} ({type(num_classes).__name__}), expected an int. "
            f"Pass 0 for the features alone."
        )


def is_key(value: Any, table: Mapping[Any, Any]) -> bool:
    """Whether the table knows the value; one that has no hash, an array, it does not."""
    return isinstance(value, Hashable) and value in table


def whole(count: float) -> int:
    """`count` without its fraction: channels of a scaled network."""
    if not math.isfinite(count):
        raise InvalidArgumentError(f"scale: it is not finite. Got {count} channels, expected a finite number. Pass 1.0.")
    return int(count)


def divisible(count: float, divisor: int = 8) -> int:
    """`count` rounded to a multiple of `divisor`, at most a tenth below it: the channels of a scaled MobileNet."""
    nearest = max(divisor, whole(count + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * count else nearest


explained(globals())
