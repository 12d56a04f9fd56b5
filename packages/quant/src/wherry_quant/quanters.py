"""Quanters of training: they round what passes and let gradients through (`paddle.quantization.quanters`)."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from wherry_autograd import PyLayer, no_grad
from wherry_nn.layer import Layer
from wherry_nn.parameter import Parameter
from wherry_quant.base import BaseQuanter
from wherry_quant.factory import factory_of
from wherry_quant.numbers import levels
from wherry_quant.observers import magnitudes, output_axis
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.functions.creation import to_tensor

__all__ = ["FakeQuanterChannelWiseAbsMax", "FakeQuanterWithAbsMaxObserver", "LsqQuanter", "rounded"]


class _Rounded(PyLayer):
    """Rounding that hands gradients on as they are, beyond the scale too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, high: int) -> Tensor:
        # Half away from zero, as Paddle's operators of this name round; quantize_linear rounds half to even.
        wide = x if x.dtype is scale.dtype else x.astype(scale.dtype)  # 16 bits do not tell neighbouring whole numbers apart
        inside = ops.maximum(ops.minimum(wide, scale), ops.negative(scale))
        return (ops.round(inside * (high / scale)) * (scale / high)).astype(x.dtype)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Any:
        return ct, None


def rounded(x: Tensor, scale: Tensor, bits: int) -> Tensor:
    """Values as whole numbers would say them, half away from zero, clipped to the scale, which broadcasts. Gradients pass unchanged."""
    return _Rounded.apply(x, scale, levels(bits))  # type: ignore[no-any-return]


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """Rounds values to whole numbers of a scale and back; the scale is a moving average of the largest magnitude, and stays in evaluation.

    Args:
        layer: whose values pass.
        name: the beginning of the names of its state.
        moving_rate: by what the weight of a batch shrinks with each that follows.
        bit_length: bits of the whole numbers.
        dtype: of the scale.

    Source:
        `paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver`.

    Examples:
        >>> quanter = wherry.quantization.quanters.FakeQuanterWithAbsMaxObserver(moving_rate=0.9)._instance(None)
        >>> print(quanter(wherry.to_tensor([1.0, -3.0])).numpy())
        [ 1.0020721 -2.0526316]
        >>> print(quanter.scales().numpy())
        [2.0526316]
    """

    def __init__(
        self, layer: Layer | None, name: str | None = None, moving_rate: float = 0.9, bit_length: int = 8, dtype: str = "float32"
    ) -> None:
        super().__init__()
        self._moving_rate, self._bit_length = moving_rate, bit_length
        prefix = self.full_name() if name is None else name
        for key, start in ("_scale", 0.001), ("_state", 1.0), ("_accum", 1.0):
            setattr(self, key, Parameter(to_tensor([start], dtype=dtype), name=f"{prefix}{key}", trainable=False))

    def forward(self, input: Tensor) -> Tensor:
        if self.training:
            with no_grad():
                axes = tuple(range(input.ndim))
                largest = ops.reshape(ops.reduce_max(ops.abs(input.detach()), axes=axes, keepdim=False), shape=(1,)).astype(self._scale.dtype)
                ops.copy.into((self._state,), self._state * self._moving_rate + 1.0)
                ops.copy.into((self._accum,), self._accum * self._moving_rate + largest)
                ops.copy.into((self._scale,), self._accum / self._state)
        return rounded(input, self._scale, self._bit_length)

    def scales(self) -> Tensor:
        return self._scale  # type: ignore[no-any-return]

    def zero_points(self) -> Tensor | None:
        return None

    def quant_axis(self) -> int:
        return -1

    def bit_length(self) -> int:
        return self._bit_length


class FakeQuanterChannelWiseAbsMaxLayer(BaseQuanter):
    """Rounds each output channel of a weight to whole numbers of its largest magnitude, and back.

    Args:
        layer: whose weight passes.
        bit_length: bits of the whole numbers.

    Source:
        `paddleslim.quant.quanters.FakeQuanterChannelWiseAbsMaxObserver`; the operator `fake_channel_wise_quantize_dequantize_abs_max`.
    """

    def __init__(self, layer: Layer | None, bit_length: int = 8) -> None:
        super().__init__()
        self._axis, self._bit_length = output_axis(layer), bit_length
        weight = getattr(layer, "weight", None)
        start = np.ones(1, np.float32) if weight is None else magnitudes(weight.numpy().astype(np.float32), self._axis)
        self._scale = Parameter(to_tensor(start), trainable=False)

    def forward(self, input: Tensor) -> Tensor:
        axes = tuple(i for i in range(input.ndim) if i != self._axis)
        with no_grad():
            largest = ops.reduce_max(ops.abs(input.detach()), axes=axes, keepdim=True)
            if self.training:
                ops.copy.into((self._scale,), ops.reshape(largest, shape=(-1,)).astype(self._scale.dtype))
            scale = ops.maximum(largest, to_tensor(1e-7, dtype=largest.dtype))
        return rounded(input, scale, self._bit_length)

    def scales(self) -> Tensor:
        return self._scale

    def zero_points(self) -> Tensor | None:
        return None

    def quant_axis(self) -> int:
        return self._axis

    def bit_length(self) -> int:
        return self._bit_length


class LsqQuanterLayer(BaseQuanter):
    """Rounds values to whole numbers of a scale that is learned like a weight (learned step size).

    Args:
        layer: whose values pass. With `per_channel`, whose weight: every output channel then has a scale of its own.
        bit_length: bits of the whole numbers.
        per_channel: a scale for each output channel of the layer's weight, which starts from that weight.

    Source:
        Esser et al., Learned step size quantization (2020); `paddleslim.quant.quanters.ActLSQplusQuanter` and `WeightLSQplusQuanter`.
    """

    def __init__(self, layer: Layer | None, bit_length: int = 8, per_channel: bool = False) -> None:
        super().__init__()
        self._bit_length = bit_length
        weight = getattr(layer, "weight", None)
        self._axis = output_axis(layer) if per_channel and weight is not None else -1
        count = 1 if self._axis < 0 else weight.shape[self._axis]  # type: ignore[union-attr]
        self._scale = Parameter(to_tensor(np.ones(count, np.float32)))
        self.register_buffer("_started", to_tensor([False]))

    def forward(self, input: Tensor) -> Tensor:
        high = levels(self._bit_length)
        if self.training and not bool(self._started):
            self._start(input, high)
        served = input.size // max(1, self._scale.size)
        # The paper's factor: the gradients of a scale and of a weight are then of one size.
        factor = 1.0 / math.sqrt(max(1, served) * high)
        step = self._scale / high
        step = (step * factor) + (step * (1.0 - factor)).detach()
        axis = None if self._axis < 0 else self._axis
        return ops.fake_quantize(input, step, None, axis=axis, group=None, low=-high, high=high)  # type: ignore[no-any-return]

    def _start(self, input: Tensor, high: int) -> None:
        with no_grad():
            axes = tuple(i for i in range(input.ndim) if i != self._axis)
            mean = ops.reduce_mean(ops.abs(input.detach()), axes=axes, keepdim=False)
            ops.copy.into((self._scale,), ops.reshape(mean, shape=(-1,)) * (2.0 * math.sqrt(high)) + 1e-7)
            ops.copy.into((self._started,), to_tensor([True]))

    def scales(self) -> Tensor:
        return self._scale.detach()

    def zero_points(self) -> Tensor | None:
        return None

    def quant_axis(self) -> int:
        return self._axis

    def bit_length(self) -> int:
        return self._bit_length


FakeQuanterWithAbsMaxObserver = factory_of(FakeQuanterWithAbsMaxObserverLayer, "FakeQuanterWithAbsMaxObserver")
FakeQuanterChannelWiseAbsMax = factory_of(FakeQuanterChannelWiseAbsMaxLayer, "FakeQuanterChannelWiseAbsMax")
LsqQuanter = factory_of(LsqQuanterLayer, "LsqQuanter")
