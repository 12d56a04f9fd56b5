"""Layers that round to whole numbers and back: what quanters become in `convert`."""
from __future__ import annotations

import abc
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_nn.layer import Layer
from wherry_nn.parameter import Parameter
from wherry_quant.base import BaseQuanter
from wherry_quant.numbers import dequantize, holder, levels, places_of, quantize, whole_numbers
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.functions.creation import to_tensor

__all__ = ["ConvertibleQuantedLayer", "LinearDequanter", "LinearQuanter", "LinearQuanterDequanter"]


class _Linear(Layer):
    """Base of both directions: the scales, as Paddle keeps them, and the steps, which the ops take."""

    def __init__(
        self, scales: Any, zero_point: Any = None, quant_axis: int | None = None, bit_length: int = 8, group_size: int = 128
    ) -> None:
        super().__init__()
        kind = type(self).__name__
        array = _array(scales, np.float32)
        if not np.all(np.isfinite(array)) or np.any(array < 0):
            raise InvalidArgumentError(
                f"{kind}: scales are the largest magnitudes of values. Got {array.ravel()[:4]} (of shape {list(array.shape)}), expected finite "
                f"numbers >= 0. Look for NaN or infinity in the data that was observed."
            )
        self._scales = Parameter(to_tensor(array), trainable=False)
        self._quant_axis, self._bit_length, self._group_size = -1 if quant_axis is None else int(quant_axis), int(bit_length), group_size
        self._places = places_of(array, self._quant_axis, group_size, kind)
        self._zero_point = None if zero_point is None or not np.any(_array(zero_point, np.float32)) else to_tensor(_array(zero_point, np.int32))
        self._known: tuple[Any, Tensor] | None = None

    @property
    def step(self) -> Tensor:
        """What 1 stands for: computed from the scales, and kept while nobody writes those."""
        version = (self._scales, self._scales.inplace_version)
        if self._known is None or self._known[0][0] is not version[0] or self._known[0][1] != version[1]:
            with no_grad():
                array = np.maximum(self._scales.numpy(), np.float32(_SMALLEST)) / np.float32(levels(self._bit_length))
                object.__setattr__(self, "_known", (version, to_tensor(array)))
        return self._known[1]  # type: ignore[index]

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_known": None}

    @classmethod
    def from_quanter(cls, quanter: BaseQuanter) -> Any:
        """The layer with the scales of a quanter."""
        return cls(*_settings(quanter))


_SMALLEST = 1e-30  # a step of 0 has no whole numbers; values that were all 0 stay so


class LinearQuanter(_Linear):
    """Values to whole numbers: `round(x / scales * 127)`, ties to even, within -128 and 127.

    Args:
        scales: the largest magnitude that fits: a number, one for each place of `quant_axis`, or `[groups, columns]` for groups of rows.
        zero_point: the whole number that stands for 0.
        quant_axis: the axis along which scales differ; None or -1 for one scale.
        bit_length: 8 gives int8.
        group_size: rows of a group.

    Shape:
        `[...]` to `[...]`, int8. Paddle keeps the same whole numbers in float32.

    Raises:
        ValueError: scales are negative or not finite, or do not fit their axis.

    Source:
        `paddle.nn.quant.format.LinearQuanter`.

    Examples:
        >>> from wherry.nn.quant.format import LinearDequanter, LinearQuanter
        >>> q = LinearQuanter(wherry.to_tensor(2.0))(wherry.to_tensor([1.0, -0.3, 5.0]))
        >>> print(q.numpy(), LinearDequanter(wherry.to_tensor(2.0))(q).numpy())
        [ 64 -19 127] [ 1.007874   -0.2992126   2.        ]
    """

    def forward(self, input: Tensor) -> Tensor:
        return quantize(input, self.step, self._zero_point, self._places, self._bit_length)


class LinearDequanter(_Linear):
    """Whole numbers to values: `x * scales / 127`.

    Args:
        scales: as of LinearQuanter.
        zero_point: the whole number that stands for 0.
        quant_axis: the axis along which scales differ; None or -1 for one scale.
        bit_length: the bits of the whole numbers.
        group_size: rows of a group.

    Shape:
        `[...]`, int8, to `[...]`, float32.

    Raises:
        ValueError: scales are negative or not finite, or do not fit their axis.

    Source:
        `paddle.nn.quant.format.LinearDequanter`.
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dtype.is_floating:  # whole numbers in floats, as Paddle's layers pass them
            input = input.astype(holder(self._bit_length))
        return dequantize(input, self.step, self._zero_point, self._places)


class LinearQuanterDequanter(Layer):
    """Values rounded to whole numbers and back; without a quanter, whole numbers to values.

    Source:
        `paddle.nn.quant.format.LinearQuanterDequanter`.
    """

    def __init__(self, quanter: LinearQuanter | None, dequanter: LinearDequanter | None) -> None:
        super().__init__()
        self._sub_layers["_quanter"] = quanter
        self._sub_layers["_dequanter"] = dequanter

    def forward(self, input: Tensor) -> Tensor:
        out = input if self._quanter is None else self._quanter(input)
        return out if self._dequanter is None else self._dequanter(out)

    @staticmethod
    def from_quanter(quanter: BaseQuanter) -> LinearQuanterDequanter:
        """Both directions with the scales of a quanter."""
        return LinearQuanterDequanter(LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter))


class ConvertibleQuantedLayer(Layer, abc.ABC):
    """A layer with quanters, which `convert` replaces.

    Source:
        `paddle.nn.quant.format.ConvertibleQuantedLayer`.
    """

    converted = False

    @abc.abstractmethod
    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Names of weights and of the quanters that belong to them."""

    @abc.abstractmethod
    def activation_quanters(self) -> list[str]:
        """Names of the quanters of inputs."""

    def _convert(self, remain_weight: bool = False) -> None:
        """Replace quanters by layers that round; weights become whole numbers, unless they remain."""
        if self.converted:
            return
        for weight, quanter in self.weights_to_quanters():
            found = getattr(self, quanter)
            if isinstance(found, BaseQuanter):
                parameter = getattr(self, weight)
                if not remain_weight:
                    settings = _settings(found)
                    scales = _array(settings[0], np.float32)
                    places = places_of(scales, settings[2], settings[4], type(self).__name__)
                    zero = None if settings[1] is None else _array(settings[1], np.float32)
                    whole = whole_numbers(parameter.numpy(), scales, settings[3], places, zero)
                    self._parameters[weight] = Parameter(to_tensor(whole), name=parameter.name, trainable=False)
                both = LinearQuanterDequanter.from_quanter(found)
                if not remain_weight:
                    both._sub_layers["_quanter"] = None
                self._sub_layers[quanter] = both
        for quanter in self.activation_quanters():
            found = getattr(self, quanter)
            if isinstance(found, BaseQuanter):
                self._sub_layers[quanter] = LinearQuanterDequanter.from_quanter(found)
        self.converted = True


def _settings(quanter: BaseQuanter) -> tuple[Any, Any, Any, int, int]:
    return quanter.scales(), quanter.zero_points(), quanter.quant_axis(), quanter.bit_length(), getattr(quanter, "group_size", 128)


def _array(x: Any, dtype: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x.numpy() if isinstance(x, Tensor) else x, dtype)
