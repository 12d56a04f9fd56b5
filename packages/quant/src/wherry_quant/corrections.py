"""What makes a model easier to round before calibration, and nearer to the float one after it.

Sources: Xiao et al., SmoothQuant (2022); Nagel et al., Data-free quantization through weight equalization and bias correction (2019).
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_nn.container import Identity
from wherry_nn.layer import Layer
from wherry_nn.layers.activation import ReLU
from wherry_nn.layers.common import Dropout, Linear
from wherry_nn.layers.norm import LayerNorm
from wherry_nn.parameter import Parameter
from wherry_quant.arguments import require_layer
from wherry_quant.format import ConvertibleQuantedLayer
from wherry_quant.layers import QuantedConv2D, QuantedLinear
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.functions.creation import to_tensor

__all__ = ["correct_biases", "readers_of", "run_batches", "smooth", "take_factor"]

Array = np.ndarray[Any, Any]

_PASSING = (ReLU, Dropout, Identity)  # a positive factor goes through
_CHANGED = 1e-4  # of the largest result: more than rounding of float32 makes of factors that cancel


def run_batches(model: Layer, batches: Iterable[Any], what: str) -> list[Any]:
    """What a model gives for each batch: a tensor, or a tuple of inputs.

    Raises:
        ValueError: there is no batch.
    """
    with no_grad():
        results = [model(*((batch,) if isinstance(batch, Tensor) else batch)) for batch in batches]
    if not results:
        raise InvalidArgumentError(f"{what}: inputs say what matters. Got no batch, expected some. Pass batches of inputs.")
    return results


def smooth(model: Layer, batches: Iterable[Any], alpha: float = 0.5, inplace: bool = False) -> Layer:
    """Divide inputs of Linear layers with large columns by factors that their weights are multiplied by (SmoothQuant).

    The results of the model stay the same, and one scale fits the inputs better. Factors go into the LayerNorm or Linear layer that the input
    comes from, through ReLU and Dropout too; where that changes the results of the first batch, because others use what it gives, that
    layer stays as it is.

    Args:
        model: a float model.
        batches: inputs of calls: tensors, or tuples of them.
        alpha: how much of the range goes to the weights: 0 for none, 1 for all.
        inplace: change this model.

    Returns:
        The model, in evaluation mode, with other weights.

    Raises:
        ValueError: no batches, or `alpha` is not in [0, 1].
        TypeError: not a Layer.

    Source:
        `paddleslim.quant.advanced.Smooth`.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.LayerNorm(16), wherry.nn.Linear(16, 8))
        >>> x = wherry.randn([32, 16])
        >>> easier = wherry.quant.smooth(net, [x])
        >>> bool(wherry.allclose(easier(x), net(x), atol=1e-5)), bool(wherry.equal_all(easier[1].weight, net[1].weight))
        (True, False)
    """
    require_layer(model, "smooth")
    if not 0 <= alpha <= 1:
        raise InvalidArgumentError(f"smooth: a share lies between 0 and 1. Got alpha={alpha}, expected a number in [0, 1].")
    model = model if inplace else copy.deepcopy(model)
    model.eval()
    batches = list(batches)
    readers, largest = readers_of(model, batches, "smooth")
    expected = run_batches(model, batches[:1], "smooth")
    for source, linears in readers.items():
        inputs = np.maximum.reduce([largest[layer] for layer in linears])
        weights = np.maximum.reduce([np.abs(_values(layer.weight)).max(1) for layer in linears])
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = inputs**alpha / weights ** (1 - alpha)
        factor = np.where(np.isfinite(factor) & (factor > 0), factor, 1.0)
        take_factor(model, source, linears, factor, batches[:1], expected, "smooth")
    return model


def take_factor(
    model: Layer, source: Any, linears: list[Any], factor: Array, batches: list[Any], expected: list[Any], what: str
) -> bool:
    """Divide what a layer gives by factors and multiply the weights that read it, unless that changes what the model gives, `expected`."""
    kept = [(parameter, _values(parameter)) for layer in (source, *linears) for parameter in layer._parameters.values() if parameter is not None]
    _scale(source, 1 / factor)
    for layer in linears:
        layer.weight.set_value((_values(layer.weight) * factor[:, None]).astype(np.float32))
    found = _arrays(run_batches(model, batches, what))
    if any(np.abs(a - b).max(initial=0) > _CHANGED * np.abs(a).max(initial=0) for a, b in zip(_arrays(expected), found, strict=True)):
        for parameter, values in kept:
            parameter.set_value(values)
        return False
    return True


def readers_of(model: Layer, batches: list[Any], what: str) -> tuple[dict[Any, list[Any]], dict[Layer, Array]]:
    """LayerNorm and Linear layers with the Linear layers that read what they give, and the largest magnitude of each column of an input."""
    made: dict[int, tuple[Layer, Any]] = {}  # the result too, so that no other tensor gets its id
    readers: dict[Any, list[Any]] = {}
    largest: dict[Layer, Array] = {}

    def see(layer: Layer, given: tuple[Any, ...], result: Any) -> None:
        if not given or not isinstance(given[0], Tensor):
            return
        source = made.get(id(given[0]))
        if isinstance(layer, _PASSING):
            if source is not None:
                made[id(result)] = source[0], result
            return
        if type(layer) is Linear:
            x = np.abs(_values(given[0]).reshape(-1, given[0].shape[-1])).max(0)
            largest[layer] = np.maximum(largest.get(layer, 0), x)
            if source is not None and layer not in readers.setdefault(source[0], []):
                readers[source[0]].append(layer)
        if type(layer) is Linear or (isinstance(layer, LayerNorm) and layer.weight is not None and len(layer.weight.shape) == 1):
            made[id(result)] = layer, result

    handles = [layer.register_forward_post_hook(see) for layer in model.sublayers(include_self=True) if not layer._sub_layers]
    try:
        for batch in batches:
            made.clear()
            run_batches(model, [batch], what)
    finally:
        for handle in handles:
            handle.remove()
    if not batches:
        run_batches(model, batches, what)
    return readers, largest


def _scale(layer: Any, factor: Array) -> None:
    """Multiply what a layer gives, column by column."""
    for parameter in layer.weight, layer.bias:
        if parameter is not None:
            parameter.set_value((_values(parameter) * factor).astype(np.float32))


def correct_biases(model: Layer, reference: Layer, batches: Iterable[Any], inplace: bool = False) -> Layer:
    """Move biases so that each rounded layer gives, on average, what the float one gave.

    Layers are corrected in the order in which they run, each with those before it corrected. A layer without bias gets one.

    Args:
        model: what `PTQ.convert` or `QAT.convert` returned.
        reference: the float model with layers of the same names.
        batches: inputs of calls: tensors, or tuples of them.
        inplace: change this model.

    Returns:
        The model with other biases.

    Raises:
        TypeError: not layers.
        ValueError: no batches, nothing is rounded, or the reference lacks a layer.

    Source:
        Option `bias_correction` of `paddle.static.quantization.PostTrainingQuantization`, by data in place of the weights' own mean.

    Examples:
        >>> from wherry.quantization import PTQ, QuantConfig
        >>> from wherry.quantization.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(16, 4))
        >>> net.eval()
        >>> ptq = PTQ(QuantConfig(activation=AbsmaxObserver(), weight=AbsMaxChannelWiseWeightObserver(quant_bits=4)))
        >>> observed, x = ptq.quantize(net), wherry.rand([64, 16])
        >>> _ = observed(x)
        >>> model = wherry.quant.correct_biases(ptq.convert(observed), net, [x])
        >>> bool(wherry.allclose(model(x).mean(0), net(x).mean(0), atol=1e-5))
        True
    """
    require_layer(model, "correct_biases")
    require_layer(reference, "correct_biases")
    model = model if inplace else copy.deepcopy(model)
    batches = list(batches)
    names = {layer: name for name, layer in model.named_sublayers(include_self=True) if isinstance(layer, (QuantedLinear, QuantedConv2D))}
    if not any(isinstance(layer, ConvertibleQuantedLayer) and layer.converted for layer in names):
        raise InvalidArgumentError("correct_biases: nothing is rounded. Got a model without converted layers, expected what convert() returned.")
    known = dict(reference.named_sublayers(include_self=True))
    for name in names.values():
        if name not in known:
            raise InvalidArgumentError(f"correct_biases: the reference is another model. Got no layer '{name}' in it, expected the float model.")
    wanted = _means(reference, {known[name]: _axis(layer) for layer, name in names.items()}, batches)
    order = list(_means(model, {layer: _axis(layer) for layer in names}, batches))
    for layer in order:
        found = _means(model, {layer: _axis(layer)}, batches)[layer]
        moved = wanted[known[names[layer]]] - found
        bias: Any = layer.bias
        if bias is not None:
            moved = moved + _values(bias)
            del layer.bias
        layer.bias = Parameter(to_tensor(moved.astype(np.float32)), trainable=False)
    return model


def _axis(layer: Any) -> int:
    """Along which axis a layer gives its outputs."""
    return 1 if isinstance(layer, QuantedConv2D) and not layer._data_format.endswith("C") else -1


def _means(model: Layer, axes: dict[Any, int], batches: list[Any]) -> dict[Any, Array]:
    """The mean of each output of these layers, in the order in which they ran first."""
    sums: dict[Any, Array] = {}
    counts: dict[Any, int] = {}

    def seeing(axis: int) -> Callable[..., None]:
        def see(layer: Layer, given: Any, result: Tensor) -> None:
            rows = np.moveaxis(_values(result), axis, -1)
            rows = rows.reshape(-1, rows.shape[-1]).astype(np.float64)
            sums[layer] = sums.get(layer, 0) + rows.sum(0)
            counts[layer] = counts.get(layer, 0) + len(rows)

        return see

    handles = [layer.register_forward_post_hook(seeing(axis)) for layer, axis in axes.items()]
    try:
        run_batches(model, batches, "correct_biases")
    finally:
        for handle in handles:
            handle.remove()
    return {layer: total / counts[layer] for layer, total in sums.items()}


def _values(x: Any) -> Array:
    return x.astype("float32").numpy()  # type: ignore[no-any-return]


def _arrays(results: list[Any]) -> list[Array]:
    from wherry_program.program.structure import tensors_of

    return [_values(x) for result in results for x in tensors_of(result) if x.dtype.is_floating]
