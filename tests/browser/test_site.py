"""The site of the documents in Chromium: it reads well for everybody, asks nothing of others, and its examples run.

`python tools/site/build.py` builds it; WHERRY_SITE names another folder. Examples need the site to be built with Pyodide and wheels.
"""

from __future__ import annotations

import html
import json
import os
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from test_accessibility import axe  # noqa: E402, F401  a fixture

from conftest import ROOT, FileServer  # noqa: E402

NEEDS_WHEELS = False
SITE = Path(os.environ.get("WHERRY_SITE", ROOT / "build" / "site"))
if not (SITE / "objects.inv").exists():
    pytest.skip(f"there is no site in {SITE}: python tools/site/build.py", allow_module_level=True)
RUNS = '"pyodide": null' not in (SITE / "try" / "manifest.json").read_text()
runs_in_the_tab = pytest.mark.skipif(not RUNS, reason="the site was built without Pyodide and wheels: make wasm, then python tools/site/build.py")
PAGES = [
    "index.html",
    "api/index.html",
    "api/module-nn.html",
    "api/nn.functional.conv2d.html",
    "api/Tensor.html",
    "ops/index.html",
    "ops/softmax.html",
    "docs/compatibility.html",
    "docs/guides/own-images.html",
    "docs/guides/from-pytorch.html",
    "tutorials/index.html",
    "tutorials/hello_paddle.html",
    "docs/reading.html",
    "README.html",
    "search.html",
    "source/packages/nn/src/wherry_nn/layer.py.html",
]


@pytest.fixture(scope="module")
def served():
    server = FileServer(SITE)
    yield f"{server.address}/"
    server.stop()


@pytest.fixture
def tab(browser, served):
    """Opens pages; afterwards nothing may have been said on the console, and nothing asked of another site."""
    contexts, said = [], []

    def open_(address, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(240_000)
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith((served, "data:", "blob:")) else said.append(f"asked {request.url}"))
        page.goto(served + address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("address", PAGES)
def test_axe_finds_nothing(tab, axe, address, width, scheme):  # noqa: F811
    page = tab(address, color_scheme=scheme, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen"
    page.evaluate(axe)
    found = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}).then((result) => result.violations)"
    )
    assert [(one["id"], one["impact"], one["help"], [node["html"][:160] for node in one["nodes"]][:4]) for one in found] == []


def test_the_search_finds_a_name(tab):
    page = tab("search.html?q=conv2d")
    page.wait_for_selector("#search-results li")
    assert "conv2d" in page.inner_text("#search-results")


def test_a_site_without_pyodide_says_so(tab):
    if RUNS:
        pytest.skip("this site has Pyodide")
    page = tab("index.html")
    page.click("text=Run >> nth=0")
    page.wait_for_selector("[data-ran=failed]")
    assert "built without Python for the browser" in page.inner_text(".runner-status")


@runs_in_the_tab
def test_a_block_runs_is_changed_and_reset(tab):
    page = tab("index.html")
    page.click(".runner-main")
    page.wait_for_selector("[data-ran=done]")
    assert "[[7.0, 11.0], [9.0, 13.0]]" in page.inner_text(".runner .output")
    page.click(".runner >> text=Edit")
    page.wait_for_selector(".runner-editor")
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("print(1)\nundefined_name")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("[data-ran=failed]", state="attached")
    assert "Line 2: NameError" in page.inner_text(".runner-status")
    assert page.locator(".cm-wrong-line").count() == 1
    page.click(".runner >> text=Reset")
    assert page.is_visible("[data-program]") and not page.is_visible(".runner-editor")


@runs_in_the_tab
def test_a_first_run_loads_at_most_8_megabytes(browser):
    """Of everything that a plain file server sends until the first example has run, the page with it."""
    server = FileServer(SITE)
    run_first(browser, server)
    server.stop()
    names = {path.rpartition("/")[2]: size for path, size in server.sent.items()}
    print(f"{sum(names.values()) / 1e6:.2f} MB: {names}")
    assert names["pyodide.asm.wasm.zst"] and names["playground.zip.zst"] and "pyodide.asm.js" not in names
    assert sum(server.sent.values()) <= 8e6


@runs_in_the_tab
def test_a_server_with_a_policy_sends_one_script_unpacked(browser):
    """Then nothing runs that a page unpacked."""
    server = FileServer(SITE, **{"Content-Security-Policy": "script-src 'self' 'wasm-unsafe-eval'"})
    run_first(browser, server)
    server.stop()
    names = {path.rpartition("/")[2] for path in server.sent}
    assert {"pyodide.asm.wasm.zst", "pyodide.asm.js"} <= names


def run_first(browser, server):
    """Runs the first example of the first page."""
    page = browser.new_page()
    page.set_default_timeout(240_000)
    page.goto(f"{server.address}/index.html")
    page.click(".runner-main")
    page.wait_for_selector("[data-ran=done]")
    page.close()


@runs_in_the_tab
def test_a_block_opens_in_the_playground(tab):
    page = tab("index.html")
    page.click("text=Open in Playground >> nth=0")
    page.wait_for_url("**/try/playground/#code=*")
    page.wait_for_selector(".cm-content >> text=import wherry")


@runs_in_the_tab
def test_blocks_above_run_first(tab):
    page = tab("docs/guides/numerics.html")
    if page.evaluate("fetch('../../try/manifest.json').then((r) => r.json()).then((m) => !m.playground.packages.numpy)"):
        pytest.skip("this site has no NumPy for the browser: make wasm SUITES=kit builds it")
    page.locator(".runner-main").nth(2).click()
    page.wait_for_selector("[data-ran=done] >> nth=2", state="attached")


START = """async () => {
  const TRY = new URL("try/", document.baseURI);
  const base = new URL((await (await fetch(new URL("assets.json", TRY))).json()).static, TRY);
  const { start } = await import(new URL("js/engine.js", base).href);
  const files = await (await fetch("_static/beside.json")).json();
  window.again = async () => { window.engine?.close(); window.engine = (await start(() => {}, "playground-worker.js", null, files)).engine; };
  await window.again();
}"""


# What an example that stopped half-way may have left.
CALM = 'import wherry\nwherry.disable_static()\nwherry.set_flags({"FLAGS_check_nan_inf": False})'


def examples():
    """(page, its programs) of all pages whose blocks run in a tab."""
    for path in sorted(SITE.rglob("*.html")):
        place = path.relative_to(SITE).as_posix()
        if place.startswith(("try/", "source/")):
            continue
        found = re.findall(r'<div\b[^>]*\bdata-program="([^"]*)"[^>]*data-runs="yes"[^>]*>(.*?)</pre>', path.read_text(), re.DOTALL)
        programs = [json.loads(html.unescape(program) or '""') or html.unescape(re.sub(r"<[^>]+>", "", shown)) for program, shown in found]
        if programs:
            yield place, programs


@runs_in_the_tab
def test_all_examples_run(tab):
    page = tab("index.html")
    page.evaluate(START)
    packages = page.evaluate("fetch('try/manifest.json').then((r) => r.json()).then((m) => m.playground.packages)")
    lacking = "|".join({"numpy", "PIL"} - set(packages))
    failed, count, left = [], 0, 0
    for place, programs in examples():
        if place.startswith("tutorials/"):
            page.evaluate("window.again()")  # they are whole programs, with names of their own
        for program in programs:
            result = page.evaluate("(program) => window.engine.call('run', program)", program)
            title = result.get("error", {}).get("title", "")
            if result["outcome"] == "done":
                count += 1
                continue
            if lacking and re.search(lacking, title, re.IGNORECASE):
                left += 1
            else:
                failed.append(f"{place}: {title}")
            page.evaluate("(program) => window.engine.call('run', program)", CALM)
            break
    print(f"{count} examples ran, {left} need what this site has not ({lacking}); {len(failed)} failed")
    assert not failed, "\n".join(failed)
