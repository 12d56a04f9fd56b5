"""Collectives that gradients pass through: what layers that are divided among processes are made of.

Each is a pair: what one direction copies to all processes, the other sums, and what one cuts, the other puts together (Shoeybi et al.,
"Megatron-LM", 2019). Along the last axis, as Paddle's.
"""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from wherry_autograd import PyLayer
from wherry_distributed.collective import ReduceOp, all_gather, all_reduce
from wherry_distributed.world import Group, group_of
from wherry_nn import functional as F  # noqa: N812
from wherry_program.program.capture import current_capture
from wherry_program.program.control import py_func
from wherry_program.program.control.recording import sizes_of
from wherry_tensor import Tensor, concat, logical_and, ops, where, zeros, zeros_like
from wherry_tensor.errors import InvalidArgumentError


def when_run(function: Callable[..., Tensor], x: Tensor, axis: int = 0, factor: Fraction = Fraction(1)) -> Tensor:
    """A function of a tensor, which exchanges values with other processes; in a program it is computed when that runs.

    Args:
        axis, factor: of the result, which is so many times as long along one axis.
    """
    if current_capture() is None:
        return function(x)
    sizes = list(sizes_of(x))
    if sizes and factor != 1:
        sizes[axis] = int(sizes[axis] * factor) if sizes[axis] > 0 else -1
    return py_func(function, [x], [(tuple(sizes), x.dtype)])[0]


def reduced(x: Tensor, group: Group, op: int = ReduceOp.SUM) -> Tensor:
    """The sum over the processes, or their largest, as a new tensor; in a program it is computed when that runs."""
    def summed(value: Tensor) -> Tensor:
        total = ops.copy(value)
        all_reduce(total, op, group)
        return total

    return when_run(summed, x)


def _joined(x: Tensor, group: Group) -> Tensor:
    def joined(value: Tensor) -> Tensor:
        parts: list[Tensor] = []
        all_gather(parts, value, group)
        return concat(parts, axis=-1)

    return when_run(joined, x, -1, Fraction(group.nranks))


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
        return reduced(ct, ctx.group)


class _Sum(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        return reduced(x, group)

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
    """The sum over the processes, whose cotangent goes to each: after a layer of which each has some rows."""
    if op != ReduceOp.SUM:
        raise InvalidArgumentError(f"_mp_allreduce: only sums have such a gradient. Got op={op}, expected ReduceOp.SUM. Use all_reduce.")
    return _applied(_Sum, "_mp_allreduce", tensor, group)


def _c_concat(tensor: Tensor, group: Group | None = None) -> Tensor:
    """The parts of all processes side by side along the last axis; the cotangent is cut."""
    return _applied(_Join, "_c_concat", tensor, group)


def _c_split(tensor: Tensor, group: Group | None = None) -> Tensor:
    """This process's part along the last axis; cotangents of all are put together."""
    return _applied(_Cut, "_c_split", tensor, group)


# Rows of a table, and the loss of classes, that are divided.


class _Lookup(PyLayer):
    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor, start: int) -> Tensor:
        inside = logical_and(index >= start, index < start + table.shape[0])
        rows = where(inside, index - start, zeros_like(index))
        ctx.rows, ctx.inside, ctx.shape = rows, inside.unsqueeze(-1), table.shape
        found = F.embedding(rows, table)
        return where(ctx.inside.expand(found.shape), found, zeros_like(found))

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Any:
        mine = where(ctx.inside.expand(ct.shape), ct, zeros_like(ct))
        table = zeros(ctx.shape, dtype=ct.dtype)
        ops.index_put.into((table,), table, mine.reshape([-1, ctx.shape[-1]]), ctx.rows.reshape([-1]), axes=(0,), accumulate=True)
        return table, None


def _c_lookup_table(table: Tensor, index: Tensor, start_index: int = 0, vocab_size: int = -1, name: str | None = None) -> Tensor:
    """Rows of a table of which this process has those from `start_index` on; zeros for rows of others."""
    if table.stop_gradient and start_index == 0 and vocab_size in (-1, table.shape[0]):
        return F.embedding(index, table)
    result: Tensor = _Lookup.apply(table, index, start_index)
    return result


class _SoftmaxCrossEntropy(PyLayer):
    """Logits of which each process has some classes: the largest one, the sum and the logit of the label are asked of all."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, label: Tensor, group: Group, ignored: int) -> tuple[Tensor, Tensor]:
        wide = logits.astype("float32") if logits.dtype.name in ("float16", "bfloat16") else logits
        classes, start = wide.shape[-1], wide.shape[-1] * group.rank
        largest = reduced(wide.max(axis=-1, keepdim=True), group, ReduceOp.MAX)
        shifted = wide - largest
        exponents = shifted.exp()
        inside = logical_and(label >= start, label < start + classes)
        place = where(inside, label - start, zeros_like(label))
        of_label = shifted.take_along_axis(place, axis=-1)
        of_label = where(inside, of_label, zeros_like(of_label))
        total = exponents.sum(axis=-1, keepdim=True)
        both = reduced(concat([total, of_label], axis=-1), group)
        total, of_label = both[..., 0:1], both[..., 1:2]
        loss = total.log() - of_label
        loss = where(label == ignored, zeros_like(loss), loss)
        softmax = exponents / total
        ctx.save_for_backward(softmax)
        ctx.place, ctx.inside, ctx.counts, ctx.dtype = place, inside, label != ignored, logits.dtype
        ctx.mark_non_differentiable(softmax)
        return loss, softmax

    @staticmethod
    def backward(ctx: Any, ct: Tensor, _: Any) -> Any:
        (softmax,) = ctx.saved_tensor()
        hot = F.one_hot(ctx.place.squeeze(-1), softmax.shape[-1]).astype(softmax.dtype) * ctx.inside.astype(softmax.dtype)
        gradient = (softmax - hot) * (ct.astype(softmax.dtype) * ctx.counts.astype(softmax.dtype))
        return gradient.astype(ctx.dtype), None


def _c_softmax_with_cross_entropy(
    logits: Tensor, label: Tensor, group: Group | None = None, return_softmax: bool = False, ignore_index: int = -100
) -> Any:
    """Cross entropy of logits whose classes are divided among processes in the order of ranks, with labels among all classes.

    Shape:
        `[..., classes of this process]` and labels `[...]` or `[..., 1]` to `[..., 1]`.
    """
    members = group_of("_c_softmax_with_cross_entropy", group)
    if members is None:
        return None
    if label.ndim == logits.ndim - 1:
        label = label.unsqueeze(-1)
    if label.shape != [*logits.shape[:-1], 1]:
        raise InvalidArgumentError(
            f"_c_softmax_with_cross_entropy: labels do not fit. Got {label.shape} for logits {logits.shape}, expected {[*logits.shape[:-1], 1]}. "
            f"Reshape them."
        )
    loss, softmax = _SoftmaxCrossEntropy.apply(logits, label, members, ignore_index)
    return (loss, softmax) if return_softmax else loss
