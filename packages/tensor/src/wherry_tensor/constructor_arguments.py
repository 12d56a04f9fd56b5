"""Constructor arguments: the `repr` of an object that is made of them, and checks of their types.

For small objects of which the constructor says everything (transforms, schedules, samplers, initializers): a text
as `StepDecay(0.5, step_size=2)`, and one error for an argument of another kind before anything computes with it.
"""
from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short

__all__ = ["Check", "as_constructed", "check_arguments", "epoch_number", "flag", "integer", "listed_numbers", "number", "numbers", "text"]

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
        text = short(value)
        shown.append(f"{name}={text if len(text) <= _LONG else type(value).__name__ + '(...)'}")
    return f"{type(thing).__name__}({', '.join(shown)})"


_ABSENT = object()


def _same(value: Any, default: Any) -> bool:
    try:
        return value is default or (type(value) is type(default) and bool(value == default))
    except (ValueError, TypeError):  # arrays
        return False


# Kinds of arguments: each has a test for values of the kind, and a text for what is expected.

Check = tuple[Callable[[Any], bool], str]


def _is_number(value: Any) -> bool:
    if isinstance(value, (bool, str, bytes)) or not hasattr(type(value), "__float__") or math.prod(getattr(value, "shape", ())) != 1:
        return False
    try:
        return not math.isnan(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_integer(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and abs(operator.index(value)) < 1 << 63
    except (TypeError, ValueError):  # arrays and tensors of several numbers have the method too
        return False


number: Check = (_is_number, "a number")
integer: Check = (_is_integer, "an int")
epoch_number: Check = (lambda value: not isinstance(value, (int, float)) or abs(value) < 1 << 53, "a number of an epoch, as -1")
listed_numbers: Check = (lambda value: not isinstance(value, (list, tuple)) or all(map(_is_number, value)), "numbers in the list")
flag: Check = (lambda value: not hasattr(value, "shape") or math.prod(value.shape) == 1, "True or False")
text: Check = (lambda value: value is None or isinstance(value, str), "a text")
numbers: Check = (lambda value: isinstance(value, (list, tuple)) and all(map(_is_number, value)), "a list or tuple of numbers")


def check_arguments(owner: str, given: Mapping[str, Any], **checks: Check) -> None:
    """Raise for the first argument that is not of its kind.

    Args:
        owner: whose arguments they are.
        given: `locals()` of the constructor.
        checks: the kind of each argument, by its name; those that the constructor does not have are left out.

    Raises:
        TypeError: the value is of another type (also a ValueError).
        ValueError: a number that is out of range.
    """
    for name, (holds, expected) in checks.items():
        value = given.get(name, _ABSENT)
        if value is not _ABSENT and not holds(value):
            kind = InvalidArgumentError if isinstance(value, (int, float)) and expected.startswith("a number") else InvalidTypeError
            raise kind(
                f"{owner}: {name} does not fit. Got {name}={short(value)} ({type(value).__name__}), expected {expected}. Leave it out where it "
                f"has a default."
            )
