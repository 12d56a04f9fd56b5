"""How long a step takes on many processes, and how they are best divided: `wherry launch --plan model.py --ranks 1024`.

Two things are measured here: one process that trains the model, layer by layer, and collectives of 2 to 16 ranks. A message of n bytes
costs alpha + n * beta (Hockney's model); an all-reduce of P ranks log2 P steps and 2 (P - 1) / P of its bytes (Thakur, Rabenseifner and
Gropp, 2005). From that follow the times of all layouts of data x sharding x tensor x pipeline, of which the quickest that fits into memory is
printed.

What it does not know: other work on the network, ranks that are slower than others, kernels that grow less than their sizes do.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from wherry_tensor.errors import InvalidArgumentError, short

BUCKET = 25 << 20   # bytes of gradients that travel together
STATE = 4           # copies of a parameter: it, its gradient, two moments of Adam
DEGREES = ("dp", "sharding", "mp", "pp")


@dataclass(frozen=True)
class Link:
    """What a message costs.

    Attributes:
        alpha: seconds of a step, whatever its size.
        beta: seconds of a byte.
    """

    alpha: float
    beta: float

    def all_reduce(self, ranks: int, nbytes: float) -> float:
        """Seconds of a sum over ranks, which each of them gets."""
        return 0.0 if ranks < 2 else math.log2(ranks) * self.alpha + 2 * (ranks - 1) / ranks * nbytes * self.beta

    def gather(self, ranks: int, nbytes: float) -> float:
        """Seconds until all have all, of which each had a part; also of a sum of which each gets a part."""
        return self.all_reduce(ranks, nbytes) / 2

    def message(self, nbytes: float) -> float:
        """Seconds from one to another."""
        return self.alpha + nbytes * self.beta


@dataclass(frozen=True)
class Segment:
    """Layers that follow each other and stay together.

    Attributes:
        forward: seconds of one sample there, and `fixed` of a call, whatever its samples; backward takes `backward` times as long.
        parameters: bytes; of these `divisible` may be divided by tensor parallelism.
        output: bytes of one sample's result.
        sums: how many times tensor parallelism adds up a result in forward; backward does it as often.
    """

    name: str
    forward: float
    fixed: float
    parameters: float
    divisible: float
    output: float
    sums: int
    backward: float = 2.0


@dataclass(frozen=True)
class Machine:
    """What ranks run on.

    Attributes:
        near, far: links between ranks of a host, and between hosts.
        per_host: ranks of a host.
        cores: of a host, where ranks share them; None: each has its own.
        memory: bytes of a rank; None: enough.
        update: seconds of an optimizer's step for each byte of parameters.
        busy: how many times as long computing takes where all cores compute, which share caches and memory.
        turn: seconds that a step waits for each rank more that shares a core: they take turns until all have come to the exchange.
    """

    near: Link
    far: Link
    per_host: int = 8
    cores: int | None = None
    memory: float | None = None
    update: float = 0.0
    busy: float = 1.0
    turn: float = 0.0

    def link(self, ranks: int, stride: int = 1) -> Link:
        """The one that ranks which lie `stride` apart have to take."""
        return self.near if (ranks - 1) * stride < self.per_host else self.far

    def crowd(self, ranks: int) -> float:
        """How many ranks share a core, at least 1."""
        return 1.0 if self.cores is None else max(1.0, min(ranks, self.per_host) / self.cores)


@dataclass(frozen=True)
class Forecast:
    """A step of one layout.

    Attributes:
        degrees: of each kind of parallelism.
        step: seconds.
        compute, bubble: seconds that a rank computes, and waits for its first and last small batch.
        communication, exposed: seconds of all messages, and of those behind which nothing is computed.
        memory: bytes of a rank.
        batches: small batches of a step.
    """

    degrees: dict[str, int]
    step: float
    compute: float
    bubble: float
    communication: float
    exposed: float
    memory: float
    batches: int = 1
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def layout(self) -> str:
        """As "dp 4 x mp 2"."""
        return " x ".join(f"{name} {n}" for name, n in self.degrees.items() if n > 1) or "one process"


def forecast(segments: Sequence[Segment], machine: Machine, degrees: dict[str, int], batch: int, batches: int | None = None) -> Forecast:
    """The time of a step of one layout.

    Args:
        batch: samples of a step, over all ranks.
        batches: small batches that stages work on; None is four for each stage.
    """
    dp, sharding, mp, pp = (degrees.get(name, 1) for name in DEGREES)
    ranks, samples = dp * sharding * mp * pp, batch / (dp * sharding)
    count = batches or (min(4 * pp, max(1, int(samples))) if pp > 1 else 1)
    small, crowd = samples / count, machine.crowd(dp * sharding * mp * pp)
    slowest, parameters, activations, sums = 0.0, 0.0, 0.0, 0.0
    inner, between = machine.link(mp), machine.link(2, mp * sharding)
    for some in stages(segments, pp):
        seconds = sum((s.fixed + s.forward * small * share(s, mp)) * (1 + s.backward) for s in some) * (machine.busy if ranks > 1 else 1.0)
        within = sum(2 * s.sums * inner.all_reduce(mp, s.output * small) for s in some) * crowd if mp > 1 else 0.0
        weight = sum(s.parameters - s.divisible + s.divisible / mp for s in some)
        if seconds * crowd + within > slowest:
            slowest, sums = seconds * crowd + within, within
        parameters = max(parameters, weight)
        activations = max(activations, sum(s.output * share(s, mp) for s in some) * small * min(count, pp))
    compute = (slowest - sums) * count
    handed = 2 * between.message(max((s.output for s in segments), default=0) * small) * crowd * count if pp > 1 else 0.0
    bubble = slowest * (pp - 1)
    stride = mp
    exchange = 0.0
    if sharding > 1:
        exchange += 2 * machine.link(sharding, stride).gather(sharding, parameters)
    if dp > 1:
        exchange += machine.link(dp, stride * sharding * pp).all_reduce(dp, parameters / sharding)
        exchange += machine.link(dp, stride * sharding * pp).alpha * math.log2(dp) * max(0, math.ceil(parameters / BUCKET) - 1)
    exchange *= crowd
    # Buckets but the last travel while backward goes on, where a rank has a core for that.
    last = exchange * min(1.0, BUCKET / max(parameters, 1.0))
    hidden = 0.0 if crowd > 1 or ranks == 1 else min(exchange - last, compute * 2 / 3)
    update = parameters / sharding * machine.update * crowd
    waiting = machine.turn * (crowd - 1)
    exposed = exchange - hidden + sums * count + handed + waiting
    memory = parameters * (1 + (STATE - 1) / sharding) + activations
    return Forecast(
        {name: degrees.get(name, 1) for name in DEGREES}, compute + bubble + exposed + update, compute, bubble,
        exchange + sums * count + handed, exposed, memory, count,
        {"update": update, "gradients": exchange, "layers": sums * count, "stages": handed, "turns": waiting})


def share(segment: Segment, mp: int) -> float:
    """The part of its arithmetic that a rank of `mp` has."""
    part = segment.divisible / segment.parameters if segment.parameters else 0.0
    return 1 - part + part / mp


def stages(segments: Sequence[Segment], pp: int) -> list[list[Segment]]:
    """Segments in `pp` parts that follow each other, the slowest as quick as can be."""
    costs = [s.forward + s.fixed for s in segments]
    total = np.concatenate([[0.0], np.cumsum(costs)])
    n = len(costs)
    best = [[0.0] * (n + 1) if k == 0 else [math.inf] * (n + 1) for k in range(pp + 1)]
    cut = [[0] * (n + 1) for _ in range(pp + 1)]
    best[0] = [0.0] + [math.inf] * n
    for k in range(1, pp + 1):
        for end in range(k, n + 1):
            for begin in range(k - 1, end):
                worst = max(best[k - 1][begin], total[end] - total[begin])
                if worst < best[k][end]:
                    best[k][end], cut[k][end] = worst, begin
    found, end = [], n
    for k in range(pp, 0, -1):
        found.append(list(segments[cut[k][end] : end]))
        end = cut[k][end]
    return found[::-1]


def layouts(ranks: int, segments: Sequence[Segment], batch: int, per_host: int) -> Iterator[dict[str, int]]:
    """Degrees that multiply to `ranks`: a layer is divided inside of a host, a stage has a segment at least, a rank a sample."""
    divisors = [n for n in range(1, ranks + 1) if ranks % n == 0]
    most = per_host if any(s.divisible for s in segments) else 1
    for mp, pp, sharding in itertools.product(divisors, repeat=3):
        rest = ranks // (mp * pp * sharding) if ranks % (mp * pp * sharding) == 0 else 0
        if rest and mp <= most and pp <= len(segments) and rest * sharding <= batch:
            yield {"dp": rest, "sharding": sharding, "mp": mp, "pp": pp}


def best(segments: Sequence[Segment], machine: Machine, ranks: int, batch: int) -> list[Forecast]:
    """All layouts that fit into memory, the quickest first.

    Raises:
        ValueError: none does.
    """
    found = [forecast(segments, machine, degrees, batch) for degrees in layouts(ranks, segments, batch, machine.per_host)]
    if not found:
        raise InvalidArgumentError(
            f"launch --plan: no layout has a sample for each rank. Got a batch of {batch} for {ranks} ranks and {len(segments)} segments, expected a "
            f"batch of at least {ranks}. Pass --batch, or fewer ranks."
        )
    fitting = [one for one in found if machine.memory is None or one.memory <= machine.memory]
    if not fitting:
        least = min(found, key=lambda one: one.memory)
        raise InvalidArgumentError(
            f"launch --plan: no layout fits into memory. Got {machine.memory or 0:.3g} bytes for each rank, expected {least.memory:.3g} "
            f"({least.layout}). Pass more --memory, or more ranks."
        )
    # What is as quick as another one within its rounding is better with less to be divided.
    return sorted(fitting, key=lambda one: (float(f"{one.step:.3g}"), sum(n > 1 for n in one.degrees.values()), -one.degrees["dp"]))


# What is measured.


def fit(times: Sequence[tuple[int, float, float]], cores: int) -> Link:
    """Alpha and beta of all-reduces: (ranks, bytes, seconds) on `cores`, which more ranks than that share.

    Where some ranks had a core each, only their times count: of others the kernel's scheduler takes most. Relative errors count, so that short
    messages do.
    """
    times = [each for each in times if each[0] <= cores] or times
    if len(times) < 2:
        raise InvalidArgumentError(f"launch --plan: two times at least are needed to fit a line. Got {short(times)}. Measure other sizes.")
    rows, ones = [], []
    for ranks, nbytes, seconds in times:
        crowd = max(1.0, ranks / cores)
        rows.append([math.log2(ranks) * crowd / seconds, 2 * (ranks - 1) / ranks * nbytes * crowd / seconds])
        ones.append(1.0)
    matrix, right = np.array(rows), np.array(ones)
    found, *_ = np.linalg.lstsq(matrix, right, rcond=None)
    if found.min() < 0:  # one of the two is below what can be seen: the other alone
        at = int(np.argmax(found))
        found = np.zeros(2)
        found[at] = float(matrix[:, at] @ right / (matrix[:, at] @ matrix[:, at]))
    return Link(float(found[0]), float(found[1]))


def fit_steps(segments: Sequence[Segment], machine: Machine, batch: int, times: Sequence[tuple[int, float]]) -> Machine:
    """The machine with `busy` and `turn`, from steps of data parallel training here: (ranks, seconds).

    What steps take longer than their parts is due to caches and memory where each rank has a core. Beyond that ranks compute one after another,
    and each look at whether the others have come takes time from those that do; how much depends on the kernel's scheduler.
    """
    rows = []
    for ranks, taken in times:
        expected = forecast(segments, machine, {"dp": ranks}, batch)
        rows.append((expected.compute / taken, (machine.crowd(ranks) - 1) / taken, (taken - expected.step) / taken))
    busy, turn, longer = (np.array(column) for column in zip(*rows, strict=True))
    found = np.linalg.lstsq(np.stack([busy, turn], 1), longer, rcond=None)[0]  # relative errors count
    if found.min() < 0:  # one of the two cannot be seen: the other alone, to which all times are evidence
        at = int(np.argmax(found))
        alone = (busy, turn)[at]
        found = np.zeros(2)
        found[at] = max(0.0, float(alone @ longer / (alone @ alone))) if alone.any() else 0.0
    return replace(machine, busy=1.0 + float(found[0]), turn=float(found[1]))


def measure(
    layers: Sequence[Any], example: Callable[[int], tuple[Any, Any]], loss: Callable[[Any, Any], Any], clock: Callable[[], float]
) -> list[Segment]:
    """Train one process for a few steps, and take the times of each layer at two batch sizes.

    Args:
        layers: called one after another.
        example: samples and labels, of so many.
        loss: of the last result and the labels.
        clock: seconds.
    """
    small, large = 2, 16
    first, second = (_times(layers, example, loss, clock, n) for n in (small, large))
    found = []
    for i, layer in enumerate(layers):
        slope = max((second[0][i] - first[0][i]) / (large - small), second[0][i] / large * 0.05)
        weights = [p for p in layer.parameters() if not p.stop_gradient] if hasattr(layer, "parameters") else []
        divisible, sums = _divisible(layer)
        found.append(Segment(
            getattr(layer, "full_name", lambda i=i: f"layer {i}")(), slope, max(0.0, second[0][i] - slope * large),
            float(sum(p.size * p.dtype.itemsize for p in weights)), divisible, second[2][i] / large, sums))
    forward = sum(second[0])
    return [replace(segment, backward=second[1] / forward if forward else 2.0) for segment in found]


def _times(layers: Any, example: Any, loss: Any, clock: Any, n: int) -> tuple[list[float], float, list[float]]:
    x0, y = example(n)
    forward, backward, sizes = [math.inf] * len(layers), math.inf, [0.0] * len(layers)
    for _ in range(5):
        x = x0
        for i, layer in enumerate(layers):
            begin = clock()
            x = layer(x)
            forward[i] = min(forward[i], clock() - begin)
            sizes[i] = float(x.size * x.dtype.itemsize) if hasattr(x, "size") else 0.0
        total = loss(x, y)
        begin = clock()
        total.backward()
        backward = min(backward, clock() - begin)
        for layer in layers:
            for p in layer.parameters() if hasattr(layer, "parameters") else ():
                p.clear_gradient(False)
    return forward, backward, sizes


def _divisible(layer: Any) -> tuple[float, int]:
    """Bytes of matrices that tensor parallelism divides, and how many sums that takes: one for each pair, columns first and rows then."""
    from wherry_distributed.tensor_parallel import RowParallelLinear, VocabParallelEmbedding
    from wherry_nn import Embedding, Linear, MultiHeadAttention

    kinds = list(layer.sublayers(include_self=True)) if hasattr(layer, "sublayers") else []
    linear = [each for each in kinds if isinstance(each, Linear)]
    known = [each for each in kinds if isinstance(each, (RowParallelLinear, VocabParallelEmbedding))]
    tables = [each for each in kinds if isinstance(each, Embedding)]
    attention = sum(isinstance(each, MultiHeadAttention) for each in kinds)
    alone = len(linear) - 4 * attention
    if len(kinds) == 1 and alone == 1:
        alone = 0  # a single matrix has no second one to be divided with
        linear = []
    nbytes = sum(p.size * p.dtype.itemsize for each in (*linear, *tables, *known) for p in each.parameters())
    return float(nbytes), len(known) + len(tables) + attention + alone // 2
