"""Ops give in Chromium what they give natively, over the whole conformance kit."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from conftest import ask  # noqa: E402

HERE = Path(__file__).parent
WASM = HERE.parent / "wasm"


def test_ops_give_in_the_browser_what_they_give_natively(visit, serve_beside, tmp_path):
    expected = tmp_path / "expected.bin"
    subprocess.run([sys.executable, WASM / "expected.py", expected], check=True, timeout=600)
    site = serve_beside(HERE / "agree-worker.js", WASM / "agree.py", expected)
    page = visit(site=site).page
    page.goto(f"{site}/browser")
    result = ask(page, "agree-worker.js")
    assert result["made"] > 3000
    assert result["kernels"] == "relaxed"
    assert not result["wrong"], f"{len(result['wrong'])} of {result['made']} calls differ\n" + "\n".join(result["wrong"][:40])
