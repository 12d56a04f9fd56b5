"""What the kernels cost, counted without a GPU: `python -m wherry_ops_cuda.report`.

Registers, shared memory and instructions are read out of the compiled library (NVIDIA's cuobjdump and nvdisasm), occupancy follows
from the architecture's tables; traffic, coalescing and conflicts of banks are counted by the emulator, which sees every access.
None of it is a time.
"""
from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from wherry_cuda_emulator import Emulator, Measure
from wherry_ops_cuda import building

__all__ = ["LIMITS", "Case", "Counted", "Static", "cases", "counted", "main", "occupancy", "statics"]


# ---- what the compiler made ---------------------------------------------------------------------


class Limits(NamedTuple):
    """What a multiprocessor has room for."""

    warps: int
    blocks: int
    registers: int
    shared: int  # bytes


# CUDA's programming guide, table of technical specifications per compute capability.
LIMITS = {
    75: Limits(32, 16, 65536, 64 << 10), 80: Limits(64, 32, 65536, 164 << 10), 86: Limits(48, 16, 65536, 100 << 10),
    89: Limits(48, 24, 65536, 100 << 10), 90: Limits(64, 32, 65536, 228 << 10), 100: Limits(64, 32, 65536, 228 << 10),
    120: Limits(48, 24, 65536, 100 << 10),
}  # fmt: skip
_OF_SYSTEM = {75: 0}  # bytes of shared memory that CUDA takes for each block: 1024 from 8.0 on


def occupancy(architecture: int, registers: int, shared: int, threads: int) -> float:
    """The part of a multiprocessor's warps that can be there at once.

    Args:
        architecture: as 90 for 9.0.
        registers: of a thread.
        shared: bytes of a block.
        threads: of a block.
    """
    limits = LIMITS[architecture]
    warps = math.ceil(threads / 32)
    per_warp = math.ceil(max(registers, 1) * 32 / 256) * 256  # given out 256 at a time
    by_registers = limits.registers // per_warp // warps
    taken = shared + _OF_SYSTEM.get(architecture, 1024)
    by_shared = limits.shared // taken if taken else limits.blocks
    return min(limits.blocks, limits.warps // warps, by_registers, by_shared) * warps / limits.warps


class Static(NamedTuple):
    """A kernel as it was compiled.

    Attributes:
        name: its name, as `building.kernel_names` gives it.
        registers: of a thread.
        shared: bytes of shared memory that are known when it is compiled.
        local: bytes of local memory; 0 unless something is wrong.
        instructions: how many there are, those that only fill the end left out.
        opcodes: how many of each kind: "LDG.128", "STG", "HMMA", "FFMA", "MUFU", "BAR", ...
    """

    name: str
    registers: int
    shared: int
    local: int
    instructions: int
    opcodes: dict[str, int]


def tool(name: str) -> str:
    """One of NVIDIA's programs: of $CUDA_HOME, on the path, or of its wheel.

    Raises:
        FileNotFoundError: there is none of these.
    """
    found = shutil.which(name, path=os.pathsep.join([*_program_folders(), os.environ.get("PATH", "")]))
    if found is None:
        raise FileNotFoundError(
            f"wherry_ops_cuda.report: {name} was not found. Looked in CUDA_HOME, on PATH and among the installed wheels. "
            f"pip install wherry-ops-cuda[report]"
        )
    return found


def _program_folders() -> list[str]:
    import importlib.util

    folders = [str(Path(os.environ["CUDA_HOME"]) / "bin")] if "CUDA_HOME" in os.environ else []
    wheels = importlib.util.find_spec("nvidia")
    for root in (wheels.submodule_search_locations or []) if wheels else []:
        folders += [str(found) for found in sorted(Path(root).glob("cu*/bin"), reverse=True)]
    return folders


def statics(library: str | os.PathLike[str], architecture: int) -> list[Static]:
    """The kernels of a library that was compiled for GPUs.

    Args:
        library: what `python -m wherry_ops_cuda build` made.
        architecture: which of those that it holds, as 90 for 9.0.

    Raises:
        FileNotFoundError: cuobjdump, nvdisasm or c++filt is not there.
        RuntimeError: the library holds nothing for that architecture.
    """
    environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(tool("nvdisasm")), os.environ.get("PATH", "")])}

    def said(option: str) -> str:
        command = [tool("cuobjdump"), option, str(library)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError(f"wherry_ops_cuda.report: {' '.join(command)} failed: {done.stderr.strip()}")
        return done.stdout

    usage: dict[str, tuple[int, int, int]] = {}
    for symbol, text in re.findall(r"Function (\w+):\s*\n\s*(REG:.*)", _of_architecture(said("-res-usage"), architecture)):
        has = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", text)}
        usage[symbol] = has["REG"], has.get("SHARED", 0), has.get("LOCAL", 0) + has.get("STACK", 0)
    opcodes: dict[str, dict[str, int]] = {}
    for part in _of_architecture(said("-sass"), architecture).split("Function : ")[1:]:
        symbol, _, body = part.partition("\n")
        opcodes[symbol.strip()] = _opcodes(body)
    if not usage:
        raise RuntimeError(
            f"wherry_ops_cuda.report: nothing for sm_{architecture} was found in {library}. Build it for that: "
            f"python -m wherry_ops_cuda build --architectures {architecture}"
        )
    names = building.kernel_names(list(usage))
    return [
        Static(name, *usage[symbol], sum(opcodes.get(symbol, {}).values()), opcodes.get(symbol, {})) for symbol, name in zip(usage, names)
    ]


def _of_architecture(text: str, architecture: int) -> str:
    parts = re.split(r"(?m)^Fatbin (?:elf|ptx) code:$", text)
    return "\n".join(part for part in parts if re.search(rf"(?m)^arch = sm_{architecture}$", part))


def _opcodes(body: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for whole in re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", body):
        kind, *rest = whole.split(".")
        if kind == "NOP":
            continue
        if kind in ("LDG", "STG", "LDS", "STS"):
            kind = next((f"{kind}.{width}" for width in ("128", "64") if width in rest), kind)
        counts[kind] = counts.get(kind, 0) + 1
    return counts


# ---- what the emulator has seen -----------------------------------------------------------------


class Case(NamedTuple):
    """A call whose traffic is counted.

    Attributes:
        family: the file of the kernels.
        name: what is called, and on what.
        run: makes the inputs and returns the call and the bytes that it has to move at least.
        flops: multiplications and additions of what goes to tensor cores; 0 where nothing does.
    """

    family: str
    name: str
    run: Callable[[], tuple[Callable[[], Any], int]]
    flops: int = 0


class Counted(NamedTuple):
    """The kernels of one case."""

    case: Case
    least: int
    kernels: list[Measure]

    @property
    def requested(self) -> float:
        """Bytes that warps ask for, in sectors, by the least that the call has to move: as if there were no cache."""
        return 32 * sum(k.loads.sectors + k.stores.sectors + k.atomics.sectors for k in self.kernels) / self.least

    @property
    def beyond_block(self) -> float:
        """The same where a cache keeps what a block has read."""
        return 32 * sum(k.block_loads + k.block_stores for k in self.kernels) / self.least

    @property
    def traffic(self) -> float:
        """The same where a cache keeps what any block of the launch has read: what memory itself has to deliver."""
        return 32 * sum(k.launch_loads + k.launch_stores for k in self.kernels) / self.least

    @property
    def coalescing(self) -> float:
        """Sectors that the bytes of the requests fill, by sectors that they touch."""
        touched = sum(t.sectors for k in self.kernels for t in (k.loads, k.stores, k.atomics))
        return sum(t.least for k in self.kernels for t in (k.loads, k.stores, k.atomics)) / max(1, touched)

    @property
    def products(self) -> int:
        """Instructions of tensor cores that warps have run, of 16 x 8 x 16 products each."""
        return sum(k.products for k in self.kernels)

    @property
    def conflicts(self) -> float:
        """Passes over shared memory, by those without conflicts of banks."""
        return sum(k.shared_passes for k in self.kernels) / max(1, sum(k.shared_least for k in self.kernels))


def _nbytes(value: Any) -> int:
    if isinstance(value, (tuple, list)):
        return sum(_nbytes(one) for one in value)
    return 0 if value is None else int(value.size) * int(value.itemsize)


# In one piece: a table of cases, of a few lines each.
def cases() -> Iterator[Case]:
    """The calls of the report, one or more for each family of kernels, at a size where the edges count little."""
    import numpy as np

    from wherry_tensor import ops, to_tensor

    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return to_tensor(rng.uniform(0.1, 0.9, shape).astype("float32"))

    def call(family: str, name: str, make: Callable[[], tuple[Any, ...]], then: Callable[..., Any], least: int | None = None,
             flops: int = 0) -> Case:
        def run() -> tuple[Callable[[], Any], int]:
            inputs = make()
            out = then(*inputs)
            return lambda: then(*inputs), _nbytes(inputs) + _nbytes(out) if least is None else least

        return Case(family, name, run, flops)

    def several(*shapes: tuple[int, ...]) -> Callable[[], tuple[Any, ...]]:
        return lambda: tuple(floats(*shape) for shape in shapes)

    n, rows, columns = 1 << 14, 64, 512
    lone = {"elementwise": ("exp", "sqrt", "abs", "sin", "erf", "lgamma"), "activation": ("relu", "silu", "gelu", "sigmoid", "tanh")}
    for family, names in lone.items():
        for name in names:
            op, attrs = getattr(ops, name), {"approximate": False} if name == "gelu" else {}
            yield call(family, f"{name} [{n}]", lambda: (floats(n),), lambda x, op=op, attrs=attrs: op(x, **attrs))
    for name in ("add", "multiply", "divide", "power"):
        op = getattr(ops, name)
        yield call("arithmetic", f"{name} [{n}]", lambda: (floats(n), floats(n)), lambda x, y, op=op: op(x, y))
    yield call("arithmetic", f"add [8192, {columns}] + [{columns}]", lambda: (floats(8192, columns), floats(columns)), lambda x, y: ops.add(x, y))
    yield call("arithmetic", "add [128, 128] + transposed", lambda: (floats(128, 128), floats(128, 128)), lambda x, y: ops.add(x, y.T))
    yield call("comparison", f"less_than [{n}]", lambda: (floats(n), floats(n)), lambda x, y: ops.less_than(x, y))
    yield call("cast", f"float32 to float16 [{n}]", lambda: (floats(n),), lambda x: x.astype("float16"))
    yield call("creation", f"full [{n}]", lambda: (), lambda: ops.full(shape=(n,), value=1.0, dtype=floats(1).dtype))
    yield call("random", f"uniform [{n}]", lambda: (), lambda: ops.uniform(shape=(n,), min=0.0, max=1.0, dtype=floats(1).dtype))
    yield call("movement", "transpose [128, 128]", lambda: (floats(128, 128),), lambda x: ops.copy(x.T))
    yield call("movement", "concat 2 x [128, 64] along rows", several((128, 64), (128, 64)), lambda x, y: ops.concat(x, y, axis=1))
    for name in ("reduce_sum", "reduce_max"):
        op, family = getattr(ops, name), "reduction" if name == "reduce_sum" else "extreme"
        shape = (rows, columns)
        yield call(family, f"{name} of rows {list(shape)}", lambda: (floats(rows, columns),), lambda x, op=op: op(x, axes=(1,), keepdim=False))
        yield call(family, f"{name} of columns {list(shape)}", lambda: (floats(rows, columns),), lambda x, op=op: op(x, axes=(0,), keepdim=False))
        yield call(family, f"{name} of long columns [4096, 64]", lambda: (floats(4096, 64),), lambda x, op=op: op(x, axes=(0,), keepdim=False))
        yield call(family, f"{name} of all {list(shape)}", lambda: (floats(rows, columns),), lambda x, op=op: op(x, axes=(0, 1), keepdim=False))
    yield call("softmax", f"softmax [{rows}, {columns}]", lambda: (floats(rows, columns),), lambda x: ops.softmax(x, axis=1))
    yield call("softmax", f"softmax_vjp [{rows}, {columns}]", lambda: (floats(rows, columns), floats(rows, columns)),
               lambda ct, out: ops.softmax_vjp(ct, out, axis=1))
    yield call("softmax", f"cross_entropy [{rows}, {columns}]",
               lambda: (floats(rows, columns), to_tensor(rng.integers(0, columns, (rows, 1)))),
               lambda x, y: ops.cross_entropy(x, y, None, soft_label=False, ignore_index=-100, axis=1))
    yield call("softmax", f"log_softmax [{rows}, {columns}]", lambda: (floats(rows, columns),), lambda x: ops.log_softmax(x, axis=1))
    yield call("softmax", f"log_softmax_vjp [{rows}, {columns}]", lambda: (floats(rows, columns), floats(rows, columns)),
               lambda ct, out: ops.log_softmax_vjp(ct, out, axis=1))
    yield call("softmax", "softmax of columns [16, 32, 64]", lambda: (floats(16, 32, 64),), lambda x: ops.softmax(x, axis=1))
    yield call("softmax", f"cross_entropy_vjp [{rows}, {columns}]",
               lambda: (floats(rows), floats(rows, columns), to_tensor(rng.integers(0, columns, (rows, 1)))),
               lambda ct, p, y: ops.cross_entropy_vjp(ct.reshape([rows, 1]), p, y, None, soft_label=False, ignore_index=-100, axis=1))
    # As many rows as make a block take several: it reads the parameters once for them.
    many, short = 32768, 128
    yield call("normalization", f"layer_norm [{many}, {short}]", lambda: (floats(many, short), floats(short), floats(short)),
               lambda x, w, b: ops.layer_norm(x, w, b, epsilon=1e-5, begin_axis=1))
    yield call("normalization", f"layer_norm_vjp [{many}, {short}]",
               lambda: (floats(many, short), floats(many, short), floats(short), floats(many), floats(many)),
               lambda ct, x, w, mean, rstd: ops.layer_norm_vjp(ct, x, w, mean, rstd, begin_axis=1))
    for where, images in ("fits", (8, 16, 16, 16)), ("does not fit", (16, 16, 32, 32)):
        yield call("normalization", f"batch_norm {list(images)}, a channel {where}", several(images, (16,), (16,)),
                   lambda x, w, b: ops.batch_norm(x, w, b, epsilon=1e-5, data_format="NCHW"))
        yield call("normalization", f"batch_norm_vjp {list(images)}, a channel {where}",
                   several(images, images, (16,), (16,), (16,)),
                   lambda ct, x, w, mean, var: ops.batch_norm_vjp(ct, x, w, mean, var, epsilon=1e-5, data_format="NCHW"))
    yield call("normalization", "batch_norm [32, 16, 16, 64], channels last", lambda: (floats(32, 16, 16, 64), floats(64), floats(64)),
               lambda x, w, b: ops.batch_norm(x, w, b, epsilon=1e-5, data_format="NHWC"))
    yield call("normalization", "batch_norm_vjp [32, 16, 16, 64], channels last",
               lambda: (floats(32, 16, 16, 64), floats(32, 16, 16, 64), floats(64), floats(64), floats(64)),
               lambda ct, x, w, mean, var: ops.batch_norm_vjp(ct, x, w, mean, var, epsilon=1e-5, data_format="NHWC"))
    yield call("normalization", "batch_norm_infer [8, 16, 16, 16]", lambda: (floats(8, 16, 16, 16), *(floats(16) for _ in range(4))),
               lambda x, mean, var, w, b: ops.batch_norm_infer(x, mean, var, w, b, epsilon=1e-5, data_format="NCHW"))
    yield call("normalization", "group_norm [16, 32, 16, 16], 8 groups", lambda: (floats(16, 32, 16, 16), floats(32), floats(32)),
               lambda x, w, b: ops.group_norm(x, w, b, epsilon=1e-5, groups=8))
    yield call("normalization", "group_norm_vjp [16, 32, 16, 16], 8 groups",
               lambda: (floats(16, 32, 16, 16), floats(16, 32, 16, 16), floats(32), floats(16, 8), floats(16, 8)),
               lambda ct, x, w, mean, rstd: ops.group_norm_vjp(ct, x, w, mean, rstd, groups=8))
    yield call("normalization", "dropout [16384]", lambda: (floats(n),), lambda x: ops.dropout(x, p=0.5, upscale=True))
    yield call("normalization", "dropout_add [16384]", lambda: (floats(n), floats(n)), lambda x, y: ops.dropout_add(x, y, p=0.5, upscale=True))
    yield call("optimizer", f"sgd [{n}]", lambda: (floats(n), floats(n), floats(1).reshape([])),
               lambda p, g, lr: ops.sgd(p, g, lr, None, weight_decay=0.0))
    yield call("optimizer", f"momentum [{n}]", lambda: (floats(n), floats(n), floats(n), floats(1).reshape([])),
               lambda p, v, g, lr: ops.momentum(p, v, g, lr, None, mu=0.9, nesterov=False, weight_decay=0.0))
    for name in ("adam", "adamw"):
        op = getattr(ops, name)
        yield call("optimizer", f"{name} [{n}]", several((n,), (n,), (n,), (), (), (n,), ()),
                   lambda p, m, v, p1, p2, g, lr, op=op: op(p, m, v, p1, p2, g, lr, None, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.01))
    yield from _update_cases(call, floats)
    yield call("optimizer", "sum_of_squares of 4 x [4096]", several(*[(4096,)] * 4), lambda *xs: ops.sum_of_squares(*xs))
    for name in ("contiguous", "turned"):
        yield call("loss", f"smooth_l1_loss [128, 128], {name}", several((128, 128), (128, 128)),
                   lambda x, y, turn=name == "turned": ops.smooth_l1_loss(x, y.T if turn else y, delta=1.0))
    yield from _index_cases(call, floats, lambda high, *shape: to_tensor(rng.integers(0, high, shape)))
    yield call("contraction", "matmul 128 x 128 x 128", lambda: (floats(128, 128), floats(128, 128)),
               lambda x, y: ops.matmul(x, y, transpose_x=False, transpose_y=False))
    def waves(*shape: int) -> Any:
        return to_tensor((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("complex64"))

    yield call("complex", f"exp [{n}]", lambda: (waves(n),), lambda x: ops.exp(x))
    lines = {"normalization": "none", "forward": True}
    yield call("spectral", "fft_c2c of rows [32, 512]", lambda: (waves(32, 512),), lambda x: ops.fft_c2c(x, axes=(1,), **lines))
    yield call("spectral", "fft_c2c of columns [512, 32]", lambda: (waves(512, 32),), lambda x: ops.fft_c2c(x, axes=(0,), **lines))
    yield call("spectral", "fft_r2c of rows [32, 512]", lambda: (floats(32, 512),), lambda x: ops.fft_r2c(x, axes=(1,), **lines))
    yield call("sequence", "ctc_loss 64 steps, 8 examples, 32 classes",
               lambda: (ops.log(floats(64, 8, 32)), to_tensor(rng.integers(1, 32, (8, 20))), to_tensor(np.full(8, 64)), to_tensor(np.full(8, 20))),
               lambda x, labels, times, lengths: ops.ctc_loss(x, labels, times, lengths, blank=0, norm_by_times=False))
    boxes = np.stack([rng.uniform(0, 8, 64), rng.uniform(0, 8, 64), rng.uniform(16, 31, 64), rng.uniform(16, 31, 64)], 1).astype("float32")
    yield call("detection", "roi_align 64 boxes, 8 channels, 32 x 32 to 7 x 7",
               lambda: (floats(1, 8, 32, 32), to_tensor(boxes), to_tensor(np.zeros(64, "int64"))),
               lambda x, b, i: ops.roi_align(x, b, i, height=7, width=7, scale=1.0, ratio=2, aligned=True))
    yield call("sparse", "edge_sum of 4096 edges, rows of 16",
               lambda: (floats(256, 16), to_tensor(rng.integers(0, 256, 4096)), to_tensor(np.sort(rng.integers(0, 256, 4096)))),
               lambda x, s, t: ops.edge_sum(x, s, t, count=256, mean=False, sorted=True))
    yield call("convolution", "conv2d 8 to 8 channels, 16 x 16, 3 x 3", lambda: (floats(1, 8, 16, 16), floats(8, 8, 3, 3)),
               lambda x, w: ops.conv2d(x, w, None, strides=(1, 1), paddings=(1, 1, 1, 1), dilations=(1, 1), groups=1, data_format="NCHW"))
    yield from _tensor_core_cases(call, lambda *shape: floats(*shape).astype("float16"))
    yield from _pooling_cases(call, several)


def _index_cases(call: Callable[..., Case], floats: Callable[..., Any], indices: Callable[..., Any]) -> Iterator[Case]:
    from wherry_tensor import ops

    yield call("indexing", "gather 256 of [1024, 64]", lambda: (floats(1024, 64), indices(1024, 256)), lambda x, i: ops.gather(x, i, axis=0),
               least=256 * (2 * 64 * 4 + 8))
    yield call("indexing", "scatter [256, 64] into [1024, 64]", lambda: (floats(1024, 64), indices(1024, 256), floats(256, 64)),
               lambda x, i, v: ops.scatter(x, i, v, overwrite=True), least=256 * (2 * 64 * 4 + 8))  # the rest is CUDA's copy
    yield call("indexing", "embedding_vjp of 512 into [256, 64]", lambda: (floats(512, 64), indices(256, 512), floats(256, 64)),
               lambda ct, i, w: ops.embedding_vjp(ct, i, w, padding_index=-1), least=4 * 64 * (512 + 256) + 8 * 512)
    yield call("indexing", "take_along_axis [64, 256]", lambda: (floats(64, 256), indices(256, 64, 256)),
               lambda x, i: ops.take_along_axis(x, i, axis=1))
    yield call("ordering", "sort of rows [8, 1024]", lambda: (floats(8, 1024),), lambda x: ops.sort(x, axis=1, descending=False))
    yield call("ordering", "topk 10 of rows [8, 1024]", lambda: (floats(8, 1024),), lambda x: ops.topk(x, k=10, axis=1, largest=True, sorted=True))
    yield call("scan", "cumsum of rows [16, 2048]", lambda: (floats(16, 2048),), lambda x: ops.cumsum(x, axis=1, reverse=False))
    yield call("scan", "cumsum of columns [256, 64]", lambda: (floats(256, 64),), lambda x: ops.cumsum(x, axis=0, reverse=False))
    yield call("scan", "cumprod of rows [64, 256]", lambda: (floats(64, 256),), lambda x: ops.cumprod(x, axis=1))
    yield call("loss", "nll_loss [1024, 32]", lambda: (floats(1024, 32), indices(32, 1024, 1)),
               lambda x, y: ops.nll_loss(x, y, None, ignore_index=-100, axis=1), least=1024 * (4 + 8 + 4))
    yield call("recurrent", "lstm 1 step, batch 16, 32 to 32",
               lambda: (floats(1, 16, 32), floats(16, 32), floats(16, 32), floats(128, 32), floats(128, 32), floats(128), floats(128)),
               lambda *xs: ops.lstm(*xs, None, reverse=False))
    yield call("resampling", "resample [64, 128] to 256 places of two", lambda: (floats(64, 128), indices(128, 256, 2), floats(256, 2)),
               lambda x, i, w: ops.resample(x, i, w, axis=1))

    def definite() -> tuple[Any, ...]:
        x = floats(4, 32, 32)
        return (ops.add(ops.matmul(x, x, transpose_x=False, transpose_y=True), ops.eye(rows=32, columns=32, dtype=x.dtype)),)

    yield call("eigen", "qr 4 x [32, 32]", lambda: (floats(4, 32, 32),), lambda x: ops.qr(x, complete=False))
    yield call("eigen", "eigh 4 x [16, 16]", lambda: (floats(4, 16, 16),), lambda x: ops.eigh(x, upper=False))
    yield call("eigen", "eig 4 x [16, 16]", lambda: (floats(4, 16, 16),), ops.eig)
    yield call("eigen", "svd 4 x [16, 16]", lambda: (floats(4, 16, 16),), lambda x: ops.svd(x, full_matrices=False))
    yield call("linalg", "cholesky 4 x [32, 32]", definite, lambda x: ops.cholesky(x, upper=False))


def _update_cases(call: Callable[..., Case], floats: Callable[..., Any]) -> Iterator[Case]:
    """A step of an optimizer over 8 parameters, in place; and what AMP asks for beside it."""
    from wherry_tensor import ops
    from wherry_tensor.foreach import on_each

    count, n = 8, 2048
    # What lies beside a parameter: tensors that a step moves, others, powers of beta. And the attributes.
    for name, (states, unused, powers, attrs) in {
        "sgd": (0, 0, 0, (0.01,)), "momentum": (1, 0, 0, (0.9, False, 0.01)), "adam": (2, 0, 2, (0.9, 0.999, 1e-8, 0.01)),
        "adamw": (2, 0, 2, (0.9, 0.999, 1e-8, 0.01)), "adagrad": (1, 0, 0, (1e-6, 0.01)), "adadelta": (2, 0, 0, (0.95, 1e-6, 0.01)),
        "adamax": (2, 0, 1, (0.9, 0.999, 1e-8, 0.01)), "rmsprop": (2, 1, 0, (0.95, 1e-6, 0.9, False, 0.01)),
        "rmsprop, centered": (3, 0, 0, (0.95, 1e-6, 0.9, True, 0.01)), "lamb": (2, 0, 2, (0.9, 0.999, 1e-6, 0.01, True)),
    }.items():  # fmt: skip
        op, sizes = getattr(ops, name.partition(",")[0]), (n,) * (1 + states + unused) + (1,) * powers + (n,)

        def step(rate: Any, *columns: Any, op: Any = op, attrs: Any = attrs) -> None:
            op.each_into(columns[:-1], (*columns, rate, None), attrs)

        yield call("optimizer", f"{name} of {count} x [{n}]", lambda sizes=sizes: (floats(), *([floats(k) for _ in range(count)] for k in sizes)),
                   step, least=4 * count * n * (3 + 2 * states))
    lists, half = (lambda: (floats(), [floats(n) for _ in range(count)])), floats(1).astype("float16").dtype
    yield call("optimizer", f"casts of {count} x [{n}] to float16", lists, lambda _, xs: on_each(ops.cast, xs, attrs=(half,), dtype=half),
               least=6 * count * n)
    yield call("optimizer", f"products of {count} x [{n}] with a number", lists, lambda by, xs: ops.multiply.each_into((xs,), (xs, by), ()),
               least=8 * count * n)


def _pooling_cases(call: Callable[..., Case], several: Callable[..., Any]) -> Iterator[Case]:
    from wherry_tensor import ops

    shape = (1, 32, 32, 32)  # channels as many as places along an axis: the same in both layouts
    for layout in ("NCHW", "NHWC"):
        twice = {"kernel": (2, 2), "strides": (2, 2), "paddings": (0, 0, 0, 0), "ceil_mode": False, "data_format": layout}
        overlapping = {**twice, "kernel": (3, 3), "paddings": (1, 1, 1, 1)}
        name = f"32 channels, 32 x 32, {layout}"
        for windows, attrs in (("2 x 2", twice), ("3 x 3", overlapping)):
            yield call("pooling", f"max_pool2d {name}, {windows}", several(shape), lambda x, a=attrs: ops.max_pool2d(x, **a))
            # The gradient takes the input for its shape alone.
            yield call("pooling", f"max_pool2d_vjp {name}, {windows}",
                       lambda a=attrs: ((x := several(shape)()[0]), *ops.max_pool2d(x, **a)),
                       lambda x, ct, mask, layout=layout: ops.max_pool2d_vjp(ct, mask, x, data_format=layout), least=4 * (32**3 + 2 * 32 * 16 * 16))
        mean = {**twice, "exclusive": True, "divisor": None}
        yield call("pooling", f"avg_pool2d {name}, 2 x 2", several(shape), lambda x, a=mean: ops.avg_pool2d(x, **a))
        yield call("pooling", f"avg_pool2d_vjp {name}, 2 x 2", several((1, 32, 16, 16) if layout == "NCHW" else (1, 16, 16, 32), shape),
                   lambda ct, x, a=mean: ops.avg_pool2d_vjp(ct, x, **a), least=4 * (32**3 + 32 * 16 * 16))
        yield call("pooling", f"adaptive_avg_pool2d {name} to 1 x 1", several(shape),
                   lambda x, layout=layout: ops.adaptive_avg_pool2d(x, output_size=(1, 1), data_format=layout))


def _tensor_core_cases(call: Callable[..., Case], halves: Callable[..., Any]) -> Iterator[Case]:
    from wherry_tensor import ops, to_tensor

    for turned_x, turned_y in ((False, False), (True, False), (False, True)):
        yield call("contraction", f"matmul 256 x 128 x 128{', x turned' if turned_x else ''}{', y turned' if turned_y else ''}, float16",
                   lambda t=turned_x: (halves(128, 256) if t else halves(256, 128), halves(128, 128)),
                   lambda x, y, t=turned_x, u=turned_y: ops.matmul(x, y, transpose_x=t, transpose_y=u), flops=2 * 256 * 128 * 128)
    for width in (64, 128):
        for causal in (False, True):
            name = f"128 queries and keys of {width}{', causal' if causal else ''}, float16"
            make, attrs = lambda n=width: tuple(halves(1, 1, 128, n) for _ in range(4)), {"scale": width**-0.5, "causal": causal}  # noqa: E731
            one = 2 * 128 * 128 * width // (2 if causal else 1)
            yield call("attention", f"attention, {name}", make, lambda q, k, v, _, a=attrs: ops.attention(q, k, v, None, **a)[0], flops=2 * one)

            def with_out(make: Any = make, attrs: Any = attrs) -> tuple[Any, ...]:
                q, k, v, ct = make()
                return ct, q, k, v, *ops.attention(q, k, v, None, **attrs)

            yield call("attention", f"attention_vjp, {name}", with_out,
                       lambda ct, q, k, v, out, lse, a=attrs: ops.attention_vjp(ct, q, k, v, None, out, lse, **a), flops=5 * one)
    # Two sequences, of which one has half the steps of the other.
    def padded() -> tuple[Any, ...]:
        counts = to_tensor([128, 64], dtype="int32")
        return *(halves(2, 1, 128, 64) for _ in range(4)), counts, counts

    def padded_with_out() -> tuple[Any, ...]:
        q, k, v, ct, n, m = padded()
        return ct, q, k, v, n, m, *ops.attention_lengths(q, k, v, None, n, m, None, scale=0.125)

    counted, one = 2 * 64 * (128 + 64), 2 * 64 * (128 * 128 + 64 * 64)
    yield call("attention", "attention_lengths, 128 and 64 of 128 queries and keys of 64, float16", padded,
               lambda q, k, v, _, n, m: ops.attention_lengths(q, k, v, None, n, m, None, scale=0.125)[0],
               least=3 * counted + 2 * 2 * 64 * 128, flops=2 * one)
    yield call("attention", "attention_lengths_vjp, 128 and 64 of 128 queries and keys of 64, float16", padded_with_out,
               lambda ct, q, k, v, n, m, out, lse: ops.attention_lengths_vjp(ct, q, k, v, None, n, m, None, out, lse, scale=0.125),
               least=5 * counted + 4 * (128 + 64) + 3 * 2 * 2 * 64 * 128, flops=5 * one)
    for layout in ("NHWC", "NCHW"):
        shape = (1, 16, 16, 64) if layout == "NHWC" else (1, 64, 16, 16)
        attrs = {"strides": (1, 1), "paddings": (1, 1, 1, 1), "dilations": (1, 1), "groups": 1, "data_format": layout}
        make = lambda s=shape: (halves(*s), halves(*s), halves(64, 64, 3, 3))  # noqa: E731
        for name, then in {
            "conv2d": lambda x, _, w, a=attrs: ops.conv2d(x, w, None, **a),
            "conv2d_input_vjp": lambda x, ct, w, a=attrs: ops.conv2d_input_vjp(ct, w, x, **a),
            "conv2d_weight_vjp": lambda x, ct, w, a=attrs: ops.conv2d_weight_vjp(ct, x, w, **a),
        }.items():
            yield call("convolution", f"{name} 64 to 64 channels, 16 x 16, 3 x 3, {layout}, float16", make, then, flops=2 * 256 * 64 * 64 * 9)


def counted(emulator: Emulator, chosen: str = "") -> list[Counted]:
    """Run the cases whose family or name holds `chosen` on the current device, the emulated GPU, and count."""
    from wherry_tensor import cuda

    found = []
    for case in cases():
        if chosen not in f"{case.family} {case.name}":
            continue
        call, least = case.run()
        cuda.synchronize()
        with emulator.measure() as kernels:
            kept = call()
            cuda.synchronize()
        del kept
        found.append(Counted(case, least, kernels))
    return found


# ---- the tables ---------------------------------------------------------------------------------


_TENSOR_CORES = ("HMMA", "IMMA", "DMMA", "BMMA", "HGMMA", "QGMMA", "IGMMA", "UTCHMMA")


def tensor_core_table(found: list[Counted], known: dict[str, Static]) -> str:
    """Markdown: a row for each case that goes to tensor cores: their instructions, by the floating-point operations that the call has."""
    head = ["call", "million operations", "instructions", "for 4096 operations", "coalesced", "bank passes"]
    head += ["in the code, of each kernel"] if known else []
    lines = [_row(head), _row(["---"] * len(head))]
    for one in found:
        if not one.case.flops:
            continue
        cells = [
            one.case.name, f"{one.case.flops / 1e6:.2f}", str(one.products), f"{4096 * one.products / one.case.flops:.2f}", f"{one.coalescing:.0%}",
            f"{one.conflicts:.2f}",
        ]  # fmt: skip
        if known:
            ran = [known[name] for k in one.kernels if k.products and (name := building.plain_name(k.kernel)) in known]
            cells.append(" + ".join(str(sum(s.opcodes.get(o, 0) for o in _TENSOR_CORES)) for s in ran))
        lines.append(_row(cells))
    return "\n".join(lines)


def traffic_table(found: list[Counted], known: dict[str, Static], architecture: int) -> str:
    """Markdown: a row for each case; empty where CUDA's own copies do the work."""
    head = ["family", "call", "no cache", "a block's", "the GPU's", "coalesced", "bank passes"]
    head += ["registers", "shared bytes", f"occupancy, sm_{architecture}", "instructions"] if known else []
    lines = [_row(head), _row(["---"] * len(head))]
    for one in found:
        cells = [
            one.case.family, one.case.name, f"{one.requested:.2f}", f"{one.beyond_block:.2f}", f"{one.traffic:.2f}", f"{one.coalescing:.0%}",
            f"{one.conflicts:.2f}" if any(k.shared_requests for k in one.kernels) else "",
        ] if one.kernels else [one.case.family, one.case.name, "", "", "", "", ""]  # fmt: skip
        if known:
            compiled = [(k, known[name]) for k in one.kernels if (name := building.plain_name(k.kernel)) in known]
            seats = [occupancy(architecture, s.registers, k.shared_bytes, k.block_size) for k, s in compiled]
            cells += [
                " + ".join(str(s.registers) for _, s in compiled), " + ".join(str(k.shared_bytes) for k, _ in compiled),
                f"{min(seats):.0%}" if seats else "", " + ".join(str(s.instructions) for _, s in compiled),
            ]
        lines.append(_row(cells))
    return "\n".join(lines)


def kernel_table(compiled: list[Static], architecture: int) -> str:
    """Markdown: a row for each kernel, all its types together."""
    groups: dict[str, list[Static]] = {}
    for one in compiled:
        groups.setdefault(re.split("<", one.name)[0], []).append(one)
    head = ["kernel", "compiled for", "registers", "shared bytes", "local bytes", f"occupancy of 256 threads, sm_{architecture}", "instructions",
            "tensor cores", "loads of 16 bytes"]
    lines = [_row(head), _row(["---"] * len(head))]
    for name, members in sorted(groups.items()):
        seats = [occupancy(architecture, s.registers, s.shared, 256) for s in members]
        lines.append(_row([
            f"`{name}`", f"{len(members)} types", _range(s.registers for s in members), _range(s.shared for s in members),
            _range(s.local for s in members), f"{min(seats):.0%} to {max(seats):.0%}" if min(seats) < max(seats) else f"{min(seats):.0%}",
            _range(s.instructions for s in members), str(sum(any(s.opcodes.get(o) for o in _TENSOR_CORES) for s in members)),
            str(sum(bool(s.opcodes.get("LDG.128")) for s in members)),
        ]))  # fmt: skip
    return "\n".join(lines)


def between_marks(text: str, tables: dict[str, str]) -> str:
    """A document whose tables, between `<!-- report: NAME -->` and `<!-- report: end -->`, are these; others stay as they are."""
    for name, table in tables.items():
        mark = re.compile(rf"(<!-- report: {re.escape(name)} -->\n).*?(\n<!-- report: end -->)", re.DOTALL)
        text = mark.sub(r"\g<1>" + table.replace("\\", r"\\") + r"\g<2>", text)  # `sub` reads escapes in a replacement
    return text


def _page(tables: dict[str, str]) -> str:
    return "\n\n".join(["Counted, not timed: no GPU has run these kernels.", *tables.values()]) + "\n"


def _range(values: Iterator[int]) -> str:
    numbers = list(values)
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m wherry_ops_cuda.report", description=__doc__)
    parser.add_argument("--library", type=Path, help="compiled for GPUs, by python -m wherry_ops_cuda build; without it only traffic is counted")
    parser.add_argument("--architecture", type=int, default=90, choices=sorted(LIMITS), help="which of those it holds (default: %(default)s)")
    parser.add_argument("--emulated", type=Path, help="compiled for the emulator, checked (default: made now, in the user's cache)")
    parser.add_argument("--only", default="", metavar="TEXT", help="calls whose family or name holds it")
    parser.add_argument("--output", type=Path,
                        help="where the tables go, as Markdown: between the marks of a document, else a file of their own (default: the screen)")
    parser.add_argument("--full", type=Path, help="every kernel with all its opcodes, between tabs")
    chosen = parser.parse_args(arguments)
    try:
        compiled = statics(chosen.library, chosen.architecture) if chosen.library else []
        emulated = chosen.emulated or building.build_for_emulator(building.default_path().with_name("libwherry_cuda_emulated.so"), few_dtypes=True)
    except (FileNotFoundError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    os.environ["WHERRY_CUDA_LIBRARY"] = str(emulated)
    from wherry_ops_cuda import column
    from wherry_tensor import set_device

    column.register()
    set_device("gpu")
    found = counted(Emulator(emulated), chosen.only)
    known = {s.name: s for s in compiled}
    tables = {"traffic": traffic_table(found, known, chosen.architecture)}
    if any(one.case.flops for one in found):
        tables["tensor cores"] = tensor_core_table(found, known)
    if compiled:
        tables["kernels"] = kernel_table(compiled, chosen.architecture)
    if chosen.output and chosen.output.is_file() and "<!-- report: end -->" in chosen.output.read_text():
        # A document has the kernels in a table of their own: the other one repeats none of their columns.
        tables["traffic"] = traffic_table(found, {}, chosen.architecture)
        chosen.output.write_text(between_marks(chosen.output.read_text(), tables))
    elif chosen.output:
        chosen.output.write_text(_page(tables))
    else:
        print(_page(tables), end="")
    if chosen.full:
        lines = ["kernel\tregisters\tshared\tlocal\tinstructions\topcodes"]
        lines += [
            f"{s.name}\t{s.registers}\t{s.shared}\t{s.local}\t{s.instructions}\t{' '.join(f'{k}:{v}' for k, v in sorted(s.opcodes.items()))}"
            for s in sorted(compiled, key=lambda s: s.name)
        ]
        chosen.full.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
