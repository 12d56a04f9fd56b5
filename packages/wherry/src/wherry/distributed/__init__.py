"""`paddle.distributed`: training with several processes."""
# ruff: noqa: F401  imports for checkers
from typing import Any

import wherry_distributed as _distributed
from wherry import _absent
from wherry_distributed import __all__ as __all__

_no_such_name = _absent.looked_up(__name__)


def __getattr__(name: str) -> Any:
    # Asked for one by one: a launcher passes here on its way to what starts processes, and needs none of them.
    if name not in __all__:
        return _no_such_name(name)
    found = globals()[name] = getattr(_distributed, name)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
