"""`paddle.vision`."""
# ruff: noqa: F401  imports for checkers
from typing import Any

import wherry_vision as _vision
from wherry_vision import __all__ as __all__


def __getattr__(name: str) -> Any:
    # Asked for one by one: what needs NumPy loads when it is used.
    return getattr(_vision, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
