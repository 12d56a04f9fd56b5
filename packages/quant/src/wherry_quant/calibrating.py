"""A trained layer, batches of inputs, and back comes a layer of int8: `wherry.quant.calibrate`."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_nn.layer import Layer
from wherry_nn.layers.common import Linear
from wherry_nn.layers.conv import Conv2D
from wherry_quant.config import QuantConfig
from wherry_quant.folding import fold_batch_norms
from wherry_quant.observers import AbsMaxChannelWiseWeightObserver, HistObserver
from wherry_quant.quantizing import PTQ
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_train.io import DataLoader, Dataset

__all__ = ["batches_of", "calibrate", "calibrated", "config_of", "converted"]


def calibrate(net: Layer, data: Any, config: QuantConfig | None = None) -> Layer:
    """A copy of a trained layer whose weights and activations are int8: batch normalizations folded, scales found on `data`, converted.

    Args:
        net: it; it stays as it is.
        data: a DataLoader, a Dataset, or batches: `(inputs, labels)`, or inputs alone. Labels are not read.
        config: what is quantized and how. By default convolutions and Linear layers: weights by their largest magnitudes, one scale for each
            output; activations below 99.99 % of their values.

    Returns:
        A layer for inference, as `PTQ.convert` gives it: predictors, `paddle.jit.save` and `wherry.export.web` take it.

    Raises:
        TypeError: `net` is not a layer, or `data` holds no batches.
        ValueError: there are no batches.

    Examples:
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(16, 32), wherry.nn.ReLU(), wherry.nn.Linear(32, 4))
        >>> model = wherry.quant.calibrate(net, [wherry.randn([32, 16]) for _ in range(4)])
        >>> model[0].weight.dtype
        paddle.int8
    """
    return calibrated(net, data, config)[1]


def calibrated(net: Any, data: Any, config: Any = None, what: str = "calibrate") -> tuple[Layer, Layer, tuple[Tensor, ...]]:
    """As `calibrate`: the float layer with its batch normalizations folded, what became of it, and the inputs of the first batch."""
    if not isinstance(net, Layer):
        raise InvalidTypeError(
            f"{what}: not a layer. Got {short(net)} ({type(net).__name__}), expected a Layer. Models that are saved are calibrated by "
            f"paddle.static.quantization.PostTrainingQuantization."
        )
    if config is not None and not isinstance(config, QuantConfig):
        raise InvalidTypeError(f"{what}: not a configuration. Got {short(config)} ({type(config).__name__}), expected a QuantConfig.")
    batches = [inputs for inputs, _labels in batches_of(data, what)]
    if not batches:
        raise InvalidArgumentError(f"{what}: scales are found on inputs. Got no batches, expected one or more. Some hundred samples suffice.")
    modes = [(layer, layer.training) for layer in net.sublayers(include_self=True)]
    net.eval()
    try:
        plain = fold_batch_norms(net, *batches[0])
        return plain, converted(plain, batches, config or config_of(HistObserver(percent=0.9999))), batches[0]
    finally:
        for layer, mode in modes:
            layer.training = mode


def config_of(activation: Any, weight: Any = None) -> QuantConfig:
    """Convolutions and Linear layers with these observers."""
    config = QuantConfig(None, None)
    config.add_type_config([Linear, Conv2D], activation=activation, weight=weight or AbsMaxChannelWiseWeightObserver())
    return config


def converted(net: Layer, batches: Sequence[tuple[Tensor, ...]], config: QuantConfig) -> Layer:
    """A copy of a layer after calibration on batches of inputs."""
    ptq = PTQ(config)
    observed = ptq.quantize(net)
    with no_grad():
        for inputs in batches:
            observed(*inputs)
    return ptq.convert(observed, inplace=True)


def batches_of(data: Any, what: str) -> list[tuple[tuple[Tensor, ...], Any]]:
    """Batches as inputs and labels."""
    if isinstance(data, Dataset):
        data = DataLoader(data, batch_size=32)
    if not isinstance(data, Iterable):
        raise InvalidTypeError(
            f"{what}: 'data' holds no batches. Got {short(data)} ({type(data).__name__}), expected a DataLoader, a Dataset or a list of batches."
        )
    found: list[tuple[tuple[Tensor, ...], Any]] = []
    for batch in data:
        if isinstance(batch, Tensor):
            found.append(((batch,), None))
        elif isinstance(batch, (list, tuple)) and batch and all(isinstance(x, Tensor) for x in batch):
            found.append(((batch[0],), None) if len(batch) == 1 else (tuple(batch[:-1]), batch[-1]))
        else:
            raise InvalidTypeError(f"{what}: a batch is a tensor, or inputs and labels. Got {short(batch)}, expected tensors.")
    return found
