"""Progress bars in notebooks. IPython is used only where it is already running."""
from __future__ import annotations

import html
import sys
from typing import Any

__all__ = ["HtmlBar", "in_notebook"]


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel, as opposed to a terminal or a script."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


class HtmlBar:
    """One line of output with a bar in it, which is rewritten in place. Needs no widgets."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, done: int, steps: int | None, text: str) -> None:
        """Show that `done` of `steps` steps are done, and `text` beside the bar."""
        from IPython.display import display

        content = {"text/plain": text, "text/html": bar_html(done, steps, text)}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def bar_html(done: int, steps: int | None, text: str) -> str:
    known = f' value="{min(done, steps)}" max="{max(steps, 1)}"' if steps is not None else ""
    return f'<div><progress{known} style="width: 20em"></progress> <code>{html.escape(text)}</code></div>'
