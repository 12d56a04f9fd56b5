"""Optimizers, losses and metrics by their names, for `Model.prepare("adam", "cross_entropy", "accuracy")`."""
from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from wherry_tensor.errors import InvalidArgumentError

__all__ = ["loss_named", "metric_named", "optimizer_named"]

_OPTIMIZERS = {
    "sgd": "SGD", "momentum": "Momentum", "adam": "Adam", "adamw": "AdamW", "adamax": "Adamax", "adagrad": "Adagrad",
    "adadelta": "Adadelta", "rmsprop": "RMSProp", "lamb": "Lamb",
}
_LOSSES = {
    "cross_entropy": "CrossEntropyLoss", "mse": "MSELoss", "mean_squared_error": "MSELoss", "l1": "L1Loss", "mae": "L1Loss",
    "mean_absolute_error": "L1Loss", "smooth_l1": "SmoothL1Loss", "huber": "SmoothL1Loss", "nll": "NLLLoss", "bce": "BCELoss",
    "binary_cross_entropy": "BCELoss", "bce_with_logits": "BCEWithLogitsLoss", "kl_div": "KLDivLoss",
}
_METRICS = {"accuracy": "Accuracy", "acc": "Accuracy", "precision": "Precision", "recall": "Recall", "auc": "Auc"}
_RATE = 0.001  # Adam's, where an optimizer has no rate of its own


def optimizer_named(name: str, parameters: Iterable[Any]) -> Any:
    """An optimizer with its usual settings and a learning rate of 0.001."""
    kind = getattr(import_module("wherry_train.optimizer"), _found(name, _OPTIMIZERS, "optimizer", "paddle.optimizer.Adam(...)"))
    return kind(learning_rate=_RATE, parameters=parameters)


def loss_named(name: str) -> Any:
    """A loss with its usual settings."""
    return getattr(import_module("wherry_nn.layers"), _found(name, _LOSSES, "loss", "paddle.nn.CrossEntropyLoss(...)"))()


def metric_named(name: str) -> Any:
    """A metric with its usual settings."""
    return getattr(import_module("wherry_train.metric"), _found(name, _METRICS, "metric", "paddle.metric.Accuracy(...)"))()


def _found(name: str, known: Mapping[str, str], role: str, example: str) -> str:
    plain = name.lower().replace("-", "_").replace(" ", "_")
    classes = {value.lower(): value for value in known.values()}
    found = known.get(plain) or known.get(plain.removesuffix("_loss")) or classes.get(plain.replace("_", ""))
    if found is None:
        near = difflib.get_close_matches(plain, known, 1, 0.5)
        raise InvalidArgumentError(
            f"Model.prepare: there is no {role} of this name. Got {name!r}, expected one of {', '.join(known)}."
            f"{f' Did you mean {near[0]!r}?' if near else ''} Pass an object for other settings, such as {example}."
        )
    return found
