"""`Model`: training, evaluation and prediction of a network in a few calls."""
from __future__ import annotations

__all__: list[str] = []
