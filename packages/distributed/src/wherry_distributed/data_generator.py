"""Programs that turn lines of a file into samples for `InMemoryDataset` and `QueueDataset`: the other end of a pipe command."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]

Sample = Sequence[tuple[str, Sequence[Any]]]


class DataGenerator:
    """Reads lines from standard input and writes samples to standard output. A subclass defines `generate_sample`.

    Source:
        `paddle.distributed.fleet.DataGenerator`.
    """

    def __init__(self) -> None:
        self.batch_size_ = 32
        self._proto_info: list[tuple[str, str]] | None = None

    def set_batch(self, batch_size: int) -> None:
        """How many samples `generate_batch` gets at once."""
        self.batch_size_ = batch_size

    def generate_sample(self, line: str | None) -> Callable[[], Iterable[Sample]]:
        """A function that gives the samples of a line, each a list of pairs (name, values). To be written.

        Raises:
            NotImplementedError: it is not.
        """
        raise UnimplementedError(
            f"{type(self).__name__}: Please rewrite this function to return a list or tuple: [(name, [feasign, ...]), ...]. Got a generator without "
            f"generate_sample, expected one."
        )

    def generate_batch(self, samples: list[Sample]) -> Callable[[], Iterable[Sample]]:
        """A function that gives the samples of a batch: as they are, unless a subclass says more."""
        return lambda: iter(samples)

    def run_from_stdin(self) -> None:
        """Write the samples of all lines of standard input."""
        self._write(sample for line in sys.stdin for sample in self.generate_sample(line)())

    def run_from_memory(self) -> None:
        """Write the samples that `generate_sample(None)` gives."""
        self._write(iter(self.generate_sample(None)()))

    def _write(self, samples: Iterator[Sample | None]) -> None:
        batch: list[Sample] = []
        for sample in samples:
            if sample is None:
                continue
            batch.append(sample)
            if len(batch) == self.batch_size_:
                self._write_batch(batch)
                batch = []
        if batch:
            self._write_batch(batch)

    def _write_batch(self, batch: list[Sample]) -> None:
        for sample in self.generate_batch(batch)():
            sys.stdout.write(self._gen_str(sample))

    def _gen_str(self, line: Sample) -> str:
        raise UnimplementedError(
            "DataGenerator: it has no format. Got the base class, expected MultiSlotDataGenerator or MultiSlotStringDataGenerator."
        )


class MultiSlotStringDataGenerator(DataGenerator):
    """Writes samples whose values are texts of numbers, which are not looked at.

    Source:
        `paddle.distributed.fleet.MultiSlotStringDataGenerator`.

    Examples:
        >>> generator = wherry.distributed.fleet.MultiSlotStringDataGenerator()
        >>> generator._gen_str([("words", ["1926", "08"]), ("label", ["1"])])
        '2 1926 08 1 1\\n'
    """

    def _gen_str(self, line: Sample) -> str:
        return " ".join(f"{len(values)} {' '.join(values)}" for _, values in _fields(line)) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Writes samples of ints and floats. All samples have the same fields in the same order.

    Source:
        `paddle.distributed.fleet.MultiSlotDataGenerator`.

    Examples:
        >>> generator = wherry.distributed.fleet.MultiSlotDataGenerator()
        >>> generator._gen_str([("words", [1926, 8, 17]), ("label", [1])])
        '3 1926 8 17 1 1\\n'
    """

    def _gen_str(self, line: Sample) -> str:
        fields = list(_fields(line))
        kinds = []
        for name, values in fields:
            if not isinstance(name, str) or not isinstance(values, list):
                raise InvalidArgumentError(f"MultiSlotDataGenerator: a field is a pair (str, list). Got ({short(name)}, {short(values)}).")
            if not values:
                raise InvalidArgumentError(
                    f"MultiSlotDataGenerator: the elements of each field can not be empty, you need padding it in process(). Got '{name}' "
                    "without values."
                )
            wrong = next((x for x in values if not isinstance(x, (int, float))), None)
            if wrong is not None:
                raise InvalidArgumentError(f"MultiSlotDataGenerator: values are ints or floats. Got {short(wrong)} in '{name}'.")
            kinds.append((name, "float" if any(isinstance(x, float) for x in values) else "uint64"))
        if self._proto_info is None:
            self._proto_info = kinds
        elif [name for name, _ in kinds] != [name for name, _ in self._proto_info]:
            raise InvalidArgumentError(
                f"MultiSlotDataGenerator: the fields of a sample are others than before. Got {[n for n, _ in kinds]}, expected "
                f"{[n for n, _ in self._proto_info]}. Give the same fields in the same order."
            )
        return " ".join(f"{len(values)} {' '.join(map(str, values))}" for _, values in fields) + "\n"


def _fields(line: Sample) -> Sample:
    if not isinstance(line, (list, tuple)):
        raise InvalidArgumentError(
            f"DataGenerator: the output of process() must be in list or tuple type. Got {short(line)}, expected [('words', [1, 2]), ('label', [0])]."
        )
    return line
