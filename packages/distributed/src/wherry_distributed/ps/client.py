"""A worker's line to the parameter servers."""
from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_distributed.ps.messages import Keys, import_zmq, packed, unpacked
from wherry_distributed.ps.server import owner_of_rows
from wherry_tensor.errors import ExecutionTimeoutError, UnavailableError

__all__ = ["Client"]

Array = np.ndarray[Any, Any]
ASK_AGAIN = 0.5        # seconds without an answer until a server is asked whether it lives
MOST_OUTSTANDING = 64  # updates that are on their way to one server


class _Request:
    def __init__(self, frames: list[Any]) -> None:
        self.frames = frames
        self.answer: tuple[dict[str, Any], list[Array]] | None = None


class Client:
    """Connections to all servers of a job.

    A server that ends and comes again is found again: what it has not answered is sent once more, and it applies no update twice.

    Args:
        endpoints: of the servers, in their order.
        worker, workers: which worker of how many.
        keys: of the job.
        timeout: seconds until a request is given up; None takes `PADDLE_PS_TIMEOUT` from the environment, else 300.
    """

    def __init__(self, endpoints: Sequence[str], worker: int, workers: int, keys: Keys, timeout: float | None = None) -> None:
        self.zmq = import_zmq()
        self.worker, self.workers = worker, workers
        self.timeout = float(os.environ.get("PADDLE_PS_TIMEOUT", "300")) if timeout is None else timeout
        self.incarnation = secrets.token_hex(8)
        self.endpoints = list(endpoints)
        self.context = self.zmq.Context()
        self.sockets = []
        self.requests: list[dict[int, _Request]] = [{} for _ in self.endpoints]
        self.number = 0
        self.missing: list[int] = []
        for endpoint in self.endpoints:
            socket = self.context.socket(self.zmq.DEALER)
            socket.curve_serverkey = keys.pair("server")[0]
            socket.curve_publickey, socket.curve_secretkey = keys.pair("worker")
            socket.linger = 0
            socket.connect(f"tcp://{endpoint}")
            self.sockets.append(socket)

    # Requests.

    def hello(self, tables: Sequence[dict[str, str]]) -> bool:
        """Compare tables with each server; are all parameters there?"""
        asked = [self._send(i, "hello", {"tables": of, "workers": self.workers}) for i, of in enumerate(tables)]
        return all(self._wait(i, number)[0]["filled"] for i, number in enumerate(asked))

    def set(self, values: Sequence[dict[str, Array]]) -> None:
        """Give each server first values of its parameters."""
        asked = [self._send(i, "set", {"names": list(of)}, list(of.values())) for i, of in enumerate(values)]
        for i, number in enumerate(asked):
            self._wait(i, number)

    def pull(self, names: Sequence[Sequence[str]]) -> dict[str, Array]:
        """Parameters, by the servers that have them."""
        asked = [self._send(i, "pull", {"names": list(of)}) if of else None for i, of in enumerate(names)]
        found: dict[str, Array] = {}
        for i, (number, of) in enumerate(zip(asked, names, strict=True)):
            if number is not None:
                found.update(zip(of, self._wait(i, number)[1], strict=True))
        return found

    def pull_rows(self, table: str, ids: Array, width: int, dtype: str) -> Array:
        """The rows of ids, `[n, width]`; each id is asked for once."""
        unique, back = np.unique(ids, return_inverse=True)
        owners = owner_of_rows(unique, len(self.sockets))
        asked = []
        for i in range(len(self.sockets)):
            mine = np.flatnonzero(owners == i)
            if len(mine):
                asked.append((i, mine, self._send(i, "pull_rows", {"table": table}, [unique[mine]])))
        rows = np.zeros((len(unique), width), dtype)
        for i, mine, number in asked:
            rows[mine] = self._wait(i, number)[1][0]
        return rows[back]

    def push(
        self, dense: Sequence[dict[str, Array]], sparse: dict[str, tuple[Array, Array]], rate: float, together: bool, wait: bool
    ) -> None:
        """Send an update to the servers.

        Args:
            dense: gradients of parameters, by the servers that have them.
            sparse: ids and the gradients of their rows, by table.
            rate: the learning rate.
            together: one step for the updates of all workers, when all have come.
            wait: until it is applied.
        """
        asked = []
        for i, of in enumerate(dense):
            arrays, names = list(of.values()), []
            for name, (ids, gradient) in sparse.items():
                mine = owner_of_rows(ids, len(self.sockets)) == i
                if together or mine.any():
                    names.append(name)
                    arrays += [ids[mine], gradient[mine]]
            if together or arrays:
                fields = {"dense": list(of), "sparse": names, "rate": rate, "together": together, "incarnation": self.incarnation}
                asked.append((i, self._send(i, "push", fields, arrays)))
        for i, number in asked:
            if wait:
                self._wait(i, number)
            else:
                self._settle(i, MOST_OUTSTANDING)

    def flush(self) -> None:
        """Wait until all updates are applied."""
        for i in range(len(self.sockets)):
            self._settle(i, 0)

    def barrier(self, name: str = "") -> None:
        """Wait for the other workers."""
        self.gather(f"barrier {name}", None)

    def gather(self, name: str, value: Any) -> list[Any]:
        """What all workers have, in their order: numbers, texts and lists of these."""
        return list(self._wait(0, self._send(0, "gather", {"name": name, "value": value}))[0]["values"])

    def give(self, worker: int, arrays: Sequence[Array]) -> None:
        """Leave arrays for a worker."""
        server = worker % len(self.sockets)
        self._wait(server, self._send(server, "give", {"to": worker, "incarnation": self.incarnation}, arrays))

    def take(self) -> list[Array]:
        """The arrays that were left for this worker, which are gone from the server then."""
        server = self.worker % len(self.sockets)
        return [x.copy() for x in self._wait(server, self._send(server, "take", {}))[1]]

    def save(self, folder: str, mode: int = 0, names: Sequence[str] | None = None) -> None:
        """Let each server save its tables, or those of these names. What follows from a save follows when all servers have saved."""
        self._of_all("save", folder=folder, mode=mode, names=names)
        self._of_all("saved")

    def load(self, folder: str, names: Sequence[str] | None = None) -> None:
        """Let each server take saved tables, or those of these names."""
        self._of_all("load", folder=folder, names=names)

    def rows(self) -> dict[str, int]:
        """How many rows each sparse table has."""
        found: dict[str, int] = {}
        for header in self._of_all("count"):
            for name, rows in header["rows"].items():
                found[name] = found.get(name, 0) + rows
        return found

    def shrink(self, threshold: float | None) -> None:
        """Let each server end a day, and drop rows of tables that count shows and clicks."""
        self._of_all("shrink", threshold=threshold, incarnation=self.incarnation)

    def all_rows(self, table: str, mode: int = 0) -> tuple[Array, Array]:
        """The ids of a table, and their rows: those that a save with this mode has."""
        asked = [self._send(i, "rows", {"table": table, "mode": mode}) for i in range(len(self.sockets))]
        parts = [self._wait(i, number)[1] for i, number in enumerate(asked)]
        return np.concatenate([ids for ids, _ in parts]), np.concatenate([rows for _, rows in parts])

    def close(self, stop: bool = True) -> None:
        """End; servers end with their last worker."""
        if stop:
            self.flush()
            self._of_all("stop")
        for socket in self.sockets:
            socket.close()
        self.context.term()

    def _of_all(self, verb: str, **fields: Any) -> list[dict[str, Any]]:
        asked = [self._send(i, verb, fields) for i in range(len(self.sockets))]
        return [self._wait(i, number)[0] for i, number in enumerate(asked)]

    # Messages.

    def _send(self, server: int, verb: str, fields: dict[str, Any], arrays: Sequence[Array] = ()) -> int:
        self.number += 1
        frames = packed({"verb": verb, "number": self.number, "worker": self.worker, **fields}, arrays)
        self.requests[server][self.number] = _Request(frames)
        self.sockets[server].send_multipart(frames, copy=True)
        return self.number

    def _settle(self, server: int, most: int) -> None:
        """Take answers until no more than `most` requests are open; an error of any of them is raised."""
        requests = self.requests[server]
        self._receive(server, 0)
        while requests:
            first = next(iter(requests))
            if requests[first].answer is None and len(requests) <= most:
                return
            self._wait(server, first)

    def _wait(self, server: int, number: int) -> tuple[dict[str, Any], list[Array]]:
        request = self.requests[server][number]
        end = time.monotonic() + self.timeout
        while request.answer is None:
            if self._receive(server, min(ASK_AGAIN, max(0.0, end - time.monotonic()))):
                continue
            if time.monotonic() > end:
                del self.requests[server][number]
                late = f" Of {self.workers} workers these have not come: {self.missing}." if self.missing else ""
                raise ExecutionTimeoutError(
                    f"parameter server {server} at {self.endpoints[server]} has not answered for {self.timeout:g} s.{late} Got no answer, "
                    "expected one "
                    f"from a server that was started with the same PADDLE_JOB_SECRET. See its log; PADDLE_PS_TIMEOUT sets the seconds."
                )
            self._ask(server)
        del self.requests[server][number]
        header, arrays = request.answer
        if "error" in header:
            raise UnavailableError(f"{header['error']} (answered by the server at {self.endpoints[server]})")
        return header, arrays

    def _ask(self, server: int) -> None:
        """Ask a server which requests it holds. It reads them in order, so those before this one that it neither answers nor holds are lost."""
        self.sockets[server].send_multipart(packed({"verb": "ping", "number": 0, "worker": self.worker, "last": self.number}))

    def _receive(self, server: int, seconds: float) -> bool:
        """Take one message, if one comes."""
        socket = self.sockets[server]
        if not socket.poll(round(1000 * seconds)):
            return False
        header, arrays = unpacked([frame.buffer for frame in socket.recv_multipart(copy=False)])
        request = self.requests[server].get(header.get("number", 0))
        if request is not None:
            request.answer = (header, arrays)
        elif "held" in header:
            self.missing = header["missing"]
            for number, each in self.requests[server].items():
                if each.answer is None and number <= header["last"] and number not in header["held"]:
                    socket.send_multipart(each.frames, copy=True)  # it went to a server that is gone
        return True
