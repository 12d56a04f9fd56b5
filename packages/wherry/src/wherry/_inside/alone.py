"""Parts of `paddle.distributed` that know one process only: models that are divided among processes. Where there are several, they refuse."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import wherry
from wherry_distributed import Group, is_initialized
from wherry_distributed.environment import place
from wherry_nn import Layer
from wherry_nn import functional as F  # noqa: N812
from wherry_tensor import Tensor
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short

__all__ = ["ParallelMode", "group_sharded_parallel", "save_group_sharded_model"]


def _alone(op_name: str, group: Group | None = None) -> None:
    """Refuse where there are several processes."""
    several = place().size if group is None else group.nranks
    if several > 1:
        raise UnimplementedError(
            f"{op_name}: it is not there yet for several processes. Got {several} processes, expected 1. "
            f"DataParallel, fleet.init(is_collective=True) and the collectives take several."
        )


class ParallelMode:
    """How a model is divided. Source: `paddle.distributed.ParallelMode`."""

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(5)


@contextmanager
def _with_batch_p2p_guard(backend: str) -> Iterator[None]:
    yield


def _is_parallel_ctx_initialized() -> bool:
    return is_initialized()


def group_sharded_parallel(model: Layer, optimizer: Any, level: str, scaler: Any = None, **ignored: Any) -> tuple[Any, Any, Any]:
    """Divide states, gradients and parameters among the processes: one keeps all."""
    _alone("group_sharded_parallel")
    if level not in ("os", "os_g", "p_g_os"):
        raise InvalidArgumentError(f"group_sharded_parallel: level is not known. Got {short(level)}, expected 'os', 'os_g' or 'p_g_os'. Choose one.")
    return model, optimizer, scaler


def save_group_sharded_model(model: Layer, output: str, optimizer: Any = None) -> None:
    """Save a model, as `model.pdmodel` in a folder, and its optimizer as `model.pdopt`.

    Source: `paddle.distributed.sharding.save_group_sharded_model`.
    """
    import os

    wherry.save(model.state_dict(), os.path.join(output, "model.pdmodel"))
    if optimizer is not None:
        wherry.save(optimizer.state_dict(), os.path.join(output, "model.pdopt"))


# Parts of models that are divided among processes, of which one has all.


def _c_lookup_table(table: Tensor, index: Tensor, start_index: int = 0, vocab_size: int = -1, name: str | None = None) -> Tensor:
    return F.embedding(index - start_index, table)


def _c_softmax_with_cross_entropy(
    logits: Tensor, label: Tensor, group: Any = None, return_softmax: bool = False, ignore_index: int = -100
) -> Any:
    _alone("_c_softmax_with_cross_entropy", group)
    return F.softmax_with_cross_entropy(logits, label, ignore_index=ignore_index, return_softmax=return_softmax)

