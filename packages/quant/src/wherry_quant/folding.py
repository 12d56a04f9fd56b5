"""Batch normalizations folded into the layers before them, so that their rounding is simulated where it will happen."""
from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_nn.container import Identity
from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import _Convolution
from wherry_nn.layers.norm import _BatchNormBase
from wherry_nn.parameter import Parameter
from wherry_quant.arguments import require_layer
from wherry_quant.observers import output_axis
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.creation import to_tensor

__all__ = ["fold_batch_norms"]


def fold_batch_norms(model: Layer, *inputs: Any, pairs: Iterable[tuple[str, str]] | None = None, inplace: bool = False) -> Layer:
    """Fold batch normalizations into the convolutions and Linear layers whose results they normalize.

    A running mean and variance scale and shift channels, which the layer before can do with its weight and bias. Quantized models have the
    folded weights, so fold before `PTQ` or `QAT`.

    Args:
        model: in evaluation mode it answers the same afterwards.
        inputs: one call's inputs: the model runs on them once, to see which normalization follows which layer.
        pairs: names of layers, as `named_sublayers()` gives them, each with the name of the normalization after it; then no inputs are needed.
        inplace: change this model.

    Returns:
        A model with `nn.Identity` where normalizations were.

    Raises:
        TypeError: not a layer, or a pair is not a convolution or Linear layer and a batch normalization.
        ValueError: neither inputs nor pairs, or a name that the model does not have.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Conv2D(1, 2, 3), wherry.nn.BatchNorm2D(2))
        >>> wherry.quant.fold_batch_norms(net, wherry.ones([1, 1, 4, 4]))
        Sequential(
          (0): Conv2D(1, 2, kernel_size=[3, 3], data_format=NCHW)
          (1): Identity()
        )
    """
    require_layer(model, "fold_batch_norms")
    if pairs is None and not inputs:
        raise InvalidArgumentError(
            "fold_batch_norms: nothing says which normalization follows which layer. Got no inputs and no pairs, expected one of them. "
            "Pass a batch: fold_batch_norms(net, x)."
        )
    model = model if inplace else copy.deepcopy(model)
    names = dict(model.named_sublayers())
    if pairs is None:
        found = _followers(model, inputs)
    else:
        found = [(_named(names, first), _named(names, second)) for first, second in pairs]
    places = {layer: (parent, name) for parent in model.sublayers(include_self=True) for name, layer in parent._sub_layers.items()}
    for layer, norm in found:
        if not isinstance(layer, (_Convolution, Linear)) or not isinstance(norm, _BatchNormBase):
            raise InvalidTypeError(
                f"fold_batch_norms: these two cannot be one. Got {type(layer).__name__} and {type(norm).__name__}, expected a convolution or Linear "
                f"layer and a batch normalization."
            )
        _fold(layer, norm)
        parent, name = places[norm]
        identity = Identity()
        identity.training = norm.training
        parent._sub_layers[name] = identity
    return model


def _named(names: dict[str, Layer], name: str) -> Layer:
    if name not in names:
        from wherry_tensor.suggestions import did_you_mean

        raise InvalidArgumentError(
            f"fold_batch_norms: the model has no layer of this name. Got {short(name)}, expected one of named_sublayers()."
            f"{did_you_mean(name, list(names))}"
        )
    return names[name]


def _followers(model: Layer, inputs: tuple[Any, ...]) -> list[tuple[Layer, Layer]]:
    """Pairs of a layer and the normalization that gets its result and nothing else, each called once."""
    made: dict[int, tuple[Layer, Tensor]] = {}
    pairs: list[tuple[Layer, Layer]] = []
    calls: Counter[Layer] = Counter()
    uses: Counter[int] = Counter()
    alive: list[Any] = []  # so that no other tensor gets the id of one that was counted

    def before(layer: Layer, given: tuple[Any, ...]) -> None:
        alive.extend(given)
        for x in given:
            uses[id(x)] += 1
        if isinstance(layer, _BatchNormBase) and given and id(given[0]) in made:
            first = made[id(given[0])][0]
            if _same_channels(first, layer, given[0].ndim):
                pairs.append((first, layer))

    def after(layer: Layer, given: Any, result: Any) -> None:
        calls[layer] += 1
        if isinstance(layer, (_Convolution, Linear)):
            made[id(result)] = (layer, result)

    leaves = [layer for layer in model.sublayers(include_self=True) if not layer._sub_layers]
    handles = [hook for layer in leaves for hook in (layer.register_forward_pre_hook(before), layer.register_forward_post_hook(after))]
    modes = [(layer, layer.training) for layer in model.sublayers(include_self=True)]
    model.eval()
    try:
        with no_grad():
            model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
        for layer, training in modes:
            layer.training = training
    once = {id(result): uses[id(result)] == 1 for _, result in made.values()}
    of = {layer: id(result) for layer, result in made.values()}
    return [(layer, norm) for layer, norm in pairs if calls[layer] == calls[norm] == 1 and once[of[layer]]]


def _same_channels(layer: Any, norm: Any, rank: int) -> bool:
    """Whether the normalized axis is the one of the layer's outputs, and filters stand in their order."""
    last = norm._data_format.endswith("C") or rank == 2
    if isinstance(layer, Linear):
        return last
    return last == layer._data_format.endswith("C") and not (layer._transposed and layer._groups > 1)


def _fold(layer: Any, norm: Any) -> None:
    channels = norm._mean.numpy().astype(np.float64)
    factor = 1.0 / np.sqrt(norm._variance.numpy().astype(np.float64) + norm._epsilon)
    if norm.weight is not None:
        factor = factor * norm.weight.numpy()
    axis = output_axis(layer)
    weight = layer.weight.numpy()
    shape = [-1 if i == axis else 1 for i in range(weight.ndim)]
    bias = np.zeros_like(channels) if layer.bias is None else layer.bias.numpy().astype(np.float64)
    bias = (bias - channels) * factor + (0.0 if norm.bias is None else norm.bias.numpy())
    layer.weight.set_value((weight * factor.reshape(shape)).astype(weight.dtype))
    if layer.bias is None:
        del layer.bias
        layer.bias = Parameter(to_tensor(bias.astype(weight.dtype)))
    else:
        layer.bias.set_value(bias.astype(weight.dtype))
