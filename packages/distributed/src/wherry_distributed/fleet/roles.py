"""What a process of a job is: read from the environment that the launcher has made, or said by the program."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_distributed.collective import all_gather_object, barrier
from wherry_distributed.environment import place
from wherry_distributed.ranks import get_rank, get_world_size
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short


class Role:
    """What a process of a job does.

    Source:
        `paddle.distributed.fleet.Role`.
    """

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


def all_reduced(values: Any, mode: str) -> Any:
    """The sum, minimum or maximum of the numbers of all processes, as an array or a number like `values`."""
    if mode not in ("sum", "min", "max"):
        raise InvalidArgumentError(f"all_reduce: mode is not known. Got {short(mode)}, expected 'sum', 'min' or 'max'. Choose one.")
    mine = np.asarray(values)
    found = getattr(np, mode)([np.asarray(each) for each in all_gathered(mine)], axis=0) if get_world_size() > 1 else mine
    return found if isinstance(values, (list, tuple, np.ndarray)) else type(values)(found)


def all_gathered(value: Any) -> list[Any]:
    """What all processes have, in a list."""
    found: list[Any] = []
    all_gather_object(found, value)
    return found


class PaddleCloudRoleMaker:
    """Reads from the environment what this process is.

    Args:
        is_collective: all processes are workers.

    Raises:
        NotImplementedError: the environment says that it is a parameter server.

    Source:
        `paddle.distributed.fleet.PaddleCloudRoleMaker`.
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        self._is_collective, self._kwargs = is_collective, kwargs
        role = os.environ.get("TRAINING_ROLE", "TRAINER")
        if role != "TRAINER":
            raise UnimplementedError(
                f"PaddleCloudRoleMaker: parameter servers are not there yet. Got TRAINING_ROLE={short(role)}, expected TRAINER. Start workers alone."
            )
        self._role = Role.WORKER

    def _worker_index(self) -> int:
        return get_rank()

    def _worker_num(self) -> int:
        return get_world_size()

    _role_id = _worker_index

    def _node_num(self) -> int:
        return int(os.environ.get("PADDLE_NNODES", "1"))

    def _is_first_worker(self) -> bool:
        return get_rank() == 0

    def _is_worker(self) -> bool:
        return True

    def _is_server(self) -> bool:
        return False

    def _server_num(self) -> int:
        return 0

    def _get_trainer_endpoints(self) -> list[str]:
        return os.environ.get("PADDLE_TRAINER_ENDPOINTS", os.environ.get("PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6170")).split(",")

    def _get_pserver_endpoints(self) -> list[str]:
        return []

    def _barrier(self, comm_world: Any = None) -> None:
        barrier()

    def _all_gather(self, input: Any, comm_world: Any = "worker") -> list[Any]:
        return all_gathered(input)

    def _all_reduce(self, input: Any, mode: str = "sum", comm_world: Any = "worker") -> Any:
        return all_reduced(input, mode)

    def to_string(self) -> str:
        """Role, number and addresses."""
        return (
            f"role: {self._role}, current_id: {self._worker_index()}, worker_endpoints: {self._get_trainer_endpoints()}, "
            f"server_endpoints: {self._get_pserver_endpoints()}"
        )


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """Is told what this process is.

    Args:
        is_collective: all processes are workers.
        init_gloo: no effect.
        kwargs: `current_id`, `role`, `worker_num`, `worker_endpoints`, `server_endpoints`.

    Raises:
        NotImplementedError: the role is a server.
        ValueError: it disagrees with what was started.

    Source:
        `paddle.distributed.fleet.UserDefinedRoleMaker`.
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        super().__init__(is_collective, **kwargs)
        here = place()
        if kwargs.get("role", Role.WORKER) != Role.WORKER:
            raise UnimplementedError(
                f"UserDefinedRoleMaker: parameter servers are not there yet. Got role={kwargs['role']}, expected Role.WORKER. Start workers alone."
            )
        for name, value, actual in (("worker_num", kwargs.get("worker_num"), here.size), ("current_id", kwargs.get("current_id"), here.rank)):
            if value not in (None, 0, actual):
                raise InvalidArgumentError(
                    f"UserDefinedRoleMaker: other processes were started. Got {name}={short(value)}, expected {actual}. Start as many with "
                    f"python -m wherry.distributed.launch."
                )

    def _get_trainer_endpoints(self) -> list[str]:
        given: Sequence[str] = self._kwargs.get("worker_endpoints") or super()._get_trainer_endpoints()
        return list(given)
