"""Where the rows of `static.nn.sparse_embedding` come from when they are not a parameter of the program: from parameter servers, say."""
from __future__ import annotations

from collections.abc import Callable

from wherry_tensor._core import Tensor

__all__ = ["look_up_with", "remote_look_up"]

_look_up: Callable[..., Tensor] | None = None


def look_up_with(function: Callable[..., Tensor] | None) -> None:
    """Let programs take rows from `function(ids, name, rows, width, dtype, initializer, entry, padding)`; None: from a parameter of their own."""
    global _look_up
    _look_up = function


def remote_look_up() -> Callable[..., Tensor] | None:
    """The function that gives rows; None where they are a parameter."""
    return _look_up
