"""Weights of few bits that know which inputs are large: AWQ.

Source: Lin et al., AWQ: activation-aware weight quantization for on-device LLM compression and acceleration (2023). Magnitudes of inputs are their
root mean squares, where the paper takes means, for the second moments that errors are measured by hold these already.
"""
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_quant.arguments import require_layer
from wherry_quant.corrections import readers_of, run_batches, take_factor
from wherry_quant.files.weights import QuantizedWeight
from wherry_quant.rounding import moments_of, put_weights
from wherry_quant.weight_only import rounded_weight

__all__ = ["awq", "awq_weight"]

Array = np.ndarray[Any, Any]

_EXPONENTS = np.arange(20) / 20  # of magnitudes of inputs, tried one after another
_CLIPPED = np.arange(20, 9, -1) / 20  # of the largest weight, tried as the limit of a group


def awq_weight(weight: Array, moments: Array, bits: int, group_size: int = 0) -> QuantizedWeight:
    """Round to nearest, each group with the limit that changes its part of the results least.

    Args:
        weight: `[in, out]`.
        moments: `[in, in]`, the sum of `x x^T` over the inputs.
        bits: 8 or 4.
        group_size: rows that share a scale; 0 for all.
    """
    plain = rounded_weight(weight, bits, group_size)
    high, group = (127 if bits == 8 else 7), plain.group
    codes, scales = np.zeros(weight.shape, np.int8), plain.scales.copy()
    for at, first in enumerate(range(0, len(weight), group)):
        rows = slice(first, first + group)
        w, matters = weight[rows].astype(np.float64), moments[rows, rows]
        least = np.full(weight.shape[1], np.inf)
        for share in _CLIPPED:
            scale = plain.scales[at] * np.float32(share)
            q = np.clip(np.rint(w / np.where(scale > 0, scale, 1)), -high, high)
            lost = w - q * scale
            error = np.einsum("ij,ij->j", lost, matters @ lost)
            better = error < least
            least = np.where(better, error, least)
            codes[rows] = np.where(better, q, codes[rows])
            scales[at] = np.where(better, scale, scales[at])
    return QuantizedWeight.symmetric(codes, scales, bits, group)


def awq(model: Layer, batches: Iterable[Any], bits: int = 4, group_size: int = 0) -> Layer:
    """Put a WeightOnlyLinear in the place of every Linear layer, with weights of large inputs scaled up before they are rounded.

    Layers that read the same LayerNorm or Linear layer share the factors, which that layer is divided by; where others read it as well, there
    are none. Then each group of a weight gets the limit that changes the results on these inputs least.

    Args:
        model: stays as it is.
        batches: inputs of calls: tensors, or tuples of them. Some hundred rows for each layer.
        bits: 8 or 4.
        group_size: inputs that share a scale, a multiple of 8; 0 for all of an output.

    Returns:
        The model with small weights.

    Raises:
        TypeError: not a Layer.
        ValueError: no batches, or bits or groups that there are not.

    Source:
        `paddleslim.quant.advanced.AWQSearch` with `AutoClip`.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.LayerNorm(64), wherry.nn.Linear(64, 64), wherry.nn.ReLU(), wherry.nn.Linear(64, 8))
        >>> small = wherry.quant.awq(net, [wherry.randn([256, 64])], bits=4, group_size=32)
        >>> small[1].bits
        4
    """
    require_layer(model, "awq")
    model = copy.deepcopy(model)
    model.eval()
    batches = list(batches)
    moments = moments_of(model, [layer for layer in model.sublayers(include_self=True) if type(layer) is Linear], batches, "awq")
    readers, _largest = readers_of(model, batches, "awq")
    expected = run_batches(model, batches[:1], "awq")
    for source, linears in readers.items():
        factor = _factor(linears, moments, bits, group_size)
        if factor is not None and take_factor(model, source, linears, factor, batches[:1], expected, "awq"):
            for layer in linears:
                moments[layer] = moments[layer] / np.outer(factor, factor)
    return put_weights(model, moments, lambda weight, seen: awq_weight(weight, seen, bits, group_size))


def _factor(linears: list[Any], moments: dict[Layer, Array], bits: int, group_size: int) -> Array | None:
    """By what the rows of these weights are multiplied, so that rounding them changes the results least; None to leave them."""
    magnitude = np.sqrt(np.diag(sum(moments[layer] for layer in linears)))  # type: ignore[arg-type]
    magnitude = np.where(magnitude > 0, magnitude, 1.0)
    found, least = None, np.inf
    for exponent in _EXPONENTS:
        factor = magnitude**exponent
        factor = factor / np.sqrt(factor.max() * factor.min())
        error = 0.0
        for layer in linears:
            weight = layer.weight.astype("float32").numpy()
            lost = weight - rounded_weight((weight * factor[:, None]).astype(np.float32), bits, group_size).numpy() / factor[:, None]
            error += float(np.einsum("ij,ij->", lost, moments[layer] @ lost))
        if error < least:
            found, least = (None if exponent == 0 else factor), error
    return found
