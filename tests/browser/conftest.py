"""Chromium on a running server: what the tests of the pages share.

Needs Debian's Chromium, Playwright, the wheels for the browser and Pyodide (`make wasm`); without them the tests are
skipped and say why. WHERRY_WASM_WHEELS and WHERRY_PYODIDE name other folders.
"""
from __future__ import annotations

import collections
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
WHEELS = Path(os.environ.get("WHERRY_WASM_WHEELS", ROOT / "wheelhouse" / "wasm"))
PYODIDE = Path(os.environ.get("WHERRY_PYODIDE", ROOT / ".cache" / "wasm" / "pyodide"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
NUMPY = next((ROOT / ".cache" / "wasm" / "numpy").glob("*.whl"), None)
LIBCST = next((ROOT / ".cache" / "wasm" / "libcst").glob("*.whl"), None)
PAGES = ["/", "/train", "/play", "/read", "/write", "/table", "/classifier", "/model", "/playground", "/gallery", "/browser"]
READY = 90_000  # ms; a second or two on a machine with nothing else to do


def missing(wheels: bool = True) -> str | None:
    """What these tests lack, if anything."""
    if CHROMIUM is None:
        return "no Chromium: apt install chromium"
    if wheels and not (list(WHEELS.glob("wherry_tensor-*wasm32.whl")) and (PYODIDE / "pyodide.mjs").exists()):
        return "no wheels for the browser: make wasm"
    try:
        import playwright  # noqa: F401

        if wheels:
            import wherry_web  # noqa: F401
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            lack = missing(getattr(item.module, "NEEDS_WHEELS", True))
            if lack:
                item.add_marker(pytest.mark.skip(reason=lack))


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> Path:
    """A gallery with a LeNet that was trained on the digits."""
    from wherry_web.demo import train

    folder = tmp_path_factory.mktemp("models")
    train(folder)
    return folder


@pytest.fixture(scope="session")
def start(models) -> Iterator[Callable[[], tuple[str, subprocess.Popen]]]:
    """Starts a server; returns its address and process."""
    from wherry_web.files import Bundle

    ours = Bundle(WHEELS)
    ours.ready()
    for content in ours.encoded.values():
        content.compress()  # as every visitor but the first finds it
    processes = []

    def run() -> tuple[str, subprocess.Popen]:
        process = subprocess.Popen(
            [sys.executable, "-m", "wherry", "serve", "--port", "0", "--models", models, "--pyodide", PYODIDE, "--wheels", WHEELS],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        processes.append(process)
        return process.stdout.readline().split()[3], process

    yield run
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def site(start) -> str:
    """The address of a server."""
    return start()[0]


@pytest.fixture
def serve(tmp_path) -> Iterator[Callable[..., tuple[str, subprocess.Popen]]]:
    """Starts a server with our wheels and others in its folder; returns its address and process."""
    processes = []

    def start(*others: Path) -> tuple[str, subprocess.Popen]:
        folder = tmp_path / "wheels"
        folder.mkdir()
        for wheel in (*WHEELS.glob("wherry*.whl"), *others):
            shutil.copy(wheel, folder)
        processes.append(subprocess.Popen(
            [sys.executable, "-m", "wherry", "serve", "--port", "0", "--pyodide", PYODIDE, "--wheels", folder],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        ))
        return processes[-1].stdout.readline().split()[3], processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def playwright():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    yield chromium
    chromium.close()


def until(page, condition: str, seconds: float = READY / 1e3) -> None:
    """Wait until an expression is true on the page. Playwright's own wait needs eval, which the pages forbid."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, f"after {seconds:.0f} s still not: {condition}; status: {page.inner_text('#status')}"
        time.sleep(0.03)


class Visit:
    """A page in a context of its own that notes what goes wrong."""

    def __init__(self, browser, site: str, **options) -> None:
        self.site = site
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        self.page = self.context.new_page()
        self.page.set_default_timeout(READY)
        self.problems: list[str] = []
        self.page.on("console", lambda m: self.problems.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))

    def open(self, address: str):
        """Load a page and wait until Python is ready in it."""
        self.page.goto(self.site + address)
        self.page.wait_for_selector("body[data-ready]")
        return self.page


@pytest.fixture
def visit(browser, site) -> Iterator[Callable[..., Visit]]:
    """Opens contexts; at the end none may have shown an error that was not taken from its list."""
    visits: list[Visit] = []

    def new(**options) -> Visit:
        visits.append(Visit(browser, options.pop("site", site), **options))
        return visits[-1]

    yield new
    for one in visits:
        one.context.close()
    assert [problem for one in visits for problem in one.problems] == []


@pytest.fixture
def serve_beside() -> Iterator[Callable[..., str]]:
    """Serves the pages and, below `/beside`, files of a test; returns the address."""
    from flask import send_file
    from werkzeug.serving import make_server

    from wherry_web import Config, create_app

    servers = []

    def run(*files: Path) -> str:
        app = create_app(Config(pyodide=PYODIDE, wheels=WHEELS))
        known = {file.name: file for file in files}
        app.add_url_rule("/beside/<name>", endpoint="beside", view_func=lambda name: send_file(known[name]))
        servers.append(make_server("127.0.0.1", 0, app, threaded=True))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield run
    for server in servers:
        server.shutdown()


class FileServer:
    """`python -m http.server` of a folder.

    Args:
        headers: sent with every file.

    Attributes:
        sent: path -> bytes of what was sent of it, without headers.
    """

    def __init__(self, folder, **headers):
        self.sent = sent = collections.Counter()

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def end_headers(self):
                for name, value in headers.items():
                    self.send_header(name, value)
                super().end_headers()

            def copyfile(self, source, outputfile):
                sent[self.path] += outputfile.write(source.read())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


ASK = """([name, message]) => new Promise(async (resolve, reject) => {
  const { pyodide, bundle } = await (await fetch("/manifest.json")).json();
  const worker = new Worker(`/beside/${name}`, { type: "module" });
  worker.onmessage = ({ data }) => data.error ? reject(new Error(data.error)) : resolve(data.result);
  worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
  worker.postMessage({ pyodide: `/${pyodide.url}`, bundle: `/${bundle.url}`, ...message });
})"""


def ask(page, worker: str, **message: Any) -> Any:
    """Start a worker from beside the pages and send it a message; returns the `result` that it answers."""
    return page.evaluate(ASK, [worker, message])
