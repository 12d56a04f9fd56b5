"""Conditionals of converted code in the program: `if`, and `a if test else b`.

A branch is recorded with the values from before it; then the values that the two branches leave are made one (`_Merge`).
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wherry_graph.jit.convert.optional import mark, none_flag, present, readable
from wherry_graph.jit.convert.state import (
    UNBOUND,
    Held,
    Names,
    State,
    Thunk,
    common_dtype,
    content,
    described,
    fill,
    is_number,
    item_of,
    mapped,
    own,
    placeholder,
    same,
    written,
)
from wherry_graph.jit.convert.symbolic import TensorList, scalar
from wherry_graph.jit.convert.values import condition, recording_now
from wherry_program.program import control
from wherry_program.program.ir import Block
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.sizes import Size, user_line

__all__ = ["branch", "choose", "note_unbound", "unbound_reason"]

_MOST_NESTED = 24  # nested choices of one line: a recursion that depends on a tensor


class _Thread(threading.local):
    def __init__(self) -> None:
        self.places: list[Any] = []  # code of the choices that are being recorded
        self.unbound: dict[str, str] = {}  # name -> why it is bound in one branch only


_thread = _Thread()


def unbound_reason(name: str) -> str | None:
    """Why a variable has no value, if it was assigned in one branch only."""
    return _thread.unbound.get(name)


def note_unbound(name: str, reason: str) -> None:
    """Remember why a variable has no value from here on."""
    _thread.unbound[name] = reason


def branch(test: Any, yes: Thunk, no: Thunk, names: Names, changed: Names, of: Callable[..., Any] | None = None) -> None:
    """Record `if test: yes() else: no()`."""
    state = State([yes, no] if of is None else [of], names, changed)
    before = state.save()
    over = state.written_over()
    line = user_line()
    sides = []
    with _Choice(test, yes if of is None else of) as choice:
        for function in (yes, no):
            with choice.side():
                own(over)
                function()
                sides.append(state.save())
            state.restore(before)
        merged = [
            choice.merge.value(slot.name, slot.may_be_filled, *map(content, values)) if slot.is_needed else content(first)
            for slot, first, *values in zip(state.slots, before, *sides, strict=True)
        ]
        values = choice.finished(merged)
    for slot, first, left, right, value in zip(state.slots, before, *sides, values, strict=True):
        if slot.is_needed and value is UNBOUND and not (content(left) is UNBOUND and content(right) is UNBOUND):
            side = "true" if content(right) is UNBOUND else "false"
            _thread.unbound[slot.name] = (
                f"'{slot.name}' has a value only if the condition at {line} is {side}, and a tensor decides that when the program runs: "
                f"give it one in both branches, or before"
            )
        held = isinstance(left, Held) and isinstance(right, Held) and left.container is right.container
        if held and type(value) is type(left.container):
            fill(left.container, value.data if isinstance(value, TensorList) else value)
            value = left.container
        slot.set(written(first, value) if slot in over else value)


def choose(test: Any, yes: Thunk, no: Thunk) -> Any:
    """Record `yes() if test else no()`."""
    with _Choice(test, yes) as choice:
        results = []
        for function in (yes, no):
            with choice.side():
                results.append(function())
        return choice.finished([choice.merge.value("the result", False, *results)])[0]


class _Choice:
    """A `cond` that is being recorded."""

    def __init__(self, test: Any, place: Callable[..., Any]) -> None:
        self.recording = recording_now()
        self.test = test
        self.condition = condition("if", test)
        self.blocks: list[Block] = []
        self.merge = _Merge(self)
        self._place = getattr(place, "__code__", place)

    def __enter__(self) -> _Choice:
        places = _thread.places
        if places.count(self._place) >= _MOST_NESTED:
            raise RecursionError(
                f"to_static: a function calls itself, and a tensor decides when it ends. Got {_MOST_NESTED} calls inside each other at "
                f"{user_line()}, expected an end that is known without running the program. Write it as a loop."
            )
        places.append(self._place)
        return self

    def __exit__(self, *error: object) -> None:
        _thread.places.pop()

    @contextmanager
    def side(self) -> Iterator[None]:
        block = self.recording.program.new_block(self.recording.block)
        self.blocks.append(block)
        with self.recording.inside(block), present(self.test, len(self.blocks) - 1, self.condition):
            yield

    def finished(self, merged: list[Any]) -> list[Any]:
        """Record the node; `merged` with what it gives in place of pairs."""
        left, right = self.merge.pairs
        outs = control.record_cond(self.recording, self.condition, self.blocks, left, right)
        return [_placed(value, outs, self.condition) for value in merged]


class _Pair:
    """In the place of a value that the two branches compute: the number of an output."""

    def __init__(self, number: int, kind: str = "tensor") -> None:
        self.number, self.kind = number, kind


class _Optional:
    """In the place of a value that is None unless `flag` is false: numbers of two outputs; `absent` is the side without a value, if one has none
    and the other one always does."""

    def __init__(self, name: str, value: _Pair, flag: _Pair, absent: int | None) -> None:
        self.name, self.value, self.flag, self.absent = name, value, flag, absent


def _placed(value: Any, outs: list[Tensor], condition: Tensor) -> Any:
    if isinstance(value, _Optional):
        x = outs[value.value.number]
        mark(x, outs[value.flag.number], value.name, condition, value.absent)
        return x
    if isinstance(value, _Pair):
        return TensorList(outs[value.number]) if value.kind == "list" else outs[value.number]
    return mapped(lambda item: _placed(item, outs, condition), value)


class _Merge:
    """Merges the values of two branches."""

    def __init__(self, choice: _Choice) -> None:
        self.choice = choice
        self.pairs: tuple[list[Tensor], list[Tensor]] = ([], [])
        self._known: dict[tuple[int, int], int] = {}

    def value(self, name: str, fill: bool, a: Any, b: Any) -> Any:
        """The value of `name` after the choice: one that both branches have, or a structure with pairs in it."""
        if a is b or (isinstance(a, TensorList) and isinstance(b, TensorList) and a.data is b.data):
            return a
        if a is UNBOUND or b is UNBOUND:
            return self.filled(name, a, b) if fill else UNBOUND
        if type(a) is type(b) and type(a) is not Size:
            if isinstance(a, (list, tuple)) and len(a) == len(b):
                items = [self.value(f"{name}[{i}]", fill, x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
                return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
            if type(a) is dict and a.keys() == b.keys():
                return {key: self.value(f"{name}[{key!r}]", fill, a[key], b[key]) for key in a}
            if isinstance(a, (bool, int, float, complex, str, bytes)) and a == b:
                return a
        if _is_list(a) and _is_list(b):
            return self.lists(name, a, b)
        if all(x is None or isinstance(x, Tensor) for x in (a, b)) and any(x is None or none_flag(x) is not None for x in (a, b)):
            return self.optional(name, a, b) if a is not b else a
        if is_number(a) and is_number(b):
            return self.numbers(name, a, b)
        if not isinstance(a, Tensor) and not isinstance(b, Tensor) and same(a, b):
            return a
        raise TypeError(
            f"to_static: {name} is not the same kind of value in the two branches of a choice that depends on a tensor. Got "
            f"{described(a)} if true and {described(b)} if false at {user_line()}, expected tensors or numbers, or the same value. "
            f"Give both branches a tensor of one shape and dtype."
        )

    def filled(self, name: str, a: Any, b: Any) -> Any:
        """A value of one branch, which is not used where the other was taken."""
        value = b if a is UNBOUND else a
        if isinstance(value, (list, tuple, dict)):
            return mapped(lambda item: self.filled(name, *((UNBOUND, item) if a is UNBOUND else (item, UNBOUND))), value)
        if not isinstance(value, Tensor):
            return value
        here, there = (1, 0) if a is UNBOUND else (0, 1)
        with self.inside(there):
            other = placeholder(value)
        return self.pair(value, other) if here == 0 else self.pair(other, value)

    def optional(self, name: str, a: Tensor | None, b: Tensor | None) -> Any:
        """Merge a tensor and None, or what may be None already."""
        sides: list[Any] = []
        flags: list[Any] = []
        for i, (x, other) in enumerate(((a, b), (b, a))):
            with present(self.choice.test, i):
                flag = none_flag(x)
            with self.inside(i), readable(x):
                flags.append(x is None if flag is None else ops.copy(flag))
                sides.append(_filled(x, other))
        value = self.numbers(name, *sides)
        if all(flag is False for flag in flags):
            return value
        absent = flags.index(True) if all(isinstance(flag, bool) for flag in flags) else None
        for i in range(2):
            with self.inside(i):
                flags[i] = scalar(flags[i])
        return _Optional(name, value, self.pair(*flags), absent)

    def lists(self, name: str, a: Any, b: Any) -> Any:
        """Merge lists of different length into a TensorList."""
        shape, dtype = item_of(a, b)
        if dtype is None or not all(is_number(x) for side in (a, b) if isinstance(side, list) for x in side):
            raise TypeError(
                f"to_static: the list {name} has {described(a)} if true and {described(b)} if false, and a tensor decides. Got items that are "
                f"no tensors at {user_line()}, expected tensors or numbers. Append in both branches, or keep tensors alone in the list."
            )
        data = []
        for i, side in enumerate((a, b)):
            with self.inside(i):
                as_list = side if isinstance(side, TensorList) else TensorList.of(side) if side else TensorList.empty(shape, dtype)
                data.append(as_list.data)
        return self.pair(data[0], data[1], kind="list")

    def numbers(self, name: str, a: Any, b: Any) -> Any:
        """Merge tensors, sizes and numbers."""
        dtype = common_dtype(a, b)
        if dtype is None:
            raise TypeError(
                f"to_static: {name} has another dtype in each branch of a choice that depends on a tensor. Got {described(a)} if true and "
                f"{described(b)} if false at {user_line()}, expected one dtype. Cast it in one branch."
            )
        values = []
        for i, (x, other) in enumerate(((a, b), (b, a))):
            with self.inside(i):
                if not isinstance(x, Tensor):
                    x = scalar(x, dtype)
                elif x.dtype is not dtype:
                    x = ops.cast(x, dtype=dtype)
                if not x.ndim and isinstance(other, Tensor) and other.ndim and _one_element(other):
                    x = ops.reshape(x, shape=(1,) * other.ndim)
            values.append(x)
        if values[0].ndim != values[1].ndim:
            raise ValueError(
                f"to_static: {name} has another rank in each branch of a choice that depends on a tensor. Got {described(a)} if true and "
                f"{described(b)} if false at {user_line()}, expected one rank. Reshape it in one branch, or write paddle.full_like(x, value) for a "
                f"number."
            )
        return self.pair(values[0], values[1])

    def pair(self, a: Tensor, b: Tensor, kind: str = "tensor") -> _Pair:
        key = id(a), id(b)
        if key not in self._known:
            self._known[key] = len(self.pairs[0])
            self.pairs[0].append(a)
            self.pairs[1].append(b)
        return _Pair(self._known[key], kind)

    def inside(self, i: int) -> Any:
        return self.choice.recording.inside(self.choice.blocks[i])


def _filled(x: Any, like: Any) -> Any:
    """What stands for None, and what may be read for a value that may be None."""
    return placeholder(like) if x is None else ops.copy(x)


def _is_list(x: Any) -> bool:
    return type(x) is list or isinstance(x, TensorList)


def _one_element(x: Tensor) -> bool:
    return all(type(n) is not Size and n == 1 for n in x.shape)
