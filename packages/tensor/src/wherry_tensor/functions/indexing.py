"""`x[index]` and `x[index] = value` with every kind of index.

An index is taken apart in two passes. The basic part (ints, slices, None, Ellipsis) is a view: it
costs no copy and shares memory. What is left (integer tensors, lists, masks) is looked up by ops of
the indexing family. As in Paddle 2.6.2 an int is always basic, so `x[0, :, [1, 2]]` puts the axis
of the list last, where NumPy, for which the 0 is a list too, puts it first.

The core answers basic indices of tensors with data by itself, and asks for the rest here.
"""
from __future__ import annotations

import math
import operator
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, bool_, from_values, int32, int64
from wherry_tensor.arguments import (
    MAX_RANK,
    check_mask,
    looked_up,
    one_index_dtype,
    positions_of,
    require_index_broadcast,
    require_room,
    short,
    too_many_indices,
)
from wherry_tensor.errors import InvalidIndexError
from wherry_tensor.sizes import Size, equals, has_sizes
from wherry_tensor.spellings import spelled

__all__ = ["getitem", "setitem"]

# Larger than any size, and so far from overflow that a size may be added to it.
_FAR = 1 << 62


def getitem(x: Tensor, index: Any) -> Tensor:
    """`x[index]`: a view for basic indices, a copy where tensors, lists or masks choose.

    Args:
        x: any dtype, any shape.
        index: an int, a slice, None, Ellipsis, a bool, a list, an integer or bool tensor or array,
            or a tuple of those.

    Returns:
        The dtype of `x`. An int drops its axis, a slice keeps it, None adds one of size 1. Index
        tensors broadcast together; their shape replaces the axes they index, or comes first when
        something stands between them. A mask of rank k stands for k axes and becomes one.

    Raises:
        IndexError: out of range, too many indices, or a mask of another shape.
        ValueError: an index of a type that indexes nothing, two Ellipses, or a step of 0.

    Examples:
        >>> x = wherry.arange(6).reshape([2, 3])
        >>> print(x[:, ::-1].tolist(), x[..., 0].tolist(), x[x > 3].tolist())
        [[2, 1, 0], [5, 4, 3]] [0, 3] [4, 5]
    """
    if isinstance(index, Tensor) and index.ndim and x.ndim:
        if index.dtype is int64 or index.dtype is int32:
            return looked_up("getitem", ops.gather, x, index, 0)
        if index.dtype is bool_ and index.ndim == x.ndim:
            check_mask(x, index, 0)
            return ops.masked_select(x, index)
    parsed = _Parsed(x, index)
    y = parsed.view(x)
    if not parsed.advanced:
        return y
    return _look_up(y, *_lookups(parsed))


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`, in place; gradients flow to the value and, where it was kept, to x.

    Args:
        x: the tensor that is written to; its `inplace_version` goes up.
        index: as in `getitem`.
        value: a number, array or tensor that broadcasts to the shape of `x[index]`; cast to the
            dtype of `x`.

    Raises:
        IndexError: as in `getitem`.
        ValueError: the value does not broadcast, is of a type that cannot be assigned, or `x` is a
            leaf that asks for gradients.

    Examples:
        >>> x = wherry.zeros([2, 3])
        >>> x[:, 1:] = wherry.to_tensor([5.0, 7.0])
        >>> print(x.tolist())
        [[0.0, 5.0, 7.0], [0.0, 5.0, 7.0]]
    """
    value = _value_tensor(x, value)
    if isinstance(index, Tensor) and index.dtype is bool_ and index.ndim:
        if _put_where(x, index, value):
            return
    parsed = _Parsed(x, index)
    if not parsed.advanced:
        _put_slice(x, parsed, value)
    else:
        _put_at(x, parsed, value)


# Reading.


def _lookups(parsed: _Parsed) -> tuple[list[int], list[Tensor]]:
    """Axes of the view and the integer tensors that index them; a mask becomes one tensor for each of its axes."""
    places, indices = [], []
    for axis, tensor in parsed.advanced:
        if tensor.dtype is bool_:
            for k, column in enumerate(positions_of(tensor)):
                places.append(axis + k)
                indices.append(column)
        else:
            places.append(axis)
            indices.append(tensor)
    return places, indices


def _look_up(y: Tensor, places: list[int], indices: list[Tensor]) -> Tensor:
    if len(places) == 1:
        return looked_up("getitem", ops.gather, y, indices[0], places[0])
    if places[-1] - places[0] + 1 != len(places):
        # NumPy's rule: indices that something stands between put their shape first.
        y = ops.transpose(y, _to_front(places, y.ndim))
        places = list(range(len(places)))
    require_index_broadcast(indices)
    return looked_up("getitem", ops.index_get, y, *one_index_dtype(indices), axes=tuple(places))


# Writing.


def _put_slice(x: Tensor, parsed: _Parsed, value: Tensor) -> None:
    value = _fit(value, parsed.view(_alias(x)).shape)
    # The slice keeps the axes that ints drop and lacks those that None adds.
    if parsed.added:
        value = ops.squeeze(value, parsed.added)
    if parsed.dropped:
        value = ops.unsqueeze(value, parsed.dropped)
    ops.slice_put.into((x,), x, value, **parsed.bounds())


def _put_at(x: Tensor, parsed: _Parsed, value: Tensor) -> None:
    y = parsed.view(x)
    places, indices = _lookups(parsed)
    whole = not parsed.axes and not parsed.dropped and not parsed.added
    perm = None
    if places[-1] - places[0] + 1 != len(places):
        perm = _to_front(places, y.ndim)
        y = ops.transpose(y, perm)
        places = list(range(len(places)))
    require_index_broadcast(indices)
    indices = one_index_dtype(indices)
    axes = tuple(places)
    if whole and perm is None:
        _index_put_into(x, value, indices, axes)
        return
    if x.stop_gradient and (value.stop_gradient or not _core.is_grad_enabled()) and not _core.is_symbolic(x):
        _index_put_into(y, value, indices, axes)  # y is a view of x
        return
    # Gradients must see that x changed, not a view of it: write into a copy of the view, then that into x.
    y = _index_put(y, value, indices, axes)
    if perm is not None:
        inverse = [0] * len(perm)
        for at, axis in enumerate(perm):
            inverse[axis] = at
        y = ops.transpose(y, tuple(inverse))
    if parsed.added:
        y = ops.squeeze(y, parsed.added)
    if parsed.dropped:
        y = ops.unsqueeze(y, parsed.dropped)
    ops.slice_put.into((x,), x, y, **parsed.bounds())


def _index_put(y: Tensor, value: Tensor, indices: list[Tensor], axes: tuple[int, ...]) -> Tensor:
    return looked_up("setitem", ops.index_put, y, value, *indices, axes=axes, accumulate=False)


def _index_put_into(y: Tensor, value: Tensor, indices: list[Tensor], axes: tuple[int, ...]) -> None:
    looked_up("setitem", ops.index_put.into, (y,), y, value, *indices, axes=axes, accumulate=False)


def _put_where(x: Tensor, mask: Tensor, value: Tensor) -> bool:
    """`x[mask] = value` for a value that is the same wherever the mask is true: no positions needed."""
    inner = x.ndim - mask.ndim
    if inner < 0:
        return False
    check_mask(x, mask, 0)
    shape = value.shape
    while len(shape) > inner and equals(shape[0], 1):
        shape = shape[1:]
    if len(shape) > inner:
        return False
    if len(shape) != value.ndim:
        value = ops.reshape(value, tuple(shape))
    _fit(value, x.shape[mask.ndim :])
    if inner:
        mask = ops.unsqueeze(mask, tuple(range(mask.ndim, x.ndim)))
    ops.where.into((x,), mask, value, x)
    return True


def _value_tensor(x: Tensor, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value if value.dtype is x.dtype else ops.cast(value, x.dtype)
    if isinstance(value, (int, float, complex)):
        return _core.scalar(value, x.dtype)
    if hasattr(value, "__array_interface__") or isinstance(value, memoryview):
        value = _core.from_buffer(value)
        return value if value.dtype is x.dtype else ops.cast(value, x.dtype)
    raise ValueError(
        f"setitem: a value of this type cannot be assigned. "
        f"Got {type(value).__name__}, expected a number, a NumPy array or a Tensor. "
        f"Convert it with wherry.to_tensor."
    )


def _fit(value: Tensor, shape: list[int]) -> Tensor:
    """`value` broadcast to `shape`; leading axes of size 1 that it has too many are dropped."""
    have = value.shape
    open_ = has_sizes(tuple(have)) or has_sizes(tuple(shape))  # a Size may not be compared with a number
    if not open_ and have == shape:
        return value
    while len(have) > len(shape) and equals(have[0], 1):
        have = have[1:]
    fits = len(have) <= len(shape) and all(
        type(a) is Size or type(b) is Size or a in (b, 1) or -1 in (a, b) for a, b in zip(reversed(have), reversed(shape), strict=False)
    )
    if not fits:
        raise ValueError(
            f"setitem: the value does not broadcast to what it should replace. "
            f"Got a value of shape {value.shape}, expected one that broadcasts to {shape}. "
            f"Reshape it so that its axes align at the right."
        )
    if len(have) != value.ndim:
        value = ops.reshape(value, tuple(have))
    return value if not open_ and have == shape else ops.broadcast_to(value, tuple(shape))


def _alias(x: Tensor) -> Tensor:
    """`x` without gradient history: for views of which only the shape is needed."""
    return _core.alias(x) if not _core.is_symbolic(x) else x.detach()  # in a program every value has its origin


# Taking an index apart.


class _Parsed:
    """What an index means for one tensor.

    Attributes:
        axes, starts, stops, steps: the slices, ints included as slices of one element.
        dropped: axes of x that an int drops.
        added: axes of the view that None (or a bool) adds.
        advanced: (axis of the view, tensor) of what is to be looked up, masks as they are.
    """

    __slots__ = ("added", "advanced", "axes", "dropped", "empty", "starts", "steps", "stops", "x")

    def __init__(self, x: Tensor, index: Any) -> None:
        items = index if type(index) is tuple else (index,)
        shape = x.shape
        rank = len(shape)
        self.x = x
        self.axes: tuple[int, ...] = ()
        axes: list[int] = []
        starts: list[int] = []
        stops: list[int] = []
        steps: list[int] = []
        dropped: list[int] = []
        added: list[int] = []
        advanced: list[tuple[int, Tensor]] = []
        bools: list[int] = []
        axis = place = 0  # in x, in the view
        for at, item in enumerate(items):
            kind = type(item)
            if kind is slice:
                if axis >= rank:
                    raise too_many_indices(x, _consumed(items))
                if item.start is not None or item.stop is not None or item.step is not None:
                    start, stop, step = _bounds(item)
                    axes.append(axis)
                    starts.append(start)
                    stops.append(stop)
                    steps.append(step)
                axis += 1
                place += 1
            elif item is Ellipsis:
                skipped = rank - axis - _consumed(items[at + 1 :], True)
                if skipped < 0:
                    raise too_many_indices(x, _consumed(items))
                axis += skipped
                place += skipped
            elif item is None:
                added.append(place)
                place += 1
            else:
                if kind is not int:
                    item = _classify(item)
                if type(item) is int or type(item) is Size:
                    if axis >= rank:
                        raise too_many_indices(x, _consumed(items))
                    size = shape[axis]
                    if not has_sizes((size, item)) and not -size <= item < size:
                        raise IndexError(
                            f"getitem: index {item} is out of range for axis {axis} of shape {shape}. "
                            f"Got {item}, expected an index in [{-size}, {size}). "
                            f"Indices count from 0; the last one is {size - 1}, or -1."
                        )
                    axes.append(axis)
                    starts.append(item)  # type: ignore[arg-type]  # a Size stands for an int
                    stops.append(_FAR if type(item) is int and item == -1 else item + 1)
                    steps.append(1)
                    dropped.append(axis)
                    axis += 1
                elif item is True or item is False:
                    # A bool is a mask of rank 0: it adds an axis of one position, or of none.
                    added.append(place)
                    bools.append(place)
                    advanced.append((place, from_values((0,) if item else (), (1,) if item else (0,), int64)))
                    place += 1
                else:
                    count = item.ndim if item.dtype is bool_ else 1
                    if axis + count > rank:
                        raise too_many_indices(x, _consumed(items))
                    if item.dtype is bool_:
                        check_mask(x, item, axis)
                    advanced.append((place, item))
                    axis += count
                    place += count
        if len(bools) == 1 and len(advanced) == 1 and advanced[0][1].size:
            advanced = []  # x[True]: the axis that was added is all it asks for
        self.axes, self.starts, self.stops, self.steps = tuple(axes), tuple(starts), tuple(stops), tuple(steps)
        self.dropped, self.added, self.advanced = tuple(dropped), tuple(added), advanced

    def bounds(self) -> dict[str, tuple[int, ...]]:
        """The attributes of the slice."""
        return {"axes": self.axes, "starts": self.starts, "ends": self.stops, "steps": self.steps}

    def view(self, x: Tensor) -> Tensor:
        """The basic part, applied."""
        y = x
        if self.axes:
            if len(self.axes) == len(self.dropped):
                # Right to left, so that removing one axis does not renumber those still to come.
                for at in range(len(self.axes) - 1, -1, -1):
                    y = ops.select(y, self.axes[at], self.starts[at])
            else:
                y = ops.slice(y, self.axes, self.starts, self.stops, self.steps)
                if self.dropped:
                    y = ops.squeeze(y, self.dropped)
        if self.added:
            y = ops.unsqueeze(y, self.added)
        if y is x and not self.advanced:
            y = ops.slice(x, (), (), (), ())  # x[...] is another tensor on the same memory
        return y


def _bounds(item: slice) -> tuple[int, int, int]:
    """Start, stop and step of a slice as the op takes them: a missing end is one beyond every size."""
    start, stop, step = item.start, item.stop, item.step
    step = 1 if step is None else _slice_number(step)
    if step == 0:
        raise ValueError(
            f"getitem: a step of 0 never ends. Got {short(item)}, expected a step other than 0. Use 1 to take every element."
        )
    if start is None:
        start = 0 if step > 0 else _FAR
    elif type(start) is not int:
        start = _slice_number(start)
    if stop is None:
        stop = _FAR if step > 0 else -_FAR
    elif type(stop) is not int:
        stop = _slice_number(stop)
    return _clamped(start), _clamped(stop), step


def _clamped(bound: Any) -> Any:
    return bound if type(bound) is Size else max(-_FAR, min(bound, _FAR))


def _slice_number(value: Any) -> int:
    if type(value) is Size:
        return value  # type: ignore[return-value]  # a Size stands for an int
    if _core.is_symbolic(value) and value.size == 1 and value.dtype.is_integer:
        return Size("value", value)  # type: ignore[return-value]  # a Size stands for an int
    if type(value) is not int:
        try:
            value = operator.index(value)
        except TypeError:
            raise ValueError(
                f"getitem: a slice is made of integers. Got {type(value).__name__} {short(value)} in one, expected None, an int "
                f"or an integer tensor of one element. Convert it with int()."
            ) from None
    # Longer numbers than the op's would mean the same: beyond every end.
    return max(-_FAR, min(value, _FAR))


def _classify(item: Any) -> Any:
    """An index other than int, slice, None and Ellipsis: an int, a bool, or a tensor to look up."""
    if type(item) is Size:
        return item
    if isinstance(item, Tensor):
        if item.dtype is bool_:
            if item.ndim == 0 and not _core.is_symbolic(item):
                return bool(item)
            return item
        if item.dtype is int64 or item.dtype is int32:
            if item.ndim == 0 and not _core.is_symbolic(item):
                return int(item)
            return item
        raise ValueError(
            f"getitem: a tensor of this dtype is not an index. Got dtype {item.dtype.name}, expected int32, int64 or bool. "
            f"Cast it with astype('int64')."
        )
    if isinstance(item, bool):
        return item
    if isinstance(item, (list, tuple, range)):
        return _index_of_list(item)
    if hasattr(item, "__array_interface__"):  # arrays, and NumPy's scalars
        return _index_of_array(item)
    if hasattr(type(item), "__index__"):
        return operator.index(item)
    raise ValueError(
        f"getitem: a value of this type is not an index. Got {type(item).__name__} {short(item)}, expected ints, slices, None, "
        f"Ellipsis, bools, and lists, arrays or tensors of ints or bools. Convert floats with int()."
    )


def _index_of_list(item: Any) -> Any:
    if isinstance(item, range):
        return ops.arange(start=item.start, step=item.step, length=len(item), dtype=int64)
    shape, flat = [], []
    level = item
    while isinstance(level, (list, tuple, range)):
        shape.append(len(level))
        if len(shape) > MAX_RANK:  # a list that contains itself has no end
            raise _bad_list(item)
        if not len(level):
            break
        level = level[0]

    def collect(part: Any, depth: int) -> None:
        if depth == len(shape):
            if isinstance(part, Tensor) or hasattr(part, "__array_interface__"):
                part = part.item()
            if not hasattr(type(part), "__index__"):
                raise _bad_list(item)
            if not -(1 << 63) <= int(part) < 1 << 63:
                raise InvalidIndexError(f"getitem: an index is out of range. Got {int(part)}, expected a number that fits int64.")
            flat.append(part)
        elif not isinstance(part, (list, tuple, range)) or len(part) != shape[depth]:
            raise _bad_list(item)
        else:
            for one in part:
                collect(one, depth + 1)

    if isinstance(level, Tensor) and level.ndim and shape:
        return _index_of_list([part.tolist() if isinstance(part, Tensor) else part for part in item])
    require_room(40 * math.prod(shape), "getitem", f"an index of shape {shape}")
    collect(item, 0)
    if flat and all(isinstance(one, bool) for one in flat):
        return from_values(flat, shape, bool_)
    return from_values(flat, shape, int64)


def _bad_list(item: Any) -> ValueError:
    return ValueError(
        f"getitem: this list is not an index. Got {short(item)}, expected ints or bools, nested lists of one length. "
        f"Slices and None stand beside a list, not in it."
    )


def _index_of_array(item: Any) -> Any:
    tensor = _core.from_buffer(item)
    if tensor.dtype is not bool_ and not tensor.dtype.is_integer:
        raise ValueError(
            f"getitem: an array of this dtype is not an index. Got {tensor.dtype.name}, expected integers or bool. "
            f"Convert it with array.astype('int64')."
        )
    if tensor.ndim == 0:
        return tensor.item()
    if tensor.dtype is bool_ or tensor.dtype is int64 or tensor.dtype is int32:
        return tensor
    return ops.cast(tensor, int64)


def _consumed(items: tuple[Any, ...], after: bool = False) -> int:
    """How many axes `items` use."""
    count = 0
    for item in items:
        if item is None or isinstance(item, bool):
            continue
        if item is Ellipsis:
            if after:
                raise ValueError(
                    "getitem: an index can have one Ellipsis only. Got two, expected at most one `...`. "
                    "Write the axes that the second stands for as `:`."
                )
            continue
        if isinstance(item, (Tensor, list)) or hasattr(item, "__array_interface__"):
            found = _classify(item)
            if isinstance(found, bool):
                continue
            if isinstance(found, Tensor) and found.dtype is bool_:
                count += found.ndim
                continue
        count += 1
    return count


def _to_front(places: list[int], rank: int) -> tuple[int, ...]:
    return (*places, *(axis for axis in range(rank) if axis not in places))


_core.set_fallback("getitem", getitem)
_core.set_fallback("setitem", setitem)


spelled(globals())
