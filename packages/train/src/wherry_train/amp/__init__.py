"""Mixed precision: `paddle.amp`."""
# ruff: noqa: F403, F405  each module lists its names
from __future__ import annotations

from wherry_train.amp import casting, grad_scaler
from wherry_train.amp.casting import *
from wherry_train.amp.grad_scaler import *

__all__ = [*casting.__all__, *grad_scaler.__all__]
