"""Exported models in the browser, beside onnxruntime-web and TensorFlow.js: `python benchmarks/browser/exported.py`.

A page of headless Chromium runs the bundles of `wherry.export.web` and the same models in the others in turn, on the page's own thread with SIMD; the
Markdown table has the median of each. A second page, isolated from other sites, does so with several threads. Then the page of the exported LeNet is
opened in fresh profiles, from a server that compresses nothing: how long until it has predicted.

Needs the engine (`make engine`), Node, `pip install playwright onnx brotli` and Chromium; the others come from npm, under .cache/.
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import run

import wherry
from wherry import nn

CASES = [
    ("lenet", 1, "LeNet, batch 1"), ("lenet", 32, "LeNet, batch 32"), ("mobilenet", 1, "MobileNetV2 224 x 224, batch 1"),
    ("mobilenet-int8", 1, "the same in int8, beside float32"),
]
SCRIPTS = ("wherry.js", "core.js", "worker.js", "pool.js", "thread.js")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--milliseconds", type=int, default=200, help="of each measurement (default: 200)")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 4], help="a table for each number (default: 1 4)")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        shapes, sites = bundles(folder)
        chromium = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        cases = [{"model": model, "shape": [batch, *shapes[model]]} for model, batch, _ in CASES]
        for threads in options.threads:
            server = run.serve({"benchmark": run.HERE, "peers": run.peers(), "bundles": folder}, isolated=threads > 1)
            page = chromium.new_page()
            page.set_default_timeout(900_000)
            page.goto(f"http://127.0.0.1:{server.server_port}/benchmark/exported.html")
            page.wait_for_function("Boolean(window.measure)")
            measured: dict[str, Any] = page.evaluate("settings => window.measure(settings)", {
                "cases": cases, "rounds": options.rounds, "milliseconds": options.milliseconds, "threads": threads,
            })
            page.close()
            print(table(measured, threads), end="\n\n")
            server.shutdown()
        server = run.serve({"bundles": folder})
        first = [cold(chromium, f"http://127.0.0.1:{server.server_port}/bundles/lenet/") for _ in range(7)]
        server.shutdown()
        print(report(sites, first, chromium.version))
        chromium.close()


def bundles(folder: Path) -> tuple[dict[str, list[int]], dict[str, Any]]:
    """Each model as a bundle, as ONNX and as steps; what an image of it is, and what its export says."""
    wherry.seed(0)
    nets = {"lenet": (wherry.vision.models.LeNet(), [1, 28, 28]), "mobilenet": (wherry.vision.models.mobilenet_v2(), [3, 224, 224])}
    sites = {}
    for name, (net, shape) in nets.items():
        spec = [wherry.static.InputSpec([None, *shape], "float32", "image")]
        sites[name] = wherry.export.web(net, folder / name, input_spec=spec)
        wherry.onnx.export(net, str(folder / name), input_spec=spec, opset_version=13)
        write_steps(net, folder / name)
    sites["mobilenet-int8"] = wherry.export.web(net, folder / "mobilenet-int8", input_spec=spec, precision="int8")
    static = next((folder / "lenet" / "static").iterdir())
    for script in SCRIPTS:
        shutil.copy(static / script, folder)
    shapes = {name: shape for name, (_, shape) in nets.items()}
    return {**shapes, "mobilenet-int8": shapes["mobilenet"]}, sites


# The models for TensorFlow.js: steps with weights in its order, normalization folded into them.

def write_steps(net: Any, stem: Path) -> None:
    numbers: list[np.ndarray] = []
    text = json.dumps(list(steps_of(net, numbers)))
    stem.with_suffix(".steps.json").write_text(text)
    stem.with_suffix(".steps.bin").write_bytes(b"".join(np.ascontiguousarray(x, np.float32).tobytes() for x in numbers))


def steps_of(net: Any, numbers: list[np.ndarray]) -> Iterator[dict[str, Any]]:
    layers, channels = list(leaves(net)), None
    for i, layer in enumerate(layers):
        following = layers[i + 1] if i + 1 < len(layers) else None
        if isinstance(layer, list):
            yield {"op": "residual", "steps": list(steps_of(layer, numbers))}
        elif isinstance(layer, nn.MaxPool2D):
            yield {"op": "pool"}
        elif isinstance(layer, nn.AdaptiveAvgPool2D):
            yield {"op": "mean"}
            channels = None
        elif isinstance(layer, nn.Conv2D):
            weight, bias = layer.weight.numpy(), np.zeros(layer.weight.shape[0], np.float32) if layer.bias is None else layer.bias.numpy()
            if isinstance(following, nn.BatchNorm2D):
                factor = following.weight.numpy() / np.sqrt(following._variance.numpy() + following._epsilon)
                weight, bias = weight * factor[:, None, None, None], (bias - following._mean.numpy()) * factor + following.bias.numpy()
                following = layers[i + 2] if i + 2 < len(layers) else None
            alone = weight.shape[1] == 1 and weight.shape[0] > 6  # LeNet's first has one channel as well
            weight, channels = weight.transpose(2, 3, 0, 1) if alone else weight.transpose(2, 3, 1, 0), weight.shape[0]
            numbers += [weight, bias]
            activation = "relu6" if isinstance(following, nn.ReLU6) else "relu" if isinstance(following, nn.ReLU) else "linear"
            yield {
                "op": "depthwise" if alone else "conv", "weight": list(weight.shape), "bias": list(bias.shape), "stride": layer._stride[0],
                "pad": int(np.ravel(layer._padding)[0]), "activation": activation,
            }
        elif isinstance(layer, nn.Linear):
            weight = layer.weight.numpy()
            if channels is not None:  # what was flattened lies with its channels last
                weight, channels = weight.reshape(channels, -1, weight.shape[1]).transpose(1, 0, 2).reshape(weight.shape), None
            numbers += [weight, layer.bias.numpy()]
            yield {"op": "linear", "weight": list(weight.shape), "bias": [weight.shape[1]], "activation": "linear"}


def leaves(net: Any) -> Iterator[Any]:
    """The layers in order; those of a branch that is added to its input as a list."""
    for layer in net if isinstance(net, list) else net.children():
        if getattr(layer, "use_res_connect", False):
            yield list(leaves(layer))
        elif isinstance(layer, list) or not list(layer.children()):
            yield layer
        else:
            yield from leaves(layer)


# What was measured.

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


def table(measured: dict[str, Any], threads: int) -> str:
    names = ["Wherry", "onnxruntime-web", *(["TensorFlow.js"] if threads == 1 else []), "Wherry, float32"]
    shown = {"Wherry": f"Wherry {wherry.__version__}", **{name: f"{name} {version}" for name, version in measured["versions"].items()}}
    others = names[1:]
    lines = [
        f"| {threads} thread{'s' if threads > 1 else ''} | {' | '.join(shown.get(name, name) for name in names)} | "
        f"{' | '.join('ours / ' + name for name in others)} |",
        f"|{'---|' * (1 + len(names) + len(others))}",
    ]
    for (_, _, title), one in zip(CASES, measured["found"], strict=True):
        medians = {name: statistics.median(times) for name, times in one["times"].items()}
        cells = [f"{medians[name]:.3g} ms" if name in medians else "" for name in names]
        cells += [f"{medians['Wherry'] / medians[name]:.2f}" if name in medians else "" for name in others]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    apart = [one["apart"] for one in measured["found"]]
    return "\n".join([*lines, "", f"Outputs differ by at most {max(apart[:3]):.1e} of the largest; those of int8 by {apart[3]:.1e}."])


def report(sites: dict[str, Any], first: list[float], version: str) -> str:
    lenet, full, small = (sites[name] for name in ("lenet", "mobilenet", "mobilenet-int8"))
    sizes = [sum(n for name, n in site.files.items() if "weights" in name) for site in (full, small)]
    return "\n".join([
        f"Before the first prediction of LeNet: {lenet.compressed / 1e3:.0f} kB with {lenet.compression}, everything included; its page in a "
        f"fresh profile has predicted after {statistics.median(first):.0f} ms ({min(first):.0f} to {max(first):.0f}). Weights of MobileNetV2 in "
        f"int8: {sizes[1] / sizes[0]:.3f} of those in float32.",
        "", f"{time.strftime('%Y-%m-%d')}, headless Chromium {version}, {platform.machine()}, {os.cpu_count()} cores; times are medians, "
        f"interleaved.",
    ])


if __name__ == "__main__":
    main()
