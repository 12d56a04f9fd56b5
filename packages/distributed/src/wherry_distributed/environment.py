"""Which process of how many this is: said by our launcher, by Slurm, or by whoever speaks PMI or Open MPI's dialect (`mpiexec`)."""
from __future__ import annotations

import os
from dataclasses import dataclass

from wherry_tensor.errors import InvalidArgumentError

# Of each starter the variables of rank, size, rank on the host and processes on the host. Ours come first: they stand inside of others.
STARTERS = {
    "launch": ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_LOCAL_RANK", "PADDLE_LOCAL_SIZE"),
    "pmi": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    "open mpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    "slurm": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
}


@dataclass(frozen=True)
class Place:
    """A process among those that were started together."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    starter: str = ""


def place() -> Place:
    """What the environment says of this process; alone where it says nothing.

    `sbatch` without `srun` sets Slurm's variables for a script that runs once, so Slurm is believed of a step alone.
    """
    for starter, (rank, size, local, _) in STARTERS.items():
        if starter == "slurm" and "SLURM_STEP_ID" not in os.environ:
            continue
        if os.environ.get(size, "") not in ("", "1"):
            return Place(_number(rank, "0"), _number(size, "1"), _number(local, "0"), starter)
    return Place()


def _number(name: str, default: str) -> int:
    text = os.environ.get(name, default)
    try:
        return int(text)
    except ValueError:
        raise InvalidArgumentError(
            f"distributed: {name} is not a number. Got {text!r} from the environment, expected an int. Start the program with "
            f"python -m wherry.distributed.launch."
        ) from None


class ParallelEnv:
    """What the environment says of this process.

    Attributes:
        rank, world_size: which process of how many; also `local_rank` and `nranks`, Paddle's older names for the same.
        device_id, device_type: 0 and "cpu", or of the GPU that the launcher has given to this process (`--devices`).
        current_endpoint, trainer_endpoints: addresses that the launcher has given to this process and to all.

    Source:
        `paddle.distributed.ParallelEnv`.

    Examples:
        >>> env = wherry.distributed.ParallelEnv()
        >>> env.rank, env.world_size
        (0, 1)
    """

    def __init__(self) -> None:
        here = place()
        self.rank = self.local_rank = here.rank
        self.world_size = self.nranks = here.size
        given = os.environ.get("FLAGS_selected_gpus", "").split(",")[0]  # noqa: SIM112  Paddle's name
        self.device_id = self.dev_id = int(given) if given.isdigit() else 0
        self.device_type = "gpu" if given.isdigit() else "cpu"
        self.nrings = 1
        self.current_endpoint = os.environ.get("PADDLE_CURRENT_ENDPOINT", "")
        self.trainer_endpoints = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")
