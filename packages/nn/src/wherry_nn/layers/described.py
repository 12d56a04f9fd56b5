"""Arguments of layers in `repr`."""
from __future__ import annotations

from typing import Any

from wherry_tensor.errors import short
from wherry_tensor.explained import explained

__all__ = ["described"]


def described(name: str | None = None, /, **arguments: Any) -> str:
    """`alpha=1.0, axis=1`, followed by the name if the layer was given one."""
    parts = [f"{key}={_shown(value)}" for key, value in arguments.items()]
    if name:
        parts.append(f"name={name}")
    return ", ".join(parts)


def _shown(value: Any) -> str:
    """The value as text; a list that is too deep for `str` is shortened."""
    try:
        return str(value)
    except RecursionError:
        return short(value)


explained(globals())
