"""Variables that have no value yet: Paddle's conversion of Python code writes one number for them, float32 of shape `[1]`, whatever the variable
is later. Nothing reads that number, but a choice and a loop want rank and dtype to agree; here such a variable takes them from its counterpart.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wherry_program.program.control as flow
from wherry_program.program.capture import current_capture
from wherry_program.program.ir import Variable
from wherry_tensor import ops
from wherry_tensor._core import Tensor

__all__ = ["choice", "is_undefined", "loop", "mark_undefined", "stands_for_undefined"]

_NUMBER = 1.77113e27


def stands_for_undefined(values: Sequence[Any]) -> bool:
    """Whether a constant is what Paddle writes for no value."""
    return len(values) == 1 and abs(values[0] - _NUMBER) < 1e-5 * _NUMBER


def mark_undefined(x: Any) -> Any:
    """`x`, known to have no value."""
    if isinstance(x, Variable):
        x.__dict__["undefined"] = True
    return x


def is_undefined(x: Any) -> bool:
    """Whether `x` is known to have no value."""
    return isinstance(x, Variable) and x.__dict__.get("undefined", False)


def choice(pred: Tensor, true_fn: Callable[[], list[Any]], false_fn: Callable[[], list[Any]]) -> list[Any]:
    """`cond` of lists of tensors."""
    if not isinstance(pred, Variable):
        return flow.cond(pred, true_fn, false_fn)  # type: ignore[no-any-return]
    without: list[bool] = []

    def recorded(like: Sequence[Any]) -> list[Any]:
        left: list[Any] = []

        def first() -> list[Any]:
            left[:] = _fitted(true_fn(), like)
            return left

        def second() -> list[Any]:
            found = false_fn()
            if any(is_undefined(x) and not is_undefined(y) and not _alike(x, y) for x, y in zip(left, found)):
                raise _Misfit(found)
            without[:] = [is_undefined(x) and is_undefined(y) for x, y in zip(left, found)]
            return _fitted(found, left)

        return flow.cond(pred, first, second)  # type: ignore[no-any-return]

    results = _tried(lambda: recorded(()), recorded)
    for x, undefined in zip(results, without):
        if undefined:
            mark_undefined(x)
    return results


def loop(cond_fn: Callable[..., Tensor], body_fn: Callable[..., list[Any]], start: list[Any]) -> list[Any]:
    """`while_loop` of tensors."""

    def recorded(like: Sequence[Any]) -> list[Any]:
        begin = _fitted(start, like)
        without = [is_undefined(x) for x in begin]

        def body(*values: Any) -> list[Any]:
            for x, undefined in zip(values, without):
                if undefined:
                    mark_undefined(x)
            found = body_fn(*values)
            if any(undefined and not is_undefined(y) and not _alike(x, y) for undefined, x, y in zip(without, begin, found)):
                raise _Misfit(found)
            return found

        return flow.while_loop(cond_fn, body, begin)

    return _tried(lambda: recorded(()), recorded)


class _Misfit(Exception):
    """A variable without a value was recorded before its counterpart was known."""

    def __init__(self, found: list[Any]) -> None:
        self.found = found


def _tried(record: Callable[[], list[Any]], again: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
    recording = current_capture()
    assert recording is not None, "a file is read into a program"
    blocks = recording.program.blocks
    count = len(blocks)
    try:
        return record()
    except _Misfit as misfit:
        found = misfit.found
    del blocks[count:]
    return again(found)


def _alike(x: Tensor, y: Tensor) -> bool:
    return x.dtype is y.dtype and x.ndim == y.ndim


def _fitted(values: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    return [
        ops.full(shape=(1,) * y.ndim, value=0, dtype=y.dtype) if is_undefined(x) and not is_undefined(y) and not _alike(x, y) else x
        for x, y in zip(values, like)
    ] if like else list(values)
