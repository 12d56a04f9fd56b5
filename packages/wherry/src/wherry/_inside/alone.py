"""Collectives of one process: what every process gives to all is what this one has.

A package for several processes takes these names over (`wherry._doors` says where they are). Where the environment says that there
are several, as a launcher of Paddle leaves it, the functions refuse.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import wherry
from wherry import _absent
from wherry.distributed import _alone, is_initialized
from wherry_nn import Layer
from wherry_nn import functional as F  # noqa: N812
from wherry_tensor import Tensor
from wherry_tensor.errors import InvalidArgumentError, UnimplementedError, short

__all__ = [
    "Group", "P2POp", "ParallelMode", "ReduceOp", "all_gather", "all_gather_object", "all_reduce", "alltoall", "alltoall_single", "barrier",
    "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group", "gather", "get_backend", "get_group",
    "group_sharded_parallel", "irecv", "is_initialized", "isend", "new_group", "recv", "reduce", "reduce_scatter", "save_group_sharded_model",
    "scatter", "scatter_object_list", "send", "spawn", "sync_params_buffers", "wait",
]


class ReduceOp:
    """How values of several processes become one. Source: `paddle.distributed.ReduceOp`."""

    SUM, MAX, MIN, PROD, AVG = range(5)


class ParallelMode:
    """How a model is divided. Source: `paddle.distributed.ParallelMode`."""

    DATA_PARALLEL, TENSOR_PARALLEL, PIPELINE_PARALLEL, SHARDING_PARALLEL, SEGMENT_PARALLEL = range(5)


class Group:
    """A group of processes: this one."""

    def __init__(self, rank_in_group: int = 0, id: int = 0, ranks: Sequence[int] = (0,), pg: Any = None, name: str | None = None) -> None:
        self.rank, self.id, self.ranks, self.name = rank_in_group, id, list(ranks), name or f"_default_pg{id}"
        self.nranks = self.world_size = len(self.ranks)
        self.process_group, self.backend = pg, "alone"

    def is_member(self) -> bool:
        """Does this process belong to it?"""
        return 0 in self.ranks

    def get_group_rank(self, rank: int) -> int:
        """The place of a process in the group; -1 where it is not in it."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def __repr__(self) -> str:
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {', '.join(map(str, self.ranks))}; name: {self.name}"


_groups = {0: Group()}


def get_group(id: int = 0) -> Group | None:
    """A group by its number; 0 is that of all processes."""
    return _groups.get(id)


def new_group(ranks: Sequence[int] | None = None, backend: str | None = None, timeout: Any = None) -> Group:
    """A group of this process.

    Raises:
        NotImplementedError: `ranks` names another process.
    """
    _alone("new_group")
    if ranks is not None and any(rank != 0 for rank in ranks):
        raise UnimplementedError(f"new_group: there is one process. Got ranks={short(list(ranks))}, expected [0]. Leave the group out.")
    group = Group(id=max(_groups) + 1)
    _groups[group.id] = group
    return group


def destroy_process_group(group: Group | None = None) -> None:
    """Forget a group; without one, all but that of all processes."""
    if group is not None:
        _groups.pop(group.id, None)
    else:
        _groups.clear()
        _groups[0] = Group()


def get_backend(group: Group | None = None) -> str:
    """What carries messages: nothing has to."""
    return "alone"


class _Done:
    """A message that has arrived."""

    def wait(self, timeout: Any = None) -> bool:
        """It has arrived."""
        return True

    def is_completed(self) -> bool:
        """It has."""
        return True


def _mine(op_name: str, rank: Any) -> None:
    _alone(op_name)
    if rank not in (0, None):
        raise InvalidArgumentError(f"{op_name}: there is one process. Got rank {short(rank)}, expected 0. Run the script by itself.")


def _only_one(op_name: str, items: Any, name: str) -> Any:
    if not isinstance(items, (list, tuple)) or len(items) != 1:
        raise InvalidArgumentError(
            f"{op_name}: there is one process. Got {name} of {len(items) if isinstance(items, (list, tuple)) else short(items)}, "
            f"expected a list of one. Ask get_world_size() how many there are."
        )
    return items[0]


def all_reduce(tensor: Tensor, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True, **ignored: Any) -> _Done:
    """What all processes have, as one: the tensor stays."""
    _alone("all_reduce")
    return _Done()


def broadcast(tensor: Tensor, src: int = 0, group: Any = None, sync_op: bool = True, **ignored: Any) -> _Done:
    """What one process has, for all: the tensor stays."""
    _mine("broadcast", src)
    return _Done()


def reduce(tensor: Tensor, dst: int = 0, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True, **ignored: Any) -> _Done:
    """What all processes have, as one, in one of them: the tensor stays."""
    _mine("reduce", dst)
    return _Done()


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, sync_op: bool = True, **ignored: Any) -> _Done:
    """The tensors of all processes, which are appended to a list; one that is full is filled."""
    _alone("all_gather")
    if isinstance(tensor_list, Tensor):
        wherry.assign(tensor, tensor_list)
    elif tensor_list:
        wherry.assign(tensor, _only_one("all_gather", tensor_list, "tensor_list"))
    else:
        tensor_list.append(tensor.clone())
    return _Done()


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """The objects of all processes, in a list."""
    _alone("all_gather_object")
    object_list[:] = [obj]


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Any = None, sync_op: bool = True) -> _Done:
    """The tensors of all processes, in one of them."""
    _mine("gather", dst)
    return all_gather([] if gather_list is None else gather_list, tensor)


def scatter(
    tensor: Tensor, tensor_list: Sequence[Tensor] | None = None, src: int = 0, group: Any = None, sync_op: bool = True, **ignored: Any
) -> _Done:
    """One tensor of a list for each process: the only one is written into `tensor`."""
    _mine("scatter", src)
    if isinstance(tensor_list, Tensor):
        wherry.assign(tensor_list, tensor)
    elif tensor_list:
        wherry.assign(_only_one("scatter", tensor_list, "tensor_list"), tensor)
    return _Done()


def scatter_object_list(out_object_list: list[Any], in_object_list: Sequence[Any] | None = None, src: int = 0, group: Any = None) -> None:
    """One object of a list for each process."""
    _mine("scatter_object_list", src)
    out_object_list[:] = [_only_one("scatter_object_list", in_object_list, "in_object_list")]


def broadcast_object_list(object_list: list[Any], src: int, group: Any = None) -> None:
    """The objects of one process, for all: the list stays."""
    _mine("broadcast_object_list", src)


def reduce_scatter(tensor: Tensor, tensor_list: Any, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True, **ignored: Any) -> _Done:
    """One piece of what all processes have together, for each."""
    return scatter(tensor, tensor_list)


def alltoall(in_tensor_list: Any, out_tensor_list: Any, group: Any = None, sync_op: bool = True, **ignored: Any) -> _Done:
    """From each process a piece to each: what came in goes out."""
    _alone("alltoall")
    if isinstance(in_tensor_list, Tensor):
        wherry.assign(in_tensor_list, out_tensor_list)
        return _Done()
    return all_gather(out_tensor_list, _only_one("alltoall", in_tensor_list, "in_tensor_list"))


def alltoall_single(
    in_tensor: Tensor, out_tensor: Tensor, in_split_sizes: Any = None, out_split_sizes: Any = None, group: Any = None, sync_op: bool = True,
    **ignored: Any,
) -> _Done:
    """From each process rows to each: what came in goes out."""
    _alone("alltoall_single")
    wherry.assign(in_tensor, out_tensor)
    return _Done()


def barrier(group: Any = None) -> None:
    """Wait for the other processes."""
    _alone("barrier")


def wait(tensor: Tensor, group: Any = None, use_calc_stream: bool = True) -> None:
    """Wait for a message: none is on its way."""


def _nobody(op_name: str) -> Any:
    raise UnimplementedError(
        f"{op_name}: there is no other process. Got a message for one, expected a model that runs in one process. Run it as it is."
    )


def send(tensor: Tensor, dst: int = 0, group: Any = None, sync_op: bool = True, **ignored: Any) -> Any:
    """A message to another process: there is none."""
    _nobody("send")


def recv(tensor: Tensor, src: int = 0, group: Any = None, sync_op: bool = True, **ignored: Any) -> Any:
    """A message from another process: there is none."""
    _nobody("recv")


isend, irecv = send, recv


class P2POp:
    """A message of a batch. Source: `paddle.distributed.P2POp`."""

    def __init__(self, op: Callable[..., Any], tensor: Tensor, peer: int, group: Any = None) -> None:
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Any]:
    """Messages that are sent together: only none can be."""
    return [each.op(each.tensor, each.peer, each.group) for each in p2p_op_list]


@contextmanager
def _with_batch_p2p_guard(backend: str) -> Iterator[None]:
    yield


def spawn(func: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = -1, join: bool = True, daemon: bool = False, **options: Any) -> None:
    """Call a function in processes of their own: in this one, of which there is one.

    Raises:
        NotImplementedError: more than one process is asked for.
    """
    _alone("spawn")
    if nprocs not in (-1, 0, 1):
        raise UnimplementedError(f"spawn: training with several processes is not there yet. Got nprocs={nprocs}, expected 1. Pass nprocs=1.")
    func(*args)


def sync_params_buffers(model: Layer, comm_group: Any = None, src_rank: int = 0, is_model_parallel: bool = False, fuse_params: bool = True) -> None:
    """Give all processes the parameters of one: they have them."""
    _mine("sync_params_buffers", src_rank)


def group_sharded_parallel(model: Layer, optimizer: Any, level: str, scaler: Any = None, **ignored: Any) -> tuple[Any, Any, Any]:
    """Divide states, gradients and parameters among the processes: one keeps all."""
    _alone("group_sharded_parallel")
    if level not in ("os", "os_g", "p_g_os"):
        raise InvalidArgumentError(f"group_sharded_parallel: level is not known. Got {short(level)}, expected 'os', 'os_g' or 'p_g_os'. Choose one.")
    return model, optimizer, scaler


def save_group_sharded_model(model: Layer, output: str, optimizer: Any = None) -> None:
    """Save a model, as `model.pdmodel` in a folder, and its optimizer as `model.pdopt`.

    Source: `paddle.distributed.sharding.save_group_sharded_model`.
    """
    import os

    wherry.save(model.state_dict(), os.path.join(output, "model.pdmodel"))
    if optimizer is not None:
        wherry.save(optimizer.state_dict(), os.path.join(output, "model.pdopt"))


def _is_parallel_ctx_initialized() -> bool:
    return False


# Parts of models that are divided among processes, of which one has all.


def _c_identity(tensor: Tensor, group: Any = None, skip_c_identity_dynamic: bool = False) -> Tensor:
    return tensor


def _c_concat(tensor: Tensor, group: Any = None) -> Tensor:
    return tensor


_c_split = _c_concat


def _mp_allreduce(
    tensor: Tensor, op: int = ReduceOp.SUM, group: Any = None, use_calc_stream: bool = True, use_model_parallel: bool = True,
    skip_c_identity_dynamic: bool = False,
) -> Tensor:
    return tensor


def _c_lookup_table(table: Tensor, index: Tensor, start_index: int = 0, vocab_size: int = -1, name: str | None = None) -> Tensor:
    return F.embedding(index - start_index, table)


def _c_softmax_with_cross_entropy(
    logits: Tensor, label: Tensor, group: Any = None, return_softmax: bool = False, ignore_index: int = -100
) -> Any:
    return F.softmax_with_cross_entropy(logits, label, ignore_index=ignore_index, return_softmax=return_softmax)


__getattr__ = _absent.looked_up("wherry.distributed.stream")
