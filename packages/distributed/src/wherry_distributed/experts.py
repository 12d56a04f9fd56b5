"""Mixtures of experts: each token goes to some of many small networks, and each process has some of them (Lepikhin et al., "GShard", 2020)."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wherry_autograd import PyLayer
from wherry_distributed.collective import alltoall_single
from wherry_distributed.recomputing import recompute
from wherry_distributed.world import Group, group_of, world
from wherry_nn import Layer, LayerList, Linear
from wherry_nn import functional as F  # noqa: N812
from wherry_tensor import Tensor, concat, empty, ops, rand, to_tensor, topk, where, zeros
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short


class NaiveGate(Layer):
    """Chooses the `topk` experts of the largest scores.

    Args:
        d_model: size of a token.
        num_expert: experts of each process.
        world_size: processes.
        topk: how many experts a token goes to.

    Shape:
        `[tokens, d_model]` to values and numbers of experts, both `[tokens, topk]`.

    Source:
        `paddle.incubate.distributed.models.moe.NaiveGate`.
    """

    def __init__(self, d_model: int, num_expert: int, world_size: int, topk: int = 2) -> None:
        super().__init__()
        self.tot_expert, self.top_k = num_expert * world_size, topk
        if not 1 <= topk <= self.tot_expert:
            raise InvalidArgumentError(
                f"{type(self).__name__}: topk does not fit. Got {topk}, expected 1 to {self.tot_expert}, the experts. "
                f"Change it."
            )
        self.gate = Linear(d_model, self.tot_expert)
        self.loss: Tensor | None = None

    def forward(self, inp: Tensor, return_all_scores: bool = False) -> Any:
        scores = self.gate(inp)
        values, places = topk(scores, self.top_k, axis=-1)
        return (values, places, scores) if return_all_scores else (values, places)

    def get_loss(self, clear: bool = True) -> Tensor | None:
        """The balance of the last tokens, to be added to the loss; None where the gate has none."""
        found = self.loss
        if clear:
            self.loss = None
        return found

    def _balance(self, scores: Tensor, first: Tensor) -> Tensor:
        """The experts times the product of the part of tokens, and of the probability, that each gets."""
        share = F.one_hot(first, self.tot_expert).mean(axis=0)
        return (share * F.softmax(scores, axis=-1).mean(axis=0)).sum() * self.tot_expert

    def _limited(self, places: Tensor, tokens: int, capacity: Sequence[float]) -> Tensor:
        """Numbers of experts, -1 where one has as many tokens as it takes: earlier tokens, and first choices, go first."""
        most = math.ceil(capacity[0 if self.training else 1] * tokens)
        found = places.numpy().copy()
        for column in range(found.shape[1]):
            hot = np.eye(self.tot_expert, dtype=np.int64)[found[:, column]]
            earlier = np.bincount(found[:, :column][found[:, :column] >= 0].reshape(-1), minlength=self.tot_expert)
            place = (np.cumsum(hot, axis=0) * hot).sum(axis=1) + earlier[found[:, column]]
            found[place > most, column] = -1
        return to_tensor(found)


class GShardGate(NaiveGate):
    """Two experts for a token, at most so many tokens for an expert, the second one by chance.

    Args:
        capacity: tokens that an expert takes, as a part of all of this process, in training and outside of it.
        random_routing: the second expert is left out the more often the smaller its value is.

    Source:
        `paddle.incubate.distributed.models.moe.GShardGate`.
    """

    def __init__(
        self, d_model: int, num_expert: int, world_size: int, topk: int = 2, capacity: Sequence[float] = (1.2, 2.4), random_routing: bool = True,
        group: Group | None = None,
    ) -> None:
        if topk != 2:
            raise InvalidArgumentError(f"GShardGate: topk should be 2. Got {topk}, expected 2. Use NaiveGate.")
        super().__init__(d_model, num_expert, world_size, topk)
        self.capacity, self.random_routing = capacity, random_routing

    def forward(self, x: Tensor) -> Any:  # type: ignore[override]
        values, places, scores = super().forward(x, True)
        self.loss = self._balance(scores, places[:, 0]) * self.tot_expert
        limited = self._limited(places, x.shape[0], self.capacity)
        if self.random_routing and self.training:
            chosen = (F.softmax(values.detach(), axis=-1)[:, 1] * 2) > rand([x.shape[0]])
            second = where(chosen, limited[:, 1], ops.full_like(limited[:, 1], value=-1, dtype=limited.dtype))
            limited = concat([limited[:, :1], second.unsqueeze(-1)], axis=-1)
        return values, limited


class SwitchGate(NaiveGate):
    """One expert for a token, at most so many tokens for an expert (Fedus et al., "Switch transformers", 2021).

    Args:
        switch_eps: scores are multiplied by a random number that far from 1, in training.
        capacity: as of `GShardGate`.

    Source:
        `paddle.incubate.distributed.models.moe.SwitchGate`.
    """

    def __init__(
        self, d_model: int, num_expert: int, world_size: int, topk: int = 1, switch_eps: float = 0.1, capacity: Sequence[float] = (1.2, 2.4),
        group: Group | None = None,
    ) -> None:
        if topk != 1:
            raise InvalidArgumentError(f"SwitchGate: topk should be 1. Got {topk}, expected 1. Use NaiveGate.")
        super().__init__(d_model, num_expert, world_size, topk)
        self.switch_eps, self.capacity = switch_eps, capacity

    def forward(self, inp: Tensor) -> Any:  # type: ignore[override]
        scores = self.gate(inp)
        if self.training:
            scores = scores + (rand(scores.shape) * (2 * self.switch_eps) + (1.0 - self.switch_eps)).astype(scores.dtype)
        probabilities = F.softmax(scores, axis=-1)
        values, places = topk(probabilities, 1, axis=-1)
        self.loss = self._balance(scores, places[:, 0])
        return values, self._limited(places, inp.shape[0], self.capacity)


GATES = {"naive": NaiveGate, "gshard": GShardGate, "switch": SwitchGate}


class _ToExperts(PyLayer):
    """Rows to the processes that have their experts, and gradients back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, sent: list[int], taken: list[int], group: Group) -> Tensor:
        ctx.sizes, ctx.group = (sent, taken), group
        return _moved(x, sent, taken, group)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        sent, taken = ctx.sizes
        return _moved(ct, taken, sent, ctx.group)


def _moved(x: Tensor, sent: list[int], taken: list[int], group: Group) -> Tensor:
    out = empty([sum(taken), *x.shape[1:]], dtype=x.dtype)
    alltoall_single(x, out, sent, taken, group)
    return out


class MoELayer(Layer):
    """A layer of experts, of which each process has its own; tokens go to the processes whose experts the gate has chosen.

    Parameters of experts are marked with `no_sync`: they belong to this process, and `DataParallel` leaves them alone. Their gradients are
    those of the mean of the losses of all processes.

    Args:
        d_model: size of a token.
        experts: of this process.
        gate: one of the gates, or `{"type": "naive", "gshard" or "switch", "top_k": 2}`; None is gshard.
        moe_group: the processes whose experts are one mixture; None for all.
        mp_group: no effect: each process brings its own tokens.
        recompute_interval: above 0 experts are computed once more in backward.
        recompute_ctx: no effect.

    Shape:
        `[..., d_model]` to the same.

    Raises:
        TypeError: `gate` is not a gate.
        ValueError: there are no experts.

    Source:
        `paddle.incubate.distributed.models.moe.MoELayer`.

    Examples:
        >>> experts = [wherry.nn.Linear(8, 8) for _ in range(4)]
        >>> layer = wherry.incubate.distributed.models.moe.MoELayer(8, experts, {"type": "naive", "top_k": 2})
        >>> layer(wherry.rand([2, 3, 8])).shape
        [2, 3, 8]
    """

    def __init__(
        self, d_model: int, experts: Any, gate: Any = None, moe_group: Group | None = None, mp_group: Group | None = None,
        recompute_interval: int = 0, recompute_ctx: Any = None,
    ) -> None:
        super().__init__()
        found = group_of("MoELayer", moe_group)
        self.group = found if found is not None else world.groups[0]
        self.world_size = self.group.nranks
        self.d_model, self.recompute_interval = d_model, recompute_interval
        self.experts = experts if isinstance(experts, LayerList) else LayerList(list(experts))
        if not len(self.experts):
            raise InvalidArgumentError("MoELayer: there are no experts. Got an empty list, expected layers. Pass some.")
        self.num_expert = len(self.experts)
        if gate is None or isinstance(gate, dict):
            settings = dict(gate or {})
            kind = settings.pop("type", "gshard")
            if kind not in GATES:
                raise InvalidArgumentError(f"MoELayer: the gate is not known. Got {short(kind)}, expected one of {', '.join(GATES)}. Choose one.")
            most = settings.pop("top_k", 1 if kind == "switch" else 2)
            gate = GATES[kind](d_model, self.num_expert, self.world_size, topk=most, **settings)
        if not isinstance(gate, NaiveGate):
            raise InvalidTypeError(
                f"MoELayer: gate is not a gate. Got {short(gate)} ({type(gate).__name__}), expected a gate or a dict. Pass "
                f"{{'type': 'gshard'}}."
            )
        self.gate, self.top_k = gate, gate.top_k
        if self.world_size > 1:
            share = 1.0 / self.world_size
            own: list[Any] = list(self.experts.parameters())
            for p in own:
                p.no_sync = p.expert = True
                p.register_hook(lambda ct: ct * to_tensor(share, dtype=ct.dtype))

    def forward(self, inp: Tensor) -> Tensor:
        tokens = inp.reshape([-1, self.d_model])
        values, places = self.gate(tokens)
        chosen = places.numpy().reshape(-1)
        weights = F.softmax(values, axis=-1).reshape([-1]) if self.top_k > 1 else values.reshape([-1])
        order = np.argsort(chosen, kind="stable")
        order = order[chosen[order] >= 0]
        counts = np.bincount(chosen[order], minlength=self.gate.tot_expert).astype(np.int64)
        rows = to_tensor(order // self.top_k)
        arrived, their, back = self._exchange(ops.gather(tokens, rows, axis=0), counts)
        results = self._experts(arrived, their)
        if back is not None:
            results = _ToExperts.apply(results, back[1], back[0], self.group)
        results = results * ops.gather(weights, to_tensor(order), axis=0).unsqueeze(-1).astype(results.dtype)
        return zeros(tokens.shape, dtype=results.dtype).index_add(rows, 0, results).astype(inp.dtype).reshape(inp.shape)

    def _exchange(self, rows: Tensor, counts: np.ndarray[Any, Any]) -> tuple[Tensor, np.ndarray[Any, Any], tuple[list[int], list[int]] | None]:
        """The rows for this process's experts, how many each process has sent for each of them, and the sizes of the way back."""
        if self.world_size == 1:
            return rows, counts.reshape(1, -1), None
        their = empty([len(counts)], dtype="int64")
        alltoall_single(to_tensor(counts), their, None, None, self.group)
        table = their.numpy().reshape(self.world_size, self.num_expert)
        sent, taken = counts.reshape(self.world_size, -1).sum(axis=1).tolist(), table.sum(axis=1).tolist()
        return _ToExperts.apply(rows, sent, taken, self.group), table, (sent, taken)

    def _experts(self, rows: Tensor, table: np.ndarray[Any, Any]) -> Tensor:
        """What the experts make of rows that are ordered by process and expert."""
        begins = np.concatenate([[0], np.cumsum(table.reshape(-1))])
        numbers = [np.arange(begins[i], begins[i + 1]) for i in range(table.size)]
        by_expert = [np.concatenate(numbers[e :: self.num_expert]) for e in range(self.num_expert)]
        found, order = [], []
        for expert, mine in zip(self.experts, by_expert, strict=True):
            part = ops.gather(rows, to_tensor(mine), axis=0)
            if len(mine) or any(not p.stop_gradient for p in expert.parameters()):  # parameters take part in backward in any case
                found.append(recompute(expert, part, use_reentrant=False) if self.recompute_interval > 0 and self.training else expert(part))
                order.append(mine)
        inverse = np.argsort(np.concatenate(order), kind="stable")
        return ops.gather(concat(found), to_tensor(inverse), axis=0)


__all__ = ["GShardGate", "MoELayer", "NaiveGate", "SwitchGate"]
