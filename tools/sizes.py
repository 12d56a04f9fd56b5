"""How large the packages are: lines of code, without docstrings, comments, empty lines and tests.

    python tools/sizes.py            a table: Python, Cython, C++ and CUDA, JavaScript, together, and the budget
    python tools/sizes.py --check    exit 1, naming them, when packages are larger than their budgets

The budget of a package is `budget = N` in [tool.wherry] of its pyproject.toml. It is there so that growth is noticed and decided on:
who needs more lines first looks for what can go, then raises the number in the commit that needs it.
"""
from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from pathlib import Path

from package_table import Package, packages

LANGUAGES = {
    "Python": (".py",),
    "Cython": (".pyx", ".pxi", ".pxd"),
    "C++, CUDA": (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"),
    "JavaScript": (".js", ".mjs"),
}
# Neither code of the package nor written by hand: what was built, copies of headers, what is downloaded.
LEFT_OUT = {"tests", "build", "_vendored", "vendor", "__pycache__", "node_modules", "engine"}
_NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER,
}


def python_lines(text: str) -> int:
    """Lines that hold a token which is neither a comment nor part of a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(lines)


def cython_lines(text: str) -> int:
    """As `python_lines`, for what Python cannot parse: a string that begins a line in three quotes is a docstring."""
    text = re.sub(r'(?ms)^[ \t]*[rRuU]?("""|\'\'\').*?\1', "", text)
    return sum(1 for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def c_lines(text: str) -> int:
    """Lines outside of comments. Strings are looked at first: `//` within one is not a comment."""
    pattern = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/'
    bare = re.sub(pattern, lambda found: found[0] if found[0][0] in "\"'`" else "", text, flags=re.DOTALL)
    return sum(1 for line in bare.splitlines() if line.strip())


COUNTERS = {"Python": python_lines, "Cython": cython_lines, "C++, CUDA": c_lines, "JavaScript": c_lines}


def files(package: Package) -> list[tuple[str, Path]]:
    """(language, file) of what belongs to a package; a link is counted where it leads to, not here."""
    found = []
    for path in sorted(package.folder.rglob("*")):
        inside = path.relative_to(package.folder)
        linked = any((package.folder / above).is_symlink() for above in [inside, *inside.parents])
        if path.is_file() and not linked and not LEFT_OUT.intersection(inside.parts) and not inside.parts[0].startswith("."):
            found += [(language, path) for language, endings in LANGUAGES.items() if path.suffix in endings]
    return found


def size(package: Package) -> dict[str, int]:
    """Lines of code by language."""
    lines = dict.fromkeys(LANGUAGES, 0)
    for language, path in files(package):
        lines[language] += COUNTERS[language](path.read_text())
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="print nothing but what is larger than its budget, and exit 1 then")
    check = parser.parse_args().check
    sizes = {package.name: size(package) for package in packages().values()}
    faults = []
    for name, lines in sizes.items():
        package, total = packages()[name], sum(lines.values())
        if not package.budget:
            faults.append(
                f"{package.place}/pyproject.toml has no `budget` in [tool.wherry]. The package has {total} lines of code: "
                f"write `budget = {-(-total // 100) * 100}`."
            )
        elif total > package.budget:
            faults.append(
                f"{name} is larger than its budget. Got {total} lines of code, expected at most {package.budget}. Look for what can go; "
                f"where everything is needed, raise `budget` in {package.place}/pyproject.toml and say why in the commit."
            )
    if not check:
        print("| package | " + " | ".join(LANGUAGES) + " | together | budget |")
        print("|---|" + "---:|" * (len(LANGUAGES) + 2))
        for name, lines in sizes.items():
            print(f"| {name} | " + " | ".join(str(n or "") for n in lines.values()) + f" | {sum(lines.values())} | {packages()[name].budget or ''} |")
        columns = [sum(lines[language] for lines in sizes.values()) for language in LANGUAGES]
        print("| together | " + " | ".join(map(str, columns)) + f" | {sum(columns)} | {sum(p.budget for p in packages().values())} |")
        return 0
    for fault in faults:
        print(f"sizes: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
