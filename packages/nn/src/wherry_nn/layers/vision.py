"""Pixel shuffle and channel shuffle as layers."""
from __future__ import annotations

from wherry_nn import functional as F
from wherry_nn.functional.vision import check_factor
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


@documented_by(F.pixel_shuffle)
class PixelShuffle(Layer):
    """Pixel shuffle: rearrange channels into squares of pixels.

    Raises:
        TypeError: `upscale_factor` is not an int.
        ValueError: `upscale_factor` is not positive, or there is no such layout.

    Examples:
        >>> wherry.nn.PixelShuffle(3)(wherry.ones([2, 9, 4, 4])).shape
        [2, 1, 12, 12]
    """

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        check_factor(upscale_factor, "upscale_factor", data_format, type(self).__name__)
        self._upscale_factor = upscale_factor
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format)

    def extra_repr(self) -> str:
        return described(self._name, upscale_factor=self._upscale_factor, **_layout(self._data_format))


@documented_by(F.pixel_unshuffle)
class PixelUnshuffle(Layer):
    """Pixel unshuffle, the inverse of PixelShuffle: rearrange squares of pixels into channels.

    Raises:
        TypeError: `downscale_factor` is not an int.
        ValueError: `downscale_factor` is not positive, or there is no such layout.

    Examples:
        >>> wherry.nn.PixelUnshuffle(3)(wherry.ones([2, 1, 12, 12])).shape
        [2, 9, 4, 4]
    """

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        check_factor(downscale_factor, "downscale_factor", data_format, type(self).__name__)
        self._downscale_factor = downscale_factor
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format)

    def extra_repr(self) -> str:
        return described(self._name, downscale_factor=self._downscale_factor, **_layout(self._data_format))


@documented_by(F.channel_shuffle)
class ChannelShuffle(Layer):
    """Channel shuffle: the first channel of each group, then the second of each, and so on.

    Raises:
        TypeError: `groups` is not an int.
        ValueError: `groups` is not positive, or there is no such layout.

    Examples:
        >>> x = wherry.arange(6, dtype="float32").reshape([1, 6, 1, 1])
        >>> print(wherry.nn.ChannelShuffle(2)(x).flatten().numpy())
        [0. 3. 1. 4. 2. 5.]
    """

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        check_factor(groups, "groups", data_format, type(self).__name__)
        self._groups = groups
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.channel_shuffle(x, self._groups, self._data_format)

    def extra_repr(self) -> str:
        return described(self._name, groups=self._groups, **_layout(self._data_format))


def _layout(data_format: str) -> dict[str, str]:
    return {} if data_format == "NCHW" else {"data_format": data_format}


explained(globals())
spelled(globals())
