"""Weight normalization: a weight as its length times its direction."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_autograd import no_grad
from wherry_nn.initializer import Initializer
from wherry_nn.layer import Layer
from wherry_nn.parameter import Parameter
from wherry_nn.utils._hooks import hook_of, parameter_of, refuse_second
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.functions.creation import full
from wherry_tensor.static_builder import building, first_value

__all__ = ["remove_weight_norm", "weight_norm"]


class _WeightNorm:
    """The hook that computes the weight before each forward."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim  # None: one length for the whole weight

    def __call__(self, layer: Layer, inputs: Any) -> None:
        setattr(layer, self.name, self.weight(layer))

    def weight(self, layer: Layer) -> Tensor:
        length, direction = getattr(layer, self.name + "_g"), getattr(layer, self.name + "_v")
        axes = _other_axes(direction, self.dim)
        if self.dim is not None:
            length = ops.unsqueeze(length, axes)
        squares = ops.reduce_sum(ops.square(direction), axes, self.dim is not None)
        # A row of zeros has no direction; it stays zeros, and its gradient finite.
        squares = ops.maximum(squares, full([], 1e-24, squares.dtype))
        return direction * (length * ops.rsqrt(squares))


def _other_axes(weight: Tensor, dim: int | None) -> tuple[int, ...]:
    return tuple(axis for axis in range(weight.ndim) if axis != dim)


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Weight normalization: train the length and the direction of a weight instead of itself, `weight = g * v / ||v||`.

    Args:
        layer: is changed: parameters `name_g` (lengths) and `name_v` (directions) replace parameter `name`, which
            becomes a tensor that is computed before each forward.
        name: of the parameter.
        dim: the axis that has a length for each index; None (and -1, as in Paddle) has one length for all.

    Returns:
        The layer.

    Shape:
        `name_v` has the shape of the weight; `name_g` is `[size of axis dim]`, or 0-d.

    Raises:
        KeyError: the layer has no such parameter.
        ValueError: `dim` is out of range (also an AssertionError).
        RuntimeError: the parameter is under weight_norm already.

    Source:
        `paddle.nn.utils.weight_norm`; Salimans & Kingma (2016).

    Examples:
        >>> layer = wherry.nn.utils.weight_norm(wherry.nn.Linear(3, 4), dim=1)
        >>> {name: value.shape for name, value in layer.state_dict().items()}
        {'bias': [4], 'weight_v': [3, 4], 'weight_g': [4]}
    """
    refuse_second(layer, name, _WeightNorm, "weight_norm")
    weight = parameter_of(layer, name, "weight_norm")
    if dim is None:
        dim = -1
    if not -weight.ndim <= dim < weight.ndim:
        raise AssertedArgumentError(
            f"weight_norm: dim must set between [-R, R), R means the dimension of weight. Got dim={dim} for a weight of shape "
            f"{weight.shape}, expected one in [{-weight.ndim}, {weight.ndim}). None has one length for all."
        )
    hook = _WeightNorm(name, None if dim == -1 else dim % weight.ndim)
    del layer._parameters[name]
    direction = _like(layer, weight)

    def length_now() -> Tensor:
        return ops.sqrt(ops.reduce_sum(ops.square(first_value(weight)), _other_axes(weight, hook.dim), False))

    length = _computed(layer, [] if hook.dim is None else [weight.shape[hook.dim]], weight, length_now)
    layer.add_parameter(name + "_v", direction)
    layer.add_parameter(name + "_g", length)
    with no_grad():  # until the first forward: so the layer can be copied deeply
        hook(layer, None)
    layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Undo `weight_norm`: the weight as it is computed now becomes a parameter again.

    Args:
        layer: is changed.
        name: of the parameter.

    Returns:
        The layer.

    Raises:
        ValueError: it is not under weight_norm.

    Source:
        `paddle.nn.utils.remove_weight_norm`.

    Examples:
        >>> layer = wherry.nn.utils.weight_norm(wherry.nn.Linear(3, 4))
        >>> list(wherry.nn.utils.remove_weight_norm(layer).state_dict())
        ['bias', 'weight']
    """
    found = hook_of(layer, name, _WeightNorm)
    if found is None:
        raise InvalidArgumentError(
            f"remove_weight_norm: weight_norm of '{name}' not found in {layer}. Got a layer without it, expected one that "
            f"weight_norm changed. Pass the layer itself, not a model around it."
        )
    key, hook = found
    weight = hook.weight(layer).detach()
    trainable = not layer._parameters[name + "_v"].stop_gradient  # type: ignore[union-attr]
    del layer._forward_pre_hooks[key], layer._parameters[name + "_g"], layer._parameters[name + "_v"]
    delattr(layer, name)
    restored = _like(layer, weight)
    restored.stop_gradient = not trainable
    layer.add_parameter(name, restored)
    return layer


def _like(layer: Layer, weight: Tensor) -> Parameter:
    """A new parameter of the layer with these values."""
    return _computed(layer, weight.shape, weight, lambda: first_value(weight))


def _computed(layer: Layer, shape: list[int], weight: Tensor, make: Callable[[], Tensor]) -> Parameter:
    """A new parameter of the layer that begins with what `make` gives, and trains if `weight` does."""
    if building.builder is None:  # as in Paddle it has drawn its random numbers before
        parameter = layer.create_parameter(shape, dtype=weight.dtype)
        assert parameter is not None
        with no_grad():
            parameter.set_value(make())
    else:
        parameter = layer.create_parameter(shape, attr=_Computed(make), dtype=weight.dtype)
        assert parameter is not None
    parameter.stop_gradient = weight.stop_gradient
    return parameter


class _Computed(Initializer):
    def __init__(self, make: Callable[[], Tensor]) -> None:
        self.make = make

    def forward(self, param: Tensor, block: Any = None) -> None:
        ops.copy.into((param,), self.make())


explained(globals())
