"""The npm package @wherry/web in Chromium: built by a bundler, and without one, with a worker and threads and without."""
from __future__ import annotations

import http.server
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import wherry
from conftest import ROOT, FileServer  # noqa: E402
from wherry_export.web import engine_files

sys.path.append(str(ROOT / "tools"))
import npm  # noqa: E402

NEEDS_WHEELS = False
pytestmark = [
    pytest.mark.skipif(engine_files.missing() is not None, reason=str(engine_files.missing())),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]
VITE = "vite@8.3.8"
WAYS = [(1, True), (1, False), (2, True), (3, False)]  # threads, and whether in a worker
POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'"
PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>A page</title>
<p id="answer"></p>
<script type="module" src="./main.js"></script>
</html>
"""
PROGRAM = """
import { load } from "PACKAGE";
const image = { data: Float32Array.from({ length: 784 }, (_, i) => Math.sin(i)), shape: [1, 1, 28, 28] };
const found = [];
for (const [threads, worker] of WAYS) {
  const model = await load("../lenet/", { threads, worker });
  const [scores] = Object.values(await model.predict({ image }));
  found.push([model.threads, Array.from(scores.data)]);
  model.close();
}
document.getElementById("answer").textContent = JSON.stringify(found);
""".replace("WAYS", json.dumps(WAYS))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with a LeNet, and what it answers."""
    folder = tmp_path_factory.mktemp("npm")
    wherry.seed(0)
    net = wherry.vision.models.LeNet()
    wherry.export.web(net, folder / "lenet", input_spec=[wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")])
    net.eval()
    image = np.sin(np.arange(784, dtype="float64")).astype("float32").reshape(1, 1, 28, 28)
    return folder, net(wherry.to_tensor(image)).numpy().ravel()


def answers(browser, folder: Path, place: str) -> list:
    """What the page in this folder says, served so that threads may share memory."""
    server = FileServer(folder)

    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        http.server.SimpleHTTPRequestHandler.end_headers(self)

    server.server.RequestHandlerClass.func.end_headers = end_headers
    page = browser.new_page()
    said = []
    page.on("console", lambda one: said.append(one.text) if one.type in ("error", "warning") and "favicon" not in one.location["url"] else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{server.address}/{place}/")
    page.locator("#answer:not(:empty)").wait_for(timeout=90_000)
    found = json.loads(page.inner_text("#answer"))
    page.close()
    server.stop()
    assert said == []
    return found


def check(found: list, expected: np.ndarray) -> None:
    assert [threads for threads, _ in found] == [threads for threads, _ in WAYS]
    for _, scores in found:
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)  # sums in another order than on this processor
        assert scores == found[0][1]  # the same bits, with any number of threads


def test_a_bundler_makes_a_page_that_answers_under_a_strict_policy(browser, site, tmp_path):
    folder, expected = site
    packed = npm.packed(npm.layout(tmp_path / "web"), tmp_path)
    source = tmp_path / "page"
    source.mkdir()
    (source / "package.json").write_text('{"private": true, "type": "module"}')
    (source / "index.html").write_text(PAGE)
    (source / "main.js").write_text(PROGRAM.replace("PACKAGE", "@wherry/web"))
    got = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", packed, VITE], cwd=source, capture_output=True, text=True)
    if got.returncode:
        pytest.skip(f"npm has no {VITE}: {got.stderr[-200:]}")
    command = ["npx", "vite", "build", "--base", "./", "--outDir", folder / "built", "--emptyOutDir"]
    built = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    assert "externalized" not in built.stdout + built.stderr, built.stdout
    check(answers(browser, folder, "built"), expected)


def test_a_page_imports_it_without_a_bundler(browser, site):
    folder, expected = site
    plain = folder / "plain"
    npm.layout(plain / "node_modules" / "@wherry" / "web")
    (plain / "index.html").write_text(PAGE)
    (plain / "main.js").write_text(PROGRAM.replace("PACKAGE", "./node_modules/@wherry/web/wherry.js"))
    check(answers(browser, folder, "plain"), expected)
