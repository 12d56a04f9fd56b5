"""A parameter server: answers the requests of workers, one after the other, until all of them have ended."""
from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wherry_distributed.ps.messages import Keys, import_zmq, packed, unpacked
from wherry_distributed.ps.statistics import ALL, CHANGED, END_OF_DAY, WORTHY, checked_mode
from wherry_distributed.ps.tables import COUNTS, DenseTable, SparseTable
from wherry_tensor.errors import EnforceNotMet, InvalidArgumentError, PreconditionNotMetError, UnavailableError
from wherry_tensor.static_builder import at_once
from wherry_train import load, save

__all__ = ["Server", "owner_of_rows"]

Array = np.ndarray[Any, Any]
SUFFIX = ".pstable"
LATER = None       # an answer that comes with another request
REMEMBERED = 1024  # updates of one worker: more than are on their way at once


def owner_of_rows(ids: Array, servers: int) -> Array:
    """The number of the server that has the row of each id."""
    return (ids % servers).astype(np.int64)


class Server:
    """One server of a job.

    Args:
        endpoint: `IP:PORT` at which it listens, and nowhere else.
        index, servers: which server of how many.
        workers: how many workers there are.
        tables: its dense tables, and its parts of the sparse ones, which are rows whose id modulo `servers` is `index`.
        keys: of the job.
    """

    def __init__(
        self, endpoint: str, index: int, servers: int, workers: int, tables: Iterable[DenseTable | SparseTable], keys: Keys
    ) -> None:
        self.endpoint, self.index, self.servers, self.workers, self.keys = endpoint, index, servers, workers, keys
        self.dense = {t.name: t for t in tables if isinstance(t, DenseTable)}
        self.sparse = {t.name: t for t in tables if isinstance(t, SparseTable)}
        self.done: dict[tuple[int, str], dict[int, None]] = {}   # the last updates of each worker that were applied
        self.ended: set[int] = set()
        self.round: dict[int, tuple[Any, dict[str, Any], list[Array]]] = {}   # of synchronous updates, by worker
        self.waiting: dict[str, dict[int, tuple[Any, dict[str, Any]]]] = {}   # for the others, by name and worker
        self.left: dict[int, list[Array]] = {}   # what a worker is given by others
        self.just_saved: list[tuple[str, Array, Array, int]] = []   # tables, ids, counts and mode of the last save, until all servers have saved
        self.answers: list[tuple[Any, dict[str, Any], list[Array]]] = []

    # Files.

    def save(self, folder: str, mode: int = ALL, names: Iterable[str] | None = None) -> None:
        """Write each table into a file of its own, whole or not at all. Of tables with shows and clicks `mode` says which rows.

        Raises:
            ValueError: some rows would replace a file that has all.
        """
        chosen = None if names is None else set(names)
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.just_saved = []
        for name, dense in self.dense.items():
            if chosen is None or name in chosen:
                save(dense.state(), str(Path(folder, _file_name(name) + SUFFIX)))
        for name, sparse in self.sparse.items():
            if chosen is None or name in chosen:
                path = Path(folder, f"{_file_name(name)}.{self.index}-of-{self.servers}{SUFFIX}")
                state = sparse.state(mode)
                if sparse.statistics is not None:
                    if mode in (CHANGED, WORTHY) and path.exists() and load(str(path), return_numpy=True).get("mode", ALL) in (ALL, END_OF_DAY):
                        raise InvalidArgumentError(
                            f"save_persistables: mode={mode} saves some rows. Got {folder}, where {path.name} has all of them, expected another "
                            "folder. Choose one."
                        )
                    self.just_saved.append((name, state["ids"], state["statistics"], mode))
                save({**state, "mode": mode}, str(path))

    def load(self, folder: str, names: Iterable[str] | None = None) -> None:
        """Take what any number of servers has saved.

        Raises:
            ValueError: a table of this server has no file, or not all parts of it are there.
        """
        chosen = None if names is None else set(names)
        for name, dense in self.dense.items():
            if chosen is None or name in chosen:
                path = Path(folder, _file_name(name) + SUFFIX)
                if not path.exists():
                    raise InvalidArgumentError(
                        f"init_server: '{name}' is not among the saved tables. Got {folder} without {path.name}, expected a folder of "
                        "save_persistables."
                    )
                dense.set_state(load(str(path), return_numpy=True))
        for name, sparse in self.sparse.items():
            if chosen is None or name in chosen:
                for path in _parts(folder, name):
                    state = load(str(path), return_numpy=True)
                    sparse.take(state, owner_of_rows(state["ids"], self.servers) == self.index)

    # The loop.

    def run(self) -> None:
        """Listen until every worker has said that it ends.

        Raises:
            RuntimeError: the address is taken or not of this machine.
        """
        zmq = import_zmq()
        context = zmq.Context()
        socket = context.socket(zmq.ROUTER)
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = self.keys.pair("server")
        socket.linger = 2000
        try:
            with at_once(), _only(context, self.keys.pair("worker")[0]):
                try:
                    socket.bind(f"tcp://{self.endpoint}")
                except zmq.ZMQError as error:
                    raise UnavailableError(
                        f"parameter server {self.index}: it cannot listen at {self.endpoint} ({error}). Take a free port of this machine."
                    ) from None
                while len(self.ended) < self.workers:
                    sender, *frames = socket.recv_multipart(copy=False)
                    for to, header, arrays in self.handle(bytes(sender), [frame.buffer for frame in frames]):
                        socket.send_multipart([to, *packed(header, arrays)], copy=True)
        finally:
            socket.close()
            context.term()

    def handle(self, sender: bytes, frames: list[Any]) -> list[tuple[Any, dict[str, Any], list[Array]]]:
        """The answers that a message makes possible, and to whom they go."""
        self.answers = []
        header: dict[str, Any] = {}
        try:
            header, arrays = unpacked(frames)
            answer = getattr(self, f"_{_verb(header)}")(sender, header, arrays)
            if answer is not LATER:
                self._answer(sender, header, *answer)
        except (EnforceNotMet, ValueError, TypeError, KeyError, OSError, ArithmeticError) as error:
            self.answers.append((sender, {"number": header.get("number"), "error": str(error) or type(error).__name__}, []))
        return self.answers

    def _answer(self, to: Any, header: dict[str, Any], found: dict[str, Any] | None = None, arrays: Iterable[Array] = ()) -> None:
        self.answers.append((to, {"number": header["number"], **(found or {})}, list(arrays)))

    # Requests. Each gives what is answered, or LATER.

    def _hello(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        for name, said in header["tables"].items():
            mine = self.signature().get(name)
            if mine is not None and mine != said:
                raise InvalidArgumentError(
                    f"parameter server: worker {header['worker']} has another program. Got '{name}' {said}, expected {mine}. Start the "
                    "same script on "
                    f"servers and workers."
                )
        if header["workers"] != self.workers:
            raise InvalidArgumentError(
                f"parameter server: worker {header['worker']} counts other workers. Got {header['workers']}, expected {self.workers}. "
                "Start all by one launcher."
            )
        self.ended.discard(header["worker"])
        return ({"filled": all(t.filled for t in self.dense.values())},)

    def signature(self) -> dict[str, str]:
        """Each table in a word, for comparison with those of a worker."""
        dense = {name: f"{t.weight.dtype.name}{t.weight.shape}" for name, t in self.dense.items()}
        return dense | {name: f"rows of {t.dtype}[{t.width}]" for name, t in self.sparse.items()}

    def _ping(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        missing, held = [], []
        for came in [{worker: part[:2] for worker, part in self.round.items()}, *self.waiting.values()]:
            if header["worker"] in came:
                missing = sorted(set(range(self.workers)) - set(came))
                held.append(came[header["worker"]][1]["number"])
        return ({"missing": missing, "held": held, "last": header["last"]},)

    def _set(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        for name, value in zip(header["names"], arrays, strict=True):
            table = self._dense_table(name)
            if not table.filled:
                table.set(value)
        return ({},)

    def _pull(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        tables = [self._filled(name) for name in header["names"]]
        return {}, [table.pull() for table in tables]

    def _pull_rows(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        return {}, [self._sparse_table(header["table"]).pull(arrays[0])]

    def _push(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        if self._is_again(header):
            return ({},)
        if len(arrays) != len(header["dense"]) + 2 * len(header["sparse"]):
            raise InvalidArgumentError("parameter server: an update has other arrays than tables.")
        for name in header["dense"]:
            self._filled(name)
        for name in header["sparse"]:
            self._sparse_table(name)
        if not header["together"]:
            self._apply(header, arrays)
            self._note(header)
            return ({},)
        # The frames belong to the socket's message: the arrays of a round outlive it.
        self.round[header["worker"]] = (sender, header, [x.copy() for x in arrays])
        if len(self.round) < self.workers:
            return LATER
        parts = [self.round[worker] for worker in sorted(self.round)]
        self.round = {}
        self._apply(parts[0][1], _mean(parts, [name for name, table in self.sparse.items() if table.statistics is not None]))
        for to, of, _ in parts:
            self._note(of)
            self._answer(to, of)
        return LATER

    def _is_again(self, header: dict[str, Any]) -> bool:
        """Was this update applied, and is sent again because its answer was lost?"""
        return header["number"] in self.done.get((header["worker"], header["incarnation"]), {})

    def _note(self, header: dict[str, Any]) -> None:
        """Remember that an update was applied."""
        known = self.done.setdefault((header["worker"], header["incarnation"]), {})
        known[header["number"]] = None
        if len(known) > REMEMBERED:
            del known[next(iter(known))]

    def _apply(self, header: dict[str, Any], arrays: list[Array]) -> None:
        names, rate = header["dense"], float(header["rate"])
        for name, gradient in zip(names, arrays):
            self.dense[name].push(gradient, rate)
        for i, name in enumerate(header["sparse"]):
            ids, gradient = arrays[len(names) + 2 * i : len(names) + 2 * i + 2]
            self.sparse[name].push(ids, gradient, rate)

    def _gather(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        came = self.waiting.setdefault(header["name"], {})
        came[header["worker"]] = (sender, header)
        if len(came) == self.workers:
            parts = self.waiting.pop(header["name"])
            values = [parts[worker][1]["value"] for worker in sorted(parts)]
            for to, of in parts.values():
                self._answer(to, of, {"values": values})
        return LATER

    def _give(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        if not self._is_again(header):
            self.left.setdefault(header["to"], []).extend(x.copy() for x in arrays)
            self._note(header)
        return ({},)

    def _take(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        return {}, self.left.pop(header["worker"], [])

    def _save(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        self.save(header["folder"], checked_mode(header["mode"], "save_persistables"), header["names"])
        return ({},)

    def _saved(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        for name, ids, values, mode in self.just_saved:
            self.sparse[name].saved(ids, values, mode)
        self.just_saved = []
        return ({},)

    def _load(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        self.load(header["folder"], header["names"])
        return ({},)

    def _count(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        return ({"rows": {name: len(table) for name, table in self.sparse.items()}},)

    def _shrink(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        if not self._is_again(header):
            for table in self.sparse.values():
                table.shrink(header["threshold"])
            self._note(header)
        return ({},)

    def _rows(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        state = self._sparse_table(header["table"]).state(checked_mode(header["mode"], "save_inference_model"))
        return {}, [state["ids"], state["weight"]]

    def _stop(self, sender: Any, header: dict[str, Any], arrays: list[Array]) -> Any:
        self.ended.add(header["worker"])
        return ({},)

    # Tables.

    def _dense_table(self, name: str) -> DenseTable:
        if name not in self.dense:
            raise InvalidArgumentError(
                f"parameter server {self.index}: there is no parameter '{name}'. Start the same script on servers and workers."
            )
        return self.dense[name]

    def _filled(self, name: str) -> DenseTable:
        table = self._dense_table(name)
        if not table.filled:
            raise PreconditionNotMetError(
                f"parameter server {self.index}: '{name}' has no value. Got a request before worker 0 gave the first values, or from "
                "workers that go on "
                f"after the server was started again. Call fleet.init_server(folder) with what save_persistables wrote."
            )
        return table

    def _sparse_table(self, name: str) -> SparseTable:
        if name not in self.sparse:
            raise InvalidArgumentError(f"parameter server {self.index}: there is no table '{name}'. Start the same script on servers and workers.")
        return self.sparse[name]


VERBS = ("hello", "ping", "set", "pull", "pull_rows", "push", "gather", "give", "take", "save", "saved", "load", "count", "shrink", "rows", "stop")


def _verb(header: dict[str, Any]) -> str:
    verb = header.get("verb")
    if verb not in VERBS or type(header.get("number")) is not int:
        raise InvalidArgumentError(f"parameter server: there is no such request. Got {verb!r}, expected one of {', '.join(VERBS)}.")
    return str(verb)


def _mean(parts: list[tuple[Any, dict[str, Any], list[Array]]], counted: Sequence[str]) -> list[Array]:
    """One update for those of all workers: the mean over workers, as if one process had seen all samples. Shows and clicks of tables that are
    `counted` add up."""
    header, count = parts[0][1], len(parts)
    for _, other, _ in parts[1:]:
        if other["dense"] != header["dense"] or other["sparse"] != header["sparse"]:
            raise InvalidArgumentError(
                f"parameter server: workers {header['worker']} and {other['worker']} update other tables. Start the same script on all of them."
            )
    found = [np.mean([arrays[i] for _, _, arrays in parts], axis=0, dtype=parts[0][2][i].dtype) for i in range(len(header["dense"]))]
    for i, name in enumerate(header["sparse"]):
        at = len(header["dense"]) + 2 * i
        found.append(np.concatenate([arrays[at] for _, _, arrays in parts]))
        found.append(np.concatenate([arrays[at + 1] for _, _, arrays in parts]))
        found[-1][:, COUNTS if name in counted else 0 :] /= np.asarray(count, found[-1].dtype)
    return found


def _file_name(table: str) -> str:
    """A file name for a table, whose own name may hold anything."""
    plain = re.sub(r"[^\w.@-]", "_", table)
    return plain if plain == table else f"{plain}-{zlib.crc32(table.encode()):08x}"


def _parts(folder: str, table: str) -> list[Path]:
    """The files of a sparse table, all of one save."""
    found: dict[int, dict[int, Path]] = {}
    pattern = re.compile(re.escape(_file_name(table)) + r"\.(\d+)-of-(\d+)" + re.escape(SUFFIX))
    for path in Path(folder).iterdir() if os.path.isdir(folder) else ():
        if match := pattern.fullmatch(path.name):
            found.setdefault(int(match[2]), {})[int(match[1])] = path
    whole = {count: parts for count, parts in found.items() if sorted(parts) == list(range(count))}
    if len(whole) != 1:
        raise InvalidArgumentError(
            f"init_server: the parts of table '{table}' are not those of one save. Got "
            f"{sorted(p.name for parts in found.values() for p in parts.values())} "
            f"in {folder}, expected {table}.0-of-N{SUFFIX} to N-1. Save into a new folder."
        )
    return list(next(iter(whole.values())).values())


def _only(context: Any, key: bytes) -> Any:
    """A context in which connections are made with this public key alone."""
    from zmq.auth.thread import ThreadAuthenticator

    class Workers:
        def callback(self, domain: str, given: bytes) -> bool:
            return given == key

    class Authenticator(ThreadAuthenticator):  # type: ignore[misc]
        def __enter__(self) -> Authenticator:
            self.start()
            self.configure_curve_callback("*", credentials_provider=Workers())
            return self

        def __exit__(self, *error: object) -> None:
            self.stop()

    return Authenticator(context)
