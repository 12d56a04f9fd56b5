"""Saves that are killed at a moment of chance, and at each call of the system: what was saved before is there, or what was to be saved.

    python tools/kills.py --count 1000                   so many kills, spread over the writers
    python tools/kills.py --match checkpoint --seed 3

A writer saves ones, then a child of this process saves twos over them and is killed; what is read then has to be all ones or all twos,
and when the last child ends by itself, nothing but the files may be left. Half of the kills come at the n-th call of `os` that
changes files, for each n, the others when a part of the time has passed that a save takes.
"""
from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import wherry
import wherry_train

CALLS = ("open", "link", "replace", "rename", "unlink", "fsync", "fchmod", "listdir", "write", "mkdir", "makedirs", "scandir", "remove", "stat")


class Writer(NamedTuple):
    """A way to save a number, and to read it again."""

    write: Callable[[str, float], None]
    read: Callable[[str], list[Any]]  # arrays; all of them have that number everywhere


class Net(wherry.nn.Layer):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.linear = wherry.nn.Linear(40, 30)
        for parameter in self.parameters():
            parameter.set_value(wherry.full(parameter.shape, value))

    def forward(self, x: wherry.Tensor) -> wherry.Tensor:
        return self.linear(x)

    def twice(self, x: wherry.Tensor) -> wherry.Tensor:
        return self.linear(x) * 2


SPEC = [wherry.static.InputSpec([None, 40], "float32", "x")]


def _values(layer: Any) -> list[Any]:
    """Parameters, and what the program makes of zeros, which is the bias."""
    return [*(p.numpy() for p in layer.parameters()), layer(wherry.zeros([1, 40])).numpy()]


def save_layer(folder: str, value: float) -> None:
    net = Net(value)
    net.eval()
    wherry.jit.save(net, f"{folder}/net", input_spec=SPEC)


def save_methods(folder: str, value: float) -> None:
    net = Net(value)
    net.eval()
    net.forward = wherry.jit.to_static(net.forward, input_spec=SPEC)
    net.twice = wherry.jit.to_static(net.twice, input_spec=SPEC)
    wherry.jit.save(net, f"{folder}/net")


def read_methods(folder: str) -> list[Any]:
    net = wherry.jit.load(f"{folder}/net")
    return [*_values(net), net.twice(wherry.zeros([1, 40])).numpy() / 2]


def save_paddle3(folder: str, value: float) -> None:
    wherry.set_flags({"FLAGS_enable_pir_api": True})
    try:
        save_layer(folder, value)
    finally:
        wherry.set_flags({"FLAGS_enable_pir_api": False})


def save_state(folder: str, value: float) -> None:
    wherry.save(Net(value).state_dict(), f"{folder}/net.pdparams")


def _training(folder: str, value: float) -> Any:
    net = Net(value)
    optimizer = wherry.optimizer.Adam(0.1, parameters=net.parameters())
    return net, wherry_train.Checkpoint(f"{folder}/run.ckpt", net=net, optimizer=optimizer)


def save_training(folder: str, value: float) -> None:
    _training(folder, value)[1].save()


def read_training(folder: str) -> list[Any]:
    net, checkpoint = _training(folder, 0.0)
    checkpoint.restore()
    return [p.numpy() for p in net.parameters()]


def save_checkpoint(folder: str, value: float) -> None:
    wherry.distributed.save_state_dict({"a": wherry.full([50, 40], value), "inner": {"b": wherry.full([3], value), "n": value}}, folder)


def read_checkpoint(folder: str) -> list[Any]:
    found = wherry.load(folder, return_numpy=True)
    return [found["a"], found["inner"]["b"], np.array(found["inner"]["n"])]


WRITERS: dict[str, Writer] = {
    "save": Writer(save_state, lambda folder: [x.numpy() for x in wherry.load(f"{folder}/net.pdparams").values()]),
    "jit.save": Writer(save_layer, lambda folder: _values(wherry.jit.load(f"{folder}/net"))),
    "jit.save of two methods": Writer(save_methods, read_methods),
    "jit.save for Paddle 3": Writer(save_paddle3, lambda folder: _values(wherry.jit.load(f"{folder}/net"))),
    "checkpoint of a training": Writer(save_training, read_training),
    "checkpoint of processes": Writer(save_checkpoint, read_checkpoint),
}


def _dying(at: int) -> None:
    """End this process at the call number `at` of those that change files."""
    count = 0

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in CALLS:
        setattr(os, name, wrapped(getattr(os, name)))


def killed(write: Callable[[], None], at: int | float) -> bool:
    """Whether a child that does this was killed: at a call (int), or so many seconds after it began."""
    child = os.fork()
    if child == 0:
        try:
            if isinstance(at, int):
                _dying(at)
            else:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_REAL, max(at, 1e-5))
            write()
            os._exit(0)
        finally:
            os._exit(7)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError(f"a save ended with {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status)


def check(name: str, count: int, rng: random.Random) -> tuple[int, dict[float, int], list[str]]:
    """Kill a writer so often; returns the kills, how often each number was found, and what was wrong."""
    writer, wrong, seen, kills, tries, call = WRITERS[name], [], {1.0: 0, 2.0: 0}, 0, 0, 0
    folder = tempfile.mkdtemp(prefix="wherry-kills-")
    writer.write(folder, 2.0)  # what is imported late
    sound = {re.sub(r"[0-9a-f]{12}", "#", path) for path in os.listdir(folder)}
    begun = time.perf_counter()
    writer.write(folder, 2.0)
    takes = time.perf_counter() - begun
    while kills < count:
        shutil.rmtree(folder)
        os.mkdir(folder)
        writer.write(folder, 1.0)
        tries, call = tries + 1, call + tries % 2
        at: int | float = call if tries % 2 == 0 else rng.uniform(0, takes)
        ended = not killed(lambda: writer.write(folder, 2.0), at)
        try:
            numbers = {float(v) for x in writer.read(folder) for v in np.unique(x)}
        except Exception as error:
            wrong.append(f"{name}, killed at {at}: {type(error).__name__}: {error}")
            kills += 1
            continue
        if len(numbers) != 1 or not numbers <= set(seen):
            wrong.append(f"{name}, killed at {at}: holds {sorted(numbers)[:5]}")
        elif ended and numbers != {2.0}:
            wrong.append(f"{name}: a save that ended is not there")
        else:
            seen[numbers.pop()] += 1
        left = {re.sub(r"[0-9a-f]{12}", "#", path) for path in os.listdir(folder)} - sound
        if ended and left:
            wrong.append(f"{name}: a save that ended left {sorted(left)[:3]}")
        if ended and isinstance(at, int):
            call = 0  # every call has been the last
        kills += not ended
    shutil.rmtree(folder)
    return kills, seen, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--match", default="", help="only writers in whose name this regular expression is found")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    wherry.set_num_threads(1)  # children are forked, and threads do not survive that
    names = [name for name in WRITERS if re.search(asked.match, name)]
    rng, failed = random.Random(asked.seed), False
    for name in names:
        begun = time.monotonic()
        kills, seen, wrong = check(name, -(-asked.count // len(names)), rng)
        took, found = time.monotonic() - begun, f"the old {seen[1.0]} times, the new {seen[2.0]} times"
        print(f"{name}: {kills} kills in {took:.0f} s, then {found}; {len(wrong)} wrong", flush=True)
        for text in wrong[:10]:
            print(f"    {text}")
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
