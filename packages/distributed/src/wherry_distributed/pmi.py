"""A server of PMI-1, the protocol by which processes of an MPI program find each other: what `mpiexec` is to its ranks.

MPICH's clients connect to `PMI_PORT`, say who they are, put their addresses under keys and read those of others behind a barrier. The
protocol is one line of `name=value` pairs for each request. Besides, a launcher of another host says here how many ranks it brings
(`cmd=wherry_join`), and is told which ranks they are.

Source: "PMI: A Scalable Parallel Process-Management Interface" (Balaji et al., 2010), and the wire protocol in MPICH's documentation.
"""
from __future__ import annotations

import hmac
import json
import os
import secrets
import socket
import threading
from typing import Any

LONGEST = 1 << 20  # of a line


class Server:
    """Serves one MPI program of `nodes` hosts; each brings its number of ranks.

    Args:
        counts: ranks of each host where they are known; None waits for `nodes` launchers to join.
        host, port: where it listens.
        secret: what a launcher has to show.
    """

    def __init__(self, counts: list[int] | None, nodes: int = 1, host: str = "127.0.0.1", port: int = 0, secret: str = "") -> None:
        self.nodes, self.secret = nodes, secret
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
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True, name="pmi client").start()

    def _serve(self, connection: socket.socket) -> None:
        rank = None
        with connection, connection.makefile("rwb", buffering=0) as file:
            def say(**words: Any) -> None:
                file.write((" ".join(f"{name}={value}" for name, value in words.items()) + "\n").encode())

            while True:
                try:
                    raw = file.readline(LONGEST)
                except OSError:
                    return
                if not raw:
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
                        file.write((json.dumps(self._join(line)) + "\n").encode())
                    elif command == "abort":
                        self.aborted.append((rank, words.get("error_msg", line)))
                    else:
                        answer = ANSWERS.get(command or "")
                        say(**(answer(self) if answer else {"cmd": f"{command}_result", "rc": -1, "msg": "unknown"}))
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

    def _join(self, line: str) -> dict[str, Any]:
        """A launcher has come: it waits for the others, and is told which ranks are its own."""
        said = json.loads(line.split(" ", 1)[1])
        if not hmac.compare_digest(str(said.get("secret", "")), self.secret):
            return {"error": "the job has another secret (PADDLE_JOB_SECRET)"}
        node = said.get("node", -1)
        with self.changed:
            if node < 0:
                node = min(set(range(self.nodes)) - set(self.joined), default=-1)
            if node in self.joined or not 0 <= node < self.nodes:
                return {"error": f"node {node} has joined already, or is not one of {self.nodes}"}
            self.joined[node] = said
            if len(self.joined) == self.nodes:
                self.counts = [self.joined[each]["count"] for each in range(self.nodes)]
                self._map()
                self.changed.notify_all()
            elif not self.changed.wait_for(lambda: self.counts is not None, timeout=said.get("timeout", 300)):
                missing = sorted(set(range(self.nodes)) - set(self.joined))
                return {"error": f"{len(self.joined)} of {self.nodes} hosts have come; missing: {missing}"}
        return {"node": node, "counts": self.counts, "endpoints": [self.joined[each]["endpoints"] for each in range(self.nodes)]}


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


def join(host: str, port: int, said: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Tell the server of another host what this one brings; waits until all have come.

    Raises:
        OSError: it cannot be reached.
    """
    with socket.create_connection((host, port), timeout=timeout) as connection, connection.makefile("rwb", buffering=0) as file:
        file.write(f"cmd=wherry_join {json.dumps(said)}\n".encode())
        answer: dict[str, Any] = json.loads(file.readline(LONGEST) or b"{}")
        return answer
