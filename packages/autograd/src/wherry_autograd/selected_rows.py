"""`SelectedRows`: sparse gradients of tables, which hold only the rows that were used.

`embedding(sparse=True)` leaves such a gradient in the `.grad` of its weight. Optimizers that change only rows with a
gradient take it as it is, others and all operations of other kinds get the dense tensor.
"""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from wherry_autograd import _engine
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64, is_grad_enabled
from wherry_tensor.printing import tensor_to_string

__all__ = ["SelectedRows", "TableGradient", "embedding_by_rows", "table_gradient"]

_LARGE_TABLE = 16 << 20  # bytes: below, a dense gradient costs less than keeping rows does
_MOST_ROWS = 1 << 16     # that are sorted in Python


class SelectedRows(Tensor):
    """Rows of a larger gradient, whose other rows are zero.

    As a Tensor it is the values, `[n, width]`: that is its shape and what `numpy()` gives, as of a sparse gradient of
    Paddle. A row may occur several times until `merge()`.

    Args:
        rows: int64 `[n]`, which rows of the whole they are.
        values: `[n, width]`; their memory is shared.
        height: how many rows the whole has.

    Raises:
        ValueError: the rows are not int64 `[n]`, or not as many as values.

    Source:
        `paddle.base.core.SelectedRows`; the methods are those of a sparse gradient in Paddle 2.6.

    Examples:
        >>> table = wherry.nn.Embedding(5, 2, sparse=True)
        >>> table(wherry.to_tensor([1, 3, 1])).sum().backward()
        >>> grad = table.weight.grad
        >>> grad.is_selected_rows(), grad.rows(), grad.height()
        (True, [1, 3, 1], 5)
        >>> print(grad.merge().rows(), grad.merge().numpy())
        [1, 3] [[2. 2.]
         [1. 1.]]
        >>> grad.to_dense().shape
        [5, 2]
    """

    _rows: Tensor
    _height: int
    _merged: bool

    def __init__(self, rows: Tensor, values: Tensor, height: int, merged: bool = False) -> None:
        if rows.dtype is not int64 or rows.ndim != 1 or values.ndim < 1 or rows.shape[0] != values.shape[0]:
            raise ValueError(
                f"SelectedRows: rows and values do not belong together. Got rows of shape {rows.shape} and dtype "
                f"{rows.dtype.name} and values of shape {values.shape}, expected int64 [n] and [n, ...]. Flatten the indices."
            )
        self._share_data_with(values)
        self._rows, self._height, self._merged = rows, height, merged
        _core.mark_rows(self)

    def is_selected_rows(self) -> bool:
        """True."""
        return True

    def is_dense(self) -> bool:
        """False."""
        return False

    def rows(self) -> list[int]:
        """Which rows of the whole they are; one may occur several times."""
        return self._rows.tolist()

    def height(self) -> int:
        """How many rows the whole has."""
        return self._height

    def get_selected_rows(self) -> SelectedRows:
        """The gradient itself: Paddle's way to its `rows()`, `height()` and `get_tensor()`."""
        return self

    def get_tensor(self) -> Tensor:
        """The values, on the same memory."""
        return _core.alias(self)

    def merge(self) -> SelectedRows:
        """The same gradient with every row once, in rising order, equal rows summed; itself where that is so already."""
        if self._merged:
            return self
        before = _core.set_grad_mode(False)
        try:
            rows, _, places, _ = ops.unique(self._rows, axis=None)
            if rows.size == self._rows.size and bool(ops.reduce_all(ops.equal(rows, self._rows), axes=(0,), keepdim=False)):
                merged = SelectedRows(self._rows, _core.alias(self), self._height, True)
            else:
                total = ops.full(shape=(rows.size, *self.shape[1:]), value=0, dtype=self.dtype)
                ops.index_put.into((total,), total, _core.alias(self), places, axes=(0,), accumulate=True)
                merged = SelectedRows(rows, total, self._height, True)
        finally:
            _core.set_grad_mode(before)
        return merged

    def to_dense(self) -> Tensor:
        """The whole gradient, `[height, width]`."""
        before = _core.set_grad_mode(False)
        try:
            whole = ops.full(shape=(self._height, *self.shape[1:]), value=0, dtype=self.dtype)
            ops.index_put.into((whole,), whole, _core.alias(self), self._rows, axes=(0,), accumulate=True)
        finally:
            _core.set_grad_mode(before)
        return whole

    def with_values(self, values: Tensor) -> SelectedRows:
        """The same rows with other values of the same shape: what clipping makes."""
        return SelectedRows(self._rows, values, self._height, self._merged)

    def copied(self) -> SelectedRows:
        """The same gradient on memory of its own."""
        return self.with_values(ops.copy(_core.alias(self)))

    def clone(self) -> SelectedRows:
        """The same gradient on memory of its own."""
        return self.copied()

    def __deepcopy__(self, memo: dict[int, Any]) -> SelectedRows:
        return self.copied()

    def __reduce__(self) -> Any:
        return SelectedRows, (self._rows, ops.copy(_core.alias(self)), self._height, self._merged)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    def __repr__(self) -> str:
        return f"SelectedRows(height={self._height}, rows={self.rows()},\n{tensor_to_string(_core.alias(self))})"

    __str__ = __repr__


def _sum(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two gradients of which at least one is of rows: of rows if both are."""
    if not isinstance(a, SelectedRows):
        a, b = b, a
    assert isinstance(a, SelectedRows)
    if isinstance(b, SelectedRows):
        rows = ops.concat(a._rows, b._rows, axis=0)
        values = ops.concat(_core.alias(a), _core.alias(b), axis=0)
        return SelectedRows(rows, values, a._height).merge()
    total = ops.copy(b)
    ops.index_put.into((total,), total, _core.alias(a), a._rows, axes=(0,), accumulate=True)
    return total


_engine.set_add_rows(_sum)


class TableGradient(SelectedRows):
    """The dense gradient of a large table of which few rows were used, not written out yet.

    `.grad` writes it out when it is read. Optimizers that change each number by itself take it part by part.
    """

    _table: Tensor
    _padding: int

    def __init__(self, ct: Tensor, index: Tensor, table: Tensor, padding: int) -> None:
        height, width = table.shape
        rows = ops.cast(ops.reshape(index, shape=(index.size,)), dtype=int64)
        super().__init__(ops.copy(rows), ops.copy(ops.reshape(ct, shape=(index.size, width))), height)
        self._table, self._padding = table, padding
        _core.mark_rows(self, True)

    def to_dense(self) -> Tensor:
        """The whole gradient, `[height, width]`."""
        return ops.embedding_vjp.run((_core.alias(self), self._rows, self._table), (self._padding,))

    def copied(self) -> SelectedRows:
        """The same gradient on memory of its own."""
        return TableGradient(_core.alias(self), self._rows, self._table, self._padding)

    def parts(self, most: int) -> Iterator[tuple[int, int, Tensor]]:
        """The whole gradient in parts of at most so many rows: first row, row behind the last, `[rows, width]`."""
        rows = self._rows.tolist()
        order = sorted((i for i in range(len(rows)) if rows[i] != self._padding), key=rows.__getitem__)  # stable: sums keep their order
        at = [rows[i] for i in order]
        values = _core.alias(self)
        for first in range(0, self._height, most):
            end = min(first + most, self._height)
            mine = order[bisect_left(at, first) : bisect_left(at, end)]
            part = ops.full(shape=(end - first, *self.shape[1:]), value=0, dtype=self.dtype)
            if mine:
                chosen = ops.gather(values, _core.from_values(mine, (len(mine),), int64), axis=0)
                part = ops.embedding_vjp(chosen, _core.from_values([rows[i] - first for i in mine], (len(mine),), int64), part, padding_index=-1)
            yield first, end, part


def table_gradient(ct: Tensor, index: Tensor, table: Tensor, padding: int) -> Tensor:
    """The gradient of `ops.embedding` for its table: a TableGradient where that saves a large tensor, else dense."""
    height, width = table.shape
    if (
        _core.is_symbolic(ct) or is_grad_enabled() or height * width * ct.dtype.itemsize < _LARGE_TABLE
        or not 0 < 4 * index.size <= height or index.size > _MOST_ROWS or not ct.place.is_cpu_place() or _engine.writes_into_buffer()
    ):
        return ops.embedding_vjp(ct, index, table, padding_index=padding)
    return TableGradient(ct, index, table, padding)


class _ByRows:
    """The gradient rule of an embedding whose weight gets rows."""

    name = "embedding"

    def __init__(self, index: Tensor, weight: Tensor, padding_index: int) -> None:
        self.index, self.weight, self.padding_index = index, weight, padding_index
        self.version = index.inplace_version

    def __call__(self, node: Any, cotangents: list[Tensor | None]) -> tuple[Tensor | None, ...]:
        (ct,) = cotangents
        if ct is None:
            return (None,)
        if self.index.inplace_version != self.version:
            raise RuntimeError(
                f"backward of 'embedding': its index was modified in place after it was saved for the gradient. Got version "
                f"{self.index.inplace_version} of its memory, expected version {self.version}. Look up a copy: x.clone()."
            )
        if is_grad_enabled():  # the gradient will be differentiated: as a dense tensor
            return (ops.embedding_vjp(ct, self.index, self.weight, padding_index=self.padding_index),)
        rows = ops.reshape(self.index, shape=(self.index.size,))
        if rows.dtype is not int64:
            rows = ops.cast(rows, dtype=int64)
        if self.padding_index >= 0:
            padding = ops.equal(self.index, _core.scalar(self.padding_index, self.index.dtype))
            ct = ops.where(ops.unsqueeze(padding, axes=(padding.ndim,)), _core.scalar(0, ct.dtype), ct)
        height, width = self.weight.shape
        values = ops.reshape(ct, shape=(rows.size, width))
        if values.dtype is not self.weight.dtype:
            values = ops.cast(values, dtype=self.weight.dtype)
        return (SelectedRows(rows, values, height),)


def embedding_by_rows(index: Tensor, weight: Tensor, padding_index: int) -> Tensor:
    """`ops.embedding` whose gradient with respect to `weight`, a leaf, is a SelectedRows.

    Args:
        index: int32 or int64, `[...]`.
        weight: `[height, width]`.
        padding_index: the row that gets no gradient and gives zeros; -1 for none.

    Returns:
        `[..., width]`. What a capture records has a dense gradient.
    """
    out = ops.embedding(index, weight, padding_index=padding_index)
    if _core.is_symbolic(out):  # a capture is on: how many rows there will be is not known, and its gradient is dense
        return out
    _core.detach_in_place(out)
    _engine.record_custom(_ByRows(index, weight, padding_index), [weight], [out])
    return out
