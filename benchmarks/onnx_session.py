"""Models of ONNX in `wherry.InferenceSession` and in ONNX Runtime: how long they take to load, and a run.

    pip install onnx onnxruntime && python benchmarks/onnx_session.py [--threads 1] [--seconds 2]

Both sessions live in one process and are timed in turn, a few runs of each at a time; the smallest time counts, so that what else the machine
does falls on both. The models are ours, written as ONNX with random weights.
"""
from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime

import wherry


def models(folder: str) -> dict[str, tuple[str, np.ndarray]]:
    """The files, each with an input."""
    wherry.seed(0)
    nets = {
        "MLP 64-128-10": (wherry.nn.Sequential(wherry.nn.Linear(64, 128), wherry.nn.ReLU(), wherry.nn.Linear(128, 10)), [64]),
        "LeNet": (wherry.vision.models.LeNet(), [1, 28, 28]),
        "MobileNetV2": (wherry.vision.models.mobilenet_v2(), [3, 224, 224]),
    }
    found = {}
    for number, (name, (net, shape)) in enumerate(nets.items()):
        net.eval()
        spec = [wherry.static.InputSpec([None, *shape], "float32", "x")]
        path = wherry.onnx.export(net, os.path.join(folder, str(number)), input_spec=spec, opset_version=13)
        found[name] = path, np.random.default_rng(0).standard_normal((1, *shape)).astype("float32")
    return found


def smallest(functions: list[Callable[[], Any]], seconds: float) -> list[float]:
    """The smallest time of a call of each, in microseconds; they are called in turn."""
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(functions):
            for _ in range(5):
                begun = time.perf_counter()
                call()
                best[i] = min(best[i], time.perf_counter() - begun)
    return [b * 1e6 for b in best]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    asked = parser.parse_args()
    theirs, ours = onnxruntime.SessionOptions(), wherry.ort.SessionOptions()
    theirs.intra_op_num_threads = ours.intra_op_num_threads = asked.threads
    print(f"| model, batch 1 | load, ms | ONNX Runtime {onnxruntime.__version__} | ratio | run, us | ONNX Runtime | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, x) in models(folder).items():
            a, b = wherry.InferenceSession(path, ours), onnxruntime.InferenceSession(path, theirs)
            feed = {"x": x}
            np.testing.assert_allclose(a.run(None, feed)[0], b.run(None, feed)[0], rtol=1e-3, atol=1e-4)
            run = smallest([lambda a=a, feed=feed: a.run(None, feed), lambda b=b, feed=feed: b.run(None, feed)], asked.seconds)
            load = smallest(
                [lambda path=path: wherry.InferenceSession(path, ours), lambda path=path: onnxruntime.InferenceSession(path, theirs)], asked.seconds
            )
            print(
                f"| {name} | {load[0] / 1e3:.1f} | {load[1] / 1e3:.1f} | {load[0] / load[1]:.2f} "
                f"| {run[0]:.1f} | {run[1]:.1f} | {run[0] / run[1]:.2f} |"
            )


if __name__ == "__main__":
    main()
