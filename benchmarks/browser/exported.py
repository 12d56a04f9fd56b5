"""Exported models in the browser, beside onnxruntime-web: `python benchmarks/browser/exported.py`.

One page of one headless Chromium runs the bundles of `wherry.export.web` and the same models as ONNX in turn, each with one thread and
SIMD; the Markdown table has the median of each. Then the page of the exported LeNet is opened in fresh profiles, from a server
that compresses nothing: how long until it has predicted.

Needs the engine (`make engine`), Node, `pip install playwright onnx brotli` and Chromium; onnxruntime-web comes from npm, under .cache/.
"""
from __future__ import annotations

import argparse
import platform
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import run

import wherry

CASES = [
    ("lenet", 1, "LeNet, batch 1"), ("lenet", 32, "LeNet, batch 32"), ("mobilenet", 1, "MobileNetV2 224 x 224, batch 1"),
    ("mobilenet-int8", 1, "the same, weights in int8"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--milliseconds", type=int, default=200, help="of each measurement (default: 200)")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        shapes, sites = bundles(folder)
        server = run.serve({"benchmark": run.HERE, "peers": run.peers(), "bundles": folder})
        chromium = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        page = chromium.new_page()
        page.set_default_timeout(900_000)
        page.goto(f"http://127.0.0.1:{server.server_port}/benchmark/exported.html")
        page.wait_for_function("Boolean(window.measure)")
        cases = [{"model": model, "shape": [batch, *shapes[model]]} for model, batch, _ in CASES]
        measured: dict[str, Any] = page.evaluate("settings => window.measure(settings)", {
            "cases": cases, "rounds": options.rounds, "milliseconds": options.milliseconds,
        })
        page.close()
        first = [cold(chromium, f"http://127.0.0.1:{server.server_port}/bundles/lenet/") for _ in range(7)]
        print(report(measured, sites, first, chromium.version))
        chromium.close()
        server.shutdown()


def bundles(folder: Path) -> tuple[dict[str, list[int]], dict[str, Any]]:
    """Each model as a bundle and as ONNX; what an image of it is, and what its export says."""
    wherry.seed(0)
    nets = {"lenet": (wherry.vision.models.LeNet(), [1, 28, 28]), "mobilenet": (wherry.vision.models.mobilenet_v2(), [3, 224, 224])}
    sites = {}
    for name, (net, shape) in nets.items():
        spec = [wherry.static.InputSpec([None, *shape], "float32", "image")]
        sites[name] = wherry.export.web(net, folder / name, input_spec=spec)
        wherry.onnx.export(net, str(folder / name), input_spec=spec, opset_version=13)
    sites["mobilenet-int8"] = wherry.export.web(net, folder / "mobilenet-int8", input_spec=spec, precision="int8")
    static = next((folder / "lenet" / "static").iterdir())
    for script in ("wherry.js", "core.js", "worker.js"):
        shutil.copy(static / script, folder)
    shapes = {name: shape for name, (_, shape) in nets.items()}
    return {**shapes, "mobilenet-int8": shapes["mobilenet"]}, sites


def cold(chromium: Any, address: str) -> float:
    """Milliseconds from the start of the navigation to the first prediction, in a fresh profile."""
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script("addEventListener('load', () => new MutationObserver(() => (window.answered ??= performance.now()))"
                         ".observe(document.getElementById('answers'), { childList: true }))")
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    found: float = page.evaluate("window.answered")
    time.sleep(0.2)
    context.close()
    return found


def report(measured: dict[str, Any], sites: dict[str, Any], first: list[float], version: str) -> str:
    lines = [f"| case | Wherry {wherry.__version__} | onnxruntime-web {measured['version']} | ratio |", "|---|---|---|---|"]
    for (_, _, title), one in zip(CASES, measured["found"], strict=True):
        ours, theirs = (statistics.median(times) for times in one["times"])
        lines.append(f"| {title} | {ours:.3g} ms | {theirs:.3g} ms | {ours / theirs:.2f} |")
    lenet, full, small = (sites[name] for name in ("lenet", "mobilenet", "mobilenet-int8"))
    sizes = [sum(n for name, n in site.files.items() if "weights" in name) for site in (full, small)]
    lines += [
        "", f"Before the first prediction of LeNet: {lenet.compressed / 1e3:.0f} kB with {lenet.compression}, everything included; its page in a "
        f"fresh profile has predicted after {statistics.median(first):.0f} ms ({min(first):.0f} to {max(first):.0f}). Weights of MobileNetV2 in "
        f"int8: {sizes[1] / sizes[0]:.3f} of those in float32. Outputs differ by at most "
        f"{max(one['apart'] for one in measured['found'][:3]):.1e} of the largest.",
        "", f"{time.strftime('%Y-%m-%d')}, headless Chromium {version}, {platform.machine()}, one thread each; times are medians, interleaved.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
