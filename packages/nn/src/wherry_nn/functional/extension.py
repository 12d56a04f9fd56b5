"""Masks, beams and other helpers of sequences and classes."""
from __future__ import annotations

__all__: list[str] = []
