"""Layers with simulated rounding: what stands in a model between `quantize` and `convert`, and after it."""
from __future__ import annotations

from typing import Any

from wherry_nn import functional as F
from wherry_nn.functional.conv import convolve
from wherry_nn.functional.padding import pad
from wherry_nn.layer import Layer
from wherry_quant.base import BaseQuanter
from wherry_quant.factory import QuanterFactory
from wherry_quant.format import ConvertibleQuantedLayer
from wherry_tensor._core import Tensor

__all__ = ["ObserveWrapper", "QuantedConv2D", "QuantedLinear", "QuanterStub", "Stub"]


class _Quanted(ConvertibleQuantedLayer):
    """Base: shares weight and bias of a layer, and has a quanter for its weight and one for its input."""

    weight: Any
    bias: Any
    weight_quanter: Layer | None
    activation_quanter: Layer | None

    def __init__(self, layer: Layer, q_config: Any) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias  # type: ignore[attr-defined]
        self.weight_quanter = None if q_config.weight is None else q_config.weight._instance(layer)
        self.activation_quanter = None if q_config.activation is None else q_config.activation._instance(layer)
        self.training = layer.training

    def forward(self, input: Tensor) -> Tensor:
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        weight = self.weight if self.weight_quanter is None else self.weight_quanter(self.weight)
        return self._compute(input, weight)

    def _compute(self, input: Tensor, weight: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__}: a subclass computes. Got none, expected _compute().")

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]


class QuantedLinear(_Quanted):
    """A Linear layer whose weight and input pass quanters.

    Source:
        `paddle.nn.quant.qat.QuantedLinear`.
    """

    def __init__(self, layer: Layer, q_config: Any) -> None:
        super().__init__(layer, q_config)
        self.name = layer.name  # type: ignore[attr-defined]

    def _compute(self, input: Tensor, weight: Tensor) -> Tensor:
        return F.linear(input, weight, self.bias)


class QuantedConv2D(_Quanted):
    """A Conv2D layer whose weight and input pass quanters.

    Source:
        `paddle.nn.quant.qat.QuantedConv2D`.
    """

    def __init__(self, layer: Layer, q_config: Any) -> None:
        super().__init__(layer, q_config)
        self._window, self._fill, self._padding_mode, self._data_format = (
            layer._window, layer._fill, layer._padding_mode, layer._data_format  # type: ignore[attr-defined]
        )

    def _compute(self, input: Tensor, weight: Tensor) -> Tensor:
        if self._fill is not None:
            input = pad(input, self._fill, mode=self._padding_mode, data_format=self._data_format)
        return convolve("conv2d", 2, input, weight, self.bias, *self._window)  # type: ignore[no-any-return]


class Stub(Layer):
    """A place in `forward` whose values a quantizer observes: functions, which are not layers, have none otherwise.

    Args:
        observer: makes the quanter of this place; None takes that of the configuration.

    Shape:
        `[...]` to `[...]`; the input itself.

    Source:
        `paddle.nn.quant.Stub`.

    Examples:
        >>> class Sum(wherry.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.left, self.right = wherry.nn.quant.Stub(), wherry.nn.quant.Stub()
        ...     def forward(self, x, y):
        ...         return self.left(x) + self.right(y)
        >>> print(Sum()(wherry.ones([2]), wherry.ones([2])).numpy())
        [2. 2.]
    """

    def __init__(self, observer: QuanterFactory | None = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Tensor) -> Tensor:
        return input


class QuanterStub(Layer):
    """What a Stub becomes: its quanter.

    Source:
        `paddle.nn.quant.stub.QuanterStub`.
    """

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        factory = q_config.activation if layer._observer is None else layer._observer
        self._observer = None if factory is None else factory._instance(layer)

    def forward(self, input: Tensor) -> Tensor:
        return input if self._observer is None else self._observer(input)  # type: ignore[no-any-return]


class ObserveWrapper(Layer):
    """A layer and the quanter of its first input (or of its output). Attributes are those of the layer.

    Source:
        `paddle.quantization.wrapper.ObserveWrapper`.
    """

    def __init__(self, observer: BaseQuanter | Layer, observed: Layer, observe_input: bool = True) -> None:
        super().__init__()
        self._observer, self._observed, self._observe_input = observer, observed, observe_input
        self.training = observed.training

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._observe_input:
            first = inputs[0]
            # Whole numbers (of an Embedding) have no scale.
            seen = self._observer(first) if isinstance(first, Tensor) and first.dtype.is_floating else first
            return self._observed(seen, *inputs[1:], **kwargs)
        return self._observer(self._observed(*inputs, **kwargs))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            observed = self.__dict__.get("_sub_layers", {}).get("_observed")
            if observed is None or name.startswith("__"):
                raise
            return getattr(observed, name)
