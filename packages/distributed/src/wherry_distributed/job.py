"""Processes of one program on this host: how many threads, which environment, and that none of them stays behind."""
from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wherry_distributed import pmi
from wherry_tensor.errors import UnavailableError

PATIENCE = 1.0  # seconds between asking processes to end and ending them
GRACE = 2.0     # seconds to wait for the process that another one tells of


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on. They are names of ranks, as Paddle's scripts read them; nothing listens there."""
    with contextlib.ExitStack() as held:
        return reserved_ports(count, held)


def reserved_ports(count: int, held: contextlib.ExitStack) -> list[int]:
    """Ports that the system gives to nobody else until `held` ends, though programs that are told them may listen there (as ZeroMQ does,
    with SO_REUSEADDR). But for Linux, where two sockets cannot be bound to one port, they are just free ones."""
    with contextlib.ExitStack() as own:
        sockets = [own.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # after bind, which gives the port of another such socket otherwise
        if sys.platform == "linux":
            held.push(own.pop_all())
        return [each.getsockname()[1] for each in sockets]


def threads_each(processes: int) -> int:
    """The threads of each of so many processes on the cores that this one may use."""
    return max(1, len(os.sched_getaffinity(0)) // max(1, processes)) if hasattr(os, "sched_getaffinity") else 1


@dataclass
class Job:
    """The ranks of this host.

    Attributes:
        count: how many.
        first, size: the lowest of their ranks, and the number of ranks on all hosts.
        server: of PMI, where it runs in this process.
        address: of it.
        endpoints: of all ranks.
    """

    count: int
    first: int = 0
    size: int = 0
    node: int = 0
    nodes: int = 1
    server: pmi.Server | None = None
    address: tuple[str, int] = ("127.0.0.1", 0)
    endpoints: list[str] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)
    restarts: int = 0
    line: pmi.Line | None = None
    secret: str = ""  # that processes of the job prove themselves by; of several hosts it is the environment's

    @classmethod
    def here(cls, count: int, started_port: int | None = None, restarts: int = 0) -> Job:
        """A job of this host alone."""
        ports = [started_port + i for i in range(count)] if started_port else free_ports(count)
        job = cls(count, size=count, endpoints=[f"127.0.0.1:{port}" for port in ports], shared=_segments(), restarts=restarts)
        job.secret = os.environ.get("PADDLE_JOB_SECRET") or secrets.token_hex(16)
        job.server = pmi.Server([count])
        job.address = (job.server.host, job.server.port)
        return job

    @classmethod
    def of_hosts(
        cls, count: int, master: str, nodes: int, node: int, timeout: float, least: int | None = None, patience: float = 0.0, restarts: int = 0
    ) -> Job:
        """One host's part of a job: launchers meet at `master`, where the first of them serves.

        Args:
            least, patience: begin with as few hosts, where no other has come for so many seconds.
            restarts: how often the program was started before.

        Raises:
            RuntimeError: they do not all come, or show another secret.
        """
        host, _, port = master.rpartition(":")
        if not host or not port.isdigit():
            raise UnavailableError(
                f"launch: --master is not an address. Got {master!r}, expected HOST:PORT, the same on all hosts. Take a free port of node 0."
            )
        secret = os.environ.get("PADDLE_JOB_SECRET", "")
        job = cls(count, nodes=nodes, address=(host, int(port)), shared=_segments(), restarts=restarts)
        if node <= 0:
            try:
                job.server = pmi.Server(None, nodes, host, int(port), secret, least, patience, restarts)
            except OSError as error:
                if node == 0:
                    raise UnavailableError(f"launch: node 0 cannot listen on {master} ({error}). Take another port or address.") from None
        mine = _address_towards(host, int(port))
        said = {
            "node": node, "count": count, "secret": secret, "timeout": timeout, "generation": restarts,
            "endpoints": [f"{mine}:{port}" for port in free_ports(count)],
        }
        job.line, answer = _join(host, int(port), said, timeout)
        if "error" in answer or "counts" not in answer:
            job.close([])
            raise UnavailableError(f"launch: the hosts have not met at {master}: {answer.get('error', 'no answer')}.")
        job.node, counts = answer["node"], answer["counts"]
        job.first, job.size, job.nodes = sum(counts[: job.node]), sum(counts), len(counts)
        job.endpoints = [each for some in answer["endpoints"] for each in some]
        return job

    def environment(self, local: int) -> dict[str, str]:
        """What one rank finds in its environment besides what is there."""
        rank = self.first + local
        found = pmi.environment(rank, self.size, *self.address)
        found |= {
            "PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": str(self.size), "PADDLE_CURRENT_ENDPOINT": self.endpoints[rank],
            "PADDLE_TRAINER_ENDPOINTS": ",".join(self.endpoints), "PADDLE_GLOBAL_RANK": str(rank), "PADDLE_GLOBAL_SIZE": str(self.size),
            "PADDLE_LOCAL_RANK": str(local), "PADDLE_LOCAL_SIZE": str(self.count), "PADDLE_NNODES": str(self.nodes),
            "PADDLE_NODE_RANK": str(self.node), "PADDLE_RANK_IN_NODE": str(local), "TRAINING_ROLE": "TRAINER",
            "PYTHONFAULTHANDLER": "1", "PADDLE_RESTART_COUNT": str(self.restarts),
            "PADDLE_MASTER": "{}:{}".format(*self.address), "FLAGS_selected_cpus": str(local),
        }
        if self.secret:
            found["PADDLE_JOB_SECRET"] = self.secret
        if "OMP_NUM_THREADS" not in os.environ:
            # A pool of two threads runs at half the speed of one where another process holds a core.
            found["OMP_NUM_THREADS"] = str(threads_each(self.count))
        return found

    def close(self, pids: Iterable[int]) -> None:
        """All processes have ended: let go of the port, and of shared memory that those leave which were killed."""
        if self.line is not None:
            self.line.close()
        if self.server is not None:
            self.server.close()
        gone = {str(pid) for pid in pids}
        for path in _segments() - self.shared:
            with contextlib.suppress(OSError):
                # Another job's board is not a file of ours, and in its first moments it is neither open nor mapped.
                name = os.path.basename(path)
                if name.split("_")[2] in gone if name.startswith("wherry_board_") else not _in_use(path, gone):
                    os.unlink(path)


def _segments() -> set[str]:
    """Shared memory of MPICH and of boards that belongs to this user."""
    found = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir("/dev/shm"):
            if entry.name.startswith(("mpich_shm_", "wherry_board_")) and entry.stat().st_uid == os.getuid():
                found.add(entry.path)
    return found


def _in_use(path: str, gone: set[str]) -> bool:
    """Does a process that lives have it open or mapped? Jobs of the same user run side by side.

    What makes it holds it open until it is mapped, so who looks at open files first, and at maps then, cannot miss it in between.
    """
    for pid in os.listdir("/proc"):
        if pid.isdigit() and pid not in gone:
            if any(path == target for target in _opened_by(pid)):
                return True
            with contextlib.suppress(OSError), open(f"/proc/{pid}/maps") as file:
                if path in file.read():
                    return True
    return False


def _opened_by(pid: str) -> Iterator[str]:
    """The files that a process has open."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                yield os.readlink(entry.path)


def _address_towards(host: str, port: int) -> str:
    """The address by which this host reaches another one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((host, port))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _join(host: str, port: int, said: dict[str, Any], timeout: float) -> tuple[pmi.Line | None, dict[str, Any]]:
    end = time.monotonic() + timeout
    while True:
        line, reason = None, ""
        try:
            line = pmi.Line(host, port, timeout)
            answer = line.join(said)
            if "counts" in answer:
                return line, answer
            reason = answer.get("retry", "")
            if answer and not reason:
                return line, answer
        except OSError as error:
            reason = str(error)
        if line is not None:
            line.close()
        if time.monotonic() > end:
            return None, {"error": reason or "no answer"}
        time.sleep(0.2 + secrets.randbelow(100) / 1000)


def end_all(pids: Iterable[int], alive: Any) -> None:
    """End processes and what they have started: asked first, then killed. `alive()` says whether one is left."""
    pids = list(pids)
    for how in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, how)
        end = time.monotonic() + PATIENCE
        while alive() and time.monotonic() < end:
            time.sleep(0.02)
        # A rank may be gone while its workers are not, so groups are killed in any case.


def follows(lines: Iterable[str]) -> bool:
    """Has a process failed because of another one, that is dead or has ended? It has said these lines last."""
    return any("CollectiveError: " in line and (") is dead." in line or "has ended its program." in line) for line in lines)


def ended_by(code: int) -> str:
    """An exit status in words."""
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
