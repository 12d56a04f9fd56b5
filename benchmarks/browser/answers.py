"""How soon the site's examples answer, after how much, and how often the page Play draws while it learns: `python benchmarks/browser/answers.py`.

Each round is a fresh profile on localhost: the first example of the first page is run by its button (everything is downloaded), then again in a
new tab of the same profile (what the browser has kept). Times are from the press of Run until the output stands there. Play is opened as part
of the site, and what it draws in four seconds of learning is counted.

Needs a built site (`make wasm`, `make docs`), Playwright and Chromium. A round that takes longer than `--limit` ends the program: a page that hangs
would be waited for without end.
"""
from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import platform
import shutil
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "browser")]

from conftest import FileServer  # noqa: E402

RUN = """() => new Promise((resolve) => {
  const box = document.querySelector("[data-program]");
  const started = performance.now();
  new MutationObserver(() => box.dataset.ran && resolve([box.dataset.ran, performance.now() - started])).observe(box, { attributes: true });
  document.querySelector(".runner-main").click();
})"""
# A frame is drawn whenever `data-steps` is set, and shows something new when that has changed; beside it the frames that the browser offered.
FRAMES = """(duration) => new Promise((resolve) => {
  const progress = document.getElementById("progress");
  let drawn = 0, offered = 0, running = true, steps = "";
  const counted = () => { drawn += progress.dataset.steps !== steps; steps = progress.dataset.steps; };
  new MutationObserver(counted).observe(progress, { attributes: true, attributeFilter: ["data-steps"] });
  requestAnimationFrame(function count() { offered += 1; if (running) requestAnimationFrame(count); });
  const began = performance.now();
  setTimeout(() => {
    running = false;
    const seconds = (performance.now() - began) / 1e3;
    resolve([drawn / seconds, offered / seconds, Number(progress.dataset.step), Number(progress.dataset.drawing)]);
  }, duration);
})"""
NETWORKS = ("", "#data=spirals&layers=8,8,8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=180, help="seconds for a round (default: 180)")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    server = FileServer(options.site)
    first: list[float] = []
    again: list[float] = []
    frames: dict[str, list[list[float]]] = {}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        for i in range(options.rounds):
            with at_most(options.limit, f"round {i + 1}"):
                context = chromium.new_context()
                server.sent.clear()
                first.append(run(context, server.address))
                loaded = sum(server.sent.values())
                again.append(run(context, server.address))
                for network in NETWORKS:
                    frames.setdefault(network, []).append(play(context, f"{server.address}/try/play/{network}"))
                context.close()
            print(f"round {i + 1}: {first[-1]:.2f} s, {again[-1]:.2f} s", file=sys.stderr, flush=True)
        print("| | median | least | most |\n|---|---|---|---|")
        for what, times in (("first run of an example, fresh profile", first), ("the same in a new tab", again)):
            print(f"| {what} | {statistics.median(times):.2f} s | {min(times):.2f} | {max(times):.2f} |")
        print(f"\nThe first run loads {loaded / 1e6:.2f} MB from a server that compresses nothing.")
        print("\n| Play | frames a second with new steps | offered by the browser | a step | drawing a frame |\n|---|---|---|---|---|")
        for network, found in frames.items():
            drawn, offered, step, drawing = (statistics.median(column) for column in zip(*found, strict=True))
            print(f"| `{network or '#'}` | {drawn:.0f} ({min(row[0] for row in found):.0f}) | {offered:.0f} | {step:.2f} ms | {drawing:.1f} ms |")
        print(f"\n{datetime.date.today()}, headless Chromium {chromium.version}, {platform.machine()}, {os.cpu_count()} cores, localhost.")
        chromium.close()
    server.stop()


@contextlib.contextmanager
def at_most(seconds: int, what: str) -> Iterator[None]:
    """End the program when this takes longer. Playwright's `evaluate` has no limit of its own."""
    def give_up(*_: object) -> None:
        print(f"answers: {what} took more than {seconds} s; --limit sets another limit.", file=sys.stderr, flush=True)
        os._exit(1)  # not by an exception: Playwright would first wait for the page's answer

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def run(context: Any, address: str) -> float:
    """Seconds until the first example of the first page has run."""
    page = context.new_page()
    page.goto(f"{address}/index.html")
    outcome, milliseconds = page.evaluate(RUN)
    if outcome != "done":
        raise SystemExit(f"answers: the example ended with {outcome}: {page.inner_text('.runner')}")
    page.close()
    return milliseconds / 1e3


def play(context: Any, address: str) -> list[float]:
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", timeout=120_000)
    page.click("#run")
    time.sleep(1)  # the first steps are slower: everything is called for the first time
    found: list[float] = page.evaluate(FRAMES, 4000)
    page.close()
    return found


if __name__ == "__main__":
    main()
