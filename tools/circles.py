"""Circles of files: Python files that import each other, at import time or inside functions.

    python tools/circles.py            exit 1, naming each circle and the imports that close it, when there is one

A file that belongs to a circle cannot be read, tested or moved by itself. An import inside a function makes such a
circle run; it does not end it. What ends it: put the function or the table where both sides can import it, or let the upper file
register itself with the lower one. Imports under `if TYPE_CHECKING:` do not count, nor do those of compiled files (.pyx), whose
helpers in Python are looked up late.

grimp, which import-linter brings, is not asked: it takes `from package import _compiled` for an import of the package's
`__init__.py`, and does not know that `import a.b.c` runs the files of `a` and `a.b`.
"""
from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import package_table


@dataclass(frozen=True)
class Import:
    """One file imports another."""

    importer: str
    imported: str
    line: int
    inside: bool  # a function


def files(root: Path = package_table.ROOT) -> dict[str, Path]:
    """The file of each module of all packages, by its name; of a package that is its `__init__.py`."""
    found = {}
    for package in package_table.packages(root).values():
        source = package.folder / "src"
        for file in sorted(source.rglob("*.py*")):
            if file.suffix in (".py", ".pyx") and (file.parent / "__init__.py").exists():
                parts = file.relative_to(source).with_suffix("").parts
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(module: str, file: Path, known: dict[str, Path]) -> Iterator[Import]:
    """What a file imports of the modules that are known."""

    def nearest(name: str) -> str:
        while name and name not in known:
            name = name.rpartition(".")[0]
        return name

    def visit(node: ast.AST, inside: bool) -> Iterator[Import]:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                base = ".".join([*parts[:len(parts) - node.level + (file.name == "__init__.py")], *filter(None, [base])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        for name in dict.fromkeys(map(nearest, names)):
            # Packages around it that are not around us run first, with all that they import.
            while name and name != module and not module.startswith(f"{name}."):
                yield Import(module, name, node.lineno, inside)
                name = name.rpartition(".")[0]
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        children: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            children = list(node.orelse)
        for child in children:
            yield from visit(child, inside)

    if file.suffix == ".py":
        yield from visit(ast.parse(file.read_text(), str(file)), False)


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """The largest sets of modules each of which reaches all others of the set (Tarjan 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in sorted(edges[module]):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * len(edges) + 1000))
    for module in edges:
        if module not in order:
            visit(module)
    return found


def closing(circle: set[str], all_imports: list[Import]) -> list[Import]:
    """The imports that close a circle: those inside functions; where none are, a shortest way round."""
    own = [one for one in all_imports if one.importer in circle and one.imported in circle]
    if any(one.inside for one in own):
        return [one for one in own if one.inside]
    start = min(circle)
    ways: dict[str, list[Import]] = {start: []}
    for at in (queue := [start]):
        for one in own:
            if one.importer == at and one.imported == start:
                return [*ways[at], one]
            if one.importer == at and one.imported not in ways:
                ways[one.imported] = [*ways[at], one]
                queue.append(one.imported)
    raise AssertionError(circle)


def main(root: Path = package_table.ROOT) -> int:
    known = files(root)
    all_imports = [one for module, file in known.items() for one in imports(module, file, known)]
    edges: dict[str, set[str]] = {module: set() for module in known}
    for one in all_imports:
        edges[one.importer].add(one.imported)
    found = sorted(circles(edges), key=lambda circle: (len(circle), min(circle)))
    for circle in found:
        print(f"circles: {len(circle)} files import each other: {', '.join(sorted(circle))}. Closed by", file=sys.stderr)
        for one in closing(circle, all_imports):
            place = known[one.importer].relative_to(root)
            print(f"  {place}:{one.line}: imports {one.imported}{' inside a function' if one.inside else ''}", file=sys.stderr)
    print(f"circles: {len(known)} files, {sum(map(len, edges.values()))} imports between them, {len(found)} circles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
