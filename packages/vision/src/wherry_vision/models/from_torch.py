"""Weights of PyTorch's models in ours: those of torchvision and timm are the same networks under other names.

The two lists of parameters are laid side by side: by their names where these are alike, and otherwise in their order, which is that of the layers.
Each pair has to be of one kind (weight, bias, mean, variance) and of one shape, but for the weights of linear layers, which lie the other way.
"""
from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping
from typing import Any

from wherry_nn import Layer
from wherry_nn.layers.common import Linear
from wherry_tensor import Tensor, to_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.suggestions import did_you_mean
from wherry_train import load

__all__ = ["from_torch"]

# Networks that are the same in both, by their modules here. AlexNet, SqueezeNet, Inception and GoogLeNet are others in torchvision.
_SAME = {
    "densenet": ("densenet121", "densenet161", "densenet169", "densenet201"),
    "mobilenetv2": ("mobilenet_v2",), "mobilenetv3": ("mobilenet_v3_large", "mobilenet_v3_small"),
    "resnet": (
        "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext101_32x4d", "resnext101_64x4d", "wide_resnet50_2",
        "wide_resnet101_2",
    ),
    "shufflenetv2": ("shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0"),
    "vgg": ("vgg11", "vgg13", "vgg16", "vgg19"),
}  # fmt: skip
_WRAPPERS = ("state_dict", "model", "model_state_dict", "model_state", "state_dict_ema", "model_ema")
_KINDS = {"running_mean": "_mean", "running_var": "_variance"}


def from_torch(name: str, file: Any, **kwargs: Any) -> Layer:
    """A model of `vision.models` with weights that torchvision or timm has saved for it.

    Args:
        name: of the model: DenseNet, MobileNet 2 and 3, ResNet with its wide and grouped forms, ShuffleNet 2 or VGG ("resnet50", "vgg16", ...).
        file: a `.pth` or `.safetensors`, or its state as a dict of tensors or arrays by name.
        **kwargs: of the model; `num_classes` where the file has another number than 1000.

    Returns:
        The model, in evaluation mode.

    Raises:
        ValueError: there is no such model; the file is damaged, or the weights are those of another network. The message names the first
            parameter that does not fit.
        TypeError: `file` holds no dict of tensors.

    Shape:
        As the model has it: `[N, 3, H, W]` to `[N, num_classes]`.

    Source:
        Wherry's own.

    Examples:
        >>> net = wherry.vision.models.resnet18(num_classes=10)
        >>> state = {k.replace("_mean", "running_mean").replace("_variance", "running_var"): v.numpy() for k, v in net.state_dict().items()}
        >>> state["fc.weight"] = state["fc.weight"].T
        >>> again = wherry.vision.from_torch("resnet18", state, num_classes=10)
        >>> net.eval()
        >>> x = wherry.ones([1, 3, 32, 32])
        >>> bool(wherry.allclose(again(x), net(x)))
        True
    """
    module = next((module for module, names in _SAME.items() if name in names), None)
    if module is None:
        known = [each for names in _SAME.values() for each in names]
        raise InvalidArgumentError(
            f"from_torch: this is not a model that PyTorch's libraries have, too. Got {short(name)}, expected one of {', '.join(known)}."
            f"{did_you_mean(name, known) if isinstance(name, str) else ''} Write from_torch('resnet50', path)."
        )
    make = getattr(importlib.import_module(f"wherry_vision.models.{module}"), name)
    given = _state(load(os.fspath(file), return_numpy=True) if isinstance(file, (str, os.PathLike)) else file)
    net = make(**kwargs)
    net.set_state_dict(_matched(name, net, given))
    net.eval()
    return net


def _state(found: Any) -> dict[str, Any]:
    """The tensors by name, without what surrounds them."""
    for wrapper in _WRAPPERS:
        if isinstance(found, Mapping) and isinstance(found.get(wrapper), Mapping):
            found = found[wrapper]
    if not isinstance(found, Mapping) or not found or not all(hasattr(value, "shape") for value in found.values()):
        raise InvalidTypeError(
            f"from_torch: the file holds no state of a model. Got {short(found)}, expected a dict of tensors by name. "
            f"Write torch.save(net.state_dict(), path)."
        )
    plain = {str(key).removeprefix("module."): value for key, value in found.items()}
    return {key: value for key, value in plain.items() if not key.endswith("num_batches_tracked")}


def _kind(name: str) -> str:
    last = name.rpartition(".")[2]
    return _KINDS.get(last, last)


def _ours(name: str) -> str:
    before, dot, last = name.rpartition(".")
    return f"{before}{dot}{_KINDS.get(last, last)}"


def _matched(name: str, net: Layer, given: dict[str, Any]) -> dict[str, Tensor]:
    mine = net.state_dict()
    linear = {f"{path}.weight" if path else "weight" for path, layer in net.named_sublayers(include_self=True) if isinstance(layer, Linear)}
    if {_ours(key) for key in given} == set(mine):
        pairs = [(_ours(key), key) for key in given]
    elif len(given) == len(mine):
        pairs = list(zip(mine, given, strict=True))
    else:
        raise InvalidArgumentError(
            f"from_torch: these are not the weights of {name}. Got {len(given)} tensors ({short(list(given)[:3])}), expected {len(mine)} "
            f"({short(list(mine)[:3])}). Name the model that they are of."
        )
    found = {}
    for key, theirs in pairs:
        want, value = mine[key], given[theirs]
        array = value.numpy() if hasattr(value, "numpy") else value
        if key in linear and array.ndim > 1:
            array = array.reshape(array.shape[0], math.prod(array.shape[1:])).T  # a product may have been written as a convolution
        if _kind(theirs) != _kind(key) or tuple(array.shape) != tuple(want.shape):
            raise InvalidArgumentError(
                f"from_torch: these weights do not fit {name}. Got {theirs!r} of shape {list(value.shape)}, expected what becomes {key!r} of shape "
                f"{list(want.shape)}. Name the model that they are of, and pass num_classes= where there are not 1000."
            )
        found[key] = to_tensor(array.astype(want.dtype.name) if array.dtype.name != want.dtype.name else array)
    return found


explained(globals())
