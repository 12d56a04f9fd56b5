"""DataLoader: batches of a data set, made here or by worker processes."""
from __future__ import annotations

import multiprocessing
import os
import pickle
import selectors
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from itertools import repeat
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from wherry_nn.errors import AssertedArgumentError, AssertedTypeError
from wherry_tensor.device import as_place
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_train.io.collate import as_tensors, default_collate_fn
from wherry_train.io.dataset import IterableDataset
from wherry_train.io.generator_loader import GeneratorLoader
from wherry_train.io.sampler import BatchSampler, SequenceSampler
from wherry_train.io.worker import SegmentReader, run_worker, shared_segments_work

__all__ = ["DataLoader"]


class DataLoader:
    """Iterates over a data set in batches of tensors.

    Args:
        dataset: anything with `__getitem__` and `__len__`, or an IterableDataset.
        feed_list: for static graphs; unused.
        places: where the tensors go; only the CPU is here.
        return_list: accepted for compatibility: batches are lists, or what the samples are.
        batch_sampler: yields lists of indices; it stands instead of `batch_size`, `shuffle` and `drop_last`.
        batch_size: samples in a batch; None gives single samples, not stacked.
        shuffle: whether the order is random, drawn from `numpy.random` in each epoch.
        drop_last: whether an incomplete last batch is left out.
        collate_fn: makes a batch from a list of samples (with `batch_size=None`, from one sample). None stacks
            each field of arrays, tensors and numbers into one tensor.
        num_workers: processes that make batches; 0 makes them in this one.
        use_buffer_reader: accepted for compatibility; batches of this process are made when they are asked for.
        prefetch_factor: batches that each worker is ahead.
        use_shared_memory: whether workers hand arrays over in shared memory, which tensors then lie on.
        timeout: seconds to wait for a worker; 0 waits as long as it takes.
        worker_init_fn: called in each worker with its number, before the first sample.
        persistent_workers: whether workers stay for the next epoch.

    Batches come in the order of the sampler. Each worker has random numbers of its own (`random`, `numpy.random`,
    `paddle.seed`), which follow from `numpy.random`'s in this process.

    Raises:
        ValueError: numbers out of range, or arguments that exclude each other (also an AssertionError).
        TypeError: an argument is of another type. While iterating: what the data set raises, also in a worker.
        RuntimeError: while iterating, a worker died, or `timeout` passed.

    Source:
        `paddle.io.DataLoader`.

    Examples:
        >>> data = [(np.ones([2]) * i, i) for i in range(5)]
        >>> for x, y in wherry.io.DataLoader(data, batch_size=2):
        ...     print(x.shape, y.tolist())
        [2, 2] [0, 1]
        [2, 2] [2, 3]
        [1, 2] [4]
    """

    def __init__(
        self,
        dataset: Any,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[..., Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        self.return_list = return_list
        self.collate_fn = _callable(collate_fn, "collate_fn")
        self.use_buffer_reader = use_buffer_reader
        self.worker_init_fn = _callable(worker_init_fn, "worker_init_fn")
        self.dataset = dataset
        self.feed_list = feed_list
        for place in places if isinstance(places, (list, tuple)) else [places]:
            if place is not None:
                as_place(place, "DataLoader")
        self.places = places
        self.num_workers = _number(num_workers, "num_workers", 0, int)
        self.prefetch_factor = _number(prefetch_factor, "prefetch_factor", 1, int)
        self.timeout = _number(timeout, "timeout", 0, (int, float))
        self.use_shared_memory = bool(use_shared_memory)
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams:
            for given, name in ((shuffle, "shuffle"), (batch_sampler, "batch_sampler")):
                if given:
                    raise InvalidArgumentError(
                        f"DataLoader: IterableDataset not support {name}, but got {name}={given!r}. Expected nothing: its "
                        f"samples have no index. Leave {name} out, and order the samples in the data set."
                    )
        elif not hasattr(dataset, "__getitem__"):
            raise InvalidTypeError(
                f"DataLoader: this is no data set. Got {type(dataset).__name__}, expected one with __getitem__ and __len__, or "
                f"an IterableDataset. Put a generator into an IterableDataset."
            )
        self.batch_sampler = None
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or drop_last:
                raise AssertedArgumentError(
                    f"DataLoader: batch_size/shuffle/drop_last should not be set when batch_sampler is given. Got "
                    f"batch_size={batch_size!r}, shuffle={shuffle!r}, drop_last={drop_last!r} beside it, expected the "
                    f"defaults. Give them to the batch_sampler."
                )
            self.batch_sampler = batch_sampler
            batch_size = None
        elif batch_size is not None:
            if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)) or batch_size <= 0:
                raise AssertedArgumentError(
                    f"DataLoader: batch_size should be None or a positive value when batch_sampler is not given. Got "
                    f"{batch_size!r}, expected an int > 0. Pass None for samples that are no batches."
                )
            if not self._streams:
                self.batch_sampler = BatchSampler(dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)
        self._collated = batch_sampler is not None or batch_size is not None
        self.batch_size = batch_size
        self.drop_last = drop_last
        self._persistent_workers = bool(persistent_workers)
        self._workers: _Workers | None = None

    def __len__(self) -> int:
        """Batches in an epoch; an IterableDataset does not know (a ValueError, also a TypeError)."""
        if self._streams:
            raise InvalidTypeError(
                "DataLoader: length of IterableDataset not supported. Got a question for it, expected a data set with an "
                "index. Iterate to the end."
            )
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0:
            return self._in_this_process()
        # Drawn here as Paddle does, so that what is drawn afterwards is the same in both.
        seed = int(np.random.randint(0, sys.maxsize))
        workers = self._workers
        if workers is None or workers.closed:
            workers = _Workers(self, seed)
            if self._persistent_workers:
                self._workers = workers
        return _WorkerIterator(self, workers)

    def __call__(self) -> Iterator[Any]:
        """As `iter(loader)`."""
        return iter(self)

    def _indices(self) -> Iterator[Any]:
        return iter(SequenceSampler(self.dataset) if self.batch_sampler is None else self.batch_sampler)

    def _in_this_process(self) -> Iterator[Any]:
        for samples in self._samples():
            if self.collate_fn is not None:
                yield as_tensors(self.collate_fn(samples))
            else:
                yield default_collate_fn(samples) if self._collated else as_tensors(samples)

    def _samples(self) -> Iterator[Any]:
        dataset = self.dataset
        if not self._streams:
            if self._collated:
                for indices in self._indices():
                    yield [dataset[i] for i in indices]
            else:
                for i in self._indices():
                    yield dataset[i]
        elif not self._collated:
            yield from dataset
        else:
            batch: list[Any] = []
            for sample in dataset:
                batch.append(sample)
                if len(batch) == self.batch_size:
                    yield batch
                    batch = []
            if batch and not self.drop_last:
                yield batch

    @staticmethod
    def from_generator(
        feed_list: Any = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
        drop_last: bool = True,
    ) -> GeneratorLoader:
        """A loader that reads a generator function, which one of its `set_...` methods takes.

        Args:
            feed_list: for static graphs; unused.
            capacity: accepted for compatibility; nothing is read ahead.
            use_double_buffer: accepted for compatibility, as `use_multiprocess`.
            iterable: must be True: the other way belongs to static graphs.
            return_list: accepted for compatibility: batches are lists.
            use_multiprocess: see `use_double_buffer`.
            drop_last: whether `set_sample_generator` leaves out an incomplete last batch, unless told otherwise.

        Raises:
            RuntimeError: `iterable` is False.

        Source:
            `paddle.io.DataLoader.from_generator`.

        Examples:
            >>> loader = wherry.io.DataLoader.from_generator(capacity=2)
            >>> def samples():
            ...     for i in range(4):
            ...         yield np.full([3], i), i
            >>> _ = loader.set_sample_generator(samples, batch_size=2)
            >>> [labels.tolist() for _, labels in loader]
            [[0, 1], [2, 3]]
        """
        return GeneratorLoader(iterable, drop_last)

    @staticmethod
    def from_dataset(dataset: Any, places: Any, drop_last: bool = True) -> Any:
        """Not available: it reads `QueueDataset` and `InMemoryDataset`, which belong to static graphs.

        Raises:
            RuntimeError: always.

        Source:
            `paddle.io.DataLoader.from_dataset`.
        """
        raise RuntimeError(
            f"DataLoader.from_dataset: only the data sets of static graphs (QueueDataset, InMemoryDataset) are read by it. "
            f"Got {type(dataset).__name__}, expected one of these, which Wherry does not have. Use DataLoader(dataset)."
        )


_starting = threading.Lock()  # two threads that fork at once would copy each other's half-open sockets
_open_ends: weakref.WeakSet[Connection] = weakref.WeakSet()


class _Workers:
    """The worker processes of a DataLoader."""

    def __init__(self, loader: DataLoader, seed: int) -> None:
        forks = sys.platform.startswith("linux")
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self.closed = False
        self.epoch = 0
        self.processes: list[Any] = []
        self.connections: list[Connection] = []
        self.readers: list[SegmentReader] = []
        self.selector = selectors.DefaultSelector()
        self._shut_down = weakref.finalize(self, _shut_down, os.getpid(), self.processes, self.connections, self.selector)
        try:
            for worker in range(loader.num_workers):
                with _starting:
                    mine, theirs = context.Pipe()
                    _open_ends.add(mine)
                    self.connections.append(mine)
                    process = context.Process(
                        target=run_worker,
                        name=f"DataLoader worker {worker}",
                        daemon=True,
                        args=(
                            theirs,
                            list(_open_ends) if forks else [],
                            loader.dataset,
                            loader._streams,
                            loader._collated,
                            loader.batch_size,
                            loader.drop_last,
                            loader.collate_fn,
                            worker,
                            loader.num_workers,
                            seed,
                            loader.worker_init_fn,
                            loader.use_shared_memory and shared_segments_work(),
                        ),
                    )
                    with warnings.catch_warnings():
                        # A fork of a process with threads is what Python 3.12 warns of. The kernels' threads
                        # are prepared for it, and the worker takes no lock that a thread here could hold.
                        warnings.filterwarnings("ignore", ".*multi-threaded.*", DeprecationWarning)
                        process.start()
                    theirs.close()
                self.processes.append(process)
                self.readers.append(SegmentReader())
                self.selector.register(mine, selectors.EVENT_READ, worker)
                self.selector.register(process.sentinel, selectors.EVENT_READ, worker)
        except BaseException:
            self.shut_down()
            raise

    def shut_down(self) -> None:
        """End all workers and wait until they are gone."""
        self.closed = True
        self._shut_down()

    def send(self, worker: int, epoch: int, task: int, indices: Any) -> None:
        free, back = self.readers[worker].free, []
        while free:
            back.append(free.popleft())
        try:
            self.connections[worker].send((epoch, task, indices, back))
        except OSError:
            raise self.death(worker, task) from None

    def death(self, worker: int, task: int) -> RuntimeError:
        """The error that says how a worker ended."""
        process = self.processes[worker]
        process.join(5)
        code = process.exitcode
        if code is None:
            how = "closed its connection"
        elif code < 0:
            names = {s.value: s.name for s in signal.Signals}
            how = f"was killed by {names.get(-code, f'signal {-code}')}"
            if -code == signal.SIGKILL:
                how += ", as the system does when memory runs out"
        else:
            how = f"exited with code {code}"
        return RuntimeError(
            f"DataLoader: DataLoader 1 workers exit unexpectedly, pids: {process.pid}. Worker {worker} (pid {process.pid}) {how} "
            f"while batch {task} was awaited, expected it to live until the epoch ends. Use num_workers=0 to see what the data "
            f"set does, or fewer workers and smaller batches if memory ran out."
        )


def _shut_down(
    owner: int, processes: list[Any], connections: list[Connection], selector: selectors.BaseSelector
) -> None:
    if os.getpid() != owner:  # the copy that a fork made; the workers are not its children
        return
    selector.close()
    for connection in connections:
        connection.close()  # which tells the worker
    patience = time.monotonic() + 3.0
    for process in processes:
        process.join(max(0.0, patience - time.monotonic()))
        if process.exitcode is None:
            process.kill()
            process.join()
        process.close()
    processes.clear()
    connections.clear()


class _WorkerIterator:
    """One epoch, made by workers."""

    def __init__(self, loader: DataLoader, workers: _Workers) -> None:
        self._workers = workers
        self._timeout = loader.timeout or None
        self._persistent = loader._persistent_workers
        workers.epoch += 1
        self._epoch = workers.epoch
        self._indices = repeat(None) if loader._streams else loader._indices()
        self._open = list(range(loader.num_workers))  # workers whose stream has not ended
        self._turn = 0
        self._sent = 0  # tasks given out
        self._due = 0  # the task whose batch comes next
        self._ready: dict[int, tuple[int, Any]] = {}
        self._ended = False
        try:
            for worker in self._open:
                workers.send(worker, self._epoch, -1, None)
            for _ in range(loader.prefetch_factor * loader.num_workers):
                self._give_out()
        except BaseException:
            self._end(True)
            raise

    def __iter__(self) -> _WorkerIterator:
        return self

    def __next__(self) -> Any:
        if self._ended:
            raise StopIteration
        if self._workers.closed or self._epoch != self._workers.epoch:
            raise RuntimeError(
                "DataLoader: the workers of this iterator have begun another epoch. Got next() on an iterator that was left, "
                "expected it on the latest one. With persistent_workers=True use one iterator at a time."
            )
        try:
            while self._due < self._sent:
                while self._due not in self._ready:
                    self._receive()
                worker, result = self._ready.pop(self._due)
                self._due += 1
                if result.kind == "end":
                    if worker in self._open:
                        self._turn -= self._open.index(worker) < self._turn
                        self._open.remove(worker)
                    self._give_out()
                    continue
                if result.kind == "error":
                    raise _raised_there(result.data, worker, self._workers.processes[worker].pid)
                batch = self._workers.readers[worker].tensors(result.data)
                del result
                self._give_out()
                return batch
        except BaseException:  # also Ctrl-C
            self._end(True)
            raise
        self._end(False)
        raise StopIteration

    def _give_out(self) -> None:
        """Send the next task to the worker whose turn it is."""
        if not self._open:
            return
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        self._turn %= len(self._open)
        worker = self._open[self._turn]
        self._turn += 1
        self._workers.send(worker, self._epoch, self._sent, indices)
        self._sent += 1

    def _receive(self) -> None:
        """Take what workers have sent; wait if there is nothing."""
        workers = self._workers
        events = workers.selector.select(self._timeout)
        if not events:
            alive = [process.pid for process in workers.processes if process.exitcode is None]
            raise RuntimeError(
                f"DataLoader: no batch came for {self._timeout} seconds, as long as timeout allows. Got none from the workers "
                f"{alive}, expected batch {self._due}. Raise timeout, or look at what the data set waits for."
            )
        for worker in {key.data for key, _ in events}:
            connection = workers.connections[worker]
            try:
                # A worker that has died may have sent something before; after that comes the end of file.
                result = workers.readers[worker].receive(connection)
            except (EOFError, OSError):
                raise workers.death(worker, self._due) from None
            if result.epoch == self._epoch:
                self._ready[result.task] = (worker, result)
            else:
                workers.readers[worker].tensors(result.data)  # of an epoch that was left; its memory goes back

    def _end(self, failed: bool) -> None:
        self._ended = True
        self._ready.clear()
        if failed or not self._persistent:
            self._workers.shut_down()

    def __del__(self) -> None:
        if not getattr(self, "_persistent", True) and not self._ended:
            self._end(True)


def _raised_there(data: tuple[bytes | None, str], worker: int, pid: int | None) -> BaseException:
    """The exception of a worker, with its traceback as a note."""
    body, text = data
    where = f"Raised in DataLoader worker {worker} (pid {pid}):\n{text}"
    if body is None:
        return RuntimeError(f"DataLoader: the exception of a worker can not be sent. {where}")
    error: BaseException = pickle.loads(body)
    error.add_note(where)
    return error


def _callable(value: Any, name: str) -> Any:
    if value is not None and not callable(value):
        raise InvalidTypeError(
            f"DataLoader: {name} is a function. Got {value!r} ({type(value).__name__}), expected a callable or None. "
            f"Pass the function itself, not its result."
        )
    return value


def _number(value: Any, name: str, least: int, kinds: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise AssertedTypeError(
            f"DataLoader: {name} is a number. Got {value!r} ({type(value).__name__}), expected one >= {least}. Leave it out for "
            f"the default."
        )
    if value < least:
        raise AssertedArgumentError(
            f"DataLoader: {name} should be a {'positive' if least else 'non-negative'} value. Got {value!r}, expected one >= "
            f"{least}. Leave it out for the default."
        )
    return value
