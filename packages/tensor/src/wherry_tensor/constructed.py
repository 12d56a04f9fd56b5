"""Objects as they were constructed: their text, and the kinds of their arguments.

For small objects of which the constructor says everything (transforms, schedules, samplers, initializers): a text
as `StepDecay(0.5, step_size=2)`, and one error for an argument of another kind before anything computes with it.
"""
from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["as_constructed", "check_arguments", "integer", "number", "numbers", "optional", "positive"]

_LONG = 60  # characters of one value


@cache
def _parameters(kind: type) -> tuple[inspect.Parameter, ...]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(p for p in list(inspect.signature(kind.__init__).parameters.values())[1:] if p.kind in kinds)  # type: ignore[misc]


def as_constructed(thing: Any, *skipped: str) -> str:
    """`Kind(a=1, b=2)`: the constructor's arguments as the object keeps them, without those that have their defaults."""
    shown = []
    for parameter in _parameters(type(thing)):  # type: ignore[arg-type]  # a class has a hash
        name = parameter.name
        value = vars(thing).get(name, vars(thing).get(f"_{name}", _ABSENT))
        if value is _ABSENT or name in skipped or name == "keys" or _same(value, parameter.default):
            continue
        text = repr(value)
        shown.append(f"{name}={text if len(text) <= _LONG else type(value).__name__ + '(...)'}")
    return f"{type(thing).__name__}({', '.join(shown)})"


_ABSENT = object()


def _same(value: Any, default: Any) -> bool:
    try:
        return value is default or (type(value) is type(default) and bool(value == default))
    except (ValueError, TypeError):  # arrays
        return False


# Kinds of arguments: each says whether a value is of the kind, and has a text for what is expected.

Check = tuple[Callable[[Any], bool], str]


def _is_number(value: Any) -> bool:
    if isinstance(value, (bool, str, bytes)) or not hasattr(type(value), "__float__") or getattr(value, "shape", ()) not in ((), []):
        return False
    try:
        return not math.isnan(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_integer(value: Any) -> bool:
    return hasattr(type(value), "__index__") and not isinstance(value, bool) and abs(int(value)) < 1 << 63


number: Check = (_is_number, "a number")
integer: Check = (_is_integer, "an int")
positive: Check = (lambda value: _is_integer(value) and value > 0, "an int of 1 or more")
numbers: Check = (lambda value: isinstance(value, (list, tuple)) and all(map(_is_number, value)), "a list or tuple of numbers")


def optional(check: Check) -> Check:
    """The same, or None."""
    return lambda value: value is None or check[0](value), f"{check[1]}, or None"


def check_arguments(owner: str, given: Mapping[str, Any], **checks: Check) -> None:
    """Raise for the first argument that is not of its kind.

    Args:
        owner: whose arguments they are.
        given: `locals()` of the constructor.
        checks: the kind of each argument, by its name.

    Raises:
        TypeError: the value is of another type (also a ValueError).
        ValueError: a number that is out of range.
    """
    for name, (holds, expected) in checks.items():
        value = given[name]
        if not holds(value):
            shown = repr(value)
            shown = shown if len(shown) <= _LONG else shown[: _LONG - 3] + "..."
            kind = InvalidArgumentError if _is_number(value) and expected.startswith(("an int of", "a number")) else InvalidTypeError
            raise kind(f"{owner}: {name} is out of place. Got {shown} ({type(value).__name__}), expected {expected}. Pass {name}=... of that kind.")
