"""What a parameter server keeps: parameters, and tables of rows that grow as ids are met.

A table is updated by an optimizer of its own, with the settings of the one in the user's program, so a step there is the step that one process
would take. Of a sparse table only the rows that a gradient names change, moments included (as with `Adam(lazy_mode=True)`).
"""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_autograd import SelectedRows
from wherry_distributed.ps.entries import Entry, ShowClickEntry
from wherry_distributed.ps.statistics import ALL, Statistics
from wherry_tensor import ops, to_tensor
from wherry_tensor._core import Tensor
from wherry_tensor.errors import InvalidArgumentError
from wherry_train.optimizer import Optimizer

__all__ = ["DenseTable", "SparseTable"]

Array = np.ndarray[Any, Any]
COUNTS = 2         # columns before gradients: shows and clicks
FIRST_ROWS = 1024  # that a sparse table has memory for in the beginning


class DenseTable:
    """One parameter.

    Args:
        name: of the parameter.
        shape, dtype: of it.
        optimizer: whose settings update it; None adds what is pushed.
        factor, regularizer: of the parameter, as ParamAttr gives them.
    """

    def __init__(
        self, name: str, shape: tuple[int, ...], dtype: str, optimizer: Optimizer | None, factor: float = 1.0, regularizer: Any = None
    ) -> None:
        self.name = name
        self.weight = _weight(name, shape, dtype)
        self.weight.optimize_attr = {"learning_rate": factor}
        self.weight.regularizer = regularizer
        self.optimizer = None if optimizer is None else optimizer._same_for([self.weight])
        self.filled = False

    def set(self, value: Array) -> None:
        """Its first value."""
        _write(self.weight, self._fitting(value))
        self.filled = True

    def pull(self) -> Array:
        """Its value, which the next update changes."""
        return np.asarray(self.weight.numpy())

    def push(self, gradient: Array, rate: float) -> None:
        """Take a step."""
        value = self._fitting(gradient)
        if self.optimizer is None:
            self.weight.add_(value)
        else:
            self.optimizer._learning_rate = rate
            self.optimizer.apply_gradients([(self.weight, value)])

    def state(self) -> dict[str, Any]:
        """What is saved."""
        return {"weight": self.pull(), "optimizer": _state(self.optimizer)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what was saved."""
        self.set(state["weight"])
        _set_state(self.optimizer, state["optimizer"])

    def _fitting(self, value: Array) -> Tensor:
        if list(value.shape) != self.weight.shape:
            raise InvalidArgumentError(
                f"parameter server: the shape of '{self.name}' is another one. Got {list(value.shape)}, expected {self.weight.shape}. Run the same "
                f"program on servers and workers."
            )
        return to_tensor(value, dtype=self.weight.dtype)


class SparseTable:
    """Rows by ids. A row is made when its id is met for the first time, or when `entry` admits it.

    Args:
        name: of the table.
        width: of a row.
        dtype: of it.
        initializer: of `wherry.nn.initializer`, for new rows.
        optimizer: whose settings update it; None adds what is pushed.
        entry: which ids get a row; with `ShowClickEntry` shows and clicks of each are counted.
        padding: the id whose row is zero and stays so.
        settings: of the counts, those of `statistics.SETTINGS` that are other than there.
    """

    def __init__(
        self, name: str, width: int, dtype: str, initializer: Any, optimizer: Optimizer | None, entry: Entry | None = None,
        padding: int | None = None, settings: dict[str, float] | None = None,
    ) -> None:
        self.statistics = Statistics(settings) if isinstance(entry, ShowClickEntry) else None
        self.name, self.width, self.dtype, self.initializer, self.entry, self.padding = name, width, dtype, initializer, entry, padding
        self.slots: dict[int, int] = {}  # where the row of an id lies
        self.weight = _weight(name, (FIRST_ROWS, width), dtype)
        self.optimizer = None
        if optimizer is not None:
            self.optimizer = optimizer._same_for([self.weight])
            self.optimizer._changes_rows_only = lambda attributes: True  # type: ignore[method-assign]

    def __len__(self) -> int:
        return len(self.slots)

    def pull(self, ids: Array) -> Array:
        """The rows of ids, `[n, width]`; zeros for those that have none."""
        slots = self._slots(ids, make=True)
        rows = self._rows(self.weight, np.maximum(slots, 0))
        rows[slots < 0] = 0
        return rows

    def push(self, ids: Array, gradient: Array, rate: float) -> None:
        """Take a step with the gradients of rows; an id may occur several times. Where they are counted, shows and clicks stand before them."""
        width = self.width + (0 if self.statistics is None else COUNTS)
        if gradient.shape != (len(ids), width):
            raise InvalidArgumentError(
                f"parameter server: the gradient of '{self.name}' does not fit. Got {list(gradient.shape)} for {len(ids)} ids, expected "
                f"[{len(ids)}, {width}]. Run the same program on servers and workers."
            )
        slots = self._slots(ids, make=False)
        slots, gradient = slots[slots >= 0], gradient[slots >= 0]
        if not len(slots):
            return
        if self.statistics is not None:
            self.statistics.count(slots, gradient[:, 0], gradient[:, 1])
            gradient = np.ascontiguousarray(gradient[:, COUNTS:])
        value = SelectedRows(to_tensor(slots), to_tensor(gradient, dtype=self.weight.dtype), self.weight.shape[0])
        if self.optimizer is None:
            ops.index_put.into((self.weight,), self.weight, value, value._rows, axes=(0,), accumulate=True)
        else:
            self.optimizer._learning_rate = rate
            self.optimizer.apply_gradients([(self.weight, value)])

    def state(self, mode: int = ALL) -> dict[str, Any]:
        """What is saved: ids, their rows, and the accumulators of these. With shows and clicks `mode` says of which rows."""
        ids = np.fromiter(self.slots, np.int64, len(self.slots))
        slots = np.fromiter(self.slots.values(), np.int64, len(self.slots))
        if self.statistics is not None:
            kept = np.isin(slots, self.statistics.chosen(len(slots), mode))
            ids, slots = ids[kept], slots[kept]
        tensors = {} if self.optimizer is None else {name: of[self.name] for name, of in self.optimizer._accumulators.items()}
        of_rows = {name: self._rows(x, slots) if x.shape == self.weight.shape else x.numpy() for name, x in tensors.items()}
        counts = {} if self.statistics is None else {"statistics": self.statistics.values[slots]}
        return {"ids": ids, "weight": self._rows(self.weight, slots), "optimizer": of_rows, **counts}

    def saved(self, ids: Array, values: Array, mode: int) -> None:
        """Rows have been saved with these counts, of which some may have gone meanwhile."""
        assert self.statistics is not None
        slots = self._slots(ids, make=False)
        self.statistics.saved(slots[slots >= 0], values[slots >= 0], mode)

    def take(self, state: dict[str, Any], mine: Array) -> None:
        """Add the rows of a saved state that are marked in `mine`, in place of those that are there."""
        ids, rows = state["ids"][mine], state["weight"][mine]
        new = ids[self._slots(ids, make=False) < 0]
        first = len(self.slots)
        self._grow(first + len(new))
        self.slots.update(zip(new.tolist(), range(first, first + len(new))))
        slots = self._slots(ids, make=False)
        self._write_rows(self.weight, slots, rows)
        if self.statistics is not None and "statistics" in state:
            self.statistics.set(slots, state["statistics"][mine])
        if self.optimizer is None:
            return
        self.optimizer._create_accumulators(self.weight, {})
        for name, of_params in self.optimizer._accumulators.items():
            tensor, value = of_params[self.name], state["optimizer"].get(name)
            if value is not None and tensor.shape == self.weight.shape:
                self._write_rows(tensor, slots, value[mine])
            elif value is not None:
                _write(tensor, to_tensor(value))

    def shrink(self, threshold: float | None = None) -> int:
        """Counts fade, and rows go whose score is below `threshold` (None: that of the settings) or that nobody has seen for long.

        Returns:
            How many went. None do where shows and clicks are not counted.
        """
        if self.statistics is None:
            return 0
        before = len(self.slots)
        kept = np.flatnonzero(self.statistics.fade(before, threshold))
        if len(kept) == before:
            return 0
        ids = np.fromiter(self.slots, np.int64, before)[kept]  # in the order in which their rows lie
        self.slots = dict(zip(ids.tolist(), range(len(ids))))
        self.statistics.keep(kept)
        for tensor, first in self._of_rows():
            rest = ops.full(shape=(tensor.shape[0] - len(kept), self.width), value=first, dtype=tensor.dtype)
            tensor._share_data_with(ops.concat(ops.gather(tensor.detach(), to_tensor(kept), axis=0), rest, axis=0))
        if self.optimizer is not None:
            self.optimizer._forget_layouts()
        return before - len(kept)

    def _of_rows(self) -> list[tuple[Any, float]]:
        """What has a row for each id, and the number that new rows begin with."""
        found = [(self.weight, 0.0)]
        if self.optimizer is not None:
            tensors = {name: of[self.name] for name, of in self.optimizer._accumulators.items()}
            found += [(x, self.optimizer._first_value(name, {})) for name, x in tensors.items() if x.shape == self.weight.shape]
        return found

    def _slots(self, ids: Array, make: bool) -> Array:
        get = self.slots.get
        found = np.fromiter((get(i, -1) for i in ids.tolist()), np.int64, len(ids))
        if make:
            missing = found < 0
            if self.padding is not None:
                missing &= ids != self.padding
            if missing.any():
                new, counts = np.unique(ids[missing], return_counts=True)
                if self.entry is not None:
                    new = new[self.entry.admits(new, counts)]
                self._make(new)
                found[missing] = np.fromiter((get(i, -1) for i in ids[missing].tolist()), np.int64, int(missing.sum()))
        return found

    def _make(self, ids: Array) -> None:
        first = len(self.slots)
        self._grow(first + len(ids))
        self.slots.update(zip(ids.tolist(), range(first, first + len(ids))))
        rows = _weight(self.name, (len(ids), self.width), self.dtype)
        if len(ids):
            self.initializer(rows)
            self._write_rows(self.weight, np.arange(first, first + len(ids)), rows.numpy())

    def _grow(self, rows: int) -> None:
        """Memory for so many rows, in accumulators as well."""
        if self.statistics is not None:
            self.statistics.grow(rows)
        old = self.weight.shape[0]
        if rows <= old:
            return
        size = max(rows, 2 * old)
        for tensor, first in self._of_rows():
            more = ops.full(shape=(size - old, self.width), value=first, dtype=tensor.dtype)
            tensor._share_data_with(ops.concat(tensor.detach(), more, axis=0))
        if self.optimizer is not None:
            self.optimizer._forget_layouts()

    def _rows(self, tensor: Tensor, slots: Array) -> Array:
        return np.array(ops.gather(tensor, to_tensor(slots), axis=0).numpy())

    def _write_rows(self, tensor: Tensor, slots: Array, rows: Array) -> None:
        ops.index_put.into((tensor,), tensor, to_tensor(rows, dtype=tensor.dtype), to_tensor(slots), axes=(0,), accumulate=False)


def _weight(name: str, shape: tuple[int, ...], dtype: str) -> Any:
    x = to_tensor(np.zeros(shape, dtype))
    x.name, x.persistable = name, True
    return x


def _write(tensor: Tensor, value: Tensor) -> None:
    ops.copy.into((tensor,), value)


def _state(optimizer: Optimizer | None) -> dict[str, Array]:
    if optimizer is None:
        return {}
    return {name: np.array(tensor.numpy()) for name, of in optimizer._accumulators.items() for tensor in of.values()}


def _set_state(optimizer: Optimizer | None, state: dict[str, Array]) -> None:
    if optimizer is None or not state:
        return
    (weight,) = optimizer._parameter_list
    optimizer._create_accumulators(weight, {})
    for name, of in optimizer._accumulators.items():
        if name in state:
            _write(of[weight.name], to_tensor(state[name]))
