"""Shared by conditionals and loops: conditions, numbers that a program may change, sizes of merged values."""
from __future__ import annotations

import functools
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.dtype import default_dtype
from wherry_tensor.sizes import Size, user_line

__all__ = ["check_condition", "common_items", "common_sizes", "described", "tensor_of_number", "with_items"]


def check_condition(what: str, x: Any) -> None:
    """Raise an error, for `what`, unless `x` is one true or false."""
    size = x.size if isinstance(x, Tensor) else 1
    if not isinstance(x, (Tensor, bool)) or size not in (1, -1):
        got = f"shape {x.shape}" if isinstance(x, Tensor) else f"{type(x).__name__}"
        raise TypeError(
            f"{what}: the condition is not one true or false. Got {got} at {user_line()}, expected a Tensor of one element. "
            f"Reduce it with paddle.all or paddle.any."
        )


def tensor_of_number(x: Any) -> Any:
    """Numbers of Python that a program may change become tensors; anything else stays."""
    if isinstance(x, Size):
        return x.tensor()
    if type(x) is bool:
        return ops.full(shape=(), value=x, dtype=_core.bool_)
    if type(x) is int:
        return ops.full(shape=(), value=x, dtype=int64)
    if type(x) is float:
        return ops.full(shape=(), value=x, dtype=default_dtype())
    return x


def described(x: Any) -> str:
    """What a value is, for a message."""
    return f"a Tensor of shape {x.shape}" if isinstance(x, Tensor) else f"{type(x).__name__} {x!r}"


def common_sizes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes of the same rank where they agree, -1 where they differ."""
    return tuple(m if m == n else -1 for m, n in zip(a, b))



def common_items(*lists: Any) -> tuple[int, ...] | None:
    """What is known of the tensors in each of these lists of the program, of those that say anything."""
    shapes = [x.__dict__["item_shape"] for x in lists if "item_shape" in getattr(x, "__dict__", ())]
    if not shapes or any(len(shape) != len(shapes[0]) for shape in shapes):
        return None
    return functools.reduce(common_sizes, shapes)


def with_items(array: Any, shape: tuple[int, ...] | None) -> Any:
    """`array`, a list of the program, of whose tensors this is known; None: nothing."""
    if shape is not None:
        array.__dict__["item_shape"] = shape
    return array
