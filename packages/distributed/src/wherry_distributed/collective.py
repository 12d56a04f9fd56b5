"""Collectives: what all processes of a group do together. Names and arguments are Paddle's.

Each returns a task. With `sync_op=True` it has ended; otherwise `task.wait()` brings it to its end, and until then neither inputs nor
outputs may be touched. In a process that is alone every collective is what it means there, and needs no MPI.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_distributed.board import site
from wherry_distributed.gpu import engine_of, pair_engine
from wherry_distributed.memory import (
    REDUCED,
    THROUGH,
    Landing,
    blocks_of,
    bytes_of,
    host_copy,
    own_copy,
    ready,
    require_tensor,
    room,
    said,
    values_of,
    write,
)
from wherry_distributed.objects import gather_objects, object_of_root
from wherry_distributed.world import Group, Task, Watch, group_of, raise_everywhere, refuse_broken, run, world
from wherry_tensor import Tensor, ops
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained


class ReduceOp:
    """How values of several processes become one: SUM, MAX, MIN, PROD, AVG.

    Of bools SUM and MAX are "or", PROD and MIN "and".

    Source:
        `paddle.distributed.ReduceOp`.
    """

    SUM, MAX, MIN, PROD, AVG = range(5)


NAMES = ("SUM", "MAX", "MIN", "PROD", "AVG")


_operations: dict[tuple[int, str], Any] = {}  # MPI's, of those that `_operation` has found right


def _operation(op_name: str, op: Any, dtype: str) -> Any:
    found = _operations.get((op, dtype)) if type(op) is int else None
    if found is None and (found := _checked_operation(op_name, op, dtype)) is not None:
        _operations[int(op), dtype] = found
    return found


def _checked_operation(op_name: str, op: Any, dtype: str) -> Any:
    if isinstance(op, bool) or op not in range(5):
        raise InvalidArgumentError(f"{op_name}: op is not known. Got {short(op)}, expected ReduceOp.{', '.join(NAMES)}. Take one of them.")
    if dtype.startswith("complex") and op in (ReduceOp.MAX, ReduceOp.MIN):
        raise InvalidTypeError(f"{op_name}: complex numbers have no order. Got {dtype} with {NAMES[op]}, expected SUM, PROD or AVG. Reduce x.abs().")
    if op == ReduceOp.AVG and not dtype.startswith(("float", "bfloat", "complex")):
        raise InvalidTypeError(f"{op_name}: integers have no average. Got {dtype} with AVG, expected floats. Use SUM, or cast.")
    if dtype not in REDUCED and dtype not in THROUGH:
        raise InvalidTypeError(f"{op_name}: this dtype cannot be reduced. Got {dtype}, expected one of {', '.join([*REDUCED, *THROUGH])}. Cast it.")
    if world.mpi is None:
        return None
    if dtype == "bool":
        return world.mpi.BOR if op in (ReduceOp.SUM, ReduceOp.MAX) else world.mpi.BAND
    return getattr(world.mpi, "SUM" if op == ReduceOp.AVG else NAMES[op])


def _place_of(op_name: str, name: str, rank: Any, group: Group) -> int:
    """The place in its group of a process that is named by its rank among all."""
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank not in group.ranks:
        raise InvalidArgumentError(
            f"{op_name}: {name} is not a rank of the group. Got {name}={short(rank)}, expected one of {short(group.ranks)}. Ranks are global."
        )
    return group.ranks.index(int(rank))


def _ended(task: Task, sync_op: bool) -> Task:
    if sync_op:
        task.wait()
    return task


def _for_sum(x: Tensor) -> Tensor:
    """A copy that MPI may add up."""
    through = THROUGH.get(x.dtype.name)
    with no_grad():
        return host_copy(x.detach().astype(through) if through else x)


def _back(target: Tensor, summed: Tensor, op: int, count: int) -> None:
    with no_grad():
        if op == ReduceOp.AVG:
            summed = summed * (1.0 / count)
        write(target, summed.astype(target.dtype) if summed.dtype is not target.dtype else summed)


def all_reduce(tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task:
    """Replace a tensor of all processes by their sum, maximum, minimum, product or average.

    float16 and bfloat16 are reduced in float32 and rounded once.

    Args:
        tensor: any shape and strides; written in place.
        op: one of `ReduceOp`.
        group: of the processes; None for all.
        sync_op: False returns at once, with a task to wait for.

    Shape:
        The same in all processes, `[...]`.

    Raises:
        TypeError: not a tensor, or a dtype that `op` cannot reduce.
        CollectiveError: other processes call something else, or one is missing.

    Source:
        `paddle.distributed.all_reduce`.

    Examples:
        >>> x = wherry.to_tensor([1.0, 2.0])
        >>> _ = wherry.distributed.all_reduce(x)   # of a process that is alone: x
        >>> x.tolist()
        [1.0, 2.0]
    """
    tensor, name = require_tensor(tensor, "all_reduce", "tensor"), NAMES[op] if op in range(5) else short(op)
    how = _operation("all_reduce", op, tensor.dtype.name)
    members = group_of("all_reduce", group)
    if members is None or members.comm is None:
        return Task()
    if (engine := engine_of("all_reduce", members, tensor)) is not None:
        return engine.all_reduce(tensor, NAMES[op], sync_op)
    mpi, comm = world.mpi, members.comm
    if tensor.dtype.name in REDUCED and ready(tensor) is tensor:
        buffer = values_of(mpi, tensor)

        def finish() -> None:
            if op == ReduceOp.AVG:
                with no_grad():
                    ops.multiply.into((tensor.detach(),), tensor.detach(), _number(1.0 / members.nranks, tensor.dtype))
            tensor.mark_written()
    else:
        copy = _for_sum(tensor)
        buffer = values_of(mpi, copy)

        def finish() -> None:
            _back(tensor, copy, op, members.nranks)

    return _ended(
        run(members, f"all_reduce({said(tensor)}, {name})", lambda: comm.Iallreduce(mpi.IN_PLACE, buffer, op=how), finish), sync_op)


def _number(value: float, dtype: Any) -> Tensor:
    from wherry_tensor import to_tensor

    return to_tensor(value, dtype=dtype, place="cpu")


def reduce(tensor: Tensor, dst: int = 0, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Task:
    """`all_reduce`, with the result in process `dst` alone; tensors of others stay.

    Shape:
        The same in all processes, `[...]`.

    Source:
        `paddle.distributed.reduce`.
    """
    tensor = require_tensor(tensor, "reduce", "tensor")
    how = _operation("reduce", op, tensor.dtype.name)
    members = group_of("reduce", group)
    if members is None:
        return Task()
    root = _place_of("reduce", "dst", dst, members)
    if members.comm is None:
        return Task()
    what = f"reduce({said(tensor)}, {NAMES[op]}, dst={dst})"
    if (engine := engine_of("reduce", members, tensor)) is not None:
        return engine.reduce(tensor, NAMES[op], root, what, sync_op)
    mpi, copy = world.mpi, _for_sum(tensor)
    result = room(copy.shape, copy.dtype)
    at_root = members.rank == root
    return _ended(
        run(
            members, what,
            lambda: members.comm.Ireduce(values_of(mpi, copy), values_of(mpi, result) if at_root else None, op=how, root=root),
            (lambda: _back(tensor, result, op, members.nranks)) if at_root else None,
        ), sync_op)


def broadcast(tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """Write the tensor of process `src` into that of all others.

    Shape:
        The same in all processes, `[...]`.

    Source:
        `paddle.distributed.broadcast`.
    """
    tensor = require_tensor(tensor, "broadcast", "tensor")
    members = group_of("broadcast", group)
    if members is None:
        return Task()
    root = _place_of("broadcast", "src", src, members)
    if members.comm is None:
        return Task()
    what = f"broadcast({said(tensor)}, src={src})"
    if (engine := engine_of("broadcast", members, tensor)) is not None:
        return engine.broadcast(tensor, root, what, sync_op)
    if members.rank == root:
        source, finish = ready(tensor), None
    else:
        landing = Landing(tensor)
        source, finish = landing.memory, landing.done
    return _ended(
        run(members, what, lambda: members.comm.Ibcast(bytes_of(world.mpi, source), root=root), finish), sync_op)


def _deliver(results: Any, parts: Sequence[Tensor]) -> None:
    """Put tensors that have arrived into a list: an empty one takes them, one with tensors is written into."""
    if not results:
        results.extend(parts)
    else:
        for target, part in zip(results, parts, strict=True):
            write(target, part)


def _room_for(op_name: str, results: Any, count: int, like: Tensor) -> None:
    if not isinstance(results, list) or (results and len(results) != count):
        raise InvalidArgumentError(
            f"{op_name}: the list of results does not fit. Got {len(results) if isinstance(results, list) else short(results)}, expected an empty "
            f"list, or {count} tensors. Pass []."
        )
    for each in results:
        if not isinstance(each, Tensor) or each.shape != like.shape or each.dtype is not like.dtype:
            raise InvalidArgumentError(
                f"{op_name}: a tensor for results does not fit. Got {said(each) if isinstance(each, Tensor) else short(each)}, expected "
                f"{said(like)}. Pass [] to have them made."
            )


def all_gather(tensor_list: Any, tensor: Tensor, group: Group | None = None, sync_op: bool = True) -> Task:
    """The tensors of all processes, in each of them.

    Args:
        tensor_list: an empty list, which gets them in the order of ranks; a list of tensors, which are written; or one tensor with a
            first axis as many times as long.
        tensor: what this process gives.

    Shape:
        `[...]`, the same in all processes.

    Source:
        `paddle.distributed.all_gather`.
    """
    tensor = require_tensor(tensor, "all_gather", "tensor")
    members = group_of("all_gather", group)
    if members is None:
        return Task()
    count, engine = members.nranks, engine_of("all_gather", members, tensor)
    gathered = room([count, *tensor.shape], tensor.dtype, tensor if engine else None)
    finish = _spread("all_gather", tensor_list, tensor, gathered, count)
    if members.comm is None:
        write(gathered[0], tensor)
        finish()
        return Task()
    what = f"all_gather({said(tensor)})"
    if engine is not None:
        return engine.all_gather(tensor, gathered, what, finish, sync_op)
    source = ready(tensor)
    return _ended(
        run(
            members, what,
            lambda: members.comm.Iallgather(bytes_of(world.mpi, source), blocks_of(world.mpi, gathered, count)), finish,
        ), sync_op)


def _spread(op_name: str, results: Any, like: Tensor, gathered: Tensor, count: int) -> Callable[[], None]:
    if isinstance(results, Tensor):
        if results.size != count * like.size or results.dtype is not like.dtype:
            raise InvalidArgumentError(
                f"{op_name}: the tensor for results does not fit. Got {said(results)}, expected {count * like.size} elements of {like.dtype.name}. "
                f"Make it {count} times as long along its first axis."
            )
        return lambda: write(results, gathered.reshape(results.shape))
    _room_for(op_name, results, count, like)
    return lambda: _deliver(results, [gathered[i] for i in range(count)])


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """The tensors of all processes, in process `dst`.

    Shape:
        `[...]`, the same in all processes.

    Source:
        `paddle.distributed.gather`.
    """
    tensor = require_tensor(tensor, "gather", "tensor")
    members = group_of("gather", group)
    if members is None:
        return Task()
    root = _place_of("gather", "dst", dst, members)
    at_root, finish, into, engine = members.rank == root, None, None, engine_of("gather", members, tensor)
    if at_root:
        into = room([members.nranks, *tensor.shape], tensor.dtype, tensor if engine else None)
        finish = _spread("gather", [] if gather_list is None else gather_list, tensor, into, members.nranks)
    if members.comm is None:
        assert into is not None and finish is not None
        write(into[0], tensor)
        finish()
        return Task()
    what = f"gather({said(tensor)}, dst={dst})"
    if engine is not None:
        source = tensor if tensor.is_contiguous() else own_copy(tensor)
        return engine.exchange(
            what, source, _bytes_for([root], source, members.nranks), into,
            _bytes_for(range(members.nranks) if at_root else (), source, members.nranks), finish, sync_op)
    source = ready(tensor)
    return _ended(
        run(
            members, what,
            lambda: members.comm.Igather(
                bytes_of(world.mpi, source), None if into is None else blocks_of(world.mpi, into, members.nranks), root=root), finish,
        ), sync_op)


def _bytes_for(places: Iterable[int], x: Tensor, count: int) -> list[int]:
    """The size of `x` at some places of `count`."""
    chosen = set(places)
    return [x.memory().nbytes if place in chosen else 0 for place in range(count)]


def _pieces(op_name: str, items: Any, count: int, like: Tensor | None = None) -> Tensor:
    """Tensors of a list, or rows of a tensor, one after the other in memory of their own, where they lie."""
    if isinstance(items, Tensor):
        if items.ndim == 0 or items.shape[0] % count:
            raise InvalidArgumentError(
                f"{op_name}: the first axis does not divide by the processes. Got {said(items)} for {count}, expected a multiple. Pad it."
            )
        return own_copy(items)
    if not isinstance(items, (list, tuple)) or len(items) != count or not all(isinstance(each, Tensor) for each in items):
        raise InvalidArgumentError(
            f"{op_name}: one tensor for each process is needed. Got {short(items) if not isinstance(items, (list, tuple)) else len(items)}, "
            f"expected a list of {count} tensors. Ask get_world_size()."
        )
    like = items[0] if like is None else like
    for each in items:
        if each.shape != like.shape or each.dtype is not like.dtype:
            raise InvalidArgumentError(f"{op_name}: tensors differ. Got {said(each)} beside {said(like)}, expected one shape and dtype. Pad them.")
    packed = room([count, *like.shape], like.dtype, like)
    for i, each in enumerate(items):
        write(packed[i], each)
    return packed


def scatter(
    tensor: Tensor, tensor_list: Any = None, src: int = 0, group: Group | None = None, sync_op: bool = True
) -> Task:
    """Give each process one tensor of the list that process `src` has.

    Args:
        tensor: is written.
        tensor_list: in `src`, one tensor for each process, or one tensor that is cut along its first axis.

    Shape:
        `[...]`, the same in all processes.

    Source:
        `paddle.distributed.scatter`.
    """
    tensor = require_tensor(tensor, "scatter", "tensor")
    members = group_of("scatter", group)
    if members is None:
        return Task()
    root = _place_of("scatter", "src", src, members)
    packed = _pieces("scatter", tensor_list, members.nranks, tensor) if members.rank == root else None
    if packed is not None and (packed.size != members.nranks * tensor.size or packed.dtype is not tensor.dtype):
        raise InvalidArgumentError(f"scatter: pieces do not fit. Got {said(packed)} in all, expected {members.nranks} of {said(tensor)}. Cut it.")
    if members.comm is None:
        assert packed is not None
        write(tensor, packed.reshape(tensor.shape))
        return Task()
    what = f"scatter({said(tensor)}, src={src})"
    if (engine := engine_of("scatter", members, tensor)) is not None:
        into = own_copy(tensor)
        everyone = _bytes_for(range(members.nranks) if packed is not None else (), tensor, members.nranks)
        return engine.exchange(
            what, packed, everyone, into, _bytes_for([root], tensor, members.nranks), lambda: write(tensor, into), sync_op)
    landing, pieces = Landing(tensor), None if packed is None else ready(packed)
    return _ended(
        run(
            members, what,
            lambda: members.comm.Iscatter(
                None if pieces is None else blocks_of(world.mpi, pieces, members.nranks), bytes_of(world.mpi, landing.memory), root=root),
            landing.done,
        ), sync_op)


def reduce_scatter(
    tensor: Tensor, tensor_list: Any, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Task:
    """Reduce lists of tensors of all processes, one by one, and give each process one of the results.

    Args:
        tensor: is written.
        tensor_list: one tensor for each process, or one that is cut along its first axis.

    Shape:
        `[...]`, the same in all processes.

    Source:
        `paddle.distributed.reduce_scatter`.
    """
    tensor = require_tensor(tensor, "reduce_scatter", "tensor")
    how = _operation("reduce_scatter", op, tensor.dtype.name)
    members = group_of("reduce_scatter", group)
    if members is None:
        return Task()
    packed = _pieces("reduce_scatter", tensor_list, members.nranks, tensor)
    if packed.size != members.nranks * tensor.size or packed.dtype is not tensor.dtype:
        raise InvalidArgumentError(
            f"reduce_scatter: pieces do not fit. Got {said(packed)} in all, expected {members.nranks} of {said(tensor)}. Cut it anew."
        )
    if members.comm is None:
        write(tensor, packed.reshape(tensor.shape))
        return Task()
    what = f"reduce_scatter({said(tensor)}, {NAMES[op]})"
    if (engine := engine_of("reduce_scatter", members, packed)) is not None:
        return engine.reduce_scatter(tensor, packed, NAMES[op], what, sync_op)
    packed = _for_sum(packed) if packed.dtype.name in THROUGH else ready(packed)
    result = room(tensor.shape, packed.dtype)
    mpi = world.mpi
    return _ended(
        run(
            members, what,
            lambda: members.comm.Ireduce_scatter_block(values_of(mpi, packed, members.nranks), values_of(mpi, result), op=how),
            lambda: _back(tensor, result, op, members.nranks),
        ), sync_op)


def alltoall(in_tensor_list: Any, out_tensor_list: Any, group: Group | None = None, sync_op: bool = True) -> Task:
    """From each process one tensor to each: process `i` gets the `i`-th of every list.

    Args:
        in_tensor_list: one tensor for each process, or one that is cut along its first axis.
        out_tensor_list: an empty list, one of tensors, or one tensor.

    Shape:
        `[...]`, the same in all processes.

    Source:
        `paddle.distributed.alltoall`.
    """
    members = group_of("alltoall", group)
    if members is None:
        return Task()
    count = members.nranks
    packed = _pieces("alltoall", in_tensor_list, count)
    piece = packed[0] if not isinstance(in_tensor_list, Tensor) else packed[: packed.shape[0] // count]
    what, engine = f"alltoall({count} x {said(piece)})", engine_of("alltoall", members, packed)
    received = room(packed.shape, packed.dtype, packed if engine else None)
    parts = received if not isinstance(in_tensor_list, Tensor) else received.reshape([count, *piece.shape])
    finish = _spread("alltoall", out_tensor_list, piece, parts, count)
    if members.comm is None:
        write(received, packed)
        finish()
        return Task()
    if engine is not None:
        sizes = _bytes_for(range(count), piece, count)
        return engine.exchange(what, packed, sizes, received, sizes, finish, sync_op)
    sent = ready(packed)
    return _ended(
        run(
            members, what,
            lambda: members.comm.Ialltoall(blocks_of(world.mpi, sent, count), blocks_of(world.mpi, received, count)), finish,
        ), sync_op)


def alltoall_single(
    in_tensor: Tensor, out_tensor: Tensor, in_split_sizes: Sequence[int] | None = None, out_split_sizes: Sequence[int] | None = None,
    group: Group | None = None, sync_op: bool = True,
) -> Task:
    """`alltoall` of one tensor, which is cut along its first axis.

    Args:
        in_split_sizes, out_split_sizes: how many rows go to, and come from, each process; None for equally many.

    Shape:
        `[n, ...]` to `[m, ...]`.

    Source:
        `paddle.distributed.alltoall_single`.
    """
    in_tensor, out_tensor = require_tensor(in_tensor, "alltoall_single", "in_tensor"), require_tensor(out_tensor, "alltoall_single", "out_tensor")
    members = group_of("alltoall_single", group)
    if members is None:
        return Task()
    sent, taken = _splits("in", in_tensor, in_split_sizes, members.nranks), _splits("out", out_tensor, out_split_sizes, members.nranks)
    if in_tensor.shape[1:] != out_tensor.shape[1:] or in_tensor.dtype is not out_tensor.dtype:
        raise InvalidArgumentError(
            f"alltoall_single: rows differ. Got {said(in_tensor)} to {said(out_tensor)}, expected the same dtype and shape after the first "
            f"axis. Make out_tensor like in_tensor."
        )
    if members.comm is None:
        write(out_tensor, in_tensor)
        return Task()
    row = in_tensor.dtype.itemsize * int(np.prod(in_tensor.shape[1:], dtype=np.int64))
    mpi, what = world.mpi, f"alltoall_single({in_tensor.dtype.name}{['*', *in_tensor.shape[1:]]})"
    if (engine := engine_of("alltoall_single", members, in_tensor)) is not None:
        into = own_copy(out_tensor)
        return engine.exchange(
            what, own_copy(in_tensor), [size * row for size in sent], into, [size * row for size in taken], lambda: write(out_tensor, into), sync_op)
    landing, source = Landing(out_tensor), ready(in_tensor)

    def buffer(x: Tensor, sizes: Sequence[int]) -> list[Any]:
        counts = [size * row for size in sizes]
        return [bytes_of(mpi, x)[0], (counts, [0, *itertools.accumulate(counts[:-1])]), mpi.BYTE]

    return _ended(
        run(
            members, what,
            lambda: members.comm.Ialltoallv(buffer(source, sent), buffer(landing.memory, taken)), landing.done,
        ), sync_op)


def _splits(name: str, x: Tensor, sizes: Sequence[int] | None, count: int) -> list[int]:
    rows = x.shape[0] if x.ndim else 0
    if not sizes and rows % count == 0:
        return [rows // count] * count
    if not sizes or len(sizes) != count or sum(sizes) != rows or min(sizes) < 0:
        raise InvalidArgumentError(
            f"alltoall_single: {name}_split_sizes do not fit. Got {short(sizes)} for {said(x)} and {count} processes, expected {count} sizes >= 0 "
            f"that add up to {rows}. Leave them out for equal parts."
        )
    return [int(size) for size in sizes]


def barrier(group: Group | None = None) -> None:
    """Wait until all processes are here, with what they have begun in GPUs.

    Source:
        `paddle.distributed.barrier`.

    Examples:
        >>> wherry.distributed.barrier()
    """
    members = group_of("barrier", group)
    if members is not None and members.comm is not None:
        if members.engine:
            members.engine.drain()
        run(members, "barrier()", lambda: members.comm.Ibarrier()).wait()


def wait(tensor: Tensor, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Wait for what is written into `tensor`; a task of `sync_op=False` is waited for by its own `wait()`.

    On a CPU nothing else is on its way; of a GPU, the current stream waits for what the group has begun.

    Source:
        `paddle.distributed.wait`.
    """
    require_tensor(tensor, "wait", "tensor")
    members = group_of("wait", group)
    if members is not None and members.engine:
        members.engine.join()


# From one process to another. A header of the sender's dtype and shape comes first, and the receiver compares.

HEADER = 12  # int64: dtype, rank, sizes; the last is 1 where NCCL carries the values


DTYPES = ("bool", *REDUCED, "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


def _header(x: Tensor, by_nccl: bool) -> np.ndarray[Any, Any]:
    return np.array([DTYPES.index(x.dtype.name), x.ndim, *x.shape] + [0] * (HEADER - 3 - x.ndim) + [int(by_nccl)], np.int64)


def _peer(op_name: str, name: str, rank: int, group: Group) -> int:
    place = _place_of(op_name, name, rank, group)
    if group.nranks == 1 or place == group.rank:
        raise InvalidArgumentError(
            f"{op_name}: a message to oneself never arrives. Got {name}={rank} in rank {rank}, expected another rank of {short(group.ranks)}. "
            f"Use the tensor as it is."
        )
    return place


def isend(tensor: Tensor, dst: int = 0, group: Group | None = None) -> Task:
    """`send` that returns at once; the tensor may be changed when `task.wait()` is over.

    Source:
        `paddle.distributed.isend`.
    """
    tensor = require_tensor(tensor, "send", "tensor")
    members = group_of("send", group)
    if members is None:
        return Task()
    place = _peer("send", "dst", dst, members)
    refuse_broken()
    engine = pair_engine("send", members, tensor)
    header, comm, mpi, what = _header(tensor, engine is not None), members.comm, world.mpi, f"send({said(tensor)}, dst={dst}) at {site()}"
    watch = Watch(members, 0, 0, what, [dst])
    if engine is not None:
        return engine.message(tensor, place, what, True, Task(comm.Isend(header, dest=place, tag=1).Test, watch, held=header))
    source = ready(tensor)
    requests = [comm.Isend(header, dest=place, tag=1), comm.Isend(bytes_of(mpi, source), dest=place, tag=2)]
    return Task(lambda: mpi.Request.Testall(requests), watch, held=(header, source))


def irecv(tensor: Tensor, src: int | None = None, group: Group | None = None) -> Task:
    """`recv` that returns at once; the tensor is written when `task.wait()` is over.

    Source:
        `paddle.distributed.irecv`.
    """
    tensor = require_tensor(tensor, "recv", "tensor")
    members = group_of("recv", group)
    if members is None:
        return Task()
    place = _peer("recv", "src", src or 0, members)
    refuse_broken()
    engine = pair_engine("recv", members, tensor)
    header, expected = np.empty(HEADER, np.int64), _header(tensor, engine is not None)
    what = f"recv({said(tensor)}, src={src or 0}) at {site()}"
    comm, mpi, watch = members.comm, world.mpi, Watch(members, 0, 0, what, [src or 0])
    first = comm.Irecv(header, source=place, tag=1)

    def compare() -> None:
        if not np.array_equal(header[:-1], expected[:-1]):
            sent = f"{DTYPES[int(header[0])]}{header[2 : 2 + int(header[1])].tolist()}"
            raise_everywhere(f"{what}: rank {src or 0} sends another tensor, {sent}. Both ends need the same shape and dtype.")
        if header[-1] != expected[-1]:
            raise_everywhere(
                f"{what}: rank {src or 0} sends {'from a GPU' if header[-1] else 'through the host'}, and this rank receives in another way. Set the "
                f"device before init_parallel_env(), and use tensors of GPUs at both ends."
            )

    if engine is not None:
        return engine.message(tensor, place, what, False, Task(first.Test, watch, compare, header))
    landing = Landing(tensor)
    second = comm.Irecv(bytes_of(mpi, landing.memory), source=place, tag=2)
    known = Task(first.Test, None, compare, header)
    return Task(lambda: known.is_completed() and bool(second.Test()), watch, landing.done)


def send(tensor: Tensor, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """Send a tensor to process `dst`, which receives it with `recv`.

    Shape:
        `[...]`, as that of the receiver.

    Raises:
        ValueError: `dst` is this process, or no member of the group.
        CollectiveError: the receiver expects another shape or dtype, or is gone.

    Source:
        `paddle.distributed.send`.
    """
    return _ended(isend(tensor, dst, group), sync_op)


def recv(tensor: Tensor, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """Receive what process `src` sends, into `tensor`.

    Shape:
        `[...]`, as that of the sender.

    Source:
        `paddle.distributed.recv`.
    """
    return _ended(irecv(tensor, src, group), sync_op)


class P2POp:
    """A message of `batch_isend_irecv`: `isend` or `irecv`, a tensor, and the other process.

    Source:
        `paddle.distributed.P2POp`.
    """

    def __init__(self, op: Callable[..., Task], tensor: Tensor, peer: int, group: Group | None = None) -> None:
        if op not in (isend, irecv):
            raise InvalidArgumentError(
                f"P2POp: op is neither isend nor irecv. Got {getattr(op, '__name__', short(op))}, expected paddle.distributed.isend or irecv. "
            f"Pass the function."
            )
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Task]:
    """Begin several messages; returns their tasks. Those to receive are begun first, so that no order can make two processes wait for each other.

    Source:
        `paddle.distributed.batch_isend_irecv`.
    """
    if not p2p_op_list or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise InvalidArgumentError(
            f"batch_isend_irecv: the list holds something else. Got {short(p2p_op_list)}, expected P2POps, at least one. "
            f"Make them with P2POp(isend, ...)."
        )
    return [each.op(each.tensor, each.peer, each.group) for each in p2p_op_list]


# Objects.


def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """The objects of all processes, in the list of each. Objects are pickled.

    Source:
        `paddle.distributed.all_gather_object`.

    Examples:
        >>> found = []
        >>> wherry.distributed.all_gather_object(found, {"rank": 0})
        >>> found
        [{'rank': 0}]
    """
    members = group_of("all_gather_object", group)
    if members is not None:
        object_list[:] = gather_objects("all_gather_object()", members, obj)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: Group | None = None) -> None:
    """The objects of all processes, in the list of process `dst`."""
    members = group_of("gather_object", group)
    if members is None:
        return
    root = _place_of("gather_object", "dst", dst, members)
    found = gather_objects(f"gather_object(dst={dst})", members, obj)
    if members.rank == root and object_gather_list is not None:
        object_gather_list[:] = found


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Group | None = None) -> None:
    """Replace the objects of a list by those of process `src`.

    Source:
        `paddle.distributed.broadcast_object_list`.
    """
    members = group_of("broadcast_object_list", group)
    if members is None:
        return
    root = _place_of("broadcast_object_list", "src", src, members)
    if members.comm is not None:
        found = object_of_root(f"broadcast_object_list({len(object_list)}, src={src})", members, object_list if members.rank == root else None, root)
        object_list[:] = found


def scatter_object_list(out_object_list: list[Any], in_object_list: Sequence[Any] | None = None, src: int = 0, group: Group | None = None) -> None:
    """Give each process one object of the list that process `src` has.

    Source:
        `paddle.distributed.scatter_object_list`.
    """
    members = group_of("scatter_object_list", group)
    if members is None:
        return
    root = _place_of("scatter_object_list", "src", src, members)
    if members.rank == root and (not isinstance(in_object_list, (list, tuple)) or len(in_object_list) != members.nranks):
        raise InvalidArgumentError(
            f"scatter_object_list: one object for each process is needed. Got {short(in_object_list)}, expected a list of "
            f"{members.nranks}. Ask get_world_size()."
        )
    found = list(in_object_list or ()) if members.comm is None else object_of_root(f"scatter_object_list(src={src})", members, in_object_list, root)
    out_object_list[:] = [found[members.rank]]


explained(globals())
