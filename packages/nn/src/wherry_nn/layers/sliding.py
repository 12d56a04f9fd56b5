"""Sliding windows as layers."""
from __future__ import annotations

from typing import Any

from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = ["Fold", "Unfold"]


@documented_by(F.unfold)
class Unfold(Layer):
    """Im2col: every window that slides over images as one column.

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


@documented_by(F.fold)
class Fold(Layer):
    """Col2im: images from columns, as Unfold makes them; where windows overlap, their elements are added.

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


explained(globals())
spelled(globals())
