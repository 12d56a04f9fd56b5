"""Prices of houses around Boston: Harrison & Rubinfeld (1978)."""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_tensor import get_default_dtype
from wherry_tensor.errors import InvalidArgumentError
from wherry_train.data_files import file_of, mode_of, readable
from wherry_train.io.dataset import Dataset

__all__ = ["UCIHousing"]

_COLUMNS = 14  # thirteen features and the price
_LARGEST = 1 << 26  # bytes of the file
_TRAINING = 0.8  # of the rows


class UCIHousing(Dataset):
    r"""Thirteen features of a town, and the price of houses there: 404 rows to train, 102 to test.

    Features are scaled by their range over all rows, around their mean; one that is always the same becomes 0.

    Args:
        data_file: the path of housing.data; None downloads it.
        mode: "train" or "test".
        download: whether the file may be downloaded.

    Returns:
        Of an index: the features `[13]` and the price `[1]`, in the default dtype.

    Raises:
        AssertionError: the file is not given and must not be downloaded, or `mode` is unknown (also a ValueError).
        ValueError: the file is damaged or another one.
        RuntimeError: the file cannot be downloaded.

    Source:
        `paddle.text.UCIHousing`.

    Examples:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:  # a file of ten rows
        ...     path = pathlib.Path(folder, "housing.data")
        ...     _ = path.write_text("".join(f"{' '.join(str(row + column) for column in range(14))}\n" for row in range(10)))
        ...     data = wherry.text.UCIHousing(path, mode="train")
        >>> features, price = data[0]
        >>> len(data), features.shape, price
        (8, (13,), array([13.], dtype=float32))
    """

    def __init__(self, data_file: Any = None, mode: str = "train", download: bool = True) -> None:
        self.mode = mode_of("UCIHousing", mode, ("train", "test"))
        self.data_file = file_of(
            "UCIHousing", "data_file", data_file, "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data",
            "d4accdce7a25600298819f8e28e8d593", "uci_housing", download,
        )  # fmt: skip
        rows = _table(self.data_file)
        features = rows[:, :-1]
        span = features.max(axis=0) - features.min(axis=0)
        rows[:, :-1] = (features - features.mean(axis=0)) / np.where(span == 0, 1, span)
        cut = int(len(rows) * _TRAINING)
        self.data = rows[:cut] if self.mode == "train" else rows[cut:]
        self.dtype = get_default_dtype()

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        row = self.data[idx].astype(self.dtype)
        return row[:-1], row[-1:]

    def __len__(self) -> int:
        return len(self.data)


def _table(path: str) -> Any:
    """The numbers of the file `[rows, 14]`."""
    with readable("UCIHousing", path):
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise InvalidArgumentError(f"it is larger than {_LARGEST} bytes")
        try:
            numbers = np.array(data.split(), np.float64)
        except ValueError as error:
            raise InvalidArgumentError(f"it holds more than numbers ({error})") from error
        if not len(numbers) or len(numbers) % _COLUMNS:
            raise InvalidArgumentError(f"it has {len(numbers)} numbers, expected {_COLUMNS} in each row")
        return numbers.reshape(-1, _COLUMNS)
