"""Convolution layers."""
from __future__ import annotations

import math
from typing import Any

from wherry_nn.functional._windows import sizes
from wherry_nn.functional.conv import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    convolve,
    convolve_transposed,
    window_of,
)
from wherry_nn.functional.padding import pad
from wherry_nn.initializer import Normal
from wherry_nn.layer import Layer
from wherry_nn.layers.documented import documented_by
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = ["Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _Convolution(Layer):
    """Base of convolutions of all ranks and of their transposes.

    Args:
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: an int, or one for each axis.
        padding_mode: "zeros", "reflect", "replicate" or "circular": how the input is padded; all but "zeros" need an int as `padding`.
        weight_attr: a ParamAttr, an initializer, or None for a normal distribution of variance
            `2 / (in_channels * kernel elements)`.
        bias_attr: likewise; None starts with zeros, False leaves the bias out.

    Raises:
        ValueError: an argument is out of range.
    """

    _rank: int
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        padding_mode: str,
        output_padding: Any,
        dilation: Any,
        groups: int,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
    ) -> None:
        super().__init__()
        kind, rank = type(self).__name__, self._rank
        if weight_attr is False:
            raise AssertedArgumentError(
                f"{kind}: weight_attr should not be False in Conv. Got weight_attr=False, expected a ParamAttr or None. "
                f"A convolution without bias has bias_attr=False."
            )
        if padding_mode not in _PADDING_MODES:
            raise InvalidArgumentError(
                f"{kind}: padding_mode is not known. Got padding_mode={short(padding_mode)}, expected one of "
                f"{', '.join(_PADDING_MODES)}. The default is 'zeros'."
            )
        self._in_channels, self._out_channels = in_channels, out_channels
        kernel = sizes(kernel_size, rank, kind, "kernel_size")
        filled = padding_mode != "zeros"
        if filled and (not hasattr(padding, "__index__") or isinstance(padding, bool)):
            raise InvalidTypeError(
                f"{kind}: when padding_mode is '{padding_mode}', type of padding must be int. Got padding={short(padding)} "
                f"({type(padding).__name__}), expected an int. Pad with nn.functional.pad before the layer for other forms."
            )
        self._window = window_of(kind, stride, 0 if filled else padding, dilation, groups, data_format, rank)
        strides, _, dilations, self._groups, _last = self._window
        if in_channels % self._groups:
            raise InvalidArgumentError(
                f"{kind}: in_channels must be divisible by groups. Got in_channels={in_channels} and groups={groups}, "
                f"expected a multiple of {groups}. Every group sees as many channels as the others."
            )
        self._kernel_size, self._stride, self._dilation = list(kernel), list(strides), list(dilations)
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, data_format
        self._fill = [int(padding)] * (2 * rank) if filled else None
        self.output_padding = output_padding
        self._output_padding = sizes(output_padding, rank, kind, "output_padding", least=0)
        # The arguments of ops.conv2d, where they are known now: the common case then costs no more than the op.
        self._attributes = (*self._window[:4], data_format) if rank == 2 and self._window[1] is not None and not filled else None
        if self._transposed:
            shape, initializer = [in_channels, out_channels // self._groups, *kernel], None
        else:
            shape = [out_channels, in_channels // self._groups, *kernel]
            initializer = Normal(0.0, math.sqrt(2.0 / max(1, math.prod(kernel) * in_channels)))  # He et al. (2015)
        self.weight = self.create_parameter(shape, attr=weight_attr, default_initializer=initializer)
        self.bias = self.create_parameter([out_channels], attr=bias_attr, is_bias=True)

    def forward(self, x: Tensor) -> Tensor:
        if self._attributes is not None:
            try:
                return ops.conv2d(x, self.weight, self.bias, *self._attributes)
            except TypeError:
                pass  # the general path below raises the error
        if self._fill is not None:
            x = pad(x, self._fill, mode=self._padding_mode, data_format=self._data_format)
        return convolve(self._op_name, self._rank, x, self.weight, self.bias, *self._window)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        if self._stride != [1] * self._rank:
            text += f", stride={self._stride}"
        if self._padding != 0:
            text += f", padding={self._padding}"
        if self._padding_mode != "zeros":
            text += f", padding_mode={self._padding_mode}"
        if self.output_padding != 0:
            text += f", output_padding={self.output_padding}"
        if self._dilation != [1] * self._rank:
            text += f", dilation={self._dilation}"
        if self._groups != 1:
            text += f", groups={self._groups}"
        return f"{text}, data_format={self._data_format}"

    @property
    def _op_name(self) -> str:
        return f"conv{self._rank}d_transpose" if self._transposed else f"conv{self._rank}d"


class _TransposedConvolution(_Convolution):
    """Base of transposed convolutions.

    Args:
        weight_attr: a ParamAttr, an initializer, or None for XavierUniform.
    """

    _transposed = True

    def forward(self, x: Tensor, output_size: Any = None) -> Tensor:  # type: ignore[override]
        more = self._output_padding if output_size is None else (0,) * self._rank
        return convolve_transposed(
            self._op_name, self._rank, x, self.weight, self.bias, *self._window, more, output_size  # type: ignore[arg-type]
        )


@documented_by(conv1d)
class Conv1D(_Convolution):
    """Convolution along one axis, with its weight and bias.

    Attributes:
        weight: `[out_channels, in_channels / groups, k]`.
        bias: `[out_channels]`, or None.

    Shape:
        `[N, C, L]` to `[N, out_channels, L']`, or with the channels last.

    Raises:
        TypeError: `padding` is not an int although `padding_mode` is not "zeros" (also a ValueError).

    Examples:
        >>> conv = wherry.nn.Conv1D(3, 4, 3, padding=1)
        >>> conv(wherry.ones([2, 3, 8])).shape
        [2, 4, 8]
    """

    _rank = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, padding_mode, 0, dilation, groups, weight_attr, bias_attr,
            data_format,
        )


@documented_by(conv2d)
class Conv2D(_Convolution):
    """Convolution of images, with its weight and bias.

    Attributes:
        weight: `[out_channels, in_channels / groups, kh, kw]`.
        bias: `[out_channels]`, or None.

    Shape:
        `[N, C, H, W]` to `[N, out_channels, H', W']`, or with the channels last.

    Raises:
        TypeError: `padding` is not an int although `padding_mode` is not "zeros" (also a ValueError).

    Examples:
        >>> conv = wherry.nn.Conv2D(3, 8, 3, stride=2, padding=1)
        >>> conv
        Conv2D(3, 8, kernel_size=[3, 3], stride=[2, 2], padding=1, data_format=NCHW)
        >>> conv(wherry.ones([2, 3, 32, 32])).shape
        [2, 8, 16, 16]
    """

    _rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, padding_mode, 0, dilation, groups, weight_attr, bias_attr,
            data_format,
        )


@documented_by(conv3d)
class Conv3D(_Convolution):
    """Convolution of volumes, with its weight and bias.

    Attributes:
        weight: `[out_channels, in_channels / groups, kd, kh, kw]`.
        bias: `[out_channels]`, or None.

    Shape:
        `[N, C, D, H, W]` to `[N, out_channels, D', H', W']`, or with the channels last.

    Raises:
        TypeError: `padding` is not an int although `padding_mode` is not "zeros" (also a ValueError).

    Examples:
        >>> conv = wherry.nn.Conv3D(3, 4, 3, padding="SAME")
        >>> conv(wherry.ones([1, 3, 4, 8, 8])).shape
        [1, 4, 4, 8, 8]
    """

    _rank = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, padding_mode, 0, dilation, groups, weight_attr, bias_attr,
            data_format,
        )


@documented_by(conv1d_transpose)
class Conv1DTranspose(_TransposedConvolution):
    """Transposed convolution along one axis, with its weight and bias.

    Attributes:
        weight: `[in_channels, out_channels / groups, k]`.
        bias: `[out_channels]`, or None.

    Shape:
        `[N, C, L]` to `[N, out_channels, L']`, or with the channels last.

    Examples:
        >>> conv = wherry.nn.Conv1DTranspose(4, 3, 2, stride=2)
        >>> conv(wherry.ones([2, 4, 8])).shape
        [2, 3, 16]
    """

    _rank = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, "zeros", output_padding, dilation, groups, weight_attr,
            bias_attr, data_format,
        )


@documented_by(conv2d_transpose)
class Conv2DTranspose(_TransposedConvolution):
    """Transposed convolution of images, with its weight and bias.

    Attributes:
        weight: `[in_channels, out_channels / groups, kh, kw]`.
        bias: `[out_channels]`, or None.

    Shape:
        `[N, C, H, W]` to `[N, out_channels, H', W']`, or with the channels last.

    Examples:
        >>> conv = wherry.nn.Conv2DTranspose(4, 3, 2, stride=2)
        >>> conv(wherry.ones([2, 4, 8, 8])).shape
        [2, 3, 16, 16]
    """

    _rank = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, "zeros", output_padding, dilation, groups, weight_attr,
            bias_attr, data_format,
        )


@documented_by(conv3d_transpose)
class Conv3DTranspose(_TransposedConvolution):
    """Transposed convolution of volumes, with its weight and bias.

    Attributes:
        weight: `[in_channels, out_channels / groups, kd, kh, kw]`.
        bias: `[out_channels]`, or None.

    Shape:
        `[N, C, D, H, W]` to `[N, out_channels, D', H', W']`, or with the channels last.

    Examples:
        >>> conv = wherry.nn.Conv3DTranspose(4, 3, 2, stride=2)
        >>> conv(wherry.ones([2, 4, 4, 4, 4])).shape
        [2, 3, 8, 8, 8]
    """

    _rank = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, "zeros", output_padding, dilation, groups, weight_attr,
            bias_attr, data_format,
        )


explained(globals())
spelled(globals())
