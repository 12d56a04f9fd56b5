"""The first page of `make demo` answers with the exported network: without Python, and without waiting for it."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import CHROMIUM  # noqa: E402

NEEDS_WHEELS = False
engine_files = pytest.importorskip("wherry_export.web.engine_files")
pytestmark = pytest.mark.skipif(engine_files.missing() is not None, reason="the engine for browsers is not built: make engine")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    from wherry_web import demo

    folder = tmp_path_factory.mktemp("models")
    network, accuracy = demo.trained(1, verbose=0)
    demo.export(folder, network, demo.save(folder, network, accuracy))
    process = subprocess.Popen(
        [sys.executable, "-m", "wherry", "serve", "--port", "0", "--models", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    yield process.stdout.readline().split()[3]
    process.kill()
    process.communicate()


def test_a_drawn_digit_is_answered_without_python(address, playwright):
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    page, said, asked = browser.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("body[data-ready=true]", timeout=60_000)
    for next_digit in (1500, 1600, 1700):
        page.evaluate(f"document.getElementById('canvas').dataset.next = {next_digit}")
        page.click("#sample")
        page.wait_for_selector("#answer[data-state=settled]")
        assert page.inner_text("#answer") == page.inner_text("#truth")[-2]
    page.click("#ask")
    page.wait_for_selector("#server:has-text('differ by at most')")
    assert float(page.inner_text("#server").split()[-1].rstrip(".")) < 1e-4
    assert not said and not [url for url in asked if "pyodide" in url or "wherry.zip" in url]
    browser.close()
