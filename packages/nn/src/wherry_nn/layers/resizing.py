"""Resizing as layers."""
from __future__ import annotations

from typing import Any

from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = ["Upsample", "UpsamplingBilinear2D", "UpsamplingNearest2D"]


@documented_by(F.interpolate)
class Upsample(Layer):
    """Interpolation (resizing) of images, sequences or volumes.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0]).reshape([1, 1, 1, 2])
        >>> print(wherry.nn.Upsample([1, 4], mode="bilinear")(x).flatten().numpy())
        [1.   1.25 1.75 2.  ]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode.lower() if isinstance(mode, str) else mode
        self.align_corners = align_corners
        self.align_mode = align_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.align_mode, self.data_format
        )

    def extra_repr(self) -> str:
        return described(
            self.name,
            **_target(self.size, self.scale_factor),
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
        )


class UpsamplingNearest2D(Layer):
    """Interpolation (resizing) of images by the nearest element.

    Args:
        size: height and width of the result.
        scale_factor: by which both are multiplied, instead of `size`.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` (or channels last) to the same with the new height and width.

    Raises:
        TypeError: the input is not a Tensor (also a ValueError).
        ValueError: the input is not 4-D, both or none of `size` and `scale_factor` are given, or a size is not positive.

    Source:
        `paddle.nn.UpsamplingNearest2D`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0]).reshape([1, 1, 1, 2])
        >>> print(wherry.nn.UpsamplingNearest2D(scale_factor=2)(x)[0, 0].numpy())
        [[1. 1. 2. 2.]
         [1. 1. 2. 2.]]
    """

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(x, self.size, self.scale_factor, "nearest", False, 0, self.data_format)

    def extra_repr(self) -> str:
        return described(self.name, **_target(self.size, self.scale_factor), data_format=self.data_format)


class UpsamplingBilinear2D(Layer):
    """Bilinear interpolation (resizing) of images, with aligned corners.

    Args:
        size: height and width of the result.
        scale_factor: by which both are multiplied, instead of `size`.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` (or channels last) to the same with the new height and width.

    Raises:
        TypeError: the input is not a Tensor, or not floating (also a ValueError).
        ValueError: the input is not 4-D, both or none of `size` and `scale_factor` are given, or a size is not positive.

    Source:
        `paddle.nn.UpsamplingBilinear2D`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 3.0]).reshape([1, 1, 1, 2])
        >>> print(wherry.nn.UpsamplingBilinear2D([1, 3])(x).flatten().numpy())
        [1. 2. 3.]
    """

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.data_format = data_format
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(x, self.size, self.scale_factor, "bilinear", True, 0, self.data_format)

    def extra_repr(self) -> str:
        return described(self.name, **_target(self.size, self.scale_factor), data_format=self.data_format)


def _target(size: Any, scale_factor: Any) -> dict[str, Any]:
    return {"size": size} if scale_factor is None else {"scale_factor": scale_factor}


explained(globals())
spelled(globals())
