"""Functions that run in other processes: `paddle.distributed.rpc`.

Each process listens on one port, of the address that the launcher has given to it. Calls are pickles, which run what they say, so a process
that connects first proves that it has the job's secret (HMAC, both ways); others are refused before anything of theirs is read.
"""
from __future__ import annotations

import os
import pickle
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from wherry_distributed.environment import place
from wherry_tensor.errors import InvalidArgumentError, PreconditionNotMetError, UnavailableError, short
from wherry_tensor.explained import explained

__all__ = ["WorkerInfo", "get_all_worker_infos", "get_current_worker_info", "get_worker_info", "init_rpc", "rpc_async", "rpc_sync", "shutdown"]

PATIENCE = 300.0  # seconds that workers wait for each other to begin, and to end


@dataclass(frozen=True)
class WorkerInfo:
    """A process that functions can run in.

    Source:
        `paddle.distributed.rpc.WorkerInfo`.
    """

    name: str
    rank: int
    ip: str
    port: int


class Worker:
    """This process among the workers."""

    def __init__(self, name: str, rank: int, size: int, master: tuple[str, int], secret: bytes) -> None:
        self.secret, self.rank, self.size, self.master = secret, rank, size, master
        own = os.environ.get("PADDLE_CURRENT_ENDPOINT", "").rpartition(":")[0] or "127.0.0.1"
        self.listener = Listener((own, 0), authkey=secret, backlog=128)
        self.pool = ThreadPoolExecutor(16, thread_name_prefix="rpc")
        self.idle: dict[str, list[Connection]] = defaultdict(list)
        self.lock = threading.Lock()
        self.closed = False
        self.registry = Registry(master, size, secret) if rank == 0 else None
        threading.Thread(target=self._accept, daemon=True, name="rpc listener").start()
        self.me = WorkerInfo(name, rank, own, int(self.listener.address[1]))  # type: ignore[call-overload]
        self.workers = {each.name: each for each in sorted(self._meet("begin", self.me), key=lambda each: each.rank)}
        if len(self.workers) < size:
            raise InvalidArgumentError(
                f"init_rpc: two workers have one name. Got {sorted(self.workers)}, expected {size} names. Name each otherwise."
            )

    def _meet(self, when: str, said: Any) -> list[Any]:
        """What all workers have said, when all have come."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with Client(self.master, authkey=self.secret) as line:
                    line.send((when, self.rank, said))
                    if line.poll(max(0.0, end - time.monotonic())):
                        found: list[Any] = line.recv()
                        return found
                    raise UnavailableError(f"rpc: not all of {self.size} workers have come to {when} within {PATIENCE:g} s. Look at their logs.")
            except (ConnectionError, EOFError) as error:  # rank 0 does not listen yet
                if time.monotonic() > end:
                    raise UnavailableError(f"rpc: nobody listens on {self.master[0]}:{self.master[1]} ({error}). Start rank 0 there.") from None
                time.sleep(0.05)

    def _accept(self) -> None:
        while not self.closed:
            try:
                line = self.listener.accept()
            except Exception:  # noqa: BLE001  a stranger, or somebody who is gone: the next one
                if self.closed:
                    return
                continue
            threading.Thread(target=self._serve, args=(line,), daemon=True, name="rpc connection").start()

    def _serve(self, line: Connection) -> None:
        with line:
            while True:
                try:
                    function, args, kwargs = line.recv()
                except (EOFError, OSError):
                    return
                except Exception as error:  # noqa: BLE001  what cannot be read here, such as a function of a module that is not there
                    line.send((False, error, traceback.format_exc()))
                    continue
                try:
                    answer = pickle.dumps((True, function(*args, **kwargs), ""))
                except BaseException as error:  # noqa: BLE001  it belongs to the caller
                    try:
                        answer = pickle.dumps((False, error, traceback.format_exc()))
                    except Exception:  # noqa: BLE001  an error that cannot be sent
                        answer = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}"), traceback.format_exc()))
                try:
                    line.send_bytes(answer)
                except OSError:
                    return

    def call(self, to: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], timeout: float) -> Any:
        """Run a function there, and wait for it."""
        who = self.workers[to]
        with self.lock:
            line = self.idle[to].pop() if self.idle[to] else None
        try:
            line = line or Client((who.ip, who.port), authkey=self.secret)
            line.send((function, tuple(args), kwargs))
            if not line.poll(timeout if timeout > 0 else None):
                line.close()
                raise TimeoutError(f"rpc: worker {to!r} (rank {who.rank}) has not answered to {_name(function)} within {timeout:g} s.")
            well, value, trace = line.recv()
        except (ConnectionError, EOFError) as error:
            raise UnavailableError(
                f"rpc: worker {to!r} (rank {who.rank}, {who.ip}:{who.port}) is gone ({type(error).__name__}) while {_name(function)} was asked for. "
                f"Look at its log."
            ) from None
        with self.lock:
            self.idle[to].append(line)
        if not well:
            value.add_note(f"raised in worker {to!r} (rank {who.rank}):\n{trace}")
            raise value
        return value

    def close(self) -> None:
        """All have come to the end: let go of the port."""
        self._meet("end", None)
        self.closed = True
        self.listener.close()
        self.pool.shutdown(wait=False)
        for line in [line for some in self.idle.values() for line in some]:
            line.close()
        if self.registry is not None:
            self.registry.close()


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", short(function))


class Registry:
    """Where workers meet: at rank 0."""

    def __init__(self, address: tuple[str, int], size: int, secret: bytes) -> None:
        try:
            self.listener = Listener(address, authkey=secret, backlog=128)
        except OSError as error:
            where = f"{address[0]}:{address[1]}"
            raise UnavailableError(f"init_rpc: rank 0 cannot listen on {where} ({error}). Pass another master_endpoint.") from None
        self.size, self.closed = size, False
        self.come: dict[str, dict[int, tuple[Connection, Any]]] = {}
        self.answered = threading.Event()
        threading.Thread(target=self._accept, daemon=True, name="rpc meeting place").start()

    def _accept(self) -> None:
        while not self.closed:
            try:
                line = self.listener.accept()
                when, rank, said = line.recv()
            except Exception:  # noqa: BLE001  a stranger, or somebody who is gone: the next one
                continue
            come = self.come.setdefault(when, {})
            come[rank] = line, said
            if len(come) == self.size:
                for line, _ in come.values():
                    line.send([said for _, said in come.values()])
                if when == "end":
                    self.answered.set()
                    return

    def close(self) -> None:
        """The end has been told to all."""
        self.answered.wait(PATIENCE)
        self.closed = True
        self.listener.close()


_worker: Worker | None = None


def _here(op_name: str) -> Worker:
    if _worker is None:
        raise PreconditionNotMetError(
            f"{op_name}: the workers are not joined. Got a call before init_rpc, or after shutdown, expected one between. Call "
            f"paddle.distributed.rpc.init_rpc(name) first."
        )
    return _worker


def init_rpc(name: str, rank: int | None = None, world_size: int | None = None, master_endpoint: str | None = None) -> None:
    """Join the workers; returns when all have come.

    Args:
        name: of this worker, its own among all.
        rank, world_size: which of how many; None as the launcher says.
        master_endpoint: IP:PORT on which rank 0 listens; None is the address that the launcher has given to it. The environment's
            PADDLE_JOB_SECRET is the same in all workers; the launcher sets it.

    Raises:
        RuntimeError: there is no secret, nobody comes, or the address cannot be listened on.

    Source:
        `paddle.distributed.rpc.init_rpc`.
    """
    global _worker
    here = place()
    rank = here.rank if rank is None else rank
    size = here.size if world_size is None else world_size
    endpoint = master_endpoint or os.environ.get("PADDLE_MASTER_ENDPOINT") or os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")[0]
    host, _, port = endpoint.rpartition(":")
    if _worker is not None or not isinstance(name, str) or not 0 <= rank < size or not host or not port.isdigit():
        raise InvalidArgumentError(
            f"init_rpc: the workers cannot be joined so. Got name={short(name)}, rank {rank} of {size}, master_endpoint={short(endpoint)}"
            f"{', joined already' if _worker is not None else ''}; expected a name, a rank below world_size and IP:PORT. Start with python -m "
            f"wherry.distributed.launch, or pass all of them."
        )
    secret = os.environ.get("PADDLE_JOB_SECRET", "")
    if not secret:
        raise PreconditionNotMetError(
            "init_rpc: the job has no secret, without which anybody could run functions here. Got no PADDLE_JOB_SECRET, expected the same text in "
            "the environment of every process. python -m wherry.distributed.launch sets one on one host."
        )
    _worker = Worker(name, rank, size, (host, int(port)), secret.encode())


def rpc_sync(to: str, fn: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: dict[str, Any] | None = None, timeout: float = -1) -> Any:
    """What a function returns in another worker; what it raises there is raised here, with its traceback.

    Args:
        to: the worker's name.
        fn: a function that the worker can import. It and what it gets and returns are pickled.
        timeout: seconds; -1 waits as long as the worker lives.

    Raises:
        RuntimeError: the worker is gone.
        TimeoutError: it has not answered in time.

    Source:
        `paddle.distributed.rpc.rpc_sync`.
    """
    return rpc_async(to, fn, args, kwargs, timeout).wait()


class FutureWrapper:
    """What `rpc_async` returns.

    Source:
        `paddle.distributed.rpc.FutureWrapper`.
    """

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def wait(self) -> Any:
        """What the function returned, or raised."""
        return self._future.result()


def rpc_async(
    to: str, fn: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: dict[str, Any] | None = None, timeout: float = -1
) -> FutureWrapper:
    """`rpc_sync` that returns at once; `wait()` of what it returns has the result.

    Source:
        `paddle.distributed.rpc.rpc_async`.
    """
    worker = _here("rpc_async")
    if to not in worker.workers or not callable(fn):
        raise InvalidArgumentError(
            f"rpc_async: there is no such worker, or nothing to call. Got {short(to)} and {short(fn)}, expected one of {sorted(worker.workers)} "
            f"and a function. Ask get_all_worker_infos()."
        )
    return FutureWrapper(worker.pool.submit(worker.call, to, fn, args or (), kwargs or {}, timeout))


def shutdown() -> None:
    """Leave the workers; returns when all have called it.

    Source:
        `paddle.distributed.rpc.shutdown`.
    """
    global _worker
    if _worker is not None:
        _worker.close()
        _worker = None


def get_worker_info(name: str) -> WorkerInfo:
    """A worker by its name.

    Source:
        `paddle.distributed.rpc.get_worker_info`.
    """
    workers = _here("get_worker_info").workers
    if name not in workers:
        raise InvalidArgumentError(
            f"get_worker_info: there is no such worker. Got {short(name)}, expected one of {sorted(workers)}. Take one of them."
        )
    return workers[name]


def get_all_worker_infos() -> list[WorkerInfo]:
    """All workers, in the order of ranks.

    Source:
        `paddle.distributed.rpc.get_all_worker_infos`.
    """
    return list(_here("get_all_worker_infos").workers.values())


def get_current_worker_info() -> WorkerInfo:
    """This worker.

    Source:
        `paddle.distributed.rpc.get_current_worker_info`.
    """
    return _here("get_current_worker_info").me


explained(globals())
