"""Optimizers: `paddle.optimizer`."""
from __future__ import annotations

from wherry_train.optimizer import lr
from wherry_train.optimizer.adam import Adam, AdamW
from wherry_train.optimizer.optimizer import Optimizer
from wherry_train.optimizer.sgd import SGD, Momentum

__all__ = ["SGD", "Adam", "AdamW", "Momentum", "Optimizer", "lr"]
