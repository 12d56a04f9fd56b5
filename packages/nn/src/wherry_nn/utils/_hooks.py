"""Helpers of reparametrizations: find their hooks and the parameters that they replace."""
from __future__ import annotations

from typing import Any, TypeVar

from wherry_nn.layer import Layer
from wherry_nn.parameter import Parameter
from wherry_tensor.errors import InvalidTypeError

__all__ = ["hook_of", "parameter_of", "refuse_second"]

Hook = TypeVar("Hook")


def hook_of(layer: Layer, name: str, kind: type[Hook]) -> tuple[int, Hook] | None:
    """The hook of this kind for this parameter, with its key among the layer's hooks."""
    if not isinstance(layer, Layer):
        raise InvalidTypeError(
            f"{kind.__name__}: 'layer' must be a layer. Got {type(layer).__name__}, expected a Layer, as nn.Linear(2, 3) makes."
        )
    for key, hook in layer._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:  # type: ignore[attr-defined]
            return key, hook
    return None


def refuse_second(layer: Layer, name: str, kind: type[Any], op_name: str) -> None:
    """Refuse a layer that has such a hook."""
    if hook_of(layer, name, kind) is not None:
        raise RuntimeError(
            f"{op_name}: Cannot register two {op_name} hooks on the same parameter {name}. Got a layer that has one, expected "
            f"one without. Remove the first call."
        )


def parameter_of(layer: Layer, name: str, op_name: str) -> Parameter:
    """The parameter of this name."""
    parameter = layer._parameters.get(name)
    if parameter is None:
        raise KeyError(
            f"{op_name}: {type(layer).__name__} has no parameter '{name}'. Got {name!r}, expected one of "
            f"{', '.join(layer._parameters)}. Pass the layer that has it."
        )
    return parameter
