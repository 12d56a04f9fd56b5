"""axe-core on every page, light and dark."""
from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import PAGES, until  # noqa: E402
from test_classifier import files, give, look_at, train  # noqa: E402

AXE = "axe-core@4.14.1"


@pytest.fixture(scope="session")
def axe(tmp_path_factory) -> str:
    """The source of axe-core, from npm."""
    if shutil.which("npm") is None:
        pytest.skip("no npm to get axe-core with")
    folder: Path = tmp_path_factory.mktemp("axe")
    packed = subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True)
    if packed.returncode:
        pytest.skip(f"npm has no axe-core: {packed.stderr[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        return package.extractfile("package/axe.min.js").read().decode()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("address", PAGES)
def test_axe_finds_nothing_serious(visit, axe, address, width, scheme):
    page = visit(color_scheme=scheme, viewport={"width": width, "height": 900}).open(address)
    if address == "/":
        page.wait_for_selector("#sample:enabled")
        page.click("#sample")
        page.wait_for_selector("#answer[data-state=settled]")
    elif address == "/train":
        page.click("#run")
        until(page, "document.getElementById('progress').textContent !== ''")
        page.click("#run")
    elif address == "/play":
        page.click("#run")
        until(page, "Number(document.getElementById('progress').dataset.steps) > 10")
        page.check("input[name=data][value=own]")
        until(page, "document.getElementById('run').disabled")
    elif address == "/table":
        page.click("#sample")
        page.wait_for_selector("#run:enabled")
        page.click("#run")
        page.wait_for_selector("#save:enabled")
    elif address == "/classifier":
        for i in range(2):
            give(page, i, files(i, 5, seed=i))
        train(page)
        look_at(page, files(1, 1, seed=9)[0])
    elif address == "/model":
        page.click("#example")
        page.wait_for_selector("body[data-opened]")
        page.fill("#search", "conv2d")
        page.click("#search-form button")
        page.click("#run")
        until(page, "document.getElementById('answers').dataset.runs === '1'")
    elif address == "/playground":
        page.click("#run")
        page.wait_for_selector("body[data-ran]")
        assert page.locator("#output [role=img]").count() == 2
        page.click(".cm-content")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text("print(1)\nimport sys; print(2, file=sys.stderr)\nundefined")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("body[data-ran='2 failed']")
    elif address == "/browser":
        page.wait_for_selector("body[data-measured]")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)")
    assert [
        (one["id"], one["impact"], one["help"], [node["html"][:120] for node in one["nodes"]])
        for one in found if one["impact"] in ("serious", "critical")
    ] == []
