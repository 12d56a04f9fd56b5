"""Programs of strangers in processes of their own, with bounds of memory and time.

    with Isolated(prefix, limits) as program:
        program.facts                       # what it takes and gives
        program.answer(arrays)

A program is data: no op of it runs code that it brings along, opens files or talks to a network. But it may ask for more memory than
there is, or never end. Here that ends the process and nothing else. Between the processes go lines of JSON and plain numbers.

    python -m wherry_web.isolated PREFIX MEMORY SECONDS     the other side
"""
from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from wherry_web.programs import DTYPES, MODEL, Loaded, Refused, described, require_small

__all__ = ["Isolated", "Limits", "Pool"]

HEAD = 1 << 20  # bytes of a line


@dataclass(frozen=True)
class Limits:
    """What a program of a stranger may take.

    Args:
        memory: bytes beyond what Python itself takes.
        loading: seconds to be read and checked.
        answering: seconds for a prediction.
    """

    memory: int
    loading: float
    answering: float


class Isolated:
    """A program in a process of its own.

    Raises:
        Refused: it cannot be loaded within the limits; the text says why.
    """

    def __init__(self, prefix: Path, limits: Limits) -> None:
        self._limits = limits
        self.lock = threading.Lock()
        environment = {
            **{name: value for name, value in os.environ.items() if name in PASSED},
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "wherry_web.isolated", str(prefix), str(limits.memory), str(limits.loading)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )
        try:
            self.facts, _ = self._received(limits.loading, "to be read")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Isolated:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def answer(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs in their order.

        Raises:
            Refused: the program does not compute with these inputs, or not within the limits.
        """
        with self.lock:
            try:
                send(self._process.stdin, {"seconds": self._limits.answering}, arrays)
            except (OSError, ValueError):  # it has ended, or was ended to make room
                self.close()
                raise Refused(ENDED) from None
            _, found = self._received(self._limits.answering, "to answer")
            return found

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            try:
                stream.close()  # type: ignore[union-attr]
            except OSError:  # it has ended before it read everything
                continue
        self._process.wait()

    def _received(self, seconds: float, what: str) -> tuple[dict[str, Any], list[np.ndarray]]:
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            head, arrays = receive(self._process.stdout, require_small)
        except (EOFError, ValueError, OSError):
            self.close()
            raise Refused(f"the program took more than {seconds:g} s {what}. Use a smaller one." if late.is_set() else ENDED) from None
        finally:
            timer.cancel()
        if "error" in head:
            raise Refused(str(head["error"])[:2000])
        return head, arrays


ENDED = "the program needs more memory than it may take here. Use a smaller one, or smaller inputs."
PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")


class Pool:
    """The processes that answered last; a process takes half a second to start."""

    def __init__(self, limits: Limits, size: int = 4) -> None:
        self.limits, self.size = limits, size
        self._kept: dict[tuple[str, str], Isolated] = {}
        self._starting = 0
        self._lock = threading.Lock()

    def answer(self, key: tuple[str, str], prefix: Path, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What the program at `prefix` answers; `key` is its name and digest.

        Raises:
            Refused: as `Isolated`.
            Busy: all processes are at work.
        """
        return self._one(key, prefix).answer(arrays)

    def _one(self, key: tuple[str, str], prefix: Path) -> Isolated:
        with self._lock:
            one = self._kept.pop(key, None)
            if one is not None and one.lives:
                self._kept[key] = one
                return one
            while len(self._kept) + self._starting >= self.size:
                idle = next((key for key, one in self._kept.items() if not one.lock.locked()), None)
                if idle is None:
                    raise Busy
                self._kept.pop(idle).close()
            self._starting += 1
        try:
            one = Isolated(prefix, self.limits)  # takes its time: others are answered meanwhile
        finally:
            with self._lock:
                self._starting -= 1
        with self._lock:
            if key in self._kept:  # asked for by two at once
                one.close()
            else:
                self._kept[key] = one
            return self._kept[key]

    def close(self) -> None:
        with self._lock:
            while self._kept:
                self._kept.popitem()[1].close()


class Busy(Exception):
    """Nothing is free to answer."""


# Messages: a line of JSON, then the numbers of the arrays that it names.

def send(stream: IO[bytes] | None, head: dict[str, Any], arrays: Sequence[np.ndarray] = ()) -> None:
    assert stream is not None
    head = {**head, "arrays": [[array.dtype.name, list(array.shape)] for array in arrays]}
    stream.write(json.dumps(head).encode() + b"\n")
    for array in arrays:
        stream.write(array.tobytes())
    stream.flush()


def receive(
    stream: IO[bytes] | None, check: Callable[[list[list[int]]], None] = lambda shapes: None,
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """A message; `check` sees the shapes before anything of that size is read."""
    assert stream is not None
    line = stream.readline(HEAD)
    if not line.endswith(b"\n"):
        raise EOFError
    head = json.loads(line)
    named = head.pop("arrays")
    check([shape for _, shape in named])
    arrays = []
    for dtype, shape in named:
        if dtype not in DTYPES:
            raise ValueError(f"a message with {dtype}")
        size = math.prod(shape) * np.dtype(dtype).itemsize
        content = stream.read(size)
        if len(content) != size:
            raise EOFError
        arrays.append(np.frombuffer(content, dtype).reshape(shape))
    return head, arrays


# The other side.

def bounded(memory: int) -> None:
    """From here on: no more memory than this, no files written, no dumps."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows: time alone is bounded there
        return
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        pages = 0
    limit = pages * resource.getpagesize() + memory
    for kind, value in ((resource.RLIMIT_AS, limit), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (value, value))


def end_after(seconds: float) -> None:
    """The server ends this process when it is late; this is for when the server is gone."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds and seconds + 1)


def main(prefix: Path, memory: int, seconds: float) -> None:
    channel_in, channel_out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a program that prints does not speak to the server
    end_after(seconds)
    bounded(memory)
    try:
        facts = described(prefix.with_name(prefix.name + MODEL))
        program = Loaded(prefix)
    except (Refused, OSError) as error:
        facts = {"error": str(error)}
    except MemoryError:
        facts = {"error": ENDED}
    except RecursionError:
        facts = {"error": "the program is nested too deeply."}
    send(channel_out, facts)
    if "error" in facts:
        return
    while True:
        end_after(0)
        try:
            head, arrays = receive(channel_in)
        except EOFError:
            return
        end_after(head["seconds"])
        try:
            send(channel_out, {}, program.answer(arrays))
        except Refused as error:
            send(channel_out, {"error": str(error)})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
