"""DataLoader: batches of a data set, made here or by worker processes."""
from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wherry_tensor import _core
from wherry_tensor.constructor_arguments import check_arguments, flag
from wherry_tensor.device import device_code
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.static_builder import building
from wherry_train.io.ahead import copied_ahead, stream_for_copies
from wherry_train.io.collate import STOPPED_EARLY, as_tensors, default_collate_fn, moved
from wherry_train.io.dataset import IterableDataset
from wherry_train.io.generator_loader import DatasetLoader, GeneratorLoader, values_at_once
from wherry_train.io.kept_memory import keep_freed_memory
from wherry_train.io.sampler import BatchSampler, SequenceSampler

if TYPE_CHECKING:
    from wherry_train.io.workers import Workers

__all__ = ["DataLoader"]


class DataLoader:
    """Iterates over a data set in batches of tensors.

    Args:
        dataset: anything with `__getitem__` and `__len__`, or an IterableDataset.
        feed_list: of static programs: the variables that are fed, in the order of a sample's parts.
        places: where the tensors go, a place or a list with one; None is the current device. `CUDAPinnedPlace()` leaves
            them in memory of the host from which a GPU copies faster.
        return_list: False gives, with `feed_list`, what an Executor is fed: a list of one dict of tensors by the names of the variables.
            Else batches are lists, or what the samples are.
        batch_sampler: yields lists of indices; it stands instead of `batch_size`, `shuffle` and `drop_last`.
        batch_size: samples in a batch; None gives single samples, not stacked.
        shuffle: whether the order is random, drawn from `numpy.random` in each epoch.
        drop_last: whether an incomplete last batch is left out.
        collate_fn: makes a batch from a list of samples (with `batch_size=None`, from one sample). None stacks
            each field of arrays, tensors and numbers into one tensor.
        num_workers: processes that make batches; 0 makes them in this one.
        use_buffer_reader: whether batches for a GPU are made one ahead, and copied from pinned memory on a stream of their own while the
            program computes. Elsewhere batches of this process are made when they are asked for.
        prefetch_factor: batches that each worker is ahead.
        use_shared_memory: whether workers hand arrays over in shared memory, which tensors then lie on.
        timeout: seconds to wait for a worker; 0 waits as long as it takes.
        worker_init_fn: called in each worker with its number, before the first sample.
        persistent_workers: whether workers stay for the next epoch.

    Workers are forked on Linux, and started anew elsewhere or beside a device whose driver does not bear forks: then the data
    set is pickled, and a program needs `if __name__ == "__main__":` around what trains.

    Batches come in the order of the sampler. Each worker has random numbers of its own (`random`, `numpy.random`,
    `paddle.seed`), which follow from `numpy.random`'s in this process.

    Raises:
        ValueError: numbers out of range, or arguments that exclude each other (also an AssertionError).
        TypeError: an argument is of another type. While iterating: what the data set raises, also in a worker.
        RuntimeError: while iterating, a worker died, or `timeout` passed; or the data set has to be pickled and cannot be.

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
        named = places if isinstance(places, (list, tuple)) else [places]
        self._device = [None if place is None else device_code(place, "DataLoader") for place in named][:1] or [None]
        self.places = places
        self.num_workers = _number(num_workers, "num_workers", 0, int, _MOST_WORKERS)
        self.prefetch_factor = _number(prefetch_factor, "prefetch_factor", 1, int, _MOST_WORKERS)
        self.timeout = _number(timeout, "timeout", 0, (int, float))
        check_arguments("DataLoader", locals(), use_shared_memory=flag, persistent_workers=flag, drop_last=flag)
        self.use_shared_memory = bool(use_shared_memory)
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams:
            for given, name in ((shuffle, "shuffle"), (batch_sampler, "batch_sampler")):
                if given:
                    raise InvalidArgumentError(
                        f"DataLoader: IterableDataset not support {name}, but got {name}={short(given)}. Expected nothing: its "
                        f"samples have no index. Leave {name} out, and order the samples in the data set."
                    )
        elif not hasattr(dataset, "__getitem__"):
            raise InvalidTypeError(
                f"DataLoader: this is not a data set. Got {type(dataset).__name__}, expected one with __getitem__ and __len__, or "
                f"an IterableDataset. Put a generator into an IterableDataset."
            )
        self.batch_sampler = None
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or drop_last:
                raise AssertedArgumentError(
                    f"DataLoader: batch_size/shuffle/drop_last should not be set when batch_sampler is given. Got "
                    f"batch_size={short(batch_size)}, shuffle={short(shuffle)}, drop_last={short(drop_last)} beside it, expected the "
                    f"defaults. Give them to the batch_sampler."
                )
            if not hasattr(type(batch_sampler), "__iter__") and not hasattr(type(batch_sampler), "__getitem__"):
                raise InvalidTypeError(
                    f"DataLoader: batch_sampler is not an iterable of lists of indices. Got {short(batch_sampler)} "
                    f"({type(batch_sampler).__name__}), expected a BatchSampler or another iterable. Pass batch_size=... for batches of one size."
                )
            self.batch_sampler = batch_sampler
            batch_size = None
        elif batch_size is not None:
            if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)) or batch_size <= 0:
                raise AssertedArgumentError(
                    f"DataLoader: batch_size should be None or a positive value when batch_sampler is not given. Got "
                    f"{short(batch_size)}, expected an int > 0. Pass None for samples that are not batches."
                )
            if not self._streams:
                self.batch_sampler = BatchSampler(dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)
        self._collated = batch_sampler is not None or batch_size is not None
        self.batch_size = batch_size
        self.drop_last = drop_last
        self._persistent_workers = bool(persistent_workers)
        self._workers: Workers | None = None
        keep_freed_memory()

    def __repr__(self) -> str:
        of = type(self.dataset).__name__
        facts = [of if self._streams or not hasattr(self.dataset, "__len__") else f"{of} of {len(self.dataset)} samples"]
        sampler = self.batch_sampler
        if isinstance(sampler, BatchSampler):
            facts.append(f"batch_size={sampler.batch_size}")
            facts += ["shuffle=True"] * bool(sampler.shuffle) + ["drop_last=True"] * bool(sampler.drop_last)
        elif sampler is not None:
            facts.append(f"batch_sampler={type(sampler).__name__}")
        else:
            facts.append(f"batch_size={self.batch_size}")
        facts += [f"num_workers={self.num_workers}"] * bool(self.num_workers)
        return f"DataLoader({', '.join(facts)})"

    def __len__(self) -> int:
        """Batches in an epoch; an IterableDataset does not know (a ValueError, also a TypeError)."""
        if self._streams:
            raise InvalidTypeError(
                "DataLoader: length of IterableDataset not supported. Got a question for it, expected a data set with an "
                "index. Iterate to the end."
            )
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if self.feed_list is not None and not self.return_list:
            batches = self._fed(values_at_once(self._batches()))
        else:
            batches = self._batches() if building.builder is None else values_at_once(self._batches())
        return batches if _watching is None else _watching(batches)

    def _fed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches by the names of the variables that they are for."""
        names = [x if isinstance(x, str) else x.name for x in self.feed_list]
        for batch in batches:
            yield [dict(zip(names, batch if isinstance(batch, (list, tuple)) else [batch], strict=True))]

    def _batches(self) -> Iterator[Any]:
        copies = stream_for_copies(self._target()) if self.use_buffer_reader else None
        if self.num_workers == 0:
            batches = self._in_this_process()
            return copied_ahead(batches, self._target(), copies) if copies else self._placed(batches)
        try:
            from wherry_train.io.workers import WorkerIterator, Workers
        except ImportError as error:  # of Python's multiprocessing, in a browser
            raise RuntimeError(
                f"DataLoader: this system has no processes. Got num_workers={self.num_workers}, expected 0. Leave it out, and "
                f"batches are made here."
            ) from error
        # Drawn here as Paddle does, so that what is drawn afterwards is the same in both.
        seed = int(np.random.randint(0, sys.maxsize))
        workers = self._workers
        if workers is None or workers.closed:
            workers = Workers(self, seed)
            if self._persistent_workers:
                self._workers = workers
        if copies:
            return copied_ahead(WorkerIterator(self, workers, lambda batch: batch), self._target(), copies)
        return WorkerIterator(self, workers, self._on_device)

    def _placed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches on the device that `places` names, or on the current one."""
        for batch in batches:
            yield self._on_device(batch)

    def _on_device(self, batch: Any) -> Any:
        return moved(batch, self._target())

    def _target(self) -> int:
        """The core's number of the device that batches go to."""
        wanted = self._device[0]
        return int(_core.get_current_device() if wanted is None else wanted)

    def __call__(self) -> Iterator[Any]:
        """As `iter(loader)`."""
        return iter(self)

    def _indices(self) -> Iterator[Any]:
        return iter(SequenceSampler(self.dataset) if self.batch_sampler is None else self.batch_sampler)

    def _in_this_process(self) -> Iterator[Any]:
        try:
            for samples in self._samples():
                if self.collate_fn is not None:
                    yield as_tensors(self.collate_fn(samples))
                else:
                    yield default_collate_fn(samples) if self._collated else as_tensors(samples)
        except StopIteration as error:
            raise RuntimeError(STOPPED_EARLY) from error
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):  # out of the generator of samples
                raise RuntimeError(STOPPED_EARLY) from error
            raise

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
            feed_list: for static programs, the variables of which a batch holds the values.
            capacity: no effect; nothing is read ahead.
            use_double_buffer: accepted for compatibility, as `use_multiprocess`.
            iterable: False lets the program of `feed_list` read the loader, between `start()` and `reset()`, when `Executor.run` is given no feed.
            return_list: with `feed_list`, whether batches are lists and not feeds.
            use_multiprocess: see `use_double_buffer`.
            drop_last: whether `set_sample_generator` leaves out an incomplete last batch, unless told otherwise.

        Raises:
            RuntimeError: `iterable` is False outside of static mode.

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
        return GeneratorLoader(feed_list, iterable, return_list, drop_last)

    @staticmethod
    def from_dataset(dataset: Any, places: Any, drop_last: bool = True) -> DatasetLoader:
        """A loader of the feeds that `distributed.QueueDataset` or `InMemoryDataset` gives.

        Args:
            dataset: the data set.
            places: no effect.
            drop_last: leave out an incomplete last batch.

        Raises:
            TypeError: it is not a data set of `paddle.distributed`.

        Source:
            `paddle.io.DataLoader.from_dataset`.
        """
        return DatasetLoader(dataset, drop_last)


_MOST_WORKERS = 1024  # processes, and batches ahead: more than any machine has use for


def _callable(value: Any, name: str) -> Any:
    if value is not None and not callable(value):
        raise InvalidTypeError(
            f"DataLoader: {name} is not callable. Got {short(value)} ({type(value).__name__}), expected a callable or None. "
            f"Pass the function itself, not its result."
        )
    return value


def _number(value: Any, name: str, least: int, kinds: Any, most: float = math.inf) -> Any:
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise AssertedTypeError(
            f"DataLoader: {name} is a number. Got {short(value)} ({type(value).__name__}), expected one >= {least}. Leave it out for "
            f"the default."
        )
    if not value <= most or value == math.inf:
        raise InvalidArgumentError(
            f"DataLoader: {name} is too large. Got {short(value)}, expected {f'at most {most}' if most < math.inf else 'finite seconds'}. "
            f"{'Each worker is a process: more than there are cores do not help' if name == 'num_workers' else 'Take less'}."
        )
    if value < least:
        raise AssertedArgumentError(
            f"DataLoader: {name} should be a {'positive' if least else 'non-negative'} value. Got {short(value)}, expected one >= "
            f"{least}. Leave it out for the default."
        )
    return value


_watching: Callable[[Iterator[Any]], Iterator[Any]] | None = None


def watch_batches(wrap: Callable[[Iterator[Any]], Iterator[Any]] | None) -> None:
    """Let each loop over a loader that begins from now on go over `wrap(batches)`; None ends that. For profilers."""
    global _watching
    _watching = wrap
