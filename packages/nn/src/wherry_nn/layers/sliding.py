"""Sliding windows as layers."""
from __future__ import annotations

from typing import Any

from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_tensor._core import Tensor

__all__ = ["Fold", "Unfold"]


class Unfold(Layer):
    """Im2col: every window that slides over images as one column; see `functional.unfold`.

    Args:
        kernel_sizes: height and width of the window, or one int for both.
        dilations: the distance of neighbouring elements of the window, likewise.
        paddings: zeros around the image: an int, `[vertical, horizontal]`, or `[top, left, bottom, right]`.
        strides: by how much the window moves.
        name: shown by `repr`; otherwise unused.

    Shape:
        `[N, C, H, W]` to `[N, C * kh * kw, L]`, L the number of windows.

    Source:
        `paddle.nn.Unfold`. Here `strides` comes last, other than in `functional.unfold`.

    Examples:
        >>> wherry.nn.Unfold(3, strides=2)(wherry.ones([2, 3, 9, 9])).shape
        [2, 27, 16]
    """

    def __init__(
        self, kernel_sizes: Any, dilations: Any = 1, paddings: Any = 0, strides: Any = 1, name: str | None = None
    ) -> None:
        super().__init__()
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self) -> str:
        return described(
            self.name,
            kernel_size=self.kernel_sizes,
            dilation=self.dilations,
            padding=self.paddings,
            stride=self.strides,
        )


class Fold(Layer):
    """Col2im: images from columns, as Unfold makes them; where windows overlap, their elements are added.

    Args:
        output_sizes: height and width of the images, or one int for both.
        kernel_sizes: height and width of the window, likewise.
        dilations: the distance of neighbouring elements of the window, likewise.
        paddings: what is cut off around: an int, `[vertical, horizontal]`, or `[top, left, bottom, right]`.
        strides: by how much the window moves.
        name: shown by `repr`; otherwise unused.

    Shape:
        `[N, C * kh * kw, L]` to `[N, C, H, W]`.

    Source:
        `paddle.nn.Fold`. Here `strides` comes last, other than in `functional.fold`.

    Examples:
        >>> wherry.nn.Fold(9, 3, strides=2)(wherry.ones([2, 27, 16])).shape
        [2, 3, 9, 9]
    """

    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.output_sizes = output_sizes
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_sizes, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self) -> str:
        return described(
            self.name,
            kernel_size=self.kernel_sizes,
            dilation=self.dilations,
            padding=self.paddings,
            stride=self.strides,
        )
