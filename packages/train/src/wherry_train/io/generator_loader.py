"""What `DataLoader.from_generator` returns: batches from a generator function."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.static_builder import at_once
from wherry_train.io.collate import as_tensors, default_collate_fn

__all__ = ["DatasetLoader", "EOFException", "GeneratorLoader", "values_at_once"]


class EOFException(Exception):  # noqa: N818  Paddle's name
    """A loader that a program reads has no further batch.

    Source:
        `paddle.base.core.EOFException`.
    """


class GeneratorLoader:
    """Reads batches from the function that one of the `set_...` methods was given, anew in each epoch.

    Made for a static program it gives feeds; with `iterable=False` it is read by the program itself, between `start()` and `reset()`.

    Source:
        `paddle.io.DataLoader.from_generator`.
    """

    def __init__(self, feed_list: Any, iterable: bool, return_list: bool, drop_last: bool) -> None:
        self._variables = list(feed_list or ())
        self._iterable, self._return_list, self._drop_last = iterable, return_list, drop_last
        self._batches: Callable[[], Iterator[Any]] | None = None
        self._running: Iterator[Any] | None = None
        if not iterable:
            programs = {id(x.program): x.program for x in self._variables if hasattr(x, "program")}
            if len(programs) != 1:
                raise PreconditionNotMetError(
                    "DataLoader.from_generator: only static programs start and reset a loader. Got iterable=False with a feed_list that "
                    "has no variable of "
                    "a program, expected feed_list=[...] of static.data. In dynamic mode leave iterable out, and iterate over the loader."
                )
            next(iter(programs.values())).readers.append(self)

    def set_sample_generator(
        self, reader: Callable[[], Iterable[Any]], batch_size: int, drop_last: bool | None = None, places: Any = None
    ) -> GeneratorLoader:
        """Take single samples; each is a field or a tuple of fields. Returns the loader."""
        _require_function(reader)
        drops = self._drop_last if drop_last is None else drop_last

        def batches() -> Iterator[Any]:
            batch: list[Any] = []
            for sample in reader():
                batch.append(sample if isinstance(sample, (list, tuple)) else (sample,))
                if len(batch) == batch_size:
                    yield default_collate_fn(batch)
                    batch = []
            if batch and not drops:
                yield default_collate_fn(batch)

        self._batches = batches
        return self

    def set_sample_list_generator(self, reader: Callable[[], Iterable[Any]], places: Any = None) -> GeneratorLoader:
        """Take lists of samples. Returns the loader."""
        _require_function(reader)

        def batches() -> Iterator[Any]:
            for samples in reader():
                yield default_collate_fn([s if isinstance(s, (list, tuple)) else (s,) for s in samples])

        self._batches = batches
        return self

    def set_batch_generator(self, reader: Callable[[], Iterable[Any]], places: Any = None) -> GeneratorLoader:
        """Take whole batches: a field or a tuple of fields, arrays or tensors. Returns the loader."""
        _require_function(reader)

        def batches() -> Iterator[Any]:
            for batch in reader():
                fields = batch if isinstance(batch, (list, tuple)) else (batch,)
                yield [as_tensors(field) if isinstance(field, np.ndarray) else to_tensor(field) for field in fields]

        self._batches = batches
        return self

    def __iter__(self) -> Iterator[Any]:
        if not self._iterable:
            raise PreconditionNotMetError(
                "DataLoader.from_generator: the program reads this loader. Got a loop over it, expected start(), Executor.run() without "
                "feed, and reset(). Pass "
                "iterable=True to loop."
            )
        batches = self._anew()
        if not self._variables or self._return_list:
            return batches
        return ([self._feed(batch)] for batch in batches)

    def start(self) -> None:
        """Begin an epoch: `Executor.run` without a feed takes a batch each time.

        Raises:
            RuntimeError: the loader is iterable, or has no generator.
        """
        self._require_reader("start")
        self._running = self._anew()

    def reset(self) -> None:
        """End an epoch, after the EOFException of its last run or before.

        Raises:
            RuntimeError: the loader is iterable.
        """
        self._require_reader("reset")
        self._running = None

    def next_feed(self) -> dict[str, Any]:
        """The next batch, by the names of variables.

        Raises:
            EOFException: there is none.
            RuntimeError: the loader was not started.
        """
        if self._running is None:
            raise PreconditionNotMetError("DataLoader.from_generator: the loader is not started. Got a run without feed, expected start() before it.")
        batch = next(self._running, None)
        if batch is None:
            raise EOFException("DataLoader.from_generator: There is no next data. Got a run after the last batch, expected reset() and start().")
        return self._feed(batch)

    def _feed(self, batch: Any) -> dict[str, Any]:
        if len(batch) != len(self._variables):
            raise InvalidArgumentError(
                f"DataLoader.from_generator: a batch has other fields than feed_list. Got {len(batch)}, expected {len(self._variables)} for "
                f"{[x.name for x in self._variables]}."
            )
        return {x.name: value for x, value in zip(self._variables, batch, strict=True)}

    def _anew(self) -> Iterator[Any]:
        if self._batches is None:
            raise PreconditionNotMetError(
                "DataLoader.from_generator: there is nothing to read. Got a loader without a generator, expected one. "
                "Call set_sample_generator, set_sample_list_generator or set_batch_generator first."
            )
        return values_at_once(self._batches())

    def _require_reader(self, what: str) -> None:
        if self._iterable:
            raise PreconditionNotMetError(
                f"DataLoader.from_generator: {what} is for loaders that a program reads. Got iterable=True, expected False. Iterate."
            )

    def __call__(self) -> Iterator[Any]:
        """As `iter(loader)`."""
        return iter(self)


class DatasetLoader:
    """What `DataLoader.from_dataset` returns: feeds for `static.Executor.run`, each in a list."""

    def __init__(self, dataset: Any, drop_last: bool) -> None:
        if not hasattr(dataset, "batches"):
            raise InvalidTypeError(
                f"DataLoader.from_dataset: this is not a data set of files. Got {type(dataset).__name__}, expected a distributed.QueueDataset or "
                f"InMemoryDataset. Write DataLoader(dataset) for others."
            )
        self._dataset, self._drop_last = dataset, drop_last

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        return ([feed] for feed in self._dataset.batches(self._drop_last))

    def __call__(self) -> Iterator[list[dict[str, Any]]]:
        """As `iter(loader)`."""
        return iter(self)


def _require_function(reader: Any) -> None:
    if not callable(reader):
        raise InvalidTypeError(
            f"DataLoader.from_generator: the reader is not callable. Got {type(reader).__name__}, expected "
            f"a callable. Pass the generator function itself, not what it returns."
        )


def values_at_once(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches that are made of values, also where static mode records what is done meanwhile."""
    end = object()
    while True:
        with at_once():
            batch = next(batches, end)
        if batch is end:
            return
        yield batch
