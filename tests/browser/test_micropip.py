"""`micropip.install("wherry")`: from the index that the server has, and from a folder with the wheels for every Pyodide, in Chromium and in Node."""
from __future__ import annotations

import functools
import http.server
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import PYODIDE, ROOT, FileServer, ask  # noqa: E402

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "wasm"
MODULES = {"wherry", "wherry-tensor", "wherry-ops-cpu", "wherry-autograd", "wherry-nn", "wherry-train", "wherry-vision"}
# `make wasm`, and `python tools/wasm/build.py --for 314`.
TARGETS = {"0.29": (CACHE / "pyodide", ROOT / "wheelhouse" / "wasm"), "314": (CACHE / "pyodide-314", ROOT / "wheelhouse" / "wasm-314")}


def tools_of(pyodide: Path, folder: Path) -> list[Path]:
    """micropip and what it needs, of the versions that this Pyodide comes with."""
    lock = json.loads((pyodide / "pyodide-lock.json").read_text())
    needed = [f"{name}=={lock['packages'][name]['version']}" for name in ("micropip", "packaging")]
    python = ".".join(lock["info"]["python"].split(".")[:2])
    pip = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--only-binary", ":all:", "--python-version", python]
    subprocess.run([*pip, "-d", folder, *needed], check=True, timeout=300)
    return sorted(folder.glob("*.whl"))


def check(answer: dict) -> None:
    assert answer["gradient"] == [[7.0, 11.0], [9.0, 13.0]]
    assert set(answer["installed"]) >= MODULES


def test_a_page_installs_wherry_from_the_index(visit, serve_beside, tmp_path):
    wheels = tools_of(PYODIDE, tmp_path)
    site = serve_beside(HERE / "micropip-worker.js", *wheels)
    page = visit(site=site).page
    page.goto(f"{site}/browser")
    check(json.loads(ask(page, "micropip-worker.js", wheels=[f"/beside/{wheel.name}" for wheel in wheels], index=f"{site}/simple")))


class Logged(http.server.SimpleHTTPRequestHandler):
    """Says nothing and remembers which wheels were asked for."""

    asked: set[str]

    def do_GET(self) -> None:
        self.asked.add(self.path.rpartition("/")[2])
        super().do_GET()

    def log_message(self, *arguments) -> None:
        pass


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A folder with the index of all wheels; its names are those that an index takes."""
    folder = tmp_path_factory.mktemp("index")
    subprocess.run([sys.executable, ROOT / "tools" / "wasm" / "build.py", "index", folder / "simple"], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(params=TARGETS)
def target(request):
    pyodide, wheels = TARGETS[request.param]
    if not ((pyodide / "pyodide.mjs").exists() and any(wheels.glob("wherry-*.whl"))):
        pytest.skip(f"no wheels for Pyodide {request.param}: python tools/wasm/build.py --for {request.param}")
    return pyodide, wheels


def test_node_installs_wherry_from_a_folder(index, target, tmp_path):
    pyodide, wheels = target
    handler = type("Handler", (Logged,), {"asked": set()})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(index)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    script = ROOT / "tests" / "wasm" / "micropip.mjs"
    command = ["node", script, pyodide, f"http://127.0.0.1:{server.server_port}/simple", *tools_of(pyodide, tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    server.shutdown()
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    check(answer)
    assert answer["learns"] and answer["python"].startswith(json.loads((pyodide / "pyodide-lock.json").read_text())["info"]["python"])
    sent = {name for name in handler.asked if name.endswith(".whl")}
    sizes = {name: (wheels / name).stat().st_size for name in sent}  # each is of this Pyodide
    print(f"{len(sizes)} wheels, {sum(sizes.values()) / 1e6:.2f} MB")
    assert not {name for name in sent if name.endswith("wasm32.whl") and not (wheels / name).exists()}


def test_a_page_installs_wherry_from_a_folder(browser, index, target, tmp_path):
    pyodide, _ = target
    place = tmp_path / "site"
    shutil.copytree(index, place)
    (place / "pyodide").symlink_to(pyodide.resolve())
    (place / "index.html").write_text("<!doctype html><title>A page</title>")
    shutil.copy(HERE / "micropip-worker.js", place)
    wheels = tools_of(pyodide, place / "tools")
    server = FileServer(place)
    page = browser.new_page()
    page.goto(f"{server.address}/index.html")
    message = {"pyodide": f"{server.address}/pyodide/", "wheels": [f"/tools/{wheel.name}" for wheel in wheels], "index": f"{server.address}/simple"}
    found = page.evaluate("""(message) => new Promise((resolve, reject) => {
      const worker = new Worker("/micropip-worker.js", { type: "module" });
      worker.onmessage = ({ data }) => data.error ? reject(new Error(data.error)) : resolve(data.result);
      worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
      worker.postMessage(message);
    })""", message)
    page.close()
    server.stop()
    check(json.loads(found))
