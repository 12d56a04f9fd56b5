"""A server of PMI-1, the protocol by which processes of an MPI program find each other: what `mpiexec` is to its ranks.

MPICH's clients connect to `PMI_PORT`, say who they are, put their addresses under keys and read those of others after a barrier. The
protocol is one line of `name=value` pairs for each request. Besides, a launcher of another host says here how many ranks it brings
(`cmd=wherry_join`), and is told which ranks they are.

Source: "PMI: A Scalable Parallel Process-Management Interface" (Balaji et al., 2010), and the wire protocol in MPICH's documentation.
"""
from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import select
import socket
import threading
import time
from typing import Any

LONGEST = 1 << 20  # of a line


class Server:
    """Serves one MPI program of `nodes` hosts; each brings its number of ranks.

    Args:
        counts: ranks of each host where they are known; None waits for `nodes` launchers to join.
        host, port: where it listens.
        secret: what a launcher has to show.
        least, patience: begin with as few as `least` launchers, where no other has come for so many seconds.
        generation: how often the program was started before; launchers of another one are told to come again.
    """

    def __init__(
        self, counts: list[int] | None, nodes: int = 1, host: str = "127.0.0.1", port: int = 0, secret: str = "", least: int | None = None,
        patience: float = 0.0, generation: int = 0,
    ) -> None:
        self.nodes, self.secret = nodes, secret
        self.least, self.patience, self.start = nodes if least is None else least, patience, generation
        self.lines: dict[int, Any] = {}  # to launchers, which stay open: who fails, or is gone, is told to the others
        self.last_come = time.monotonic()
        # A name that was used before meets its shared memory, and the start hangs.
        self.name = f"wherry_{os.getpid()}_{secrets.token_hex(6)}"
        self.kvs: dict[str, str] = {}
        self.changed = threading.Condition()
        self.arrived = self.generation = 0
        self.joined: dict[int, dict[str, Any]] = {}
        self.counts = counts
        self.aborted: list[tuple[int | None, str]] = []
        self.listener = socket.create_server((host, port), backlog=1024)
        self.host, self.port = host, self.listener.getsockname()[1]
        if counts is not None:
            self._map()
        threading.Thread(target=self._accept, daemon=True, name="pmi").start()

    @property
    def size(self) -> int:
        """Ranks of the program."""
        return sum(self.counts or ())

    def _map(self) -> None:
        blocks = ",".join(f"({node},1,{count})" for node, count in enumerate(self.counts or ()))
        self.kvs["PMI_process_mapping"] = f"(vector,{blocks})"

    def environment(self, rank: int) -> dict[str, str]:
        """What a rank has to find in its environment."""
        return environment(rank, self.size, self.host, self.port)

    def close(self) -> None:
        """Listen no more. Threads end with their connections."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # who waits in accept() holds the port otherwise
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True, name="pmi client").start()

    def _tell(self, node: int, reason: str) -> None:
        """Tell the launchers of other hosts that the program has to end."""
        with self.changed:
            self.lines.pop(node, None)
            others = list(self.lines.values())
            self.lines.clear()  # they end, and that is no news
        for file in others:
            with contextlib.suppress(OSError):
                file.write((json.dumps({"end": reason}) + "\n").encode())

    def _serve(self, connection: socket.socket) -> None:
        rank: int | None = None
        node: int | None = None
        with connection, connection.makefile("rwb", buffering=0) as file:
            def say(**words: Any) -> None:
                file.write((" ".join(f"{name}={value}" for name, value in words.items()) + "\n").encode())

            while True:
                try:
                    raw = file.readline(LONGEST)
                except OSError:
                    return
                if not raw:
                    if node in self.lines:
                        self._tell(node, f"the launcher of node {node} is gone")  # type: ignore[arg-type]
                    return
                line = raw.decode(errors="replace").strip()
                words = dict(part.split("=", 1) for part in line.split(" ") if "=" in part)
                command = words.get("cmd") or words.get("mcmd")
                try:
                    if command == "initack":
                        rank = int(words["pmiid"])
                        say(cmd="initack", rc=0)
                        say(cmd="set", size=self.size)
                        say(cmd="set", rank=rank)
                        say(cmd="set", debug=0)
                    elif command == "put":
                        with self.changed:
                            self.kvs[words["key"]] = line.split("value=", 1)[1]
                        say(cmd="put_result", rc=0, msg="success")
                    elif command == "get":
                        value = self.kvs.get(words["key"])
                        if value is None:
                            say(cmd="get_result", rc=-1, msg="key_not_found", value="unknown")
                        else:
                            say(cmd="get_result", rc=0, msg="success", value=value)
                    elif command == "barrier_in":
                        self._barrier()
                        say(cmd="barrier_out", rc=0)
                    elif command == "wherry_join":
                        answer = self._join(line, file)
                        node = answer.get("number")
                        file.write((json.dumps(answer) + "\n").encode())
                    elif command == "wherry_done" and node is not None:
                        with self.changed:
                            self.lines.pop(node, None)
                    elif command == "wherry_end" and node is not None:
                        self._tell(node, json.loads(line.split(" ", 1)[1]))
                    elif command == "abort":
                        self.aborted.append((rank, words.get("error_msg", line)))
                    else:
                        known = ANSWERS.get(command or "")
                        say(**(known(self) if known else {"cmd": f"{command}_result", "rc": -1, "msg": "unknown"}))
                except OSError:  # the other end is gone
                    return

    def _barrier(self) -> None:
        with self.changed:
            mine = self.generation
            self.arrived += 1
            if self.arrived == self.size:
                self.arrived = 0
                self.generation += 1
                self.changed.notify_all()
            else:
                self.changed.wait_for(lambda: self.generation != mine)

    def _join(self, line: str, file: Any) -> dict[str, Any]:
        """A launcher has come: it waits for the others, and is told which ranks are its own."""
        said = json.loads(line.split(" ", 1)[1])
        if not hmac.compare_digest(str(said.get("secret", "")), self.secret):
            return {"error": "the job has another secret (PADDLE_JOB_SECRET)"}
        node = said.get("node", -1)
        end = time.monotonic() + said.get("timeout", 300)
        with self.changed:
            if said.get("generation", 0) != self.start or (self.counts is not None and self.least < self.nodes):
                return {"retry": "the program runs, or ends"}
            if node < 0:
                node = min(set(range(self.nodes)) - set(self.joined), default=-1)
            if node in self.joined or not 0 <= node < self.nodes:
                return {"error": f"node {node} has joined already, or is not one of {self.nodes}"}
            self.joined[node] = said
            self.lines[node] = file
            self.last_come = time.monotonic()
            while self.counts is None:
                now = time.monotonic()
                if len(self.joined) == self.nodes or (len(self.joined) >= self.least and now > self.last_come + self.patience):
                    self.counts = [self.joined[each]["count"] for each in sorted(self.joined)]
                    self._map()
                    self.changed.notify_all()
                elif now > end:
                    missing = sorted(set(range(self.nodes)) - set(self.joined))
                    return {"error": f"{len(self.joined)} of {self.nodes} hosts have come; missing: {missing}"}
                else:
                    self.changed.wait(0.1 if self.least < self.nodes else end - now)
        nodes = sorted(self.joined)
        return {"node": nodes.index(node), "number": node, "counts": self.counts, "endpoints": [self.joined[each]["endpoints"] for each in nodes]}


ANSWERS = {
    "init": lambda server: {"cmd": "response_to_init", "pmi_version": 1, "pmi_subversion": 1, "rc": 0},
    "get_maxes": lambda server: {"cmd": "maxes", "kvsname_max": 256, "keylen_max": 64, "vallen_max": 1024},
    "get_appnum": lambda server: {"cmd": "appnum", "appnum": 0},
    "get_my_kvsname": lambda server: {"cmd": "my_kvsname", "kvsname": server.name},
    "get_universe_size": lambda server: {"cmd": "universe_size", "size": server.size},
    "finalize": lambda server: {"cmd": "finalize_ack", "rc": 0},
}


def environment(rank: int, size: int, host: str, port: int) -> dict[str, str]:
    """What a rank has to find in its environment to reach a server."""
    return {"PMI_PORT": f"{host}:{port}", "PMI_ID": str(rank), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}


class Line:
    """The connection of a launcher to the server: it stays open while the program runs."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.connection = socket.create_connection((host, port), timeout=timeout)
        self.file = self.connection.makefile("rwb", buffering=0)

    def join(self, said: dict[str, Any]) -> dict[str, Any]:
        """Tell what this host brings; waits until all have come."""
        self.file.write(f"cmd=wherry_join {json.dumps(said)}\n".encode())
        answer: dict[str, Any] = json.loads(self.file.readline(LONGEST) or b"{}")
        return answer

    def news(self) -> str | None:
        """Why the program has to end; None where it has not."""
        if not select.select([self.connection], [], [], 0)[0]:
            return None
        try:
            raw = self.file.readline(LONGEST)
        except OSError:
            raw = b""
        return str(json.loads(raw)["end"]) if raw else "the launcher of node 0 is gone"

    def say(self, command: str, reason: str | None = None) -> None:
        """Tell the server that this host's ranks are done, or have failed."""
        with contextlib.suppress(OSError):
            self.file.write(f"cmd={command} {'' if reason is None else json.dumps(reason)}\n".encode())

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self.file.close()
            self.connection.close()


def join(host: str, port: int, said: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Tell the server of another host what this one brings, and hang up. For tests.

    Raises:
        OSError: it cannot be reached.
    """
    line = Line(host, port, timeout)
    try:
        return line.join(said)
    finally:
        line.close()
