"""Speed of several processes: all-reduce, and data parallel training beside one process.

    python -m wherry.distributed.launch --nproc_per_node 2 benchmarks/distributed.py
    python benchmarks/distributed.py --alone          # the same model in one process of one thread
    python benchmarks/distributed.py --start 2 16 64  # how long it takes until so many processes have joined

With `--torch` it times torch.distributed's gloo in the same way (torch has to be installed).
"""
from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import wherry as paddle
import wherry.distributed as dist


def times(calls: dict[str, tuple[Callable[[], object], Callable[[], object]]], count: int) -> dict[str, str]:
    """Of each call, after a barrier of its own kind; in turns, so that other work on the cores meets all of them."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(count):
        for name, (call, before) in calls.items():
            before()
            begin = time.perf_counter()
            call()
            found[name].append((time.perf_counter() - begin) * 1e6)
    return {name: f"median {statistics.median(each):8.1f} us, least {min(each):8.1f} us" for name, each in found.items()}


def all_reduces(with_torch: bool) -> None:
    if with_torch:
        import torch
        import torch.distributed as gloo

        file = f"file:///tmp/wherry-gloo-{os.environ['PADDLE_MASTER']}"
        gloo.init_process_group("gloo", init_method=file, rank=dist.get_rank(), world_size=dist.get_world_size())
    for size in (1 << 10, 1 << 16, 1 << 20, 1 << 24):
        x, calls = paddle.ones([size // 4]), {}
        calls["wherry"] = (lambda x=x: dist.all_reduce(x), dist.barrier)  # type: ignore[misc]
        if with_torch:
            y = torch.ones(size // 4)
            calls["gloo"] = (lambda y=y: gloo.all_reduce(y), gloo.barrier)  # type: ignore[misc]
        for name, text in times(calls, 400 if size <= 1 << 20 else 40).items():
            if dist.get_rank() == 0:
                print(f"all_reduce {size:>9} bytes  {name:<6}  {text}", flush=True)


def training(rank: int, size: int, hidden: int, batch: int, steps: int) -> None:
    paddle.seed(7)
    net = paddle.nn.Sequential(
        paddle.nn.Linear(784, hidden), paddle.nn.ReLU(), paddle.nn.Linear(hidden, hidden), paddle.nn.ReLU(), paddle.nn.Linear(hidden, 10))
    model = paddle.DataParallel(net) if size > 1 else net
    optimizer = paddle.optimizer.Momentum(0.01, 0.9, parameters=net.parameters())
    rng, part = np.random.default_rng(0), batch // size
    data = [(rng.standard_normal((batch, 784)).astype("float32"), rng.integers(0, 10, (batch, 1))) for _ in range(4)]
    found, losses = [], []
    for i in range(steps):
        x, y = (paddle.to_tensor(each[rank * part : rank * part + part]) for each in data[i % 4])
        begin = time.perf_counter()
        loss = paddle.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
        found.append(time.perf_counter() - begin)
        losses.append(loss.detach())
    mean = paddle.stack(losses)
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    found.sort()
    if rank == 0:
        print(
            f"hidden {hidden}, batch {batch}: {size} process(es), median {statistics.median(found) * 1e3:.1f} ms a step, least {found[0] * 1e3:.1f}, "
            f"{batch / statistics.median(found):.0f} samples/s, last loss {float(mean[-1]):.7f}", flush=True)


def overlap(hidden: int, batch: int, steps: int) -> None:
    """How much of the exchange of gradients is hidden behind backward: beside backwards without it, and with it after them, in turns."""
    paddle.seed(7)
    net = paddle.nn.Sequential(*(paddle.nn.Linear(hidden, hidden) for _ in range(6)))
    model, rng = paddle.DataParallel(net, comm_buffer_size=4), np.random.default_rng(dist.get_rank())
    x = paddle.to_tensor(rng.standard_normal((batch, hidden)).astype("float32"))

    def backward() -> None:
        model(x).mean().backward()

    def alone() -> None:
        with model.no_sync():
            backward()

    def behind() -> None:
        alone()
        dist.fleet.utils.hybrid_parallel_util.fused_allreduce_gradients(list(net.parameters()), None)

    found: dict[str, list[float]] = {"alone": [], "overlapped": [], "behind": []}
    for _ in range(steps):
        for name, call in (("alone", alone), ("overlapped", backward), ("behind", behind)):
            dist.barrier()
            begin = time.perf_counter()
            call()
            dist.barrier()  # until the slower one has ended, which an exchange waits for as well
            found[name].append((time.perf_counter() - begin) * 1e3)
            net.clear_gradients()
    alone_ms, overlapped_ms, behind_ms = (statistics.median(each) for each in found.values())
    if dist.get_rank() == 0:
        print(
            f"hidden {hidden}, batch {batch} of each: backward alone {alone_ms:.1f} ms, exchange meanwhile {overlapped_ms:.1f} ms, after it "
            f"{behind_ms:.1f} ms: {100 * (behind_ms - overlapped_ms) / (behind_ms - alone_ms):.0f} % hidden", flush=True)


JOINS = """
import time
import wherry.distributed as dist
dist.init_parallel_env()
dist.barrier()
if dist.get_rank() == 0:
    print("joined", time.time(), flush=True)
"""


def starts(counts: list[int]) -> None:
    for count in counts:
        found = []
        for _ in range(3 if count < 32 else 1):
            with tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, "joins.py")
                with open(program, "w") as file:
                    file.write(JOINS)
                begin = time.time()
                done = subprocess.run(
                    [sys.executable, "-m", "wherry.distributed.launch", "--nproc_per_node", str(count), "--log_dir", folder, program],
                    capture_output=True, text=True, check=True)
                joined = next(line for line in done.stdout.splitlines() if line.startswith("joined"))
                found.append(float(joined.split()[1]) - begin)
        print(f"start of {count} processes: median {statistics.median(found):.2f} s, least {min(found):.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", type=int, nargs="+", default=[])
    parser.add_argument("--no-training", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--overlap", action="store_true", help="how much of the exchange of gradients is hidden behind backward, and nothing else")
    chosen = parser.parse_args()
    if chosen.start:
        starts(chosen.start)
        return
    if chosen.alone:
        paddle.set_num_threads(1)
    else:
        dist.init_parallel_env()
        if chosen.overlap:
            for batch in (64, 256, 512):
                overlap(1024, batch, 40)
            return
        all_reduces(chosen.torch)
    for hidden, batch in () if chosen.no_training else ((1024, 512), (2048, 1024)):
        training(dist.get_rank(), dist.get_world_size(), hidden, batch, 24)


if __name__ == "__main__":
    main()
