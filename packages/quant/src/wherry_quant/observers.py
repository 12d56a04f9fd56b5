"""Observers: layers that let values pass and find the scale of what they saw (`paddle.quantization.observers`)."""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_nn.layer import Layer
from wherry_quant.base import BaseObserver
from wherry_quant.factory import factory_of
from wherry_quant.numbers import levels
from wherry_quant.thresholds import Histogram, earth_mover, percentile, relative_entropy, squared_error
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, PreconditionNotMetError
from wherry_tensor.functions.creation import to_tensor

__all__ = [
    "AVGObserver",
    "AbsMaxChannelWiseWeightObserver",
    "AbsmaxObserver",
    "EMDObserver",
    "GroupWiseWeightObserver",
    "HistObserver",
    "KLObserver",
    "MSEChannelWiseWeightObserver",
    "MSEObserver",
    "MovingAverageAbsmaxObserver",
]

_NOTHING = 1e-7  # the scale of what was never seen, as in Paddle


class _Observer(BaseObserver):
    """Base: `_observe` gets the values of each batch, `_threshold` says what follows from them."""

    def __init__(self, layer: Layer | None, quant_bits: int = 8) -> None:
        super().__init__()
        self._quant_bits = quant_bits
        self._scales: np.ndarray[Any, Any] | None = None
        self._start(layer)

    def _start(self, layer: Layer | None) -> None:
        """Begin to observe values of a layer."""

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        raise NotImplementedError

    def _threshold(self) -> Any:
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        from wherry_tensor._core import is_symbolic

        if is_symbolic(input):
            raise PreconditionNotMetError(
                f"{type(self).__name__}: an observer looks at numbers. Got a value of a program, expected calibration in eager mode. "
                f"Call convert() before to_static, save or export."
            )
        self._observe(input.detach().astype("float32").numpy())
        self._scales = None
        return input

    def cal_thresholds(self) -> None:
        self._scales = np.asarray(self._threshold(), np.float32)

    def scales(self) -> Tensor:
        if self._scales is None:
            self.cal_thresholds()
        return to_tensor(self._scales)

    def zero_points(self) -> Tensor | None:
        return None

    def quant_axis(self) -> int:
        return -1

    def bit_length(self) -> int:
        return self._quant_bits


class AbsmaxObserverLayer(_Observer):
    """The largest magnitude that was seen.

    Args:
        layer: whose values are observed.
        quant_bits: bits of the whole numbers.

    Source:
        `paddle.quantization.observers.AbsmaxObserver`.

    Examples:
        >>> observer = wherry.quantization.observers.AbsmaxObserver()._instance(None)
        >>> _ = observer(wherry.to_tensor([1.0, -3.0])), observer(wherry.to_tensor([2.0]))
        >>> observer.scales().item()
        3.0
    """

    def _start(self, layer: Layer | None) -> None:
        self._largest = np.float32(_NOTHING)

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        if values.size:
            self._largest = np.fmax(self._largest, np.fmax.reduce(np.abs(values), axis=None))  # NaN has no magnitude

    def _threshold(self) -> Any:
        return self._largest


class MovingAverageAbsmaxObserverLayer(_Observer):
    """The average of the largest magnitude of each batch, in which older batches count less.

    Args:
        layer: whose values are observed.
        quant_bits: bits of the whole numbers.
        moving_rate: by what the weight of a batch shrinks with each that follows.

    Source:
        The observer of `paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver`, without its rounding.
    """

    def __init__(self, layer: Layer | None, quant_bits: int = 8, moving_rate: float = 0.9) -> None:
        self._rate, self._state, self._accumulated = moving_rate, 1.0, 1.0
        super().__init__(layer, quant_bits)

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        self._state = self._rate * self._state + 1
        self._accumulated = self._rate * self._accumulated + float(np.abs(values).max(initial=0))

    def _threshold(self) -> Any:
        return self._accumulated / self._state


class AVGObserverLayer(_Observer):
    """The mean over all samples (places of the first axis) of the largest magnitude in each.

    Args:
        layer: whose values are observed.
        quant_bits: bits of the whole numbers.

    Source:
        `algo="avg"` of `paddle.static.quantization.PostTrainingQuantization`.
    """

    def _start(self, layer: Layer | None) -> None:
        self._means: list[float] = []

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        if values.size:
            self._means.append(float(np.abs(values).reshape(len(values) if values.ndim else 1, -1).max(1).mean()))

    def _threshold(self) -> Any:
        return np.mean(self._means) if self._means else _NOTHING


class _Counting(_Observer):
    """Base of observers that find their threshold from a histogram."""

    def __init__(self, layer: Layer | None, quant_bits: int = 8, bins_count: int = 2048) -> None:
        self._histogram = Histogram(bins_count)
        super().__init__(layer, quant_bits)

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        self._histogram.add(values)

    def _threshold(self) -> Any:
        return max(self._found(self._histogram.counts, self._histogram.width), _NOTHING)

    def _found(self, counts: np.ndarray[Any, Any], width: float) -> float:
        raise NotImplementedError


class HistObserverLayer(_Counting):
    """The magnitude below which a share of the values lies.

    Args:
        layer: whose values are observed.
        quant_bits: bits of the whole numbers.
        bins_count: bins of the histogram.
        percent: the share, in [0, 1].

    Source:
        `algo="hist"` of `paddle.static.quantization.PostTrainingQuantization`.
    """

    def __init__(self, layer: Layer | None, quant_bits: int = 8, bins_count: int = 2048, percent: float = 0.99999) -> None:
        if not 0 < percent <= 1:
            raise InvalidArgumentError(f"HistObserver: a share lies between 0 and 1. Got percent={percent}, expected a number in (0, 1].")
        self._percent = percent
        super().__init__(layer, quant_bits, bins_count)

    def _found(self, counts: np.ndarray[Any, Any], width: float) -> float:
        return min(percentile(counts, width, self._percent), self._histogram.largest)


class KLObserverLayer(_Counting):
    """The magnitude at which the whole numbers say most of the distribution (relative entropy).

    Args:
        layer: whose values are observed.
        quant_bits: bits of the whole numbers.
        bins_count: bins of the histogram.

    Source:
        `algo="KL"` of `paddle.static.quantization.PostTrainingQuantization`.
    """

    def _found(self, counts: np.ndarray[Any, Any], width: float) -> float:
        return relative_entropy(counts, width, self._quant_bits)


class MSEObserverLayer(_Counting):
    """The scale whose rounding has the smallest mean squared error.

    Args:
        layer: whose values are observed.
        quant_bits: bits of the whole numbers.
        bins_count: bins of the histogram.

    Source:
        `algo="mse"` of `paddle.static.quantization.PostTrainingQuantization`.
    """

    def _found(self, counts: np.ndarray[Any, Any], width: float) -> float:
        return squared_error(counts, width, self._quant_bits)


class EMDObserverLayer(_Counting):
    """The scale whose rounding moves values least (the earth mover's distance).

    Args:
        layer: whose values are observed.
        quant_bits: bits of the whole numbers.
        bins_count: bins of the histogram.

    Source:
        `algo="emd"` of `paddle.static.quantization.PostTrainingQuantization`.
    """

    def _found(self, counts: np.ndarray[Any, Any], width: float) -> float:
        return earth_mover(counts, width, self._quant_bits)


class AbsMaxChannelWiseWeightObserverLayer(_Observer):
    """The largest magnitude of each output channel of a weight: columns of a Linear layer, filters of a convolution.

    Args:
        layer: whose weight is observed.
        quant_bits: bits of the whole numbers.

    Source:
        `paddleslim.quant.observers.AbsMaxChannelWiseWeightObserver`.
    """

    def _start(self, layer: Layer | None) -> None:
        self._axis = output_axis(layer)
        self._largest: np.ndarray[Any, Any] | None = None

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        self._largest = magnitudes(values, self._axis)

    def _threshold(self) -> Any:
        return np.full(1, _NOTHING) if self._largest is None else np.maximum(self._largest, _NOTHING)

    def quant_axis(self) -> int:
        return self._axis


class MSEChannelWiseWeightObserverLayer(AbsMaxChannelWiseWeightObserverLayer):
    """For each output channel of a weight the scale whose rounding has the smallest mean squared error.

    Args:
        layer: whose weight is observed.
        quant_bits: bits of the whole numbers.

    Source:
        `paddleslim.quant.observers.MSEChannelWiseWeightObserver`.
    """

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        rows = np.moveaxis(values, self._axis, 0).reshape(values.shape[self._axis], -1)
        largest, high = np.abs(rows).max(1, keepdims=True), levels(self._quant_bits)
        best, found = np.full((len(rows), 1), np.inf), largest.copy()
        for share in np.linspace(1.0, 0.5, 51):
            scale = np.maximum(largest * np.float32(share), _NOTHING)
            error = np.square(rows - np.clip(np.rint(rows / scale * high), -high, high) * scale / high).sum(1, keepdims=True)
            better = error < best
            best, found = np.where(better, error, best), np.where(better, scale, found)
        self._largest = found[:, 0]


class GroupWiseWeightObserverLayer(_Observer):
    """The largest magnitude in each group of rows of each column of a weight `[in, out]`.

    Args:
        layer: whose weight is observed.
        quant_bits: bits of the whole numbers.
        group_size: rows of a group; the last group may have fewer.

    Source:
        `paddle.quantization.observers.GroupWiseWeightObserver`.
    """

    def __init__(self, layer: Layer | None, quant_bits: int = 8, group_size: int = 128) -> None:
        if not isinstance(group_size, int) or group_size < 1:
            raise InvalidArgumentError(f"GroupWiseWeightObserver: a group has rows. Got group_size={group_size}, expected a positive int.")
        self.group_size = group_size
        super().__init__(layer, quant_bits)

    def _start(self, layer: Layer | None) -> None:
        self._largest: np.ndarray[Any, Any] | None = None

    def _observe(self, values: np.ndarray[Any, Any]) -> None:
        if values.ndim != 2:
            raise InvalidArgumentError(
                f"GroupWiseWeightObserver: groups are of rows of a matrix. Got a weight of shape {list(values.shape)}, expected [in, out]. "
                f"Convolutions take AbsMaxChannelWiseWeightObserver."
            )
        starts = range(0, len(values), self.group_size)
        self._largest = np.stack([np.abs(values[i : i + self.group_size]).max(0) for i in starts])

    def _threshold(self) -> Any:
        return np.full((1, 1), _NOTHING) if self._largest is None else np.maximum(self._largest, _NOTHING)


def output_axis(layer: Layer | None) -> int:
    """Along which axis of its weight a layer has its outputs: 1 for matrices `[in, out]`, 0 for filters."""
    weight = getattr(layer, "weight", None)
    if weight is None:
        return 0
    return 1 if len(weight.shape) == 2 or getattr(layer, "_transposed", False) else 0


def magnitudes(values: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    """The largest magnitude at each place of an axis."""
    return np.abs(values).max(axis=tuple(i for i in range(values.ndim) if i != axis))


AbsmaxObserver = factory_of(AbsmaxObserverLayer, "AbsmaxObserver")
MovingAverageAbsmaxObserver = factory_of(MovingAverageAbsmaxObserverLayer, "MovingAverageAbsmaxObserver")
AVGObserver = factory_of(AVGObserverLayer, "AVGObserver")
HistObserver = factory_of(HistObserverLayer, "HistObserver")
KLObserver = factory_of(KLObserverLayer, "KLObserver")
MSEObserver = factory_of(MSEObserverLayer, "MSEObserver")
EMDObserver = factory_of(EMDObserverLayer, "EMDObserver")
AbsMaxChannelWiseWeightObserver = factory_of(AbsMaxChannelWiseWeightObserverLayer, "AbsMaxChannelWiseWeightObserver")
MSEChannelWiseWeightObserver = factory_of(MSEChannelWiseWeightObserverLayer, "MSEChannelWiseWeightObserver")
GroupWiseWeightObserver = factory_of(GroupWiseWeightObserverLayer, "GroupWiseWeightObserver")
