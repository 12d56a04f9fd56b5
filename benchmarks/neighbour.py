"""Two threads against one while another process keeps one core busy: `python benchmarks/neighbour.py [--rounds N] [--only REGEX]`.

The table has the time of two threads divided by that of one: medians of rounds in turn. Above 1, the second thread is a loss.
"""
from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable

import numpy as np
from worker import measure

import wherry
import wherry.nn.functional as F

BUSY = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


def t(*shape: int) -> wherry.Tensor:
    return wherry.to_tensor(np.random.default_rng(0).standard_normal(shape).astype("float32"))


def of(function: Callable[..., object], *shape: int) -> Callable[[], object]:
    a, b = t(*shape), t(*shape)
    return lambda: function(a, b)


def convolution(image: tuple[int, ...], weight: tuple[int, ...], **options: int) -> Callable[[], object]:
    x, w = t(*image), t(*weight)
    return lambda: F.conv2d(x, w, **options)


def cases() -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {
        "conv2d 3x3, 64 channels, 28x28, batch 8": convolution((8, 64, 28, 28), (64, 64, 3, 3), padding=1),
        "conv2d 7x7 stride 2, 3 to 64 channels, 224x224": convolution((1, 3, 224, 224), (64, 3, 7, 7), stride=2, padding=3),
        "conv2d 3x3 depthwise, 128 channels, 28x28, batch 8": convolution((8, 128, 28, 28), (128, 1, 3, 3), padding=1, groups=128),
        "conv2d 1x1, 64 to 256 channels, 56x56, batch 4": convolution((4, 64, 56, 56), (256, 64, 1, 1)),
    }
    for size in (128, 256, 512, 1024):
        found[f"matmul {size}"] = of(lambda a, b: a @ b, size, size)
    for name, size in (("1 M", 1 << 20), ("64 K", 1 << 16)):
        found[f"add, {name} values"] = of(lambda a, b: a + b, size)
    found["exp, 128 K values"] = of(lambda a, _: a.exp(), 1 << 17)
    layer, x = wherry.nn.TransformerEncoderLayer(256, 8, 1024), t(8, 128, 256)

    def step() -> None:
        layer(x).sum().backward()
        layer.clear_gradients()

    return found | {"Transformer layer, forward and backward": step}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.1, help="for each case, number of threads and round")
    parser.add_argument("--only", default="", help="a regular expression that cases must match")
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    with subprocess.Popen([sys.executable, "-c", BUSY, str(core)]) as neighbour:
        try:
            print("| case | two threads / one |\n|---|---|")
            for name, run in cases().items():
                if re.search(options.only, name):
                    times: dict[int, list[float]] = {1: [], 2: []}
                    for _ in range(options.rounds):
                        for threads, found in times.items():
                            wherry.set_num_threads(threads)
                            found.append(measure(run, options.seconds))
                    print(f"| {name} | {statistics.median(times[2]) / statistics.median(times[1]):.2f} |", flush=True)
        finally:
            neighbour.kill()


if __name__ == "__main__":
    main()
