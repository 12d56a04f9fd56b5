"""JupyterLite with Wherry: a folder that any file server serves, notebooks whose Python runs in the tab, and nothing comes from elsewhere.

    pip install jupyterlite-core jupyterlite-pyodide-kernel jupyter-server
    python tools/wasm/build.py --for 314          # our wheels for the Pyodide that JupyterLite runs
    python tools/jupyterlite.py build/jupyterlite
    python -m http.server -d build/jupyterlite

`%pip install wherry` in a notebook, as the one that is there does, takes the wheels of the folder.
"""
from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "wasm")]

import build as wasm  # noqa: E402

# What its kernel installs from an index, with what these need where there are no processes.
KERNEL = (
    "asttokens", "comm", "decorator", "executing", "ipython", "ipython-pygments-lexers", "jedi", "matplotlib-inline", "parso",
    "prompt-toolkit", "pure-eval", "pygments", "stack-data", "traitlets", "typing-extensions", "wcwidth",
)
LOADED = ("micropip", "packaging")  # by Pyodide itself, from beside it
NEEDED = ("jupyterlite-core", "jupyterlite-pyodide-kernel", "jupyter-server")
KERNEL_PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
NOTEBOOK = ("%pip install -q wherry", """import wherry as paddle

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
(x @ x).sum().backward()
x.grad""")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="the folder; what is in it is replaced")
    options = parser.parse_args()
    target = wasm.NEXT
    if any(importlib.util.find_spec(name.replace("-", "_")) is None for name in NEEDED):
        sys.exit(f"jupyterlite: it is not whole here. Type  {sys.executable} -m pip install {' '.join(NEEDED)}")
    wheels = sorted(target.wheelhouse.glob("wherry*.whl"))
    if not wheels:
        sys.exit(f"jupyterlite: there are no wheels in {target.wheelhouse}. Type  python tools/wasm/build.py --for {target.name}")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        pyodide(target, work / "static" / "pyodide")  # where JupyterLite looks for it, and for wheels
        download(target, work / "pypi", *KERNEL)
        for wheel in wheels:
            shutil.copy(wheel, work / "pypi")
        (work / "contents").mkdir()
        (work / "contents" / "wherry.ipynb").write_text(json.dumps(notebook(), indent=1))
        settings = {KERNEL_PLUGIN: {"disablePyPIFallback": True}}
        (work / "jupyter-lite.json").write_text(json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": {
            "appName": "JupyterLite with Wherry", "litePluginSettings": settings}}))
        command = [sys.executable, "-m", "jupyterlite_core.app", "build", "--lite-dir", work, "--contents", work / "contents",
                   "--output-dir", work / "site", "--no-sourcemaps"]
        wasm.run(command, cwd=work)
        shutil.rmtree(options.output, ignore_errors=True)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(work / "site", options.output)
    size = sum(file.stat().st_size for file in options.output.rglob("*") if file.is_file())
    print(f"jupyterlite: {options.output}, {size / 1e6:.0f} MB. Type  python -m http.server -d {options.output}")
    return 0


def pyodide(target: wasm.Target, folder: Path) -> None:
    """Its npm package, which has no packages, with those that it loads by itself beside it, and a list of these alone."""
    shutil.copytree(target.core, folder, ignore=shutil.ignore_patterns("*.map", "*.d.ts", "*.html", "snapshot.bin"))
    path = folder / "pyodide-lock.json"
    lock = json.loads(path.read_text())
    known = {name: lock["packages"][name] for name in LOADED}
    download(target, folder, *(f"{name}=={facts['version']}" for name, facts in known.items()))
    for name, facts in known.items():
        (wheel,) = folder.glob(f"{name}-*.whl")
        facts |= {"file_name": wheel.name, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}
    path.write_text(json.dumps({**lock, "packages": known}))


def download(target: wasm.Target, folder: Path, *requirements: str) -> None:
    wasm.run([sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--only-binary", ":all:", "--platform", "any",
              "--python-version", target.python, "-d", folder, *requirements])


def notebook() -> dict:
    cells = [
        {"cell_type": "code", "id": f"cell-{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for i, source in enumerate(NOTEBOOK)
    ]
    kernel = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


if __name__ == "__main__":
    sys.exit(main())
