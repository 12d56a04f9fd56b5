"""Padding as layers."""
from __future__ import annotations

from typing import Any

from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = ["Pad1D", "Pad2D", "Pad3D", "ZeroPad2D"]


class _Pad(Layer):
    def __init__(
        self, padding: Any, spatial: int, mode: str, value: float, data_format: str, name: str | None
    ) -> None:
        super().__init__()
        self._pad = [padding] * (2 * spatial) if isinstance(padding, int) else padding
        self._mode = mode
        self._value = value
        self._data_format = data_format
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x, self._pad, self._mode, self._value, self._data_format)

    def extra_repr(self) -> str:
        return described(
            self._name, padding=self._pad, mode=self._mode, value=self._value, data_format=self._data_format
        )


class Pad1D(_Pad):
    """Padding of sequences: adds elements before and after.

    Args:
        padding: `[left, right]`, or one int for both; negative numbers cut.
        mode: "constant", "reflect", "replicate" or "circular".
        value: what "constant" adds.
        data_format: "NCL" or "NLC".

    Shape:
        `[N, C, L]` to `[N, C, left + L + right]`.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input is not 3-D, an unknown mode or layout (also an AssertionError), a wrong number of paddings, or an
            input too small to be mirrored.

    Source:
        `paddle.nn.Pad1D`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0, 3.0]).reshape([1, 1, 3])
        >>> print(wherry.nn.Pad1D([1, 2], mode="replicate")(x).flatten().numpy())
        [1. 1. 2. 3. 3. 3.]
    """

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, 1, mode, value, data_format, name)


class Pad2D(_Pad):
    """Padding of images: adds elements around them.

    Args:
        padding: `[left, right, top, bottom]`, or one int for all; negative numbers cut.
        mode: "constant", "reflect", "replicate" or "circular".
        value: what "constant" adds.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to `[N, C, top + H + bottom, left + W + right]`.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input is not 4-D, an unknown mode or layout (also an AssertionError), a wrong number of paddings, or an
            input too small to be mirrored.

    Source:
        `paddle.nn.Pad2D`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0, 3.0]).reshape([1, 1, 1, 3])
        >>> print(wherry.nn.Pad2D([1, 0, 1, 0])(x)[0, 0].numpy())
        [[0. 0. 0. 0.]
         [0. 1. 2. 3.]]
    """

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, 2, mode, value, data_format, name)


class Pad3D(_Pad):
    """Padding of volumes: adds elements around them.

    Args:
        padding: `[left, right, top, bottom, front, back]`, or one int for all; negative numbers cut.
        mode: "constant", "reflect", "replicate" or "circular".
        value: what "constant" adds.
        data_format: "NCDHW" or "NDHWC".

    Shape:
        `[N, C, D, H, W]` to `[N, C, front + D + back, top + H + bottom, left + W + right]`.

    Raises:
        TypeError: the input is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: the input is not 5-D, an unknown mode or layout (also an AssertionError), a wrong number of paddings, or an
            input too small to be mirrored.

    Source:
        `paddle.nn.Pad3D`.

    Examples:
        >>> wherry.nn.Pad3D(1)(wherry.ones([1, 2, 3, 4, 5])).shape
        [1, 2, 5, 6, 7]
    """

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, 3, mode, value, data_format, name)


@documented_by(F.zeropad2d)
class ZeroPad2D(_Pad):
    """Zero padding of images.

    Args:
        padding: `[left, right, top, bottom]`, or one int for all.

    Examples:
        >>> wherry.nn.ZeroPad2D([1, 0, 1, 2])(wherry.ones([1, 1, 2, 3])).shape
        [1, 1, 5, 4]
    """

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, 2, "constant", 0.0, data_format, name)

    def extra_repr(self) -> str:
        return described(self._name, padding=self._pad, data_format=self._data_format)


explained(globals())
spelled(globals())
