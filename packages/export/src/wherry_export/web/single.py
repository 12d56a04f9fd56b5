"""A bundle in one HTML file, which answers from a disk, a mail or any server, and asks for nothing.

The file is a page without files, `template`, with every file that a prediction needs in an element of its own (`filled`). page/single.js
makes the same file in the browser. Its scripts are those of the folder as one script, each module a function, so that one digest in the
page's policy allows it; its worker runs that script too, not as a module: browsers start no module from a page that is a file. The policy
has no `connect-src`: the page cannot ask for anything.
"""
from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["filled", "is_single", "page", "script", "template"]

HERE = Path(__file__).parent
MODULES = ("js/core.js", "js/digest.js", "js/wherry.js", "page/shapes.js", "page/single.js")  # each after those that it imports
ENDS = ("js/worker.js", "page/page.js")  # which one runs depends on where the script does
MARK = '<meta name="generator" content="wherry.export.web, one file">'
IMPORT = re.compile(r'^import \{ (.+) \} from "\./(\w+)\.js";.*\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:\{ (.+) \};\n|(?=(?:async )?(?:function|class|const) (\w+)))", re.MULTILINE)


def page(title: str, policy: str, head: str) -> str:
    """The page of a bundle, with these lines in its head."""
    text = (HERE / "page" / "index.html").read_text(encoding="utf-8")
    for word, value in ("POLICY", policy), ("HEAD", head), ("TITLE", html.escape(title)):
        text = text.replace(f"{{{{{word}}}}}", value)
    return text


def template(title: str) -> bytes:
    """The page of one file before it has the bundle's files."""
    style, code = (HERE / "page" / "site.css").read_text(encoding="utf-8"), script()
    icon = base64.b64encode((HERE / "page" / "icon.svg").read_bytes()).decode()
    policy = "; ".join((
        "default-src 'none'", f"script-src {_source(code)} 'wasm-unsafe-eval'", "worker-src blob:", f"style-src {_source(style)}",
        "img-src data: blob:", "base-uri 'none'", "form-action 'none'",
    ))
    head = "\n  ".join((
        MARK, f"<style>{style}</style>", f'<link rel="icon" href="data:image/svg+xml;base64,{icon}">',
        f'<script type="module" id="script">{code}</script>',
    ))
    return page(title, policy, head).encode()


def filled(files: Mapping[str, bytes]) -> bytes:
    """The template of a bundle with those of its files that a prediction needs."""
    manifest: dict[str, Any] = json.loads(files["manifest.json"])
    told = [manifest["engine"], manifest["relaxed"], manifest["program"], *manifest["weights"], *(manifest["example"] or [])]
    names = ["manifest.json", *(one["url"] for one in told if one is not None)]
    before, end, behind = files[manifest["single"]["url"]].rpartition(b"</body>")
    blocks = [b'<script type="text/plain" data-file="%s">%s</script>\n' % (name.encode(), base64.b64encode(files[name])) for name in names]
    return b"".join([before, *blocks, end, behind])


def is_single(path: Path) -> bool:
    """Whether there is a file that was made here."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(4096)
    except OSError:
        return False


def script() -> str:
    """The modules of the page and of its worker as one script."""
    parts = [f"const {_name(module)} = (() => {{\n{_body(module)}}})();\n" for module in MODULES]
    worker, shown = (f"{{\n{_body(module)}}}" for module in ENDS)
    code = f'"use strict";\n{"".join(parts)}if (typeof document === "undefined") {worker} else {shown}\n'
    if re.search(r"</script|<!--", code, re.IGNORECASE):
        raise AssertionError("a script of the page holds what ends a script element")
    return code


def _name(module: str) -> str:
    return f"module_{Path(module).stem}"


def _body(module: str) -> str:
    """A module as the body of a function: what it imports are constants, what it exports is returned."""
    exported: list[str] = []

    def taken(found: re.Match[str]) -> str:
        exported.extend((found[1] or found[2]).split(", "))
        return ""

    text = EXPORT.sub(taken, IMPORT.sub(r"const { \1 } = module_\2;\n", (HERE / module).read_text(encoding="utf-8")))
    text = text.replace("import.meta.url", "location.href")
    if re.search(r"^(import|export)\b", text, re.MULTILINE):
        raise AssertionError(f"{module} imports or exports in a form that is not known here")
    return text + (f"return {{ {', '.join(exported)} }};\n" if exported else "")


def _source(text: str) -> str:
    """An inline script or style as a policy allows it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
