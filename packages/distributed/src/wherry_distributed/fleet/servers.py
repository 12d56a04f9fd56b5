"""Training with parameter servers, as `fleet` does it: what this process is, the program divided, collectives of workers without MPI."""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wherry_distributed.fleet.optimizers import Wrapped
from wherry_distributed.ps.worker import ParameterServers, set_current
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short

__all__ = ["ServerJob", "ServerOptimizer", "job_of_environment", "joined"]


@dataclass(frozen=True)
class ServerJob:
    """The processes of a job with parameter servers, and which of them this is.

    Attributes:
        endpoints: of the servers.
        workers: how many there are.
        worker, server: the number of this process; None where it is the other.
    """

    endpoints: tuple[str, ...]
    workers: int
    worker: int | None
    server: int | None


def job_of_environment() -> ServerJob | None:
    """The job that the launcher has started this process for; None where it has no servers.

    Raises:
        ValueError: the environment contradicts itself.
    """
    endpoints = tuple(each for each in os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST", "").split(",") if each)
    role = os.environ.get("TRAINING_ROLE", "TRAINER")
    if not endpoints:
        if role == "PSERVER":
            raise InvalidArgumentError(
                "fleet.init: a server does not know the servers. Got TRAINING_ROLE=PSERVER without PADDLE_PSERVERS_IP_PORT_LIST, expected "
                "both. Start the "
                "program with python -m wherry.distributed.launch --server_num 1 --worker_num 2."
            )
        return None
    workers = _number("PADDLE_TRAINERS_NUM", 1)
    if role == "PSERVER":
        mine = f"{os.environ.get('POD_IP', '127.0.0.1')}:{os.environ.get('PADDLE_PORT', '')}"
        if mine not in endpoints:
            raise InvalidArgumentError(
                f"fleet.init: this server is not in the job. Got POD_IP:PADDLE_PORT {mine}, expected one of PADDLE_PSERVERS_IP_PORT_LIST, "
                f"{','.join(endpoints)}."
            )
        return ServerJob(endpoints, workers, None, endpoints.index(mine))
    worker = _number("PADDLE_TRAINER_ID", 0)
    if not 0 <= worker < workers:
        raise InvalidArgumentError(
            f"fleet.init: there is no such worker. Got PADDLE_TRAINER_ID {worker}, expected one below PADDLE_TRAINERS_NUM, {workers}."
        )
    return ServerJob(endpoints, workers, worker, None)


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    if not text.isdigit():
        raise InvalidArgumentError(f"fleet.init: {name} is not a number. Got {short(text)}, expected an int of 0 or more.")
    return int(text)


def joined(job: ServerJob | None) -> ParameterServers | None:
    """The division of programs for a job, which `static.nn.sparse_embedding` uses from now on; without servers there is none."""
    servers = None if job is None else ParameterServers(job.endpoints, job.workers, job.worker, job.server)
    set_current(servers)
    return servers


class ServerOptimizer(Wrapped):
    """An optimizer whose `minimize` leaves the update to servers.

    Args:
        optimizer: the user's.
        servers: the division of programs.
        strategy: `a_sync` and `a_sync_configs` say the mode.

    Raises:
        NotImplementedError: the strategy asks for what belongs to training without servers.
    """

    def __init__(self, optimizer: Any, servers: ParameterServers, strategy: Any) -> None:
        super().__init__(optimizer)
        for name in ("dgc", "localsgd", "adaptive_localsgd", "sharding", "gradient_merge", "fp16_allreduce", "amp", "recompute", "pipeline"):
            if getattr(strategy, name):
                raise UnimplementedError(
                    f"fleet.distributed_optimizer: {name} is for training without parameter servers. Got it with servers, expected it to "
                    "be False. Switch it "
                    f"off, or use fleet.init(is_collective=True)."
                )
        k_steps = int(strategy.a_sync_configs["k_steps"]) if strategy.a_sync else 0
        servers.mode, servers.k_steps = ("geo" if k_steps > 0 else "async" if strategy.a_sync else "sync"), max(1, k_steps)
        self._servers = servers

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Let the program of `loss` compute gradients, and servers take the steps."""
        return self._servers.minimize(self._inner_opt, loss, startup_program, parameters, no_grad_set)

    def step(self) -> None:
        """Refused: eager training has no servers."""
        raise UnimplementedError(
            "fleet: parameter servers train programs of static mode. Got step(), expected paddle.enable_static() and minimize(loss)."
        )


def names_of(names: Sequence[Any] | None) -> list[str] | None:
    """The names of variables, where some are given."""
    return None if names is None else [each if isinstance(each, str) else each.name for each in names]
