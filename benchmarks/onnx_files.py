"""Files of ONNX that others made, in `wherry.InferenceSession` and in ONNX Runtime: results, and the time of a run.

    pip install onnxruntime && pip install --no-deps rapidocr-onnxruntime silero-vad nudenet magika ddddocr
    python benchmarks/onnx_files.py [FILE ...] [--seconds 3] [--threads 0]

Without files, those that the packages above bring, with inputs of sizes that they are made for. Each session lives in a process of its own: ONNX
Runtime's threads wait for work by turning round, also beside another session. Both are asked in turn, for many runs at a time, of which the first
third is dropped; medians count. The error is the largest difference as a share of the largest number.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# Package, file, and sizes of inputs that the file leaves open: by name, else by place.
FILES = [
    ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", {"x": (1, 3, 320, 640)}),
    ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", {"x": (2, 3, 48, 320)}),
    ("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": (2, 3, 48, 192)}),
    ("nudenet", "320n.onnx", {"images": (1, 3, 320, 320)}),
    ("silero_vad", "data/silero_vad.onnx", {"input": (1, 512), "state": (2, 1, 128), "sr": 16000}),
    ("silero_vad", "data/silero_vad_16k_op15.onnx", {"input": (1, 512), "state": (2, 1, 128), "sr": 16000}),
    ("silero_vad", "data/silero_vad_op18_ifless.onnx", {"input": (1, 512), "state": (2, 1, 128), "sr": 16000}),
    ("magika", "models/standard_v3_3/model.onnx", {"bytes": (1, 2048)}),
    ("ddddocr", "common.onnx", {"input1": (1, 1, 64, 96)}),
    ("ddddocr", "common_old.onnx", {"input1": (1, 1, 64, 96)}),
    ("ddddocr", "common_det.onnx", {"images": (1, 3, 416, 416)}),
]


def feeds(inputs: list[Any], sizes: dict[str, Any]) -> dict[str, np.ndarray]:
    """Numbers for the inputs of a session."""
    rng, found = np.random.default_rng(0), {}
    for x in inputs:
        given = sizes.get(x.name)
        if isinstance(given, int):
            found[x.name] = np.array(given)
            continue
        shape = given if given is not None else [n if isinstance(n, int) else 1 for n in x.shape]
        kind = {"float": "float32", "double": "float64"}.get(x.type[7:-1], x.type[7:-1])
        found[x.name] = (rng.standard_normal(shape) * 0.5).astype(kind) if kind.startswith("float") else rng.integers(1, 30, shape).astype(kind)
    return found


def answer(framework: str, path: str, sizes: dict[str, Any], threads: int) -> None:
    """Answer lines with a number of runs: their times; the results of the first run go into the file that the first line names."""
    if framework == "onnxruntime":
        import onnxruntime as ort
    else:
        import wherry.ort as ort
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = feeds(session.get_inputs(), sizes)
    target = sys.stdin.readline().strip()
    np.savez(target, *session.run(None, feed))
    print("[]", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            begun = time.perf_counter()
            session.run(None, feed)
            times.append(time.perf_counter() - begun)
        print(json.dumps(times), flush=True)


class Asked:
    """A session in a process of its own."""

    def __init__(self, framework: str, path: str, sizes: dict[str, Any], threads: int, folder: Path) -> None:
        command = [sys.executable, __file__, "--answer", framework, "--threads", str(threads), "--sizes", json.dumps(sizes), path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.file = folder / f"{framework}.npz"
        self.ask(str(self.file))

    def ask(self, line: str) -> list[float]:
        """What it answers to a line."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        answered = self.process.stdout.readline()
        if not answered:
            raise RuntimeError(f"onnx_files: a session ended. Got no answer to {line!r} from {self.process.args}, expected times.")
        return list(json.loads(answered))

    def results(self) -> list[np.ndarray]:
        """Of its first run."""
        with np.load(self.file) as found:
            return [found[name] for name in found.files]


def compared(path: str, sizes: dict[str, Any], asked: argparse.Namespace, folder: Path) -> tuple[float, float, float]:
    """Medians of both in seconds, and the error."""
    both = [Asked(framework, path, sizes, asked.threads, folder) for framework in ("wherry", "onnxruntime")]
    try:
        error = max((float(np.abs(a - b).max() / np.abs(b).max()) if b.size else 0.0) for a, b in zip(*(s.results() for s in both), strict=True))
        runs = max(6, min(300, int(0.15 / max(0.0005, both[1].ask("2")[-1]))))
        times: list[list[float]] = [[], []]
        end = time.monotonic() + asked.seconds
        while time.monotonic() < end or not times[0]:
            for session, found in zip(both, times):
                found += session.ask(str(runs))[runs // 3 :]
        return statistics.median(times[0]), statistics.median(times[1]), error
    finally:
        for session in both:
            session.process.kill()
            session.process.wait()


def installed() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The files of packages that are here."""
    for package, name, sizes in FILES:
        found = importlib.util.find_spec(package)
        if found is not None and found.submodule_search_locations:
            path = Path(found.submodule_search_locations[0]) / name
            if path.exists():
                yield f"{package}: {path.name}", str(path), sizes


def main() -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each file")
    parser.add_argument("--threads", type=int, default=0, help="0: what each takes by itself")
    parser.add_argument("--sizes", default="{}", help="of inputs, as JSON: {\"x\": [1, 3, 224, 224]}")
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.answer:
        answer(asked.answer, asked.files[0], json.loads(asked.sizes), asked.threads)
        return
    rows = [(Path(path).name, path, json.loads(asked.sizes)) for path in asked.files] or installed()
    print("| file | Wherry | ONNX Runtime | ratio | error |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path, sizes in rows:
            ours, theirs, error = compared(path, sizes, asked, Path(folder))
            print(f"| {name} | {ours * 1e3:.3g} ms | {theirs * 1e3:.3g} ms | {ours / theirs:.2f} | {error:.0e} |", flush=True)


if __name__ == "__main__":
    main()
