"""Linear, dropout, padding, embedding, resizing and reshaping layers."""
from __future__ import annotations

__all__: list[str] = []
