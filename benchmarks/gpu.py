"""The parts of benchmarks/gpu.sh: each in a process of its own, each leaving one file of JSON.

    python benchmarks/gpu.py parts                        their names
    python benchmarks/gpu.py run time-matmul --out DIR    one of them
    python benchmarks/gpu.py table --out DIR              what is there so far, as Markdown and JSON

A time is the median of rounds, each of as many calls as take a quarter of a second, with a wait for the GPU at the end of the round.
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHARDS = 6


# ---- what is timed ------------------------------------------------------------------------------


class Timed(NamedTuple):
    """A case: `make(framework, small)` gives what is called again and again, and the bytes (or operations) that it moves."""

    title: str
    unit: str  # what `work` counts: "bytes", "flops" or ""
    must: str
    make: Callable[[Any, bool], tuple[Callable[[], Any], float]]


class Wherry:
    """What the cases ask of a framework, of Wherry."""

    name = "wherry"

    def __init__(self) -> None:
        import wherry

        self.lib = wherry
        wherry.set_device("gpu")
        self.nn, self.f = wherry.nn, wherry.nn.functional

    def normal(self, shape: list[int], dtype: str = "float32", grad: bool = False) -> Any:
        x = self.lib.randn(shape, "float32").astype(dtype)
        x.stop_gradient = not grad
        return x

    def integers(self, high: int, shape: list[int]) -> Any:
        return self.lib.randint(0, high, shape)

    def wait(self) -> None:
        self.lib.device.cuda.synchronize()

    def softmax(self, x: Any) -> Any:
        return self.f.softmax(x, axis=-1)

    def layer_norm(self, x: Any, w: Any, b: Any) -> Any:
        return self.f.layer_norm(x, x.shape[-1:], w, b)

    def attention(self, q: Any, k: Any, v: Any) -> Any:
        return self.f.scaled_dot_product_attention(q, k, v, is_causal=True)

    def heads(self, batch: int, heads: int, length: int, width: int, grad: bool) -> Any:
        return self.normal([batch, length, heads, width], "bfloat16", grad)

    def embedding(self, rows: int, width: int) -> Any:
        return self.nn.Embedding(rows, width)

    def linear(self, n: int, m: int) -> Any:
        return self.nn.Linear(n, m)

    def norm(self, n: int) -> Any:
        return self.nn.LayerNorm(n)

    def parameter(self, size: int) -> Any:
        return self.lib.create_parameter([size], "float32")

    def adam(self, parameters: Any) -> Any:
        return self.lib.optimizer.AdamW(1e-4, parameters=parameters)

    def gelu(self, x: Any) -> Any:
        return self.f.gelu(x)

    def cross_entropy(self, x: Any, y: Any) -> Any:
        return self.f.cross_entropy(x, y)

    def autocast(self) -> Any:
        return self.lib.amp.auto_cast(dtype="bfloat16")

    def clear(self, optimizer: Any) -> None:
        optimizer.clear_grad()

    def resnet50(self, small: bool) -> Any:
        models = self.lib.vision.models
        return models.LeNet() if small else models.resnet50()  # 25 million parameters are too many for the emulator

    def images(self, small: bool) -> Any:
        return self.normal([2, 1, 28, 28] if small else [128, 3, 224, 224])

    def module(self) -> Any:
        return self.nn.Layer

    def modules(self, parts: list[Any]) -> Any:
        return self.nn.LayerList(parts)


class Torch:
    """The same, of PyTorch."""

    name = "torch"

    def __init__(self) -> None:
        import torch

        self.lib = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.f = torch.nn.functional

    def normal(self, shape: list[int], dtype: str = "float32", grad: bool = False) -> Any:
        return self.lib.randn(shape, dtype=getattr(self.lib, dtype), device=self.device, requires_grad=grad)

    def integers(self, high: int, shape: list[int]) -> Any:
        return self.lib.randint(0, high, shape, device=self.device)

    def wait(self) -> None:
        if self.device == "cuda":
            self.lib.cuda.synchronize()

    def softmax(self, x: Any) -> Any:
        return self.f.softmax(x, dim=-1)

    def layer_norm(self, x: Any, w: Any, b: Any) -> Any:
        return self.f.layer_norm(x, x.shape[-1:], w, b)

    def attention(self, q: Any, k: Any, v: Any) -> Any:
        return self.f.scaled_dot_product_attention(q, k, v, is_causal=True)

    def heads(self, batch: int, heads: int, length: int, width: int, grad: bool) -> Any:
        return self.normal([batch, heads, length, width], "bfloat16", grad)

    def embedding(self, rows: int, width: int) -> Any:
        return self.lib.nn.Embedding(rows, width)

    def linear(self, n: int, m: int) -> Any:
        return self.lib.nn.Linear(n, m)

    def norm(self, n: int) -> Any:
        return self.lib.nn.LayerNorm(n)

    def parameter(self, size: int) -> Any:
        return self.lib.nn.Parameter(self.normal([size]))

    def adam(self, parameters: Any) -> Any:
        return self.lib.optim.AdamW(parameters, lr=1e-4, fused=self.device == "cuda")

    def gelu(self, x: Any) -> Any:
        return self.f.gelu(x)

    def cross_entropy(self, x: Any, y: Any) -> Any:
        return self.f.cross_entropy(x, y)

    def autocast(self) -> Any:
        return self.lib.autocast(self.device, dtype=self.lib.bfloat16)

    def clear(self, optimizer: Any) -> None:
        optimizer.zero_grad()

    def resnet50(self, small: bool) -> Any:
        nn = self.lib.nn
        model = nn.Sequential(nn.Conv2d(1, 6, 5), nn.Flatten(), nn.Linear(6 * 24 * 24, 10)) if small else _torch_resnet50(self.lib)
        return model.to(self.device, memory_format=self.lib.channels_last)

    def images(self, small: bool) -> Any:
        return self.normal([2, 1, 28, 28] if small else [128, 3, 224, 224]).to(memory_format=self.lib.channels_last)

    def module(self) -> Any:
        device = self.device

        class Module(self.lib.nn.Module):  # type: ignore[misc, name-defined]
            def __init_subclass__(cls) -> None:
                begin = cls.__init__

                def made(self: Any, *arguments: Any) -> None:
                    begin(self, *arguments)
                    self.to(device)

                cls.__init__ = made  # type: ignore[method-assign]

        return Module

    def modules(self, parts: list[Any]) -> Any:
        return self.lib.nn.ModuleList(parts)


def _torch_resnet50(torch: Any) -> Any:
    nn = torch.nn

    class Bottleneck(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, inside: int, width: int, stride: int) -> None:
            super().__init__()
            out = 4 * width
            self.body = nn.Sequential(
                nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out),
            )  # fmt: skip
            plain = stride == 1 and inside == out
            self.side = nn.Identity() if plain else nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def forward(self, x: Any) -> Any:
            return torch.relu(self.body(x) + self.side(x))

    parts = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            parts.append(Bottleneck(inside, width, stride if i == 0 else 1))
            inside = 4 * width
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000))


def _gpt(fw: Any, layers: int, width: int, heads: int, words: int) -> Any:
    base = fw.module()

    class Block(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = fw.norm(width), fw.norm(width)
            self.query, self.key, self.value = fw.linear(width, width), fw.linear(width, width), fw.linear(width, width)
            self.out, self.up, self.down = fw.linear(width, width), fw.linear(width, 4 * width), fw.linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            h = self.before(x)

            def split(y: Any) -> Any:
                y = y.reshape([batch, length, heads, width // heads])
                return y if fw.name == "wherry" else y.transpose(1, 2)

            mixed = fw.attention(split(self.query(h)), split(self.key(h)), split(self.value(h)))
            if fw.name == "torch":
                mixed = mixed.transpose(1, 2)
            x = x + self.out(mixed.reshape([batch, length, width]))
            return x + self.down(fw.gelu(self.up(self.between(x))))

    class Gpt(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.blocks, self.last = fw.embedding(words, width), fw.modules([Block() for _ in range(layers)]), fw.norm(width)
            self.head = fw.linear(width, words)

        def forward(self, x: Any) -> Any:
            x = self.words(x)
            for block in self.blocks:
                x = block(x)
            return self.head(self.last(x))

    return Gpt()


def _add(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    x, y = fw.normal([2, 3]), fw.normal([2, 3])
    return lambda: x + y, 0


def _rows(fw: Any, small: bool, gigabytes: float = 1) -> tuple[Any, float]:
    rows = 8 if small else int(gigabytes * (1 << 30)) // (4 * 4096)
    x = fw.normal([rows, 64 if small else 4096])
    return x, 2.0 * rows * x.shape[1] * 4


def _copy(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    x, work = _rows(fw, small)
    return lambda: x.clone(), work


def _elementwise(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    x, work = _rows(fw, small)
    return lambda: fw.gelu(x), work


def _softmax(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    x, work = _rows(fw, small)
    return lambda: fw.softmax(x), work


def _layer_norm(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    x, work = _rows(fw, small)
    w, b = fw.normal(list(x.shape[-1:])), fw.normal(list(x.shape[-1:]))
    return lambda: fw.layer_norm(x, w, b), work


def _cross_entropy(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    x, work = _rows(fw, small)
    labels = fw.integers(x.shape[1], [x.shape[0]])
    return lambda: fw.cross_entropy(x, labels), work / 2  # read once; little is written


def _matmul(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    n = 32 if small else 8192
    x, y = fw.normal([n, n], "bfloat16"), fw.normal([n, n], "bfloat16")
    return lambda: x @ y, 2.0 * n**3


def _attention(fw: Any, small: bool, backward: bool = False) -> tuple[Callable[[], Any], float]:
    batch, heads, length, width = (1, 2, 16, 8) if small else (8, 16, 4096, 128)
    q, k, v = (fw.heads(batch, heads, length, width, backward) for _ in range(3))
    work = 2.0 * batch * heads * length**2 * width  # two products, of which a causal mask leaves a half
    if not backward:
        return lambda: fw.attention(q, k, v), work
    ct = fw.heads(batch, heads, length, width, False)

    def step() -> Any:
        for x in (q, k, v):
            if fw.name == "torch":
                x.grad = None
            else:
                x.clear_grad()
        out = fw.attention(q, k, v)
        out.backward(ct)

    return step, 3.5 * work


def _train_gpt(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    layers, width, heads, length, batch, words = (1, 16, 2, 8, 2, 32) if small else (12, 768, 12, 1024, 16, 50304)
    model = _gpt(fw, layers, width, heads, words)
    optimizer = fw.adam(model.parameters())
    x, y = fw.integers(words, [batch, length]), fw.integers(words, [batch * length])

    def step() -> Any:
        with fw.autocast():
            loss = fw.cross_entropy(model(x).reshape([batch * length, words]), y)
        loss.backward()
        optimizer.step()
        fw.clear(optimizer)

    return step, 0


def _train_resnet(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    model = fw.resnet50(small)
    optimizer = fw.adam(model.parameters())
    x = fw.images(small)
    y = fw.integers(10 if small else 1000, [x.shape[0]])

    def step() -> Any:
        with fw.autocast():
            loss = fw.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        fw.clear(optimizer)

    return step, 0


def _adam(fw: Any, small: bool) -> tuple[Callable[[], Any], float]:
    count, each = (2, 1000) if small else (100, 10_000_000)
    parameters = [fw.parameter(each) for _ in range(count)]
    for parameter in parameters:
        (parameter * fw.normal([each])).sum().backward()
    optimizer = fw.adam(parameters)
    return optimizer.step, 7.0 * 4 * count * each  # reads parameter, gradient and two moments; writes three


CASES = {
    "copy": Timed("copy of 1 GB", "bytes", "", _copy),
    "add": Timed("eager small op `x + y`", "", "<= 0.5 x PyTorch, aim 0.3 x", _add),
    "elementwise": Timed("gelu of 1 GB", "bytes", ">= 80 % of copy, <= 1.0 x PyTorch's time", _elementwise),
    "softmax": Timed("softmax of 1 GB", "bytes", ">= 80 % of copy, <= 1.0 x PyTorch's time", _softmax),
    "layer_norm": Timed("layer_norm of 1 GB", "bytes", ">= 80 % of copy, <= 1.0 x PyTorch's time", _layer_norm),
    "cross_entropy": Timed("cross_entropy of 1 GB", "bytes", ">= 80 % of copy, <= 1.0 x PyTorch's time", _cross_entropy),
    "matmul": Timed("matmul bf16 8192^3", "flops", ">= 0.97 x PyTorch's speed", _matmul),
    "attention": Timed("attention bf16 B8 H16 T4096 D128, causal", "flops", ">= 0.6 x PyTorch's speed, aim 1.0 x", _attention),
    "attention-backward": Timed("the same, forward and backward", "flops", ">= 0.6 x PyTorch's speed, aim 1.0 x",
                                lambda fw, small: _attention(fw, small, True)),
    "gpt": Timed("step of GPT, 12 layers, d=768, T=1024, batch 16, bf16 AMP", "", ">= 0.8 x PyTorch eager's speed", _train_gpt),
    "resnet50": Timed("step of ResNet-50, batch 128, AMP", "", ">= 0.7 x PyTorch channels_last's speed", _train_resnet),
    "adam": Timed("AdamW over 1e9 parameters", "bytes", ">= 80 % of copy", _adam),
}

# Timed once more without NVIDIA's libraries, with kernels of our own.
WITH_LIBRARIES = ("matmul", "gpt", "resnet50")
OWN_KERNELS = {"WHERRY_CUDA_CUBLAS": "0", "WHERRY_CUDA_CUDNN": "0"}


def measure(framework: str, case: str, small: bool) -> dict[str, float]:
    """Seconds of a call of a case, and what it works per second."""
    fw = Wherry() if framework == "wherry" else Torch()
    call, work = CASES[case].make(fw, small)
    for _ in range(1 if small else 3):
        kept = call()
    fw.wait()

    def round_of(count: int) -> float:
        begun = time.perf_counter()
        for _ in range(count):
            kept = call()  # noqa: F841  freed by the next
        fw.wait()
        return time.perf_counter() - begun

    count = 1
    if not small:
        while (took := round_of(count)) < 0.1:
            count *= 4
        count = max(1, round(0.25 * count / took))
    del kept
    rounds = sorted(round_of(count) / count for _ in range(1 if small else 7))
    return {"seconds": rounds[len(rounds) // 2], "least": rounds[0], "rounds": len(rounds), "calls": count, "work": work}


# ---- the parts ----------------------------------------------------------------------------------


def parts() -> list[str]:
    """Their names, in the order in which they run."""
    return ["build", "device", *(f"kit-{i}" for i in range(1, SHARDS + 1)), "kit-own", "suites", "sanitizer", *(f"time-{case}" for case in CASES)]


def run(part: str, out: Path, emulate: bool) -> dict[str, Any]:
    """Runs a part; what it returns is what the table shows."""
    library = (out / ("libwherry_cuda_emulated.so" if emulate else "libwherry_cuda.so")).absolute()
    os.environ["WHERRY_CUDA_LIBRARY"] = str(library)
    _make_findable(out)
    if part == "build":
        return _build(library, emulate)
    if not library.is_file():
        raise SystemExit(f"{library} is not there: run the part 'build' first")
    if part == "device":
        return _device()
    if part == "kit-own":  # what NVIDIA's libraries compute in the parts above, where they are found
        os.environ.update(OWN_KERNELS)
        chosen = "linear" if emulate else "matmul or linear or outer_sum or conv2d"
        return _pytest(["--pyargs", "wherry_tensor.testing", "--wherry-device", "gpu", "-k", chosen])
    if part.startswith("kit-"):
        return _pytest(["--pyargs", "wherry_tensor.testing", "--wherry-device", "gpu", *(["-k", "softmax or relu"] if emulate else [])], part[4:])
    if part == "suites":
        return _pytest([f"packages/ops-cuda/tests/test_{name}.py" for name in ("training", "device", "pinned")])
    if part == "sanitizer":
        return _sanitizer(emulate)
    return _time(part.removeprefix("time-"), emulate)


def _make_findable(out: Path) -> None:
    """Entry points of the device for this process and those that it starts, where the package is on the path and not installed."""
    from importlib.metadata import entry_points

    if any(point.name == "gpu" for point in entry_points(group="wherry.devices")):
        return
    folder = (out / "entry-points").absolute()
    info = folder / "wherry_gpu-0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wherry-gpu\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[wherry.devices]\ngpu = wherry_ops_cuda.column:register\ngpu_pinned = wherry_ops_cuda.column:register\n")
    sys.path.append(str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(folder)]))


def _build(library: Path, emulate: bool) -> dict[str, Any]:
    from wherry_ops_cuda import building

    if emulate:
        building.build_for_emulator(library, few_dtypes=True)
        return {"built": "for the emulator"}
    found = building.architectures_for("auto")
    registers = building.build_for_gpus(library, found, strict=False)
    return {"built": f"sm_{', sm_'.join(map(str, found))}", "kernels": len(registers)}


def _device() -> dict[str, Any]:
    import wherry

    wherry.set_device("gpu")
    properties = wherry.device.cuda.get_device_properties()._asdict()
    x = wherry.ones([4])
    assert (x + x).tolist() == [2.0] * 4
    wherry.utils.run_check()
    driver = ""
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(query, capture_output=True, text=True).stdout.split("\n")[0]
    from wherry_ops_cuda import libraries

    return {
        **properties, "libraries": libraries.describe(), "driver": driver, "date": date.today().isoformat(),
        "python": platform.python_version(), "wherry": wherry.__version__,
    }


def _pytest(arguments: list[str], shard: str = "") -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")])}
    if shard:
        environment["WHERRY_GPU_SHARD"] = shard
    command = [sys.executable, "-m", "pytest", "-p", "gpu", "-p", "no:cacheprovider", "--tb=short", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    print(done.stdout[-20000:], done.stderr[-5000:])
    if done.returncode not in (0, 1, 5):
        raise SystemExit(f"pytest ended with {done.returncode}")
    counts = [line for line in done.stdout.splitlines() if re.search(r"\d+ (passed|failed|skipped|deselected|error)", line)]
    return {"passed": done.returncode in (0, 5), "said": counts[-1].strip("= ") if counts else "no word of pytest"}


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """As a plug-in of pytest (-p gpu): leaves one of SHARDS parts of the tests, which WHERRY_GPU_SHARD names."""
    shard = os.environ.get("WHERRY_GPU_SHARD")
    if shard:
        kept = items[int(shard) - 1 :: SHARDS]
        config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % SHARDS != int(shard) - 1])
        items[:] = kept


_SANITIZED = """
import wherry
wherry.set_device("gpu")
x = wherry.randn([33, 65]); x.stop_gradient = False
w = wherry.randn([65, 17]); w.stop_gradient = False
y = wherry.nn.functional.softmax(wherry.nn.functional.gelu(x @ w), axis=1)
loss = (y * y).sum() + wherry.nn.functional.layer_norm(x, [65]).max() + x.T.cumsum(axis=0).mean()
loss.backward()
c = wherry.nn.Conv2D(3, 5, 3)
c(wherry.randn([2, 3, 9, 9])).mean().backward()
print(float(loss), float(x.grad.sum()))
"""


def _sanitizer(emulate: bool) -> dict[str, Any]:
    if shutil.which("compute-sanitizer") is None:
        return {"said": "compute-sanitizer is not there"}
    said = {}
    for name in ("memcheck", "racecheck", "initcheck"):
        command = ["compute-sanitizer", "--tool", name, "--error-exitcode", "9", sys.executable, "-c", _SANITIZED]
        done = subprocess.run(command, capture_output=True, text=True)
        print(done.stdout[-5000:], done.stderr[-2000:])
        said[name] = "clean" if done.returncode == 0 else f"status {done.returncode}: {done.stdout.strip().splitlines()[-1:]}"
    return {"passed": all(text == "clean" for text in said.values()), **said}


def _time(case: str, emulate: bool) -> dict[str, Any]:
    result: dict[str, Any] = {}
    own = ("own",) if case in WITH_LIBRARIES else ()
    for framework in ("wherry", *own, "torch"):
        if framework == "torch":
            import importlib.util

            if importlib.util.find_spec("torch") is None:
                result["torch"] = "not installed"
                continue
        named = "wherry" if framework == "own" else framework
        command = [sys.executable, __file__, "measure", case, "--framework", named, *(["--emulate"] if emulate else [])]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(OWN_KERNELS if framework == "own" else {})})
        print(done.stdout[-3000:], done.stderr[-3000:])
        if done.returncode:
            tail = (done.stderr.strip().splitlines() or ["no word"])[-1]
            result[framework] = f"failed: {tail[:300]}"
        else:
            result[framework] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


# ---- the table ----------------------------------------------------------------------------------


def table(out: Path) -> tuple[str, dict[str, Any]]:
    """Markdown and data of the parts that are done."""
    found = {part: json.loads((out / f"{part}.json").read_text()) for part in parts() if (out / f"{part}.json").is_file()}
    device = found.get("device", {})
    emulated = device.get("name") == "CUDA emulator"
    lines = [f"# {device.get('name', 'GPU')}, {device.get('date', date.today().isoformat())}", ""]
    if emulated:
        lines += ["The emulator at small sizes: its times mean nothing, and PyTorch's are the cpu's.", ""]
    elif device:
        lines += [f"Driver {device['driver']}, Python {device['python']}, Wherry {device['wherry']}. {'. '.join(device['libraries'])}.", ""]
    lines += ["| part | result |", "|---|---|"]
    for part, data in found.items():
        if not part.startswith("time-") and part != "device":
            lines.append(f"| {part} | {'; '.join(f'{key}: {value}' for key, value in data.items())} |")
    head = ["case", "wherry", "without NVIDIA's libraries", "of copy", "PyTorch", "wherry's time / PyTorch's", "must"]
    lines += ["", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    copy = found.get("time-copy", {}).get("wherry")
    bandwidth = copy["work"] / copy["seconds"] if isinstance(copy, dict) else None
    for case, timed in CASES.items():
        data = found.get(f"time-{case}")
        if data is None:
            continue
        ours, theirs = data.get("wherry"), data.get("torch")
        share, ratio = "", ""
        if isinstance(ours, dict) and timed.unit == "bytes" and bandwidth:
            share = f"{ours['work'] / ours['seconds'] / bandwidth:.0%}"
        if isinstance(ours, dict) and isinstance(theirs, dict):
            ratio = f"{ours['seconds'] / theirs['seconds']:.2f}"
        cells = [_shown(ours, timed.unit), _shown(data.get("own"), timed.unit), share, _shown(theirs, timed.unit), ratio, timed.must]
        lines.append(f"| {' | '.join([timed.title, *cells])} |")
    missing = [part for part in parts() if not (out / f"{part}.done").is_file()]
    if missing:
        lines += ["", f"Not done, or failed: {', '.join(missing)}."]
    return "\n".join(lines) + "\n", found


def _shown(result: Any, unit: str) -> str:
    if not isinstance(result, dict):
        return str(result or "")
    seconds = result["seconds"]
    shown = f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.4g} ms"
    if unit:
        rate = result["work"] / seconds
        shown += f", {rate / 1e9:.3g} GB/s" if unit == "bytes" else f", {rate / 1e12:.3g} TFLOP/s"
    return shown


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("parts")
    for name in ("run", "table", "measure"):
        command = commands.add_parser(name)
        if name != "table":
            command.add_argument("what")
            command.add_argument("--emulate", action="store_true")
        if name == "measure":
            command.add_argument("--framework", choices=("wherry", "torch"), required=True)
        else:
            command.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    if chosen.command == "parts":
        print("\n".join(parts()))
    elif chosen.command == "measure":
        print(json.dumps(measure(chosen.framework, chosen.what, chosen.emulate)))
    elif chosen.command == "run":
        if chosen.what not in parts():
            raise SystemExit(f"gpu.py: there is no part {chosen.what!r}. Expected one of {', '.join(parts())}.")
        done = chosen.out / f"{chosen.what}.done"
        done.unlink(missing_ok=True)
        result = run(chosen.what, chosen.out, chosen.emulate)
        (chosen.out / f"{chosen.what}.json").write_text(json.dumps(result, indent=1) + "\n")
        if result.get("passed") is False or str(result.get("wherry", "")).startswith("failed"):
            raise SystemExit(1)
        done.touch()
    else:
        text, data = table(chosen.out)
        (chosen.out / "results.md").write_text(text)
        (chosen.out / "results.json").write_text(json.dumps(data, indent=1) + "\n")
        print(text)


if __name__ == "__main__":
    main()
