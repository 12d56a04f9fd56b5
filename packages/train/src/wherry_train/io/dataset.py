"""Data sets: by index, or as a stream, and how they combine."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from wherry_tensor import _core
from wherry_tensor._core import Generator, Tensor
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.functions.random import randperm

if TYPE_CHECKING:  # pages do without NumPy
    from numpy.typing import NDArray

__all__ = [
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]


class Dataset:
    """Samples by index. A subclass defines `__getitem__` and `__len__`.

    A DataLoader takes anything that has both, a list for instance; a subclass of Dataset says
    what it is, and is told what it lacks.

    Source:
        `paddle.io.Dataset`.

    Examples:
        >>> class Squares(wherry.io.Dataset):
        ...     def __getitem__(self, index):
        ...         return index, index * index
        ...     def __len__(self):
        ...         return 4
        >>> Squares()[3], len(Squares())
        ((3, 9), 4)
    """

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError(_not_defined(self, "__getitem__", "def __getitem__(self, index): return a sample"))

    def __len__(self) -> int:
        raise NotImplementedError(_not_defined(self, "__len__", "def __len__(self): return the number of samples"))


class IterableDataset(Dataset):
    """A stream of samples. A subclass defines `__iter__`.

    Each worker of a DataLoader iterates over a copy: `__iter__` asks `get_worker_info()` for its share,
    or every sample comes once for each worker.

    Source:
        `paddle.io.IterableDataset`.

    Examples:
        >>> class Count(wherry.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(Count())
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(_not_defined(self, "__iter__", "def __iter__(self): yield samples"))

    def __getitem__(self, idx: Any) -> Any:
        raise RuntimeError(_of_a_stream(self, "__getitem__", "an index"))

    def __len__(self) -> int:
        # list() and other builtins ask for a length as a hint, and take a TypeError for "none".
        raise _NoLengthError(_of_a_stream(self, "__len__", "its length"))


class _NoLengthError(RuntimeError, TypeError):
    """Paddle raises RuntimeError; Python's own containers ask for TypeError to go on without a length."""


class TensorDataset(Dataset):
    """Sample i is the i-th entry of each tensor.

    Args:
        tensors: a list of tensors with the same size of the first axis.

    Shape:
        tensors: `[N, ...]` each. A sample is a tuple of `[...]`.

    Raises:
        TypeError: an item of `tensors` is not a tensor (also a ValueError and an AssertionError).
        ValueError: `tensors` is empty, or the first axes differ (also an AssertionError).

    Source:
        `paddle.io.TensorDataset`.

    Examples:
        >>> data = wherry.io.TensorDataset([wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]]), wherry.to_tensor([0, 1])])
        >>> x, y = data[1]
        >>> x.tolist(), y.item(), len(data)
        ([3.0, 4.0], 1, 2)
    """

    tensors: Sequence[Tensor | NDArray[Any]]  # columns of a table become arrays, and samples of it are arrays

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        from wherry_train.dataframes import array_of_table, is_table  # with it comes NumPy, which pages do without

        given = _several(tensors, "TensorDataset", "tensors")
        self.tensors = [array_of_table(x, f"TensorDataset: element {i}") if is_table(x) else x for i, x in enumerate(given)]
        for i, x in enumerate(self.tensors):
            if not (isinstance(x, Tensor) or type(x).__module__ == "numpy") or not x.shape:
                got = f"shape {list(x.shape)}" if hasattr(x, "shape") else type(x).__name__
                raise AssertedTypeError(
                    f"TensorDataset: element {i} has no samples. Got {got}, expected a Tensor of one axis or more. "
                    f"Make one with to_tensor."
                )
            if x.shape[0] != self.tensors[0].shape[0]:
                raise AssertedArgumentError(
                    f"TensorDataset: tensors not have same shape of the 1st dimension. Got {x.shape[0]} in tensor {i} and "
                    f"{self.tensors[0].shape[0]} in tensor 0, expected as many samples in each. Cut the longer ones."
                )

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class ComposeDataset(Dataset):
    """Data sets side by side: sample i has the fields of sample i of each.

    Args:
        datasets: data sets of the same length, not IterableDatasets.

    Raises:
        TypeError: an item of `datasets` is not a data set with an index (also a ValueError and an AssertionError).
        ValueError: `datasets` is empty, or the lengths differ (also an AssertionError).

    Source:
        `paddle.io.ComposeDataset`.

    Examples:
        >>> letters = wherry.io.TensorDataset([wherry.to_tensor([1, 2])])
        >>> both = wherry.io.ComposeDataset([letters, letters])
        >>> [field.item() for field in both[1]]
        [2, 2]
    """

    datasets: list[Dataset]

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = _several(datasets, "ComposeDataset", "datasets")
        _only(self.datasets, "ComposeDataset", stream=False)
        for i, dataset in enumerate(self.datasets):
            if len(dataset) != len(self.datasets[0]):
                raise AssertedArgumentError(
                    f"ComposeDataset: lengths of datasets should be same. Got {len(dataset)} for dataset {i} and "
                    f"{len(self.datasets[0])} for dataset 0, expected equal ones. Take a Subset of the longer ones."
                )

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, idx: Any) -> tuple[Any, ...]:
        sample: list[Any] = []
        for dataset in self.datasets:
            fields = dataset[idx]
            sample.extend(fields if isinstance(fields, (list, tuple)) else (fields,))
        return tuple(sample)


class ChainDataset(IterableDataset):
    """Streams one after the other.

    Args:
        datasets: IterableDatasets.

    Raises:
        TypeError: an item of `datasets` is not an IterableDataset (also a ValueError and an AssertionError).
        ValueError: `datasets` is empty (also an AssertionError).

    Source:
        `paddle.io.ChainDataset`.

    Examples:
        >>> class Count(wherry.io.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(wherry.io.ChainDataset([Count(), Count()]))
        [0, 1, 2, 0, 1, 2]
    """

    datasets: list[IterableDataset]

    def __init__(self, datasets: Sequence[IterableDataset]) -> None:
        self.datasets = _several(datasets, "ChainDataset", "datasets")
        _only(self.datasets, "ChainDataset", stream=True)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from dataset


class ConcatDataset(Dataset):
    """Data sets one after the other, by index.

    Args:
        datasets: data sets, not IterableDatasets.

    Raises:
        TypeError: an item of `datasets` is not a data set with an index (also a ValueError and an AssertionError).
        ValueError: `datasets` is empty (also an AssertionError); an index lies before the first sample.

    Source:
        `paddle.io.ConcatDataset`.

    Examples:
        >>> data = wherry.io.TensorDataset([wherry.to_tensor([1, 2])])
        >>> twice = wherry.io.ConcatDataset([data, data])
        >>> len(twice), twice[-1][0].item()
        (4, 2)
    """

    datasets: list[Dataset]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = _several(datasets, "ConcatDataset", "datasets")
        _only(self.datasets, "ConcatDataset", stream=False)
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """How many samples the first data set has, the first two, and so on. Source: `paddle.io.ConcatDataset.cumsum`."""
        return list(accumulate(map(len, sequence)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        at = idx + len(self) if idx < 0 else idx
        if not 0 <= at < len(self):
            error = InvalidArgumentError if idx < 0 else IndexError  # the end of a for loop is an IndexError
            raise error(
                f"ConcatDataset: there is no sample {idx}. Got {idx}, expected an index in [-{len(self)}, {len(self)}). "
                f"Indices count from 0."
            )
        which = bisect_right(self.cumulative_sizes, at)
        return self.datasets[which][at - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Some samples of a data set, in the order of `indices`.

    Raises:
        TypeError: `dataset` has no `__getitem__`, or `indices` is not a list, a tuple, a range, an array or a tensor (also a ValueError).

    Source:
        `paddle.io.Subset`.

    Examples:
        >>> data = wherry.io.TensorDataset([wherry.to_tensor([10, 11, 12])])
        >>> part = wherry.io.Subset(data, [2, 0])
        >>> part[0][0].item(), len(part)
        (12, 2)
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        if not hasattr(dataset, "__getitem__"):
            raise InvalidTypeError(
                f"Subset: dataset cannot be indexed. Got {type(dataset).__name__}, expected one with __getitem__. "
                f"Write Subset(dataset, indices)."
            )
        require_length(indices, "Subset", "indices")
        if not hasattr(indices, "__getitem__") or isinstance(indices, (dict, str, bytes)):
            raise InvalidTypeError(
                f"Subset: indices is not a list. Got {type(indices).__name__}, expected a list, tuple, range, array or tensor of "
                f"ints. Write list(indices)."
            )
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> Any:
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int], generator: Generator | None = None) -> list[Subset]:
    """Parts of a data set, drawn without replacement.

    Args:
        dataset: a data set with a length.
        lengths: the number of samples of each part; together, all of them.
        generator: from which the order is drawn; None is that of `paddle.seed`.

    Raises:
        ValueError: the lengths do not add up to the data set's.
        TypeError: `generator` is not a Generator.

    Source:
        `paddle.io.random_split`.

    Examples:
        >>> data = wherry.io.TensorDataset([wherry.to_tensor([10, 11, 12])])
        >>> [len(part) for part in wherry.io.random_split(data, [2, 1])]
        [2, 1]
    """
    count = require_length(dataset, "random_split", "dataset")
    if not isinstance(lengths, (list, tuple)) or not all(hasattr(type(n), "__index__") and not isinstance(n, bool) and n >= 0 for n in lengths):
        raise InvalidTypeError(
            f"random_split: lengths is not a list of numbers of samples. Got {short(lengths)}, expected a list of ints that add up to {count}. Write "
            f"[{count - count // 5}, {count // 5}], say."
        )
    if sum(lengths) != count:
        raise InvalidArgumentError(
            f"random_split: Sum of input lengths does not equal the length of the input dataset. Got lengths {list(lengths)}, "
            f"which add up to {sum(lengths)}, expected {len(dataset)}. Give the rest to one of the parts."
        )
    order = permutation(len(dataset), generator, "random_split")
    ends = list(accumulate(lengths))
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def require_length(data: Any, op_name: str, name: str) -> int:
    """How many samples there are.

    Raises:
        TypeError: it has no length.
    """
    try:
        return len(data)
    except (TypeError, NotImplementedError) as error:
        if isinstance(data, Dataset):  # which says why
            raise
        raise InvalidTypeError(
            f"{op_name}: {name} has no length. Got {type(data).__name__}, expected something with __len__, such as a Dataset or a "
            f"list. {'Write list(...) around an iterator' if hasattr(data, '__next__') else 'Pass the data set itself'}."
        ) from error


def permutation(count: int, generator: Generator | None, op_name: str) -> list[int]:
    """The numbers from 0 to `count` - 1 in an order drawn from `generator`, or from the default one."""
    if generator is None:
        return randperm(count).tolist() if count else []
    if not isinstance(generator, Generator):
        raise InvalidTypeError(
            f"{op_name}: this is not a generator. Got {type(generator).__name__}, expected a Generator or None. "
            f"Pass what paddle.seed returns, or leave it out."
        )
    before = _core.get_default_generator()
    _core.set_default_generator(generator)
    try:
        return randperm(count).tolist() if count else []
    finally:
        _core.set_default_generator(before)


def _several(items: Any, op_name: str, what: str) -> Any:
    try:
        found = list(items)
    except TypeError:
        raise InvalidTypeError(
            f"{op_name}: the {what} are not a list. Got {type(items).__name__}, expected a list. Write [x] for one."
        ) from None
    if not found:
        raise AssertedArgumentError(
            f"{op_name}: input {what} should not be empty. Got none, expected at least one. Pass a list of {what}."
        )
    return found


def _only(datasets: list[Any], op_name: str, stream: bool) -> None:
    wanted = "paddle.io.IterableDataset" if stream else "paddle.io.Dataset with an index"
    for i, dataset in enumerate(datasets):
        if not isinstance(dataset, Dataset) or isinstance(dataset, IterableDataset) is not stream:
            raise AssertedTypeError(
                f"{op_name}: each input dataset should be a {wanted}. Got {type(dataset).__name__} as dataset {i}. "
                f"{'ConcatDataset joins' if stream else 'ChainDataset joins'} the other kind."
            )


def _not_defined(dataset: Dataset, method: str, example: str) -> str:
    kind = type(dataset).__name__
    return (
        f"{kind}: '{method}' not implement in class {kind}. Got a data set without it, expected a definition. "
        f"Write `{example}`."
    )


def _of_a_stream(dataset: Dataset, method: str, what: str) -> str:
    kind = type(dataset).__name__
    return (
        f"{kind}: '{method}' should not be called for IterableDataset {kind}. Got a question for {what}, expected iteration. "
        f"Use `for sample in dataset`, or derive from Dataset."
    )
