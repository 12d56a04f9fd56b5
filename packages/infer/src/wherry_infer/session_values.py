"""Arrays and tensors of a session, and the names of their types."""
from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wherry_tensor._core import Tensor, from_buffer
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

if TYPE_CHECKING:
    import numpy as np

__all__ = ["NP_NAMES", "UNSIGNED", "OrtValue", "array_at", "array_of", "element_name", "held", "type_name"]

# Types as ONNX numbers them, with the dtype of the arrays that a session takes for them.
NP_NAMES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64", 12: "uint32",
    13: "uint64", 14: "complex64", 15: "complex128",
}
_CODES = {name: code for code, name in NP_NAMES.items()}
_TYPES = {"float32": "float", "float64": "double"}
UNSIGNED = {4: "int32", 12: "int64", 13: "int64"}  # what holds those that tensors do not have


def type_name(dtype: str) -> str:
    """A dtype as ONNX Runtime writes it: "tensor(float)"."""
    return f"tensor({_TYPES.get(dtype, dtype)})"


def element_name(dtype: str) -> int:
    """The number of a dtype."""
    return _CODES.get(dtype, 0)


def held(data: Any, code: int) -> Any:
    """An array, or a list of them, as tensors."""
    if isinstance(data, (list, tuple)):
        import numpy as np

        return [held(np.asarray(x), code) for x in data]
    if isinstance(data, Tensor):
        return data
    return from_buffer(data.astype(UNSIGNED[code]) if code in UNSIGNED else data)


def array_of(y: Any, code: int) -> Any:
    """A result as an array of its type; of a sequence a list."""
    if isinstance(y, Tensor):
        if code in UNSIGNED:
            return y.numpy().astype(NP_NAMES[code])
        return y.astype("float32").numpy() if y.dtype.name == "bfloat16" else y.numpy()
    if isinstance(y, list):
        return [array_of(z, code) for z in y]
    return y


class OrtValue:
    """A value of a session: an array in memory of the processor.

    Args:
        value: the array.

    Source:
        `onnxruntime.OrtValue`.
    """

    def __init__(self, value: Any) -> None:
        if not (value is None or isinstance(value, (Tensor, list, tuple)) or hasattr(value, "__array_interface__") and not isinstance(value, type)):
            raise InvalidTypeError(f"OrtValue: it holds arrays. Got {short(value)} ({type(value).__name__}), expected a NumPy array. Make one of it.")
        self._value: Any = value

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: np.ndarray, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value that holds an array."""
        return OrtValue(numpy_obj)

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value of this shape and dtype, for results."""
        import numpy as np

        return OrtValue(np.zeros(tuple(shape), np.dtype(element_type)))

    def numpy(self) -> np.ndarray:
        """The array."""
        return self._value.numpy() if isinstance(self._value, Tensor) else self._value

    def _array(self) -> Any:
        if not hasattr(self._value, "shape"):
            raise InvalidTypeError(f"OrtValue: it holds no array. Got {short(self._value)}, expected one array, which has a shape and a type.")
        return self._value

    def shape(self) -> list[int]:
        """Its sizes."""
        return list(self._array().shape)

    def data_type(self) -> str:
        """Its type, "tensor(float)"."""
        return type_name(self._array().dtype.name)

    def element_type(self) -> int:
        """Its type as ONNX numbers it."""
        return element_name(self._array().dtype.name)

    def device_name(self) -> str:
        """Where it lies."""
        return "cpu"

    def data_ptr(self) -> int:
        """The address of its first element."""
        array = self.numpy()
        if isinstance(array, (list, tuple)):
            raise InvalidTypeError("OrtValue.data_ptr: a sequence has no address. Got a list, expected one tensor. Ask each of them.")
        return int(array.ctypes.data)

    def has_value(self) -> bool:
        """Whether it holds a value."""
        return self._value is not None

    def is_tensor(self) -> bool:
        """Whether it holds a tensor."""
        return not isinstance(self._value, list)

    def is_tensor_sequence(self) -> bool:
        """Whether it holds a sequence."""
        return isinstance(self._value, list)

    def is_sparse_tensor(self) -> bool:
        """Whether it holds a sparse tensor; it never does."""
        return False

    def update_inplace(self, np_arr: np.ndarray) -> None:
        """Write an array of the same shape and dtype into it.

        Raises:
            TypeError: it is not an array, or the value holds none (also a ValueError).
            ValueError: the shape or dtype is another.
        """
        import numpy as np

        mine = self.numpy()
        if not isinstance(np_arr, np.ndarray) or not isinstance(mine, np.ndarray):
            raise InvalidTypeError(
                f"OrtValue.update_inplace: only arrays are written. Got {type(np_arr).__name__} for {type(mine).__name__}, expected arrays."
            )
        if mine.shape != np_arr.shape or mine.dtype != np_arr.dtype:
            raise InvalidArgumentError(
                f"OrtValue.update_inplace: the array does not fit. Got {np_arr.dtype} of shape {list(np_arr.shape)}, expected {mine.dtype} of shape "
                f"{list(mine.shape)}. Make the value with the shape of what it receives."
            )
        mine[...] = np_arr


def array_at(address: int, element_type: Any, shape: Sequence[int], device_type: str) -> np.ndarray:
    """An array of memory of the processor that is named by its address.

    Raises:
        ValueError: it lies elsewhere.
    """
    import numpy as np

    if device_type != "cpu":
        raise InvalidArgumentError(f"io_binding: memory lies on {device_type!r}. Expected 'cpu', where sessions run. Copy it there.")
    dtype = np.dtype(element_type)
    memory = (ctypes.c_char * (math.prod(shape) * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, dtype).reshape(tuple(shape))
