"""Which Paddle decides where 2.6 and 3.3 differ: 2.6, unless FLAGS_paddle_version says "3.3".

Functions whose results differ ask `is_3()` off their common path; docs/compatibility.md lists them.
"""
from __future__ import annotations

from wherry_tensor import _core
from wherry_tensor.errors import InvalidArgumentError, short

__all__ = ["is_3", "set_version"]

_three = False


def is_3() -> bool:
    """Whether results are those of Paddle 3.3."""
    return _three


def set_version(version: str) -> None:
    """Let "2.6" or "3.3" decide."""
    global _three
    if version not in ("2.6", "3.3"):
        raise InvalidArgumentError(f"FLAGS_paddle_version: no such version decides. Got {short(version)}, expected '2.6' or '3.3'. Choose one.")
    _three = version == "3.3"
    from wherry_tensor.shapes import Size

    _core.set_shape_class(Size if _three else None)
