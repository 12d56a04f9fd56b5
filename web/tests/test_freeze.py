"""The static build."""
import gzip
import json
import zipfile

import pytest

from wherry_web.freeze import freeze


def test_holds_every_page_and_file(app, tmp_path, client, manifest):
    written = freeze(app, tmp_path / "site")
    site = tmp_path / "site"
    assert sorted(written) == sorted(str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    needed = {"sw.js", manifest["bundle"]["url"], manifest["playground"]["url"], manifest["digits"]}
    needed.add("classifier/index.html")
    assert {"index.html", "train/index.html", "model/index.html", "playground/index.html", "browser/index.html"} | needed <= set(written)
    frozen = json.loads((site / "manifest.json").read_text())
    assert frozen == {**manifest, "pyodide": {**manifest["pyodide"], "packed": True}, "static_build": True}
    weights = manifest["models"][0]["weights_url"]
    assert (site / weights).read_bytes() == client.get(f"/{weights}").data
    with zipfile.ZipFile(site / manifest["bundle"]["url"]) as bundle:
        assert bundle.testzip() is None and bundle.infolist()[0].compress_type == zipfile.ZIP_DEFLATED


def test_large_files_of_pyodide_are_packed(app, tmp_path, client, manifest):
    written = freeze(app, tmp_path / "site")
    core = manifest["pyodide"]["url"]
    names = {name.removeprefix(core) for name in written if name.startswith(core)}
    assert {"pyodide.mjs", "pyodide.asm.wasm.gz", "python_stdlib.zip.gz"} <= names and not {"pyodide.asm.wasm", "python_stdlib.zip"} & names
    for name in ("pyodide.asm.wasm", "python_stdlib.zip"):
        packed = (tmp_path / "site" / core / f"{name}.gz").read_bytes()
        assert gzip.decompress(packed) == client.get(f"/{core}{name}").data
    worker = (tmp_path / "site" / "sw.js").read_text()
    assert f'"{core}pyodide.asm.wasm.gz"' in worker and f'"{core}pyodide.asm.wasm"' not in worker


def test_pages_find_their_files_from_where_they_are(app, tmp_path):
    freeze(app, tmp_path / "site")
    assert 'src="./static/' in (tmp_path / "site" / "index.html").read_text()
    assert 'src="../static/' in (tmp_path / "site" / "train" / "index.html").read_text()


def test_pages_keep_their_policy(app, tmp_path):
    freeze(app, tmp_path / "site")
    text = (tmp_path / "site" / "browser" / "index.html").read_text()
    assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src \'self\' \'wasm-unsafe-eval\'' in text


def test_replaces_an_earlier_build_and_nothing_else(app, tmp_path):
    freeze(app, tmp_path / "site")
    (tmp_path / "site" / "stale").write_text("")
    freeze(app, tmp_path / "site")
    assert not (tmp_path / "site" / "stale").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    with pytest.raises(ValueError, match="holds other files"):
        freeze(app, tmp_path / "mine")
    assert (tmp_path / "mine" / "file").read_text() == "mine"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("tmp")]
