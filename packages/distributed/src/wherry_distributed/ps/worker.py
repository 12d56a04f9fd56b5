"""A program divided between a worker and parameter servers.

The worker computes losses and gradients; a call at the end of the program sends these to the servers, which take the step, and a call before each
run fetches the parameters. Rows of `static.nn.sparse_embedding` never are in the program: a call fetches those of a batch.

Modes: `sync`, one step for the mean of all workers' gradients; `async`, a step for each worker's as it comes; `geo`, the worker takes the steps
and exchanges, every `k_steps`, how far parameters have moved.
"""
from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from wherry_autograd import no_grad
from wherry_distributed.ps.client import Client
from wherry_distributed.ps.entries import Entry, ShowClickEntry
from wherry_distributed.ps.messages import Keys
from wherry_distributed.ps.server import Server
from wherry_distributed.ps.tables import DenseTable, SparseTable
from wherry_nn import Parameter
from wherry_nn.clip import ClipGradByGlobalNorm, ClipGradByNorm
from wherry_nn.functional import embedding
from wherry_nn.initializer import Uniform
from wherry_program.program import control
from wherry_program.program.capture import capture
from wherry_program.program.ir import Program, Variable, attrs_with
from wherry_program.program.remote_rows import look_up_with
from wherry_tensor import equal, full_like, searchsorted, to_tensor, where, zeros_like
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, PreconditionNotMetError, UnimplementedError, short
from wherry_tensor.static_builder import at_once, building
from wherry_train.optimizer import SGD, Optimizer

__all__ = ["MODES", "ParameterServers", "current", "set_current"]

Array = np.ndarray[Any, Any]
Sample = list[Array]
MODES = ("sync", "async", "geo")
ASK_AGAIN = 0.05  # seconds between two questions whether parameters have their first values


@dataclass
class _LookUp:
    """One use of a sparse table."""

    ids: Variable
    rows: Variable
    table: dict[str, Any]  # arguments of SparseTable


class ParameterServers:
    """The division of the programs of one process, and its part in the job.

    Args:
        endpoints: of the servers.
        workers: how many workers there are.
        worker: which worker this process is; None on a server.
        server: which server this process is; None on a worker.
        mode: one of `MODES`.
        k_steps: of mode `geo`.

    Raises:
        ValueError: there is no server, or no such mode.
    """

    def __init__(
        self, endpoints: Sequence[str], workers: int, worker: int | None = None, server: int | None = None, mode: str = "async", k_steps: int = 100
    ) -> None:
        if not endpoints or workers < 1 or mode not in MODES:
            raise InvalidArgumentError(
                f"parameter servers: a job has servers, workers and a mode. Got {len(endpoints)} servers, {workers} workers, mode={mode!r}, expected "
                f"one or more of both and one of {', '.join(MODES)}."
            )
        self.endpoints, self.workers, self.worker, self.server = list(endpoints), workers, worker, server
        self.mode, self.k_steps = mode, k_steps
        self.look_ups: dict[Program, list[_LookUp]] = {}
        self.client: Client | None = None
        self.dense: list[dict[str, Any]] = [{} for _ in endpoints]  # variables of the program, by server and name
        self.sparse: dict[str, dict[str, Any]] = {}
        self.settings: dict[str, dict[str, float]] = {}  # of the counts of tables: strategy.fleet_desc_configs
        self.optimizer: Optimizer | None = None
        self.clip: ClipGradByNorm | ClipGradByGlobalNorm | None = None  # by a norm over rows, which workers take
        self.unclipped: set[str] = set()
        self.bases: dict[str, Array] = {}  # of geo: parameters as they were exchanged last
        self.steps = 0

    # Building a program.

    def look_up(
        self, ids: Any, name: str, rows: int, width: int, dtype: str, initializer: Any, entry: Entry | None, padding: int | None
    ) -> Tensor:
        """The rows of `ids` as a variable of the program, `[*ids.shape, width]`."""
        initializer = initializer or Uniform(-math.sqrt(6 / (rows + width)), math.sqrt(6 / (rows + width)))
        table = {"name": name, "width": width, "dtype": dtype, "initializer": initializer, "entry": entry, "padding": padding}
        known = self.sparse.setdefault(name, table)
        if (known["width"], known["dtype"]) != (width, dtype):
            raise InvalidArgumentError(
                f"sparse_embedding: table '{name}' has other rows. Got {dtype}[{width}], expected {known['dtype']}[{known['width']}]. "
                "Choose another name."
            )

        def fetch(values: Tensor) -> Tensor:
            found = values.numpy()
            flat = self._client("run a program with sparse_embedding").pull_rows(name, found.reshape(-1).astype(np.int64), width, dtype)
            return to_tensor(flat.reshape([*found.shape, width]))

        out: Any
        (out,) = control.py_func(fetch, [ids], [((*ids.sizes, width), as_dtype(dtype))])
        out.stop_gradient = False
        self.look_ups.setdefault(out.program, []).append(_LookUp(ids, out.current, table))
        return cast(Tensor, out)

    def minimize(
        self, optimizer: Optimizer, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Add gradients to the program of `loss`, and that servers take the steps of `optimizer`. As `Optimizer.minimize`.

        Gradients are clipped on the servers; by a global norm, or by the norm of a sparse table, on each worker, before they are averaged.

        Raises:
            NotImplementedError: `geo` with another optimizer than SGD, or with sparse tables.
        """
        builder = building.builder
        if builder is None:
            raise PreconditionNotMetError(
                "minimize: parameter servers train programs. Got a call in dynamic mode, expected paddle.enable_static() before."
            )
        program: Program = loss.program
        self.optimizer = optimizer
        if self.mode == "geo":
            if self.look_ups.get(program):
                raise UnimplementedError(
                    "minimize: workers take their own steps in mode geo, and rows of sparse_embedding are on servers. Got k_steps above "
                    "zero, expected none, "
                    "or static.nn.embedding in place of sparse_embedding."
                )
            if not isinstance(optimizer, SGD):
                raise UnimplementedError(
                    f"minimize: mode geo adds up how far workers have moved parameters, which is a step of SGD only. Got {type(optimizer).__name__}, "
                    f"expected SGD."
                )
            found: tuple[list[Any], list[tuple[Any, Any]]] = optimizer.minimize(loss, startup_program, parameters, no_grad_set)
            self._divide([p for p, _ in found[1]])
            with builder.updating(optimizer):
                control.py_func(self._count, [], [])
        else:
            look_ups = self.look_ups.get(program, [])
            chosen = [p for p in program.all_parameters() if not p.stop_gradient] if parameters is None else list(parameters)
            pairs = optimizer.backward(loss, startup_program, [*chosen, *(each.rows for each in look_ups)], no_grad_set)
            rows = {id(each.rows): each for each in look_ups}
            of_rows = [(rows[id(x)], g) for x, g in pairs if id(x) in rows]
            pairs = [(p, g) for p, g in pairs if id(p) not in rows]
            clip = optimizer._grad_clip
            if of_rows:  # of which each server has some: their norm is known here alone
                self.clip = clip if isinstance(clip, ClipGradByNorm | ClipGradByGlobalNorm) else None
                self.unclipped = {p.name for p, _ in pairs if not getattr(p, "need_clip", True)}
            elif isinstance(clip, ClipGradByGlobalNorm):  # over all parameters, of which a server has some; the others clip on servers
                with builder.updating(optimizer):
                    pairs = list(clip(pairs))
            self._divide([p for p, _ in pairs])
            names = [p.name for p, _ in pairs]
            tables = [each.table["name"] for each, _ in of_rows]
            counts = [_counts(program, each) for each, _ in of_rows]
            at = [len(pair) for pair in counts]

            def send(*values: Tensor) -> None:
                self._send(names, tables, at, [x.numpy() for x in values])

            with builder.updating(optimizer):
                inputs = [x for (each, g), pair in zip(of_rows, counts, strict=True) for x in (each.ids, g, *pair)]
                control.py_func(send, [*(g for _, g in pairs), *inputs], [])
            found = [], pairs
        program.before_run.append(self.refresh)
        return found

    def _divide(self, parameters: Sequence[Any]) -> None:
        """Give each parameter to the server that has the fewest values so far: the same division in every process."""
        held = [sum(math.prod(p.sizes) for p in of.values()) for of in self.dense]
        for p in parameters:
            server = held.index(min(held))
            self.dense[server][p.name] = p
            held[server] += math.prod(p.sizes)

    # A server.

    def tables(self) -> list[DenseTable | SparseTable]:
        """Those of this server."""
        assert self.server is not None
        rule = None if self.mode == "geo" else self.optimizer
        dense = [
            DenseTable(name, tuple(p.sizes), p.dtype.name, rule, p.optimize_attr["learning_rate"], p.regularizer)
            for name, p in self.dense[self.server].items()
        ]
        settings = self.settings
        return [*dense, *(SparseTable(**table | {"settings": settings.get(name)}, optimizer=rule) for name, table in self.sparse.items())]

    def serve(self, folder: str | None = None, names: Sequence[str] | None = None) -> Server:
        """A server of these tables, with what is saved in `folder`, if given."""
        if self.optimizer is None:
            raise PreconditionNotMetError(
                "init_server: there is no program to serve. Got a call before minimize, expected one after "
                "fleet.distributed_optimizer(...).minimize(loss)."
            )
        assert self.server is not None
        with at_once():
            server = Server(self.endpoints[self.server], self.server, len(self.endpoints), self.workers, self.tables(), Keys())
            if folder is not None:
                server.load(folder, names)
        return server

    # A worker.

    def join(self) -> None:
        """Meet the servers. The first worker gives them the values that its startup program has made, unless they have some; the others wait."""
        if self.worker is None:
            raise PreconditionNotMetError(
                "init_worker: this process is a server. Got the role PSERVER, expected TRAINER. Ask fleet.is_worker() first."
            )
        client = Client(self.endpoints, self.worker, self.workers, Keys())
        signature = {table["name"]: f"rows of {table['dtype']}[{table['width']}]" for table in self.sparse.values()}
        said = [{name: f"{p.dtype.name}{list(p.sizes)}" for name, p in of.items()} | signature for of in self.dense]
        if not client.hello(said) and self.worker == 0:
            client.set([{name: self._value(p) for name, p in of.items()} for of in self.dense])
        end = time.monotonic() + client.timeout
        while not client.hello(said):
            if time.monotonic() > end:
                raise PreconditionNotMetError(f"init_worker: worker 0 has not given first values for {client.timeout:g} s. See its log.")
            time.sleep(ASK_AGAIN)
        self.client = client
        self.refresh()

    def leave(self) -> None:
        """Send what is left and end."""
        client = self._client("stop_worker")
        if self.mode == "geo":
            self._exchange()
        client.close()
        self.client = None

    def refresh(self) -> None:
        """Fetch parameters, before a program runs. In mode geo when it is time."""
        if self.client is None:
            return  # a startup program, or a worker that has ended
        if self.mode == "geo":
            if self.steps >= self.k_steps or not self.bases:
                self._exchange()
            return
        values = self.client.pull([list(of) for of in self.dense])
        for of in self.dense:
            for name, p in of.items():
                p.set_value(values[name])

    def save(self, folder: str, mode: int = 0, names: Sequence[str] | None = None) -> None:
        """Let the servers save their tables, or those of these names, with the updates of this worker."""
        client = self._client("save_persistables")
        if self.mode == "geo":
            self._exchange()
        client.flush()
        client.save(folder, mode, names)

    def load(self, folder: str, names: Sequence[str] | None = None) -> None:
        """Let the servers take saved tables, or those of these names, on top of what they have."""
        client = self._client("load_model")
        client.flush()
        client.load(folder, names)
        self.bases = {}  # of geo: what was exchanged before is not where workers go on

    def names_of_table(self, table_id: int, op_name: str) -> list[str]:
        """The names of a table by its number: sparse tables in the order of the program, after them all parameters as one."""
        tables = [[name] for name in self.sparse] + [[name for of in self.dense for name in of]]
        if isinstance(table_id, bool) or not isinstance(table_id, int) or not 0 <= table_id < len(tables):
            raise InvalidArgumentError(
                f"{op_name}: there is no such table. Got {short(table_id)}, expected 0 to {len(tables) - 1}: sparse tables, and "
                f"{len(tables) - 1} for all parameters."
            )
        return tables[table_id]

    def flush(self) -> None:
        """Wait until the servers have applied the updates of this worker."""
        self._client("a collective of fleet").flush()

    def shrink(self, threshold: float | None) -> None:
        """Let the servers end a day."""
        self._client("shrink").shrink(threshold)

    def with_tables(self, program: Program, mode: int = 0) -> Program:
        """A copy of a program in which rows come from parameters, filled with what the servers have: one process can run it."""
        client = self._client("save_inference_model")
        found, new = program.copy()
        weights: dict[str, tuple[Any, Any]] = {}
        for each in self.look_ups.get(program, []):
            name = each.table["name"]
            if name not in weights:
                ids, rows = client.all_rows(name, mode)
                order = np.argsort(ids)
                rows = np.concatenate([rows[order], np.zeros((1, rows.shape[1]), rows.dtype)])  # the last one is of ids without a row
                weights[name] = _lasting(f"{name}.ids", ids[order]), _lasting(name, rows)
            _put(found, new[id(each.rows)], new[id(each.ids)], *weights[name])
        return found

    def gather(self, value: Any) -> list[Any]:
        """What all workers have, in a list: over the servers, because workers know nothing else of each other."""
        return self._client("a collective of fleet").gather("fleet", value)

    def exchange(self, parts: Sequence[list[Sample]]) -> list[Sample]:
        """Give each worker its part of these samples, which are lists of arrays; returns what the others have for this one."""
        client = self._client("global_shuffle")
        for to, samples in enumerate(parts):
            client.give(to, [x for sample in samples for x in (np.array(len(sample)), *sample)])
        client.barrier("exchange")
        found, arrays = [], iter(client.take())
        for count in arrays:
            found.append([next(arrays) for _ in range(int(count))])
        return found

    def _count(self) -> None:
        self.steps += 1

    def _exchange(self) -> None:
        """Send how far parameters have moved, as this worker's share, and take those of all."""
        client = self._client("train")
        if self.bases:

            def share(name: str, p: Any) -> Array:
                return np.asarray((self._value(p) - self.bases[name]) / np.asarray(self.workers, p.dtype.name))

            moved = [{name: share(name, p) for name, p in of.items()} for of in self.dense]
            client.push(moved, {}, 0.0, together=False, wait=True)
        values = client.pull([list(of) for of in self.dense])
        for of in self.dense:
            for name, p in of.items():
                self.bases[name] = values[name].copy()
                p.set_value(values[name])
        self.steps = 0

    def _send(self, names: list[str], tables: list[str], counts: list[int], values: list[Array]) -> None:
        """Send gradients to the servers: `values` are those of `names`; then, of each table, ids, gradients and `counts` arrays of counts."""
        by_name = dict(zip(names, values))
        rest = iter(values[len(names) :])
        sparse: dict[str, tuple[Array, Array]] = {}
        for table, count in zip(tables, counts, strict=True):
            ids, gradient = next(rest), next(rest)
            of_samples = [np.repeat(next(rest).reshape(-1), ids.size // max(1, len(ids))) for _ in range(count)]
            ids, gradient = ids.reshape(-1).astype(np.int64), gradient.reshape(-1, gradient.shape[-1])
            gradient = np.column_stack([*(each.astype(gradient.dtype) for each in of_samples), gradient])
            if table in sparse:  # used twice in the program
                ids, gradient = np.concatenate([sparse[table][0], ids]), np.concatenate([sparse[table][1], gradient])
            sparse[table] = ids, gradient
        if self.clip is not None:
            self._clip(by_name, sparse, self.clip.clip_norm)
        dense = [{name: by_name[name] for name in of if name in by_name} for of in self.dense]
        assert self.optimizer is not None
        together = self.mode == "sync"
        self._client("train").push(dense, sparse, float(self.optimizer.get_lr()), together, wait=together)

    def _clip(self, dense: dict[str, Array], sparse: dict[str, tuple[Array, Array]], limit: float) -> None:
        """Scale gradients so that the norm of all of them, or of each table's, is at most `limit`; an id that occurs twice has the sum."""
        squares = {table: self._squares(table, ids, rows) for table, (ids, rows) in sparse.items()}
        chosen = [name for name in dense if name not in self.unclipped] if isinstance(self.clip, ClipGradByGlobalNorm) else []
        if isinstance(self.clip, ClipGradByGlobalNorm):
            total = sum(squares.values()) + sum(float(np.square(dense[name], dtype=np.float64).sum()) for name in chosen)
            squares = dict.fromkeys(squares, total)
            for name in chosen:
                dense[name] = dense[name] * dense[name].dtype.type(limit / max(total**0.5, limit))
        for table, (ids, rows) in sparse.items():
            scaled = rows.copy()  # counts stand before gradients
            scaled[:, -self.sparse[table]["width"] :] *= limit / max(squares[table] ** 0.5, limit)
            sparse[table] = ids, scaled

    def _squares(self, table: str, ids: Array, rows: Array) -> float:
        kept = ids != self.sparse[table]["padding"] if self.sparse[table]["padding"] is not None else np.ones(len(ids), bool)
        found, places = np.unique(ids[kept], return_inverse=True)
        total = np.zeros((len(found), self.sparse[table]["width"]))
        np.add.at(total, places, rows[kept][:, -total.shape[1] :])
        return float(np.square(total).sum())

    def _value(self, parameter: Any) -> Array:
        return np.asarray(parameter.get_value().numpy())

    def _client(self, what: str) -> Client:
        if self.client is None:
            raise PreconditionNotMetError(
                f"{what}: this worker has not met the servers. Got no fleet.init_worker(), expected it after the startup program."
            )
        return self.client


def _counts(program: Program, look_up: _LookUp) -> list[Variable]:
    """The variables that count shows and clicks for a table; none where it counts nothing."""
    entry = look_up.table["entry"]
    if not isinstance(entry, ShowClickEntry):
        return []
    found = []
    for name in (entry._show_name, entry._click_name):
        x = program.blocks[0].find(name)
        if x is None:
            raise InvalidArgumentError(
                f"minimize: ShowClickEntry of '{look_up.table['name']}' names a variable that is not there. Got '{name}', expected one of the "
                f"program, [N, 1]. Make it with static.data('{name}', [None, 1])."
            )
        found.append(x)
    return found


def _lasting(name: str, value: Array) -> Any:
    return Parameter(to_tensor(value), trainable=False, name=name)


def _put(program: Program, rows: Variable, ids: Variable, known: Any, weight: Any) -> None:
    """Let rows come from a parameter in place of a call to servers: that of an id lies where the id lies among the sorted `known` ones."""
    block, count = program.blocks[0], known.shape[0]
    place = next(i for i, node in enumerate(block.nodes) if any(x is rows for x in node.outputs))
    mark = len(block.nodes)
    with capture(program) as recording, no_grad():
        asked = ids.astype("int64")
        if count:
            at = searchsorted(program.bind(known), asked).clip(0, count - 1)
            there = equal(program.bind(known).gather(at.reshape([-1])).reshape(at.shape), asked)
            at = where(there, at, full_like(at, count))
        else:
            at = zeros_like(asked)
        fresh = recording.variable_of(embedding(at, program.bind(weight)))
    made = block.nodes[mark:]
    del block.nodes[mark:]
    block.nodes[place : place + 1] = made
    for node in block.nodes:
        node.inputs = tuple(fresh if x is rows else x for x in node.inputs)
        node.attrs = attrs_with(node.attrs, lambda x: fresh if x is rows else x)


_current: ParameterServers | None = None


def set_current(servers: ParameterServers | None) -> None:
    """Choose the job of this process: programs are built for it from now on."""
    global _current
    _current = servers
    look_up_with(None if servers is None else servers.look_up)


def current() -> ParameterServers | None:
    """The job with parameter servers that this process belongs to, if any."""
    return _current
