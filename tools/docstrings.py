"""Counts what the docstrings of the public functions and classes say, for each package.

    python tools/docstrings.py              a table: package, names, and in percent those with an example, errors, shapes
    python tools/docstrings.py tensor nn    of these packages, with the names that lack something

Public is what users reach: every function and class below `wherry` whose path has no underscore, and the methods of Tensor and
of Layer. An example is asked of all of them; "Raises:" of what takes arguments; a shape of what takes or gives tensors.
Exceptions, and modules of other packages, are left out.
"""
from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from package_table import packages  # noqa: E402

import wherry  # noqa: E402
from wherry_nn.layer import Layer  # noqa: E402

QUESTIONS = ("example", "errors", "shapes")
A_SHAPE = re.compile(r"^\s*Shape:|`\[[^\]`]*\]`|\bshapes? of\b|\b0-d\b|\b[1-5]-D\b", re.MULTILINE)


def public() -> Iterator[tuple[str, Any]]:
    """(path, function or class), each once, under the shortest of its paths."""
    for paths, value in names():
        yield min(paths, key=len), value


def names() -> list[tuple[list[str], Any]]:
    """(all of its paths, function or class), ordered by the shortest path."""
    found: dict[int, tuple[list[str], Any]] = {}
    modules = [wherry] + [
        importlib.import_module(m.name)
        for m in pkgutil.walk_packages(wherry.__path__, "wherry.")
        if "._" not in m.name and m.name != "wherry.alias"
    ]
    owners = [*modules, wherry.Tensor, Layer]
    for owner in owners:
        prefix = owner.__name__ if inspect.ismodule(owner) else f"wherry.{owner.__name__}"
        for name in dir(owner):
            if name.startswith("_"):
                continue
            value = getattr(owner, name, None)
            if not (inspect.isroutine(value) or inspect.isclass(value)) or isinstance(value, type) and issubclass(value, Exception):
                continue
            found.setdefault(id(value), ([], value))[0].append(f"{prefix}.{name}")
    return sorted(found.values(), key=lambda pair: min(pair[0], key=len))


def package_of(value: Any) -> str | None:
    """The folder's name of the package that defines it."""
    module = getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", None) or ""
    return next((p.name for p in packages().values() if p.module == module.partition(".")[0]), None)


def lacks(value: Any) -> set[str]:
    """Which of the questions its docstring leaves open."""
    text = inspect.getdoc(value) or ""
    callables = [value]
    if inspect.isclass(value):
        callables = [f for f in (value.__init__, getattr(value, "forward", None)) if inspect.isfunction(f)]
    annotations, arguments = "", []
    for function in callables:
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):  # of compiled types
            continue
        arguments += [p for p in parameters if p not in ("self", "name", "cls")]
        annotations += " ".join(map(str, getattr(function, "__annotations__", {}).values()))
    plain = inspect.isclass(value) and issubclass(value, (enum.Enum, dict))
    asked = {
        "example": (not plain, ">>>" in text),
        "errors": (bool(arguments) and not plain, "Raises:" in text),
        "shapes": ("Tensor" in annotations, bool(A_SHAPE.search(text))),
    }
    return {question for question, (means_something, there) in asked.items() if means_something and not there}


def main() -> None:
    chosen = sys.argv[1:]
    unknown = sorted(set(chosen) - set(packages()))
    if unknown:
        sys.exit(f"docstrings: there is no package {', '.join(unknown)}. Expected names among {', '.join(packages())}.")
    table: dict[str, list[tuple[str, set[str]]]] = {}
    for path, value in public():
        package = package_of(value)
        if package:
            table.setdefault(package, []).append((path, lacks(value)))
    print(f"{'package':<14}{'names':>6}" + "".join(f"{question:>9}" for question in QUESTIONS))
    for package in packages():
        rows = table.get(package, [])
        if not rows or chosen and package not in chosen:
            continue
        shares = [100 * sum(question not in missing for _, missing in rows) / len(rows) for question in QUESTIONS]
        print(f"{package:<14}{len(rows):>6}" + "".join(f"{share:>8.0f}%" for share in shares))
        for path, missing in rows if chosen else ():
            if missing:
                print(f"  {path}: {', '.join(q for q in QUESTIONS if q in missing)}")


if __name__ == "__main__":
    main()
