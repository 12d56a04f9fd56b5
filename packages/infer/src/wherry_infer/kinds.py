"""Kinds of data, places and precisions, and versions."""
from __future__ import annotations

import enum

__all__ = [
    "DataType", "PlaceType", "PrecisionType", "get_num_bytes_of_data_type", "get_trt_compile_version", "get_trt_runtime_version",
    "get_version",
]


class DataType(enum.IntEnum):
    """Types of the elements of a handle. Source: `paddle.inference.DataType`."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7


class PlaceType(enum.IntEnum):
    """Where data lie. Source: `paddle.inference.PlaceType`."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class PrecisionType(enum.IntEnum):
    """What a program computes in. Source: `paddle.inference.PrecisionType`."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


_BYTES = {
    DataType.FLOAT32: 4, DataType.INT64: 8, DataType.INT32: 4, DataType.UINT8: 1, DataType.INT8: 1, DataType.FLOAT16: 2,
    DataType.BOOL: 1, DataType.FLOAT64: 8,
}


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """How many bytes an element of this type has.

    Raises:
        TypeError: it is no DataType.

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
    """The version of this package, as text. Source: `paddle.inference.get_version`."""
    from wherry_infer import __version__

    return f"version: {__version__}\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """The version of TensorRT that this was built for: (0, 0, 0), none: it is looked for at run time.

    Source:
        `paddle.inference.get_trt_compile_version`.
    """
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple[int, int, int]:
    """The version of TensorRT that is installed; (0, 0, 0): none. Source: `paddle.inference.get_trt_runtime_version`."""
    from wherry_infer.tensorrt import version

    return version()
