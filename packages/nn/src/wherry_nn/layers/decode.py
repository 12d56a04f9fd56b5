"""Beam search and the decoding loop."""
from __future__ import annotations

__all__: list[str] = []
