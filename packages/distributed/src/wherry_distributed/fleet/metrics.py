"""`fleet.metrics`: metrics over the samples of all processes, from what each has counted of its own.

Counts are arrays, numbers or tensors. Each function takes what the programs of all processes have gathered, adds it up, and gives the same
result everywhere.
"""
from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from wherry_distributed.fleet.roles import all_reduced
from wherry_tensor import Tensor
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["acc", "auc", "mae", "max", "min", "mse", "rmse", "sum"]


def _values(input: Any, scope: Any) -> Any:
    """The numbers of a tensor, an array, or a variable of static mode by its name in a scope."""
    if isinstance(input, str) or (scope is not None and hasattr(input, "name") and not isinstance(input, np.ndarray)):
        name = input if isinstance(input, str) else input.name
        found = None if scope is None else scope.find_var(name)
        if found is None:
            raise InvalidArgumentError(
                f"metrics: the scope has no variable {name!r}. Got scope={scope!r}, expected one that holds it. Run the "
                f"program."
            )
        return np.array(found.get_tensor())
    return input.numpy() if isinstance(input, Tensor) else np.asarray(input)


def _reduced(input: Any, scope: Any, util: Any, mode: str) -> Any:
    values = _values(input, scope)
    return util.all_reduce(values, mode) if util is not None else all_reduced(values, mode)


def sum(input: Any, scope: Any = None, util: Any = None) -> Any:
    """The sum over all processes, element by element.

    Source:
        `paddle.distributed.fleet.metrics.sum`.
    """
    return _reduced(input, scope, util, "sum")


def max(input: Any, scope: Any = None, util: Any = None) -> Any:
    """The maximum over all processes, element by element.

    Source:
        `paddle.distributed.fleet.metrics.max`.
    """
    return _reduced(input, scope, util, "max")


def min(input: Any, scope: Any = None, util: Any = None) -> Any:
    """The minimum over all processes, element by element.

    Source:
        `paddle.distributed.fleet.metrics.min`.
    """
    return _reduced(input, scope, util, "min")


def _total(input: Any, scope: Any, util: Any) -> float:
    return float(np.sum(_reduced(input, scope, util, "sum")))


def mae(abserr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """The mean of absolute errors: their sum and the number of samples are added up over processes.

    Source:
        `paddle.distributed.fleet.metrics.mae`.
    """
    return _total(abserr, scope, util) / builtins.max(_total(total_ins_num, scope, util), 1e-300)


def mse(sqrerr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """The mean of squared errors.

    Source:
        `paddle.distributed.fleet.metrics.mse`.
    """
    return mae(sqrerr, total_ins_num, scope, util)


def rmse(sqrerr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """The root of the mean of squared errors.

    Source:
        `paddle.distributed.fleet.metrics.rmse`.
    """
    return math.sqrt(mae(sqrerr, total_ins_num, scope, util))


def acc(correct: Any, total: Any, scope: Any = None, util: Any = None) -> float:
    """The part of samples that are right.

    Source:
        `paddle.distributed.fleet.metrics.acc`.
    """
    return mae(correct, total, scope, util)


def auc(stat_pos: Any, stat_neg: Any, scope: Any = None, util: Any = None) -> float:
    """The area under the ROC curve, from numbers of positive and negative samples by score: lowest scores first.

    Source:
        `paddle.distributed.fleet.metrics.auc`.
    """
    positive = np.asarray(_reduced(stat_pos, scope, util, "sum"), np.float64).reshape(-1)[::-1]
    negative = np.asarray(_reduced(stat_neg, scope, util, "sum"), np.float64).reshape(-1)[::-1]
    if positive.shape != negative.shape:
        raise InvalidArgumentError(
            f"auc: the counts are not of the same scores. Got {len(positive)} and {len(negative)} of them, expected equally many. Pass both as "
            f"counted."
        )
    right, wrong = np.cumsum(positive), np.cumsum(negative)
    if not len(right) or right[-1] == 0 or wrong[-1] == 0:
        return 0.5
    area = np.sum((right + np.concatenate([[0.0], right[:-1]])) / 2 * negative)
    return float(area / right[-1] / wrong[-1])
