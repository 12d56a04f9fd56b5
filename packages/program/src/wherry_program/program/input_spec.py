"""`InputSpec`: the shape, dtype and name of an input, for `jit` and `static`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_tensor import DType, Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["InputSpec"]


class InputSpec:
    """The description of an input: shape, dtype and name. It holds no data.

    Args:
        shape: sizes; None or -1 where a size is not known, as that of the batch.
        dtype: of the input.
        name: of the input.
        stop_gradient: whether gradients stop at it.

    Raises:
        TypeError: `shape` is not a list or tuple (also a ValueError), or `dtype` names no dtype.
        ValueError: a size is neither an int nor None, or below -1.

    Source:
        `paddle.static.InputSpec`.

    Examples:
        >>> wherry.static.InputSpec([None, 3], "float32", "x")
        InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)
    """

    def __init__(self, shape: Sequence[int | None], dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False) -> None:
        self.shape = _sizes(shape)
        self.dtype: DType = as_dtype(dtype, "InputSpec")
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """The spec of a tensor; its name is the tensor's unless one is given."""
        if not isinstance(tensor, Tensor):
            raise InvalidTypeError(
                f"InputSpec.from_tensor: this is not a Tensor. Got {type(tensor).__name__}, expected a Tensor. Convert it with "
                f"to_tensor, or use from_numpy."
            )
        return cls(tensor.shape, tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> InputSpec:
        """The spec of a NumPy array."""
        if not (hasattr(ndarray, "shape") and hasattr(ndarray, "dtype")):
            raise InvalidTypeError(
                f"InputSpec.from_numpy: this is not an array. Got {short(ndarray)} ({type(ndarray).__name__}), expected a NumPy array. "
                f"Convert it with np.asarray."
            )
        return cls(ndarray.shape, str(ndarray.dtype), name)

    def batch(self, batch_size: int) -> InputSpec:
        """Insert a first axis of this size; changes the spec, and returns it."""
        if type(batch_size) is not int or batch_size < -1:
            raise InvalidArgumentError(
                f"InputSpec.batch: a batch has a size. Got {short(batch_size)}, expected an int, -1 if it is not known. Pass the size."
            )
        self.shape = (batch_size, *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Remove the first axis; changes the spec, and returns it."""
        if not self.shape:
            raise InvalidArgumentError(
                "InputSpec.unbatch: there is no first axis. Got shape (), expected one axis or more. Leave unbatch out."
            )
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        return f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.name, self.stop_gradient))


def _sizes(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)):
        raise InvalidTypeError(
            f"InputSpec: shape is a list of sizes. Got {short(shape)} ({type(shape).__name__}), expected a list or tuple. Write [None, 3]."
        )
    for size in shape:
        if not (size is None or (type(size) is int and size >= -1)):
            raise InvalidArgumentError(
                f"InputSpec: this is not a size. Got {short(size)} in shape {short(list(shape))}, expected ints >= 0, or None or -1 where a "
                f"size is not known. Write [None, 3]."
            )
    return tuple(-1 if size is None else size for size in shape)
