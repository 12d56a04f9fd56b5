"""Models in `wherry.InferenceSession` and in predictors, and in ONNX Runtime: how long they take to load, and a run.

    pip install onnx onnxruntime && python benchmarks/onnx_session.py [--threads 1] [--seconds 2]

Both sessions live in one process and are timed in turn, a few runs of each at a time; medians count. The models are ours, written as ONNX with
random weights, and as Paddle has them for predictors; ONNX Runtime reads the ONNX.
"""
from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime

import wherry
from wherry_paddle_files.models import load_model, save_program_beside


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


def timed(functions: list[Callable[[], Any]], seconds: float) -> list[float]:
    """The median of the times of a call of each, in microseconds; they are called in turn, in one order and in the other."""
    times: list[list[float]] = [[] for _ in functions]
    order, end = list(range(len(functions))), time.perf_counter() + seconds
    while time.perf_counter() < end:
        order.reverse()
        for i in order:
            functions[i]()  # what the other left in the caches is gone
            for _ in range(5):
                begun = time.perf_counter()
                functions[i]()
                times[i].append(time.perf_counter() - begun)
    return [statistics.median(found) * 1e6 for found in times]


def as_paddle_has_it(path: str) -> None:
    """Save the same model as Paddle 2 and 3 do, beside it."""
    prefix = os.path.splitext(path)[0]
    wherry.jit.save(wherry.onnx.load(path), prefix)
    program = load_model(prefix)
    save_program_beside(f"{prefix}.json", program, f"{prefix}.pdiparams")


def predictor_of(path: str, ending: str, threads: int) -> wherry.inference.Predictor:
    """A predictor of such files."""
    prefix = os.path.splitext(path)[0]
    config = wherry.inference.Config(f"{prefix}.{ending}", f"{prefix}.pdiparams")
    config.set_cpu_math_library_num_threads(threads)
    return wherry.inference.create_predictor(config)


def through_handles(predictor: wherry.inference.Predictor, x: np.ndarray) -> Callable[[], np.ndarray]:
    """A run by `paddle.inference`: copied in, run, copied out."""
    given = predictor.get_input_handle(predictor.get_input_names()[0])
    result = predictor.get_output_handle(predictor.get_output_names()[0])

    def call() -> np.ndarray:
        given.copy_from_cpu(x)
        predictor.run()
        return result.copy_to_cpu()

    return call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    asked = parser.parse_args()
    theirs, ours = onnxruntime.SessionOptions(), wherry.ort.SessionOptions()
    theirs.intra_op_num_threads = ours.intra_op_num_threads = asked.threads
    print(f"| model, batch 1 | what | Wherry | ONNX Runtime {onnxruntime.__version__} | ratio |")
    print("|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, x) in models(folder).items():
            a, b = wherry.InferenceSession(path, ours), onnxruntime.InferenceSession(path, theirs)
            feed = {"x": x}
            np.testing.assert_allclose(a.run(None, feed)[0], b.run(None, feed)[0], rtol=1e-3, atol=1e-4)
            as_paddle_has_it(path)
            handles = through_handles(predictor_of(path, "pdmodel", asked.threads), x)
            run = timed([lambda a=a, feed=feed: a.run(None, feed), handles, lambda b=b, feed=feed: b.run(None, feed)], asked.seconds)
            rows = [("session.run", run[0], run[2]), ("handles", run[1], run[2])]
            theirs_made = lambda p=path: onnxruntime.InferenceSession(p, theirs)  # noqa: E731
            theirs_run = lambda make=theirs_made, feed=feed: make().run(None, feed)  # noqa: E731
            for kind in ("onnx", "pdmodel", "json"):  # one after the other: what one leaves behind slows the next
                if kind == "onnx":
                    made = lambda p=path: wherry.InferenceSession(p, ours)  # noqa: E731
                    first = lambda make=made, feed=feed: make().run(None, feed)  # noqa: E731
                else:
                    made = lambda p=path, kind=kind: predictor_of(p, kind, asked.threads)  # noqa: E731
                    first = lambda make=made, x=x: through_handles(make(), x)()  # noqa: E731
                rows.append((f"load .{kind}", *timed([made, theirs_made], asked.seconds)))
                rows.append((f"load .{kind} and first run", *timed([first, theirs_run], asked.seconds)))
            for what, mine, other in rows:
                print(f"| {name} | {what} | {shown(mine)} | {shown(other)} | {mine / other:.2f} |")


def shown(us: float) -> str:
    """A time with three digits."""
    return f"{us:.3g} us" if us < 1e3 else f"{us / 1e3:.3g} ms"


if __name__ == "__main__":
    main()
