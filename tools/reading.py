"""References from documents to definitions: `[`name`](../path/file.py#L12)` in docs/reading.md says that line 12 defines `name`.

    python tools/reading.py            write the lines (and paths, where a file has moved) of today
    python tools/reading.py --check    exit 1, naming them, where a line does not define what the text names

`Class.method` is the first `method` after `Class`. A definition is a line with `def`, `cdef`, `class`, `struct`, `function` and the like, an
assignment, a macro that makes one (`WRY_ARITHMETIC(Add, +)`), or a row of a table that begins with the name (`NUMBERS("add", Add)`).
"""
from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "docs" / "reading.md",)
REFERENCE = re.compile(r"\[`(?P<name>[\w.]+)`\]\((?P<path>[^)#\s]+)#L(?P<line>\d+)\)")


def defines(line: str, name: str) -> bool:
    """Whether a line is the definition of this name."""
    word = rf"(?<![\w.]){re.escape(name)}(?!\w)"
    keyword = r"(?:async\s+)?(?:cp?def|def|class|struct|typedef\s+struct|function|inline|const|export|#define|static|async)\b"
    return bool(
        re.match(rf"\s*{keyword}[^=(]*?{word}\s*([(:={{<]|extends\b|$)", line)
        or re.match(rf"\s*(?:async\s+)?{word}\s*\([^)]*\)\s*\{{", line)   # a method in JavaScript
        or re.match(rf"(?:(?!return\b|else\b)[\w:<>]+\s+[*&]*)+{word}\s*\([^;]*$", line)  # a function in C
        or re.match(rf"\s*{word}\s*(?::[^=]+)?=(?!=)", line)              # an assignment
        or re.match(rf"\s*[A-Z][A-Z_]+\(\"?{word}\"?\s*,", line)          # a macro, a row
    )


def line_of(text: str, name: str) -> int | None:
    """The line, from 1, that defines `name`."""
    at, lines = 0, text.splitlines()
    for part in name.split("."):
        found = next((i for i in range(at, len(lines)) if defines(lines[i], part)), None)
        if found is None:
            return None
        at = found + 1
    return at


def moved(path: Path, name: str) -> Path | None:
    """The file of the same name that defines `name`, where there is exactly one."""
    found = [other for other in ROOT.glob(f"packages/**/{path.name}") if "build" not in other.parts and line_of(other.read_text(), name)]
    return found[0] if len(found) == 1 else None


def checked(page: Path) -> tuple[str, list[str]]:
    """The text with its references brought up to date, and what is wrong with those it has."""
    faults: list[str] = []

    def corrected(found: re.Match[str]) -> str:
        name, line = found["name"], int(found["line"])
        path = (page.parent / found["path"]).resolve()
        shown = f"{page.relative_to(ROOT)}: `{name}`"
        if not path.is_file() or line_of(path.read_text(), name) is None:
            other = moved(path, name)
            if other is None:
                faults.append(f"{shown} is not defined in {found['path']}. Name the file that it is in now, or another definition.")
                return found[0]
            faults.append(f"{shown} has moved to {other.relative_to(ROOT)}: run python tools/reading.py")
            path = other
        now = line_of(path.read_text(), name)
        if path == (page.parent / found["path"]).resolve() and now != line:
            lines = path.read_text().splitlines()
            if line <= len(lines) and defines(lines[line - 1], name.split(".")[-1]):
                return found[0]  # one of several definitions, chosen by hand
            faults.append(f"{shown} is not at line {line} of {found['path']} but at {now}: run python tools/reading.py")
        up = "../" * len(page.parent.relative_to(ROOT).parts)
        return f"[`{name}`]({up}{path.relative_to(ROOT).as_posix()}#L{now})"

    return REFERENCE.sub(corrected, page.read_text()), faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where a reference is wrong")
    check = parser.parse_args().check
    status = 0
    for page in PAGES:
        text, faults = checked(page)
        left = [fault for fault in faults if check or not fault.endswith("tools/reading.py")]
        for fault in left:
            print(f"reading: {fault}", file=sys.stderr)
        if not check:
            page.write_text(text)
        status |= bool(left)
    return status


if __name__ == "__main__":
    sys.exit(main())
