"""A program as the cells of a notebook: what `main` does stands at the top level, and a cell ends where something was shown.

    wherry run tools/site/notebook.py examples/tutorials/gan.py PLACE     # runs the cells, as the page Playground would; PLACE gets what they said

A comment on lines of its own between statements begins a cell and is the text above it. Cells after the program, with pictures of
what it found, are in pictures/NAME.py beside the programs, and run in the same namespace.
"""

from __future__ import annotations

import ast
import base64
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

# Calls of these names say something: a cell ends after them.
FUNCTIONS, METHODS = {"print", "plot", "show", "train"}, {"fit"}
PICTURES = "pictures"  # the folder beside the programs


class Cell(NamedTuple):
    """A part of a program.

    Attributes:
        text: what stands above it; "" for nothing.
        code: without the comment that `text` was.
    """

    text: str
    code: str


def of(program: Path) -> list[Cell]:
    """The cells of a program and of its pictures."""
    found = cells(program.read_text(encoding="utf-8"))
    more = program.parent / PICTURES / program.name
    return found + (cells(more.read_text(encoding="utf-8")) if more.exists() else [])


def cells(source: str) -> list[Cell]:
    """The cells of a program; its docstring is left out.

    Examples:
        >>> cells('import paddle\\n\\ndef main(n=2):\\n    # Counting.\\n    print(n)\\n\\nif __name__ == "__main__":\\n    main()\\n')
        [Cell(text='', code='import paddle'), Cell(text='', code='n = 2'), Cell(text='Counting.', code='print(n)')]
    """
    lines = source.splitlines()
    parts: list[list[str]] = []
    for before, statement, begins, ends in _statements(ast.parse(source), lines):
        indent = statement.col_offset
        code = [line[indent:] for line in lines[statement.first - 1 : statement.last]]
        comment = before and before[-1].startswith("# ")
        if not parts or begins or comment:
            parts.append([])
        parts[-1] += [*(before if comment or parts[-1] else []), *code]
        if ends:
            parts.append([])
    return [_cell(part) for part in parts if any(part)]


class _Statement(NamedTuple):
    first: int
    last: int
    col_offset: int


def _statements(tree: ast.Module, lines: list[str]) -> Iterator[tuple[list[str], _Statement, bool, bool]]:
    """Of each statement of the unrolled program: blank lines and comments before it, itself, whether a cell begins with it and ends with it."""
    entry = _entry(tree)
    last = 0
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node is tree.body[0]:
            last = node.end_lineno or 0
        elif node is entry:
            yield from _unrolled(node, lines)
            last = node.end_lineno or 0
        elif not _is_guard(node):
            at = _place(node)
            definition = isinstance(node, (ast.ClassDef, ast.FunctionDef))
            yield _between(lines, last, at, 0), at, definition or _repeats(node), definition or _shows(node)
            last = at.last


def _unrolled(function: ast.FunctionDef, lines: list[str]) -> Iterator[tuple[list[str], _Statement, bool, bool]]:
    """What a function does, with its defaults as assignments in the first line."""
    arguments = function.args.args
    if arguments:  # the line `def main(steps=120):` becomes one of its own, at the end of the lines
        values = ", ".join(ast.unparse(value) for value in function.args.defaults)
        lines.append(f"{', '.join(one.arg for one in arguments)} = {values}")
        yield [], _Statement(len(lines), len(lines), 0), True, False
    body = [node for node in function.body if not isinstance(node, ast.Return)]
    last = function.body[0].lineno - 1
    while last > function.lineno and lines[last - 1].lstrip().startswith("#"):
        last -= 1
    for number, node in enumerate(body):
        at = _place(node)
        yield _between(lines, last, at, at.col_offset), at, (number == 0 and not arguments) or _repeats(node), _shows(node)
        last = at.last


def _place(node: ast.stmt) -> _Statement:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    return _Statement(first, node.end_lineno or node.lineno, node.col_offset)


def _between(lines: list[str], last: int, at: _Statement, indent: int) -> list[str]:
    return [line[indent:] for line in lines[last : at.first - 1]]


def _entry(tree: ast.Module) -> ast.FunctionDef | None:
    """The function that the program calls when it is run."""
    calls = [node.func for guard in filter(_is_guard, tree.body) for node in ast.walk(guard) if isinstance(node, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names), None)


def _is_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _shows(node: ast.stmt) -> bool:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return False
    called = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    return any(getattr(call, "id", "") in FUNCTIONS or getattr(call, "attr", "") in METHODS for call in called)


def _repeats(node: ast.stmt) -> bool:
    """A loop that says something, which is the training, has a cell of its own."""
    return isinstance(node, (ast.For, ast.While)) and _shows(node)


def _cell(lines: list[str]) -> Cell:
    while lines and not lines[0].strip():
        lines = lines[1:]
    text = []
    while lines and lines[0].startswith("#"):
        text.append(lines[0].removeprefix("#").strip())
        lines = lines[1:]
    return Cell(" ".join(text), "\n".join(lines).strip("\n"))


def run(program: Path) -> list[list[dict[str, Any]]]:
    """What each cell said: messages of wherry_web.playground.cells, content of pictures in base64.

    Raises:
        RuntimeError: a cell failed.
    """
    from wherry_web.playground.cells import Session

    said: list[dict[str, Any]] = []

    def post(message: str, content: bytes | None) -> None:
        said.append(json.loads(message) | ({"content": base64.b64encode(content).decode()} if content is not None else {}))

    sys.path.insert(0, str(program.resolve().parent))
    main = sys.modules["__main__"] = ModuleType("__main__")  # the programs' own names, not those of this file
    session = Session(post, vars(main))
    found = []
    for cell in of(program):
        said = []
        result = json.loads(session.run(cell.code))
        if result["outcome"] != "done":
            raise RuntimeError(f"{program.name}: {result['error']['text']}\nin the cell\n{cell.code}")
        found.append(said)
    return found


if __name__ == "__main__":
    started = time.monotonic()
    messages = run(Path(sys.argv[1]))
    Path(sys.argv[2]).write_text(json.dumps({"cells": messages, "seconds": time.monotonic() - started}))
