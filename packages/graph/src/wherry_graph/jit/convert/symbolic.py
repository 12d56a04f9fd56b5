"""Values of converted code in a capture: iterables of unknown length, and lists that grow in a loop."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from wherry_program.program.capture import current_capture
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64, is_symbolic
from wherry_tensor.dtype import default_dtype, is_floating_point
from wherry_tensor.errors import short
from wherry_tensor.sizes import Size, largest, user_line

__all__ = ["Counted", "TensorList", "captured", "decides_at_run_time", "is_unknown_iterable", "scalar", "scalar_dtype"]


class _Thread(threading.local):
    def __init__(self) -> None:
        self.lasting: set[int] = set()  # id of the buffers of layers that take part in what is captured


captured = _Thread()


def decides_at_run_time(x: Any) -> bool:
    """Whether the truth of `x` is known only when the program runs, as that of a buffer, which may change between runs."""
    if isinstance(x, Tensor):
        return is_symbolic(x) or ((x.persistable or id(x) in captured.lasting) and current_capture() is not None)
    return type(x) is Size


def is_unknown_iterable(x: Any) -> bool:
    """Whether its length is known only when the program runs."""
    if isinstance(x, Tensor):
        return is_symbolic(x) and x.ndim > 0 and type(x.shape[0]) is Size
    return isinstance(x, (Counted, TensorList))


def scalar(x: Any, dtype: Any = None) -> Tensor:
    """A number, size or tensor of one element as a 0-d tensor of the program."""
    if type(x) is Size:
        x = x.tensor()
    elif not isinstance(x, Tensor):
        return ops.full(shape=(), value=x, dtype=dtype or scalar_dtype(x))
    if x.ndim:
        x = ops.reshape(x, shape=())
    return x if dtype is None or x.dtype is dtype else ops.cast(x, dtype=dtype)


def scalar_dtype(x: Any) -> Any:
    """The dtype that a number becomes."""
    if isinstance(x, Tensor):
        return x.dtype
    return _core.bool_ if type(x) is bool else default_dtype() if isinstance(x, float) else int64


class Counted:
    """Something to loop over whose length the program finds out.

    Attributes:
        length: how many items there are, int64, 0-d.
        item: gives the item of a number (int64, 0-d).
    """

    def __init__(self, length: Tensor, item: Callable[[Tensor], Any]) -> None:
        self.length, self.item = length, item

    @classmethod
    def range(cls, *args: Any) -> Counted:
        """`range(stop)`, `range(start, stop)`, `range(start, stop, step)`."""
        for x in args:
            if isinstance(x, float) or (isinstance(x, Tensor) and is_floating_point(x)):
                raise TypeError(f"range: bounds are whole numbers. Got {short(x)} at {user_line()}, expected ints. Cast with int().")
        bounds = [scalar(x, int64) for x in args]
        start, stop = (scalar(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        if len(bounds) < 3:
            return cls(ops.maximum(stop - start, scalar(0)), lambda i: start + i)
        step = bounds[2]
        length = ops.maximum(-ops.floor_divide(start - stop, step), scalar(0))
        return cls(length, lambda i: start + i * step)

    @classmethod
    def over(cls, items: Any) -> Counted:
        """The items of a tensor along its first axis, of a list, or of one that is counted already."""
        if isinstance(items, Counted):
            return items
        if isinstance(items, TensorList):
            return cls(scalar(items.symbolic_len()), items.__getitem__)
        if isinstance(items, Tensor):
            return cls(scalar(items.shape[0]), lambda i: row(items, i))
        values = list(items)
        if values and all(isinstance(v, (Tensor, int, float)) for v in values):
            stacked = TensorList.of(values)
            return cls(scalar(len(values)), stacked.__getitem__)
        raise TypeError(
            f"loop: these items go together with a length that only the program knows. Got {type(items).__name__} at {user_line()}, expected "
            f"tensors or numbers, of one shape and dtype. Stack them into a tensor before the loop."
        )

    @classmethod
    def enumerate(cls, items: Any, start: Any = 0) -> Counted:
        """`enumerate(items, start)`."""
        inner, first = cls.over(items), scalar(start, int64)
        return cls(inner.length, lambda i: (first + i, inner.item(i)))

    @classmethod
    def zip(cls, *items: Any) -> Counted:
        """`zip(*items)`, as long as the shortest."""
        parts = [cls.over(x) for x in items]
        length = parts[0].length
        for part in parts[1:]:
            length = ops.minimum(length, part.length)
        return cls(length, lambda i: tuple(part.item(i) for part in parts))

    def reversed(self) -> Counted:
        """From the last item to the first."""
        return Counted(self.length, lambda i: self.item(self.length - 1 - i))

    def symbolic_len(self) -> Tensor:
        """The result of `len`."""
        return self.length

    def __iter__(self) -> NoReturn:
        raise RuntimeError(
            f"loop: how many items there are depends on a tensor of a captured program. Got a loop at {user_line()} that cannot be captured, "
            f"expected a `for` statement. Write the comprehension or call as a `for` statement that appends to a list."
        )


def row(x: Tensor, i: Tensor) -> Tensor:
    """`x[i]`"""
    return ops.squeeze(ops.gather(x, ops.reshape(i, shape=(1,)), axis=0), axes=(0,))


class TensorList:
    """A list of tensors of one shape and dtype that grows while a program runs: its items lie one after the other in a tensor.

    Attributes:
        data: `[length, *shape of an item]`.
    """

    def __init__(self, data: Tensor) -> None:
        self.data = data

    @classmethod
    def of(cls, items: list[Any]) -> TensorList:
        """From tensors and numbers; one at least."""
        like = next((x for x in items if isinstance(x, Tensor)), None)
        values = [x if isinstance(x, Tensor) else scalar(x, None if like is None else like.dtype) for x in items]
        first = values[0]
        for x in values:
            _check_fits(x, list(first.shape), first.dtype)
        return cls(ops.concat(*(ops.unsqueeze(x, axes=(0,)) for x in values), axis=0))

    @classmethod
    def empty(cls, shape: list[Any], dtype: Any) -> TensorList:
        """Without items, for items of this shape."""
        shape = [0 if type(n) is Size else n for n in shape]  # the first item that is appended says what they are
        return cls(ops.full(shape=(0, *shape), value=0, dtype=dtype))

    def __repr__(self) -> str:
        return f"TensorList(items of shape {list(self.data.shape[1:])}, {self.data.dtype.name})"

    def symbolic_len(self) -> Any:
        """How many items it has."""
        return self.data.shape[0]

    def append(self, x: Any) -> None:
        """Append an item."""
        if not isinstance(x, Tensor):
            x = scalar(x, self.data.dtype)
        _check_fits(x, list(self.data.shape[1:]), self.data.dtype)
        self.data = ops.concat(self._like(list(x.shape)), ops.unsqueeze(x, axes=(0,)), axis=0)

    def _like(self, shape: list[Any]) -> Tensor:
        """The data for items of this shape: without items it does not know their open sizes, and with items it has them already."""
        if not any(type(n) is Size for n in (*shape, *self.data.shape[1:])):
            return self.data
        return ops.reshape(self.data, shape=(self.data.shape[0], *shape))

    def joined(self, axis: int, stacked: bool) -> Tensor:
        """The items as one tensor: along a new axis, or along one that they have."""
        rank = self.data.ndim if stacked else self.data.ndim - 1
        if not -rank <= axis < rank:
            raise ValueError(
                f"{'stack' if stacked else 'concat'}: axis {axis} is out of range for items of shape {list(self.data.shape[1:])}. Got it at "
                f"{user_line()}, expected each axis in [{-rank}, {rank})."
            )
        axis = axis % rank
        order = [*range(1, axis + 1), 0, *range(axis + 1, self.data.ndim)]
        out = self.data if axis == 0 else ops.transpose(self.data, perm=tuple(order))
        if stacked:
            return out
        shape = list(out.shape)
        return ops.reshape(out, shape=(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2:]))

    def extend(self, items: Any) -> None:
        """Append items."""
        if isinstance(items, TensorList):
            # Either may have no items yet, and sizes of 0 in place of open ones.
            shape = [largest(a, b) for a, b in zip(self.data.shape[1:], items.data.shape[1:], strict=True)]
            self.data = ops.concat(self._like(shape), items._like(shape), axis=0)
            return
        for x in items:
            self.append(x)

    def pop(self, i: Any = -1) -> Tensor:
        """Remove and return the last item."""
        if type(i) is not int or i != -1:
            raise TypeError(
                f"list.pop: only the last item can be taken from a list that the program grows. Got pop({short(i)}) at {user_line()}, expected pop()."
            )
        n = scalar(self.data.shape[0])
        last = row(self.data, n - 1)
        self.data = self.data[:-1]
        return last

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return TensorList(self.data[i])
        return row(self.data, self._position(i))

    def __setitem__(self, i: Any, x: Any) -> None:
        position = self._position(i)
        value = x if isinstance(x, Tensor) else scalar(x, self.data.dtype)
        _check_fits(value, list(self.data.shape[1:]), self.data.dtype)
        here = ops.equal(ops.arange(start=0, step=1, length=self.data.shape[0], dtype=int64), position)
        here = ops.reshape(here, shape=(self.data.shape[0], *(1,) * (self.data.ndim - 1)))
        self.data = ops.where(here, ops.unsqueeze(value, axes=(0,)), self.data)

    def _position(self, i: Any) -> Tensor:
        if isinstance(i, int) and not isinstance(i, bool):
            return scalar(i) if i >= 0 else scalar(self.data.shape[0]) + i
        return scalar(i, int64)

    def __iter__(self) -> Iterator[Tensor]:
        n = self.data.shape[0]
        if type(n) is Size:
            Counted.over(self).__iter__()
        return iter([row(self.data, scalar(i)) for i in range(n)])

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"list: {name!r} is not possible for a list that the program grows, at {user_line()}. Got it inside or after a loop or choice that "
            f"depends on a tensor, expected append, extend, pop(), reading or writing an item, len, a `for`, stack or concat."
        )


def _check_fits(x: Tensor, shape: list[Any], dtype: Any) -> None:
    if x.dtype is dtype and x.ndim == len(shape) and all(type(a) is Size or type(b) is Size or a == b for a, b in zip(x.shape, shape, strict=True)):
        return
    raise ValueError(
        f"list: the items of a list that the program grows have one shape and dtype. Got an item of shape {x.shape}, {x.dtype.name} at "
        f"{user_line()}, expected {shape}, {dtype.name}. Reshape or cast it, or keep several lists."
    )
