"""Pooling of regions of interest, and deformable convolution."""
from __future__ import annotations

import math
from typing import Any

import wherry_tensor as api
from wherry_nn import Layer
from wherry_nn.functional._windows import sizes
from wherry_nn.initializer import Normal
from wherry_nn.utils.boxes import image_of
from wherry_tensor import Tensor, ops
from wherry_tensor._core import is_symbolic
from wherry_tensor.arguments import require_rank, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_vision.ops.reading import count, real

__all__ = ["DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "deform_conv2d", "psroi_pool", "roi_align", "roi_pool"]


def roi_align(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: int | tuple[int, int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Tensor:
    """RoI Align: pool regions of images by the means of bilinear samples.

    Args:
        x: images, float32 or float64.
        boxes: (x1, y1, x2, y2) of each region, those of the first image first.
        boxes_num: the number of regions of each image, int32.
        output_size: of the regions, (height, width) or one number for both.
        spatial_scale: what coordinates are multiplied by: the size of `x` as a share of that of the images.
        sampling_ratio: samples along each axis for each element of the result; -1 takes as many as there are pixels.
        aligned: shift coordinates by half a pixel; False is the older form.

    Shape:
        `[N, C, H, W]`, `[R, 4]` and `[N]` to `[R, C, height, width]`.

    Raises:
        TypeError: `output_size` is not an int or a pair of ints; `x` does not have a floating dtype.
        ValueError: shapes do not fit, or `boxes_num` does not count the boxes.

    Source:
        `paddle.vision.ops.roi_align`; He, Gkioxari, Dollar & Girshick (2017). Boxes have no gradient.

    Examples:
        >>> x = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> boxes, count = wherry.to_tensor([[0.0, 0.0, 4.0, 4.0]]), wherry.to_tensor([1], dtype="int32")
        >>> print(wherry.vision.ops.roi_align(x, boxes, count, 2).numpy()[0, 0])
        [[ 2.5  4.5]
         [10.5 12.5]]
    """
    height, width = _size("roi_align", output_size)
    image = _images("roi_align", x, boxes, boxes_num)
    return ops.roi_align(
        x, boxes, image, height=height, width=width, scale=real(spatial_scale, "roi_align", "spatial_scale"),
        ratio=count(sampling_ratio, "roi_align", "sampling_ratio", least=-1), aligned=bool(aligned),
    )


def roi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Tensor, output_size: int | tuple[int, int], spatial_scale: float = 1.0, name: str | None = None
) -> Tensor:
    """RoI pooling: pool regions of images by maxima over bins of whole pixels.

    Args:
        x: images, float32 or float64.
        boxes: (x1, y1, x2, y2) of each region, those of the first image first.
        boxes_num: the number of regions of each image, int32.
        output_size: of the regions, (height, width) or one number for both.
        spatial_scale: what coordinates are multiplied by.

    Shape:
        `[N, C, H, W]`, `[R, 4]` and `[N]` to `[R, C, height, width]`.

    Raises:
        TypeError: `output_size` is not an int or a pair of ints; `x` does not have a floating dtype.
        ValueError: shapes do not fit, or `boxes_num` does not count the boxes.

    Source:
        `paddle.vision.ops.roi_pool`; Girshick (2015).

    Examples:
        >>> images = wherry.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> boxes = wherry.to_tensor([[0.0, 0.0, 3.0, 3.0]])
        >>> print(wherry.vision.ops.roi_pool(images, boxes, wherry.to_tensor([1], dtype="int32"), output_size=2).numpy())
        [[[[ 5.  7.]
           [13. 15.]]]]
    """
    height, width = _size("roi_pool", output_size)
    image = _images("roi_pool", x, boxes, boxes_num)
    return ops.roi_pool(x, boxes, image, height=height, width=width, scale=real(spatial_scale, "roi_pool", "spatial_scale"))[0]


def psroi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Tensor, output_size: int | tuple[int, int], spatial_scale: float = 1.0, name: str | None = None
) -> Tensor:
    """Position-sensitive RoI pooling: means over bins, each of which reads its own channels.

    Args:
        x: images with height * width channels for each channel of the result, float32 or float64.
        boxes: (x1, y1, x2, y2) of each region, those of the first image first.
        boxes_num: the number of regions of each image, int32.
        output_size: of the regions, (height, width) or one number for both.
        spatial_scale: what coordinates are multiplied by.

    Shape:
        `[N, C * height * width, H, W]`, `[R, 4]` and `[N]` to `[R, C, height, width]`.

    Raises:
        TypeError: `output_size` is not an int or a pair of ints; `x` does not have a floating dtype.
        ValueError: shapes do not fit, or `boxes_num` does not count the boxes.

    Source:
        `paddle.vision.ops.psroi_pool`; Dai, Li, He & Sun (2016).

    Examples:
        >>> images = wherry.arange(4, dtype="float32").reshape([1, 4, 1, 1]).expand([1, 4, 4, 4])
        >>> boxes = wherry.to_tensor([[0.0, 0.0, 4.0, 4.0]])
        >>> print(wherry.vision.ops.psroi_pool(images, boxes, wherry.to_tensor([1], dtype="int32"), output_size=2).numpy())
        [[[[0. 1.]
           [2. 3.]]]]
    """
    height, width = _size("psroi_pool", output_size)
    image = _images("psroi_pool", x, boxes, boxes_num)
    return ops.psroi_pool(x, boxes, image, height=height, width=width, scale=real(spatial_scale, "psroi_pool", "spatial_scale"))


def _size(op_name: str, output_size: Any) -> tuple[int, int]:
    size = (output_size, output_size) if isinstance(output_size, int) else output_size
    if isinstance(output_size, bool) or not isinstance(size, (tuple, list)) or not all(isinstance(n, int) for n in size):
        raise InvalidTypeError(
            f"{op_name}: output_size is neither an int nor a pair. Got {short(output_size)} ({type(output_size).__name__}), expected an int or two."
        )
    if len(size) != 2 or not 1 <= min(size) <= max(size) < 1 << 31:
        raise InvalidArgumentError(
            f"{op_name}: output_size is not a valid size. Got {short(output_size)}, expected two positive numbers of at most 31 bits."
        )
    return size[0], size[1]


def _images(op_name: str, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
    """The number of the image in which each box lies."""
    for what, value in (("x", x), ("boxes", boxes), ("boxes_num", boxes_num)):
        require_tensor(value, op_name, what)
    if x.ndim != 4:
        raise InvalidArgumentError(f"{op_name}: x does not have four axes. Got x of shape {x.shape}, expected [N, C, H, W].")
    if boxes_num.ndim != 1:
        raise InvalidArgumentError(f"{op_name}: boxes_num does not fit the images. Got shape {boxes_num.shape}, expected [{x.shape[0]}].")
    count = boxes_num.astype("int64")
    # Sizes that are not known while a program is captured are compared by the op itself.
    if type(boxes_num.shape[0]) is int and type(x.shape[0]) is int and boxes_num.shape[0] != x.shape[0]:
        raise InvalidArgumentError(
            f"{op_name}: boxes_num does not fit the images. Got {boxes_num.shape[0]} for {x.shape[0]} images, expected as many."
        )
    if is_symbolic(boxes_num):
        return image_of(count, boxes.shape[0])
    return api.repeat_interleave(api.arange(0, x.shape[0], dtype="int64"), count, 0)


class _OfRegions(Layer):
    """The base of layers that pool regions to a fixed size."""

    def __init__(self, output_size: int | tuple[int, int], spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size = output_size
        self._spatial_scale = spatial_scale

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class RoIAlign(_OfRegions):
    """`roi_align` as a layer.

    Args:
        output_size: of the regions, (height, width) or one number for both.
        spatial_scale: what coordinates are multiplied by.

    Shape:
        `[N, C, H, W]`, `[R, 4]` and `[N]` to `[R, C, height, width]`.

    Raises:
        When called, as `roi_align`.

    Source:
        `paddle.vision.ops.RoIAlign`.

    Examples:
        >>> layer = wherry.vision.ops.RoIAlign(output_size=2, spatial_scale=0.5)
        >>> boxes = wherry.to_tensor([[0.0, 0.0, 8.0, 8.0]])
        >>> layer(wherry.ones([1, 3, 8, 8]), boxes, wherry.to_tensor([1], dtype="int32")).shape
        [1, 3, 2, 2]
    """

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor, aligned: bool = True) -> Tensor:
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


class RoIPool(_OfRegions):
    """`roi_pool` as a layer.

    Args:
        output_size: of the regions, (height, width) or one number for both.
        spatial_scale: what coordinates are multiplied by.

    Shape:
        `[N, C, H, W]`, `[R, 4]` and `[N]` to `[R, C, height, width]`.

    Raises:
        When called, as `roi_pool`.

    Source:
        `paddle.vision.ops.RoIPool`.

    Examples:
        >>> layer = wherry.vision.ops.RoIPool(output_size=2, spatial_scale=0.5)
        >>> boxes = wherry.to_tensor([[0.0, 0.0, 8.0, 8.0]])
        >>> layer(wherry.ones([1, 3, 8, 8]), boxes, wherry.to_tensor([1], dtype="int32")).shape
        [1, 3, 2, 2]
    """

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)


class PSRoIPool(_OfRegions):
    """`psroi_pool` as a layer.

    Args:
        output_size: of the regions, (height, width) or one number for both.
        spatial_scale: what coordinates are multiplied by.

    Shape:
        `[N, C * height * width, H, W]`, `[R, 4]` and `[N]` to `[R, C, height, width]`.

    Raises:
        When called, as `psroi_pool`.

    Source:
        `paddle.vision.ops.PSRoIPool`.

    Examples:
        >>> layer = wherry.vision.ops.PSRoIPool(output_size=2, spatial_scale=0.5)
        >>> boxes = wherry.to_tensor([[0.0, 0.0, 8.0, 8.0]])
        >>> layer(wherry.ones([1, 12, 8, 8]), boxes, wherry.to_tensor([1], dtype="int32")).shape
        [1, 3, 2, 2]
    """

    def __init__(self, output_size: int | tuple[int, int], spatial_scale: float = 1.0) -> None:
        super().__init__(output_size, spatial_scale)
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        return psroi_pool(x, boxes, boxes_num, self.output_size, self.spatial_scale)


def deform_conv2d(
    x: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Deformable convolution: reads its taps at given offsets for each position, between the pixels.

    Args:
        x: images, float32 or float64.
        offset: of each tap at each position: y and x, alternating.
        weight: of the convolution.
        bias: is added to each channel.
        stride: a number, or (height, width).
        padding: a number, or (height, width), of zeros.
        dilation: a number, or (height, width).
        deformable_groups: the channels are divided into as many groups with offsets of their own.
        groups: the channels are divided into as many groups with convolutions of their own.
        mask: a factor for each tap at each position (version 2); None leaves it out.

    Shape:
        `[N, C, H, W]`, `[N, 2 * deformable_groups * taps, H', W']` and `[M, C / groups, height, width]` to `[N, M, H', W']`;
        the mask is `[N, deformable_groups * taps, H', W']`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: shapes do not fit.

    Source:
        `paddle.vision.ops.deform_conv2d`; Dai et al. (2017), Zhu, Hu, Lin & Dai (2018).

    Examples:
        >>> x, weight = wherry.ones([1, 1, 4, 4]), wherry.ones([1, 1, 3, 3])
        >>> out = wherry.vision.ops.deform_conv2d(x, wherry.zeros([1, 18, 2, 2]), weight)
        >>> print(out.numpy()[0, 0])
        [[9. 9.]
         [9. 9.]]
    """
    for what, value in (("x", x), ("offset", offset), ("weight", weight)):
        if not isinstance(value, Tensor) or value.ndim != 4:
            got = f"shape {value.shape}" if isinstance(value, Tensor) else f"{short(value)} ({type(value).__name__})"
            error = InvalidArgumentError if isinstance(value, Tensor) else InvalidTypeError
            raise error(f"deform_conv2d: `{what}` does not have four axes. Got {got}, expected a tensor of rank 4.")
    for what, given, rank in (("mask", mask, 4), ("bias", bias, 1)):
        if given is not None:
            require_rank(given, "deform_conv2d", rank, name=what)
    deformable_groups = count(deformable_groups, "deform_conv2d", "deformable_groups")
    kernel = (weight.shape[2], weight.shape[3])
    out_channels, inner = weight.shape[:2]
    if type(groups) is not int or groups < 1 or out_channels % groups or inner * groups != x.shape[1]:
        raise InvalidArgumentError(
            f"deform_conv2d: the groups do not fit the channels. Got {x.shape[1]} channels and weight of shape {weight.shape}, "
            f"expected [M, {x.shape[1]} / groups, height, width] with M a multiple of groups."
        )
    columns = ops.deform_columns(
        x, offset, mask, kernel=kernel, strides=sizes(stride, 2, "deform_conv2d", "stride"),
        paddings=sizes(padding, 2, "deform_conv2d", "padding", least=0), dilations=sizes(dilation, 2, "deform_conv2d", "dilation"),
        groups=deformable_groups,
    )  # fmt: skip
    n, high, wide = offset.shape[0], offset.shape[2], offset.shape[3]
    taps = inner * kernel[0] * kernel[1]
    if groups == 1:
        out = api.matmul(weight.reshape([out_channels, taps]), columns)
    else:
        out = api.matmul(weight.reshape([groups, out_channels // groups, taps]), columns.reshape([n, groups, taps, high * wide]))
    out = out.reshape([n, out_channels, high, wide])
    return out if bias is None else out + bias.reshape([1, -1, 1, 1])


class DeformConv2D(Layer):
    """`deform_conv2d` as a layer, whose offsets another layer computes.

    Args:
        in_channels: of the images.
        out_channels: of the result.
        kernel_size: a number, or (height, width).
        stride: a number, or (height, width).
        padding: a number, or (height, width), of zeros.
        dilation: a number, or (height, width).
        deformable_groups: the channels are divided into as many groups with offsets of their own.
        groups: the channels are divided into as many groups with convolutions of their own.
        weight_attr: a ParamAttr, an initializer, or None to start as a convolution.
        bias_attr: likewise; None starts with zeros, False leaves it out.

    Attributes:
        weight: `[out_channels, in_channels / groups, height, width]`.
        bias: `[out_channels]`.

    Shape:
        As `deform_conv2d`.

    Raises:
        AssertionError: `weight_attr` is False (also a ValueError).
        ValueError: the channels cannot be divided.

    Source:
        `paddle.vision.ops.DeformConv2D`.

    Examples:
        >>> layer = wherry.vision.ops.DeformConv2D(2, 4, 3)
        >>> layer(wherry.ones([1, 2, 5, 5]), wherry.zeros([1, 18, 3, 3])).shape
        [1, 4, 3, 3]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise InvalidArgumentError("DeformConv2D: weight_attr should not be False in Conv. Got False, expected a ParamAttr or None.")
        in_channels, out_channels, groups, deformable_groups = (
            count(value, "DeformConv2D", what)
            for what, value in (
                ("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups), ("deformable_groups", deformable_groups)
            )
        )
        if in_channels % groups or out_channels % groups:
            raise InvalidArgumentError(
                f"DeformConv2D: in_channels must be divisible by groups. Got {in_channels} and {out_channels} channels for {groups} groups, "
                f"expected multiples."
            )
        self._stride, self._padding, self._dilation = stride, padding, dilation
        self._deformable_groups, self._groups = deformable_groups, groups
        self._in_channels, self._out_channels = in_channels, out_channels
        kernel = sizes(kernel_size, 2, "DeformConv2D", "kernel_size")
        spread = math.sqrt(2 / (kernel[0] * kernel[1] * in_channels))
        self.weight: Tensor = self.create_parameter(  # type: ignore[assignment]  # only False leaves it out
            [out_channels, in_channels // groups, *kernel], attr=weight_attr, default_initializer=Normal(0.0, spread)
        )
        self.bias = self.create_parameter([out_channels], attr=bias_attr, is_bias=True)

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        return deform_conv2d(
            x, offset, self.weight, self.bias, self._stride, self._padding, self._dilation, self._deformable_groups, self._groups, mask
        )
