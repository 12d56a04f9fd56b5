"""`paddle.nn.quant`: names that wait for quantization."""
from __future__ import annotations

__all__: list[str] = []
