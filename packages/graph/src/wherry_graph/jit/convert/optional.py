"""Values that are a tensor or None, which a tensor of the program decides.

    c = None
    if x.shape[-1] > 1:
        c = x * 2
    return x if c is None else c + x

In the program such a value is a tensor, with numbers that mean nothing where Python has None, and a flag. `c is None` gives the flag, and a choice
that tests it may read the tensor on the side where there is one. Anywhere else reading it is refused.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wherry_program.program.ir import Variable
from wherry_tensor._core import Tensor
from wherry_tensor.sizes import user_line

__all__ = ["inverted", "is_none", "joined", "mark", "none_flag", "present", "readable"]


class _Thread(threading.local):
    def __init__(self) -> None:
        self.present: list[int] = []  # id of the variables that have a value where code is being recorded
        self.decided: list[tuple[Variable, Tensor, int]] = []  # of the program, those that are None on one side of a condition alone


_thread = _Thread()


def mark(x: Any, flag: Tensor, name: str, condition: Tensor, absent: int | None) -> None:
    """Let `x` be None where `flag` is true: on the side `absent` of the condition that decided, if that is all there is to it."""
    line = user_line()
    _thread.decided = [one for one in _thread.decided if one[0].block.program is x.block.program]
    if absent is not None:
        _thread.decided.append((x, condition, absent))

    def check() -> None:
        if id(x) not in _thread.present:
            raise TypeError(
                f"to_static: {name} may be None here: a tensor decides, in the choice at {line}. Got its use at {user_line()}, expected one "
                f"after a test. Write `if {name} is not None:`, or give it a tensor in both branches."
            )

    x.__dict__.update(none_flag=flag, check=check)


def none_flag(x: Any) -> Tensor | None:
    """What says whether `x` is None; None for what is not None here."""
    return x.__dict__.get("none_flag") if isinstance(x, Variable) and id(x) not in _thread.present else None


def is_none(x: Any) -> Any:
    """`x is None`"""
    flag = none_flag(x)
    if flag is None:
        return x is None
    flag.__dict__["present"] = (), (id(x),)
    return flag


def inverted(test: Any, of: Any) -> Any:
    """`test`, which is `not of`."""
    known = _known(of)
    if known is not None and isinstance(test, Variable):
        test.__dict__["present"] = known[::-1]
    return test


def joined(test: Any, first: Any, side: int) -> Any:
    """`test`, which is `first and ...` (side 0) or `first or ...` (side 1): what is known on that side of `first` is known on that of both."""
    known = _known(first)
    if known is not None and isinstance(test, Variable) and test is not first:
        there = _known(test) or ((), ())
        test.__dict__["present"] = (known[0] + there[0], ()) if side == 0 else ((), known[1] + there[1])
    return test


@contextmanager
def present(test: Any, side: int, condition: Any = None) -> Iterator[None]:
    """A context: what is recorded runs where `test` is true (side 0) or false (side 1); `condition` is what the program asks."""
    known = _known(test)
    ids = () if known is None else known[side]
    if isinstance(condition, Variable) and not _writes_over(condition.block.program):  # asked once more, it has the same answer
        ids = (*ids, *(id(x) for x, asked, absent in _thread.decided if absent != side and _same(condition, asked)))
    _thread.present.extend(ids)
    try:
        yield
    finally:
        del _thread.present[len(_thread.present) - len(ids) :]


@contextmanager
def readable(x: Any) -> Iterator[None]:
    """A context in which `x` may be read."""
    _thread.present.append(id(x))
    try:
        yield
    finally:
        _thread.present.pop()


def _writes_over(program: Any) -> bool:
    """Whether anything is written in place: then what is computed alike later may be another number."""
    return any(node.in_place for block in program.blocks for node in block.nodes)


def _same(a: Any, b: Any, depth: int = 8) -> bool:
    """Whether two variables are computed alike, from the same ones."""
    if a is b:
        return True
    if not (isinstance(a, Variable) and isinstance(b, Variable)) or not depth or a.dtype is not b.dtype:
        return False
    if a.bound is not None and b.bound is not None:
        return bool(a.bound.size == b.bound.size == 1 and not a.persistable and not b.persistable and a.bound.item() == b.bound.item())
    left, right = a.made_by, b.made_by
    if left is None or right is None or left.op is not right.op or left.blocks or left.op.random or left.attrs != right.attrs:
        return False
    places = [[id(x) for x in node.outputs].index(id(one)) for node, one in ((left, a), (right, b))]
    return places[0] == places[1] and len(left.inputs) == len(right.inputs) and all(
        x is y or _same(x, y, depth - 1) for x, y in zip(left.inputs, right.inputs)
    )


def _known(test: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    return test.__dict__.get("present") if isinstance(test, Variable) else None
