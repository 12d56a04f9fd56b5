"""`paddle.vision`."""
# ruff: noqa: F401  imports for checkers
from importlib import import_module as _import_module
from typing import Any

import wherry_vision as _vision
from wherry import _absent
from wherry_vision import __all__ as __all__

_no_such_name = _absent.looked_up(__name__)


def __getattr__(name: str) -> Any:
    # Asked for one by one: what needs NumPy loads when it is used.
    if name in ("datasets", "image", "models", "ops", "transforms"):
        return _import_module(f"{__name__}.{name}")
    return getattr(_vision, name) if name in __all__ or name.startswith("_") else _no_such_name(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
