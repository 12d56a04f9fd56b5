"""Parameters that get their values later: `paddle.LazyGuard`."""
from __future__ import annotations

import threading
from typing import Any

__all__ = ["LazyGuard", "active"]

_thread = threading.local()


def active() -> bool:
    """Does this thread make parameters without values now?"""
    return getattr(_thread, "depth", 0) > 0


class LazyGuard:
    """Parameters that are made in this context get their values from `parameter.initialize()`, not at once.

    A network whose weights are loaded anyway is made without drawing random numbers for them. Until they have values,
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
