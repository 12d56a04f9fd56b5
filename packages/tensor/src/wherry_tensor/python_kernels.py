"""The Python side of kernels written in Python: arrays over the memory of tensors, and errors as a status."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

# wry_status of wherry/abi.h; the classes are tried in this order.
_STATUS = ((NotImplementedError, 4), (MemoryError, 3), (IndexError, 2), (ValueError, 1))
_INTERNAL = 5


def run(function: Callable[..., Any], op_name: str, inputs: Any, outputs: Any, attrs: dict[str, Any]) -> tuple[int, bytes]:
    """Call a kernel; its status and, unless that is 0, what to say.

    Args:
        function: called as `function(outputs, *inputs, **attrs)`.
        op_name: for texts.
        inputs: None, or (memory, shape, name of the dtype) for each; the memory is None of an empty one.
        outputs: the same.
        attrs: what the op was called with.
    """
    try:
        try:
            import numpy
        except ImportError:
            raise NotImplementedError(
                f"{op_name}: its kernel computes with NumPy. Got a Python without numpy, expected one that has it. "
                f"pip install numpy; in a page of the browser, load the package numpy."
            ) from None

        def array(part: Any) -> Any:
            if part is None:
                return None
            memory, shape, dtype = part
            return numpy.empty(shape, dtype) if memory is None else numpy.frombuffer(memory, dtype).reshape(shape)

        function(tuple(map(array, outputs)), *map(array, inputs), **attrs)
    except Exception as error:  # the caller is C: whatever it was becomes a status
        for kind, status in _STATUS:
            if isinstance(error, kind):
                return status, str(error).encode()
        return _INTERNAL, f"{op_name}: its kernel raised {type(error).__name__}: {error}".encode()
    return 0, b""
