"""The same pages as plain files, for any file server: `python -m wherry serve --freeze DIR`."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from flask import Flask

from wherry_web.app import HEADERS
from wherry_web.encoded import PACKED
from wherry_web.files import LARGE, SCRIPT, manifest_content, service_worker_of, unchanging, zips
from wherry_web.pages import TITLES, gallery_page, page


def freeze(app: Flask, folder: Path) -> list[str]:
    """Write every page and file that the pages load; returns their addresses.

    The folder is replaced in one piece. Predictions of the server are not part of it; pages say so.

    Args:
        app: of `create_app`.
        folder: where the files go. What an earlier `freeze` wrote there is replaced; a folder with
            anything else in it is refused.

    Raises:
        ValueError: the folder holds something else.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "manifest.json").exists():
        raise ValueError(f"freeze: {folder} holds other files. Got a folder in use, expected a new or empty one. Choose another.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "site"
        written = contents(app)
        for name, content in written.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(target, folder)
    return list(written)


def contents(app: Flask) -> dict[str, bytes]:
    """Name of each file -> its content."""
    client = app.test_client()
    with app.test_request_context():
        manifest = with_packed(manifest_content())  # not every file server compresses: 8 MB until the first program has run, in place of 40
        if manifest["pyodide"]:
            manifest["pyodide"]["packed"] = True
        pages = {
            name: with_policy(gallery_page("../", True) if name == "gallery" else page(name, "./" if name == "draw" else "../")) for name in TITLES
        }
        worker = service_worker_of(manifest)
        addresses = unchanging(manifest)
        bundles = app.extensions["gallery"].bundles()
    found = {"index.html" if name == "draw" else f"{name}/index.html": text.encode() for name, text in pages.items()}
    found["sw.js"] = worker.encode()
    for address in addresses:
        if not address.endswith(PACKED):
            response = client.get(f"/{address}")
            if response.status_code != 200:
                raise RuntimeError(f"freeze: {address} answered {response.status_code}: {response.get_data(as_text=True)[:200]}")
            found[address] = response.get_data()
    core = app.extensions["pyodide"]
    for name in LARGE.intersection(core.names):
        found[f"{core.address}{name}{PACKED}"] = core.encoded(name).packed()
    if SCRIPT in core.names:
        found[core.address + SCRIPT] = core.encoded(SCRIPT).content
    with app.app_context():
        parts = zips() if manifest["bundle"] else []
    for part in parts:
        found.update((part.address(name) + PACKED, content.packed()) for name, content in part.encoded.items())
    for bundle in bundles:
        paths = sorted(path for path in bundle.folder.rglob("*") if path.is_file())
        found |= {f"bundles/{bundle.name}/{path.relative_to(bundle.folder).as_posix()}": path.read_bytes() for path in paths}
    found["manifest.json"] = json.dumps({**manifest, "static_build": True}).encode()
    return found


def with_packed(content: Any) -> Any:
    """Of a manifest, or a part of it, the same with the addresses of packed zips."""
    if isinstance(content, dict):
        return {name: with_packed(value) for name, value in content.items()}
    return content + PACKED if isinstance(content, str) and content.startswith("bundle/") else content


def with_policy(text: str) -> str:
    """A page with the policy that the server sends as a header; a page itself cannot forbid being framed."""
    policy = "; ".join(part for part in HEADERS["Content-Security-Policy"].split("; ") if not part.startswith("frame-ancestors"))
    start = '<meta charset="utf-8">'
    return text.replace(start, f'{start}\n  <meta http-equiv="Content-Security-Policy" content="{policy}">', 1)
