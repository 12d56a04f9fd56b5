"""Docstrings of layers that run a function of `functional`: what both share is written once, at the function.

`@documented_by(F.elu)` completes the docstring of the class below it: arguments, inputs, shapes, errors and source come from the
function, unless the class gives its own. What several classes share stands in the docstring of a private base class. The text is
put together when it is read (by `help`, `inspect.getdoc`, doctest), so that importing the layers takes no longer.
"""
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from wherry_tensor.explained import explained

__all__ = ["documented_by"]

Kind = TypeVar("Kind", bound=type)
Entries = list[tuple[str, str]]  # of a section: names, and what is said of them

_ORDER = ("Args", "Attributes", "Inputs", "Shape", "Raises", "Source", "Examples")
_HEADING = re.compile(rf"^({'|'.join((*_ORDER, 'Returns'))}):$", re.MULTILINE)


def documented_by(function: Callable[..., Any]) -> Callable[[Kind], Kind]:
    """Complete the docstring of a layer whose `forward` is `function`, which takes the inputs as its first arguments."""

    def decorate(layer: Kind) -> Kind:
        layer.__doc__ = _Docstring(layer, function)  # type: ignore[assignment]
        return layer

    return decorate


class _Docstring:
    """A `__doc__` that is composed when it is read."""

    def __init__(self, layer: type, function: Callable[..., Any]) -> None:
        self.layer, self.own, self.function = layer, layer.__doc__, function

    def __get__(self, instance: Any, owner: type) -> str | None:
        if self.own is None or self.function.__doc__ is None:  # python -OO
            return self.own
        settings, inputs = (list(inspect.signature(getattr(self.layer, name)).parameters)[1:] for name in ("__init__", "forward"))
        text = inspect.cleandoc(self.function.__doc__)  # its first arguments may have other names in `forward`
        names = list(inspect.signature(self.function).parameters)
        for name, new in zip(names, inputs, strict=False):
            if new in names:
                continue
            text = re.sub(rf"^    {name}: ", f"    {new}: ", text.replace(f"`{name}`", f"`{new}`"), flags=re.MULTILINE)
        own, shared = _with_bases(self.layer, self.own), _sections(text)
        said, described = _entries(own.pop("Args", "")), _entries(shared["Args"])
        found = {
            "Args": _chosen([*described, *said], settings),
            "Inputs": _chosen(described, inputs),
            "Shape": shared["Shape"],
            "Raises": _errors(_entries(own.pop("Raises", "")), _entries(shared["Raises"]), set(names) - {*settings, *inputs}),
            "Source": shared["Source"].replace(f".functional.{self.function.__name__}", f".{self.layer.__name__}"),
            **own,
        }
        return "\n\n".join([found[""], *(f"{name}:\n{found[name]}" for name in _ORDER if found.get(name))])


def _sections(text: str) -> dict[str, str]:
    """What stands below each heading, and before the first one under the key ""."""
    first, *rest = _HEADING.split(text)
    return {"": first.strip(), **{name: below.strip("\n") for name, below in zip(rest[::2], rest[1::2], strict=True)}}


def _with_bases(layer: type, own: str) -> dict[str, str]:
    """The sections of a docstring; arguments and errors after those of private base classes."""
    found: dict[str, str] = {}
    shared = (vars(base).get("__doc__") or "" for base in reversed(layer.__mro__[1:]) if base.__name__.startswith("_"))
    for text in (*shared, own):
        for name, below in _sections(inspect.cleandoc(text)).items():
            found[name] = f"{found[name]}\n{below}" if name in found and name in ("Args", "Raises") else below
    return found


def _entries(text: str) -> Entries:
    """`names: text` for each entry of a section; further lines of an entry are indented."""
    found = (entry.strip().partition(": ") for entry in re.split(r"\n(?=    \w)", text) if entry)
    return [(names, said) for names, _, said in found]


def _written(entries: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"    {names}: {said}" for names, said in entries)


def _chosen(entries: Entries, wanted: list[str]) -> str:
    """The last entry about each of the wanted names, in their order."""
    about = {name: entry for entry in entries for name in entry[0].split(", ")}
    return _written(dict.fromkeys(about[name] for name in wanted if name in about))


def _errors(own: Entries, shared: Entries, unknown: set[str]) -> str:
    """The errors of the constructor, and those of a call: not what the constructor checks, nor what is about arguments that it does not have."""
    called = []
    for name, said in shared:
        about = set(re.findall(r"`(\w+)`", said))
        if about and about <= unknown:
            continue
        for checked in (text.rstrip(".") for other, text in own if other == name):
            said = re.sub(f"^{re.escape(checked)}(, or |, | or )?|(, or |, | or ){re.escape(checked)}(?=\\.$)", "", said)
        if said != ".":
            called.append((name, f"when called: {said}"))
    return _written([*own, *called])


explained(globals())
