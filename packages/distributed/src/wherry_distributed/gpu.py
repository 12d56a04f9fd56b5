"""Collectives of tensors that lie in GPUs, by NCCL.

Each group that meets such a tensor makes a communicator, once; where NCCL is missing in one of the ranks, or two ranks share a GPU, all
of them go through the host and one warning says why. Work goes to a stream of its own, which waits for what the caller has put on the
current stream; `task.wait()` lets the current stream wait for it, and the program goes on. A thread looks after what is under way: ranks
that differ, are late or dead, and errors that NCCL tells of later, end it, and are raised where the program is.

Messages that were begun before somebody waits are given to NCCL together, so that no order of `isend` and `irecv` can make two ranks
wait for each other.
"""
from __future__ import annotations

import ctypes
import os
import socket
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wherry_autograd import no_grad
from wherry_distributed import nccl
from wherry_distributed.board import CollectiveError, site
from wherry_distributed.memory import own_copy, room, said, write
from wherry_distributed.objects import gather_objects, object_of_root
from wherry_distributed.world import Group, Task, Watch, announce, raise_everywhere, refuse_broken, world
from wherry_tensor import Tensor
from wherry_tensor.device import Event, Stream, current_stream, get_device, set_device
from wherry_tensor.errors import EnforceNotMet, InvalidArgumentError

THROUGH = {"bool": "uint8", "int16": "int32"}          # reduced as these
PARTS = {"complex64": "float32", "complex128": "float64"}  # added up as pairs of these
OF_BOOLS = {"SUM": "MAX", "MAX": "MAX", "MIN": "MIN", "PROD": "MIN"}
SENT_AFTER = 0.1  # seconds: a message that nobody waits for goes then


def device_name(x: Tensor) -> str | None:
    """The GPU of a tensor, as "gpu:0"; None for one of the host."""
    return f"gpu:{x.place.gpu_device_id()}" if x.place.is_gpu_place() else None


def choose_device(local_rank: int) -> None:
    """Let a rank of a program that runs on GPUs use its own: the one the launcher gave it, or that of its number on the host."""
    from wherry_tensor import cuda

    named = os.environ.get("FLAGS_selected_gpus", "").split(",")[0]  # noqa: SIM112  Paddle's name
    number = int(named) if named.isdigit() else local_rank
    if number < cuda.device_count() and (named or get_device().startswith("gpu")):
        set_device(f"gpu:{number}")


def engine_of(op_name: str, group: Group, x: Tensor) -> Engine | None:
    """What carries `x` between the members of a group; None where the host does: there it lies, or there is no NCCL.

    Raises:
        ValueError: another GPU is the group's in this rank.
    """
    device = device_name(x)
    if device is None or group.comm is None:
        return None
    if group.engine is None:
        with group.lock:
            group.engine = group.engine if group.engine is not None else _join(op_name, group, device) or False
    if group.engine and group.engine.device != device:
        raise InvalidArgumentError(
            f"{op_name}: the tensor lies in another GPU. Got {device}, expected {group.engine.device}, where this group's first tensor was. Move it "
            f"there: x.cuda({group.engine.device.partition(':')[2]})."
        )
    return group.engine or None


def pair_engine(op_name: str, group: Group, x: Tensor) -> Engine | None:
    """What carries a message: NCCL where the group has met already, as messages concern two alone."""
    return engine_of(op_name, group, x) if group.engine else None


def meet(group: Group) -> None:
    """A group is made by a program that runs on GPUs: its members make their communicator at once."""
    if get_device().startswith("gpu:") and group.engine is None and group.is_member():
        group.engine = _join("init_parallel_env", group, get_device()) or False


def _join(op_name: str, group: Group, device: str) -> Engine | None:
    library, why = nccl.find()
    gpu = (socket.gethostname(), os.environ.get("CUDA_VISIBLE_DEVICES", ""), device)
    everyone = gather_objects(f"{op_name}() of a GPU, the group's first", group, (why, gpu))
    reasons = [f"rank {group.ranks[i]}: {text}" for i, (text, _) in enumerate(everyone) if text]
    gpus = [place for _, place in everyone]
    if len(set(gpus)) < len(gpus):
        shared = [group.ranks[i] for i, place in enumerate(gpus) if gpus.count(place) > 1]
        reasons.append(f"ranks {shared} have the same GPU, and NCCL wants one for each")
    if reasons:
        if group.rank == 0:
            warnings.warn(f"{op_name}: tensors of GPUs go through the host, slowly. {'; '.join(reasons)}.", RuntimeWarning, stacklevel=5)
        return None
    assert library is not None
    unique = object_of_root("NCCL's meeting place", group, library.unique_id() if group.rank == 0 else None, 0)
    return Engine(group, device, library, unique)


@dataclass
class Message:
    """A tensor to or from another rank, as long as it is not given to NCCL."""

    sends: bool
    address: int
    nbytes: int
    peer: int
    begun: Event
    watch: Watch
    held: Any
    since: float
    end: Event | None = None


class Engine:
    """NCCL between the members of a group, each of which has a GPU."""

    def __init__(self, group: Group, device: str, library: nccl.Library, unique: bytes) -> None:
        self.group, self.device, self.library = group, device, library
        self.ended = False
        self.stream = Stream(device)  # which makes it the thread's device of CUDA as well
        self.communicator = nccl.Communicator(library, group.nranks, group.rank, unique)
        self.waiting: list[Message] = []
        self.lock = threading.RLock()
        guard.add(self)

    # What all members do together.

    def put(
        self, what: str, held: Any, call: Callable[[nccl.Communicator, int], None], finish: Callable[[], None] | None = None, sync_op: bool = True
    ) -> Task:
        """Begin a collective.

        Args:
            what: signature of the call, which all members have to make.
            held: what keeps the memory that is read and written.
            call: gives it to the communicator, for a stream.
            finish: puts results where they belong, on the stream that waits.
        """
        with self.group.lock:
            watch = announce(self.group, f"{what} on gpu", site())
            self.flush()
            with self.lock:
                self.stream.wait_stream(current_stream(self.device))
                try:
                    call(self.communicator, self.stream.stream_base.handle)
                except EnforceNotMet as error:
                    raise_everywhere(f"{watch.name()}: {error}")
                event = self.stream.record_event()
        guard.look_after(self, event, watch, held)
        task = GpuTask(self, event, watch, finish, held)
        if sync_op:
            task.wait()
        return task

    def all_reduce(self, tensor: Tensor, op: str, sync_op: bool) -> Task:
        """Of `collective.all_reduce`."""
        what = f"all_reduce({said(tensor)}, {op})"
        if tensor.dtype.name in PARTS and op == "PROD":
            return self._product(what, tensor, sync_op)
        memory, kind, count, how = self._reducible(tensor, op)
        address = memory.memory().address
        return self.put(
            what, memory, lambda comm, stream: comm.all_reduce(address, address, count, kind, how, stream),
            tensor.mark_written if memory is tensor else lambda: _back(tensor, memory), sync_op)

    def _reducible(self, x: Tensor, op: str, copied: bool = False) -> tuple[Tensor, str, int, str]:
        """Memory that NCCL may reduce (`x` itself where that can be), its type, how many numbers of that, and the operation."""
        name = x.dtype.name
        with no_grad():
            if name in THROUGH:
                memory = x.detach().astype(THROUGH[name])
            else:
                memory = x if x.is_contiguous() and not copied else own_copy(x)
        kind = PARTS.get(name) or memory.dtype.name
        return memory, kind, memory.size * (2 if name in PARTS else 1), OF_BOOLS[op] if name == "bool" else op

    def _product(self, what: str, tensor: Tensor, sync_op: bool) -> Task:
        """Of complex numbers, which NCCL does not multiply: all come here."""
        source, gathered = own_copy(tensor), room([self.group.nranks, *tensor.shape], tensor.dtype, tensor)

        def finish() -> None:
            with no_grad():
                found = gathered[0]
                for i in range(1, self.group.nranks):
                    found = found * gathered[i]
                write(tensor, found)

        return self.put(
            what, (source, gathered),
            lambda comm, stream: comm.all_gather(source.memory().address, gathered.memory().address, source.memory().nbytes, stream), finish, sync_op)

    def reduce(self, tensor: Tensor, op: str, root: int, what: str, sync_op: bool) -> Task:
        """Of `collective.reduce`."""
        at_root = self.group.rank == root
        if tensor.dtype.name in PARTS and op == "PROD":
            return self._product(what, tensor if at_root else own_copy(tensor), sync_op)
        memory, kind, count, how = self._reducible(tensor, op, copied=True)
        address = memory.memory().address
        return self.put(
            what, memory, lambda comm, stream: comm.reduce(address, address, count, kind, how, root, stream),
            (lambda: _back(tensor, memory)) if at_root else None, sync_op)

    def broadcast(self, tensor: Tensor, root: int, what: str, sync_op: bool) -> Task:
        """Of `collective.broadcast`."""
        landing = Landing(tensor, filled=self.group.rank == root)
        address, nbytes = landing.memory.memory().address, landing.memory.memory().nbytes
        return self.put(
            what, landing, lambda comm, stream: comm.broadcast(address, address, nbytes, root, stream),
            None if self.group.rank == root else landing.done, sync_op)

    def all_gather(self, tensor: Tensor, gathered: Tensor, what: str, finish: Callable[[], None], sync_op: bool) -> Task:
        """Of `collective.all_gather`, into `gathered`."""
        source = tensor if tensor.is_contiguous() else own_copy(tensor)
        return self.put(
            what, (source, gathered),
            lambda comm, stream: comm.all_gather(source.memory().address, gathered.memory().address, source.memory().nbytes, stream), finish, sync_op)

    def reduce_scatter(self, tensor: Tensor, packed: Tensor, op: str, what: str, sync_op: bool) -> Task:
        """Of `collective.reduce_scatter`, whose pieces lie in `packed`."""
        name = tensor.dtype.name
        if name in PARTS and op == "PROD":
            whole = own_copy(packed)
            place, count = self.group.rank, self.group.nranks
            task = self._product(what, whole, sync_op=True)
            write(tensor, whole.reshape([count, *tensor.shape])[place])
            return task
        memory, kind, total, how = self._reducible(packed, op)
        result = room(tensor.shape, memory.dtype, tensor)
        return self.put(
            what, (memory, result),
            lambda comm, stream: comm.reduce_scatter(
                memory.memory().address, result.memory().address, total // self.group.nranks, kind, how, stream),
            lambda: _back(tensor, result), sync_op)

    def exchange(
        self, what: str, sent: Tensor | None, sizes: Sequence[int], received: Tensor | None, taken: Sequence[int], finish: Callable[[], None] | None,
        sync_op: bool,
    ) -> Task:
        """To each member so many bytes of `sent`, one after the other, and from each so many into `received`."""

        def call(comm: nccl.Communicator, stream: int) -> None:
            with self.library.group():
                for x, parts, one in ((sent, sizes, comm.send), (received, taken, comm.receive)):
                    at = 0 if x is None else x.memory().address
                    for peer, nbytes in enumerate(parts):
                        if nbytes:
                            one(at, nbytes, peer, stream)
                        at += nbytes

        return self.put(what, (sent, received), call, finish, sync_op)

    # What two do.

    def message(self, tensor: Tensor, place: int, what: str, sends: bool, check: Task | None = None) -> Task:
        """Begin to send a tensor, or to receive into it; `check` compares the description that comes before it."""
        refuse_broken()
        landing = Landing(tensor, filled=sends)
        memory = landing.memory.memory()
        watch = Watch(self.group, 0, 0, what, [self.group.ranks[place]])
        begun = current_stream(self.device).record_event()
        made = Message(sends, memory.address, memory.nbytes, place, begun, watch, landing, time.monotonic())
        with self.lock:
            self.waiting.append(made)
        guard.wake()
        return MessageTask(self, made, check, None if sends else landing.done)

    def flush(self) -> None:
        """Give the messages that were begun to NCCL."""
        with self.lock:
            some, self.waiting = self.waiting, []
            if not some:
                return
            for each in some:
                self.stream.wait_event(each.begun)
            try:
                with self.library.group():
                    for each in some:
                        if each.nbytes:
                            one = self.communicator.send if each.sends else self.communicator.receive
                            one(each.address, each.nbytes, each.peer, self.stream.stream_base.handle)
            except EnforceNotMet as error:
                raise_everywhere(f"{some[0].watch.what}: {error}")
            event = self.stream.record_event()
            for each in some:
                each.end = event
        for each in some:
            guard.look_after(self, event, each.watch, each.held)

    def join(self) -> None:
        """Let the current stream wait for all that was begun."""
        self.flush()
        current_stream(self.device).wait_stream(self.stream)

    def drain(self) -> None:
        """Wait until all that was begun has ended."""
        self.join()
        self.stream.synchronize()
        refuse_broken()

    def end(self) -> None:
        """The program ends: let go of the communicator, at once where something has gone wrong."""
        if world.broken is not None:
            self.communicator.abort()
            return
        self.drain()
        self.ended = True  # before the guard could take it for one that was aborted
        self.communicator.destroy()


def _back(target: Tensor, result: Tensor) -> None:
    with no_grad():
        write(target, result.astype(target.dtype) if result.dtype is not target.dtype else result)


class Landing:
    """Memory of a GPU that NCCL reads or writes for `target`: its own, or a copy that `done` writes back."""

    def __init__(self, target: Tensor, filled: bool) -> None:
        self.target = target
        self.memory = target if target.is_contiguous() else own_copy(target) if filled else room(target.shape, target.dtype, target)

    def done(self) -> None:
        """What was received is there, for the current stream."""
        if self.memory is self.target:
            self.target.mark_written()
        else:
            write(self.target, self.memory)


class GpuTask(Task):
    """Work of a GPU on its way. `wait()` lets the current stream wait for it; `synchronize()` the program."""

    def __init__(self, engine: Engine, event: Event | None, watch: Watch, finish: Callable[[], None] | None, held: Any) -> None:
        super().__init__(None, watch, finish, held)
        self._engine, self._event = engine, event

    def is_completed(self) -> bool:
        """Has it ended? Results are where they belong then."""
        refuse_broken()
        if self._event is None or not self._event.query():
            return False
        return self.wait()

    def wait(self, timeout: Any = None) -> bool:
        """Let what comes next on the current stream wait for it.

        Raises:
            CollectiveError: ranks do not do the same, or one is missing: as far as that is known by now.
        """
        refuse_broken()
        with self._lock:
            assert self._event is not None
            current_stream(self._engine.device).wait_event(self._event)
            if self._finish is not None:
                self._finish()
                self._finish = None
        return True

    def synchronize(self) -> None:
        """Wait until it has ended."""
        self.wait()
        current_stream(self._engine.device).synchronize()
        refuse_broken()


class MessageTask(GpuTask):
    """A message on its way."""

    def __init__(self, engine: Engine, message: Message, check: Task | None, finish: Callable[[], None] | None) -> None:
        super().__init__(engine, None, message.watch, finish, message.held)
        self._message, self._check = message, check

    def is_completed(self) -> bool:
        """Has it ended?"""
        self._begin()
        return (self._check is None or self._check.is_completed()) and super().is_completed()

    def wait(self, timeout: Any = None) -> bool:
        """Wait until its description has come, and let the current stream wait for the rest."""
        self._begin()
        if self._check is not None:
            self._check.wait()
        return super().wait(timeout)

    def _begin(self) -> None:
        self._engine.flush()
        while self._message.end is None:  # another thread is about to give it to NCCL
            refuse_broken()
            time.sleep(1e-4)
        self._event = self._message.end


@dataclass
class UnderWay:
    """Work that a GPU has, or waits for."""

    engine: Engine
    event: Event
    watch: Watch
    held: Any
    since: float
    thread: int


class Guard:
    """A thread that looks after what is under way, as no thread of the program does: they go on, or wait inside of CUDA."""

    def __init__(self) -> None:
        self.engines: list[Engine] = []
        self.under_way: list[UnderWay] = []
        self.ended: list[UnderWay] = []  # whose memory is let go of by a thread of the program, or when nothing else is under way
        self.lock = threading.Lock()
        self.called = threading.Event()
        self.thread: threading.Thread | None = None

    def add(self, engine: Engine) -> None:
        """A group has got its communicator."""
        with self.lock:
            self.engines.append(engine)
            if self.thread is None:
                self.thread = threading.Thread(target=self._work, daemon=True, name="work of GPUs")
                self.thread.start()

    def look_after(self, engine: Engine, event: Event, watch: Watch, held: Any) -> None:
        """Something was begun."""
        with self.lock:
            self.under_way.append(UnderWay(engine, event, watch, held, time.monotonic(), threading.get_ident()))
            ended, self.ended = self.ended, []
        del ended
        self.wake()

    def wake(self) -> None:
        """There is something to look at."""
        self.called.set()

    def _work(self) -> None:
        while True:
            if not self.under_way and not any(engine.waiting for engine in self.engines):
                self.called.wait()
            self.called.clear()
            try:
                self._look()
            except CollectiveError as error:
                self._end(str(error))
                return
            time.sleep(0.02)

    def _look(self) -> None:
        refuse_broken()
        now = time.monotonic()
        with self.lock:
            some = list(self.under_way)
        ended = [each for each in some if each.event.query()]
        with self.lock:
            self.under_way = [each for each in self.under_way if not any(each is other for other in ended)]
            self.ended += ended
            if not self.under_way:  # else a stream may stand still, and this thread must not wait for it
                self.ended = []
        for engine in self.engines:
            failure = engine.communicator.failure()
            if failure is not None and not engine.ended:
                mine = next((each.watch.name() for each in some if each.engine is engine), f"group {engine.group.id}")
                raise_everywhere(f"{mine}: NCCL says '{failure}'. Run with NCCL_DEBUG=INFO to see more.")
            if engine.waiting and now - engine.waiting[0].since > SENT_AFTER:
                engine.flush()
        for each in some:
            if each not in ended:
                each.watch.look()
                each.watch.lives(now - each.since)

    def _end(self, text: str) -> None:
        """End what is under way, and raise where the program is: it may wait for a stream, or go on with results that never came."""
        threads = {each.thread for each in self.under_way}
        told = type("CollectiveError", (CollectiveError,), {
            "__module__": CollectiveError.__module__, "__init__": lambda self, *said: RuntimeError.__init__(self, *(said or (text,))),
        })
        for thread in threads - {threading.get_ident()}:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(told))
        for engine in self.engines:
            try:
                engine.communicator.abort()
            except EnforceNotMet as error:
                warnings.warn(f"NCCL could not be ended: {error}", RuntimeWarning, stacklevel=1)


guard = Guard()


def end() -> None:
    """The program ends."""
    for engine in guard.engines:
        engine.end()
