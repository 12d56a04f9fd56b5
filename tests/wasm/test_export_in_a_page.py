"""A bundle that is made inside Pyodide: what a page does that exports the model it has trained. There is neither NumPy nor Node."""
import sys
from pathlib import Path

import pytest

import wherry as paddle
from wherry_export.web import engine_files

pytestmark = pytest.mark.skipif(sys.platform != "emscripten", reason="runs in Pyodide: node tests/wasm/run.mjs")

CHECKOUT = Path("/repository/packages/export/src/wherry_export/web/engine")


@pytest.fixture(autouse=True)
def engine():
    """The engine's two files, as a page brings them."""
    if engine_files.missing() is None:
        return
    if not (CHECKOUT / "engine.wasm").exists():
        pytest.skip("no engine: make engine")
    engine_files.bring((CHECKOUT / "engine.wasm").read_bytes(), (CHECKOUT / "engine.json").read_bytes())


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_page_exports_what_it_has_trained(tmp_path, precision):
    net = paddle.vision.models.LeNet()
    spec = [paddle.static.InputSpec([None, 1, 28, 28], "float32", "image")]
    site = paddle.export.web(
        net, tmp_path / "site", input_spec=spec, labels=list("0123456789"), precision=precision, example=paddle.ones([1, 1, 28, 28])
    )
    assert site.checked is None and "not checked" in str(site)
    names = set(site.files)
    assert {"index.html", "manifest.json", "wherry.js", "sw.js"} <= names and any(name.startswith("data/engine.") for name in names)
    assert bool(site.losses) == (precision != "float32")
    paddle.jit.save(net, str(tmp_path / "lenet"), input_spec=spec)
    assert (tmp_path / "lenet.pdmodel").stat().st_size > 1000
