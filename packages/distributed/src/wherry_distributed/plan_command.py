"""`wherry launch --plan model.py --ranks 1024`: measure, forecast, print. And the part of it that ranks run: `calibrate`.

`model.py` says what is trained:

    def layers(): return [Embedding(), *[Block() for _ in range(12)], Head()]     # called one after another
    def example(n): return samples, labels                                        # of n samples
    def loss(result, labels): return ...                                          # without it the mean of the result
    BATCH = 512                                                                   # samples of a step, over all ranks
"""
from __future__ import annotations

import argparse
import json
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wherry_distributed import planning
from wherry_distributed.planning import Forecast, Link, Machine, Segment
from wherry_tensor.errors import EnforceNotMet, InvalidArgumentError

SIZES = (1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22)  # bytes of all-reduces
MARK = "calibrated: "
LONG_ENOUGH = 3.0  # seconds of training steps, of which some are not disturbed by other work


def parser(prog: str) -> argparse.ArgumentParser:
    """The options of `--plan`."""
    made = argparse.ArgumentParser(
        prog=f"{prog} --plan", description="Forecast the time of a training step on many processes, and the layout that is quickest.")
    add = made.add_argument
    add("--plan", dest="model", metavar="MODEL", required=True, help="a Python file with layers(), example(n), and loss(result, labels), BATCH")
    add("--ranks", type=int, required=True, help="processes to plan for")
    add("--batch", type=int, default=None, help="samples of a step, over all ranks; the file's BATCH without it")
    add("--per-host", type=int, default=8, help="ranks of a host")
    add("--memory", type=float, default=None, help="GiB of a rank; as much as it takes without it")
    add("--network-latency", type=float, default=10.0, help="microseconds of a message between hosts")
    add("--network-bandwidth", type=float, default=1.0, help="GB/s between hosts")
    add("--calibrate", default="2,4", help="numbers of ranks that collectives are measured with, up to 16")
    add("--check", default="", help="numbers of ranks to train with here, data parallel, to compare the forecast with what they take")
    add("--top", type=int, default=5, help="how many layouts to print")
    return made


def main(arguments: Sequence[str], prog: str) -> int:
    """Plan; returns the exit status."""
    options = parser(prog).parse_args(arguments)
    try:
        model = load(options.model)
        batch = options.batch or model.get("BATCH")
        if not isinstance(batch, int) or batch < 1 or options.ranks < 1:
            raise InvalidArgumentError(
                f"launch --plan: no number of samples, or of ranks. Got batch={batch} and --ranks {options.ranks}, expected numbers of at least 1. "
                f"Set BATCH in {options.model}, or pass --batch."
            )
        counts = _numbers("--calibrate", options.calibrate)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        segments, update = measured(model)
        found = {count: run_ranks(count, "all", os.path.abspath(options.model), str(batch)) for count in counts}
        near = planning.fit([(int(n), nbytes, taken) for each in found.values() for n, nbytes, taken in each["collectives"]], cores)
        far = Link(options.network_latency * 1e-6, 1e-9 / options.network_bandwidth)
        here = planning.fit_steps(
            segments, Machine(near, far, 1 << 20, cores, None, update), batch, [(count, each["step"]) for count, each in found.items()])
        memory = None if options.memory is None else options.memory * 2**30
        machine = replace(here, per_host=options.per_host, cores=None, memory=memory)
        ranked = planning.best(segments, machine, options.ranks, batch)
        print(report(segments, machine, options.ranks, batch, ranked, options.top), flush=True)
        if options.check:
            print(
                f"check: where all {cores} cores here compute, it takes {here.busy:.2f} times as long; a rank that shares one waits "
                f"{seconds(here.turn)} in a step for each other rank (measured with {options.calibrate})", flush=True)
        for count in _numbers("--check", options.check) if options.check else []:
            expected = planning.forecast(segments, here, {"dp": count}, batch)
            taken = run_ranks(count, "training", os.path.abspath(options.model), str(batch))["step"]
            print(
                f"check: data parallel on {count} ranks, {cores} cores here: forecast {seconds(expected.step)}, taken {seconds(taken)}, "
                f"{100 * (expected.step / taken - 1):+.0f} %", flush=True)
    except EnforceNotMet as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _numbers(name: str, text: str) -> list[int]:
    try:
        found = [int(each) for each in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(2 <= n <= 16 for n in found):
        raise InvalidArgumentError(f"launch --plan: {name} are numbers of ranks. Got {text!r}, expected some from 2 to 16, as 2,4. Pass them so.")
    return found


def load(path: str) -> dict[str, Any]:
    """What a model's file defines.

    Raises:
        ValueError: a part is missing.
    """
    if not os.path.isfile(path):
        raise InvalidArgumentError(f"launch --plan: there is no such file. Got {path!r}, expected a Python file. Pass its path.")
    found = runpy.run_path(path, run_name="wherry_plan")
    missing = [name for name in ("layers", "example") if not callable(found.get(name))]
    if missing:
        raise InvalidArgumentError(
            f"launch --plan: {path} does not say what is trained. Got no {' and no '.join(missing)}, expected functions layers() and example(n). Add "
            f"them."
        )
    found.setdefault("loss", lambda result, labels: result.mean())
    return found


def measured(model: dict[str, Any]) -> tuple[list[Segment], float]:
    """Times of the layers, with one thread as a rank has, and of the optimizer for each byte."""
    from wherry_tensor import set_num_threads

    set_num_threads(1)
    layers = list(model["layers"]())
    segments = planning.measure(layers, model["example"], model["loss"], time.perf_counter)
    return segments, _update(layers, model)


def _update(layers: Sequence[Any], model: dict[str, Any]) -> float:
    from wherry_train.optimizer import Adam

    parameters = [p for layer in layers if hasattr(layer, "parameters") for p in layer.parameters()]
    if not parameters:
        return 0.0
    optimizer, quickest = Adam(1e-9, parameters=parameters), float("inf")
    x, y = model["example"](2)
    for _ in range(3):
        result = x
        for layer in layers:
            result = layer(result)
        model["loss"](result, y).backward()
        begin = time.perf_counter()
        optimizer.step()
        quickest = min(quickest, time.perf_counter() - begin)
        optimizer.clear_grad()
    return quickest / sum(p.size * p.dtype.itemsize for p in parameters)


def run_ranks(count: int, *what: str) -> dict[str, Any]:
    """What ranks of this host have measured.

    Raises:
        RuntimeError: they have failed; the text has the end of what they said.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "wherry_distributed.launch", "--nproc_per_node", str(count), "--log_dir", folder, "-m",
             "wherry_distributed.plan_command", *what],
            capture_output=True, text=True, check=False, env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not lines:
        raise InvalidArgumentError(
            f"launch --plan: {count} ranks could not measure {what[0]}. Got exit status {done.returncode}, expected times. {done.stderr[-1500:]}"
        )
    found: dict[str, Any] = json.loads(lines[-1].removeprefix(MARK))
    return found


def seconds(value: float) -> str:
    """A time as people say it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} us"


def gigabytes(link: Link) -> str:
    """Its bandwidth."""
    return f"{1e-9 / link.beta:.3g} GB/s" if link.beta else "no limit seen"


def report(segments: Sequence[Segment], machine: Machine, ranks: int, batch: int, ranked: Sequence[Forecast], top: int) -> str:
    """What is printed."""
    weight = sum(s.parameters for s in segments)
    alone = planning.forecast(segments, machine, {}, batch)
    lines = [
        f"{len(segments)} segments, {weight / 2**20:.3g} MiB of parameters, a batch of {batch}; one process takes {seconds(alone.step)} for a step",
        f"inside of a host: alpha {seconds(machine.near.alpha)}, {gigabytes(machine.near)} (measured); "
        f"between hosts of {machine.per_host} ranks: alpha {seconds(machine.far.alpha)}, {gigabytes(machine.far)} (as given)",
        "", f"{ranks} ranks, of {len(ranked)} layouts that fit:",
        f"{'layout':<34}{'step':>9}{'compute':>10}{'bubble':>9}{'messages':>10}{'exposed':>9}{'memory':>11}{'speed-up':>10}",
    ]
    for one in ranked[:top]:
        lines.append(
            f"{one.layout:<34}{seconds(one.step):>9}{seconds(one.compute):>10}{seconds(one.bubble):>9}{seconds(one.communication):>10}"
            f"{seconds(one.exposed):>9}{f'{one.memory / 2**20:.3g} MiB':>11}{alone.step / one.step:>10.1f}")
    first = ranked[0]
    lines += ["", f"best: {first.layout}: a step takes {seconds(first.step)}; after {seconds(first.exposed)} of messages nothing is computed"]
    if first.degrees["pp"] > 1:
        lines.append(f"accumulate_steps: {first.batches}")
    return "\n".join(lines)


# In ranks.


def calibrate(what: str, *arguments: str) -> None:
    """Measure collectives, or training; rank 0 prints what it took."""
    from wherry_distributed import all_reduce, barrier, get_rank, get_world_size, init_parallel_env
    from wherry_tensor import zeros

    model = load(arguments[0])  # which also loads what computes
    init_parallel_env()
    ranks = get_world_size()
    found: dict[str, Any] = {"collectives": []}
    for nbytes in SIZES if what == "all" else ():
        x, times = zeros([nbytes // 4]), []
        for _ in range(40 if nbytes < 1 << 18 else 12):
            barrier()
            begin = time.perf_counter()
            for _ in range(4):
                all_reduce(x)
            times.append((time.perf_counter() - begin) / 4)
        found["collectives"].append([ranks, nbytes, statistics.median(times)])
    found["step"] = _training_step(model, max(1, int(arguments[1]) // ranks))
    if get_rank() == 0:
        print(MARK + json.dumps(found), flush=True)


def _training_step(model: dict[str, Any], samples: int) -> float:
    from wherry_distributed import DataParallel, ReduceOp, all_reduce, barrier
    from wherry_nn import Sequential
    from wherry_tensor import to_tensor
    from wherry_train.optimizer import Adam

    net = DataParallel(Sequential(*model["layers"]()))
    optimizer = Adam(1e-9, parameters=net.parameters())
    x, y = model["example"](samples)
    times: list[float] = []
    windows = 4
    while len(times) < windows:
        barrier()
        begin = time.perf_counter()
        for _ in range(4):  # of one step this rank may leave the barrier before it long behind the others
            model["loss"](net(x), y).backward()
            optimizer.step()
            optimizer.clear_grad(set_to_zero=False)
        barrier()
        times.append((time.perf_counter() - begin) / 4)
        if len(times) == 2:
            wanted = to_tensor([LONG_ENOUGH / (4 * times[-1])])
            all_reduce(wanted, ReduceOp.MAX)  # all go on as long
            windows = max(4, min(60, int(wanted.item())))
    return min(times[1:])  # as the times of layers are: other work on the cores is not part of a step


if __name__ == "__main__":
    calibrate(*sys.argv[1:])
