"""How long pages take from a fresh profile to their first prediction: `python benchmarks/browser/cold.py`.

The page of an exported LeNet that predicts, and of one that also trains, from a server that compresses nothing; in the second, `train` is called
too: until its first step, which loads Python. Then the page Draw a digit of wherry-web, where Python predicts. What loads Python is measured
twice: as it is, and with the memory of a Pyodide that has started (tools/wasm/snapshot.mjs). All in turn, each in a fresh profile, on localhost.

Needs the engine and the wheels for the browser (`make engine`, `make wasm`), Node, `pip install playwright` and Chromium.
"""
from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import run

import wherry
from wherry_export.web.wheels import SNAPSHOT

FIRST_STEP = """async () => {
  const { load } = await import(new URL("wherry.js", location.href).href);
  const model = await load("./", { threads: 1 });
  const started = performance.now();
  let first;
  const images = Float32Array.from({ length: 64 * 784 }, (_, i) => Math.sin(i));
  const onprogress = ({ step }) => (first ??= step && performance.now() - started);
  await model.train(images, Array.from({ length: 64 }, (_, i) => i % 10), { onprogress });
  return first / 1e3;
}"""
ANSWERED = """addEventListener("load", () => document.querySelector("#progress") &&
  new MutationObserver(() => (window.answered ??= performance.now())).observe(document.getElementById("answers"), { childList: true }))"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        started = {False: core(folder / "pyodide", False), True: core(folder / "pyodide-started", True)}
        bundles(folder, started)
        files = run.serve({"bundles": folder})
        pages = {snapshot: draw(folder, pyodide) for snapshot, pyodide in started.items()}
        at = f"http://127.0.0.1:{files.server_port}/bundles"
        chromium = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        for _ in range(options.rounds + 1):  # servers pack their answers in the first
            for name, seconds in (
                ("bundle that predicts: first prediction", lambda: first(chromium, f"{at}/predict/")),
                ("bundle that trains: first prediction", lambda: first(chromium, f"{at}/train-False/")),
                ("bundle that trains: `train` to its first step", lambda: first(chromium, f"{at}/train-False/", FIRST_STEP)),
                ("`train` to its first step, memory of a started Pyodide", lambda: first(chromium, f"{at}/train-True/", FIRST_STEP)),
                ("Draw a digit (Python predicts): first prediction", lambda: first(chromium, pages[False])),
                ("Draw a digit, memory of a started Pyodide", lambda: first(chromium, pages[True])),
            ):
                found.setdefault(name, []).append(seconds())
        print(report(found, chromium.version))
        chromium.close()


def core(folder: Path, started: bool) -> Path:
    """A copy of Pyodide, with or without its memory."""
    shutil.copytree(run.PYODIDE, folder, ignore=shutil.ignore_patterns(SNAPSHOT))
    if started:
        subprocess.run(["node", run.ROOT / "tools" / "wasm" / "snapshot.mjs", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def bundles(folder: Path, cores: dict[bool, Path]) -> None:
    wherry.seed(0)
    net, spec = wherry.vision.models.LeNet(), [wherry.static.InputSpec([None, 1, 28, 28], "float32", "image")]
    wherry.export.web(net, folder / "predict", input_spec=spec)
    for started, pyodide in cores.items():
        wherry.export.web(
            net, folder / f"train-{started}", input_spec=spec, engine="train", wheels=run.ROOT / "wheelhouse" / "wasm", pyodide=pyodide
        )


def draw(folder: Path, pyodide: Path) -> str:
    """Serve the pages of wherry-web with a LeNet; returns the address."""
    from waitress.server import create_server

    from wherry_web import create_app
    from wherry_web.config import Config
    from wherry_web.gallery import save_model

    save_model(folder / "models", "lenet", wherry.vision.models.LeNet(), architecture="LeNet", title="LeNet",
               labels=[str(digit) for digit in range(10)], input_shape=[1, 28, 28])
    app = create_app(Config(models=folder / "models", pyodide=pyodide, wheels=run.ROOT / "wheelhouse" / "wasm"))
    server = create_server(app, host="127.0.0.1", port=0, threads=8)
    threading.Thread(target=server.run, daemon=True).start()
    return f"http://127.0.0.1:{server.effective_port}/"


def first(chromium: Any, address: str, more: str | None = None) -> float:
    """Seconds in a fresh profile: from the start of the navigation to the first prediction, or what `more` gives."""
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.add_init_script(ANSWERED)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    found = page.evaluate(more) if more else page.evaluate("() => (window.answered ?? performance.now()) / 1e3")
    context.close()
    return float(found)


def report(found: dict[str, list[float]], version: str) -> str:
    lines = ["| from a fresh profile | median | range |", "|---|---|---|"]
    for name, (_, *times) in found.items():
        lines.append(f"| {name} | {statistics.median(times):.2f} s | {min(times):.2f} to {max(times):.2f} |")
    lines += ["", f"{datetime.date.today()}, headless Chromium {version}, {platform.machine()}, {os.cpu_count()} cores, localhost; in turn."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
