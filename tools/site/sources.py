"""Pages of the repository's files, one line each with an anchor: where "source" and links to code lead.

A file gets a page when a page asks for its address, so the site holds what its pages lead to and no more.
"""

from __future__ import annotations

import html
import subprocess
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = "source"
BINARY = 200_000  # bytes; a longer file is not shown
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{name} · source of Wherry</title>
<link rel="icon" href="{root}_static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{root}_static/source.css">
</head>
<body>
<header><a href="{root}index.html">Wherry</a> <span>source</span> <h1>{crumbs}</h1></header>
<main>{content}</main>
</body>
</html>
"""


class Sources:
    """Addresses of files of the repository, and the pages after them."""

    def __init__(self) -> None:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
        self.files = sorted(listed.stdout.splitlines())
        self._known = set(self.files)
        self._by_module: dict[str, str] = {}
        for name in self.files:
            _, src, inside = name.partition("/src/")
            if src:
                self._by_module[inside] = name
        self.asked: set[str] = set()

    def address(self, place: str, line: int | None = None) -> str | None:
        """The address of a file or folder, from the site's root; None where there is no such thing in the repository."""
        place = place.rstrip("/")
        if place in self._known:
            self.asked.add(place)
            return f"{FOLDER}/{place}.html" + (f"#L{line}" if line else "")
        if any(name.startswith(f"{place}/") for name in self.files):
            self.asked.add(f"{place}/")
            return f"{FOLDER}/{place}/index.html"
        return None

    def of_module_file(self, path: str) -> str | None:
        """The file of the repository that is installed at `path`: `.../wherry_nn/layer.py` is that of packages/nn."""
        parts = Path(path).parts
        for at, part in enumerate(parts):
            if part == "wherry" or part.startswith("wherry_"):
                inside = "/".join(parts[at:])
                if inside in self._by_module:
                    return self._by_module[inside]
        return None

    def write(self, site: Path) -> int:
        """Write the pages that were asked for; returns how many."""
        written: set[str] = set()
        while self.asked - written:  # folders ask for files
            for place in sorted(self.asked - written):
                written.add(place)
                target = site / FOLDER / (f"{place}index.html" if place.endswith("/") else f"{place}.html")
                target.parent.mkdir(parents=True, exist_ok=True)
                root = "../" * (len(target.relative_to(site).parts) - 1)
                content = self._folder(place, root) if place.endswith("/") else self._file(place)
                target.write_text(PAGE.format(name=html.escape(place), root=root, crumbs=html.escape(place), content=content))
        sheet = site / "_static" / "source.css"
        sheet.write_text(sheet.read_text() + colours())
        return len(written)

    def _folder(self, place: str, root: str) -> str:
        inside = sorted(
            {name[len(place) :].split("/")[0] + ("/" if "/" in name[len(place) :] else "") for name in self.files if name.startswith(place)}
        )
        rows = "".join(f'<li><a href="{root}{self.address(place + name)}">{html.escape(name)}</a></li>' for name in inside)
        return f"<ul>{rows}</ul>"

    def _file(self, place: str) -> str:
        content = (ROOT / place).read_bytes()
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return f"<p>{len(content)} bytes, which are not text.</p>"
        if len(content) > BINARY:
            return f"<p>{len(content)} bytes: too long for a page.</p>"
        try:
            lexer = get_lexer_for_filename(place, stripnl=False, ensurenl=False)
        except ClassNotFound:
            lexer = TextLexer(stripnl=False, ensurenl=False)
        lines = highlight(text, lexer, HtmlFormatter(nowrap=True)).split("\n")
        if lines and not lines[-1]:
            lines.pop()
        # The end of a line stands within its block: between two it would be a line of its own.
        body = "".join(f'<span id="L{number}">{line}\n</span>' for number, line in enumerate(lines, 1))
        return f'<pre class="highlight" tabindex="0">{body}</pre>'


def colours() -> str:
    """Rules for both schemes, of styles whose contrast passes WCAG AA."""
    light = HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")
    dark = HtmlFormatter(style="a11y-high-contrast-dark").get_style_defs(".highlight")
    keep = [line for text in (light,) for line in text.splitlines() if ".highlight ." in line]
    darker = [line for line in dark.splitlines() if ".highlight ." in line]
    return "\n".join([*keep, "@media (prefers-color-scheme: dark) {", *darker, "}"]) + "\n"
