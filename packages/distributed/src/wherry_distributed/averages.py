"""Numbers averaged over the processes of a group: in messages, or, on one host, in memory that all of them map.

A message of megabytes goes from one process to the other in pieces that both have to be awake for. Where threads that compute share the
cores with those that exchange, most of the time passes between two pieces. In the memory of a window of MPI each process adds up its part of
what all have, and then copies the parts of the others: three barriers, whatever the size.
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_distributed.collective import ReduceOp, all_reduce
from wherry_distributed.world import Group, run, world
from wherry_tensor import Tensor, ops, to_tensor, zeros
from wherry_tensor.interop import from_dlpack

PAGE = 4096
FOLDER = "/dev/shm"  # where windows lie; a container may have little of it, and who writes beyond its end is killed
SPARE = 4            # so many times what is needed has to be free, as other programs take from it as well
PIECE = 1 << 17      # numbers that are added up, looked at and scaled while they are in the cache of a core


class MessageSum:
    """Numbers of all members of a group, added up by messages.

    Args:
        group: of processes.
        count, dtype: of the numbers, floats.
        averaged: so many of them, the first ones, are averaged; the rest is added up.

    Attributes:
        mine: the numbers of this process, `[count]`.
    """

    def __init__(self, group: Group, count: int, dtype: Any, averaged: int) -> None:
        self.group = group
        with no_grad():
            self.memory = zeros([count + group.nranks], dtype=dtype)
            self.mine, self.found, self.averaged = self.memory[:count], self.memory[count:], self.memory[:averaged]
            self.scale = to_tensor(1.0 / group.nranks, dtype=dtype)

    def average(self, looks: int) -> list[int]:
        """As `CommonSum.average`."""
        found = np.zeros(self.group.nranks, np.float32)
        found[self.group.rank] = _holds_nan(self.averaged)
        fill(self.found, found)
        all_reduce(self.memory, ReduceOp.SUM, self.group)
        ops.multiply.into((self.averaged,), self.averaged, self.scale)
        return [int(i) for i in np.flatnonzero(self.found.astype("float32").numpy())]


def windows(group: Group, sizes: list[int]) -> tuple[Any, list[list[Any]]] | None:
    """A window of MPI and in it memory of all members, block by block, for blocks of so many bytes.

    None where members are not on one host, or have no room for it.

    All members call it together.
    """
    mpi, comm = world.mpi, group.comm
    starts = np.cumsum([0, *(-(-size // PAGE) * PAGE for size in sizes)]).tolist()
    wanted = os.environ.get("WHERRY_DISTRIBUTED_COMMON_MEMORY") != "0"
    fits = np.array([wanted and _free() > SPARE * group.nranks * starts[-1]], np.int32)
    run(group, f"memory of {starts[-1]} bytes for gradients", lambda: comm.Iallreduce(mpi.IN_PLACE, fits, op=mpi.MIN)).wait()
    if not fits[0]:
        return None
    host = comm.Split_type(mpi.COMM_TYPE_SHARED)
    if host.size < group.nranks:
        host.Free()
        return None
    window = mpi.Win.Allocate_shared(starts[-1], 1, comm=host)
    window.Lock_all()  # to the program's end, as its reducers are
    everyone = [window.Shared_query(rank)[0] for rank in range(group.nranks)]
    return window, [[memory[start : start + size] for memory in everyone] for start, size in zip(starts, sizes, strict=False)]


def _free() -> int:
    try:
        found = os.statvfs(FOLDER)
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


class CommonSum:
    """Numbers of all members of a group, of which each has a copy.

    Args:
        group: of processes of one host.
        window, blocks: of `windows`: memory of each member, in the order of ranks, of `bytes_for` bytes.
        dtype: float32 or float64.
        averaged: so many numbers, the first ones, are averaged; the rest is added up.
        what: what they are, for messages.

    Attributes:
        mine: the numbers of this process, `[count]`.
    """

    def __init__(self, group: Group, window: Any, blocks: list[Any], dtype: str, averaged: int, what: str) -> None:
        arrays, count = [np.frombuffer(block, dtype) for block in blocks], group.nranks
        self.group, self.window, self.found = group, window, [array[-count:] for array in arrays]  # after the numbers: whose are NaN
        everyone = [from_dlpack(array[:-count]) for array in arrays]
        self.mine: Tensor = everyone[group.rank]
        self.what = f"{what}, {dtype}[{self.mine.size}]"
        bounds = [self.mine.size * rank // count for rank in range(count + 1)]
        low, high = bounds[group.rank], bounds[group.rank + 1]
        border = min(max(averaged, low), high)
        self.others = [rank for rank in range(count) if rank != group.rank]
        with no_grad():
            starts = [*range(low, border, PIECE), *range(border, high, PIECE)]
            self.pieces = [
                (self.mine[start:end], [everyone[rank][start:end] for rank in self.others], end <= border)
                for start, end in zip(starts, [*starts[1:], high][: len(starts)], strict=True)
            ]
            self.copies = [(self.mine[bounds[rank] : bounds[rank + 1]], everyone[rank][bounds[rank] : bounds[rank + 1]]) for rank in self.others]
            self.scale = to_tensor(1.0 / count, dtype=dtype, place="cpu")
            room = zeros([PIECE], dtype=dtype)
            self.sums = {mine.size: room[: mine.size] for mine, _, _ in self.pieces}

    @staticmethod
    def bytes_for(count: int, dtype: Any, group: Group) -> int:
        """Size of a block for so many numbers."""
        return int((count + group.nranks) * dtype.itemsize)

    def average(self, looks: int) -> list[int]:
        """Replace the numbers by the sums over all members, the first `averaged` of them by the means.

        Args:
            looks: how often it looks for the others before it lets other threads have the core.

        Returns:
            The members whose numbers hold NaN, by their places in the group.
        """
        found = self.found[self.group.rank]
        found[:] = 0
        self._meet("", looks)
        for mine, theirs, averages in self.pieces:
            total = self.sums[mine.size]
            ops.add.into((total,), mine, theirs[0])
            for each in theirs[1:]:
                ops.add.into((total,), total, each)
            if _sums_to_nan(total):
                found[self.group.rank] += _holds_nan(mine)
                for rank, each in zip(self.others, theirs, strict=True):
                    found[rank] += _holds_nan(each)
            if averages:
                ops.multiply.into((mine,), total, self.scale)
            else:
                ops.copy.into((mine,), total)
        self._meet(" added up", looks)
        for mine, each in self.copies:
            ops.copy.into((mine,), each)
        bad = np.flatnonzero(np.sum(self.found, axis=0)).tolist()
        self._meet(" copied", looks)  # before anybody writes the next ones, which others may still read
        return bad

    def _meet(self, done: str, looks: int) -> None:
        self.window.Sync()  # what was written before is seen after it by others, as MPI's rules for common memory want it
        run(self.group, self.what + done, self.group.comm.Ibarrier).wait_after(looks)
        self.window.Sync()


def fill(target: Tensor, values: Any) -> None:
    """Write an array into a tensor."""
    ops.copy.into((target,), to_tensor(values).astype(target.dtype))


def _holds_nan(x: Tensor) -> bool:
    wide = x if x.dtype.name in ("float32", "float64") else x.astype("float32")
    return _sums_to_nan(wide) and bool(np.isnan(wide.numpy()).any())


def _sums_to_nan(x: Tensor) -> bool:
    """Whether the sum is NaN, which is found fast: of NaN, or of infinities of both signs."""
    total = ops.reduce_sum(x, axes=(0,), keepdim=False).item()
    return bool(total != total)
