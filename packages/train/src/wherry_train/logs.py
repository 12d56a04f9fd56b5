"""Logs for callbacks: a value is copied from the device when a callback first reads it."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Later", "Logs"]


class Later:
    """A value of logs that is computed when it is first read."""

    __slots__ = ("value",)

    def __init__(self, value: Callable[[], Any]) -> None:
        self.value = value


class Logs(dict[str, Any]):
    """A dict of a step's values.

    Reading a value from a device means waiting for the device, so a loss or a metric that nobody reads should cost
    nothing: such a value goes in as a `Later` and is computed when it is first read.
    """

    __slots__ = ()

    def _known(self, name: str) -> Any:
        found = dict.__getitem__(self, name)
        if type(found) is Later:
            found = found.value()
            dict.__setitem__(self, name, found)
        return found

    def _all_known(self) -> Logs:
        for name in dict.keys(self):
            self._known(name)
        return self

    def __getitem__(self, name: str) -> Any:
        return self._known(name)

    def __iter__(self) -> Iterator[str]:  # also lets dict(logs) and {**logs} come to __getitem__
        return dict.__iter__(self)

    def get(self, name: str, default: Any = None) -> Any:
        return self._known(name) if name in self else default

    def items(self) -> Any:
        return dict.items(self._all_known())

    def values(self) -> Any:
        return dict.values(self._all_known())

    def pop(self, name: str, *default: Any) -> Any:
        if name in self:
            self._known(name)
        return dict.pop(self, name, *default)

    def popitem(self) -> tuple[str, Any]:
        return dict.popitem(self._all_known())

    def setdefault(self, name: str, default: Any = None) -> Any:
        return self._known(name) if name in self else dict.setdefault(self, name, default)

    def copy(self) -> dict[str, Any]:
        return dict(self._all_known())

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._all_known(), other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return dict.__repr__(self._all_known())

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)
