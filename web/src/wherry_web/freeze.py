"""The same pages as plain files, for any file server: `python -m wherry serve --freeze DIR`."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from flask import Flask

from wherry_web.files import PYODIDE_FILES, manifest_content


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
        client = app.test_client()
        with app.test_request_context():
            content = manifest_content()
        addresses = addresses_of(app, content)
        for address, name in addresses.items():
            response = client.get(address)
            if response.status_code != 200:
                raise RuntimeError(f"freeze: {address} answered {response.status_code}: {response.get_data(as_text=True)[:200]}")
            path = target / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(response.get_data())
        (target / "manifest.json").write_text(json.dumps({**content, "static_build": True}))
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(target, folder)
    return list(addresses)


def addresses_of(app: Flask, content: dict) -> dict[str, str]:
    """Address on the server -> file in the static build."""
    assets = app.extensions["assets"]
    found = {"/": "/index.html", "/train": "/train/index.html", "/browser": "/browser/index.html",
             "/manifest.json": "/manifest.json", "/sw.js": "/sw.js"}
    plain = [f"/static/{assets.digest}/{name}" for name in assets.names]
    if content["pyodide"]:
        plain += [content["pyodide"]["url"] + name for name in PYODIDE_FILES]
    if content["bundle"]:
        plain.append(content["bundle"]["url"])
    plain += [model["weights_url"] for model in content["models"]]
    return {**found, **{address: address for address in plain}}
