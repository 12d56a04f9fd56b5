"""What a process of a job is: read from the environment that the launcher has made, or said by the program."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_distributed.collective import all_gather_object, barrier
from wherry_distributed.environment import place
from wherry_distributed.fleet.servers import ServerJob, job_of_environment
from wherry_distributed.ps.worker import current
from wherry_distributed.ranks import get_rank, get_world_size
from wherry_tensor.errors import InvalidArgumentError, short


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
    servers = current()
    if servers is not None:
        return servers.gather(value.tolist() if isinstance(value, np.ndarray) else value)
    found: list[Any] = []
    all_gather_object(found, value)
    return found


def wait_for_all() -> None:
    """Wait for the other workers."""
    servers = current()
    if servers is None:
        barrier()
    else:
        servers.gather(None)


class PaddleCloudRoleMaker:
    """Reads from the environment what this process is.

    Args:
        is_collective: all processes are workers.

    Raises:
        ValueError: the environment contradicts itself.

    Source:
        `paddle.distributed.fleet.PaddleCloudRoleMaker`.
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        self._is_collective, self._kwargs = is_collective, kwargs
        self._job = None if is_collective else self._servers_of_job()
        self._role = Role.SERVER if self._is_server() else Role.WORKER

    def _servers_of_job(self) -> ServerJob | None:
        return job_of_environment()

    def _worker_index(self) -> int:
        return get_rank() if self._job is None else -1 if self._job.worker is None else self._job.worker

    def _worker_num(self) -> int:
        return get_world_size() if self._job is None else self._job.workers

    def _role_id(self) -> int:
        return self._server_index() if self._is_server() else self._worker_index()

    def _node_num(self) -> int:
        return int(os.environ.get("PADDLE_NNODES", "1"))

    def _is_first_worker(self) -> bool:
        return self._is_worker() and self._worker_index() == 0

    def _is_worker(self) -> bool:
        return not self._is_server()

    def _is_server(self) -> bool:
        return self._job is not None and self._job.server is not None

    def _server_num(self) -> int:
        return len(self._get_pserver_endpoints())

    def _server_index(self) -> int:
        return self._job.server if self._job is not None and self._job.server is not None else -1

    def _get_trainer_endpoints(self) -> list[str]:
        return os.environ.get("PADDLE_TRAINER_ENDPOINTS", os.environ.get("PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6170")).split(",")

    def _get_pserver_endpoints(self) -> list[str]:
        return [] if self._job is None else list(self._job.endpoints)

    def _barrier(self, comm_world: Any = None) -> None:
        wait_for_all()

    def _all_gather(self, input: Any, comm_world: Any = "worker") -> list[Any]:
        return all_gathered(input)

    def _all_reduce(self, input: Any, mode: str = "sum", comm_world: Any = "worker") -> Any:
        return all_reduced(input, mode)

    def to_string(self) -> str:
        """Role, number and addresses."""
        return (
            f"role: {self._role}, current_id: {self._role_id()}, worker_endpoints: {self._get_trainer_endpoints()}, "
            f"server_endpoints: {self._get_pserver_endpoints()}"
        )


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """Is told what this process is.

    Args:
        is_collective: all processes are workers.
        init_gloo: no effect.
        kwargs: `current_id`, `role`, `worker_num`, `worker_endpoints`, `server_endpoints`.

    Raises:
        ValueError: it disagrees with what was started, or a server has no `server_endpoints`.

    Source:
        `paddle.distributed.fleet.UserDefinedRoleMaker`.
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        super().__init__(is_collective, **kwargs)
        if self._job is not None:
            return
        here = place()
        for name, value, actual in (("worker_num", kwargs.get("worker_num"), here.size), ("current_id", kwargs.get("current_id"), here.rank)):
            if value not in (None, 0, actual):
                raise InvalidArgumentError(
                    f"UserDefinedRoleMaker: other processes were started. Got {name}={short(value)}, expected {actual}. Start as many with "
                    f"python -m wherry.distributed.launch."
                )

    def _servers_of_job(self) -> ServerJob | None:
        endpoints = tuple(self._kwargs.get("server_endpoints") or ())
        server = self._kwargs.get("role", Role.WORKER) == Role.SERVER
        if not endpoints:
            if server:
                raise InvalidArgumentError(
                    "UserDefinedRoleMaker: a server needs server_endpoints. Got none, expected ['IP:PORT', ...] of all servers."
                )
            return None
        workers = self._kwargs.get("worker_num") or len(self._kwargs.get("worker_endpoints") or ()) or 1
        number = self._kwargs.get("current_id", 0)
        if not isinstance(number, int) or not 0 <= number < (len(endpoints) if server else workers):
            raise InvalidArgumentError(
                f"UserDefinedRoleMaker: there is no such process. Got current_id={short(number)}, expected one below "
                f"{len(endpoints) if server else workers}."
            )
        return ServerJob(endpoints, workers, None if server else number, number if server else None)

    def _get_trainer_endpoints(self) -> list[str]:
        given: Sequence[str] = self._kwargs.get("worker_endpoints") or super()._get_trainer_endpoints()
        return list(given)
