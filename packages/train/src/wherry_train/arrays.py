"""Arrays, tensors and tables as a data set, for `Model.fit(x, y)`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError
from wherry_train.dataframes import array_of_table, is_table
from wherry_train.io import Dataset

__all__ = ["ArrayDataset", "is_array", "is_arrays"]


def is_array(value: Any) -> bool:
    """Whether a value is an array, a tensor or a table: samples in its first axis."""
    return isinstance(value, (np.ndarray, Tensor)) or is_table(value)


def is_arrays(value: Any) -> bool:
    """Whether it is an array, or a list or tuple of some."""
    return is_array(value) or (isinstance(value, (list, tuple)) and bool(value) and all(map(is_array, value)))


class ArrayDataset(Dataset):
    """Rows of several arrays.

    Args:
        inputs: an array or tensor, or a list of them, one for each argument of the network.
        labels: the same; None has none.
        floats: the dtype that float64 of NumPy becomes, which is NumPy's default and hardly ever a network's; None
            leaves it.
        op_name: for errors.
    """

    def __init__(self, inputs: Any, labels: Any, floats: str | None, op_name: str) -> None:
        self.fields = [_rows(value, floats, f"{op_name}: x{where}") for value, where in _numbered(inputs)]
        self.fields += [_rows(value, floats, f"{op_name}: y{where}") for value, where in _numbered(labels)]
        counts = [len(field) for field in self.fields]
        if len(set(counts)) > 1:
            raise InvalidArgumentError(
                f"{op_name}: the arrays have different numbers of samples. Got {', '.join(map(str, counts))} in their first axes, "
                f"expected one number. Each row of x belongs to a row of y."
            )
        if not counts[0]:
            raise InvalidArgumentError(f"{op_name}: there are no samples. Got arrays of 0 rows, expected at least one. Look at where x is made.")

    def __len__(self) -> int:
        return len(self.fields[0])

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(field[index] for field in self.fields)


def _numbered(values: Any) -> Sequence[tuple[Any, str]]:
    if values is None:
        return []
    if isinstance(values, (list, tuple)) and values and is_array(values[0]):
        return [(value, f"[{i}]") for i, value in enumerate(values)]
    return [(values, "")]


def _rows(value: Any, floats: str | None, what: str) -> Any:
    if is_table(value):
        return array_of_table(value, what)
    array = np.asarray(value.detach().numpy() if isinstance(value, Tensor) else value)
    if array.ndim == 0 or array.dtype.kind not in "biufc":
        raise InvalidTypeError(
            f"{what} is not an array of samples. Got {type(value).__name__} with dtype {array.dtype} and shape {list(array.shape)}, "
            f"expected numbers with samples in the first axis. Convert it with numpy.asarray(x, 'float32')."
        )
    if floats is not None and array.dtype == np.float64 and not isinstance(value, Tensor):
        return array.astype(floats)
    return array
