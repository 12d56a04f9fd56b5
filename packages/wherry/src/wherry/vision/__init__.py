"""`paddle.vision`."""
# ruff: noqa: F401  imports for checkers
from typing import TYPE_CHECKING, Any

import wherry_vision as _vision
from wherry_vision import __all__ as __all__

if TYPE_CHECKING:  # what __getattr__ finds, for editors and checkers
    from wherry_vision import models, transforms


def __getattr__(name: str) -> Any:
    # Asked for one by one: what needs NumPy loads when it is used.
    return getattr(_vision, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
