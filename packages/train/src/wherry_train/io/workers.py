"""The worker processes of a DataLoader, as the main process starts, asks and ends them."""
from __future__ import annotations

import multiprocessing
import os
import pickle
import selectors
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from itertools import repeat
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from wherry_tensor import _core
from wherry_tensor.errors import PreconditionNotMetError
from wherry_train.io.collate import STOPPED_EARLY
from wherry_train.io.worker import SegmentReader, run_worker, shared_segments_work
from wherry_train.io.worker_info import get_worker_info

if TYPE_CHECKING:
    from wherry_train.io.dataloader import DataLoader

__all__ = ["WorkerIterator", "Workers"]

_starting = threading.Lock()  # two threads that fork at once would copy each other's half-open sockets


def _unlock() -> None:
    """After a fork: a lock that another thread held in the parent would never be released here."""
    global _starting
    _starting = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)
_open_ends: weakref.WeakSet[Connection] = weakref.WeakSet()


class Workers:
    """The worker processes of a DataLoader."""

    def __init__(self, loader: DataLoader, seed: int) -> None:
        if multiprocessing.current_process().daemon:  # as the workers of a DataLoader are: Python gives them no children
            info = get_worker_info()
            where = "a daemon process" if info is None else f"worker {info.id} of another DataLoader"
            raise PreconditionNotMetError(
                f"DataLoader: a worker cannot have workers of its own. Got num_workers={loader.num_workers} inside of {where}, "
                f"expected 0. Use num_workers=0 in the data set, or read ahead with more workers outside."
            )
        against = _core.devices_against_forks()
        forks = sys.platform.startswith("linux") and not against
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self.closed = False
        self.epoch = 0
        self.processes: list[Any] = []
        self.connections: list[Connection] = []
        self.readers: list[SegmentReader] = []
        self.selector = selectors.DefaultSelector()
        self._shut_down = weakref.finalize(self, _shut_down, os.getpid(), self.processes, self.connections, self.selector)
        try:
            for worker in range(loader.num_workers):
                with _starting:
                    mine, theirs = context.Pipe()
                    _open_ends.add(mine)
                    self.connections.append(mine)
                    process = context.Process(
                        target=run_worker,
                        name=f"DataLoader worker {worker}",
                        daemon=True,
                        args=(
                            theirs,
                            list(_open_ends) if forks else [],
                            loader.dataset,
                            loader._streams,
                            loader._collated,
                            loader.batch_size,
                            loader.drop_last,
                            loader.collate_fn,
                            worker,
                            loader.num_workers,
                            seed,
                            loader.worker_init_fn,
                            loader.use_shared_memory and shared_segments_work(),
                        ),
                    )
                    with warnings.catch_warnings():
                        # A fork of a process with threads is what Python 3.12 warns of. The kernels' threads
                        # are prepared for it, and the worker takes no lock that a thread here could hold.
                        warnings.filterwarnings("ignore", ".*multi-threaded.*", DeprecationWarning)
                        try:
                            process.start()
                        except (pickle.PicklingError, AttributeError, TypeError) as error:
                            if forks:
                                raise
                            raise PreconditionNotMetError(_cannot_be_sent(against, error)) from error
                    theirs.close()
                self.processes.append(process)
                self.readers.append(SegmentReader())
                self.selector.register(mine, selectors.EVENT_READ, worker)
                self.selector.register(process.sentinel, selectors.EVENT_READ, worker)
        except BaseException:
            self.shut_down()
            raise

    def shut_down(self) -> None:
        """End all workers and wait until they are gone."""
        self.closed = True
        self._shut_down()

    def send(self, worker: int, epoch: int, task: int, indices: Any) -> None:
        free, back = self.readers[worker].free, []
        while free:
            back.append(free.popleft())
        try:
            self.connections[worker].send((epoch, task, indices, back))
        except OSError:
            raise self.death(worker, task) from None

    def death(self, worker: int, task: int) -> RuntimeError:
        """The error that says how a worker ended."""
        process = self.processes[worker]
        process.join(5)
        started_anew = _core.devices_against_forks()
        code = process.exitcode
        if code is None:
            how = "closed its connection"
        elif code < 0:
            names = {s.value: s.name for s in signal.Signals}
            how = f"was killed by {names.get(-code, f'signal {-code}')}"
            if -code == signal.SIGKILL:
                how += ", as the system does when memory runs out"
        else:
            how = f"exited with code {code}"
        return RuntimeError(
            f"DataLoader: DataLoader 1 workers exit unexpectedly, pids: {process.pid}. Worker {worker} (pid {process.pid}) {how} "
            f"while batch {task} was awaited, expected it to live until the epoch ends. Use num_workers=0 to see what the data "
            f"set does, or fewer workers and smaller batches if memory ran out."
            + (f" Workers beside '{started_anew[0]}' are started anew: a program needs `if __name__ == \"__main__\":` around what trains."
               if started_anew and code == 1 else "")
        )


def _cannot_be_sent(devices: list[str], error: Exception) -> str:
    why = (
        f"a fork would take the driver of '{devices[0]}' along, which does not bear it, so they are started anew" if devices
        else "this system starts them anew"
    )
    return (
        f"DataLoader: the data set cannot be sent to its workers: {why}. Got {error}, expected a data set, collate_fn and "
        f"worker_init_fn that can be pickled. Define them at the top of a module, or use num_workers=0."
    )


def _shut_down(
    owner: int, processes: list[Any], connections: list[Connection], selector: selectors.BaseSelector
) -> None:
    if os.getpid() != owner:  # the copy that a fork made; the workers are not its children
        return
    selector.close()
    for connection in connections:
        connection.close()  # which tells the worker
    patience = time.monotonic() + 3.0
    for process in processes:
        process.join(max(0.0, patience - time.monotonic()))
        if process.exitcode is None:
            process.kill()
            process.join()
        process.close()
    processes.clear()
    connections.clear()


class WorkerIterator:
    """One epoch, made by workers."""

    def __init__(self, loader: DataLoader, workers: Workers, place: Callable[[Any], Any]) -> None:
        self._workers = workers
        self._timeout = loader.timeout or None
        self._place = place
        self._persistent = loader._persistent_workers
        workers.epoch += 1
        self._epoch = workers.epoch
        self._indices = repeat(None) if loader._streams else loader._indices()
        self._open = list(range(loader.num_workers))  # workers whose stream has not ended
        self._turn = 0
        self._sent = 0  # tasks given out
        self._due = 0  # the task whose batch comes next
        self._ready: dict[int, tuple[int, Any]] = {}
        self._ended = False
        try:
            for worker in self._open:
                workers.send(worker, self._epoch, -1, None)
            for _ in range(loader.prefetch_factor * loader.num_workers):
                self._give_out()
        except BaseException:
            self._end(True)
            raise

    def __iter__(self) -> WorkerIterator:
        return self

    def __next__(self) -> Any:
        if self._ended:
            raise StopIteration
        if self._workers.closed or self._epoch != self._workers.epoch:
            raise RuntimeError(
                "DataLoader: the workers of this iterator have begun another epoch. Got next() on an iterator that was left, "
                "expected it on the latest one. With persistent_workers=True use one iterator at a time."
            )
        try:
            while self._due < self._sent:
                while self._due not in self._ready:
                    self._receive()
                worker, result = self._ready.pop(self._due)
                self._due += 1
                if result.kind == "end":
                    if worker in self._open:
                        self._turn -= self._open.index(worker) < self._turn
                        self._open.remove(worker)
                    self._give_out()
                    continue
                if result.kind == "error":
                    raise _raised_there(result.data, worker, self._workers.processes[worker].pid)
                batch = self._workers.readers[worker].tensors(result.data)
                del result
                self._give_out()
                return self._place(batch)
        except BaseException:  # also Ctrl-C
            self._end(True)
            raise
        self._end(False)
        raise StopIteration

    def _give_out(self) -> None:
        """Send the next task to the worker whose turn it is."""
        if not self._open:
            return
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        self._turn %= len(self._open)
        worker = self._open[self._turn]
        self._turn += 1
        self._workers.send(worker, self._epoch, self._sent, indices)
        self._sent += 1

    def _receive(self) -> None:
        """Take what workers have sent; wait if there is nothing."""
        workers = self._workers
        events = workers.selector.select(self._timeout)
        if not events:
            alive = [process.pid for process in workers.processes if process.exitcode is None]
            raise RuntimeError(
                f"DataLoader: no batch came for {self._timeout} seconds, as long as timeout allows. Got none from the workers "
                f"{alive}, expected batch {self._due}. Raise timeout, or look at what the data set waits for."
            )
        for worker in {key.data for key, _ in events}:
            connection = workers.connections[worker]
            try:
                # A worker that has died may have sent something before; after that comes the end of file.
                result = workers.readers[worker].receive(connection)
            except (EOFError, OSError):
                raise workers.death(worker, self._due) from None
            if result.epoch == self._epoch:
                self._ready[result.task] = (worker, result)
            else:
                workers.readers[worker].tensors(result.data)  # of an epoch that was left; its memory goes back

    def _end(self, failed: bool) -> None:
        self._ended = True
        self._ready.clear()
        if failed or not self._persistent:
            self._workers.shut_down()

    def __del__(self) -> None:
        if not getattr(self, "_persistent", True) and not self._ended:
            self._end(True)


def _raised_there(data: tuple[bytes | None, str], worker: int, pid: int | None) -> BaseException:
    """The exception of a worker, with its traceback as a note."""
    body, text = data
    where = f"Raised in DataLoader worker {worker} (pid {pid}):\n{text}"
    if body is None:
        return RuntimeError(f"DataLoader: the exception of a worker can not be sent. {where}")
    error: BaseException = pickle.loads(body)
    if isinstance(error, (StopIteration, StopAsyncIteration)):  # which would end the epoch as if it were over
        stopped = RuntimeError(STOPPED_EARLY)
        stopped.__cause__ = error
        error = stopped
    error.add_note(where)
    return error
