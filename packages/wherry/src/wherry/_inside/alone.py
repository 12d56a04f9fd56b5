"""Small names of `paddle.distributed` that libraries ask for."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wherry_distributed import is_initialized


@contextmanager
def _with_batch_p2p_guard(backend: str) -> Iterator[None]:
    yield


def _is_parallel_ctx_initialized() -> bool:
    return is_initialized()
