"""The progress line of a run: `step 10/20 [=====>...] - loss: 0.5 - acc: 0.9 - 5ms/step`."""
from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

import numpy as np

from wherry_train.notebook import HtmlBar, in_notebook

__all__ = ["ProgressBar"]

_WIDTH = 30  # of the bar, in characters
_BLINK = 0.1  # seconds between updates in a notebook
_PATIENCE = 10.0  # seconds between lines in a file that stands for a terminal


class ProgressBar:
    """Prints the progress of a run of `steps` steps.

    Args:
        steps: how many there are; None if it is unknown.
        verbose: 1 rewrites one line, with a bar, which is HTML in a notebook; 2 and 3 print line after line. Where
            the output is neither terminal nor notebook, 1 prints a line every ten seconds and the last one: a file has no
            line to rewrite.
        file: where to print; standard output if None.
    """

    def __init__(self, steps: int | None, verbose: int = 1, file: TextIO | None = None) -> None:
        self.steps = steps
        self.verbose = verbose
        self._file = file
        self._width = 0  # of what stands in the line
        self._pending = ""  # a line that was not printed, for the one before was just now
        # In a notebook the bar is HTML; a file that was given gets text there too.
        self._html = HtmlBar() if verbose == 1 and file is None and in_notebook() else None
        self._last = (0, "")
        self._started = self._last_line = time.perf_counter()

    def update(self, step: int, values: Iterable[tuple[str, Any]] = ()) -> None:
        """Show that `step` steps are done, with named values: numbers, or lists of them."""
        seconds = time.perf_counter() - self._started
        bar = self.verbose == 1
        if self.steps is None:
            line, picture = f"step {step:3d}", ""
        else:
            line = f"step {step:{len(str(self.steps))}d}/{self.steps}"
            picture = f" [{_bar(step, self.steps)}]" if bar else ""
        rest = "".join(f" - {name}: {_shown(value)}" for name, value in values)
        done = self.steps is not None and step >= self.steps
        if bar and self.steps is not None and not done:
            rest += f" - ETA: {_clock(seconds / max(step, 1) * (self.steps - step))}"
        rest += f" - {_duration(seconds / max(step, 1))}/step"
        if bar and self._html is not None:
            now = time.perf_counter()
            if done or now - self._last_line >= _BLINK or not self._pending:
                self._html.show(step, self.steps, line + rest)
                self._last_line = now
            self._pending, self._last = line + rest, (step, line + rest)
            if done:
                self.finish()
        elif bar and self._rewrites():
            # A line that wraps could not be rewritten: the numbers matter more than the bar.
            columns = shutil.get_terminal_size().columns or 80
            whole = line + picture + rest
            line = whole if len(whole) < columns else line + rest
            if not done:  # the last one may wrap: nothing is written over it
                line = line[: columns - 1]
            self._write("\r" + line + " " * (self._width - len(line)))
            self._width = len(line)
            if done:
                self.finish()
        elif not bar or done or time.perf_counter() - self._last_line >= _PATIENCE:
            self._write(line + picture + rest + "\n")
            self._last_line = time.perf_counter()
            self._pending = ""
        else:
            self._pending = line + picture + rest

    def finish(self) -> None:
        """End the line, or print the last one that was held back."""
        if self._html is not None and self.verbose == 1:
            if self._pending:
                self._html.show(self._last[0], self.steps, self._last[1])
            self._pending = ""
            return
        if self._width or self._pending:
            self._write(self._pending + "\n")
        self._width = 0
        self._pending = ""

    def _rewrites(self) -> bool:
        file = sys.stdout if self._file is None else self._file
        return hasattr(file, "isatty") and file.isatty()

    def _write(self, text: str) -> None:
        file = sys.stdout if self._file is None else self._file
        file.write(text)
        file.flush()


def _bar(step: int, steps: int) -> str:
    filled = _WIDTH * min(step, steps) // max(steps, 1)
    if step >= steps:
        return "=" * _WIDTH
    return ("=" * (filled - 1) + ">" if filled else "") + "." * (_WIDTH - filled)


def _shown(value: Any) -> str:
    """Numbers with four digits; small ones, and 0, with an exponent."""
    numbers = np.ravel(value).tolist() if isinstance(value, (list, tuple, np.ndarray, np.generic)) else [value]
    return " ".join(
        (f"{n:.4f}" if abs(n) > 1e-3 else f"{n:.4e}") if isinstance(n, float) else str(n) for n in numbers
    )


def _clock(seconds: float) -> str:
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole >= 60 else f"{whole}s"


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"
