"""Samples and batches: what `DataLoader` does with them, and rows in another order."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import wherry
from wherry_tensor import Tensor

__all__ = ["default_convert_fn", "shuffle_batch"]


def default_convert_fn(batch: Any) -> Any:
    """A sample that belongs to no batch: it stays, tuples become lists. Source: `paddle.io.dataloader.collate.default_convert_fn`."""
    if isinstance(batch, (Tensor, str, bytes)):
        return batch
    if isinstance(batch, Mapping):
        return {key: default_convert_fn(value) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(default_convert_fn(each) for each in batch))
    return [default_convert_fn(each) for each in batch] if isinstance(batch, Sequence) else batch


def shuffle_batch(x: Tensor, seed: int | None = None) -> Tensor:
    """The rows along all axes but the last, in another order. Source: `paddle.incubate.layers.shuffle_batch`."""
    rows = wherry.flatten(x, 0, x.ndim - 2) if x.ndim > 2 else x
    state = wherry.get_rng_state()
    if seed:
        wherry.seed(seed)
    order = wherry.randperm(rows.shape[0])
    if seed:
        wherry.set_rng_state(state)
    return wherry.gather(rows, order).reshape(x.shape)
