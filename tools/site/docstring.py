"""Docstrings of the house (Args, Returns, Shape, Raises, Source, Examples) as Markdown.

Their prose is plain text with code between backticks, so whatever Markdown would read into it is taken from it.
"""
from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Shape", "Raises", "Notes", "Source", "Examples")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):$")
_ENTRY = re.compile(r"^(\*{0,2}[\w., *\[\]]+?(?: \([^)]*\))?):(?: (.*))?$")
_SPECIAL = re.compile(r"([*_<>\[\]|#$~\\])")


@dataclass
class Docstring:
    """The parts of one: `summary` is its first sentence, `body` all before the sections, `sections` the lines of each."""

    summary: str = ""
    body: list[str] = field(default_factory=list)
    sections: dict[str, list[str]] = field(default_factory=dict)

    @property
    def session(self) -> str:
        """The examples: all lines from the first `>>>` of each block on."""
        return "\n".join(self.sections.get("Examples", []))


def parse(text: str | None) -> Docstring:
    """The parts of a docstring, which may be None."""
    found = Docstring()
    target = found.body
    for line in inspect.cleandoc(text or "").splitlines():
        heading = _HEADING.match(line)
        if heading:
            target = found.sections.setdefault(heading[1], [])
        else:
            target.append(line)
    for name, lines in found.sections.items():
        found.sections[name] = inspect.cleandoc("\n" + "\n".join(lines)).splitlines()
    paragraph = " ".join("\n".join(found.body).strip().split("\n\n")[0].split())
    found.summary = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph, maxsplit=1)[0]
    return found


def escaped(text: str) -> str:
    """Plain text for Markdown; what stands between backticks stays."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(part if i % 2 else _SPECIAL.sub(r"\\\1", part) for i, part in enumerate(parts))


def prose(lines: list[str]) -> str:
    """Paragraphs, lists and indented blocks, as a docstring has them, in Markdown."""
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        rows = block.splitlines()
        if not any(row.strip() for row in rows):
            continue
        if ">>>" in block:
            blocks.append(f"```pycon\n{inspect.cleandoc(block)}\n```")
        elif all(row.startswith("    ") for row in rows if row.strip()) or _looks_like_table(rows):
            blocks.append("```text\n" + inspect.cleandoc("\n" + block) + "\n```")
        elif rows[0].lstrip().startswith(("- ", "* ")):
            items = re.split(r"\n\s*[-*] ", "\n" + block)[1:]
            blocks.append("\n".join(f"- {escaped(' '.join(item.split()))}" for item in items))
        else:
            blocks.append(escaped(" ".join(block.split())))
    return "\n\n".join(blocks)


def _looks_like_table(rows: list[str]) -> bool:
    return len(rows) > 1 and all(re.search(r"\S {2,}\S", row) for row in rows)


def entries(lines: list[str]) -> list[tuple[str, str]]:
    """(name, text) of Args, Attributes or Raises; text that belongs to no name comes under ''."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        entry = None if line.startswith(" ") else _ENTRY.match(line)
        if entry:
            found.append((entry[1], [entry[2] or ""]))
        elif found:
            found[-1][1].append(line[4:] if line.startswith("    ") else line)
        elif line.strip():
            found.append(("", [line]))
    return [(name, prose(text)) for name, text in found]
