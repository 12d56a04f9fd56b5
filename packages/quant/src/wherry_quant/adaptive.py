"""AdaRound: for each weight the direction of rounding, learned from the error of the layer's results.

Source: Nagel et al., Up or down? Adaptive rounding for post-training quantization (2020).
"""
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_quant.arguments import require_layer
from wherry_quant.numbers import holder, levels
from wherry_quant.observers import magnitudes, output_axis
from wherry_quant.rounding import moments_of, plain_convolution
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["adaround", "adaround_array", "adaround_weight"]

Array = np.ndarray[Any, Any]

_LOW, _HIGH = -0.1, 1.1  # the sigmoid is stretched to this and clipped, so that 0 and 1 are reached
_BETA = 20.0, 2.0  # the exponent of the regularizer at its start and its end
_WARM = 0.2  # share of the steps before the regularizer begins


def adaround_weight(weight: Array, moments: Array, scales: Array, bits: int, steps: int = 400, learning_rate: float = 0.02) -> Array:
    """Whole numbers of a weight, each rounded up or down so that the results change least.

    Args:
        weight: `[in, out]`.
        moments: `[in, in]`, the sum of `x x^T` over the inputs.
        scales: `[out]`, or `[1]` for all: the largest magnitude that fits.
        bits: of the whole numbers.
        steps: of Adam.
        learning_rate: of Adam.

    Returns:
        `[in, out]`. Where the result of an output would be worse than with rounding to nearest, that is kept.
    """
    high = levels(bits)
    step = scales.astype(np.float64) / high
    w = weight.astype(np.float64) / step
    floor = np.floor(w)
    nearest = np.clip(np.rint(w), -high, high)
    fixed = np.abs(w) >= high - 1e-3  # the largest keep their place: they are what the scale is found from
    hessian = moments.astype(np.float64) / max(float(np.trace(moments)) / len(moments), 1e-30)
    share = np.clip((w - floor - _LOW) / (_HIGH - _LOW), 1e-6, 1 - 1e-6)
    v = np.log(share / (1 - share))  # starts as the weight itself
    first, second = np.zeros_like(v), np.zeros_like(v)
    for at in range(1, steps + 1):
        sigmoid = 1 / (1 + np.exp(-v))
        stretched = sigmoid * (_HIGH - _LOW) + _LOW
        h = np.clip(stretched, 0, 1)
        gradient = 2 * hessian @ (np.clip(floor + h, -high, high) - w)
        progress = (at / steps - _WARM) / (1 - _WARM)
        if progress > 0:
            beta = _BETA[1] + (_BETA[0] - _BETA[1]) * (1 - progress)
            middle = 2 * h - 1
            gradient -= progress * beta * 2 * np.sign(middle) * np.abs(middle) ** (beta - 1)
        gradient *= np.where((stretched > 0) & (stretched < 1), (_HIGH - _LOW) * sigmoid * (1 - sigmoid), 0.0)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        v -= learning_rate * (first / (1 - 0.9**at)) / (np.sqrt(second / (1 - 0.999**at)) + 1e-8)
    up = (_HIGH - _LOW) / (1 + np.exp(-v)) + _LOW >= 0.5
    found = np.where(fixed, nearest, np.clip(floor + up, -high, high))

    def error(q: Array) -> Array:
        return np.einsum("io,io->o", q - w, hessian @ (q - w))  # type: ignore[no-any-return]

    return np.where(error(found) < error(nearest), found, nearest)


def adaround_array(values: Array, axis: int, moments: Array, scales: Array, bits: int, steps: int = 400, learning_rate: float = 0.02) -> Array:
    """`adaround_weight` of a matrix `[in, out]` (`axis` 1) or of filters (`axis` 0), in their shape."""
    rows = values if axis == 1 else values.reshape(len(values), -1).T
    found = adaround_weight(rows, moments, scales, bits, steps, learning_rate)
    return found if axis == 1 else found.T.reshape(values.shape)


def adaround(
    model: Layer, batches: Iterable[Any], bits: int = 8, per_channel: bool = True, steps: int = 400, learning_rate: float = 0.02,
    inplace: bool = False,
) -> Layer:
    """Put each weight of Linear layers and convolutions on a whole number of steps, up or down as the results on these inputs change least.

    The model stays one of floats. `PTQ` with an `AbsMaxChannelWiseWeightObserver` (an `AbsmaxObserver` without `per_channel`) of as many bits
    finds these whole numbers again, and so does `quantize_weights` without groups.

    Args:
        model: a float model.
        batches: inputs of calls: tensors, or tuples of them. Some hundred rows for each layer.
        bits: of the whole numbers, 2 to 8.
        per_channel: a scale for each output.
        steps: of the search.
        learning_rate: of the search.
        inplace: change this model.

    Returns:
        The model, in evaluation mode. Convolutions in groups, with channels last or with padding other than zeros keep their weights.

    Raises:
        ValueError: no batches, bits that there are not, or no steps.
        TypeError: not a Layer.

    Source:
        `round_type="adaround"` of `paddle.static.quantization.PostTrainingQuantization`.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(16, 8))
        >>> rounded = wherry.quant.adaround(net, [wherry.randn([64, 16])], bits=4)
        >>> len(set((rounded[0].weight / rounded[0].weight.abs().max(0) * 7).round().flatten().tolist())) <= 15
        True
    """
    require_layer(model, "adaround")
    holder(bits)
    if not isinstance(steps, int) or steps < 1 or bits > 8:
        raise InvalidArgumentError(f"adaround: Got steps={steps} and bits={bits}, expected a positive number of steps, and 2 to 8 bits.")
    model = model if inplace else copy.deepcopy(model)
    model.eval()
    layers = [layer for layer in model.sublayers(include_self=True) if type(layer) is Linear or plain_convolution(layer)]
    for layer, moments in moments_of(model, layers, batches, "adaround").items():
        parameter: Any = layer.weight
        values = parameter.astype("float32").numpy()
        axis = output_axis(layer)
        scales = magnitudes(values, axis) if per_channel else np.abs(values).max(keepdims=True).ravel()
        scales = np.where(scales > 0, scales, 1.0)
        q = adaround_array(values, axis, moments, scales, bits, steps, learning_rate)
        step = scales / levels(bits)
        parameter.set_value((q * step.reshape([-1 if i == axis else 1 for i in range(values.ndim)])).astype(np.float32))
    return model
