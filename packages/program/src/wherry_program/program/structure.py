"""Nested lists, tuples and dicts of tensors: flattening and packing.

So is an object that is made of tensors and says so: `tensor_parts()` gives them, `with_tensor_parts(parts)` is one like it of others, and
`beside_tensor_parts()` is all else that it is, to be compared. Sparse tensors are.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_tensor._core import Tensor

__all__ = ["flatten", "map_structure", "pack"]


def flatten(value: Any) -> list[Any]:
    """The leaves: what is neither a list, nor a tuple, nor a dict, nor made of tensors; in order, dicts by insertion."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flatten(item)]
    if hasattr(type(value), "tensor_parts"):
        return flatten(value.tensor_parts())
    return [value]


def flatten_sorted(value: Any) -> list[Any]:
    """As `flatten`, dicts by their sorted keys, which is the order of Paddle's files; by insertion where keys have no order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten_sorted(item)]
    if isinstance(value, dict):
        try:
            keys = sorted(value)
        except TypeError:
            keys = list(value)
        return [leaf for key in keys for leaf in flatten_sorted(value[key])]
    if hasattr(type(value), "tensor_parts"):
        return flatten_sorted(value.tensor_parts())
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
    if hasattr(type(value), "tensor_parts"):
        return value.with_tensor_parts(map_structure(function, value.tensor_parts()))
    return function(value)


def tensors_of(value: Any) -> list[Tensor]:
    """The leaves that are Tensors."""
    return [leaf for leaf in flatten(value) if isinstance(leaf, Tensor)]
