"""How time and memory grow with size: `python benchmarks/growth.py --svg benchmarks/growth.svg`.

Each curve has sizes that grow by a factor, and at each the least time of several calls (or the bytes in use). Its slope is that of the last
steps in logarithms: 1 where twice the size takes twice as long. Prints a table of first and last values, slopes, and what arithmetic says;
`--svg` draws one plot for each curve, both axes logarithmic, with a line of the slope that arithmetic says.
"""
from __future__ import annotations

import argparse
import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from run import human
from worker import calls_of_a_batch, seconds_in_a_batch

import wherry
from wherry import nn
from wherry_tensor import _core

F = nn.functional


@dataclass(frozen=True)
class Curve:
    """`build(size)` gives what is timed, or, with `unit` "bytes", a number."""

    name: str
    sizes: tuple[int, ...]
    build: Callable[[int], Callable[[], object]]
    expected: float  # slope
    unit: str = "s"
    seconds: float = 0.1  # for each size


def powers(first: int, last: int, factor: int) -> tuple[int, ...]:
    return tuple(first * factor**i for i in range(1 + round(math.log(last / first, factor))))


def answering(layer: nn.Layer, *shape: int) -> Callable[[], object]:
    layer.eval()
    x = wherry.randn(shape)

    def answer() -> object:
        with wherry.no_grad():
            return layer(x)

    return answer


def of_a_tensor(function: Callable[[wherry.Tensor], object], *shape: int) -> Callable[[], object]:
    x = wherry.randn(shape)
    return lambda: function(x)


def chain(nodes: int) -> Callable[[wherry.Tensor], wherry.Tensor]:
    """A function of so many ops that passes cannot fuse or fold: additions with reshapes between."""

    def function(x: wherry.Tensor) -> wherry.Tensor:
        for i in range(nodes // 2):
            x = (x + 1.0).reshape([4, 2] if i % 2 else [2, 4])
        return x

    return function


def recorded(nodes: int, backward: bool) -> Callable[[], object]:
    function, x = chain(nodes), wherry.ones([2, 4])
    x.stop_gradient = False

    def step() -> object:
        out = function(x)
        if backward:
            out.sum().backward()
            x.clear_gradient()
        return out

    return step


def captured(nodes: int, run: bool) -> Callable[[], object]:
    """The first call of `to_static`, which captures, plans and runs; or a later one, which only runs."""
    x = wherry.ones([2, 4])

    def first() -> object:
        with wherry.no_grad():
            return wherry.jit.to_static(chain(nodes))(x)

    if not run:
        return first
    function = wherry.jit.to_static(chain(nodes))

    def later() -> object:
        with wherry.no_grad():
            return function(x)

    return later


def updating(parameters: int) -> Callable[[], object]:
    p = wherry.create_parameter([parameters], "float32")
    update = wherry.optimizer.AdamW(1e-3, parameters=[p])
    p.grad = wherry.ones([parameters])
    return update.step


def training_memory(batch: int) -> Callable[[], object]:
    model, x = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(8)]), wherry.ones([batch, 256])

    def peak() -> int:
        before = wherry.device.memory_allocated()
        _core.reset_peak_memory_stats()
        model(x).sum().backward()
        return wherry.device.max_memory_allocated() - before

    return peak


def on_threads(count: int) -> Callable[[], object]:
    x = wherry.randn([1024, 1024])

    def product() -> object:
        before = wherry.get_num_threads()
        wherry.set_num_threads(count)
        try:
            return x @ x
        finally:
            wherry.set_num_threads(before)

    return product


def attention(length: int) -> Callable[[], object]:
    return of_a_tensor(lambda x: F.scaled_dot_product_attention(x, x, x), 1, length, 4, 64)


def curves() -> Iterator[Curve]:
    yield Curve("x + x, elements", powers(256, 1 << 24, 4), lambda n: of_a_tensor(lambda x: x + x, n), 1)
    yield Curve("product n x n, n", powers(16, 2048, 2), lambda n: of_a_tensor(lambda x: x @ x, n, n), 3)
    yield Curve("Linear 1024 -> 1024, rows", powers(1, 1024, 2), lambda n: answering(nn.Linear(1024, 1024), n, 1024), 1)
    yield Curve("Conv2D 64 -> 64, 3 x 3, images of 28 x 28", powers(1, 256, 4), lambda n: answering(nn.Conv2D(64, 64, 3, 1, 1), n, 64, 28, 28), 1)
    yield Curve("LSTM 64 -> 64, 8 sequences, steps", powers(16, 1024, 4), lambda n: answering(nn.LSTM(64, 64), 8, n, 64), 1)
    yield Curve("attention, 4 heads of 64, sequence", powers(128, 8192, 2), attention, 2, seconds=0.05)
    yield Curve("recording, nodes", powers(100, 100_000, 10), lambda n: recorded(n, False), 1, seconds=0.05)
    yield Curve("recording and backward, nodes", powers(100, 100_000, 10), lambda n: recorded(n, True), 1, seconds=0.05)
    yield Curve("to_static, first call, nodes", powers(100, 100_000, 10), lambda n: captured(n, False), 1, seconds=0.05)
    yield Curve("to_static, later call, nodes", powers(100, 100_000, 10), lambda n: captured(n, True), 1, seconds=0.05)
    yield Curve("AdamW, parameters", powers(1000, 100_000_000, 10), updating, 1)
    yield Curve("product 1024 x 1024, threads", (1, 2), on_threads, -1, seconds=0.3)
    yield Curve("8 x (Linear 256, GELU), step, batch", powers(4, 1024, 4), training_memory, 1, unit="bytes")


def least(function: Callable[[], object], seconds: float) -> float:
    """The least seconds of a call, of batches that the clock can measure."""
    calls, end = calls_of_a_batch(function, 2e-4), time.perf_counter() + seconds
    best = seconds_in_a_batch(function, calls)
    while time.perf_counter() < end:
        best = min(best, seconds_in_a_batch(function, calls))
    return best


def measured(curve: Curve) -> list[float]:
    found = []
    for size in curve.sizes:
        function = curve.build(size)
        found.append(float(function()) if curve.unit == "bytes" else least(function, curve.seconds))
    return found


def slope(sizes: tuple[int, ...], values: list[float]) -> float:
    """Of the last steps: least squares over the last three points (two where there are no more)."""
    xs, ys = [math.log(s) for s in sizes[-3:]], [math.log(v) for v in values[-3:]]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys)) / sum((x - middle_x) ** 2 for x in xs)


def shown(curve: Curve, value: float) -> str:
    return human(value) if curve.unit == "s" else f"{value / 1e6:.3g} MB"


WIDTH, HEIGHT, MARGIN = 300, 190, 34


def plot(curve: Curve, values: list[float], left: int, top: int) -> str:
    """One plot: the curve, and dashed the slope that arithmetic says, through the last point."""
    xs, ys = [math.log10(s) for s in curve.sizes], [math.log10(v) for v in values]
    expected = [ys[-1] - curve.expected * (xs[-1] - x) for x in xs]
    low, high = min(ys), max(ys)
    low, high = low - 0.05 * (high - low or 1), high + 0.05 * (high - low or 1)
    across, up = (WIDTH - 2 * MARGIN) / (xs[-1] - xs[0]), (HEIGHT - 2 * MARGIN) / (high - low)
    place = lambda x, y: f"{left + MARGIN + (x - xs[0]) * across:.1f},{top + HEIGHT - MARGIN - (y - low) * up:.1f}"  # noqa: E731
    line = " ".join(place(x, y) for x, y in zip(xs, ys))
    # Only where the dashed line lies inside.
    inside = [(x, y) for x, y in zip(xs, expected) if low <= y <= high]
    if len(inside) < len(xs) and curve.expected and inside[0][0] > xs[0]:
        edge = low if curve.expected > 0 else high
        inside.insert(0, (xs[-1] - (ys[-1] - edge) / curve.expected, edge))
    dashed = " ".join(place(x, y) for x, y in inside)
    dots = "".join('<circle cx="{}" cy="{}" r="2.5"/>'.format(*place(x, y).split(",")) for x, y in zip(xs, ys))
    bottom, rising = top + HEIGHT - MARGIN, values[-1] > values[0]  # the least stands where the curve does not
    anchor = "end" if rising else "start"
    return (
        f'<text x="{left + MARGIN}" y="{top + 16}" class="name">{curve.name}</text><g class="data"><polyline points="{line}"/>{dots}</g>'
        f'<polyline class="dashed" points="{dashed}"/>'
        f'<path class="axis" d="M{left + MARGIN},{top + MARGIN - 10}V{bottom}H{left + WIDTH - MARGIN + 6}"/>'
        f'<text x="{left + MARGIN}" y="{bottom + 14}">{curve.sizes[0]:,}</text>'
        f'<text x="{left + WIDTH - MARGIN}" y="{bottom + 14}" text-anchor="end">{curve.sizes[-1]:,}</text>'
        f'<text x="{left + (WIDTH - MARGIN if rising else MARGIN + 4)}" y="{bottom - 4}" text-anchor="{anchor}">'
        f'{shown(curve, min(values))}</text>'
        f'<text x="{left + MARGIN + 4}" y="{top + MARGIN - 4}">{shown(curve, max(values))}</text>'
    )


def picture(found: list[tuple[Curve, list[float]]]) -> str:
    columns = 3
    parts = [plot(curve, values, i % columns * WIDTH, i // columns * HEIGHT) for i, (curve, values) in enumerate(found)]
    width, height = columns * WIDTH, HEIGHT * math.ceil(len(found) / columns)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        'aria-label="time and memory against size"><style>text{font:10px sans-serif;fill:#444}.name{font-weight:bold}'
        ".data polyline{fill:none;stroke:#1f6feb;stroke-width:1.5}.data circle{fill:#1f6feb}.dashed{fill:none;stroke:#999;stroke-dasharray:4 3}"
        f'.axis{{fill:none;stroke:#888}}</style><rect width="{width}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", metavar="FILE", help="where to draw the curves")
    parser.add_argument("--only", default="", help="a regular expression that names of curves must match")
    options = parser.parse_args()
    found = []
    print("| what grows | from | to | slope | of arithmetic |\n|---|---|---|---|---|")
    for curve in curves():
        if not re.search(options.only, curve.name):
            continue
        values = measured(curve)
        found.append((curve, values))
        ends = [f"{size:,}: {shown(curve, value)}" for size, value in ((curve.sizes[0], values[0]), (curve.sizes[-1], values[-1]))]
        print(f"| {curve.name} | {ends[0]} | {ends[1]} | {slope(curve.sizes, values):.2f} | {curve.expected:g} |", flush=True)
    if options.svg:
        Path(options.svg).write_text(picture(found))


if __name__ == "__main__":
    main()
