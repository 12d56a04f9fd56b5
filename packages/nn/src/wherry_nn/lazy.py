"""Lazy initialization: `paddle.LazyGuard`."""
from __future__ import annotations

import threading
from typing import Any

__all__ = ["LazyGuard", "active"]

_thread = threading.local()


def active() -> bool:
    """Whether this thread makes parameters without values."""
    return getattr(_thread, "depth", 0) > 0


class LazyGuard:
    """Lazy initialization: parameters made in this context get their values from `parameter.initialize()`, not at once.

    A network whose weights are loaded anyway is then made without drawing random numbers. Until they have values,
    floating parameters hold NaN, and others 0. Buffers, and parameters of static programs, are not touched.

    Source:
        `paddle.LazyGuard`, whose parameters hold whatever was in memory before.

    Examples:
        >>> with wherry.LazyGuard():
        ...     net = wherry.nn.Linear(2, 3)
        >>> bool(wherry.isnan(net.weight).all())
        True
        >>> for parameter in net.parameters():
        ...     parameter.initialize()
        >>> bool(wherry.isnan(net.weight).any())
        False
    """

    def __enter__(self) -> None:
        _thread.depth = getattr(_thread, "depth", 0) + 1

    def __exit__(self, *exc: Any) -> None:
        _thread.depth -= 1
