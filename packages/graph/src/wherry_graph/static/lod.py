"""LoDTensor: sequences of different lengths in one tensor.

The rows of all sequences are concatenated in one tensor; offsets say where each begins, `[0, 2, 5]` for one of two rows
and one of three. Offsets may be nested: those of an outer level count sequences of the next one.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wherry_paddle_files.sequences import fault_of_offsets
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, require_tensor
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, PreconditionNotMetError, short
from wherry_tensor.explained import explained

__all__ = ["LoDTensor", "create_lod_tensor"]


class LoDTensor:
    """A tensor with the offsets of the sequences in it, if any: the value of a variable in a scope, and what `return_numpy=False` returns.

    Args:
        tensor: the Tensor; None as long as there is no value.
        lod: the offsets of sequences, for each level.

    Attributes:
        tensor: the Tensor; None as long as there is no value.

    Shape:
        tensor: `[rows, ...]`.

    Raises:
        TypeError: `tensor` is not a Tensor (also a ValueError).
        ValueError: the offsets do not fit the rows.

    Source:
        `paddle.base.core.LoDTensor`, which Paddle does not export.

    Examples:
        >>> x = wherry.static.create_lod_tensor([[1.0], [2.0], [3.0]], [[2, 1]])
        >>> x.lod(), x.recursive_sequence_lengths(), x.shape()
        ([[0, 2, 3]], [[2, 1]], [3, 1])
    """

    def __init__(self, tensor: Tensor | None = None, lod: Sequence[Sequence[int]] = ()) -> None:
        if tensor is not None:
            require_tensor(tensor, "LoDTensor", "tensor")
        self.tensor = tensor
        self._lod: list[list[int]] = []
        if lod:
            self.set_lod(lod)

    def set(self, array: Any, place: Any = None) -> None:
        """Write values: in place where shape and dtype stay, so that programs and layers that hold the tensor see them.

        Args:
            array: an array, Tensor or nested list.
            place: no effect; values go where the tensor is, or to the current device.
        """
        from wherry_graph.static.mode import paused
        from wherry_tensor import _core, ops, to_tensor

        with paused():
            new = array if isinstance(array, Tensor) else to_tensor(array)
            old = self.tensor
            if old is None or old.shape != new.shape or old.dtype is not new.dtype:
                self.tensor = ops.copy(new.detach()) if isinstance(array, Tensor) else new
                if old is not None:
                    self.tensor.name, self.tensor.persistable = old.name, old.persistable
                return
            before = _core.set_grad_mode(False)
            try:
                ops.copy.into((old,), new)
            finally:
                _core.set_grad_mode(before)

    def _value(self) -> Tensor:
        if self.tensor is None:
            raise PreconditionNotMetError(
                "LoDTensor: there is no value yet. Got a variable that nothing has filled, expected a value. Run the startup program, or set()."
            )
        return self.tensor

    def shape(self) -> list[int]:
        """Its shape."""
        return list(self._value().shape) if self.tensor is not None else []

    def numpy(self) -> Any:
        """A NumPy array with the values."""
        return self._value().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self._value().numpy()
        return array if dtype is None else array.astype(dtype)

    def _is_initialized(self) -> bool:
        return self.tensor is not None

    def lod(self) -> list[list[int]]:
        """The offsets of each level."""
        return [list(level) for level in self._lod]

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Set the offsets of each level.

        Raises:
            ValueError: a level does not begin with 0 or does not grow, or the levels do not fit each other or the rows.
        """
        levels = [[int(n) for n in level] for level in lod]
        if not _fits(levels, self.tensor):
            rows = None if self.tensor is None else self.tensor.shape[0] if self.tensor.ndim else 0
            raise InvalidArgumentError(
                f"LoDTensor: the given LoD is invalid. Got {levels} for {rows} rows, expected levels of offsets that begin with 0 and grow, the "
                f"last one up to the number of rows, each other one up to the number of sequences below it."
            )
        self._lod = levels

    def recursive_sequence_lengths(self) -> list[list[int]]:
        """The lengths of the sequences of each level."""
        return [[b - a for a, b in zip(level, level[1:])] for level in self._lod]

    def set_recursive_sequence_lengths(self, lengths: Sequence[Sequence[int]]) -> None:
        """Set the lengths of the sequences of each level.

        Raises:
            ValueError: they do not fit each other or the rows.
        """
        if not isinstance(lengths, (list, tuple)) or not all(isinstance(level, (list, tuple)) for level in lengths):
            raise InvalidTypeError(
                f"LoDTensor: the lengths of sequences come by level. Got {short(lengths)}, expected a list of lists of ints. Write [[2, 3]]."
            )
        self.set_lod([_offsets(level) for level in lengths])

    def has_valid_recursive_sequence_lengths(self) -> bool:
        """Whether the offsets fit each other and the rows."""
        return _fits(self._lod, self.tensor)

    def __repr__(self) -> str:
        return f"  - lod: {self._lod}\n{self.tensor}" if self._lod else f"{self.tensor}"


def _offsets(lengths: Sequence[int]) -> list[int]:
    out = [0]
    for n in lengths:
        out.append(out[-1] + integer(n, "LoDTensor", "lengths"))
    return out


def _fits(levels: list[list[int]], tensor: Tensor | None) -> bool:
    rows = None if tensor is None else tensor.shape[0] if tensor.ndim else -1
    return fault_of_offsets(levels, rows) is None


def create_lod_tensor(data: Any, recursive_seq_lens: Sequence[Sequence[int]], place: Any = None) -> LoDTensor:
    """A LoDTensor of rows and the lengths of the sequences in it.

    Args:
        data: an array, Tensor, LoDTensor, or a list of sequences (each a list of rows).
        recursive_seq_lens: of each level.
        place: no effect; the current device is taken.

    Shape:
        `[rows, ...]`; the lengths of the last level add up to the rows.

    Raises:
        ValueError: the lengths do not fit.

    Source:
        `paddle.base.create_lod_tensor`.

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[1.0], [2.0], [3.0]], "float32"), [[2, 1]])
        >>> rows.lod(), rows.numpy().tolist()
        ([[0, 2, 3]], [[1.0], [2.0], [3.0]])
    """
    out = LoDTensor()
    out.set(data._value() if isinstance(data, LoDTensor) else data)
    out.set_recursive_sequence_lengths(recursive_seq_lens)
    return out


explained(globals())
