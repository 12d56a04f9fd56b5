"""Collectives that gradients pass through: what layers that are divided among processes are made of.

Each is a pair: what one direction copies to all processes, the other sums, and what one cuts, the other puts together (Shoeybi et al.,
"Megatron-LM", 2019). Along the last axis, as Paddle's.
"""
from __future__ import annotations

from typing import Any

from wherry_autograd import PyLayer
from wherry_distributed.collective import ReduceOp, all_gather, all_reduce
from wherry_distributed.world import Group, group_of
from wherry_tensor import Tensor, concat, ops
from wherry_tensor.errors import InvalidArgumentError


def _summed(x: Tensor, group: Group) -> Tensor:
    total = ops.copy(x)
    all_reduce(total, ReduceOp.SUM, group)
    return total


def _joined(x: Tensor, group: Group) -> Tensor:
    parts: list[Tensor] = []
    all_gather(parts, x, group)
    return concat(parts, axis=-1)


def _own_part(x: Tensor, group: Group) -> Tensor:
    if not x.ndim or x.shape[-1] % group.nranks:
        raise InvalidArgumentError(
            f"_c_split: the last axis does not divide. Got shape {x.shape} for {group.nranks} processes, expected a multiple. Pad it."
        )
    size = x.shape[-1] // group.nranks
    return ops.copy(x[..., group.rank * size : (group.rank + 1) * size])


class _Identity(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return ops.copy(x)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        return _summed(ct, ctx.group)


class _Sum(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        return _summed(x, group)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        return ops.copy(ct)


class _Join(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return _joined(x, group)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        return _own_part(ct, ctx.group)


class _Cut(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return _own_part(x, group)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        return _joined(ct, ctx.group)


def _applied(layer: type[PyLayer], name: str, x: Tensor, group: Group | None) -> Tensor:
    members = group_of(name, group)
    if members is None or members.nranks == 1:
        return x
    result: Tensor = layer.apply(x, members)
    return result


def _c_identity(tensor: Tensor, group: Group | None = None, skip_c_identity_dynamic: bool = False) -> Tensor:
    """The tensor itself, whose cotangent is summed over the processes: before a layer of which each has some columns."""
    return tensor if skip_c_identity_dynamic else _applied(_Identity, "_c_identity", tensor, group)


def _mp_allreduce(
    tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, use_calc_stream: bool = True, use_model_parallel: bool = True,
    skip_c_identity_dynamic: bool = False,
) -> Tensor:
    """The sum over the processes, whose cotangent goes to each: behind a layer of which each has some rows."""
    if op != ReduceOp.SUM:
        raise InvalidArgumentError(f"_mp_allreduce: only sums have such a gradient. Got op={op}, expected ReduceOp.SUM. Use all_reduce.")
    return _applied(_Sum, "_mp_allreduce", tensor, group)


def _c_concat(tensor: Tensor, group: Group | None = None) -> Tensor:
    """The parts of all processes side by side along the last axis; the cotangent is cut."""
    return _applied(_Join, "_c_concat", tensor, group)


def _c_split(tensor: Tensor, group: Group | None = None) -> Tensor:
    """This process's part along the last axis; cotangents of all are put together."""
    return _applied(_Cut, "_c_split", tensor, group)
