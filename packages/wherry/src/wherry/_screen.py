"""Tracebacks on the screen, without the entries of our packages."""
from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from wherry_tensor.tracebacks import tidy


def install() -> None:
    """Install hooks that tidy tracebacks in Python and IPython, unless another hook is installed."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _print
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and not getattr(shell, "custom_exceptions", True):
        shell.set_custom_exc((Exception,), _show_in_ipython)


def _print(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
    tidy_all(error)
    sys.__excepthook__(kind, error, error.__traceback__)


def _show_in_ipython(shell: Any, kind: type[BaseException], error: BaseException, tb: Any, tb_offset: int | None = None) -> None:
    tidy_all(error)
    lines = shell.InteractiveTB.structured_traceback(kind, error, error.__traceback__, tb_offset=tb_offset)
    notes = [note for note in getattr(error, "__notes__", ()) if not any(str(note) in line for line in lines)]
    # IPython asks an error how it is shown; by itself it leaves notes out (8.12).
    error.__dict__["_render_traceback_"] = lambda: [*lines, *notes]
    try:
        shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)
    finally:
        del error.__dict__["_render_traceback_"]


def tidy_all(error: BaseException) -> None:
    """Tidy an error and its causes."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        following = one.__cause__ or one.__context__
        tidy(one)
        one = following
