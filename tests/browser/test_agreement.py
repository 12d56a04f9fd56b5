"""Ops give in Chromium what they give natively, over the whole conformance kit."""
from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import PYODIDE, WHEELS  # noqa: E402

HERE = Path(__file__).parent
WASM = HERE.parent / "wasm"
START = """() => new Promise(async (resolve, reject) => {
  const manifest = await (await fetch("/manifest.json")).json();
  const worker = new Worker("/agree/agree-worker.js", { type: "module" });
  worker.onmessage = ({ data }) => data.error ? reject(new Error(data.error)) : resolve(data.result);
  worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
  worker.postMessage({ pyodide: `/${manifest.pyodide.url}`, bundle: `/${manifest.bundle.url}`, program: "/agree/agree.py",
    expected: "/agree/expected.bin" });
})"""


@pytest.fixture
def site_with_calls(tmp_path) -> Iterator[str]:
    """The address of a server that also has what the worker of this test needs."""
    from flask import send_file
    from werkzeug.serving import make_server

    from wherry_web import Config, create_app

    expected = tmp_path / "expected.bin"
    subprocess.run([sys.executable, WASM / "expected.py", expected], check=True, timeout=600)
    files = {path.name: path for path in (HERE / "agree-worker.js", WASM / "agree.py", expected)}
    app = create_app(Config(pyodide=PYODIDE, wheels=WHEELS))
    app.add_url_rule("/agree/<name>", view_func=lambda name: send_file(files[name]), endpoint="agree")
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_ops_give_in_the_browser_what_they_give_natively(visit, site_with_calls):
    page = visit(site=site_with_calls).page
    page.goto(f"{site_with_calls}/browser")
    result = page.evaluate(START)
    assert result["made"] > 3000
    assert result["kernels"] == "relaxed"
    assert not result["wrong"], f"{len(result['wrong'])} of {result['made']} calls differ\n" + "\n".join(result["wrong"][:40])
