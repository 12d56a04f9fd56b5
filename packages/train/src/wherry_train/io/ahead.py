"""Copies batches to a GPU while the program computes on the previous one.

A batch goes into page-locked memory, from where the GPU copies it by itself on a stream of its own; the program's stream
waits for that copy when the batch is handed out.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wherry_tensor import _core
from wherry_tensor.device import Event, Stream, current_stream, is_known, set_stream
from wherry_tensor.flags import get_flags
from wherry_train.io.collate import moved

__all__ = ["copied_ahead", "stream_for_copies"]


def stream_for_copies(device: int) -> Stream | None:
    """A stream for `copied_ahead`; None if `device`, a number of the core, is not a GPU with streams and page-locked memory, or if
    FLAGS_use_pinned_memory is off."""
    is_gpu = _core.name_of_device(device).startswith("gpu:")
    if not (is_gpu and is_known("gpu_pinned") and get_flags("FLAGS_use_pinned_memory")["FLAGS_use_pinned_memory"]):
        return None
    try:
        return Stream(stream_base=_core.DeviceStream(device))
    except NotImplementedError:  # it has one stream: nothing can run beside what the program computes
        return None


def copied_ahead(batches: Iterator[Any], device: int, copies: Stream) -> Iterator[Any]:
    """The batches on `device`, each of them begun on the stream `copies` before the one in front is handed out."""
    waiting: tuple[Any, Event] | None = None
    end: Exception | None = None
    while end is None:
        begun = None
        try:
            begun = _begun(next(batches), device, copies)
        except Exception as error:  # StopIteration too; what was copied before comes first
            end = error
        if waiting is not None:
            batch, copied = waiting
            waiting = None  # the batch is the program's alone
            current_stream(copies.device).wait_event(copied)
            yield batch
            del batch
        waiting = begun
    if not isinstance(end, StopIteration):
        raise end


def _begun(batch: Any, device: int, copies: Stream) -> tuple[Any, Event]:
    """The batch, and the event that passes when it is there."""
    locked = moved(batch, int(_core.device_code("gpu_pinned")))
    stream_before, later_before = set_stream(copies), _core.set_copies_later(True)
    try:
        return moved(locked, device), copies.record_event()
    finally:
        _core.set_copies_later(later_before)
        set_stream(stream_before)
