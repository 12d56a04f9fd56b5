"""Objects between the processes of a group, as pickles: processes of one job trust each other."""
from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np

from wherry_distributed.world import Group, run, world


def gather_objects(what: str, members: Group, obj: Any) -> list[Any]:
    """The objects of all members, in each of them."""
    if members.comm is None:
        return [obj]
    raw = np.frombuffer(pickle.dumps(obj), np.uint8)
    sizes = np.empty(members.nranks, np.int64)
    sizes[members.rank] = raw.size
    mpi = world.mpi
    run(members, what, lambda: members.comm.Iallgather(mpi.IN_PLACE, [sizes, 1, mpi.INT64_T])).wait()  # 1: of each rank
    everything = np.empty(int(sizes.sum()), np.uint8)
    starts = [0, *itertools.accumulate(sizes[:-1].tolist())]
    run(members, what, lambda: members.comm.Iallgatherv([raw, mpi.BYTE], [everything, (sizes.tolist(), starts), mpi.BYTE])).wait()
    return [pickle.loads(everything[at : at + size].tobytes()) for at, size in zip(starts, sizes.tolist(), strict=True)]


def object_of_root(what: str, members: Group, obj: Any, root: int) -> Any:
    """The object of the member at place `root`, in each of them."""
    mpi, raw = world.mpi, np.frombuffer(pickle.dumps(obj), np.uint8).copy()
    size = np.array([raw.size], np.int64)
    run(members, what, lambda: members.comm.Ibcast([size, 1, mpi.INT64_T], root=root)).wait()
    if members.rank != root:
        raw = np.empty(int(size[0]), np.uint8)
    run(members, what, lambda: members.comm.Ibcast([raw, mpi.BYTE], root=root)).wait()
    return obj if members.rank == root else pickle.loads(raw.tobytes())
