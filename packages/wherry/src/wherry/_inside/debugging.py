"""`paddle.amp.debugging`: numbers that are not finite."""
from __future__ import annotations

from enum import Enum
from typing import Any

import wherry
from wherry_tensor import Tensor
from wherry_tensor.errors import PreconditionNotMetError

__all__ = ["DebugMode", "check_numerics"]


class DebugMode(Enum):
    """What is done where a number is not finite. Source: `paddle.amp.debugging.DebugMode`."""

    CHECK_NAN_INF_AND_ABORT = 0
    CHECK_NAN_INF = 1
    CHECK_ALL_FOR_OVERFLOW = 2
    CHECK_ALL = 3
    CHECK_ALL_AND_ABORT = 4
    DUMP_ALL = 5


def check_numerics(tensor: Tensor, op_type: str, var_name: str, debug_mode: Any = DebugMode.CHECK_NAN_INF_AND_ABORT) -> tuple[Tensor, Tensor]:
    """How many numbers are nan, infinite and 0, and the largest, smallest and mean of them.

    Raises:
        RuntimeError: some are not finite, and the mode is one that aborts.

    Source:
        `paddle.amp.debugging.check_numerics`.
    """
    nan, inf = wherry.isnan(tensor).sum(), wherry.isinf(tensor).sum()
    counts = wherry.stack([nan, inf, (tensor == 0).sum()]).astype("int64")
    values = wherry.stack([tensor.max(), tensor.min(), tensor.mean()]).astype("float32")
    if debug_mode in (DebugMode.CHECK_NAN_INF_AND_ABORT, DebugMode.CHECK_ALL_AND_ABORT) and (counts[0] + counts[1]).item():
        raise PreconditionNotMetError(
            f"check_numerics: there are numbers that are not finite. Got {counts[0].item()} nan and {counts[1].item()} inf in {var_name} of "
            f"{op_type}, expected none. Look at what the op was given."
        )
    return counts, values
