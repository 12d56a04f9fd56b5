"""Models with simulated rounding: `QAT` puts quanters into a model that trains, `PTQ` observers into one that is calibrated."""
from __future__ import annotations

import copy
from typing import Any

from wherry_nn.layer import Layer
from wherry_quant.arguments import require_layer
from wherry_quant.base import BaseQuanter
from wherry_quant.config import QuantConfig, SingleLayerConfig
from wherry_quant.format import ConvertibleQuantedLayer, LinearQuanterDequanter
from wherry_quant.layers import ObserveWrapper
from wherry_tensor.errors import AssertedArgumentError, InvalidTypeError, short

__all__ = ["PTQ", "QAT", "Quantization"]


class Quantization:
    """Base of QAT and PTQ.

    Args:
        config: which layers are quantized, and by what.

    Raises:
        TypeError: not a QuantConfig.

    Source:
        `paddle.quantization.quantize.Quantization`.
    """

    def __init__(self, config: QuantConfig) -> None:
        if not isinstance(config, QuantConfig):
            raise InvalidTypeError(
                f"{type(self).__name__}: not a configuration. Got {short(config)} ({type(config).__name__}), expected a QuantConfig. "
                f"Write QuantConfig(activation=AbsmaxObserver(), weight=AbsmaxObserver())."
            )
        self._config = config

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """Put quanters or observers into a model.

        Args:
            model: stays as it is, unless `inplace`.
            inplace: change this model.

        Returns:
            The model with quanters.
        """
        require_layer(model, f"{type(self).__name__}.quantize", "Of a paddle.Model take its network: model.network.")
        model = model if inplace else copy.deepcopy(model)
        holder: dict[str, Any] = {"model": model}
        self._replace(holder, self._config.configs_of(model))
        return holder["model"]  # type: ignore[no-any-return]

    # PaddleSlim's SlimQAT calls these one after the other, of a model that is its copy.

    def _convert_to_quant_layers(self, model: Layer, config: QuantConfig) -> None:
        self._replace(model._sub_layers, config.configs_of(model), wraps=False)

    def _insert_activation_observers(self, model: Layer, config: QuantConfig) -> None:
        self._replace(model._sub_layers, config.configs_of(model), replaces=False)

    def _replace(
        self, layers: dict[str, Layer | None], configs: dict[Layer, SingleLayerConfig], wraps: bool = True, replaces: bool = True
    ) -> None:
        """Stand-ins and wrappers for the layers of a table, and of those inside; what is wrapped as one has no wrappers inside."""
        for name, layer in list(layers.items()):
            config = None if layer is None else configs.get(layer)
            if layer is None:
                continue
            target: Any = self._config.qat_layer_mappings.get(type(layer)) if replaces else None
            if not replaces and isinstance(layer, tuple(self._config.qat_layer_mappings.values())):
                continue
            if target is not None and config is not None:
                layers[name] = target(layer, config)
                continue
            factory = config.activation if config is not None and wraps and self._config.is_leaf(layer) else None
            self._replace(layer._sub_layers, configs, wraps and factory is None, replaces)
            if factory is not None:
                layers[name] = ObserveWrapper(factory._instance(layer), layer)

    def convert(self, model: Layer, inplace: bool = False, remain_weight: bool = False) -> Layer:
        """A model for inference: what was observed or trained becomes rounding to whole numbers and back, and weights become whole numbers.

        Args:
            model: what `quantize` returned, trained or calibrated. It stays as it is, unless `inplace`.
            inplace: change this model.
            remain_weight: keep weights as they are, and round them in each call.

        Returns:
            The converted model. Its weights are int8 (Paddle keeps the same whole numbers in float32).
        """
        require_layer(model, f"{type(self).__name__}.convert", "Give what quantize returned.")
        model = model if inplace else copy.deepcopy(model)
        if isinstance(model, ConvertibleQuantedLayer):
            model._convert(remain_weight)
        self._convert(model, remain_weight)
        return model

    def _convert(self, layer: Layer, remain_weight: bool) -> None:
        for name, inner in list(layer._sub_layers.items()):
            if isinstance(inner, ConvertibleQuantedLayer):
                inner._convert(remain_weight)
            if isinstance(inner, BaseQuanter):
                layer._sub_layers[name] = LinearQuanterDequanter.from_quanter(inner)
            elif inner is not None:
                self._convert(inner, remain_weight)

    def __str__(self) -> str:
        return self._config.details()


class QAT(Quantization):
    """Training with simulated rounding: weights and activations pass quanters, and gradients pass the rounding.

    Args:
        config: which layers are quantized, and by what.

    Source:
        `paddle.quantization.QAT`.

    Examples:
        >>> from wherry.quantization import QAT, QuantConfig
        >>> from wherry.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        >>> qat = QAT(QuantConfig(activation=quanter, weight=quanter))
        >>> net = qat.quantize(wherry.nn.Sequential(wherry.nn.Linear(4, 2)))
        >>> optimizer = wherry.optimizer.SGD(0.1, parameters=net.parameters())
        >>> for _ in range(3):
        ...     loss = net(wherry.ones([2, 4])).square().mean()
        ...     loss.backward()
        ...     optimizer.step()
        ...     optimizer.clear_grad()
        >>> net.eval()
        >>> qat.convert(net)[0].weight.dtype
        paddle.int8
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """Put quanters into a model in training mode.

        Args:
            model: stays as it is, unless `inplace`.
            inplace: change this model.

        Raises:
            ValueError: the model is in evaluation mode (also an AssertionError).

        Source:
            `paddle.quantization.QAT.quantize`.
        """
        if isinstance(model, Layer) and not model.training:
            raise AssertedArgumentError(
                "Quantization-Aware Training shoud work on training models. Please set training mode by model.train(). Got a model in evaluation "
                "mode, expected one in training mode."
            )
        return super().quantize(model, inplace)


class PTQ(Quantization):
    """Quantization of a trained model: observers see what passes for some batches, then `convert` takes the scales that they found.

    Args:
        config: which layers are quantized, and by what.

    Source:
        `paddle.quantization.PTQ`.

    Examples:
        >>> from wherry.quantization import PTQ, QuantConfig
        >>> from wherry.quantization.observers import AbsMaxChannelWiseWeightObserver, HistObserver
        >>> ptq = PTQ(QuantConfig(activation=HistObserver(), weight=AbsMaxChannelWiseWeightObserver()))
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(4, 2))
        >>> net.eval()
        >>> observed = ptq.quantize(net)
        >>> for batch in wherry.randn([8, 16, 4]):
        ...     _ = observed(batch)
        >>> small = ptq.convert(observed)
        >>> small[0].weight.dtype, small(wherry.ones([1, 4])).shape
        (paddle.int8, [1, 2])
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """Put observers into a model in evaluation mode.

        Args:
            model: stays as it is, unless `inplace`.
            inplace: change this model.

        Raises:
            ValueError: the model is in training mode (also an AssertionError).

        Source:
            `paddle.quantization.PTQ.quantize`.
        """
        if isinstance(model, Layer) and model.training:
            raise AssertedArgumentError(
                "Post-Training Quantization shoud not work on training models. Please set evaluation mode by model.eval(). Got a model in training "
                "mode, expected one in evaluation mode."
            )
        return super().quantize(model, inplace)
