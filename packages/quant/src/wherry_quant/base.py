"""What observes values and says how they are quantized: the bases of observers and quanters."""
from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

import numpy as np

from wherry_nn.layer import Layer
from wherry_tensor._core import Tensor

__all__ = ["BaseObserver", "BaseQuanter"]


class BaseQuanter(Layer, abc.ABC):
    """A layer that sees values pass, may round them on the way, and knows afterwards by which scales they are whole numbers.

    A value `x` is stored as `round(x / scale * (2 ** (bit_length - 1) - 1))`: the scale is the largest magnitude that fits.

    Source:
        `paddle.quantization.BaseQuanter`.

    Examples:
        >>> from wherry.quantization import BaseQuanter, quanter
        >>> @quanter("FixedScale")
        ... class FixedScaleLayer(BaseQuanter):
        ...     def __init__(self, layer, scale=1.0):
        ...         super().__init__()
        ...         self._scale = scale
        ...     def forward(self, input):
        ...         return input
        ...     def scales(self):
        ...         return wherry.to_tensor(self._scale)
        ...     def zero_points(self):
        ...         return None
        ...     def quant_axis(self):
        ...         return -1
        ...     def bit_length(self):
        ...         return 8
        >>> config = wherry.quantization.QuantConfig(activation=FixedScale(scale=2.0), weight=None)
        >>> config.global_config.activation
        FixedScale(scale=2.0)
    """

    @abc.abstractmethod
    def forward(self, input: Tensor) -> Tensor:
        """The values, as they go on: rounded, or as they came."""

    @abc.abstractmethod
    def scales(self) -> Tensor | np.ndarray[Any, Any]:
        """The largest magnitude that fits: one number, one for each place of an axis, or one for each group of rows."""

    @abc.abstractmethod
    def zero_points(self) -> Tensor | np.ndarray[Any, Any] | None:
        """The whole number that stands for 0; None where that is 0."""

    @abc.abstractmethod
    def quant_axis(self) -> int | Iterable[int]:
        """The axis along which scales differ; -1 where one scale holds for all."""

    @abc.abstractmethod
    def bit_length(self) -> int:
        """The bits of a whole number."""


class BaseObserver(BaseQuanter, abc.ABC):
    """A quanter that lets values pass as they are, and computes its scales when all have been seen.

    Source:
        `paddle.quantization.BaseObserver`.
    """

    @abc.abstractmethod
    def cal_thresholds(self) -> None:
        """Compute the scales from what was seen."""
