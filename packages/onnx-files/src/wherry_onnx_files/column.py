"""The table of the translation: how each operator of ONNX is read.

    @reads("Relu")
    def read_relu(o):
        return ops.relu(o.x(0))

A rule is given an `OpView` and calls functions of the library on tensors: with data, when a model runs node by node, or variables that a
capture records. It gives a tensor, `Numbers`, a list for a sequence, None for an empty optional, or a tuple of these for several
outputs. Rules are in `ops/<family>.py`.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_tensor.columns import place_of

__all__ = ["MICROSOFT", "READS", "Reading", "reads"]

MICROSOFT = "com.microsoft"


class Reading:
    """How an operator is read.

    Attributes:
        rule: called with an OpView.
        folds: whether its result may be computed when the file is read, where its inputs are constants.
        keeps: whether its first result has the type of its first input, where tensors do not have that type themselves.
    """

    __slots__ = ("folds", "keeps", "rule")

    def __init__(self, rule: Callable[[Any], Any], folds: bool, keeps: bool) -> None:
        self.rule, self.folds, self.keeps = rule, folds, keeps


READS: dict[tuple[str, str], Reading] = {}  # domain, operator -> how it is read


def reads(*types: str, domain: str = "", folds: bool = True, keeps: bool = True) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Decorator: the function reads the operators of these names; see `Reading` for the options."""

    def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for name in types:
            if (domain, name) in READS:
                raise ValueError(
                    f"operator '{name}' is read already. Got a second rule at {place_of(function)}, expected none beside the one at "
                    f"{place_of(READS[domain, name].rule)}. Remove one of the two."
                )
            READS[domain, name] = Reading(function, folds, keeps)
        return function

    return register
