"""Learning rates that change: `paddle.optimizer.lr`."""
from __future__ import annotations

__all__ = ["LRScheduler"]


class LRScheduler:
    """x"""
