"""Speed in the browser, beside onnxruntime-web and TensorFlow.js: `python benchmarks/browser/run.py`.

One page of one headless Chromium holds all three, each with one thread and SIMD, and asks them for the same case in
turn, several rounds long; the Markdown table has the median of each. Then the pages of `wherry serve` are opened
in fresh profiles: how long until the first prediction, and how many bytes of ours were on the way.

Bytes that the page asks for after it could predict (the digits of its samples) do not count.

Needs the wheels of `make wasm`, an installed `wherry-web`, `pip install playwright` and Chromium. The peers come from
npm, and their model is written by PyPI's `onnx` in an environment of its own; both stay under .cache/.
"""
from __future__ import annotations

import argparse
import datetime
import http.server
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "browser-benchmark"
PYODIDE = ROOT / ".cache" / "wasm" / "pyodide"
PEERS = ("onnxruntime-web@1.30.0", "@tensorflow/tfjs@4.22.0", "@tensorflow/tfjs-backend-wasm@4.22.0")
CASES = {
    "matmul 256": "f32 matmul 256",
    "matmul 512": "f32 matmul 512",
    "infer 1": "LeNet inference, batch 1",
    "infer 32": "LeNet inference, batch 32",
    "train 32": "LeNet training step (Adam), batch 32",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--milliseconds", type=int, default=200, help="of each measurement (default: 200)")
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES), metavar="case", help="default: all")
    parser.add_argument("--no-pages", action="store_true", help="leave out the pages of `wherry serve`")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the table too; needs `pip install matplotlib`")
    options = parser.parse_args()
    wheels = sorted((ROOT / "wheelhouse" / "wasm").glob("wherry*.whl"))
    if not PYODIDE.exists() or not wheels:
        sys.exit("There are no wheels for the browser yet: run `make wasm` first.")

    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        start = {"executable_path": options.chromium, "args": ["--no-sandbox"]}
        chromium = playwright.chromium.launch(**start)
        version = chromium.version
        measured = measure(chromium, wheels, options)
        chromium.close()
        pages = [] if options.no_pages else [first_prediction(playwright, start) for _ in range(5)]
    medians = {case: {name: statistics.median(times) for name, times in by_name.items() if times}
               for case, by_name in measured["times"].items()}
    print(report(medians, measured["versions"], measured["notes"], pages, version))
    if options.plot:
        plot(medians, measured["versions"], options.plot)


# ---------------------------------------------------------------------------------------------------
# The cases


def measure(chromium: Any, wheels: list[Path], options: argparse.Namespace) -> dict[str, Any]:
    folders = {"benchmark": HERE, "peers": peers(), "models": models(), "pyodide": PYODIDE, "wheels": wheels[0].parent}
    server = serve(folders)
    page = chromium.new_page()
    page.set_default_timeout(900_000)
    page.on("console", lambda message: print(message.text[:300], file=sys.stderr))
    page.on("pageerror", lambda error: print(str(error)[:300], file=sys.stderr))
    page.goto(f"http://127.0.0.1:{server.server_port}/benchmark/page.html")
    page.wait_for_function("Boolean(window.measure)")
    settings = {"wheels": [wheel.name for wheel in wheels], "cases": options.cases, "rounds": options.rounds,
                "milliseconds": options.milliseconds}
    found: dict[str, Any] = page.evaluate("settings => window.measure(settings)", settings)
    server.shutdown()
    return found


def serve(folders: dict[str, Path], isolated: bool = False) -> http.server.ThreadingHTTPServer:
    """Serve folders by the first part of the address. isolated: with the headers that let pages have threads."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def end_headers(self) -> None:
            if isolated:
                self.send_header("Cross-Origin-Opener-Policy", "same-origin")
                self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            super().end_headers()

        def translate_path(self, path: str) -> str:
            first, _, rest = path.split("?")[0].lstrip("/").partition("/")
            return str(folders.get(first, Path(os.devnull)) / rest)

        def log_message(self, *_: Any) -> None:
            """Keeps quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def peers() -> Path:
    """The folder with the peers from npm."""
    mark = CACHE / "peers.txt"
    if not mark.exists() or mark.read_text() != repr(PEERS):
        CACHE.mkdir(parents=True, exist_ok=True)
        (CACHE / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *PEERS], cwd=CACHE, check=True)
        mark.write_text(repr(PEERS))
    return CACHE / "node_modules"


def models() -> Path:
    """The folder with LeNet and a product as ONNX, and LeNet's weights as plain numbers."""
    folder = CACHE / "models"
    script = HERE / "onnx_models.py"
    if not folder.exists() or (folder / "made-by.py").read_text() != script.read_text():
        environment = CACHE / "onnx"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin" / "python", "-m", "pip", "install", "-qq", "onnx"], check=True)
        folder.mkdir(exist_ok=True)
        subprocess.run([environment / "bin" / "python", script, folder], check=True)
        shutil.copy(script, folder / "made-by.py")
    return folder


# ---------------------------------------------------------------------------------------------------
# The pages


def first_prediction(playwright: Any, start: dict[str, Any]) -> dict[str, float]:
    """Open the first page in a fresh profile; seconds until it has predicted, and bytes that were sent for it."""
    from waitress.server import create_server

    import wherry
    from wherry_web import create_app
    from wherry_web.config import Config
    from wherry_web.gallery import save_model

    with tempfile.TemporaryDirectory() as folder:
        save_model(folder, "lenet", wherry.vision.models.LeNet(), architecture="LeNet", title="LeNet",
                   labels=[str(digit) for digit in range(10)], input_shape=[1, 28, 28])
        app = create_app(Config(models=Path(folder), pyodide=PYODIDE, wheels=ROOT / "wheelhouse" / "wasm"))
        counting = Counting(app)
        server = create_server(counting, host="127.0.0.1", port=0, threads=8)
        threading.Thread(target=server.run, daemon=True).start()
        address = f"http://127.0.0.1:{server.effective_port}/"
        # As on a server that has been asked before: it packs the bundle once.
        opened(playwright, start, address)
        counting.start()
        seconds = opened(playwright, start, address)
        server.close()
    return {"seconds": seconds, **counting.sent}


def opened(playwright: Any, start: dict[str, Any], address: str) -> float:
    chromium = playwright.chromium.launch(**start)
    page = chromium.new_page()
    page.set_default_timeout(300_000)
    page.goto(address)
    page.locator("body[data-ready=true]").wait_for()
    seconds = page.evaluate("() => performance.now()") / 1e3
    chromium.close()
    return float(seconds)


class Counting:
    """A WSGI application that adds up the bytes of its answers, up to those that a page asks for after its first prediction."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.start()

    def start(self) -> None:
        self.sent = {"pyodide": 0, "ours": 0}
        self.predicted = False

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        environ.pop("wsgi.file_wrapper", None)  # would send without passing here
        path = environ["PATH_INFO"]
        self.predicted |= path.endswith("digits.bin")  # the first thing that a page that has predicted asks for
        counted = not self.predicted
        answer = self.app(environ, start_response)
        try:
            for part in answer:
                self.sent["pyodide" if path.startswith("/pyodide/") else "ours"] += counted * len(part)
                yield part
        finally:
            if hasattr(answer, "close"):
                answer.close()


# ---------------------------------------------------------------------------------------------------
# The table


def report(
    medians: dict[str, dict[str, float]], versions: dict[str, str], notes: list[str], pages: list[dict[str, float]], chromium: str
) -> str:
    ours, *peers = versions
    lines = [f"| case | {' | '.join(versions.values())} | {' | '.join(f'ours / {name}' for name in peers)} |",
             f"|---|{'---|' * (1 + 2 * len(peers))}"]
    for case, times in medians.items():
        shown = [human(case, times.get(name)) for name in versions]
        ratios = [f"{times[ours] / times[name]:.2f}" if name in times else "" for name in peers]
        lines.append(f"| {CASES[case]} | {' | '.join(shown)} | {' | '.join(ratios)} |")
    lines += ["", *(f"- {note}" for note in notes)]
    if pages:
        seconds = sorted(page["seconds"] for page in pages)
        lines += ["", f"First page, fresh profile, localhost: {statistics.median(seconds):.2f} s to the first prediction "
                  f"({seconds[0]:.2f} to {seconds[-1]:.2f}); {pages[-1]['ours'] / 1e6:.2f} MB of ours and "
                  f"{pages[-1]['pyodide'] / 1e6:.2f} MB of Pyodide were sent, compressed as they went over the wire."]
    machine = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                    if line.startswith("model name")), platform.processor())
    lines += ["", f"{datetime.date.today()}, headless Chromium {chromium}, {machine}, {os.cpu_count()} cores; "
              "times are medians, interleaved; ratios below 1 mean that Wherry is faster."]
    return "\n".join(lines)


def plot(medians: dict[str, dict[str, float]], versions: dict[str, str], file: Path) -> None:
    """Draw the times of the table, each case in units of our time."""
    import matplotlib.pyplot as plt

    ours = next(iter(versions))
    figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
    for (name, version), color, shape, label in zip(versions.items(), ("#2f6fde", "#d9730d", "#6b7280"), "osD", (0, 7, -15)):
        ratios = {row: times[name] / times[ours] for row, times in enumerate(medians.values()) if name in times}
        axes.scatter(list(ratios.values()), list(ratios), color=color, marker=shape, s=60, label=version, zorder=3)
        for row, ratio in ratios.items():
            if name != ours:
                axes.annotate(f"{ratio:.2f}", (ratio, row), (0, label), textcoords="offset points", ha="center", fontsize=8, color=color)
    axes.set_yticks(range(len(medians)), [CASES[case] for case in medians])
    axes.set_ylim(len(medians) - 0.5, -0.7)
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
    axes.set_xlim(0.45, 30)
    axes.minorticks_off()
    axes.grid(axis="x", color="#e5e7eb")
    axes.set_xlabel("time in units of ours: further right is slower")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(file, dpi=150)


def human(case: str, milliseconds: float | None) -> str:
    if milliseconds is None:
        return "cannot"
    kind, _, size = case.partition(" ")
    text = f"{milliseconds:.3g} ms"
    return f"{text} ({2 * int(size) ** 3 / milliseconds / 1e6:.1f} GFLOP/s)" if kind == "matmul" else text


if __name__ == "__main__":
    main()
