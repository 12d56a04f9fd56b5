"""Nested lists, tuples and dicts of tensors, as functions take and return them: taken apart and put together again."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_tensor._core import Tensor

__all__ = ["flatten", "map_structure", "pack"]


def flatten(value: Any) -> list[Any]:
    """The leaves: what is neither a list, nor a tuple, nor a dict; in order, dicts by insertion."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flatten(item)]
    return [value]


def pack(like: Any, leaves: list[Any]) -> Any:
    """The structure of `like` with other leaves."""
    rest = iter(leaves)
    return map_structure(lambda _leaf: next(rest), like)


def map_structure(function: Callable[[Any], Any], value: Any) -> Any:
    """The same structure with `function(leaf)` in place of each leaf."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_structure(function, item) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_structure(function, item) for item in value)
    if isinstance(value, dict):
        return {key: map_structure(function, item) for key, item in value.items()}
    return function(value)


def tensors_of(value: Any) -> list[Tensor]:
    """The leaves that are Tensors."""
    return [leaf for leaf in flatten(value) if isinstance(leaf, Tensor)]
