"""The processes of a program: joined by `init_parallel_env`, divided into groups, and how calls of theirs wait for each other."""
from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from wherry_distributed import board as boards
from wherry_distributed import environment
from wherry_distributed.board import Board, CollectiveError, site
from wherry_tensor.arguments import integer
from wherry_tensor.errors import InvalidArgumentError, OutOfRangeError, PreconditionNotMetError, UnavailableError, short
from wherry_tensor.explained import explained

__all__ = ["Group", "destroy_process_group", "get_group", "new_group"]  # what programs call, whose arguments errors explain

TIMEOUT = 1800.0  # seconds that a collective waits: Paddle's
NAP = 5e-5        # seconds between two looks at a request, after the first ones


class World:
    """All processes. `mpi` is mpi4py's module, None in a process that is alone."""

    def __init__(self, rank: int = 0, size: int = 1, mpi: Any = None) -> None:
        self.rank, self.size, self.mpi = rank, size, mpi
        self.board: Board | None = None
        self.whole_host = True       # do all ranks share one board?
        self.broken: str | None = None
        self.eager = 10              # looks at a request before this process lets others have the core, which they need where they share it
        self.groups: dict[int, Group] = {}
        self.when_made: list[Callable[[Group], None]] = []  # called with each new group
        self.when_ended: list[Callable[[], None]] = []      # before the processes part
        self.dropped: list[tuple[Callable[[], bool], Any, Any]] = []  # calls on their way whose task is gone, and what holds their memory
        self.next_group = 1          # numbers are given in the same order everywhere
        self.lock = threading.RLock()


class Group:
    """Some of the processes.

    Attributes:
        id: its number; 0 is that of all processes.
        ranks: the members, by their ranks among all.
        rank: the place of this process in it, -1 where it is not a member.
        nranks, world_size: how many members it has.

    Source:
        `paddle.distributed.collective.Group`.
    """

    def __init__(
        self, rank_in_group: int = 0, id: int = 0, ranks: Sequence[int] = (0,), pg: Any = None, name: str | None = None, timeout: float = TIMEOUT
    ) -> None:
        self.rank, self.id, self.ranks, self.name = rank_in_group, id, list(ranks), name or f"_default_pg{short(id)}"
        self.nranks = self.world_size = len(self.ranks)
        self.comm, self.timeout = pg, timeout
        self.count = 0
        self.lock = threading.RLock()
        self.engine: Any = None      # what carries tensors of GPUs; False where the host has to

    @property
    def process_group(self) -> Any:
        """mpi4py's communicator."""
        return self.comm

    @property
    def backend(self) -> str:
        """What carries messages."""
        return "alone" if self.comm is None else "nccl" if self.engine else "mpi"

    def is_member(self) -> bool:
        """Does this process belong to it?"""
        return self.rank >= 0

    def get_group_rank(self, rank: int) -> int:
        """The place of a process in the group; -1 where it is not in it."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def __deepcopy__(self, memo: Any) -> Group:
        return self  # parameters name it, and models are copied

    get_global_rank = property(lambda self: self._global_rank)

    def _global_rank(self, rank: int) -> int:
        at = integer(rank, "get_global_rank", "rank")
        if not 0 <= at < len(self.ranks):
            raise OutOfRangeError(f"get_global_rank: there is no such place in the group. Got {at}, expected 0 to {len(self.ranks) - 1}.")
        return self.ranks[at]

    def __repr__(self) -> str:
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {', '.join(map(str, self.ranks))}; name: {self.name}"


world = World()
world.groups[0] = Group()
_started = False


def import_mpi() -> Any:
    """mpi4py, with an MPI behind it.

    Raises:
        RuntimeError: one of them is missing.
    """
    try:
        import mpi4py

        mpi4py.rc.finalize = False  # a rank that has failed would wait there for the others for ever
        mpi4py.rc.thread_level = "multiple"
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise UnavailableError(
            f"wherry.distributed: several processes need MPI ({type(error).__name__}: {str(error).splitlines()[0]}). Type: pip install mpi4py mpich"
        ) from None
    return MPI


def is_started() -> bool:
    """Has `init_parallel_env` joined the processes?"""
    return _started


def start(stacklevel: int = 2) -> None:
    """Join the processes that were started together."""
    global _started
    here = environment.place()
    if here.size == 1:
        warnings.warn("init_parallel_env: this is one process alone, so nothing is to be done.", stacklevel=stacklevel + 1)
        return
    if _started:
        return
    os.environ.setdefault("PADDLE_TRAINER_ID", str(here.rank))  # for samplers and scripts, where mpiexec or srun has started them
    os.environ.setdefault("PADDLE_TRAINERS_NUM", str(here.size))
    mpi = import_mpi()
    whole = mpi.COMM_WORLD.Dup()
    if (whole.rank, whole.size) != (here.rank, here.size):
        raise PreconditionNotMetError(
            f"init_parallel_env: MPI does not see the processes that were started. Got rank {whole.rank} of {whole.size} from MPI, "
            f"expected rank {here.rank} of {here.size} ({here.starter}). Start with python -m wherry.distributed.launch, or with the mpiexec "
            f"of the MPI that mpi4py uses."
        )
    host = whole.Split_type(mpi.COMM_TYPE_SHARED)
    ranks = host.allgather(whole.rank)
    path = host.bcast(boards.make(host.size) if host.rank == 0 else None)
    world.rank, world.size, world.mpi = whole.rank, whole.size, mpi
    world.board = Board(path, whole.rank, ranks)
    if host.size <= (os.cpu_count() or 1):  # a nap takes longer than most messages; where ranks share cores it is the faster way
        world.eager = 2000
    world.whole_host = whole.allreduce(host.size == whole.size, mpi.LAND)
    whole.Barrier()
    if host.rank == 0:
        os.unlink(path)
    timeout = float(os.environ.get("WHERRY_DISTRIBUTED_TIMEOUT", TIMEOUT))
    world.groups[0] = Group(whole.rank, 0, range(whole.size), whole, timeout=timeout)
    if "OMP_NUM_THREADS" not in os.environ:
        from wherry_tensor import set_num_threads

        set_num_threads(max(1, (os.cpu_count() or 1) // host.size))
    _started = True
    ending = whole.Dup()
    before = sys.excepthook

    def told(kind: Any, error: BaseException, trace: Any) -> None:
        world.broken = world.broken or f"{kind.__name__}: {error}"
        before(kind, error, trace)

    sys.excepthook = told
    atexit.register(_end, ending)


def _end(comm: Any) -> None:
    """MPI is left together with the others, or, where that cannot be, not at all."""
    board = world.board
    assert board is not None
    for act in world.when_ended:
        act()
    board.close()
    if world.broken is not None or board.failure() is not None:
        return
    request, looks = comm.Ibarrier(), 0
    while not request.Test():
        looks += 1
        if looks > 200:
            time.sleep(1e-3)
            if looks % 50 == 0 and (board.failure() is not None or any("dead" in (board.gone(rank) or "") for rank in board.ranks)):
                return
    world.mpi.Finalize()


def new_group(ranks: Sequence[int] | None = None, backend: str | None = None, timeout: Any = None) -> Group:
    """A group of some processes. All processes call it, members or not, in the same order.

    Args:
        ranks: its members; None for all.
        backend: None, "mpi" or "gloo", which MPI stands for.
        timeout: how long its collectives wait for a member, a timedelta or seconds; None as the group of all (30 minutes, or the
            environment's WHERRY_DISTRIBUTED_TIMEOUT in seconds).

    Raises:
        ValueError: `ranks` are not distinct ranks; `backend` is not known.
        CollectiveError: other processes ask for another group.

    Source:
        `paddle.distributed.new_group`.

    Examples:
        >>> wherry.distributed.new_group([0]).ranks
        [0]
    """
    members = list(range(world.size)) if ranks is None else [int(rank) for rank in ranks]
    if len(set(members)) != len(members) or not members or not all(0 <= rank < world.size for rank in members):
        raise InvalidArgumentError(
            f"new_group: ranks are not members. Got ranks={short(members)}, expected distinct ranks in [0, {world.size}). Ask get_world_size()."
        )
    if backend not in (None, "", "mpi", "gloo", "auto", *(("nccl",) if world.groups[0].engine else ())):
        raise UnavailableError(
            f"new_group: this backend is not there. Got {short(backend)}, expected 'mpi', which works for 'gloo' too, or 'nccl' where processes "
            f"have a GPU each. Leave it out."
        )
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else world.groups[0].timeout if timeout is None else float(timeout)
    members.sort()
    with world.lock:
        number, world.next_group = world.next_group, world.next_group + 1
        comm = None
        if world.mpi is not None:
            whole = world.groups[0]
            run(whole, f"new_group({members})", lambda: whole.comm.Ibarrier()).wait()
            if world.rank in members:
                comm = whole.comm.Create_group(whole.comm.group.Incl(members), tag=number % 30000)
        place = members.index(world.rank) if world.rank in members else -1
        group = Group(place, number, members, comm, timeout=seconds)
        world.groups[number] = group
        if comm is not None:
            for act in world.when_made:
                act(group)
    return group


def get_group(id: int = 0) -> Group | None:
    """A group by its number; 0 is that of all processes.

    Source:
        `paddle.distributed.get_group`.
    """
    return world.groups.get(integer(id, "get_group", "id"))


def destroy_process_group(group: Group | None = None) -> None:
    """Forget a group; without one, all but that of all processes.

    Source:
        `paddle.distributed.destroy_process_group`.
    """
    for number in [group.id] if group is not None else list(world.groups):
        if number:
            world.groups.pop(number, None)


def group_of(op_name: str, group: Any) -> Group | None:
    """The group of a call: None where this process is not a member of it."""
    if group is None:
        if world.mpi is None and environment.place().size > 1:
            raise PreconditionNotMetError(
                f"{op_name}: the processes are not joined yet. Got a call before init_parallel_env(), expected one after it. "
                f"Call paddle.distributed.init_parallel_env() first."
            )
        return world.groups[0]
    if not isinstance(group, Group):
        raise InvalidArgumentError(f"{op_name}: group is not a group. Got {short(group)}, expected one of new_group(). Leave it out for all.")
    return group if group.is_member() else None


def raise_everywhere(text: str) -> None:
    """Raise, here and in all ranks that wait."""
    world.broken = text
    if world.board is not None:
        world.board.fail(text)
    raise CollectiveError(text)


class Task:
    """A call on its way. `wait()` brings it to its end.

    Source:
        What Paddle's collectives return with `sync_op=False`.
    """

    def __init__(
        self, poll: Callable[[], bool] | None = None, watch: Watch | None = None, finish: Callable[[], None] | None = None, held: Any = None
    ) -> None:
        self._poll, self._watch, self._finish = poll, watch, finish
        self._held = held  # what holds the memory that messages are read from and written to
        self._lock = threading.Lock()

    def __del__(self) -> None:
        if self._poll is None or world.mpi is None or world.mpi.Is_finalized():
            return
        # Nobody has waited for it, and MPI goes on to read and write its memory.
        world.dropped = [each for each in world.dropped if not each[0]()]
        if not self._poll():
            world.dropped.append((self._poll, self._held, self._finish))

    def is_completed(self) -> bool:
        """Has it ended? Results are where they belong then."""
        with self._lock:
            return self._step()

    def _step(self) -> bool:
        if self._poll is None:
            return True
        if not self._poll():
            return False
        self._poll = self._held = None
        if self._watch is not None:
            self._watch.look()
        if self._finish is not None:
            self._finish()
            self._finish = None
        return True

    def wait(self, timeout: Any = None) -> bool:
        """Wait until it has ended.

        Raises:
            CollectiveError: ranks do not do the same, or one is missing.
        """
        return self.wait_after(world.eager)

    def wait_after(self, eager: int) -> bool:
        """`wait`, with so many looks before it lets others have the core."""
        with self._lock:
            looks, since, watch = 0, None, self._watch
            while not self._step():
                looks += 1
                if looks < eager:
                    continue
                if since is None:
                    since = time.monotonic()
                time.sleep(NAP)
                if watch is not None and looks % 64 == 0:
                    watch.look()
                    watch.lives(time.monotonic() - since)
        return True

    def synchronize(self) -> None:
        """`wait`."""
        self.wait()


class Watch:
    """Looks at the board while a call waits."""

    def __init__(self, group: Group, number: int, signature: int, what: str, peers: Sequence[int]) -> None:
        self.group, self.number, self.signature, self.what, self.peers = group, number, signature, what, peers
        self.where = ""
        self.next_life = 0.05

    def look(self) -> None:
        """Raise where somebody does something else."""
        if self.number and world.board.differs(self.group.id, self.number, self.signature):  # type: ignore[union-attr]
            raise_everywhere(self._difference())

    def _difference(self) -> str:
        board = world.board
        callers: dict[str, list[int]] = {}
        assert board is not None
        time.sleep(0.02)  # others who are about to come are named as well
        for rank in self.group.ranks:
            found = board.entry(self.group.id, self.number, rank) if rank in board.row_of else None
            if found:
                callers.setdefault(found[1], []).append(rank)
        said = "; ".join(f"ranks {ranks} call {text}" for text, ranks in callers.items())
        return f"collective {self.number} of group {self.group.id} differs between ranks: {said}. All ranks have to call the same."

    def lives(self, seconds: float) -> None:
        """Raise where somebody has raised, is gone, or has not come in time."""
        board = world.board
        assert board is not None
        if seconds > self.next_life:
            self.next_life = seconds + 0.1
            failure = board.failure()
            if failure is not None:
                world.broken = failure
                raise CollectiveError(failure)
            for rank in self.peers:
                reason = board.gone(rank) if rank != world.rank else None
                if reason and (not self.number or board.number_of(self.group.id, rank) < self.number or "dead" in reason):
                    raise_everywhere(f"{self.name()}: {reason}. Its log says why.")
        if seconds > self.group.timeout:
            raise_everywhere(self._late())

    def name(self) -> str:
        """Which call this is."""
        return f"collective {self.number} of group {self.group.id}, {self.what}" if self.number else self.what

    def _late(self) -> str:
        board = world.board
        assert board is not None
        if not self.number:
            return f"{self.name()} had no answer for {self.group.timeout:g} s: {board.where(self.peers[0])}"
        seen = [rank for rank in self.group.ranks if rank in board.row_of]
        late = [rank for rank in seen if board.number_of(self.group.id, rank) < self.number]
        said = "; ".join(f"{board.where(rank)}, its last collective was {board.number_of(self.group.id, rank)}" for rank in late)
        return (
            f"{self.name()} waited {self.group.timeout:g} s. {len(seen) - len(late)} of {self.group.nranks} ranks have come; missing: "
            f"{said or 'a rank of another host'}"
        )


def refuse_broken() -> None:
    """After a difference MPI's messages do not belong together any more."""
    if world.broken is not None:
        raise CollectiveError(f"an earlier collective has failed, so no further one can run: {world.broken}")


def run(group: Group, what: str, start: Callable[[], Any], finish: Callable[[], None] | None = None, where: str | None = None) -> Task:
    """Begin a collective of a group, which all members call with the same `what`."""
    with group.lock:
        watch = announce(group, what, where or site())
        request = start()
    return Task(request.Test, watch, finish, start)


def announce(group: Group, what: str, where: str) -> Watch:
    """Say which collective of a group comes next; who waits for it looks at others with what is returned. `group.lock` is held."""
    refuse_broken()
    board = world.board
    assert board is not None
    group.count += 1
    signature, text = board.post(group.id, group.count, what, where)
    watch = Watch(group, group.count, signature, text, group.ranks)
    if not world.whole_host:
        _compare_hosts(group, watch)
    watch.look()
    return watch


def _compare_hosts(group: Group, watch: Watch) -> None:
    """Boards do not reach other hosts: signatures are compared by message there."""
    sent = np.array([watch.signature, -watch.signature], np.int64)
    most = np.empty_like(sent)
    Task(group.comm.Iallreduce(sent, most, op=world.mpi.MAX).Test, watch).wait()
    if most[0] != -most[1]:
        mine = f"{watch.what}"
        texts = group.comm.allgather(mine)
        callers: dict[str, list[int]] = {}
        for rank, text in zip(group.ranks, texts, strict=True):
            callers.setdefault(text, []).append(rank)
        said = "; ".join(f"ranks {ranks} call {text}" for text, ranks in callers.items())
        raise_everywhere(f"collective {watch.number} of group {group.id} differs between ranks: {said}. All ranks have to call the same.")


explained(globals())
