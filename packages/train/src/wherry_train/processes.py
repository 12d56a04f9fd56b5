"""Several processes that train one model: which of them this is, and what `Model` asks of them.

wherry-distributed stands above this package and is asked for only where there are several, which the environment says: launchers set
PADDLE_TRAINER_ID and PADDLE_TRAINERS_NUM, and `init_parallel_env` does where others have started the processes.
"""
from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any

from wherry_nn import Layer
from wherry_tensor import Tensor, concat

DISTRIBUTED = "wherry_distributed"


def place() -> tuple[int, int]:
    """The rank of this process and how many there are: 0 and 1 in a process that is alone."""
    count = os.environ.get("PADDLE_TRAINERS_NUM", "")
    if not count.isdigit() or int(count) < 2:
        return 0, 1
    return int(os.environ.get("PADDLE_TRAINER_ID", "0")), int(count)


def shared(network: Layer) -> Layer:
    """The network as it is trained by all processes together, which are joined for it."""
    distributed = importlib.import_module(DISTRIBUTED)
    distributed.init_parallel_env()
    model: Layer = distributed.DataParallel(network)
    return model


def gathered(tensors: Sequence[Tensor], most: int | None) -> list[Tensor]:
    """The samples of all processes, in the order of ranks; at most so many, as samplers repeat some at the end."""
    distributed = importlib.import_module(DISTRIBUTED)
    found = []
    for x in tensors:
        parts: list[Tensor] = []
        distributed.all_gather(parts, x)
        whole = concat(parts, axis=0)
        found.append(whole if most is None or whole.shape[0] <= most else whole[:most])
    return found


def mean(tensors: Sequence[Tensor]) -> list[Any]:
    """The mean over the processes of each."""
    distributed = importlib.import_module(DISTRIBUTED)
    copies = [x.detach().clone() for x in tensors]
    for x in copies:
        distributed.all_reduce(x, distributed.ReduceOp.AVG)
    return copies
