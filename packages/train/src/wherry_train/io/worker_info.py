"""`get_worker_info`: which worker of a DataLoader this process is."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["WorkerInfo", "get_worker_info", "set_worker_info"]


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: `id` of `num_workers`, with its copy of `dataset`; `seed` is the same in all of them."""

    id: int
    num_workers: int
    dataset: Any
    seed: int


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of DataLoader, which one it is; None elsewhere.

    Returns:
        `id` (counted from 0), `num_workers`, `dataset` (the worker's copy) and `seed`.

    Source:
        `paddle.io.get_worker_info`.

    Examples:
        >>> class Count(wherry.io.IterableDataset):
        ...     def __iter__(self):
        ...         worker = wherry.io.get_worker_info()
        ...         first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        ...         return iter(range(first, 6, step))
        >>> [batch.tolist() for batch in wherry.io.DataLoader(Count(), batch_size=3, num_workers=2)]
        [[0, 2, 4], [1, 3, 5]]
    """
    return _worker_info


def set_worker_info(info: WorkerInfo) -> None:
    """Set what `get_worker_info` returns in this process."""
    global _worker_info
    _worker_info = info
