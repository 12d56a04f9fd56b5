"""From samples to a batch: fields of the samples are stacked, each into one array.

The stacker decides where the array is stored: `TensorStacker` makes tensors in this process, and
a worker has a stacker that writes into memory which it shares with the process that trains.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_tensor import _core
from wherry_tensor._core import Tensor, bfloat16
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.functions.movement import stack

__all__ = ["STOPPED_EARLY", "Bfloat16Array", "TensorStacker", "as_tensors", "converted", "default_collate_fn", "moved"]

STOPPED_EARLY = (
    "DataLoader: the data set raised StopIteration for a sample, which looks like the end of an epoch. Got it from __getitem__, "
    "worker_init_fn or collate_fn, expected a sample. Give the data set a __len__ that says where it ends, or raise IndexError."
)


class Bfloat16Array(np.ndarray):
    """The bits of bfloat16 numbers, which NumPy does not have, as uint16."""


class TensorStacker:
    """Stacks arrays and tensors into tensors of this process."""

    def tensors(self, tensors: Sequence[Tensor]) -> Tensor:
        """A batch of tensors of the same shape and dtype."""
        with no_grad():
            return stack(list(tensors), axis=0)

    def arrays(self, arrays: Sequence[Any], shape: tuple[int, ...], dtype: Any) -> Any:
        """A batch of arrays of the same shape, in `dtype`."""
        try:
            out = _core.uninitialized((len(arrays), *shape), as_dtype(dtype, "DataLoader"))
        except (TypeError, ValueError):
            raise _no_such_tensor(dtype) from None
        target = np.asarray(out)
        for i, array in enumerate(arrays):
            target[i] = array
        return out

    def numbers(self, array: Any) -> Any:
        """A batch of numbers, which stand in an array already."""
        return converted(array)


def moved(batch: Any, device: int) -> Any:
    """A batch whose tensors are on `device`, a number of the core; containers that have none stay the same objects."""
    if isinstance(batch, Tensor):
        return _core.to_device(batch, device)
    if device == 0 and _core.get_current_device() == 0:
        return batch  # nothing here makes tensors elsewhere
    if type(batch) in (list, tuple):
        return type(batch)(moved(item, device) for item in batch)
    if type(batch) is dict:
        return {key: moved(item, device) for key, item in batch.items()}
    return batch


def default_collate_fn(batch: Sequence[Any], stacker: Any = None) -> Any:
    """A batch from a list of samples, field by field.

    Args:
        batch: samples that look alike: arrays or tensors of one shape, numbers, text, or lists, tuples and dicts
            of these.
        stacker: makes the arrays; None makes tensors.

    Returns:
        Tensors with a new first axis for arrays, tensors and numbers; lists for text; a list of fields for lists
        and tuples; a dict for dicts.

    Raises:
        TypeError: a sample holds something else.
        ValueError: samples differ in shape or number of fields.

    Examples:
        >>> from wherry_train.io.collate import default_collate_fn
        >>> x, y = default_collate_fn([([1.0, 2.0], 3), ([4.0, 5.0], 6)])
        >>> y.tolist(), [field.tolist() for field in x]
        ([3, 6], [[1.0, 4.0], [2.0, 5.0]])
    """
    return _collated(batch, TensorStacker() if stacker is None else stacker)


def _collated(batch: Sequence[Any], stacker: Any) -> Any:
    first = batch[0]
    if isinstance(first, np.ndarray):
        return _stacked(batch, stacker)
    if isinstance(first, Tensor):
        for i, x in enumerate(batch):
            if not isinstance(x, Tensor) or x.shape != first.shape or x.dtype is not first.dtype:
                raise _unlike(i, x, first)
        return stacker.tensors(batch)
    if isinstance(first, (bool, int, float, complex, np.number, np.bool_)):
        try:
            array = np.array(batch)
        except ValueError:
            array = None
        if array is None or array.ndim != 1 or array.dtype.kind not in "biufc":
            odd = next((i for i, x in enumerate(batch) if not isinstance(x, (bool, int, float, complex, np.number, np.bool_))), 0)
            raise _unlike(odd, batch[odd], first)
        if isinstance(first, int) and array.dtype.kind == "i":
            array = array.astype(np.int64, copy=False)  # where NumPy gives numbers of Python 32 bits: in WebAssembly
        return stacker.numbers(array)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        for i, sample in enumerate(batch):
            if not isinstance(sample, Mapping) or any(key not in sample for key in first):
                raise _unlike(i, sample, first)
        return {key: _collated([sample[key] for sample in batch], stacker) for key in first}
    if isinstance(first, Sequence):
        for i, sample in enumerate(batch):
            if not (type(sample) is type(first) or isinstance(sample, Sequence)) or len(sample) != len(first):
                raise _unlike(i, sample, first)
        return [_collated(fields, stacker) for fields in zip(*batch, strict=True)]
    raise InvalidTypeError(
        f"DataLoader: batch data can only contain: tensor, numpy.ndarray, dict, list, number. Got {type(first).__name__}, "
        f"expected one of these. Return another type from the data set, or pass collate_fn."
    )


def _stacked(batch: Sequence[Any], stacker: Any) -> Any:
    first = batch[0]
    shape, dtype = first.shape, first.dtype
    for i, array in enumerate(batch):
        if type(array) is not np.ndarray and not isinstance(array, (np.ndarray, np.generic)):
            raise _unlike(i, array, first)
        if array.shape != shape:
            raise _unlike(i, array, first)
        if array.dtype != dtype:
            dtype = np.result_type(dtype, array.dtype)
    if dtype.kind not in "biufc":
        raise _no_such_tensor(dtype)
    return stacker.arrays(batch, shape, dtype)


def as_tensors(data: Any, leaf: Callable[[Any], Any] | None = None) -> Any:
    """`data` with its arrays as tensors, in lists and dicts to any depth; tuples become lists, as in Paddle."""
    if isinstance(data, np.ndarray):
        return (leaf or converted)(data)
    if isinstance(data, Tensor):
        return leaf(data) if leaf else data
    if isinstance(data, Mapping):
        return {key: as_tensors(value, leaf) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [as_tensors(value, leaf) for value in data]
    return data


def converted(array: Any) -> Tensor:
    """A tensor with a copy of an array."""
    if isinstance(array, Bfloat16Array):
        return _core.reinterpreted(to_tensor(np.asarray(array).view(np.int16)), bfloat16)
    try:
        return to_tensor(array)
    except (TypeError, ValueError):
        raise _no_such_tensor(array.dtype) from None


def _no_such_tensor(dtype: Any) -> InvalidTypeError:
    return InvalidTypeError(
        f"DataLoader: this dtype cannot be made a tensor. Got an array of dtype {np.dtype(dtype)}, expected numbers or bools. "
        f"Convert it in the data set, or return text as str, which stays a list."
    )


def _unlike(at: int, sample: Any, first: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"DataLoader: the samples of a batch differ. Got {_described(sample)} in sample {at} and {_described(first)} in sample "
        f"0, expected the same shape, dtype and fields. Pad or crop them in the data set, or pass collate_fn."
    )


def _described(x: Any) -> str:
    if isinstance(x, (np.ndarray, Tensor)):
        return f"{type(x).__name__} of shape {list(x.shape)} and dtype {getattr(x.dtype, 'name', x.dtype)}"
    if isinstance(x, (str, bytes)):
        return f"text {x!r}"[:60]
    if isinstance(x, Mapping):
        return f"{type(x).__name__} with keys {list(x)}"
    return f"{type(x).__name__} of length {len(x)}" if isinstance(x, Sequence) else type(x).__name__
