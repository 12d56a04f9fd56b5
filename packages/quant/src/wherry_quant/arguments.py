"""What calls of this package are given."""
from __future__ import annotations

from typing import Any

from wherry_nn.layer import Layer
from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["require_layer"]


def require_layer(model: Any, what: str, hint: str = "") -> None:
    """Refuse what is not a layer."""
    if not isinstance(model, Layer):
        raise InvalidTypeError(f"{what}: not a layer. Got {short(model)} ({type(model).__name__}), expected a Layer.{hint and ' ' + hint}")
