"""What the C interface (`include/wherry_infer.h`, `csrc/wherry_infer.c`) needs from Python."""
from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from wherry_tensor.errors import InvalidArgumentError, PreconditionNotMetError
from wherry_tensor.explained import explained

if TYPE_CHECKING:
    import numpy as np

    from wherry_infer.predictor import Tensor

__all__ = ["bytes_of", "contents", "fill", "get_include", "get_source"]

_HERE = os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """The folder with `wherry_infer.h`.

    Source:
        `wherry.inference.get_include`, Wherry's own.

    Examples:
        >>> import os
        >>> os.listdir(wherry.inference.get_include())
        ['wherry_infer.h']
    """
    return os.path.join(_HERE, "include")


def get_source() -> str:
    """The C file to compile together with a program that includes `wherry_infer.h`."""
    return os.path.join(_HERE, "csrc", "wherry_infer.c")


def bytes_of(handle: Tensor, dtype: str) -> int:
    """The number of bytes of an input with its current shape.

    Raises:
        RuntimeError: a size is unknown.
        ValueError: it has another dtype.
    """
    import numpy as np

    shape = handle._given if handle._given is not None else handle._shape
    if -1 in shape:
        raise PreconditionNotMetError(
            f"PD_TensorCopyFromCpu: the shape of '{handle.name()}' is not known. Got {shape}, expected sizes only. Call PD_TensorReshape first."
        )
    _check_dtype("PD_TensorCopyFromCpu", handle, dtype)
    return math.prod(shape) * np.dtype(dtype).itemsize


def fill(handle: Tensor, dtype: str, data: Any) -> None:
    """Copy bytes into an input."""
    import numpy as np

    shape = handle._given if handle._given is not None else handle._shape
    handle.copy_from_cpu(np.frombuffer(data, dtype).reshape(shape))


def contents(handle: Tensor, dtype: str) -> np.ndarray:
    """The values of an output, contiguous."""
    import numpy as np

    _check_dtype("PD_TensorCopyToCpu", handle, dtype)
    return np.ascontiguousarray(handle.copy_to_cpu())


def _check_dtype(what: str, handle: Tensor, dtype: str) -> None:
    if handle._dtype != dtype:
        raise InvalidArgumentError(
            f"{what}: '{handle.name()}' has another dtype. Got the function for {dtype}, expected that for {handle._dtype}."
        )


explained(globals())
