"""The built site (build/site, WHERRY_SITE names another): what it promises to every reader, checked on its files."""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = Path(os.environ.get("WHERRY_SITE", ROOT / "build" / "site"))
if not (SITE / "objects.inv").exists():
    pytest.skip(f"there is no site in {SITE}: python tools/site/build.py", allow_module_level=True)
TRY = "try/"  # the pages with Python, which have tests of their own
TAG = re.compile(r"<(a|link|script|img|use|iframe|form|source)\b([^>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r'\b(href|src|action)="([^"]*)"')
# A question of a stranger, and the page that answers it.
QUESTIONS = {
    "train on my own images": ("docs/guides/own-images.html", "Confusion matrix"),
    "from PyTorch": ("docs/guides/from-pytorch.html", "Ten real differences"),
    "API of conv2d": ("api/nn.functional.conv2d.html", "Arguments"),
    "custom op": ("docs/extensions.html", "cpp_extension"),
    "what differs from Paddle": ("docs/compatibility.html", "Where Wherry differs on purpose"),
}


@cache
def pages() -> dict[str, str]:
    return {
        path.relative_to(SITE).as_posix(): path.read_text()
        for path in sorted(SITE.rglob("*.html"))
        if not path.relative_to(SITE).as_posix().startswith(TRY)
    }


def resolved(page: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(address)))


def links(page: str):
    """(tag, address) of everything that a page leads to or loads."""
    for tag, attributes in TAG.findall(pages()[page]):
        for _, address in ATTRIBUTE.findall(attributes):
            yield tag.lower(), html.unescape(address)


def test_every_link_leads_somewhere():
    identifiers: dict[str, set[str]] = {}
    broken = []
    for page in pages():
        for tag, address in links(page):
            place, _, anchor = address.partition("#")
            if re.match(r"[a-z]+:", place):
                continue
            target = resolved(page, place.partition("?")[0]) if place else page
            path = SITE / target
            if path.is_dir():
                target, path = posixpath.join(target, "index.html"), path / "index.html"
            if not path.exists():
                broken.append(f"{page}: {address}")
            elif anchor and target in pages() and tag == "a":
                if target not in identifiers:
                    identifiers[target] = set(re.findall(r'\b(?:id|name)="?([^"\s>]+)', pages()[target]))
                if unquote(anchor) not in identifiers[target]:
                    broken.append(f"{page}: {address} (no such anchor)")
    assert not broken, f"{len(broken)} links: " + "\n".join(broken[:40])


def test_no_page_asks_anything_of_another_site():
    outside = [f"{page}: {address}" for page in pages() for tag, address in links(page) if tag != "a" and re.match(r"(https?:)?//", address)]
    assert not outside, outside[:20]
    for sheet in SITE.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(https?:)?//", sheet.read_text()), sheet


def test_every_page_has_a_policy_and_nothing_inline():
    faults = []
    for page, text in pages().items():
        if text.count("Content-Security-Policy") != 1:
            faults.append(f"{page}: no policy")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
        if (
            policy is None
            or "default-src 'none'" not in policy[1]
            or "unsafe-inline" in policy[1]
            or "unsafe-eval" in policy[1].replace("wasm-unsafe-eval", "")
        ):
            faults.append(f"{page}: its policy allows too much")
        if re.search(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S", text) or re.search(r"<style\b", text):
            faults.append(f"{page}: an inline script or sheet")
        if re.search(r"<[a-z][^<>]*\s(style|on[a-z]+)=\"", text):
            faults.append(f"{page}: an inline style or handler")
    assert not faults, faults[:20]


def test_the_site_works_under_any_path():
    absolute = [f"{page}: {address}" for page in pages() for _, address in links(page) if address.startswith("/")]
    assert not absolute, absolute[:20]


def test_every_public_name_and_every_op_has_a_page():
    sys.path[:0] = [str(ROOT / "tools")]
    import docstrings

    from wherry_tensor.ops import registry

    missing = [name for name in registry if f"ops/{name}.html" not in pages()]
    assert not missing
    lower = {page.lower() for page in pages()}
    names = [paths for paths, value in docstrings.names() if (getattr(value, "__module__", "") or "").startswith("wherry")]
    missing = [paths for paths in names if not any(f"api/{path.partition('.')[2]}.html".lower() in lower for path in paths)]
    assert not missing, missing[:20]
    assert len(pages()) > len(names) + len(registry) > 1500


def test_a_page_of_the_api_says_all_that_is_known():
    text = pages()["api/nn.functional.conv2d.html"]
    for heading in ("Arguments", "Shapes", "Example", "Errors", "Inside"):
        assert re.search(rf"<h2>{heading}\b", text), heading
    assert 'href="../ops/conv2d.html"' in text and re.search(r'href="\.\./source/packages/nn/[^"]*#L\d+"', text)
    assert "Differences from Paddle" in pages()["api/nn.functional.gumbel_softmax.html"]


def test_errors_of_python_lead_to_its_documents():
    assert 'href="https://docs.python.org/3/library/exceptions.html#ValueError"' in pages()["api/nn.functional.conv2d.html"]


@pytest.mark.parametrize("name", ["wherry.nn.functional.conv2d", "paddle.nn.functional.conv2d"])
def test_documents_of_others_find_our_names(tmp_path, name):
    sphinx = pytest.importorskip("sphinx.application")
    (tmp_path / "conf.py").write_text(
        f"extensions = ['sphinx.ext.intersphinx']\nintersphinx_mapping = {{'wherry': ('https://example.org/', {str(SITE / 'objects.inv')!r})}}\n"
    )
    (tmp_path / "index.rst").write_text(f"Theirs\n======\n\n:py:func:`{name}`\n")
    built = tmp_path / "built"
    sphinx.Sphinx(tmp_path, tmp_path, built, tmp_path / "doctrees", "html", status=None, warningiserror=True).build()
    assert f'href="https://example.org/api/nn.functional.conv2d.html#{name.replace("wherry", "paddle")}"' in (built / "index.html").read_text()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_within_two_clicks(question):
    target, words = QUESTIONS[question]
    assert words in re.sub(r"<[^>]+>", "", pages()[target]), f"{target} does not answer"
    reached = {"index.html"}
    for _ in range(2):
        # What stands in the page itself, not in the tree beside it, which is another way.
        reached |= {
            resolved(page, address.partition("#")[0])
            for page in list(reached & set(pages()))
            for _, address in links_of_content(page)
            if not re.match(r"[a-z]+:", address) and address.partition("#")[0]
        }
    assert target in reached


def links_of_content(page: str):
    content = re.search(r'<article role="main".*?</article>', pages()[page], re.DOTALL)
    for tag, attributes in TAG.findall(content[0] if content else ""):
        for _, address in ATTRIBUTE.findall(attributes):
            yield tag, html.unescape(address)


def test_the_search_knows_names_and_needs_no_server():
    index = (SITE / "searchindex.js").read_text()
    assert index.startswith("Search.setIndex(") and "conv2d" in index and "gumbel" in index
    assert 'src="searchindex.js' in pages()["search.html"]


def test_the_site_is_small_enough():
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file() and "pyodide" not in path.parts)
    assert size <= 60e6, f"{size / 1e6:.1f} MB"


def test_code_blocks_of_sessions_have_a_program_that_python_reads():
    count = 0
    for page, text in pages().items():
        for attributes in re.findall(r"<div\b([^>]*\bdata-program=[^>]*)>", text):
            count += 1
            program = html.unescape(re.search(r'data-program="([^"]*)"', attributes)[1])
            compile(json.loads(program or '""'), page, "exec", flags=0x2000)  # top-level await is not used, but is not a mistake
            assert re.search(r'data-runs="(yes|no)"', attributes)
            assert 'data-runs="no"' not in attributes or re.search(r'data-reason="[^"]+"', attributes), page
    assert count > 1300


def test_the_table_of_pytorch_is_there():
    rows = re.findall(r"<code[^>]*>torch\.[\w.]+</code>", pages()["docs/guides/from-pytorch.html"])
    assert len(rows) >= 400
