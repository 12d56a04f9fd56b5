"""Which ops a public function or layer calls, found in its code and in that of the functions that it calls."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

DEPTH = 4  # of functions that call each other
LIMIT = 12  # ops: what calls more is not an answer to a reader
# Checks and conversions of arguments, which nearly all call.
_NOT_FOLLOWED = ("check", "require", "refuse", "convert", "normal", "warn")


def ops_behind(value: Any, registry: dict[str, Any]) -> list[str]:
    """Names of ops, in the order in which the code speaks of them; none where more than `LIMIT` are."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    level = list(_starts(value))
    for _ in range(DEPTH):
        deeper: list[Any] = []
        for function in level:
            if id(function) not in seen:
                seen.add(id(function))
                names, called = _of(function, registry)
                found.update(dict.fromkeys(names))
                if not names:  # a function that calls ops has said what it is made of
                    deeper += called
        level = deeper
    return list(found) if len(found) <= LIMIT else []


def _starts(value: Any) -> Iterator[Any]:
    if inspect.isclass(value):
        value = vars(value).get("forward") or next((vars(base)["forward"] for base in value.__mro__ if "forward" in vars(base)), None)
    value = inspect.unwrap(value) if callable(value) else None
    if isinstance(value, types.FunctionType):
        yield value


def _of(function: types.FunctionType, registry: dict[str, Any]) -> tuple[list[str], list[types.FunctionType]]:
    ops: list[str] = []
    called: list[types.FunctionType] = []
    known = set(registry.values())
    for code in _codes(function.__code__):
        owners = [function.__globals__.get(name) for name in code.co_names]
        modules = [owner for owner in owners if isinstance(owner, types.ModuleType) and owner.__name__.startswith("wherry")]
        for name in code.co_names:
            values = [function.__globals__.get(name), *(vars(module).get(name) for module in modules)]
            for one in values:
                if isinstance(one, types.FunctionType) and one.__module__.startswith("wherry"):
                    if not name.lstrip("_").startswith(_NOT_FOLLOWED):
                        called.append(inspect.unwrap(one))
                elif _hashable(one) and one in known:
                    ops.append(one.name)
    return ops, called


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return value is not None
