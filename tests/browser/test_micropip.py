"""`micropip.install("wherry")` from the index that the server has."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import PYODIDE, ROOT, ask  # noqa: E402

HERE = Path(__file__).parent
NUMPY = next((ROOT / ".cache" / "wasm" / "numpy").glob("*.whl"), None)


@pytest.mark.skipif(NUMPY is None, reason="no NumPy for Pyodide: make wasm builds it")
def test_a_page_installs_wherry_from_the_index(visit, serve_beside, tmp_path):
    versions = json.loads((PYODIDE / "pyodide-lock.json").read_text())["packages"]
    needed = [f"{name}=={versions[name]['version']}" for name in ("micropip", "packaging")]
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--only-binary", ":all:", "--python-version", "3.13", "-d", tmp_path, *needed],
        check=True, timeout=300,
    )
    wheels = [*tmp_path.glob("*.whl"), NUMPY]
    site = serve_beside(HERE / "micropip-worker.js", *wheels)
    page = visit(site=site).page
    page.goto(f"{site}/browser")
    answer = json.loads(ask(page, "micropip-worker.js", wheels=[f"/beside/{wheel.name}" for wheel in wheels], index=f"{site}/simple"))
    assert answer["gradient"] == [[7.0, 11.0], [9.0, 13.0]]
    assert {"wherry", "wherry-tensor", "wherry-ops-cpu", "wherry-autograd", "wherry-nn", "wherry-train", "wherry-vision"} <= set(answer["installed"])
