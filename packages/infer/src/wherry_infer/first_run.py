"""Work that waits for the first run."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Once"]

T = TypeVar("T")


class Once(Generic[T]):
    """A function whose result is computed by the first call, from whatever thread, and kept. One that failed is not called again: it may have
    changed a part of a program.

    Args:
        work: the function.
        what: whose first run it is, for the message.
    """

    def __init__(self, work: Callable[[], T], what: str) -> None:
        self._work: Callable[[], T] | None = work
        self._what, self._lock = what, threading.Lock()
        self._error: BaseException | None = None

    def __call__(self) -> T:
        with self._lock:
            if self._error is not None:
                if isinstance(self._error, Exception):
                    raise self._error
                raise RuntimeError(
                    f"{self._what}: the first run was interrupted. Got a program that is half ready, expected a whole one. Load the model again."
                ) from self._error
            if self._work is not None:
                try:
                    self._result = self._work()
                except BaseException as error:
                    self._error = error
                    raise
                finally:
                    self._work = None
            return self._result
