"""`paddle.vision`."""
import wherry_vision as _vision
from wherry_vision import __all__ as __all__


def __getattr__(name: str) -> object:
    # Asked for one by one: what needs NumPy loads when it is used.
    return getattr(_vision, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
