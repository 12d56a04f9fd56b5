"""The flow of Paddle 2.3: `ImperativeQuantAware` and `ImperativePTQ`, which quantize a model and save it.

Both put the quanters of today into the model; what they save is what `PTQ` and `QAT` convert to.
"""
from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import Conv2D
from wherry_quant.config import QuantConfig
from wherry_quant.factory import QuanterFactory
from wherry_quant.folding import fold_batch_norms
from wherry_quant.layers import QuantedConv2D, QuantedLinear
from wherry_quant.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver, HistObserver, KLObserver
from wherry_quant.quanters import FakeQuanterChannelWiseAbsMax, FakeQuanterWithAbsMaxObserver
from wherry_quant.quantizing import PTQ, QAT
from wherry_tensor.errors import (
    AssertedArgumentError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
    short,
)

__all__ = [
    "SUPPORT_ACT_QUANTIZERS", "SUPPORT_WT_QUANTIZERS", "AbsmaxQuantizer", "BaseQuantizer", "HistQuantizer", "ImperativePTQ",
    "ImperativeQuantAware", "KLQuantizer", "PTQConfig", "PerChannelAbsmaxQuantizer", "default_ptq_config",
]

_LAYERS: dict[str, type[Layer]] = {"Conv2D": Conv2D, "Linear": Linear}
_ABSENT = ("Conv2DTranspose", "ColumnParallelLinear", "RowParallelLinear")  # Paddle's, which are left in floats here


class ImperativeQuantAware:
    """Training with simulated rounding, as Paddle 2.3 has it.

    Args:
        quantizable_layer_type: classes of layers, or their names. Transposed convolutions stay in floats.
        weight_quantize_type: "abs_max", or "channel_wise_abs_max" for a scale for each output.
        activation_quantize_type: "moving_average_abs_max", or "abs_max" for the largest magnitude of the batch at hand.
        weight_bits: of weights.
        activation_bits: of inputs.
        moving_rate: by what the weight of a batch shrinks with each that follows.
        fuse_conv_bn: refused: fold with `wherry.quant.fold_batch_norms(net, x)`, which sees what follows what.
        weight_preprocess_layer, act_preprocess_layer: refused.
        weight_quantize_layer, act_quantize_layer: refused: write a quanter and use QAT.
        onnx_format: accepted: what is saved has `quantize_linear` and `dequantize_linear`.

    Raises:
        ValueError: an argument is not one of these.
        NotImplementedError: an argument that is refused.

    Source:
        `paddle.quantization.ImperativeQuantAware`.

    Examples:
        >>> from wherry.quantization import ImperativeQuantAware
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(4, 2), wherry.nn.ReLU())
        >>> ImperativeQuantAware(weight_quantize_type="channel_wise_abs_max").quantize(net)
        >>> net[0]
        QuantedLinear(
          (weight_quanter): FakeQuanterChannelWiseAbsMaxLayer()
          (activation_quanter): FakeQuanterWithAbsMaxObserverLayer()
        )
    """

    def __init__(
        self, quantizable_layer_type: Sequence[Any] = ("Conv2D", "Linear", *_ABSENT), weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "moving_average_abs_max", weight_bits: int = 8, activation_bits: int = 8, moving_rate: float = 0.9,
        fuse_conv_bn: bool = False, weight_preprocess_layer: Any = None, act_preprocess_layer: Any = None, weight_quantize_layer: Any = None,
        act_quantize_layer: Any = None, onnx_format: bool = False,
    ) -> None:
        what = "ImperativeQuantAware"
        refused = {
            "fuse_conv_bn": fuse_conv_bn or None, "weight_preprocess_layer": weight_preprocess_layer, "act_preprocess_layer": act_preprocess_layer,
            "weight_quantize_layer": weight_quantize_layer, "act_quantize_layer": act_quantize_layer,
        }
        for name, value in refused.items():
            if value is not None:
                raise UnimplementedError(
                    f"{what}: {name} is not there. Got {name}={short(value)}, expected it to be left out. Fold batch normalizations with "
                    f"wherry.quant.fold_batch_norms, and write a quanter for paddle.quantization.QAT."
                )
        if weight_quantize_type not in ("abs_max", "channel_wise_abs_max"):
            raise InvalidArgumentError(
                f"{what}: weights cannot be rounded like this. Got weight_quantize_type={short(weight_quantize_type)}, expected 'abs_max' or "
                f"'channel_wise_abs_max'."
            )
        if activation_quantize_type not in ("moving_average_abs_max", "abs_max"):
            raise InvalidArgumentError(
                f"{what}: inputs cannot be rounded like this. Got activation_quantize_type={short(activation_quantize_type)}, expected "
                f"'moving_average_abs_max' or 'abs_max'."
            )
        activation = FakeQuanterWithAbsMaxObserver(
            moving_rate=moving_rate if activation_quantize_type == "moving_average_abs_max" else 0.0, bit_length=activation_bits
        )
        if not isinstance(quantizable_layer_type, (list, tuple, set)):
            raise InvalidTypeError(
                f"{what}: 'quantizable_layer_type' must be a list. Got {short(quantizable_layer_type)}, expected such as ['Conv2D', 'Linear']."
            )
        each = weight_quantize_type == "channel_wise_abs_max"
        weight = FakeQuanterChannelWiseAbsMax(bit_length=weight_bits, per_channel=each)
        config = QuantConfig(activation=None, weight=None)
        for layer in quantizable_layer_type:
            kind = _LAYERS.get(layer) if isinstance(layer, str) else layer
            if kind is not None and kind not in _LAYERS.values() or (kind is None and layer not in _ABSENT):
                raise InvalidArgumentError(f"{what}: these layers are not quantized. Got {short(layer)}, expected some of {', '.join(_LAYERS)}.")
            if kind is not None:
                config.add_type_config(kind, activation=activation, weight=weight)
        self._tool = QAT(config)

    def quantize(self, model: Layer) -> None:
        """Put quanters into a model, which is changed.

        Source:
            `paddle.quantization.ImperativeQuantAware.quantize`.
        """
        if not isinstance(model, Layer):
            raise AssertedArgumentError(
                f"ImperativeQuantAware.quantize: the model must be the instance of Layer. Got {short(model)}, expected a Layer."
            )
        training = model.training
        model.train()
        self._tool.quantize(model, inplace=True)
        if not training:
            model.eval()

    def save_quantized_model(self, layer: Layer, path: str, input_spec: Any = None, **config: Any) -> None:
        """Convert a copy of the model, and save it for prediction.

        Args:
            layer: what `quantize` was given.
            path: without ending.
            input_spec: as of `paddle.jit.save`.
            config: as of `paddle.jit.save`.

        Source:
            `paddle.quantization.ImperativeQuantAware.save_quantized_model`.
        """
        _save(self._tool.convert(layer), path, input_spec, config)


class BaseQuantizer:
    """Which observer finds a threshold, for a PTQConfig.

    Args:
        quant_bits: bits of the whole numbers.

    Source:
        `paddle.quantization.BaseQuantizer`.
    """

    def __init__(self, quant_bits: int = 8) -> None:
        self.quant_bits = quant_bits

    def factory(self) -> QuanterFactory:
        """The observer."""
        raise NotImplementedError(f"{type(self).__name__}: which observer it is is not said. Got none, expected factory() of a subclass.")


class AbsmaxQuantizer(BaseQuantizer):
    """The largest magnitude.

    Source:
        `paddle.quantization.AbsmaxQuantizer`.
    """

    def factory(self) -> QuanterFactory:
        return AbsmaxObserver(quant_bits=self.quant_bits)


class PerChannelAbsmaxQuantizer(BaseQuantizer):
    """The largest magnitude of each output of a weight.

    Source:
        `paddle.quantization.PerChannelAbsmaxQuantizer`.
    """

    def factory(self) -> QuanterFactory:
        return AbsMaxChannelWiseWeightObserver(quant_bits=self.quant_bits)


class HistQuantizer(BaseQuantizer):
    """The magnitude below which a share of the values lies.

    Args:
        quant_bits: bits of the whole numbers.
        bins: of the histogram.
        upsample_bins: no effect: bins are halved exactly when the range grows.
        hist_percent: the share.

    Source:
        `paddle.quantization.HistQuantizer`.
    """

    def __init__(self, quant_bits: int = 8, bins: int = 1024, upsample_bins: int = 64, hist_percent: float = 0.99999) -> None:
        super().__init__(quant_bits)
        self.bins, self.upsample_bins, self.hist_percent = bins, upsample_bins, hist_percent

    def factory(self) -> QuanterFactory:
        return HistObserver(quant_bits=self.quant_bits, bins_count=self.bins, percent=self.hist_percent)


class KLQuantizer(BaseQuantizer):
    """The magnitude at which whole numbers say most of the distribution.

    Args:
        quant_bits: bits of the whole numbers.
        bins: of the histogram.
        upsample_bins: no effect: bins are halved exactly when the range grows.

    Source:
        `paddle.quantization.KLQuantizer`.
    """

    def __init__(self, quant_bits: int = 8, bins: int = 1024, upsample_bins: int = 64) -> None:
        super().__init__(quant_bits)
        self.bins, self.upsample_bins = bins, upsample_bins

    def factory(self) -> QuanterFactory:
        return KLObserver(quant_bits=self.quant_bits, bins_count=self.bins)


SUPPORT_ACT_QUANTIZERS = [AbsmaxQuantizer, HistQuantizer, KLQuantizer]
SUPPORT_WT_QUANTIZERS = [AbsmaxQuantizer, PerChannelAbsmaxQuantizer]


class PTQConfig:
    """Which quantizers find thresholds.

    Args:
        activation_quantizer: of inputs: one of SUPPORT_ACT_QUANTIZERS.
        weight_quantizer: of weights: one of SUPPORT_WT_QUANTIZERS.

    Raises:
        ValueError: another one (also an AssertionError).

    Source:
        `paddle.quantization.PTQConfig`.
    """

    def __init__(self, activation_quantizer: BaseQuantizer, weight_quantizer: BaseQuantizer) -> None:
        for name, value, known in (
            ("activation_quantizer", activation_quantizer, SUPPORT_ACT_QUANTIZERS), ("weight_quantizer", weight_quantizer, SUPPORT_WT_QUANTIZERS)
        ):
            if not isinstance(value, tuple(known)):
                raise AssertedArgumentError(
                    f"PTQConfig: {name} is not one of those. Got {short(value)}, expected an instance of "
                    f"{', '.join(kind.__name__ for kind in known)}."
                )
        self.in_act_quantizer, self.out_act_quantizer = copy.deepcopy(activation_quantizer), copy.deepcopy(activation_quantizer)
        self.wt_quantizer = copy.deepcopy(weight_quantizer)


default_ptq_config = PTQConfig(KLQuantizer(), PerChannelAbsmaxQuantizer())


class ImperativePTQ:
    """Calibration of a trained model, as Paddle 2.3 has it.

    Args:
        quant_config: a PTQConfig.

    Raises:
        ValueError: not a PTQConfig.

    Source:
        `paddle.quantization.ImperativePTQ`.

    Examples:
        >>> from wherry.quantization import ImperativePTQ
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(4, 2), wherry.nn.ReLU())
        >>> observed = ImperativePTQ().quantize(net)
        >>> _ = observed(wherry.randn([8, 4]))
        >>> observed[0]
        QuantedLinear(
          (weight_quanter): AbsMaxChannelWiseWeightObserverLayer()
          (activation_quanter): KLObserverLayer()
        )
    """

    def __init__(self, quant_config: PTQConfig = default_ptq_config) -> None:
        if not isinstance(quant_config, PTQConfig):
            raise InvalidArgumentError(f"ImperativePTQ: not a configuration. Got {short(quant_config)}, expected a PTQConfig.")
        config = QuantConfig(activation=None, weight=None)
        activation, weight = quant_config.in_act_quantizer.factory(), quant_config.wt_quantizer.factory()
        config.add_type_config(list(_LAYERS.values()), activation=activation, weight=weight)
        self._tool = PTQ(config)

    def quantize(self, model: Layer, inplace: bool = False, fuse: bool = False, fuse_list: Sequence[Sequence[str]] | None = None) -> Layer:
        """Put observers into a model; run batches through what comes back.

        Args:
            model: stays as it is, unless `inplace`.
            inplace: change this model.
            fuse: fold batch normalizations first.
            fuse_list: names of layers and of the normalizations after them; `fuse` needs it.

        Raises:
            ValueError: `fuse` without `fuse_list`, or not a layer (also an AssertionError).

        Source:
            `paddle.quantization.ImperativePTQ.quantize`.
        """
        if not isinstance(model, Layer):
            raise AssertedArgumentError(f"ImperativePTQ.quantize: the model must be the instance of Layer. Got {short(model)}, expected a Layer.")
        model = model if inplace else copy.deepcopy(model)
        if fuse:
            if fuse_list is None:
                raise InvalidArgumentError(
                    "ImperativePTQ.quantize: nothing says which normalization follows which layer. Got fuse=True without fuse_list, expected "
                    "pairs of names. wherry.quant.fold_batch_norms(net, x) finds them."
                )
            fold_batch_norms(model, pairs=[(pair[0], pair[1]) for pair in fuse_list], inplace=True)
        model.eval()
        return self._tool.quantize(model, inplace=True)

    def save_quantized_model(self, model: Layer, path: str, input_spec: Any = None, **config: Any) -> None:
        """Convert a copy of the model with the thresholds that were found, and save it for prediction.

        Args:
            model: what `quantize` returned, after batches.
            path: without ending.
            input_spec: as of `paddle.jit.save`.
            config: as of `paddle.jit.save`.

        Raises:
            ValueError: the model has no observers (also an AssertionError).

        Source:
            `paddle.quantization.ImperativePTQ.save_quantized_model`.
        """
        if not isinstance(model, Layer) or not any(isinstance(layer, (QuantedConv2D, QuantedLinear)) for layer in model.sublayers(include_self=True)):
            raise AssertedArgumentError(
                f"ImperativePTQ.save_quantized_model: the model was not quantized. Got {short(model)}, expected what quantize() returned."
            )
        _save(self._tool.convert(model), path, input_spec, config)


def _save(model: Layer, path: str, input_spec: Any, config: dict[str, Any]) -> None:
    from wherry_graph.jit import save

    model.eval()
    save(model, path, input_spec=input_spec, **config)
