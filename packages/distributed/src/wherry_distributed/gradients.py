"""Gradients added up over processes after backward: in buckets, all of them on their way at the same time.

`DataParallel` does it while backward goes on (`reducer.py`). What is here serves models that are divided in other ways too, whose
optimizer asks for it in `step`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_autograd.selected_rows import SelectedRows
from wherry_distributed.collective import ReduceOp, all_gather, all_reduce, alltoall, broadcast
from wherry_distributed.reducer import report_nan
from wherry_distributed.world import Group, world
from wherry_tensor import Tensor, concat, ops, to_tensor, zeros

BUCKET = 4 << 20  # bytes


def buckets(tensors: Sequence[Tensor], limit: int = BUCKET) -> Iterator[list[Tensor]]:
    """Tensors of one dtype together, in order, cut where a bucket is full."""
    open_: dict[str, list[Tensor]] = {}
    for x in tensors:
        some = open_.setdefault(x.dtype.name, [])
        some.append(x)
        if sum(each.size * each.dtype.itemsize for each in some) >= limit:
            yield open_.pop(x.dtype.name)
    yield from (some for some in open_.values() if some)


def flattened(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors of one dtype one after the other."""
    return concat([x.detach().reshape([-1]) for x in tensors])


def write_back(flat: Tensor, targets: Sequence[Tensor]) -> None:
    """The opposite of `flattened`."""
    at = 0
    for x in targets:
        ops.copy.into((x.detach(),), flat[at : at + x.size].reshape(x.shape))
        at += x.size


def dense_gradients(parameters: Sequence[Any]) -> list[Any]:
    """The parameters that have a gradient and are not this process's alone (`no_sync`). The gradients are dense afterwards."""
    for p in parameters:
        if getattr(p, "main_grad", None) is not None:  # in float32, of a parameter of 16 bits
            p.grad = p.main_grad
    found = [p for p in parameters if not p.stop_gradient and p.grad is not None and not getattr(p, "no_sync", False)]
    for p in found:
        if isinstance(p.grad, SelectedRows):
            p.grad = p.grad.to_dense()
    return found


def reduce_gradients(parameters: Sequence[Any], group: Group, scale: float | None = None, limit: int = BUCKET) -> None:
    """Replace the gradients by their sum over a group, divided by `scale`, None: by the number of processes.

    NaN is reported with the rank that it comes from.
    """
    if group.comm is None or group.nranks == 1:
        return
    sent: list[tuple[list[Any], Tensor, Any]] = []
    with no_grad():
        found = dense_gradients(parameters)
        by_grad = {id(p.grad): p for p in found}
        for some in buckets([p.grad for p in found], limit):
            flat = flattened(some)
            flat = concat([flat, _own_flag(flat, group)])
            sent.append(([by_grad[id(g)] for g in some], flat, all_reduce(flat, ReduceOp.SUM, group, sync_op=False)))
        factor = 1.0 / (group.nranks if scale is None else scale)
        for params, flat, task in sent:
            task.wait()
            size = flat.shape[0] - group.nranks
            write_back(flat[:size] * to_tensor(factor, dtype=flat.dtype), [p.grad for p in params])
            bad = np.flatnonzero(flat[size:].astype("float32").numpy())
            if len(bad):
                report_nan([group.ranks[i] for i in bad], [p for p in params if _has_nan(p.grad)])


def name_own_nan(parameters: Sequence[Any], gradients: Sequence[Tensor] | None = None) -> None:
    """Report NaN in gradients of this process, which nobody has added to others yet."""
    found = dense_gradients(parameters) if gradients is None else list(parameters)
    held = [p.grad for p in found] if gradients is None else list(gradients)
    if held and not bool(ops.all_finite(*held)):
        bad = [p for p, g in zip(found, held, strict=True) if _has_nan(g)]
        if bad:
            report_nan([world.rank], bad)


def _has_nan(x: Tensor) -> bool:
    total = x.astype("float32").sum().item()
    return bool(total != total)


def _own_flag(flat: Tensor, group: Group) -> Tensor:
    flag = np.zeros(group.nranks, np.float32)
    flag[group.rank] = _has_nan(flat)
    return to_tensor(flag).astype(flat.dtype)


def narrow_sum(flat: Tensor, group: Group, dtype: str = "float16") -> Tensor:
    """The sum over a group of 1-D float32 tensors, which travel in 16 bits: half the bytes.

    Each process adds up its part in float32, so that a number is rounded twice, however many processes there are.
    """
    count, size = group.nranks, flat.shape[0]
    piece = -(-size // count)
    padded = concat([flat, zeros([piece * count - size], dtype=flat.dtype)]) if piece * count > size else flat
    received: list[Tensor] = []
    alltoall([padded[i * piece : (i + 1) * piece].astype(dtype) for i in range(count)], received, group)
    total = received[0].astype("float32")
    for x in received[1:]:
        total = total + x.astype("float32")
    parts: list[Tensor] = []
    all_gather(parts, total.astype(dtype), group)
    return concat(parts)[:size].astype(flat.dtype)


def map_gradients(parameters: Sequence[Any], function: Callable[[Tensor], Tensor], limit: int = BUCKET) -> None:
    """Replace gradients by `function` of them, bucket by bucket of one after the other."""
    with no_grad():
        for some in buckets([p.grad for p in dense_gradients(parameters)], limit):
            write_back(function(flattened(some)), some)


def broadcast_tensors(tensors: Sequence[Tensor], src: int, group: Group) -> None:
    """Write the tensors of process `src` into those of all others of a group, many in one message."""
    if group.comm is None or group.nranks == 1:
        return
    with no_grad():
        sent = []
        for some in buckets(tensors):
            flat = flattened(some)
            sent.append((some, flat, broadcast(flat, src, group, sync_op=False)))
        for some, flat, task in sent:
            task.wait()
            if group.ranks[group.rank] != src:
                write_back(flat, some)
