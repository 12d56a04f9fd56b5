"""Pages in fewer bytes that look and work the same: no classes that no rule or script speaks of, no marks that are left with nothing to say.

Two thousand pages of the API and of ops repeat the theme's frame, the tree of pages above all; what this takes out is a fifth of the site.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

UNUSED = {"basic.css", "debug.css", "skeleton.css"}  # sheets that no page loads
# Names and signs of code have the colour of the text around them.
PLAIN = re.compile(r'<span class="?(?:n|p|w|o|nn|nb|na|nv)"?>([^<]*)</span>')
_TAG = re.compile(r"<[a-z][^<>]*>")
_CLASS = re.compile(r' class="([^"]*)"')
_SPAN = re.compile(r"(<span\b[^>]*>|</span>)")
_TREE = re.compile(r'(?<=<div class="sidebar-tree">).*?(?=</div>)', re.DOTALL)
_CODE = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
IN_THE_TREE = {"reference": "a:any-link", "toctree-l1": "ul>li:nth-child(n)"}  # class -> what is as specific and needs none
_UNQUOTED = re.compile(r' (class|id)="([^\s"\'=<>`]+)"(?=[ >])')


def apply(site: Path, left_alone: str) -> None:
    """Shorten all pages but those below `left_alone`."""
    by_place(site / "_static" / "styles" / "furo.css")
    pages = Pages(spoken_of(site))
    for path in site.rglob("*.html"):
        if path.relative_to(site).parts[0] != left_alone:
            path.write_text(pages.page(path.read_text()))


def by_place(sheet: Path) -> None:
    """Let the theme's rules for the tree of pages find its links by where they stand: their classes are 3 MB of the site.

    Raises:
        SystemExit: the rules are not those of the theme that this was written for.
    """
    text = sheet.read_text()
    text = re.sub(r"(\.sidebar-tree[^,{}]*)\.reference\b", rf"\1{IN_THE_TREE['reference']}", text)
    text = text.replace(".sidebar-tree .toctree-l1>", f".sidebar-tree>{IN_THE_TREE['toctree-l1']}>")
    if ".toctree-l1" in text or any(text.count(place) < 2 for place in IN_THE_TREE.values()):
        raise SystemExit(f"site: {sheet.name} has other rules for its tree of pages than tools/site/shorter.py knows. Adapt by_place.")
    sheet.write_text(text)


def spoken_of(site: Path) -> set[str]:
    """The classes that the site's sheets and scripts name."""
    sheets = (path.read_text() for path in sorted((site / "_static").rglob("*.css")) if path.name not in UNUSED)
    scripts = (path.read_text() for path in sorted((site / "_static").rglob("*.js")))
    found = {name for text in sheets for name in re.findall(r"\.(-?[A-Za-z_][\w-]*)", text)}
    for text in scripts:  # in a selector, or asked for
        found.update(re.findall(r"\.([A-Za-z_][\w-]*)(?=[^\"'`\n]*[\"'`])", text))
        found.update(re.findall(r"(?:ClassName|contains)\([\"'`]([\w-]+)", text))
    return found


class Pages:
    """Shortens pages. Most tags of one stand in a hundred others too: what becomes of a tag is remembered."""

    def __init__(self, classes: set[str]) -> None:
        self.classes = classes
        self.in_the_tree = classes - IN_THE_TREE.keys()
        self._tag = cache(self._tag)  # type: ignore[method-assign]
        self._classes_in_the_tree = cache(self._classes_in_the_tree)  # type: ignore[method-assign]

    def page(self, text: str) -> str:
        """The text of a page without what nobody would miss."""
        text = _TREE.sub(lambda tree: _CLASS.sub(lambda found: self._classes_in_the_tree(found[1]), tree[0]), text)
        text = unmarked(PLAIN.sub(lambda code: code[1], _TAG.sub(lambda tag: self._tag(tag[0]), text)))
        return _CODE.sub(lambda code: re.sub(r"<(/?)span\b", r"<\1i", code[0]), text)

    def _tag(self, tag: str) -> str:
        return _UNQUOTED.sub(r" \1=\2", _CLASS.sub(lambda found: _kept(found[1], self.classes), tag))

    def _classes_in_the_tree(self, names: str) -> str:
        return _kept(names, self.in_the_tree)


def _kept(names: str, classes: set[str]) -> str:
    kept = " ".join(name for name in names.split() if name in classes or name.startswith("highlight-"))  # the theme asks for a beginning
    return f' class="{kept}"' if kept else ""


def unmarked(text: str) -> str:
    """The text without `<span>` that say nothing."""
    kept: list[bool] = []
    parts: list[str] = []
    for part in _SPAN.split(text):
        if part == "</span>":
            if kept.pop():
                parts.append(part)
        elif part.startswith("<span"):
            kept.append(part != "<span>")
            if kept[-1]:
                parts.append(part)
        else:
            parts.append(part)
    return "".join(parts)
