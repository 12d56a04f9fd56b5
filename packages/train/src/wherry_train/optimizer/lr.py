"""Learning rates that change while training."""
from __future__ import annotations

__all__: list[str] = []
