"""Tracebacks of converted code, made to show the code that the user wrote."""
from __future__ import annotations

import os
from types import TracebackType

from wherry_graph.jit.convert.function import is_generated
from wherry_tensor.suggestions import is_ours
from wherry_tensor.tracebacks import tidy

__all__ = ["tidy_converted", "user_place"]


def tidy_converted(error: BaseException) -> None:
    """Take our entries out of the traceback, and those of a function that only led to the body of its own `if` or loop.

    The environment variable TRANSLATOR_DISABLE_NEW_ERROR=1 leaves it as it is, as in Paddle.
    """
    if os.environ.get("TRANSLATOR_DISABLE_NEW_ERROR") == "1":
        return
    tidy(error)
    entries = _entries(error.__traceback__)
    kept: list[TracebackType] = []
    for entry in entries:
        code = entry.tb_frame.f_code
        before = kept[-1].tb_frame.f_code if kept else code
        if is_generated(code) and before is not code and (before.co_filename, before.co_name) == (code.co_filename, code.co_name):
            kept.pop()
        kept.append(entry)
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    error.__traceback__ = kept[0] if kept else None


def user_place(error: BaseException) -> str:
    """`file:line: ` of the last line of the user's that led to the error; "" for one that says itself which it is."""
    place = ""
    for entry in _entries(error.__traceback__):
        if not is_ours(entry.tb_frame.f_globals.get("__name__", "")):
            place = f"{entry.tb_frame.f_code.co_filename}:{entry.tb_lineno}: "
    return place


def _entries(tb: TracebackType | None) -> list[TracebackType]:
    entries = []
    while tb is not None:
        entries.append(tb)
        tb = tb.tb_next
    return entries
