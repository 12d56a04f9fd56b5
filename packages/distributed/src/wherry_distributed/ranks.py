"""Joining the processes, and asking which one this is."""
from __future__ import annotations

import importlib.util

from wherry_distributed import gpu, normalization
from wherry_distributed import world as worlds
from wherry_distributed.environment import place
from wherry_distributed.world import Group
from wherry_tensor.explained import explained


def init_parallel_env() -> Group:
    """Join the processes that were started together: by `python -m wherry.distributed.launch`, `spawn`, `mpiexec`, `srun`.

    A process that is alone needs no MPI; it warns, as Paddle does, and goes on. A program that runs on GPUs (`set_device("gpu")`, or
    `--devices` of the launcher) gets the one of its rank on the host, and NCCL joins them.

    Returns:
        The group of all processes.

    Raises:
        RuntimeError: mpi4py or an MPI is missing, or it sees other processes than were started.

    Source:
        `paddle.distributed.init_parallel_env`.
    """
    if not worlds.is_started():
        gpu.choose_device(place().local_rank)
        worlds.start(stacklevel=2)
        if worlds.is_started():
            worlds.world.when_made.append(gpu.meet)
            worlds.world.when_ended.append(gpu.end)
            gpu.meet(worlds.world.groups[0])
    normalization.install()
    return worlds.world.groups[0]


def get_rank(group: Group | None = None) -> int:
    """The rank of this process, from 0; in a group its place there, -1 where it is not a member.

    Source:
        `paddle.distributed.get_rank`.

    Examples:
        >>> wherry.distributed.get_rank(), wherry.distributed.get_world_size()
        (0, 1)
    """
    return place().rank if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """The number of processes, or of those in a group (-1 for one that this process is not a member of, as in Paddle).

    Source:
        `paddle.distributed.get_world_size`.

    Examples:
        >>> wherry.distributed.get_world_size()
        1
    """
    if group is None:
        return place().size
    return group.nranks if group.is_member() else -1


def is_available() -> bool:
    """Whether several processes can train together: is mpi4py installed?

    Source:
        `paddle.distributed.is_available`.

    Examples:
        >>> isinstance(wherry.distributed.is_available(), bool)
        True
    """
    return importlib.util.find_spec("mpi4py") is not None


def is_initialized() -> bool:
    """Whether `init_parallel_env` has joined several processes.

    Source:
        `paddle.distributed.is_initialized`.

    Examples:
        >>> wherry.distributed.is_initialized()
        False
    """
    return worlds.is_started()


def get_backend(group: Group | None = None) -> str:
    """What carries messages: "MPI", "NCCL" between GPUs, or "alone" in a process that is alone.

    Source:
        `paddle.distributed.get_backend`.

    Examples:
        >>> wherry.distributed.get_backend()
        'alone'
    """
    return (group or worlds.world.groups[0]).backend.replace("mpi", "MPI").replace("nccl", "NCCL")


explained(globals())
