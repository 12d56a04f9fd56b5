"""Loops of converted code in the program.

A loop is first recorded on trial, to learn which variables change and what they become, and then as it is.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CellType
from typing import Any

from wherry_graph.jit.convert.choices import note_unbound
from wherry_graph.jit.convert.state import (
    UNBOUND,
    Held,
    Names,
    Slot,
    State,
    Thunk,
    common_dtype,
    content,
    copied,
    described,
    fill,
    is_array,
    is_number,
    item_of,
    mapped,
    own,
    placeholder,
    same,
    written,
)
from wherry_graph.jit.convert.symbolic import Counted, TensorList, decides_at_run_time, scalar
from wherry_graph.jit.convert.values import condition, logical, negated, recording_now
from wherry_program.program import control
from wherry_program.program.capture import Capture
from wherry_program.program.control import create_array
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.sizes import Size, user_line

__all__ = ["counted_loop", "loop"]

_STAYS = object()  # in the place of a beginning: the variable does not go through the loop


def loop(test: Thunk, body: Thunk, names: Names, changed: Names, stops: Thunk | None) -> None:
    """Record `while test(): body()`, which flags may end."""

    def going_on() -> Any:
        flags = () if stops is None else stops()
        return logical("and", test(), [negated(flag) if decides_at_run_time(flag) else not flag for flag in flags])

    _record(going_on, body, State([test, body, *([] if stops is None else [stops])], _needed(names), changed))


def counted_loop(counted: Counted, body: Callable[[Any], None], names: Names, changed: Names, stops: Thunk | None) -> None:
    """Record `for item in counted: body(item)`, which flags may end."""
    at = CellType(scalar(0))
    length = counted.length
    state = State([body, *([] if stops is None else [stops])], _needed(names), changed)
    state.slots.append(Slot("the number of the round", at, {}))

    def going_on() -> Any:
        flags = () if stops is None else stops()
        more = ops.less_than(at.cell_contents, length)
        return logical("and", more, [negated(flag) if decides_at_run_time(flag) else not flag for flag in flags])

    def one_round() -> None:
        body(counted.item(at.cell_contents))
        at.cell_contents = at.cell_contents + 1

    _record(going_on, one_round, state)


def _needed(names: Names) -> Names:
    """The names that the next round or later code reads; a round binds the others before it reads them."""
    return tuple(name for name in names if not name.endswith("-"))


def _record(going_on: Thunk, body: Thunk, state: State) -> None:
    recording = recording_now()
    before = state.save()
    over = state.written_over()
    line = user_line()
    start = [content(value) for value in before]
    for _attempt in range(8):  # what numbers become may change what others become
        given, after = _tried_round(recording, going_on, body, state, before, start, over)
        wanted = [_Carried.of(slot, *values) for slot, *values in zip(state.slots, start, given, after, strict=True)]
        fresh = [x if plan is None else plan.start for x, plan in zip(start, wanted, strict=True)]
        if all(_alike(x, y) for x, y in zip(fresh, start, strict=True)):
            break
        start = fresh
    carried = [(slot, plan) for slot, plan in zip(state.slots, wanted, strict=True) if plan is not None]
    vars_ = [leaf for _, plan in carried for leaf in _leaves(plan.start)]

    def enter(values: tuple[Any, ...]) -> None:
        state.restore(before)
        rest = iter(values)
        for slot, plan in carried:
            slot.set(_with_leaves(plan.start, rest))

    def round_of(*values: Any) -> list[Any]:
        enter(values)
        own(over)
        body()
        found = dict(zip((id(s) for s in state.slots), state.save(), strict=True))
        return [leaf for slot, plan in carried for leaf in plan.leaves(content(found[id(slot)]))]

    def test_of(*values: Any) -> Any:
        enter(values)
        return condition("while", going_on())

    ended = control.while_loop(test_of, round_of, vars_)
    rest = iter(ended)
    state.restore(before)
    held_before = [value for value, plan in zip(before, wanted, strict=True) if plan is not None]
    for (slot, carrying), held in zip(carried, held_before, strict=True):
        value = _with_leaves(carrying.start, rest)
        if isinstance(held, Held) and type(value) is type(held.container):
            fill(held.container, value.data if isinstance(value, TensorList) else value)
            value = held.container
        slot.set(written(held, value) if slot in over else value)
    for slot, x, y, plan in zip(state.slots, start, after, wanted, strict=True):
        if plan is None and x is UNBOUND and y is not UNBOUND:
            note_unbound(
                slot.name,
                f"'{slot.name}' gets {described(content(y))} in the loop at {line}, which the program runs: after such a loop only tensors "
                f"and numbers can be used"
            )


def _tried_round(
    recording: Capture, going_on: Thunk, body: Thunk, state: State, before: list[Any], start: list[Any],
    over: list[Slot],
) -> tuple[list[Any], list[Any]]:
    """The values in front of a round and after it; the round is recorded and forgotten."""
    program = recording.program
    blocks = len(program.blocks)
    block = program.new_block(recording.block)
    with recording.inside(block):
        given = [_mapped_deep(_standing_in, value) for value in start]
        for slot, value in zip(state.slots, given, strict=True):
            slot.set(copied(value))
        going_on()
        own(over)
        body()
        after = [copied(content(value)) for value in state.save()]
    del program.blocks[blocks:]
    state.restore(before)
    return given, after


class _Carried:
    """How a variable goes through a loop: what it begins as, and what is made of it after a round."""

    def __init__(self, name: str, start: Any) -> None:
        self.name, self.start = name, start

    @classmethod
    def of(cls, slot: Slot, x: Any, given: Any, y: Any) -> _Carried | None:
        """The plan for a variable that is `x` before the loop, and `y` after a round that saw `given`; None if it does not go through."""
        start = _start(slot.name, x, given, y, slot.may_be_filled)
        return None if start is _STAYS else cls(slot.name, start)

    def leaves(self, value: Any) -> list[Tensor]:
        """The tensors of a value after a round, as the next one takes them."""
        return _fitted(self.name, self.start, value)


# In one piece: a list of cases, each of which returns; their order is what it says.
def _start(name: str, x: Any, given: Any, y: Any, fill: bool) -> Any:
    """What a variable that is `x` before a loop, and `y` after a round that saw `given`, has to begin as; _STAYS if it does not change."""
    if y is given:
        return _STAYS
    if x is UNBOUND:
        return _mapped_deep(_beginning, y) if fill or _tensors_alone(y) else _STAYS
    if isinstance(x, TensorList):
        return _STAYS if isinstance(y, TensorList) and y.data is x.data else x
    if type(x) is list and (isinstance(y, TensorList) or (type(y) is list and len(x) != len(y))):
        return _grown(name, x, y)
    if type(x) is type(y) and isinstance(x, (list, tuple)) and len(x) == len(y):
        items = [_start(f"{name}[{i}]", *values, fill) for i, values in enumerate(zip(x, given, y, strict=True))]
        if all(item is _STAYS for item in items):
            return _STAYS
        kept = [a if item is _STAYS else item for a, item in zip(x, items, strict=True)]
        return type(x)(*kept) if hasattr(x, "_fields") else type(x)(kept)
    if type(x) is dict and type(y) is dict and x.keys() <= y.keys():
        found = {key: _start(f"{name}[{key!r}]", x.get(key, UNBOUND), given.get(key, UNBOUND), y[key], True) for key in y}
        if all(item is _STAYS for item in found.values()):
            return _STAYS
        return {key: x[key] if item is _STAYS else item for key, item in found.items()}
    if is_number(x) and is_number(y):
        if not isinstance(x, Tensor) and not isinstance(y, (Tensor, Size)) and type(x) is type(y) and x == y:
            return _STAYS
        return _number_start(name, x, y)
    if x is y or same(x, y):
        return _STAYS
    raise TypeError(
        f"to_static: {name} changes in a loop that depends on a tensor, and is not a tensor. Got {described(x)} before a round and {described(y)} "
        f"after it at {user_line()}, expected tensors or numbers. Make it a tensor of one shape and dtype before the loop."
    )


def _number_start(name: str, x: Any, y: Any) -> Any:
    if not isinstance(y, Tensor):
        y = _mapped_numbers(y)
    if not isinstance(x, Tensor):
        dtype = common_dtype(y, x)
        if dtype is None:  # 0.0 before, whole numbers behind
            dtype = scalar(x).dtype
        out = scalar(x, dtype)
        if y.ndim and not any(type(n) is Size for n in y.shape):
            return ops.full(shape=tuple(y.shape), value=x, dtype=dtype) if not isinstance(x, Size) else out
        return out
    if is_array(x) and is_array(y):
        return _items_known(x, y)
    if x.dtype is not y.dtype or x.ndim != y.ndim:
        raise ValueError(
            f"to_static: {name} becomes something else in each round of a loop that depends on a tensor. Got {described(x)} before a round and "
            f"{described(y)} after it at {user_line()}, expected one rank and dtype. Cast or reshape it before the loop."
        )
    return x


def _grown(name: str, x: list[Any], y: Any) -> Any:
    if not all(is_number(v) for v in (*x, *(() if isinstance(y, TensorList) else y))):
        raise TypeError(
            f"to_static: the list {name} grows in a loop that depends on a tensor. Got {described(x)} before a round and {described(y)} after it "
            f"at {user_line()}, whose items are not all tensors, expected tensors or numbers of one shape and dtype. Keep one list for each part."
        )
    return TensorList.of(x) if x else TensorList.empty(*item_of(x, y))


def _tensors_alone(y: Any) -> bool:
    if isinstance(y, (list, tuple)):
        return all(map(_tensors_alone, y))
    if isinstance(y, dict):
        return all(map(_tensors_alone, y.values()))
    return is_number(y) or isinstance(y, TensorList)


def _beginning(y: Any) -> Any:
    if isinstance(y, TensorList):
        return TensorList.empty(list(y.data.shape[1:]), y.data.dtype)
    if isinstance(y, Tensor):
        return placeholder(y)
    return scalar(y) if is_number(y) else y


def _mapped_deep(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (list, tuple, dict)):
        return mapped(functools.partial(_mapped_deep, function), value)
    return function(value)


def _mapped_numbers(value: Any) -> Any:
    """Numbers as tensors, as a round of the program sees them."""
    return _mapped_deep(lambda v: scalar(v) if isinstance(v, (bool, int, float, Size)) else v, value)


def _standing_in(value: Any) -> Any:
    """Of numbers and lists of the program, what a round on trial sees."""
    return _items_known(create_array(value.dtype), value) if is_array(value) else _mapped_numbers(value)


def _items_known(array: Any, like: Any) -> Any:
    """`array`, with what is known of the items of `like`."""
    if "item_shape" in like.__dict__:
        array.__dict__.setdefault("item_shape", like.__dict__["item_shape"])
    return array


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, TensorList):
        return [value.data]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    return [scalar(value)] if is_number(value) and not isinstance(value, Tensor) else [value] if isinstance(value, Tensor) else []


def _with_leaves(like: Any, leaves: Iterator[Any]) -> Any:
    def leaf(v: Any) -> Any:
        if isinstance(v, TensorList):
            return TensorList(next(leaves))
        if is_array(v):
            return _items_known(next(leaves), v)
        return next(leaves) if is_number(v) else v

    return _mapped_deep(leaf, like)


def _fitted(name: str, like: Any, value: Any) -> list[Tensor]:
    if isinstance(like, TensorList):
        if type(value) is list:
            value = TensorList.of(value) if value else TensorList.empty(list(like.data.shape[1:]), like.data.dtype)
        if isinstance(value, TensorList):
            return [value.data]
    elif isinstance(like, (list, tuple)) and type(value) is type(like) and len(value) == len(like):
        return [leaf for i, (a, b) in enumerate(zip(like, value, strict=True)) for leaf in _fitted(f"{name}[{i}]", a, b)]
    elif isinstance(like, dict) and isinstance(value, dict) and like.keys() <= value.keys():
        return [leaf for key in like for leaf in _fitted(f"{name}[{key!r}]", like[key], value[key])]
    elif is_number(like):
        if not isinstance(value, Tensor) and is_number(value):
            dtype = like.dtype if isinstance(like, Tensor) else None
            value = scalar(value, dtype)
            if isinstance(like, Tensor) and like.ndim and not any(type(n) is Size for n in like.shape):
                value = ops.broadcast_to(value, shape=tuple(like.shape))
        if isinstance(value, Tensor):
            wanted = like.dtype if isinstance(like, Tensor) else scalar(like).dtype
            return [value if value.dtype is wanted or not isinstance(like, Tensor) else ops.cast(value, dtype=wanted)]
    else:
        return []
    raise TypeError(
        f"to_static: {name} is another kind of value after a round of a loop that depends on a tensor. Got {described(value)} at {user_line()}, "
        f"expected {described(like)} as before it. Keep its kind the same in every round."
    )


def _alike(x: Any, y: Any) -> bool:
    """Whether a round would see the same kinds of values."""
    if isinstance(x, (Tensor, TensorList)) and type(x) is type(y) or isinstance(x, Tensor) and isinstance(y, Tensor):
        a, b = (v.data if isinstance(v, TensorList) else v for v in (x, y))
        return a.dtype is b.dtype and a.ndim == b.ndim
    if isinstance(x, Tensor) and is_number(y):
        return not x.ndim and x.dtype is scalar(y).dtype
    if isinstance(x, (list, tuple)) and type(x) is type(y):
        return len(x) == len(y) and all(map(_alike, x, y))
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(_alike(x[key], y[key]) for key in x)
    return x is y or same(x, y)
