"""Sequences of which each process has a part.

Between the divided layers of a transformer (normalization, dropout) each of the processes that divide layers may have a part of the sequence
instead of all of it: what `_mp_allreduce` does in one go is then a reduce-scatter after a layer and an all-gather before the next one
(Korthikanti et al., "Reducing activation recomputation", 2022). The sequence is the first axis.

`ring_attention` is attention over a sequence of which each process has a part from the beginning to the end: keys and values go round while
each process computes with those it has (Liu et al., "Ring attention with blockwise transformers", 2023).
"""
from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from wherry_autograd import PyLayer
from wherry_distributed import grid
from wherry_distributed.collective import ReduceOp, all_gather, all_reduce, reduce_scatter
from wherry_distributed.messages import Messages
from wherry_distributed.model_parallel import when_run
from wherry_distributed.tensor_parallel import ColumnParallelLinear, RowParallelLinear
from wherry_distributed.world import Group, group_of
from wherry_nn import Layer
from wherry_nn import functional as F  # noqa: N812
from wherry_program.program.capture import current_capture
from wherry_program.program.control import py_func
from wherry_program.program.control.recording import sizes_of
from wherry_tensor import Tensor, empty, full, ops, to_tensor, where, zeros, zeros_like
from wherry_tensor.arguments import require_tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.static_builder import building


def _rows(op_name: str, x: Tensor, group: Group) -> int:
    if not x.ndim or x.shape[0] % group.nranks:
        raise InvalidArgumentError(
            f"{op_name}: the sequence does not divide by the processes. Got shape {x.shape} for {group.nranks}, expected a multiple along the "
            f"first axis. "
            f"Pad it."
        )
    return x.shape[0] // group.nranks


def _cut(x: Tensor, group: Group) -> Tensor:
    size = _rows("ScatterOp", x, group)
    return ops.copy(x[group.rank * size : (group.rank + 1) * size])


def _gathered(x: Tensor, group: Group) -> Tensor:
    whole = empty([x.shape[0] * group.nranks, *x.shape[1:]], dtype=x.dtype)
    all_gather(whole, x, group)
    return whole


def _summed_part(x: Tensor, group: Group) -> Tensor:
    part = empty([_rows("ReduceScatterOp", x, group), *x.shape[1:]], dtype=x.dtype)
    reduce_scatter(part, x, ReduceOp.SUM, group)
    return part


_FORMS = {"cut": _cut, "gather": _gathered, "sum": _summed_part}


def _in_form(form: str, x: Tensor, group: Group) -> Tensor:
    factor = Fraction(group.nranks) if form == "gather" else Fraction(1, group.nranks)
    return when_run(lambda value: _FORMS[form](value, group), x, 0, factor)


class _Exchange(PyLayer):
    """One exchange forwards, its opposite backwards."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, forwards: str, backwards: str, group: Group) -> Tensor:
        ctx.backwards, ctx.group = backwards, group
        return _in_form(forwards, x, group)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        return _in_form(ctx.backwards, ct, ctx.group)


def _exchanged(x: Tensor, forwards: str, backwards: str, group: Group | None) -> Tensor:
    members = grid.model_parallel_group(group)
    if members.nranks == 1:
        return x
    result: Tensor = _Exchange.apply(x, forwards, backwards, members)
    return result


class ScatterOp:
    """This process's part of a sequence that all have; gradients of the parts are put together."""

    @staticmethod
    def apply(input: Tensor, group: Group | None = None) -> Tensor:
        """Source: `paddle.distributed.fleet.utils.sequence_parallel_utils.ScatterOp`."""
        return _exchanged(input, "cut", "gather", group)


class GatherOp:
    """The parts of all, in each; a gradient is cut."""

    @staticmethod
    def apply(input: Tensor, group: Group | None = None) -> Tensor:
        """Source: `paddle.distributed.fleet.utils.sequence_parallel_utils.GatherOp`."""
        return _exchanged(input, "gather", "cut", group)


class AllGatherOp:
    """The parts of all, in each, before a layer that is divided; gradients are added up and cut."""

    @staticmethod
    def apply(input: Tensor, group: Group | None = None) -> Tensor:
        """Source: `paddle.distributed.fleet.utils.sequence_parallel_utils.AllGatherOp`."""
        return _exchanged(input, "gather", "sum", group)


class ReduceScatterOp:
    """Sums over all, of which each keeps its part, after a layer that is divided; gradients are put together."""

    @staticmethod
    def apply(input: Tensor, group: Group | None = None) -> Tensor:
        """Source: `paddle.distributed.fleet.utils.sequence_parallel_utils.ReduceScatterOp`."""
        return _exchanged(input, "sum", "gather", group)


def scatter(input: Tensor) -> Tensor:
    """This process's part of a sequence, without a gradient of its own."""
    group = grid.model_parallel_group(None)
    return input if group.nranks == 1 else _in_form("cut", input, group)


def all_gather_sequence(input: Tensor) -> Tensor:
    """The parts of all, without a gradient of its own."""
    group = grid.model_parallel_group(None)
    return input if group.nranks == 1 else _in_form("gather", input, group)


def reduce_scatter_sequence(input: Tensor) -> Tensor:
    """This process's part of the sums, without a gradient of its own."""
    group = grid.model_parallel_group(None)
    return input if group.nranks == 1 else _in_form("sum", input, group)


class ColumnSequenceParallelLinear(ColumnParallelLinear):
    """A column layer whose input is this process's part of the sequence.

    Shape:
        `[length / processes, ..., in_features]` to `[length, ..., out_features / processes]`.

    Source:
        `paddle.distributed.fleet.utils.sequence_parallel_utils.ColumnSequenceParallelLinear`.
    """

    def forward(self, x: Tensor) -> Tensor:
        if self.gather_output and self.is_mp:
            raise InvalidArgumentError(
                "ColumnSequenceParallelLinear: the output stays divided. Got gather_output=True, expected False. Put a RowSequenceParallelLinear "
                "after it.")
        return F.linear(AllGatherOp.apply(x, self.model_parallel_group), self.weight, self.bias)


class RowSequenceParallelLinear(RowParallelLinear):
    """A row layer whose output is this process's part of the sequence.

    Shape:
        `[length, ..., in_features / processes]` to `[length / processes, ..., out_features]`.

    Source:
        `paddle.distributed.fleet.utils.sequence_parallel_utils.RowSequenceParallelLinear`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.bias is not None:
            mark_as_sequence_parallel_parameter(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        if not self.input_is_parallel and self.is_mp:
            raise InvalidArgumentError(
                "RowSequenceParallelLinear: the input is divided. Got input_is_parallel=False, expected True. Put it after a "
                "ColumnSequenceParallelLinear.")
        out = ReduceScatterOp.apply(F.linear(x, self.weight), self.model_parallel_group)
        return out if self.bias is None else out + self.bias


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Say that a parameter that all have is used with this process's part of the sequence alone: its gradients have to be added up."""
    parameter.sequence_parallel = True


def is_sequence_parallel_parameter(parameter: Any) -> bool:
    """Was it marked?"""
    return bool(getattr(parameter, "sequence_parallel", False))


def register_sequence_parallel_allreduce_hooks(model: Layer, accumulation_steps: int = 1, fuse_sequence_parallel_allreduce: bool = False) -> None:
    """Let gradients of marked parameters be added up over the processes that divide the sequence, as they arise.

    In static mode `minimize` of `fleet.distributed_optimizer` does it, and nothing is to be done here.

    Args:
        model: with marked parameters.
        accumulation_steps: no effect: each gradient is added up by itself.
        fuse_sequence_parallel_allreduce: no effect.

    Source:
        `paddle.distributed.fleet.utils.sequence_parallel_utils.register_sequence_parallel_allreduce_hooks`.
    """
    group = grid.model_parallel_group(None)
    if group.nranks == 1 or building.builder is not None:
        return

    def summed(ct: Tensor) -> Tensor:
        total = ops.copy(ct)
        all_reduce(total, ReduceOp.SUM, group)
        return total

    for p in model.parameters():
        if is_sequence_parallel_parameter(p):
            p.register_hook(summed)


class _Ring(PyLayer):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, group: Group) -> Tensor:
        ctx.settings = settings = causal, scale, group
        if current_capture() is None:
            out, wide, log_sum = _ring_forwards(settings, q, k, v)
        else:
            sizes = batch, length, heads, dim = sizes_of(q)
            out, wide, log_sum = py_func(
                lambda *values: list(_ring_forwards(settings, *values)), [q, k, v],
                [(sizes, q.dtype), ((batch, heads, length, dim), as_dtype("float32")), ((batch, heads, length, 1), as_dtype("float32"))])
        ctx.save_for_backward(q, k, v, wide, log_sum)
        return out

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Any:
        taken, settings = [*ctx.saved_tensor(), ct], ctx.settings
        if current_capture() is None:
            return _ring_backwards(settings, *taken)
        return tuple(py_func(lambda *values: list(_ring_backwards(settings, *values)), taken, [(sizes_of(x), x.dtype) for x in taken[:3]]))


def _heads_first(x: Tensor) -> Tensor:
    return ops.copy(x.astype("float32").transpose([0, 2, 1, 3]))


def _ring_forwards(settings: tuple[bool, float, Group], q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The result, the same in float32 with heads first, and the logarithm of the sum of each query's weights."""
    causal, scale, group = settings
    query, key, value = (_heads_first(x) for x in (q, k, v))
    ring = _Round(group, causal, query.shape[2])
    largest = full([*query.shape[:3], 1], -np.inf, dtype="float32")
    total, out = zeros([*query.shape[:3], 1]), zeros_like(query)
    for step in range(group.nranks):
        ring.pass_on(step, [key, value])
        if ring.meets(step):
            scores = ring.masked(query.matmul(key, transpose_y=True) * scale, step)
            now = ops.maximum(largest, scores.max(axis=-1, keepdim=True))
            weights, shrink = (scores - now).exp(), (largest - now).exp()
            total, out, largest = total * shrink + weights.sum(axis=-1, keepdim=True), out * shrink + weights.matmul(value), now
        if step + 1 < group.nranks:
            key, value = ring.take(step)
    ring.messages.finish()
    out = out / total
    return out.transpose([0, 2, 1, 3]).astype(q.dtype), out, largest + total.log()


def _ring_backwards(
    settings: tuple[bool, float, Group], q: Tensor, k: Tensor, v: Tensor, out: Tensor, log_sum: Tensor, ct: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Cotangents of queries, keys and values; those of keys and values go round with them."""
    causal, scale, group = settings
    query, key, value, ct = (_heads_first(x) for x in (q, k, v, ct))
    ring = _Round(group, causal, query.shape[2])
    dots = (ct * out).sum(axis=-1, keepdim=True)
    dq, dk, dv = zeros_like(query), zeros_like(key), zeros_like(value)
    for step in range(group.nranks):
        if ring.meets(step):
            weights = (ring.masked(query.matmul(key, transpose_y=True) * scale, step) - log_sum).exp()
            dv = dv + weights.matmul(ct, transpose_x=True)
            ds = weights * (ct.matmul(value, transpose_y=True) - dots) * scale
            dq, dk = dq + ds.matmul(key), dk + ds.matmul(query, transpose_x=True)
        ring.pass_on(step, [key, value, dk, dv], last=True)
        key, value, dk, dv = ring.take(step)
    ring.messages.finish()
    dq, dk, dv = (x.transpose([0, 2, 1, 3]).astype(q.dtype) for x in (dq, dk, dv))
    return dq, dk, dv


class _Round:
    """Keys and values on their way round."""

    def __init__(self, group: Group, causal: bool, length: int) -> None:
        self.group, self.causal, self.length = group, causal, length
        self.messages = Messages(group)

    def _owner(self, step: int) -> int:
        return (self.group.rank - step) % self.group.nranks

    def meets(self, step: int) -> bool:
        """Does a query here look at any of the keys of this step?"""
        return not self.causal or self._owner(step) <= self.group.rank

    def masked(self, scores: Tensor, step: int) -> Tensor:
        """Scores without those of keys after the query."""
        if not self.causal or self._owner(step) < self.group.rank:
            return scores
        places = np.arange(self.length)
        return where(to_tensor(places[None, :] <= places[:, None]).expand(scores.shape), scores, full(scores.shape, -np.inf, dtype=scores.dtype))

    def pass_on(self, step: int, tensors: list[Tensor], last: bool = False) -> None:
        """Begin to send to the next process."""
        if last or step + 1 < self.group.nranks:
            self.messages.send([ops.copy(x) for x in tensors], (self.group.rank + 1) % self.group.nranks, step)

    def take(self, step: int) -> list[Tensor]:
        """What the process before has sent."""
        return self.messages.receive((self.group.rank - 1) % self.group.nranks, step)


def ring_attention(
    query: Tensor, key: Tensor, value: Tensor, causal: bool = False, scale: float | None = None, group: Group | None = None
) -> Tensor:
    """Attention over a sequence of which each process has a part, in the order of ranks. No process ever has all keys, or all scores.

    Args:
        query, key, value: this process's part; computed in float32.
        causal: a query looks at keys up to its own place alone.
        scale: of the scores; None is `1 / sqrt(dim)`.
        group: the processes; None for those of `sep_degree` of `fleet.init`, or, before it, all.

    Shape:
        `[batch, length / processes, heads, dim]`, three times, to the same.

    Raises:
        ValueError: the shapes differ.

    Source:
        Liu et al., "Ring attention with blockwise transformers for near-infinite context" (2023).

    Examples:
        >>> x = wherry.rand([1, 4, 2, 8])
        >>> wherry.distributed.ring_attention(x, x, x, causal=True).shape
        [1, 4, 2, 8]
    """
    hcg = grid.current()
    if group is None and hcg is not None and hcg.get_sep_parallel_world_size() > 1:
        group = hcg.get_sep_parallel_group()
    members = group_of("ring_attention", group)
    for name, x in (("query", query), ("key", key), ("value", value)):
        require_tensor(x, "ring_attention", name)
    if query.ndim != 4 or key.shape != query.shape or value.shape != query.shape:
        raise InvalidArgumentError(
            f"ring_attention: shapes differ. Got {query.shape}, {key.shape} and {value.shape}, expected [batch, length, heads, dim] three times. "
            f"Repeat heads of "
            f"keys and values."
        )
    factor = query.shape[-1] ** -0.5 if scale is None else float(scale)
    if members is None or members.nranks == 1:
        if scale is not None:
            query = query * (factor * query.shape[-1] ** 0.5)
        return F.scaled_dot_product_attention(query, key, value, is_causal=causal)
    result: Tensor = _Ring.apply(query, key, value, causal, factor, members)
    return result
