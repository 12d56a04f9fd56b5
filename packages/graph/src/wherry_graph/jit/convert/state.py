"""The variables that a conditional or a loop may change, and their values.

The functions made for a branch or a loop share cells with the function around them; these cells are the variables.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CellType, FunctionType
from typing import Any

from wherry_graph.jit.convert.symbolic import TensorList, scalar_dtype
from wherry_program.program.ir import Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64, is_symbolic
from wherry_tensor.dtype import default_dtype, is_floating_point
from wherry_tensor.sizes import Size

__all__ = [
    "UNBOUND", "Held", "Names", "Slot", "State", "Thunk", "common_dtype", "content", "copied", "described", "fill", "held", "is_array", "is_number",
    "item_of", "mapped", "own", "placeholder", "same", "written",
]

Thunk = Callable[[], Any]
Names = tuple[str, ...]


class _Unbound:
    def __repr__(self) -> str:
        return "nothing"


UNBOUND = _Unbound()


class Slot:
    """A variable of the function around, or an attribute of one: "self.count"."""

    def __init__(self, path: str, cell: CellType | None, names: dict[str, Any]) -> None:
        self.path, self.name = path, path.rstrip("?-")
        self.may_be_filled = path.endswith("?")  # it is not read where one branch gives it no value
        self.is_needed = not path.endswith("-")  # after the construct
        self._cell, self._globals = cell, names
        self._attributes = self.name.split(".")[1:]

    def get(self) -> Any:
        if self._cell is not None:
            try:
                value = self._cell.cell_contents
            except ValueError:
                return UNBOUND
        else:
            value = self._globals.get(self.name.partition(".")[0], UNBOUND)
        for name in self._attributes:
            value = getattr(value, name, UNBOUND)
        return value

    def set(self, value: Any) -> None:
        if self._attributes:
            owner = self._owner()
            if value is not UNBOUND:
                if owner is not UNBOUND and getattr(owner, self._attributes[-1], UNBOUND) is not value:
                    setattr(owner, self._attributes[-1], value)
            elif owner is not UNBOUND and hasattr(owner, self._attributes[-1]):
                delattr(owner, self._attributes[-1])
        elif self._cell is not None:
            if value is not UNBOUND:
                self._cell.cell_contents = value
            elif self.get() is not UNBOUND:
                del self._cell.cell_contents
        elif value is UNBOUND:
            self._globals.pop(self.name, None)
        else:
            self._globals[self.name] = value

    def _owner(self) -> Any:
        parts = self.name.split(".")
        return Slot(".".join(parts[:-1]), self._cell, self._globals).get()


class State:
    """The variables that a construct may change."""

    def __init__(self, functions: Iterable[Callable[..., Any]], names: Names, changed: Names) -> None:
        cells: dict[str, CellType] = {}
        names_of_module: dict[str, Any] = {}
        for function in functions:
            if isinstance(function, FunctionType):
                cells.update(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
                names_of_module = function.__globals__
        self.changed = set(changed)
        self.slots: list[Slot] = []
        known = set()
        for path in (*names, *changed):
            if path in known:
                continue
            known.add(path)
            base = path.rstrip("?-").partition(".")[0]
            if base in cells or base in names_of_module:
                self.slots.append(Slot(path, cells.get(base), names_of_module))

    def written_over(self) -> list[Slot]:
        """The variables that hold a tensor with a gradient, which the construct may write over: `y[0] = 1`.

        The gradient of a construct is that of what it makes. So it gets copies to write over (`own`), and what it makes of them is written
        into the tensor behind it (`written`).
        """
        found = [slot for slot in self.slots if slot.path in self.changed]
        tensors = [slot for slot in found if isinstance(x := slot.get(), Tensor) and is_symbolic(x) and not is_array(x)]
        return [slot for slot in tensors if not (x := slot.get()).stop_gradient and not x.is_leaf]

    def save(self) -> list[Any]:
        """The values; of a list or dict that may change in place, what it holds."""
        values = []
        for slot in self.slots:
            value = slot.get()
            values.append(held(value) if isinstance(value, TensorList) or slot.path in self.changed else value)
        return values

    def restore(self, values: list[Any]) -> None:
        """Make the variables what they were when `values` were saved."""
        for slot, value in zip(self.slots, values, strict=True):
            slot.set(_renewed(value))


def own(slots: Iterable[Slot]) -> None:
    """Let variables be copies, in the block that is recorded."""
    for slot in slots:
        slot.set(ops.copy(slot.get()))


def written(before: Tensor, value: Any) -> Any:
    """`before`, with the value that a construct has made of its copy."""
    return ops.copy.into((before,), value) if value is not before and isinstance(value, Tensor) else before


class Held:
    """A list, dict or list of the program, and what it held at a time: of containers in it, what these held."""

    def __init__(self, container: Any) -> None:
        self.container = container
        self.content = container.data if isinstance(container, TensorList) else container.current if is_array(container) else mapped(held, container)

    def renewed(self) -> Any:
        """The container, holding that again."""
        if is_array(self.container):
            self.content.__dict__.pop("now", None)
        else:
            fill(self.container, self.content if isinstance(self.container, TensorList) else mapped(_renewed, self.content))
        return self.container


def held(value: Any) -> Any:
    """A Held of what can change in place; other values as they are."""
    return Held(value) if isinstance(value, TensorList) or type(value) in (list, dict) or is_array(value) else value


def _renewed(value: Any) -> Any:
    return value.renewed() if isinstance(value, Held) else value


def is_array(value: Any) -> bool:
    """Whether it is a list of tensors under Paddle's names (`create_array`)."""
    return isinstance(value, Variable) and value.is_array


def fill(container: Any, content: Any) -> None:
    """Let a container hold something else."""
    if isinstance(container, TensorList):
        container.data = content
    elif is_array(container):
        if container.current is not content:
            container.current.became(content)
    elif isinstance(container, list):
        container[:] = content
    else:
        container.clear()
        container.update(content)


def content(value: Any) -> Any:
    """What a saved value is for comparison."""
    if not isinstance(value, Held):
        return value
    return TensorList(value.content) if isinstance(value.container, TensorList) else mapped(content, value.content)


def copied(value: Any) -> Any:
    """Lists and dicts, and those in them, anew, with the same tensors."""
    if isinstance(value, TensorList):
        return TensorList(value.data)
    return mapped(copied, value)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    if type(value) is dict:
        return {key: function(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(function(item) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(function, value))
    return value


# Kinds of values.

def is_number(x: Any) -> bool:
    return isinstance(x, (Tensor, Size, bool, int, float))


def common_dtype(a: Any, b: Any) -> Any:
    """The dtype of a value that is `a` or `b`: of numbers that of the tensor, if it can hold them; None if there is none."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.dtype if a.dtype is b.dtype else None
    x, y = (a, b) if isinstance(a, Tensor) else (b, a)
    kind = float if isinstance(y, float) else bool if isinstance(y, bool) else int
    if not isinstance(x, Tensor):
        kinds = {type(v) if isinstance(v, (bool, float)) else int for v in (a, b)}
        return default_dtype() if float in kinds else int64 if int in kinds else _core.bool_
    if kind is bool:
        return x.dtype
    if kind is float:
        return x.dtype if is_floating_point(x) else None
    return x.dtype if x.dtype is not _core.bool_ else None


def same(a: Any, b: Any) -> bool:
    """Whether two Python values are equal; values that cannot be compared are not."""
    if type(a) is not type(b) or isinstance(a, (list, dict, tuple)):
        return False
    try:
        return bool(a == b)
    except (TypeError, ValueError):
        return False


def described(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"a tensor of shape {x.shape}, {x.dtype.name}"
    if isinstance(x, Size):
        return "a size"
    if isinstance(x, (list, tuple, dict)):
        return f"a {type(x).__name__} of {len(x)}"
    return f"{x!r} ({type(x).__name__})" if isinstance(x, (bool, int, float, str, type(None))) else f"a {type(x).__name__}"


def item_of(*lists: Any) -> tuple[list[Any], Any]:
    """Shape and dtype of the items of lists; the dtype is None where there is no item."""
    for side in lists:
        if isinstance(side, TensorList):
            return list(side.data.shape[1:]), side.data.dtype
    items = [x for side in lists for x in side]
    first = next((x for x in items if isinstance(x, Tensor)), None)
    if first is not None:
        return list(first.shape), first.dtype
    return [], scalar_dtype(items[0]) if items and is_number(items[0]) else None


def placeholder(like: Tensor) -> Tensor:
    """A value of this rank and dtype, which is not read."""
    return ops.full(shape=tuple(1 if type(n) is Size else n for n in like.shape), value=0, dtype=like.dtype)
