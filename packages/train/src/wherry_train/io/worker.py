"""The worker process of a DataLoader, and how its batches are sent.

A worker and its DataLoader are joined by one socket. Small things travel through it; arrays are written
into segments: memory that both map. A worker makes a segment when it needs one and sends its file
descriptor; there is no name in the file system, so whatever dies, nothing is left behind. When the last
tensor on a segment is gone, the DataLoader says so with its next task, and the segment is used again:
its pages are there, which a new one's are not.
"""
from __future__ import annotations

import mmap
import os
import pickle
import queue
import random
import signal
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from wherry_tensor import _core
from wherry_tensor._core import Tensor, bfloat16
from wherry_tensor.functions.random import seed as seed_tensors
from wherry_train.io.collate import Bfloat16Array, as_tensors, converted, default_collate_fn
from wherry_train.io.kept_memory import keep_freed_memory
from wherry_train.io.worker_info import WorkerInfo, set_worker_info

__all__ = ["SegmentReader", "run_worker", "shared_segments_work"]

_INLINE = 1 << 14  # bytes; smaller arrays travel through the socket
_ALIGNMENT = 64
_GRACE = 1.0  # seconds that a worker has to finish when its DataLoader is gone


def shared_segments_work() -> bool:
    """Whether this system has memory without a name whose descriptor can be sent to another process."""
    return hasattr(os, "memfd_create") and reduction.HAVE_SEND_HANDLE


class _Placed(NamedTuple):
    """An array that lies in a segment."""

    segment: int
    offset: int
    shape: tuple[int, ...]
    dtype: str
    bfloat16: bool


class _Inline(NamedTuple):
    """An array that travels with the message."""

    array: Any
    bfloat16: bool


class Result(NamedTuple):
    """What a worker answers to a task. The descriptors of `made` follow it."""

    epoch: int
    task: int
    kind: str  # "batch", "end" of the worker's stream, or "error"
    data: Any
    made: list[tuple[int, int]]  # number and bytes of new segments
    dropped: list[int]  # segments that the worker forgets


# The side of the worker.


class _SegmentWriter:
    """Stacks batches into shared segments."""

    def __init__(self) -> None:
        self._memory: dict[int, mmap.mmap] = {}
        self._free: set[int] = set()
        self._next = 0
        self._typical = 0  # bytes that the largest batch so far took
        self.begin()

    def begin(self) -> None:
        """Start a batch."""
        self._current = -1
        self._at = 0
        self._total = 0
        self.made: list[tuple[int, int, int]] = []  # number, bytes, descriptor
        self.dropped: list[int] = []

    def finish(self) -> None:
        """The batch is complete."""
        self._typical = max(self._typical, self._total)

    def reuse(self, segments: Sequence[int]) -> None:
        """Nobody reads these segments any more."""
        self._free.update(segment for segment in segments if segment in self._memory)

    def tensors(self, tensors: Sequence[Tensor]) -> Any:
        arrays = [np.asarray(x.detach()) for x in tensors]
        return self.arrays(arrays, arrays[0].shape, arrays[0].dtype, tensors[0].dtype is bfloat16)

    def arrays(self, arrays: Sequence[Any], shape: tuple[int, ...], dtype: Any, bits: bool = False) -> Any:
        whole = (len(arrays), *shape)
        target, leaf = self._place(whole, np.dtype(dtype), bits)
        for i, array in enumerate(arrays):
            target[i] = array
        return leaf

    def numbers(self, array: Any) -> Any:
        return self.whole(array)

    def whole(self, data: Any) -> Any:
        """An array or tensor as it is."""
        bits = isinstance(data, Bfloat16Array) or (isinstance(data, Tensor) and data.dtype is bfloat16)
        array = np.asarray(data.detach() if isinstance(data, Tensor) else data)
        if array.nbytes < _INLINE or array.dtype.kind not in "biufc":
            return _Inline(array, bits)
        target, leaf = self._place(array.shape, array.dtype, bits)
        target[...] = array
        return leaf

    def _place(self, shape: tuple[int, ...], dtype: np.dtype[Any], bits: bool) -> tuple[Any, Any]:
        bytes_ = dtype.itemsize
        for size in shape:
            bytes_ *= size
        if bytes_ < _INLINE:
            array = np.empty(shape, dtype)
            return array, _Inline(array, bits)
        room = -(-bytes_ // _ALIGNMENT) * _ALIGNMENT
        self._total += room
        if self._current < 0 or self._at + room > len(self._memory[self._current]):
            self._current, self._at = self._segment(room), 0
        placed = _Placed(self._current, self._at, shape, dtype.str, bits)
        self._at += room
        return np.ndarray(shape, dtype, self._memory[placed.segment], placed.offset), placed

    def _segment(self, room: int) -> int:
        fitting = [segment for segment in self._free if len(self._memory[segment]) >= room]
        if fitting:
            best = min(fitting, key=lambda segment: len(self._memory[segment]))
            self._free.remove(best)
            return best
        for segment in self._free:  # too small for the batches of now
            self._memory.pop(segment)
            self.dropped.append(segment)
        self._free.clear()
        room = -(-max(room, self._typical) // mmap.PAGESIZE) * mmap.PAGESIZE
        descriptor = os.memfd_create("wherry_batch", os.MFD_CLOEXEC)
        try:
            os.ftruncate(descriptor, room)
            memory = mmap.mmap(descriptor, room)
        except BaseException:
            os.close(descriptor)
            raise
        segment = self._next
        self._next += 1
        self._memory[segment] = memory
        self.made.append((segment, room, descriptor))
        return segment


class _InlineWriter:
    """Stacks batches into arrays that travel through the socket, where memory cannot be shared."""

    made: tuple[()] = ()
    dropped: tuple[()] = ()

    def begin(self) -> None: ...

    def finish(self) -> None: ...

    def reuse(self, segments: Sequence[int]) -> None: ...

    def tensors(self, tensors: Sequence[Tensor]) -> Any:
        return _Inline(np.stack([np.asarray(x.detach()) for x in tensors]), tensors[0].dtype is bfloat16)

    def arrays(self, arrays: Sequence[Any], shape: tuple[int, ...], dtype: Any) -> Any:
        return _Inline(np.stack(arrays).astype(dtype, copy=False), False)

    def numbers(self, array: Any) -> Any:
        return _Inline(array, False)

    def whole(self, data: Any) -> Any:
        bits = isinstance(data, Bfloat16Array) or (isinstance(data, Tensor) and data.dtype is bfloat16)
        return _Inline(np.asarray(data.detach() if isinstance(data, Tensor) else data), bits)


def run_worker(
    connection: Connection,
    others: Sequence[Connection],
    dataset: Any,
    streams: bool,
    collated: bool,
    batch_size: int | None,
    drop_last: bool,
    collate_fn: Callable[..., Any] | None,
    worker: int,
    num_workers: int,
    seed: int,
    init_fn: Callable[[int], Any] | None,
    use_shared_memory: bool,
) -> None:
    """The main loop of a worker: answers tasks until its DataLoader closes the connection."""
    # Ctrl-C reaches the whole group of processes; the DataLoader decides what follows from it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:  # the ends of its DataLoader, which a fork copies: none may keep another's socket open
        other.close()
    keep_freed_memory()
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
    _core.set_num_threads(1)
    _core.set_current_device(0)  # a device is the parent's: what a fork copied of it does not work
    failed = None
    stacker: Any = _SegmentWriter() if use_shared_memory else _InlineWriter()
    source = None
    try:
        own = np.random.SeedSequence([seed, worker]).generate_state(4)
        np.random.seed(own)
        random.seed(int(own[0]) << 32 | int(own[1]))
        seed_tensors(int(own[2]) << 32 | int(own[3]))
        set_worker_info(WorkerInfo(worker, num_workers, dataset, seed))
        if init_fn is not None:
            init_fn(worker)
    except BaseException as error:
        failed = _packed_error(error)
    while (message := tasks.get()) is not None:
        epoch, task, indices, free = message
        stacker.reuse(free)
        if task < 0:  # a new epoch begins
            source = None
            continue
        stacker.begin()
        kind, data = "batch", None
        try:
            if failed is not None:
                kind, data = "error", failed
            elif streams:
                if source is None:
                    source = _Stream(dataset, batch_size, drop_last)
                samples = source.next()
                if samples is _END:
                    kind = "end"
                else:
                    data = _batch(samples, collated, collate_fn, stacker)
            else:
                data = _batch([dataset[i] for i in indices] if collated else dataset[indices], collated, collate_fn, stacker)
            body = pickle.dumps((epoch, task, kind, data, [m[:2] for m in stacker.made], list(stacker.dropped)), 5)
        except BaseException as error:
            body = pickle.dumps(
                (epoch, task, "error", _packed_error(error), [m[:2] for m in stacker.made], list(stacker.dropped)), 5
            )
        stacker.finish()
        try:
            connection.send_bytes(body)
            for _, _, descriptor in stacker.made:
                reduction.send_handle(connection, descriptor, os.getppid())
                os.close(descriptor)
        except OSError:  # the DataLoader is gone
            return


def _receive(connection: Connection, tasks: queue.SimpleQueue[Any]) -> None:
    """Take tasks as they come, so that sending them never waits for a batch that is being made."""
    parent = os.getppid()
    try:
        while True:
            while not connection.poll(5.0):
                if os.getppid() != parent:  # killed, and another process holds a copy of its socket
                    raise EOFError
            tasks.put(connection.recv())
    except (EOFError, OSError):
        tasks.put(None)
        threading.Event().wait(_GRACE)
        os._exit(0)  # still in the data set, which may take any time


_END = object()


class _Stream:
    """The samples of an IterableDataset, batch by batch."""

    def __init__(self, dataset: Any, batch_size: int | None, drop_last: bool) -> None:
        self._samples = iter(dataset)
        self._batch_size = batch_size
        self._drop_last = drop_last
        self._ended = False

    def next(self) -> Any:
        if self._ended:
            return _END
        if self._batch_size is None:
            sample = next(self._samples, _END)
            self._ended = sample is _END
            return sample
        batch = []
        for sample in self._samples:
            batch.append(sample)
            if len(batch) == self._batch_size:
                return batch
        self._ended = True
        return _END if not batch or self._drop_last else batch


def _batch(samples: Any, collated: bool, collate_fn: Callable[..., Any] | None, stacker: Any) -> Any:
    if collate_fn is None and collated:
        return default_collate_fn(samples, stacker)
    return as_tensors(samples if collate_fn is None else collate_fn(samples), stacker.whole)


def _packed_error(error: BaseException) -> tuple[bytes | None, str]:
    text = "".join(traceback.format_exception(error)).rstrip()
    try:
        body = pickle.dumps(error, 5)
        pickle.loads(body)
    except Exception:  # whatever its class does when it is pickled; the text has everything
        return None, text
    return body, text


# The side of the DataLoader.


class SegmentReader:
    """The segments of one worker, and the tensors on them."""

    def __init__(self) -> None:
        self._memory: dict[int, mmap.mmap] = {}
        self.free: deque[int] = deque()  # segments that nobody reads any more; the worker is told with its next task

    def receive(self, connection: Connection) -> Result:
        """The next answer of the worker. Blocks until it is there; EOFError when the worker is gone."""
        result = Result(*pickle.loads(connection.recv_bytes()))
        for segment, bytes_ in result.made:
            descriptor = reduction.recv_handle(connection)
            try:
                self._memory[segment] = mmap.mmap(descriptor, bytes_)
            finally:
                os.close(descriptor)
        for segment in result.dropped:
            del self._memory[segment]
        return result

    def tensors(self, data: Any) -> Any:
        """The batch of a worker, with tensors on its segments. They go back to the worker with the last of the tensors."""
        whole: dict[int, Any] = {}
        return self._read(data, whole)

    def _read(self, data: Any, whole: dict[int, Any]) -> Any:
        kind = type(data)
        if kind is _Placed:
            memory = whole.get(data.segment)
            if memory is None:
                memory = whole[data.segment] = np.frombuffer(self._memory[data.segment], np.uint8)
                weakref.finalize(memory, self.free.append, data.segment).atexit = False
            dtype = np.dtype(data.dtype)
            array = np.ndarray(data.shape, "<i2" if data.bfloat16 else dtype, memory, data.offset)
            if data.bfloat16:
                return _core.reinterpreted(_core.share_buffer(array), bfloat16)
            try:
                return _core.share_buffer(array)
            except TypeError:  # a dtype that tensors do not have, or another byte order
                return converted(array.copy())
        if kind is _Inline:
            return converted(data.array.view(Bfloat16Array) if data.bfloat16 else data.array)
        if kind is list:
            return [self._read(value, whole) for value in data]
        if kind is dict:
            return {key: self._read(value, whole) for key, value in data.items()}
        return data
