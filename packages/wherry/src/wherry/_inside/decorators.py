"""Decorators of Paddle's own code, which code that was modelled on it uses too."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

__all__ = ["inplace_apis_in_dygraph_only", "signature_safe_contextmanager", "templatedoc", "wrap_decorator"]

signature_safe_contextmanager = contextlib.contextmanager


def wrap_decorator(decorator_func: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator from one that may forget the name and the signature of what it decorates."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(function)(decorator_func(function))

    return decorate


def templatedoc(op_type: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Fill in a docstring: it stays as it is, for there are no templates."""
    return lambda function: function


def inplace_apis_in_dygraph_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Operations in place are recorded here, so that nothing has to be replaced."""
    return function
