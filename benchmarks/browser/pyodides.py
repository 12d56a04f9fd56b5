"""How long versions of Pyodide take to start in a worker: `python benchmarks/browser/pyodides.py FOLDER...`.

Each folder is an npm package of Pyodide, unpacked (`make wasm` leaves them in .cache/wasm). They start in turn, each in a fresh profile, on
localhost: plainly, and with the memory of one that has started (tools/wasm/snapshot.mjs), both until `1 + 1` is answered. What a visitor
downloads is counted as it would be sent with brotli.

Needs Node, `pip install playwright brotli` and Chromium.
"""
from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import brotli

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "browser"), str(ROOT / "packages" / "export" / "src")]

from conftest import FileServer  # noqa: E402
from wherry_export.web.wheels import SNAPSHOT, core_files, version  # noqa: E402

WORKER = """addEventListener("message", async ({ data: [folder, snapshot] }) => {
  const started = performance.now();
  const memory = snapshot && fetch(`${folder}/snapshot.bin`).then((response) => response.arrayBuffer());
  const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
  const python = await loadPyodide({ indexURL: `${folder}/`, ...(memory && { _loadSnapshot: new Uint8Array(await memory) }) });
  if (python.runPython("1 + 1") !== 2) throw new Error("wrong");
  postMessage(performance.now() - started);
});
"""
ASK = """([folder, snapshot]) => new Promise((resolve, reject) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage([folder, snapshot]);
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        site = Path(scratch)
        (site / "worker.js").write_text(WORKER)
        (site / "index.html").write_text("<!doctype html><title>start</title>")
        for folder in options.folders:
            copy = site / version(folder)
            shutil.copytree(folder, copy)
            if not (copy / SNAPSHOT).exists():
                subprocess.run(["node", ROOT / "tools" / "wasm" / "snapshot.mjs", copy], check=True, stdout=subprocess.DEVNULL)
        versions = [version(folder) for folder in options.folders]
        server = FileServer(site)
        chromium = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        times: dict[tuple[str, bool], list[float]] = {}
        for _ in range(options.rounds):
            for snapshot in (False, True):
                for name in versions:
                    context = chromium.new_context()
                    page = context.new_page()
                    page.goto(f"{server.address}/index.html")
                    times.setdefault((name, snapshot), []).append(page.evaluate(ASK, [f"/{name}", snapshot]) / 1e3)
                    context.close()
        print("| Pyodide | Python | start, median (least) | with the memory of a started one | to download | with that memory |")
        print("|---|---|---|---|---|---|")
        for name in versions:
            python = json.loads((site / name / "pyodide-lock.json").read_text())["info"]["python"]
            plain, snapshot = (f"{statistics.median(of):.2f} s ({min(of):.2f})" for of in (times[name, False], times[name, True]))
            sizes = {file: len(brotli.compress((site / name / file).read_bytes(), quality=9)) for file in core_files(site / name)}
            alone = sum(sizes.values()) - sizes[SNAPSHOT]
            print(f"| {name} | {python} | {plain} | {snapshot} | {alone / 1e6:.2f} MB | {(alone + sizes[SNAPSHOT]) / 1e6:.2f} MB |")
        print(f"\n{datetime.date.today()}, headless Chromium {chromium.version}, {platform.machine()}, {os.cpu_count()} cores, localhost; in turn.")
        chromium.close()
        server.stop()


if __name__ == "__main__":
    main()
