"""The syntax tree of a function, from its source file.

Whole files are parsed, so that lines and columns are those of the file, lambdas are told apart by where they stand, and
the class around a method is known.
"""
from __future__ import annotations

import ast
import copy
import linecache
from types import CodeType, FunctionType
from typing import NamedTuple

__all__ = ["Source", "source_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Source(NamedTuple):
    """Where a function is written."""

    node: Function  # a copy, to be changed
    class_name: str | None  # of the innermost class around it, for names like __x
    filename: str


class _File(NamedTuple):
    text: str
    functions: dict[tuple[str, int], list[tuple[Function, str | None]]]  # (name, first line) -> those there


_files: dict[str, _File] = {}


def source_of(function: FunctionType) -> Source | None:
    """The source of `function`; None where there is none: made by exec, or the file has changed since."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        return None
    text = "".join(lines)
    known = _files.get(code.co_filename)
    if known is None or known.text != text:
        try:
            known = _File(text, _functions_of(ast.parse(text)))
        except (SyntaxError, ValueError):  # a file of something else, or one that is being written
            return None
        _files[code.co_filename] = known
    found = [one for one in known.functions.get((code.co_name, code.co_firstlineno), ()) if _fits(one[0], code)]
    if len(found) > 1:
        start = _first_column(code)
        found = [one for one in found if _begins(one[0]) <= start <= _ends(one[0])]
        found = found[-1:]  # the innermost of those around
    if not found:
        return None
    node, class_name = found[0]
    return Source(copy.deepcopy(node), class_name, code.co_filename)


def _functions_of(tree: ast.Module) -> dict[tuple[str, int], list[tuple[Function, str | None]]]:
    found: dict[tuple[str, int], list[tuple[Function, str | None]]] = {}

    def walk(node: ast.AST, class_name: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            inside = class_name
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                line = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                found.setdefault((child.name, line), []).append((child, class_name))
            elif isinstance(child, ast.Lambda):
                found.setdefault(("<lambda>", child.lineno), []).append((child, class_name))
            elif isinstance(child, ast.ClassDef):
                inside = child.name
            walk(child, inside)

    walk(tree, None)
    return found


def _fits(node: Function, code: CodeType) -> bool:
    """Whether the code comes from this text. If the file was changed since the import, names differ."""
    args = node.args
    named = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    named += [a.arg for a in (args.vararg, args.kwarg) if a is not None]
    have = code.co_varnames[: len(named)]
    return len(have) == len(named) and all(n == h or (n.startswith("__") and h.endswith(n)) for n, h in zip(named, have, strict=True))


def _first_column(code: CodeType) -> tuple[int, int]:
    """Where the body of a lambda begins."""
    for line, _, column, _ in code.co_positions():
        if line is not None and column is not None and (line, column) != (code.co_firstlineno, 0):
            return line, column
    return code.co_firstlineno, 0


def _begins(node: Function) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _ends(node: Function) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
