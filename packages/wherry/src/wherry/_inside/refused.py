"""Stand-ins for what Paddle has and Wherry has not: they can be imported, subclassed and compared with, and say what to use when they are called."""
from __future__ import annotations

from typing import Any

from wherry_tensor.errors import UnimplementedError


class _Refused:
    """Base of classes whose calls are refused; decorators are called too. An ordinary class, so that others can have it beside any base."""

    _path: str
    _advice: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise UnimplementedError(
            f"{cls._path} is not there. Got a call of it, expected one of what this Wherry has: {cls._advice[0].lower()}{cls._advice[1:]}."
        )


_made: dict[str, type] = {}


def refused(path: str, advice: str) -> type:
    """The stand-in for `path`, the same each time."""
    if path not in _made:
        name = path.rpartition(".")[2]
        _made[path] = type(name, (_Refused,), {"_path": path, "_advice": advice, "__doc__": f"Not there: {advice}."})
    return _made[path]
