"""The static build."""
import io
import json
import sys
import zipfile

import pytest

from wherry_web.freeze import freeze

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def test_holds_every_page_and_file(app, tmp_path, client, manifest):
    written = freeze(app, tmp_path / "site")
    site = tmp_path / "site"
    assert sorted(written) == sorted(str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    zips = [manifest["bundle"]["url"], manifest["playground"]["url"], manifest["playground"]["sources"]]
    needed = {"sw.js", *(f"{address}.zst" for address in zips), manifest["digits"]}
    needed.add("classifier/index.html")
    assert {"index.html", "train/index.html", "model/index.html", "playground/index.html", "browser/index.html"} | needed <= set(written)
    frozen = json.loads((site / "manifest.json").read_text())
    assert not set(zips) & set(written)
    assert (frozen["bundle"]["url"], frozen["playground"]["sources"]) == (f"{zips[0]}.zst", f"{zips[2]}.zst")
    assert all(address.endswith(".zip.zst") for part in (frozen["bundle"]["later"], frozen["playground"]["packages"]) for address in part.values())
    alike = {name: value for name, value in manifest.items() if name not in ("bundle", "playground", "exporter")}
    alike |= {"pyodide": {**manifest["pyodide"], "packed": True}, "static_build": True}
    assert alike == {name: frozen[name] for name in alike}
    weights = manifest["models"][0]["weights_url"]
    assert (site / weights).read_bytes() == client.get(f"/{weights}").data
    for address in zips:
        content = zstd.decompress((site / f"{address}.zst").read_bytes())
        assert content == client.get(f"/{address}").data
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None


def test_large_files_of_pyodide_are_packed(app, tmp_path, client, manifest):
    written = freeze(app, tmp_path / "site")
    core = manifest["pyodide"]["url"]
    names = {name.removeprefix(core) for name in written if name.startswith(core)}
    large = {"pyodide.asm.wasm", "python_stdlib.zip"}
    assert {"pyodide.mjs", "pyodide.asm.wasm.zst", "python_stdlib.zip.zst"} <= names and not large & names
    for name in large:
        packed = (tmp_path / "site" / core / f"{name}.zst").read_bytes()
        assert zstd.decompress(packed) == client.get(f"/{core}{name}").data
    worker = (tmp_path / "site" / "sw.js").read_text()
    assert f'"{core}pyodide.asm.wasm.zst"' in worker and f'"{core}pyodide.asm.wasm"' not in worker


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
