"""Gives every page a Content Security Policy under which nothing inline runs and no request leaves the site.

What the theme writes into its pages, scripts and sheets, becomes files; attributes with styles become rules of a sheet.
"""
from __future__ import annotations

import hashlib
import re
from pathlib import Path

POLICY = "; ".join((
    "default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "worker-src 'self'", "style-src 'self'", "img-src 'self' data: blob:",
    "connect-src 'self'", "font-src 'self'", "base-uri 'none'", "form-action 'self'",
))
_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.DOTALL)
_SHEET = re.compile(r"<style[^>]*>(?P<code>.*?)</style>", re.DOTALL)
_STYLED = re.compile(r"(<[a-z][^<>]*?) style=\"(?P<style>[^\"]*)\"([^<>]*>)")
_ICONS = re.compile(r'<svg xmlns="http://www.w3.org/2000/svg" style="display: none;">(?P<symbols>(?:\s*<symbol.*?</symbol>)+)\s*</svg>', re.DOTALL)
_PLAIN = re.compile(r"(<(pre|textarea)\b.*?</\2>)", re.DOTALL)


class Inline:
    """Moves what is inline into files below _static/."""

    def __init__(self, site: Path) -> None:
        self.site = site
        self.styles: dict[str, str] = {}

    def page(self, text: str, root: str) -> str:
        """The text of a page, under the policy."""
        text = _ICONS.sub(self._icons, text)
        text = text.replace('<use href="#svg-', f'<use href="{root}_static/icons.svg#svg-')
        text = _SCRIPT.sub(lambda found: self._script(found, root), text)
        text = _SHEET.sub(lambda found: f'<link rel="stylesheet" href="{root}_static/{self._file(found["code"], "css")}">', text)
        text = _STYLED.sub(self._style, text)
        text = text.replace('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">')  # a heading has a level
        meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        if self.styles:
            meta += f'\n    <link rel="stylesheet" href="{root}_static/inline.css">'
        # Indentation is a tenth of a page of the API.
        text = "".join(part if part.startswith(("<pre", "<textarea")) else re.sub(r"\n\s+", "\n", part) for part in _PLAIN.split(text)[::1] if part not in ("pre", "textarea"))
        return re.sub(r'(<meta charset="utf-8"[^>]*>)', rf"\1\n    {meta}", text, count=1, flags=re.IGNORECASE)

    def _icons(self, found: re.Match[str]) -> str:
        icons = self.site / "_static" / "icons.svg"
        if not icons.exists():
            symbols = re.sub(r' style="opacity: (\d+)%"', r' opacity=".\1"', found["symbols"])
            icons.write_text(f'<svg xmlns="http://www.w3.org/2000/svg">{symbols}</svg>\n')
        return ""

    def _script(self, found: re.Match[str], root: str) -> str:
        if "src=" in found["attributes"] or not found["code"].strip():
            return found[0]
        return f'<script src="{root}_static/{self._file(found["code"], "js")}"></script>'

    def _style(self, found: re.Match[str]) -> str:
        name = self.styles.setdefault(found["style"], f"inline-{len(self.styles)}")
        start, end = found[1], found[3]
        if ' class="' in start or ' class="' in end:
            start, end = (part.replace(' class="', f' class="{name} ', 1) if ' class="' in part else part for part in (start, end))
            return start + end
        return f'{start} class="{name}"{end}'

    def _file(self, code: str, kind: str) -> str:
        name = f"inline-{hashlib.sha256(code.encode()).hexdigest()[:12]}.{kind}"
        path = self.site / "_static" / name
        if not path.exists():
            path.write_text(code.strip() + "\n")
        return name

    def finish(self) -> None:
        rules = [f".{name} {{ {style} }}" for style, name in self.styles.items()]
        (self.site / "_static" / "inline.css").write_text("\n".join(rules) + "\n")


def apply(site: Path, left_alone: str) -> int:
    """Put all pages under the policy; those below `left_alone` have their own. Returns how many there are."""
    inline = Inline(site)
    pages = [page for page in site.rglob("*.html") if page.relative_to(site).parts[0] != left_alone]
    texts = {page: page.read_text() for page in pages}
    for text in texts.values():  # all styles are known before the first page is written
        for found in _STYLED.finditer(text):
            inline.styles.setdefault(found["style"], f"inline-{len(inline.styles)}")
    for page, text in texts.items():
        page.write_text(inline.page(text, "../" * (len(page.relative_to(site).parts) - 1)))
    inline.finish()
    return len(pages)
