"""Memory of tensors for MPI: contiguous, on the host, in a datatype that it adds up right.

MPI sums bytes without asking what they mean: bfloat16 as integers, a strided view as the memory that it strides over. So what it gets is
either the tensor's own memory, where that is contiguous and of a type that MPI knows, or a copy, which is written back afterwards.
"""
from __future__ import annotations

from typing import Any

from wherry_autograd import no_grad
from wherry_tensor import Tensor, _core, ops
from wherry_tensor.errors import InvalidTypeError

# MPI's datatype of each dtype whose values it may reduce.
REDUCED = {
    "float32": "FLOAT", "float64": "DOUBLE", "int8": "INT8_T", "uint8": "UINT8_T", "int16": "INT16_T", "int32": "INT32_T", "int64": "INT64_T",
    "complex64": "C_FLOAT_COMPLEX", "complex128": "C_DOUBLE_COMPLEX",
}
THROUGH = {"float16": "float32", "bfloat16": "float32", "bool": "uint8"}  # reduced as these: rounded once, at the end


def require_tensor(x: Any, op_name: str, name: str) -> Tensor:
    """`x`, if it is a Tensor with data."""
    if not isinstance(x, Tensor):
        raise InvalidTypeError(f"{op_name}: {name} is not a Tensor. Got {type(x).__name__}, expected a Tensor. Convert it with to_tensor.")
    return x


def said(x: Tensor) -> str:
    """Dtype and shape, for messages."""
    return f"{x.dtype.name}{x.shape}"


def own_copy(x: Tensor) -> Tensor:
    """The values of `x`, contiguous where it lies, in memory of their own."""
    with no_grad():
        return ops.copy(x.detach())


def host_copy(x: Tensor) -> Tensor:
    """The values of `x`, contiguous on the host, in memory of their own."""
    return own_copy(x if x.memory().device == "cpu" else x.detach().cpu())


def ready(x: Tensor) -> Tensor:
    """`x` itself where MPI can read it, else a copy."""
    return x if x.is_contiguous() and x.memory().device == "cpu" else host_copy(x)


def room(shape: list[int], dtype: Any, like: Tensor | None = None) -> Tensor:
    """Memory on the host, or where `like` lies."""
    return _core.uninitialized(shape, dtype, 0 if like is None else _core.device_of(like))


def write(target: Tensor, source: Tensor) -> None:
    """Write results where they belong."""
    with no_grad():
        there = target.memory().device
        ops.copy.into((target.detach(),), source if source.memory().device == there else source.to(there))


class Landing:
    """Memory of the host in which results for `target` arrive: its own, or a copy that `done` writes back."""

    def __init__(self, target: Tensor) -> None:
        self.target = target
        self.memory = target if ready(target) is target else room(target.shape, target.dtype)

    def done(self) -> None:
        """Results have arrived."""
        if self.memory is self.target:
            self.target.mark_written()
        else:
            write(self.target, self.memory)


def bytes_of(mpi: Any, x: Tensor) -> list[Any]:
    """A buffer of MPI: the bytes as they are."""
    memory = x.memory()
    return [mpi.memory.fromaddress(memory.address, memory.nbytes), memory.nbytes, mpi.BYTE]


def blocks_of(mpi: Any, x: Tensor, count: int) -> list[Any]:
    """A buffer of MPI: the bytes of `count` equal parts, of which mpi4py wants to know the size of one."""
    memory = x.memory()
    return [mpi.memory.fromaddress(memory.address, memory.nbytes), memory.nbytes // count, mpi.BYTE]


def values_of(mpi: Any, x: Tensor, count: int = 1) -> list[Any]:
    """A buffer of MPI: numbers that it may reduce; with `count`, in so many equal parts."""
    memory = x.memory()
    return [mpi.memory.fromaddress(memory.address, memory.nbytes), memory.count // count, getattr(mpi, REDUCED[memory.dtype.name])]
