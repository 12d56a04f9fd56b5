"""Samplers: the order in which a data set is read, sample by sample or in batches.

The order is drawn from NumPy's global generator, as Paddle draws it, so `numpy.random.seed` gives the
same order in both; a DistributedBatchSampler draws from its epoch alone.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from wherry_tensor._core import Generator, Tensor
from wherry_tensor.constructor_arguments import as_constructed
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidArgumentError, InvalidTypeError, short
from wherry_train.io.dataset import IterableDataset, permutation, require_length
from wherry_train.processes import place

__all__ = [
    "BatchSampler",
    "DistributedBatchSampler",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class Sampler:
    """An order of the samples of a data set. A subclass defines `__iter__`, and `__len__` if it knows it.

    Raises:
        NotImplementedError: while iterating, a subclass does not define `__iter__`.

    Source:
        `paddle.io.Sampler`.

    Examples:
        >>> class Backwards(wherry.io.Sampler):
        ...     def __iter__(self):
        ...         return iter(range(len(self.data_source) - 1, -1, -1))
        >>> list(Backwards("abc"))
        [2, 1, 0]
    """

    data_source: Any

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __repr__(self) -> str:
        return as_constructed(self, "generator")

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(
            f"{type(self).__name__}: a sampler needs __iter__. Got a class without __iter__, expected a definition. "
            f"Write `def __iter__(self): yield indices`."
        )


class SequenceSampler(Sampler):
    """The samples in their order.

    Args:
        data_source: a data set with a length.

    Raises:
        TypeError: `data_source` has no length (also a ValueError).

    Source:
        `paddle.io.SequenceSampler`.

    Examples:
        >>> list(wherry.io.SequenceSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        super().__init__(data_source)
        require_length(data_source, "SequenceSampler", "data_source")

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """The samples in a random order, drawn anew in each epoch.

    Args:
        data_source: a data set with a length.
        replacement: True draws each sample independently, so that some come twice and others never.
        num_samples: how many are drawn with replacement; None draws as many as there are.
        generator: None draws from NumPy's global generator; an iterator of indices is read instead; a Generator,
            as `paddle.seed` returns, is drawn from.

    Raises:
        TypeError: `replacement` is not a bool; `data_source` has no length.
        ValueError: `num_samples` without replacement, or not positive.

    Source:
        `paddle.io.RandomSampler`.

    Examples:
        >>> np.random.seed(3)
        >>> list(wherry.io.RandomSampler(range(5)))
        [3, 4, 1, 0, 2]
    """

    replacement: bool
    generator: Any

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        super().__init__(data_source)
        if not isinstance(replacement, bool):
            raise TypeError(
                f"RandomSampler: expect boolean value for replacement. Got replacement={short(replacement)}, expected True or "
                f"False. Leave it out to draw every sample once."
            )
        if num_samples is not None and not replacement:
            raise InvalidArgumentError(
                f"RandomSampler: num_samples should not be specified while replacement is False. Got {short(num_samples)}, "
                f"expected None. Pass replacement=True, or sample from a Subset."
            )
        require_length(data_source, "RandomSampler", "data_source")
        if not (generator is None or isinstance(generator, Generator) or hasattr(type(generator), "__next__")):
            raise InvalidTypeError(
                f"RandomSampler: the generator cannot give indices. Got {type(generator).__name__}, expected a Generator, an iterator or None. "
                f"Write iter(indices) for indices of your own."
            )
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        wanted = self.num_samples
        if isinstance(wanted, bool) or not isinstance(wanted, int) or (num_samples is not None and wanted <= 0):
            raise InvalidArgumentError(
                f"RandomSampler: num_samples should be a positive integer. Got {short(wanted)}, expected an int > 0. "
                f"Leave it out to draw as many as there are."
            )

    @property
    def num_samples(self) -> int:
        """How many indices one epoch has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = len(self.data_source), self.num_samples
        if isinstance(self.generator, Generator):
            yield from self._drawn(count, wanted)
        elif self.generator is not None:
            for _ in range(wanted):
                try:
                    index = next(self.generator)
                except StopIteration:
                    return
                yield index
        elif self.replacement:
            yield from np.random.choice(np.arange(count), wanted, replace=True).tolist()
        else:
            yield from np.random.permutation(count).tolist()

    def _drawn(self, count: int, wanted: int) -> list[int]:
        if not self.replacement:
            return permutation(count, self.generator, "RandomSampler")
        # One shuffled round after the other would not be independent draws: a seed for NumPy, then its choice.
        seeds = permutation(1 << 16, self.generator, "RandomSampler")[:2]
        return np.random.RandomState(seeds).choice(count, wanted, replace=True).tolist()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Some samples, in a random order.

    Args:
        indices: of these samples.

    Raises:
        ValueError: `indices` is empty.

    Source:
        `paddle.io.SubsetRandomSampler`.

    Examples:
        >>> sorted(wherry.io.SubsetRandomSampler([7, 3, 5]))
        [3, 5, 7]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__(None)
        if require_length(indices, "SubsetRandomSampler", "indices") == 0:
            raise InvalidArgumentError(
                "SubsetRandomSampler: The length of `indices` in SubsetRandomSampler should be greater than 0. "
                "Got none, expected at least one. Pass the indices to draw."
            )
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        for i in np.random.permutation(len(self.indices)).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Samples drawn with probabilities in proportion to their weights.

    Args:
        weights: one number >= 0 for each sample; a list, an array or a tensor. They need not add up to 1.
        num_samples: how many are drawn.
        replacement: whether a sample can come twice.

    Raises:
        ValueError: `num_samples` is not a positive int, `replacement` is not a bool; weights are negative, all zero or in
            more than one row; there are fewer samples with a weight than are drawn without replacement (the
            last three also AssertionErrors).

    Source:
        `paddle.io.WeightedRandomSampler`.

    Examples:
        >>> list(wherry.io.WeightedRandomSampler([0.0, 1.0], 3))
        [1, 1, 1]
    """

    weights: Any
    num_samples: int
    replacement: bool

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        super().__init__(None)
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples <= 0:
            raise InvalidArgumentError(
                f"WeightedRandomSampler: num_samples should be a positive integer. Got {short(num_samples)}, expected an int > 0. "
                f"Pass how many samples an epoch has."
            )
        if not isinstance(replacement, bool):
            raise InvalidArgumentError(
                f"WeightedRandomSampler: replacement should be a boolean value. Got {short(replacement)}, expected True or False. "
                f"Leave it out to draw with replacement."
            )
        if num_samples >> 48:
            raise InvalidArgumentError(
                f"WeightedRandomSampler: num_samples is larger than any epoch. Got {short(num_samples)}, expected fewer than 2 ** 48. "
                f"Pass how many samples an epoch has."
            )
        try:
            found = np.asarray(weights.numpy() if isinstance(weights, Tensor) else weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidTypeError(
                f"WeightedRandomSampler: weights are not numbers. Got {type(weights).__name__}, expected a list of "
                f"numbers, an array or a tensor. Write [1.0, 2.0, ...]."
            ) from None
        if found.ndim != 1 or not found.size or not (found >= 0).all() or not 0 < found.sum() < np.inf:
            raise AssertedArgumentError(
                f"WeightedRandomSampler: weights should be positive value, one for each sample. Got shape "
                f"{list(found.shape)} with values from {found.min(initial=np.inf)} to {found.max(initial=-np.inf)}, expected "
                f"one row of finite numbers >= 0, not all 0. They need not add up to 1."
            )
        if not replacement and np.count_nonzero(found) < num_samples:
            raise AssertedArgumentError(
                f"WeightedRandomSampler: weights positive value number should not less than num_samples when "
                f"replacement=False. Got {np.count_nonzero(found)} samples with a weight, expected at least {num_samples}. "
                f"Draw with replacement, or fewer."
            )
        self.weights = weights
        self._probabilities = found / found.sum()
        self.num_samples = num_samples
        self.replacement = replacement

    def __iter__(self) -> Iterator[int]:
        drawn = np.random.choice(len(self._probabilities), self.num_samples, self.replacement, self._probabilities)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of indices, one for each batch.

    Args:
        dataset: a data set with a length, not an IterableDataset; or give `sampler`.
        sampler: an order; or give `dataset`.
        shuffle: whether the samples of `dataset` come in a random order.
        batch_size: how many indices a batch has.
        drop_last: whether an incomplete last batch is left out.

    Raises:
        ValueError: both or none of `dataset` and `sampler`, or `batch_size` is not a positive int (also AssertionErrors).
        TypeError: an argument is of another type (also a ValueError and an AssertionError).

    Source:
        `paddle.io.BatchSampler`.

    Examples:
        >>> list(wherry.io.BatchSampler(range(5), batch_size=2))
        [[0, 1], [2, 3], [4]]
    """

    sampler: Any
    batch_size: int
    drop_last: bool
    shuffle: bool

    def __init__(
        self,
        dataset: Any = None,
        sampler: Any = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset)
        if (dataset is None) is (sampler is None):
            given = "neither" if dataset is None else "both"
            raise AssertedArgumentError(
                f"BatchSampler: either dataset or sampler should be set, and not both. Got {given}, expected one. "
                f"A sampler knows its data set."
            )
        if isinstance(dataset, IterableDataset):
            raise AssertedTypeError(
                f"BatchSampler: dataset should not be a paddle.io.IterableDataset, whose samples have no index. Got "
                f"{type(dataset).__name__}, expected a Dataset. Give it to DataLoader with batch_size."
            )
        _require_bool(shuffle, "BatchSampler", "shuffle")
        if sampler is not None:
            if not isinstance(sampler, Iterable):
                raise AssertedTypeError(
                    f"BatchSampler: sampler should be a paddle.io.Sampler. Got {type(sampler).__name__}, expected a Sampler "
                    f"or another iterable of indices. Derive it from paddle.io.Sampler."
                )
            if shuffle:
                raise AssertedArgumentError(
                    "BatchSampler: shuffle should be False when sampler is set. Got True, expected False: the order is the "
                    "sampler's. Pass RandomSampler(dataset), or dataset and shuffle=True."
                )
        self.batch_size = _batch_size(batch_size, "BatchSampler")
        self.drop_last = _require_bool(drop_last, "BatchSampler", "drop_last")
        self.shuffle = shuffle
        if sampler is None:
            require_length(dataset, "BatchSampler", "dataset")  # here, not in the first epoch
            sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        self.sampler = sampler

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes that share a data set.

    All processes have equally many samples: the first ones come again at the end where they would not.
    Without `num_replicas` and `rank` they are those that a launcher has started; in a process that is alone, one that has everything.

    Args:
        dataset: a data set with a length.
        batch_size: how many indices a batch has in each process.
        num_replicas: how many processes there are; None asks the environment.
        rank: which of them this is; None asks the environment.
        shuffle: whether the order is random. It follows from the epoch alone, so that it is the same in all
            processes.
        drop_last: whether an incomplete last batch is left out.

    Raises:
        ValueError: a number is out of range (also an AssertionError).

    Source:
        `paddle.io.DistributedBatchSampler`.

    Examples:
        >>> list(wherry.io.DistributedBatchSampler(range(5), batch_size=2, num_replicas=2, rank=1))
        [[2, 3], [0]]
    """

    epoch: int
    nranks: int
    local_rank: int
    num_samples: int
    total_size: int

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        Sampler.__init__(self, dataset)
        self.dataset = dataset
        self.batch_size = _batch_size(batch_size, "DistributedBatchSampler")
        self.shuffle = _require_bool(shuffle, "DistributedBatchSampler", "shuffle")
        self.drop_last = _require_bool(drop_last, "DistributedBatchSampler", "drop_last")
        here, several = place()
        self.nranks = several if num_replicas is None else num_replicas
        if type(self.nranks) is not int or not 0 < self.nranks < 1 << 31:
            raise AssertedArgumentError(
                f"DistributedBatchSampler: num_replicas should be a positive integer. Got {short(num_replicas)}, expected an int > "
                f"0. Leave it out for one process."
            )
        self.local_rank = here if rank is None else rank
        if type(self.local_rank) is not int or not 0 <= self.local_rank < self.nranks:
            raise AssertedArgumentError(
                f"DistributedBatchSampler: rank should be a non-negative integer below num_replicas. Got rank={short(rank)} with "
                f"{self.nranks} processes, expected an int in [0, {self.nranks}). Ranks count from 0."
            )
        self.epoch = 0
        self.num_samples = math.ceil(require_length(dataset, "DistributedBatchSampler", "dataset") / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        count = len(self.dataset)
        indices = np.arange(count).tolist()
        missing = self.total_size - count
        indices += (indices * math.ceil(missing / max(count, 1)))[:missing]
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(indices)
            self.epoch += 1
        # In each round every process takes one batch; what does not fill a round is shared out evenly.
        whole = self.batch_size * self.nranks
        rest = self.total_size % whole
        own: list[int] = []
        for at in range(self.local_rank * self.batch_size, self.total_size - rest, whole):
            own += indices[at : at + self.batch_size]
        share = rest // self.nranks
        start = self.total_size - rest + self.local_rank * share
        own += indices[start : start + share]
        for at in range(0, len(own), self.batch_size):
            batch = own[at : at + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        return self.num_samples // self.batch_size if self.drop_last else -(-self.num_samples // self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch, from which the order follows; it counts up by itself otherwise.

        Args:
            epoch: an int >= 0, the seed of the order.

        Source:
            `paddle.io.DistributedBatchSampler.set_epoch`.

        Examples:
            >>> sampler = wherry.io.DistributedBatchSampler(range(5), batch_size=5, shuffle=True)
            >>> sampler.set_epoch(7)
            >>> first = list(sampler)
            >>> sampler.set_epoch(7)
            >>> first == list(sampler)
            True
        """
        self.epoch = epoch


def _batch_size(value: Any, op_name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value <= 0:
        raise AssertedArgumentError(
            f"{op_name}: batch_size should be a positive integer. Got {short(value)}, expected an int > 0. "
            f"A batch has at least one sample."
        )
    return int(value)


def _require_bool(value: Any, op_name: str, name: str) -> bool:
    if not isinstance(value, bool):
        raise AssertedTypeError(
            f"{op_name}: {name} should be a boolean value. Got {short(value)} ({type(value).__name__}), expected True or False. "
            f"Write {name}=True."
        )
    return value
