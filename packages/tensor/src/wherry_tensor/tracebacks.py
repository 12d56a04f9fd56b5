"""Tracebacks that end at the user's line.

An error that says what the caller did wrong is of no interest below the caller: entries of our own
packages are taken out when it leaves a layer or reaches the screen. An error that we did not raise on
purpose is a mistake of ours, and keeps them all. FLAGS_call_stack_level=2 keeps them always.
"""
from __future__ import annotations

import sys
import warnings
from types import TracebackType

from wherry_tensor import flags
from wherry_tensor.errors import EnforceNotMet, FatalError, raised_on_purpose
from wherry_tensor.suggestions import is_ours

__all__ = ["tidy", "warn"]


def tidy(error: BaseException) -> None:
    """Take our entries out of the error's traceback. Changes `error` in place."""
    if not flags.full_tracebacks():
        error.__traceback__ = _without_ours(error, error.__traceback__)
        before = error.__context__
        if before is not None and error.__cause__ is None and all(map(_is_ours, _entries(before.__traceback__))):
            error.__suppress_context__ = True  # how the error was found does not help the user


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the user's line, the nearest one that is not ours: by default Python shows it once for each line."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    warnings.warn_explicit(
        text, category, frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _without_ours(error: BaseException, tb: TracebackType | None) -> TracebackType | None:
    entries = _entries(tb)
    kept = [one for one in entries if not _is_ours(one)]
    if entries and kept[-1:] != entries[-1:] and not _on_purpose(error):
        kept = entries
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    return kept[0] if kept else None


def _entries(tb: TracebackType | None) -> list[TracebackType]:
    entries = []
    while tb is not None:
        entries.append(tb)
        tb = tb.tb_next
    return entries


def _is_ours(entry: TracebackType) -> bool:
    return is_ours(entry.tb_frame.f_globals.get("__name__", ""))


def _on_purpose(error: BaseException) -> bool:
    """Whether the error tells the caller what is wrong: it is of one of our classes, or a `raise` of ours raised it."""
    if isinstance(error, EnforceNotMet):
        return not isinstance(error, FatalError)
    known = error.__dict__.get(_MARK)  # from the first time: later the entry of that `raise` is gone
    if known is None:
        known = error.__dict__[_MARK] = raised_on_purpose(error) and not isinstance(error, AssertionError)
    return bool(known)


_MARK = "_wherry_on_purpose"
