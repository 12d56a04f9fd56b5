"""Logs of the conversion: `set_verbosity`, `set_code_level`, and their environment variables."""
from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from wherry_tensor.errors import InvalidTypeError, short

__all__ = ["converted", "set_code_level", "set_verbosity"]

_levels: dict[str, int | None] = {"verbosity": None, "code": None}
_also_to_stdout: dict[str, bool] = {"verbosity": False, "code": False}
_ENVIRONMENT = {"verbosity": "TRANSLATOR_VERBOSITY", "code": "TRANSLATOR_CODE_LEVEL"}
ALL_STEPS = 100


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Log the conversion of functions to standard error.

    Args:
        level: 0 logs nothing; 1 says which functions are converted, and shows their source; 2 and more also say which stay as they are, and why.
        also_to_stdout: say it on standard output too.

    Raises:
        TypeError: `level` is not an int.

    Source:
        `paddle.jit.set_verbosity`. The environment variable TRANSLATOR_VERBOSITY sets the level of programs that do not call this.

    Examples:
        >>> wherry.jit.set_verbosity(1)
        >>> wherry.jit.set_verbosity(0)
    """
    _set("verbosity", level, also_to_stdout)


def set_code_level(level: int = ALL_STEPS, also_to_stdout: bool = False) -> None:
    """Show the code that functions were converted to, on standard error.

    Args:
        level: 0 shows none; any other shows the final code, as 100 does in Paddle: conversion is one step here.
        also_to_stdout: show it on standard output too.

    Raises:
        TypeError: `level` is not an int.

    Source:
        `paddle.jit.set_code_level`. The environment variable TRANSLATOR_CODE_LEVEL sets the level of programs that do not call this.

    Examples:
        >>> wherry.jit.set_code_level(100)
        >>> wherry.jit.set_code_level(0)
    """
    _set("code", level, also_to_stdout)


def converted(function: Callable[..., Any], text: str, reason: str | None) -> None:
    """Log that a function was converted to `text`, or why it was not."""
    level, name = _level("verbosity"), function.__qualname__
    if reason is not None:
        if level >= 2:
            _say("verbosity", f"(Level 2) {name} stays as it is: {reason}.")
        return
    if level >= 1:
        import inspect

        try:
            source = inspect.getsource(function)
        except OSError:
            source = "(not found)\n"
        _say("verbosity", f"(Level 1) Source code:\n{source}")
        _say("verbosity", f"(Level 1) Convert callable object: convert {function!r}.")
    if _level("code") >= 1:
        _say("code", f"(Level {_level('code')}) After the last transformer, the transformed code of {name}:\n{text}\n")


def _set(what: str, level: int, also_to_stdout: bool) -> None:
    if type(level) is not int:
        function = "set_verbosity" if what == "verbosity" else "set_code_level"
        raise InvalidTypeError(
            f"{function}: Level is not an integer: {short(level)}. Got {type(level).__name__}, expected an int. Write 0 for nothing."
        )
    _levels[what], _also_to_stdout[what] = level, bool(also_to_stdout)


def _level(what: str) -> int:
    level = _levels[what]
    if level is None:
        text = os.environ.get(_ENVIRONMENT[what], "0")
        level = int(text) if text.lstrip("-").isdigit() else 0
    return level


def _say(what: str, text: str) -> None:
    line = f"{time.strftime('%a %b %d %H:%M:%S')} Dynamic-to-Static INFO: {text}\n"
    sys.stderr.write(line)
    if _also_to_stdout[what]:
        sys.stdout.write(line)
