"""Tables of a network: its layers, parameters and operations."""
from __future__ import annotations

__all__: list[str] = []
