"""`fleet.util`: collectives of numbers and objects, files for each process; and timers."""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from wherry_distributed.fleet.roles import all_gathered, all_reduced, wait_for_all
from wherry_distributed.ranks import get_rank, get_world_size
from wherry_tensor.errors import InvalidTypeError, short


class UtilBase:
    """Collectives of numbers and objects, and files for each process.

    Source:
        `paddle.distributed.fleet.UtilBase`.
    """

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The sum, minimum or maximum ("sum", "min", "max") of what all have: a number, list or array."""
        return all_reduced(input, mode)

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """What all have, in a list."""
        return all_gathered(input)

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait for the others."""
        wait_for_all()

    def get_file_shard(self, files: Sequence[str]) -> list[str]:
        """The files of a list that this process reads: a part of them, of the same length but for one."""
        if not isinstance(files, list):
            raise InvalidTypeError(
                f"get_file_shard: files should be a list of file need to be read. Got {short(files)}, expected a list. Pass [file].")
        share, rest = divmod(len(files), get_world_size())
        begin = get_rank() * share + min(get_rank(), rest)
        return files[begin : begin + share + (get_rank() < rest)]

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print in one process."""
        if rank_id == get_rank():
            print(message)


class _Timer:
    """Measures what lies between `start` and `stop`."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._since: float | None = None

    def start(self) -> None:
        """Begin."""
        self._since = time.perf_counter()

    def stop(self) -> None:
        """End."""
        if self._since is not None:
            self._sum += time.perf_counter() - self._since
            self._since = None

    def reset(self) -> None:
        """Back to 0."""
        self._sum = 0.0

    def elapsed(self, reset: bool = True) -> float:
        """Seconds so far."""
        running = self._since is not None
        self.stop()
        found = self._sum
        if reset:
            self.reset()
        if running:
            self.start()
        return found


class Timers:
    """Timers by name."""

    def __init__(self) -> None:
        self.timers: dict[str, _Timer] = {}

    def __call__(self, name: str) -> _Timer:
        return self.timers.setdefault(name, _Timer())

    def info(self, names: Sequence[str], normalizer: float = 1.0, reset: bool = True) -> str:
        """Milliseconds of timers, as text."""
        return "time (ms)" + "".join(f" | {n}: {self.timers[n].elapsed(reset) * 1e3 / normalizer:.2f}" for n in names)

    log = info


_timers: Timers | None = None


def get_timers() -> Timers | None:
    """The timers of the process; None before `set_timers`."""
    return _timers


def set_timers() -> None:
    """Let the process have timers."""
    global _timers
    _timers = Timers()
