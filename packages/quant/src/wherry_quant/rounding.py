"""Rounding that looks at data: GPTQ for weights of few bits.

Source: Frantar et al., GPTQ: accurate post-training quantization for generative pre-trained transformers (2022).
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_nn.functional.sliding import unfold
from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import Conv2D
from wherry_quant.arguments import require_layer
from wherry_quant.files.weights import QuantizedWeight
from wherry_quant.weight_only import WeightOnlyLinear, rounded_weight
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["gptq", "gptq_weight", "moments_of", "plain_convolution", "put_weights", "windows"]

Array = np.ndarray[Any, Any]


def gptq_weight(weight: Array, moments: Array, bits: int, group_size: int = 0, damping: float = 0.01) -> QuantizedWeight:
    """Round a weight row by row, and let the rows that follow make up for the error.

    Args:
        weight: `[in, out]`.
        moments: `[in, in]`, the sum of `x x^T` over the inputs: the second derivative of the error, but for a factor.
        bits: 8 or 4.
        group_size: rows that share a scale; 0 for all.
        damping: share of the mean of the diagonal that is added to it.
    """
    plain = rounded_weight(weight, bits, group_size)  # checks, and the shape of the scales
    high = 127 if bits == 8 else 7
    rows = len(weight)
    w, hessian = weight.astype(np.float64), moments.astype(np.float64)
    dead = np.diag(hessian) <= 0
    hessian[dead, dead] = 1.0
    w[dead] = 0.0
    hessian[np.diag_indices(rows)] += damping * float(np.mean(np.diag(hessian)))
    # The upper factor of the inverse: its row says how the error of one row is spread over those that follow.
    spread = np.linalg.cholesky(np.linalg.inv(hessian)).T
    codes = np.zeros(weight.shape, np.int8)
    scales = plain.scales.astype(np.float64)
    for row in range(rows):
        at = row // plain.group
        if row % plain.group == 0 and group_size:  # of the rows as they are by now
            scales[at] = np.abs(w[row : row + plain.group]).max(0) / high
        step = np.where(scales[at] > 0, scales[at], 1.0)
        q = np.clip(np.rint(w[row] / step), -high, high)
        codes[row] = q
        error = (w[row] - q * step) / spread[row, row]
        w[row + 1 :] -= np.outer(spread[row, row + 1 :], error)
    return QuantizedWeight.symmetric(codes, scales.astype(np.float32), bits, plain.group)


def gptq(model: Layer, batches: Iterable[Any], bits: int = 4, group_size: int = 0) -> Layer:
    """Put a WeightOnlyLinear in the place of every Linear layer, with weights rounded so that the results on these inputs change least.

    Args:
        model: stays as it is.
        batches: inputs of calls: tensors, or tuples of them. Some hundred rows for each layer.
        bits: 8 or 4.
        group_size: inputs that share a scale, a multiple of 8; 0 for all of an output.

    Returns:
        The model with small weights.

    Raises:
        TypeError: not a layer.
        ValueError: no batches, or bits or groups that there are not.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(64, 64), wherry.nn.ReLU(), wherry.nn.Linear(64, 8))
        >>> small = wherry.quant.gptq(net, [wherry.randn([256, 64])], bits=4, group_size=32)
        >>> small[0].bits
        4
    """
    require_layer(model, "gptq")
    model = copy.deepcopy(model)
    model.eval()
    moments = moments_of(model, [layer for layer in model.sublayers(include_self=True) if type(layer) is Linear], batches, "gptq")
    return put_weights(model, moments, lambda weight, seen: gptq_weight(weight, seen, bits, group_size))


def put_weights(model: Layer, moments: dict[Layer, Array], rounded: Callable[[Array, Array], QuantizedWeight]) -> Layer:
    """Put a WeightOnlyLinear in the place of each of these Linear layers; `rounded` gives its weight from the float one and the moments."""
    holder: dict[str, Any] = {"model": model}
    _replace(holder, moments, rounded)
    return holder["model"]  # type: ignore[no-any-return]


def moments_of(model: Layer, layers: Iterable[Layer], batches: Iterable[Any], what: str) -> dict[Layer, Array]:
    """The sum of `x x^T` over what each of these Linear layers and convolutions multiplies by its weight: rows of an input, or windows.

    Raises:
        ValueError: no batch reaches one of them.
    """
    moments: dict[Layer, Array] = {}

    def see(layer: Any, inputs: tuple[Any, ...]) -> None:
        if not isinstance(inputs[0], Tensor):
            raise InvalidTypeError(f"{what}: an input of a batch is no Tensor. Got {short(inputs[0])}, expected Tensors. Use to_tensor.")
        x = inputs[0].astype("float32")
        rows = x.numpy().reshape(-1, x.shape[-1]) if isinstance(layer, Linear) else windows(x, layer.weight.shape[2:], *layer._window[:3])
        rows = rows.astype(np.float64)
        moments[layer] = moments.get(layer, 0) + rows.T @ rows

    watched = list(layers)
    handles = [layer.register_forward_pre_hook(see) for layer in watched]
    try:
        with no_grad():
            for batch in batches:
                model(*((batch,) if isinstance(batch, Tensor) else batch))
    finally:
        for handle in handles:
            handle.remove()
    if watched and not moments:
        raise InvalidArgumentError(
            f"{what}: rounding looks at inputs. Got no batch that reaches a layer with a weight, expected some. Pass batches of inputs."
        )
    return moments


def windows(x: Tensor, kernel: Sequence[int], strides: Sequence[int], paddings: Sequence[int], dilations: Sequence[int]) -> Array:
    """What filters are multiplied by, a window a row, of images with channels first; `paddings` as the op `conv2d` takes them."""
    columns = unfold(x, list(kernel), list(strides), [paddings[0], paddings[2], paddings[1], paddings[3]], list(dilations))
    return np.moveaxis(columns.numpy(), 1, 2).reshape(-1, columns.shape[1])  # type: ignore[no-any-return]


def plain_convolution(layer: Layer) -> bool:
    """Whether a layer is a convolution in one group of images with channels first, with zeros around them."""
    return type(layer) is Conv2D and layer._groups == 1 and layer._data_format == "NCHW" and layer._fill is None and layer._window[1] is not None


def _replace(layers: dict[str, Any], moments: dict[Layer, Array], rounded: Callable[[Array, Array], QuantizedWeight]) -> None:
    for name, layer in list(layers.items()):
        if type(layer) is Linear and layer in moments:
            weight: Any = layer.weight
            layers[name] = WeightOnlyLinear(rounded(weight.astype("float32").numpy(), moments[layer]), layer.bias)  # type: ignore[arg-type]
        elif layer is not None:
            _replace(layer._sub_layers, moments, rounded)
