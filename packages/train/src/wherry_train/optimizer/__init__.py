"""Optimizers: `paddle.optimizer`."""
from __future__ import annotations

from wherry_train.optimizer import lr
from wherry_train.optimizer.adam import Adam, Adamax, AdamW, Lamb
from wherry_train.optimizer.adaptive import Adadelta, Adagrad, RMSProp
from wherry_train.optimizer.descent import SGD, Momentum
from wherry_train.optimizer.later import NAdam, RAdam, Rprop
from wherry_train.optimizer.lbfgs import LBFGS
from wherry_train.optimizer.optimizer import Optimizer

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Momentum",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSProp",
    "Rprop",
    "lr",
]
