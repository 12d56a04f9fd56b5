"""Which layers are quantized, and by what: `QuantConfig`."""
from __future__ import annotations

from typing import Any

from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import Conv2D
from wherry_quant.factory import QuanterFactory
from wherry_quant.layers import QuantedConv2D, QuantedLinear, QuanterStub, Stub
from wherry_tensor.errors import AssertedArgumentError, InvalidTypeError, short

__all__ = ["QuantConfig", "SingleLayerConfig"]

_MAPPING: dict[type[Layer], type[Layer]] = {Stub: QuanterStub, Linear: QuantedLinear, Conv2D: QuantedConv2D}


class SingleLayerConfig:
    """What quantizes the input of a layer, and what its weight; None leaves them as they are."""

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        self._activation, self._weight = activation, weight

    @property
    def activation(self) -> QuanterFactory | None:
        """The factory for inputs."""
        return self._activation

    @property
    def weight(self) -> QuanterFactory | None:
        """The factory for weights."""
        return self._weight

    def __str__(self) -> str:
        return f"activation: {self._activation}\nweight: {self._weight}"


class QuantConfig:
    """Which layers are quantized, and by what.

    What is said of a layer holds for the layers inside too, unless something is said of those. What is said of a layer or its name
    counts for more than what is said of its class, and that for more than the arguments given here.

    Args:
        activation: makes the quanters of inputs; None leaves inputs alone.
        weight: makes the quanters of weights; None leaves weights alone.

    Raises:
        TypeError: an argument is neither None nor a factory.

    Source:
        `paddle.quantization.QuantConfig`.

    Examples:
        >>> from wherry.quantization.observers import AbsmaxObserver
        >>> config = wherry.quantization.QuantConfig(activation=None, weight=None)
        >>> config.add_type_config(wherry.nn.Linear, activation=AbsmaxObserver(), weight=AbsmaxObserver())
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(2, 2), wherry.nn.ReLU())
        >>> net.eval()
        >>> wherry.quantization.PTQ(config).quantize(net)
        Sequential(
          (0): QuantedLinear(
            (weight_quanter): AbsmaxObserverLayer()
            (activation_quanter): AbsmaxObserverLayer()
          )
          (1): ReLU()
        )
    """

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        self._global = None if activation is None and weight is None else _single("QuantConfig", activation, weight)
        self._by_name: dict[str, SingleLayerConfig] = {}
        self._by_type: dict[type[Layer], SingleLayerConfig] = {}
        self._mappings = dict(_MAPPING)
        self._leaves: list[type[Layer]] = []

    def add_layer_config(
        self, layer: Layer | list[Layer], activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Quantize this layer, or these, and what is inside.

        Args:
            layer: a layer or several. They are known by `full_name()`, so that copies of them count too.
            activation: makes the quanters of inputs.
            weight: makes the quanters of weights.

        Raises:
            TypeError: not a layer, or not a factory.

        Source:
            `paddle.quantization.QuantConfig.add_layer_config`.
        """
        for one in layer if isinstance(layer, (list, tuple)) else [layer]:
            if not isinstance(one, Layer):
                raise InvalidTypeError(f"add_layer_config: not a layer. Got {short(one)} ({type(one).__name__}), expected a Layer or a list of them.")
            self.add_name_config(one.full_name(), activation, weight)

    def add_name_config(
        self, layer_name: str | list[str], activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Quantize the layers of these names, as `full_name()` gives them.

        Args:
            layer_name: a name or several.
            activation: makes the quanters of inputs.
            weight: makes the quanters of weights.

        Raises:
            TypeError: not a name, or not a factory.

        Source:
            `paddle.quantization.QuantConfig.add_name_config`.
        """
        for one in layer_name if isinstance(layer_name, (list, tuple)) else [layer_name]:
            if not isinstance(one, str):
                raise InvalidTypeError(
                    f"add_name_config: not a name. Got {short(one)} ({type(one).__name__}), expected a str or a list of them. "
                    f"layer.full_name() gives the name of a layer."
                )
            self._by_name[one] = _single("add_name_config", activation, weight)

    def add_type_config(
        self, layer_type: type | list[type], activation: QuanterFactory | None = None, weight: QuanterFactory | None = None
    ) -> None:
        """Quantize layers of these classes.

        Args:
            layer_type: a class or several. Subclasses do not count.
            activation: makes the quanters of inputs.
            weight: makes the quanters of weights.

        Raises:
            TypeError: not a class of layers, or not a factory.

        Source:
            `paddle.quantization.QuantConfig.add_type_config`.
        """
        for one in layer_type if isinstance(layer_type, (list, tuple)) else [layer_type]:
            _check_class("add_type_config", one)
            self._by_type[one] = _single("add_type_config", activation, weight)

    def add_qat_layer_mapping(self, source: type, target: type) -> None:
        """Put a `target` in the place of every `source`: it is made of the layer and its SingleLayerConfig.

        Raises:
            TypeError: one of them is not a class of layers (also an AssertionError).

        Source:
            `paddle.quantization.QuantConfig.add_qat_layer_mapping`.
        """
        for one in source, target:
            _check_class("add_qat_layer_mapping", one)
        self._mappings[source] = target

    def add_customized_leaf(self, layer_type: type) -> None:
        """Take layers of this class as one: the input of such a layer is observed.

        Raises:
            TypeError: not a class of layers.

        Source:
            `paddle.quantization.QuantConfig.add_customized_leaf`.
        """
        _check_class("add_customized_leaf", layer_type)
        self._leaves.append(layer_type)

    @property
    def customized_leaves(self) -> list[type[Layer]]:
        """What `add_customized_leaf` was given."""
        return self._leaves

    @property
    def qat_layer_mappings(self) -> dict[type[Layer], type[Layer]]:
        """Which class stands in for which."""
        return self._mappings

    @property
    def default_qat_layer_mapping(self) -> dict[type[Layer], type[Layer]]:
        """The same without what was added."""
        return dict(_MAPPING)

    @property
    def global_config(self) -> SingleLayerConfig | None:
        """What holds for layers of which nothing else is said."""
        return self._global

    def _specify(self, model: Layer) -> None:
        """What PaddleSlim's SlimQAT calls first; `configs_of` is asked of each model anew."""

    def configs_of(self, model: Layer) -> dict[Layer, SingleLayerConfig]:
        """What is said of each layer of a model; layers of which nothing is said are left out."""
        found: dict[Layer, SingleLayerConfig] = {}

        def walk(layer: Layer, above: SingleLayerConfig | None) -> None:
            own = self._by_name.get(layer.full_name(), self._by_type.get(type(layer), above))
            if own is not None:
                found[layer] = own
            for inner in layer._sub_layers.values():
                if inner is not None:
                    walk(inner, own)

        walk(model, self._global)
        return found

    def is_leaf(self, layer: Layer) -> bool:
        """Whether a layer is observed as one."""
        return not layer._sub_layers or type(layer) in self._leaves

    def details(self) -> str:
        """All that was said, as text.

        Source:
            `paddle.quantization.QuantConfig.details`.
        """
        text = f"Global config:\n{self._global}\n"
        if self._by_type:
            text += f"Layer type config:\n{self._by_type}\n"
        if self._by_name:
            text += f"Layer prefix config: \n{self._by_name}\n"
        return text

    __str__ = details


def _single(what: str, activation: Any, weight: Any) -> SingleLayerConfig:
    for name, one in ("activation", activation), ("weight", weight):
        if one is not None and not isinstance(one, QuanterFactory):
            raise InvalidTypeError(
                f"{what}: {name} is not a factory. Got {short(one)} ({type(one).__name__}), expected None or a factory of quanters. "
                f"Write AbsmaxObserver() or FakeQuanterWithAbsMaxObserver(moving_rate=0.9), or define one with @quanter."
            )
    return SingleLayerConfig(activation, weight)


def _check_class(what: str, kind: Any) -> None:
    if not (isinstance(kind, type) and issubclass(kind, Layer)):
        raise AssertedArgumentError(
            f"{what}: not a class of layers. Got {short(kind)} ({type(kind).__name__}), expected a subclass of paddle.nn.Layer. "
            f"Pass the class, not a layer."
        )
