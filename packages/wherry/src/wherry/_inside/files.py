"""`paddle.framework.io`: saving and loading, and the steps of it that libraries take alone."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wherry import _absent
from wherry_nn import Parameter
from wherry_tensor import Tensor, to_tensor
from wherry_train import load, save

__all__ = ["EagerParamBase", "load", "save"]

EagerParamBase = Parameter


def _parse_every_object(obj: Any, condition_func: Callable[[Any], bool], convert_func: Callable[[Any], Any]) -> Any:
    """A tree in which every object that fulfils a condition is replaced."""
    if condition_func(obj):
        return convert_func(obj)
    if isinstance(obj, dict):
        return type(obj)((key, _parse_every_object(value, condition_func, convert_func)) for key, value in obj.items())
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*(_parse_every_object(each, condition_func, convert_func) for each in obj))
    if isinstance(obj, (list, tuple, set)):
        return type(obj)(_parse_every_object(each, condition_func, convert_func) for each in obj)
    return obj


def _to_LodTensor(ndarray: Any) -> Tensor:  # noqa: N802
    """A tensor of an array."""
    return to_tensor(ndarray)


def _transformed_from_lodtensor(obj: Any) -> bool:
    """Is it what is written for a tensor?"""
    return isinstance(obj, np.ndarray)


def _transformed_from_varbase(obj: Any) -> bool:
    """Is it what is written for a tensor with a name?"""
    return isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], np.ndarray)


def _ndarray_to_tensor(obj: Any, return_numpy: bool) -> Any:
    return obj if return_numpy else to_tensor(obj)


def _is_file_path(path: Any) -> bool:
    return isinstance(path, str)


def _is_memory_buffer(buffer: Any) -> bool:
    return hasattr(buffer, "getvalue")


__getattr__ = _absent.looked_up("wherry.framework.io")
