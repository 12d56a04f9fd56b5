"""What many models share: linear, dropout, padding, embedding, resizing."""
from __future__ import annotations

__all__: list[str] = []
