"""Tensors from one process to another: a description, then the values, under a number that says which small batch they belong to.

Sending returns at once, so no order of two stages can make them wait for each other; what is sent is held until it has arrived.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wherry_distributed.board import site
from wherry_distributed.collective import DTYPES
from wherry_distributed.memory import bytes_of, ready, room
from wherry_distributed.world import Group, Task, Watch, refuse_broken, world
from wherry_tensor import Tensor, get_device
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError

FIRST_TAG = 16   # those below belong to `send` and `recv`
LONGEST = 128    # words of a description


def _moved(x: Tensor, device: str) -> Tensor:
    moved = x.to(device)
    moved.stop_gradient = x.stop_gradient
    return moved


class Messages:
    """Messages of this process to others of a group."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.under_way: list[Task] = []

    def send(self, tensors: Sequence[Tensor], place: int, number: int) -> None:
        """Begin to send tensors to a member, by its place in the group."""
        refuse_broken()
        words = np.zeros(LONGEST, np.int64)
        flat = [len(tensors)]
        for x in tensors:
            flat += [DTYPES.index(x.dtype.name), int(x.stop_gradient), x.ndim, *x.shape]
        if len(flat) > LONGEST:
            raise InvalidArgumentError(
                f"messages: too many tensors at once. Got {len(tensors)}, whose shapes take {len(flat)} numbers, expected at most {LONGEST}. Put "
                f"them together."
            )
        words[: len(flat)] = flat
        comm, mpi, tag = self.group.comm, world.mpi, FIRST_TAG + number
        sources = [ready(x.detach()) for x in tensors]
        requests = [comm.Isend(words, dest=place, tag=tag), *(comm.Isend(bytes_of(mpi, x), dest=place, tag=tag) for x in sources)]
        self.under_way = [task for task in self.under_way if not task.is_completed()]
        self.under_way.append(Task(lambda: mpi.Request.Testall(requests), self._watch("send to", place), held=(words, sources, requests)))

    def receive(self, place: int, number: int) -> list[Tensor]:
        """Wait for tensors from a member."""
        refuse_broken()
        comm, mpi, tag = self.group.comm, world.mpi, FIRST_TAG + number
        words = np.empty(LONGEST, np.int64)
        watch = self._watch("receive from", place)
        Task(comm.Irecv(words, source=place, tag=tag).Test, watch, held=words).wait()
        found, at = [], 1
        for _ in range(int(words[0])):
            kind, stops, ndim = (int(n) for n in words[at : at + 3])
            x = room(words[at + 3 : at + 3 + ndim].tolist(), as_dtype(DTYPES[kind]))
            x.stop_gradient = bool(stops)
            found.append(x)
            at += 3 + ndim
        requests = [comm.Irecv(bytes_of(mpi, x), source=place, tag=tag) for x in found]
        Task(lambda: mpi.Request.Testall(requests), watch, held=found).wait()
        device = get_device()
        return found if device == "cpu" else [_moved(x, device) for x in found]

    def finish(self) -> None:
        """Wait until all that was sent has arrived."""
        for task in self.under_way:
            task.wait()
        self.under_way = []

    def _watch(self, what: str, place: int) -> Watch:
        rank = self.group.ranks[place]
        return Watch(self.group, 0, 0, f"{what} rank {rank} at {site()}", [rank])
