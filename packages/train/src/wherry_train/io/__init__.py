"""Data sets, samplers and DataLoader."""
from __future__ import annotations

__all__: list[str] = []
