"""What `DataLoader.from_generator` returns: batches from a generator function."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidTypeError
from wherry_tensor.functions.creation import to_tensor
from wherry_train.io.collate import as_tensors, default_collate_fn

__all__ = ["GeneratorLoader"]


class GeneratorLoader:
    """Reads batches from the function that one of the `set_...` methods was given, anew in each epoch.

    Source:
        `paddle.io.DataLoader.from_generator`.
    """

    def __init__(self, iterable: bool, drop_last: bool) -> None:
        if not iterable:
            raise RuntimeError(
                "DataLoader.from_generator: only static graphs start and reset a loader. Got iterable=False, expected True. "
                "Leave it out, and iterate over the loader."
            )
        self._drop_last = drop_last
        self._batches: Callable[[], Iterator[Any]] | None = None

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
        if self._batches is None:
            raise RuntimeError(
                "DataLoader.from_generator: there is nothing to read. Got a loader without a generator, expected one. "
                "Call set_sample_generator, set_sample_list_generator or set_batch_generator first."
            )
        return self._batches()

    def __call__(self) -> Iterator[Any]:
        """As `iter(loader)`."""
        return iter(self)


def _require_function(reader: Any) -> None:
    if not callable(reader):
        raise InvalidTypeError(
            f"DataLoader.from_generator: the reader is not callable. Got {type(reader).__name__}, expected "
            f"a callable. Pass the generator function itself, not what it returns."
        )
