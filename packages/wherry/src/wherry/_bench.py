"""`wherry bench`: how fast this machine is with Wherry, beside what it could do at most and beside NumPy, as a table and a picture.

Each row knows how many multiply-adds and how many bytes it cannot do without. The limit is the time that the processor's
multiply-adds or its memory need for that, measured by loops that do nothing else. A convolution counts its direct form: an
algorithm with fewer multiplications may pass 100 %.
"""
from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from math import prod
from pathlib import Path
from typing import Any

import wherry
from wherry_ops_cpu import limits
from wherry_train.atomic_files import replace_file

Function = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """What is timed, and what it cannot do without."""

    name: str
    build: Callable[[], Function]
    multiply_adds: float = 0
    size: float = 0  # bytes
    dtype: str = "float32"
    numpy: Callable[[], Function] | None = None


@dataclass(frozen=True)
class Row:
    """Seconds: ours, at least, NumPy's."""

    name: str
    ours: float
    least: float
    numpy: float | None


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench", help="how fast this machine is, and how near to its limit",
        description="Measure this machine's limits and a table of operations against them, in about a minute. Nothing else should run meanwhile.",
    )
    parser.add_argument("--svg", metavar="FILE", help="write the table as a picture, too")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row (default: 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose name has this in it")


def run(options: argparse.Namespace) -> int:
    """Measure and print; returns the exit status."""
    if options.seconds <= 0:
        print(f"wherry bench: got --seconds {options.seconds:g}, expected more than 0. One second is enough for most rows.", file=sys.stderr)
        return 2
    chosen = [case for case in cases() if options.only in case.name]
    if not chosen:
        print(f"wherry bench: no row has {options.only!r} in its name. Leave --only out to see all.", file=sys.stderr)
        return 2
    if options.svg and not Path(options.svg).resolve().parent.is_dir():
        print(f"wherry bench: there is no folder for {options.svg}. Make {Path(options.svg).resolve().parent} first.", file=sys.stderr)
        return 2
    found = limits.measure(wherry.get_num_threads(), seconds=min(0.2, options.seconds))
    heading = machine(found)
    print(heading, *lines_of(found), "", sep="\n")
    print(f"{'':<46} {'time':>9} {'of the limit':>13} {'x NumPy':>8}", flush=True)
    rows = []
    for case in chosen:
        rows.append(measured(case, found, options.seconds))
        print(line_of(rows[-1]), flush=True)
    if options.svg:
        replace_file(os.path.realpath(options.svg), lambda file: file.write(picture(rows, heading).encode()))
        print(f"\nThe picture is in {options.svg}.")
    return 0


# ---- what is measured ---------------------------------------------------------------------------


def cases() -> Iterator[Case]:
    """The rows, each built when its turn comes."""
    import numpy as np

    def array(*shape: int) -> Any:
        return np.random.default_rng(0).standard_normal(shape).astype("float32")

    def tensor(*shape: int, dtype: str = "float32") -> Any:
        return wherry.to_tensor(array(*shape)).astype(dtype)

    def product(m: int, k: int, n: int, dtype: str) -> Case:
        def ours() -> Function:
            x, y = tensor(m, k, dtype=dtype), tensor(k, n, dtype=dtype)
            return lambda: wherry.matmul(x, y)

        def theirs() -> Function:
            x, y = array(m, k), array(k, n)
            return lambda: x @ y

        width = 4 if dtype == "float32" else 2
        return Case(f"product [{m}, {k}] x [{k}, {n}], {dtype}", ours, m * k * n, width * (m * k + k * n + m * n), dtype,
                    theirs if dtype == "float32" else None)

    for dtype in ("float32", "bfloat16", "float16"):
        for n in (256, 1024, 2048):
            yield product(n, n, n, dtype)
        yield product(1, 2048, 8192, dtype)

    images = [8, 64, 56, 56]
    for name, out, kernel, groups in (("1x1", 256, 1, 1), ("3x3", 64, 3, 1), ("3x3 depthwise", 64, 3, 64)):
        def convolution(out: int = out, kernel: int = kernel, groups: int = groups) -> Function:
            x, weight = tensor(*images), tensor(out, 64 // groups, kernel, kernel)
            return lambda: wherry.nn.functional.conv2d(x, weight, padding=kernel // 2, groups=groups)

        yield Case(f"convolution {name} of {images}", convolution, 8 * 56 * 56 * out * (64 // groups) * kernel**2, 4 * 8 * 56 * 56 * (64 + out))

    heads = [4, 512, 8, 64]

    def attention() -> Function:
        q = tensor(*heads)
        return lambda: wherry.nn.functional.scaled_dot_product_attention(q, q, q)

    yield Case(f"attention of {heads}", attention, 2 * 4 * 8 * 512 * 512 * 64, 4 * 4 * prod(heads))

    shape = [4096, 1024]
    F = wherry.nn.functional
    ours: dict[str, tuple[Callable[[Any], object], int, Callable[[Any], object] | None]] = {  # by tensors that pass through memory
        "copy": (lambda x: x.clone(), 2, lambda x: x.copy()),
        "add": (lambda x: x + x, 2, lambda x: x + x),
        "gelu": (F.gelu, 2, None),
        "softmax": (F.softmax, 2, None),
        "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1]), 2, None),
        "sum": (lambda x: x.sum(), 1, lambda x: x.sum()),
    }
    for name, (function, passes, theirs) in ours.items():
        for dtype in ("float32", "bfloat16"):
            def build(function: Any = function, dtype: str = dtype) -> Function:
                x = tensor(*shape, dtype=dtype)
                return lambda: function(x)

            def numpys(theirs: Any = theirs) -> Function:
                x = array(*shape)
                return lambda: theirs(x)

            yield Case(f"{name} of {shape}, {dtype}", build, 0, passes * prod(shape) * (4 if dtype == "float32" else 2),
                       numpy=numpys if theirs and dtype == "float32" else None)

    def tiny() -> Function:
        x = tensor(2, 3)
        return lambda: x + x

    def tiny_numpy() -> Function:
        x = array(2, 3)
        return lambda: x + x

    yield Case("add of [2, 3]: the cost of a call", tiny, numpy=tiny_numpy)

    def training() -> Function:
        model = wherry.nn.Sequential(wherry.nn.Linear(64, 128), wherry.nn.ReLU(), wherry.nn.Linear(128, 10))
        update = wherry.optimizer.Adam(parameters=model.parameters())
        x = tensor(32, 64)

        def step() -> None:
            model(x).mean().backward()
            update.step()
            update.clear_grad()

        return step

    yield Case("training step of 64 - 128 - 10, batch 32", training)


def seconds_of(function: Function, seconds: float) -> float:
    """Of one call: the median of batches that each last long enough for the clock."""
    function()
    calls, clock = 1, time.perf_counter
    while True:
        start = clock()
        for _ in range(calls):
            function()
        if clock() - start > min(0.002, seconds / 5):
            break
        calls *= 2
    batches: list[float] = []
    end = clock() + seconds
    while clock() < end or len(batches) < 3:
        start = clock()
        for _ in range(calls):
            function()
        batches.append((clock() - start) / calls)
    return statistics.median(batches)


def measured(case: Case, found: limits.Limits, seconds: float) -> Row:
    """One row; NumPy gets its turn after ours, when threads have gone to sleep."""
    with wherry.no_grad() if not case.name.startswith("training") else wherry.enable_grad():
        ours = seconds_of(case.build(), seconds)
    theirs = seconds_of(case.numpy(), seconds) if case.numpy else None
    return Row(case.name, ours, found.seconds(case.multiply_adds, case.size, case.dtype), theirs)


# ---- how it is shown ----------------------------------------------------------------------------


def machine(found: limits.Limits) -> str:
    """One line about what was measured."""
    return (f"wherry {wherry.__version__}, {found.isa} kernels, {found.threads} of {os.cpu_count()} processors of {platform.machine()}, "
            f"Python {platform.python_version()}")


def lines_of(found: limits.Limits) -> Iterator[str]:
    """The limits."""
    yield "multiply-adds, in thousand millions a second: " + ", ".join(f"{dtype} {peak / 1e9:.0f}" for dtype, peak in found.multiply_adds.items())
    yield "memory, in GB a second: " + ", ".join(f"{what} {rate / 1e9:.1f}" for what, rate in found.bandwidth.items())
    yield f"waking {found.threads} threads: {found.waking * 1e6:.1f} us"


def shown(seconds: float) -> str:
    """With a unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def line_of(row: Row) -> str:
    """A row of the table."""
    share = f"{row.least / row.ours:.0%}" if row.least else ""
    ratio = f"{row.ours / row.numpy:.2f}" if row.numpy else ""
    return f"{row.name:<46} {shown(row.ours):>9} {share:>13} {ratio:>8}".rstrip()


def picture(rows: list[Row], heading: str) -> str:
    """The rows as bars (SVG): how much of the limit each reaches; times stand beside. It names no other file."""
    left, wide, tall, top = 330, 420, 20, 74
    height = top + tall * len(rows) + 24
    full = max(1.0, max(row.least / row.ours for row in rows))
    parts = []
    for i, row in enumerate(rows):
        y, share = top + i * tall, row.least / row.ours
        parts.append(f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{escape(row.name)}</text>')
        if row.least:
            parts.append(f'<rect class="bar" x="{left}" y="{y + 3}" width="{wide * share / full:.1f}" height="{tall - 6}" rx="2"/>')
        label = f"{share:.0%}, {shown(row.ours)}" if row.least else shown(row.ours)
        parts.append(f'<text class="small" x="{left + wide * share / full + 8:.1f}" y="{y + 14}">{label}</text>')
    limit, whole = left + wide / full, left + wide + 130
    style = (
        "text{font:12px ui-sans-serif,system-ui,'Segoe UI',Roboto,sans-serif;fill:#1c2430}.small{font-size:11px;fill:#5a6675}"
        ".title{font-size:14px;font-weight:600}.paper{fill:#fff}.bar{fill:#2f6fb3}.limit{stroke:#c2661b;stroke-dasharray:4 3}"
        "@media (prefers-color-scheme:dark){.paper{fill:#12161c}text{fill:#dfe5ee}.small{fill:#9aa6b5}.bar{fill:#5b9bd8}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height}" width="{whole}" height="{height}" role="img" '
        f'aria-label="wherry bench"><style>{style}</style><rect class="paper" width="100%" height="100%"/>'
        f'<text class="title" x="20" y="28">How near to the limit of this machine</text><text class="small" x="20" y="48">{escape(heading)}</text>'
        f'<line class="limit" x1="{limit:.1f}" y1="{top - 8}" x2="{limit:.1f}" y2="{height - 16}"/>'
        f'<text class="small" x="{limit:.1f}" y="{top - 12}" text-anchor="middle">100 %</text>{"".join(parts)}</svg>\n'
    )
