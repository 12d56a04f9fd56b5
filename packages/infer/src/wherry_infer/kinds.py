"""`DataType`, `PlaceType`, `PrecisionType`, and the version."""
from __future__ import annotations

import enum

from wherry_infer._version import __version__
from wherry_tensor.explained import explained

__all__ = ["DataType", "PlaceType", "PrecisionType", "get_num_bytes_of_data_type", "get_version"]


class DataType(enum.IntEnum):
    """The dtype of an input or output. Source: `paddle.inference.DataType`."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7


class PlaceType(enum.IntEnum):
    """The device of an input or output. Source: `paddle.inference.PlaceType`."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class PrecisionType(enum.IntEnum):
    """The precision in which a program computes. Source: `paddle.inference.PrecisionType`."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


_BYTES = {
    DataType.FLOAT32: 4, DataType.INT64: 8, DataType.INT32: 4, DataType.UINT8: 1, DataType.INT8: 1, DataType.FLOAT16: 2,
    DataType.BOOL: 1, DataType.FLOAT64: 8,
}


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """The number of bytes of an element of this type.

    Raises:
        TypeError: `dtype` is not a DataType.

    Source:
        `paddle.inference.get_num_bytes_of_data_type`.

    Examples:
        >>> from wherry.inference import DataType, get_num_bytes_of_data_type
        >>> get_num_bytes_of_data_type(DataType.FLOAT16)
        2
    """
    if not isinstance(dtype, DataType):
        raise TypeError(f"get_num_bytes_of_data_type: got {type(dtype).__name__}, expected a DataType. Pass DataType.FLOAT32 or another.")
    return _BYTES[dtype]


def get_version() -> str:
    """The version of this package, as text.

    Source:
        `paddle.inference.get_version`.

    Examples:
        >>> wherry.inference.get_version()
        'version: ...'
    """
    return f"version: {__version__}\n"


explained(globals())
