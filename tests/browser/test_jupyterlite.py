"""JupyterLite with our wheels, in Chromium, from a folder that a file server serves and from nowhere else."""
from __future__ import annotations

import os
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import ROOT, FileServer  # noqa: E402

NEEDS_WHEELS = False
PYTHON = os.environ.get("WHERRY_JUPYTERLITE_PYTHON", sys.executable)  # one that has jupyterlite-core, jupyterlite-pyodide-kernel, jupyter-server
PROGRAM = """%pip install -q wherry
import wherry as paddle, sys
x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
(x @ x).sum().backward()
print("gradient", x.grad.tolist(), "Python", sys.version_info[:2], sys.platform)"""


@pytest.fixture(scope="module")
def lite(tmp_path_factory):
    """The address of a site; WHERRY_JUPYTERLITE names one that was built before."""
    given = os.environ.get("WHERRY_JUPYTERLITE")
    folder = Path(given) if given else tmp_path_factory.mktemp("lite") / "site"
    if not given:
        if subprocess.run([PYTHON, "-c", "import jupyterlite_core, jupyterlite_pyodide_kernel, jupyter_server"], capture_output=True).returncode:
            pytest.skip("no JupyterLite: pip install jupyterlite-core jupyterlite-pyodide-kernel jupyter-server")
        if not any((ROOT / "wheelhouse" / "wasm-314").glob("wherry-*.whl")):
            pytest.skip("no wheels for Pyodide 314: python tools/wasm/build.py --for 314")
        subprocess.run([PYTHON, ROOT / "tools" / "jupyterlite.py", folder], check=True, stdout=subprocess.DEVNULL)
    server = FileServer(folder)
    yield server.address
    server.stop()


@pytest.mark.slow
def test_a_notebook_installs_wherry_and_computes(lite, browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    code = urllib.parse.quote(PROGRAM)
    page.goto(f"{lite}/repl/index.html?kernel=python&execute=1&code={code}", timeout=300_000)
    page.wait_for_selector(".jp-OutputArea-output:has-text('gradient')", timeout=600_000)
    said = page.inner_text(".jp-OutputArea-output:has-text('gradient')")
    assert "gradient [[7.0, 11.0], [9.0, 13.0]] Python (3, 14) emscripten" in said
    assert {urllib.parse.urlsplit(url).hostname for url in asked} <= {"127.0.0.1", None}  # None: data: and blob:
    page.close()
