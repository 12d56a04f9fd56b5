"""Optimizers of models that are trained by several processes.

`HybridParallelOptimizer` stands around any optimizer: before its step gradients are exchanged and clipped by the norm over all processes;
where the optimizer's state is divided, each process updates its own parameters and sends them to the others.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wherry_autograd import no_grad
from wherry_distributed.collective import ReduceOp, all_reduce
from wherry_distributed.gradients import broadcast_tensors, name_own_nan, reduce_gradients
from wherry_distributed.topology import HybridCommunicateGroup
from wherry_distributed.world import Group
from wherry_nn.clip import ClipGradByGlobalNorm
from wherry_tensor import Tensor, ops, to_tensor
from wherry_tensor.errors import short
from wherry_tensor.static_builder import building
from wherry_train.optimizer import Optimizer


class Wrapped:
    """An optimizer around another one, whose attributes it has."""

    def __init__(self, optimizer: Any) -> None:
        self._inner_opt = optimizer

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":
            raise AttributeError(name)
        return getattr(self._inner_opt, name)

    def step(self) -> None:
        """One step."""
        self._inner_opt.step()

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """A step, with the gradients that `loss.backward()` has left; in static mode, let the program take steps."""
        if building.builder is not None:
            return self._inner_opt.minimize(loss, startup_program, parameters, no_grad_set)  # type: ignore[no-any-return]
        pairs = self._inner_opt.backward(loss, startup_program, parameters, no_grad_set)
        self.step()
        return [], pairs

    def synchronize(self) -> None:
        """Exchange gradients now, not in `step`: a GradScaler looks at them before."""
        inner = getattr(self._inner_opt, "synchronize", None)
        if inner is not None:
            inner()


def all_parameters(optimizer: Any) -> list[Any]:
    """Those of all groups."""
    return list(optimizer._all_parameters())


def states_of(optimizer: Any, p: Any) -> Iterator[tuple[str, Tensor, bool]]:
    """What an optimizer keeps of a parameter: name, tensor, and whether it has a number for each element."""
    for name, of_params in optimizer._accumulators.items():
        if p.name in of_params:
            yield name, of_params[p.name], name not in optimizer._number_names
    if p.name in optimizer._master_weights:
        yield "master_weight", optimizer._master_weights[p.name], True


def owners_of(parameters: Iterable[Any], count: int) -> dict[int, int]:
    """Which of `count` processes updates each parameter, by its id: the next largest to that which has least."""
    loads, found = [0] * count, {}
    for p in sorted(parameters, key=lambda p: -p.size):
        owner = loads.index(min(loads))
        loads[owner] += p.size
        found[id(p)] = owner
    return found


class HybridParallelOptimizer(Wrapped):
    """An optimizer of a model that is divided in one way or several.

    Args:
        optimizer: of this process's parameters.
        hcg: the groups.
        strategy: of the job.
        exchange: averages gradients over processes that see different samples, given parameters and the group; None sums them in buckets.

    Source:
        `paddle.distributed.fleet.meta_optimizers.HybridParallelOptimizer`; Rajbhandari et al., "ZeRO" (2020), stage 1.
    """

    def __init__(
        self, optimizer: Any, hcg: HybridCommunicateGroup, strategy: Any = None, exchange: Callable[[list[Any], Group], None] | None = None
    ) -> None:
        super().__init__(optimizer)
        self._hcg, self._strategy = hcg, strategy
        self._exchange = exchange or (lambda parameters, group: reduce_gradients(parameters, group, self._scale(group)))
        self._sharding = hcg.get_sharding_parallel_group()
        self._owners = owners_of(all_parameters(optimizer), self._sharding.nranks)
        self._synced = False
        self._clips: list[Any] = []
        for group in optimizer._groups:
            clip = group.grad_clip if isinstance(group.grad_clip, ClipGradByGlobalNorm) else None
            self._clips.append(clip)
            if clip is not None:
                group.grad_clip = None  # its norm is of all processes, not of this one

    def _scale(self, group: Group) -> float | None:
        if self._strategy is not None and self._strategy.gradient_scale_configs["scale_strategy"] == "sum":
            return 1.0
        return None

    def synchronize(self) -> None:
        """Average gradients over the processes that see different samples; once for each step."""
        if self._synced:
            return
        self._synced = True
        parameters = all_parameters(self._inner_opt)
        groups = [group for group in (self._hcg.get_dp_sep_parallel_group(), self._sharding) if group.nranks > 1]
        if not groups:
            name_own_nan(parameters)
        for group in groups:
            self._exchange(parameters, group)

    def step(self) -> None:
        """Exchange, clip, update."""
        self.synchronize()
        self._synced = False
        with no_grad():
            pairs: list[tuple[Any, Tensor]] = []
            for group, clip in zip(self._inner_opt._groups, self._clips, strict=True):
                some = [(p, p.grad) for p in group.params if not p.stop_gradient and p.grad is not None]
                pairs += some if clip is None else self._clipped(some, clip)
            self._inner_opt.apply_gradients([(p, g) for p, g in pairs if self._owners[id(p)] == self._sharding.rank])
            self._send_own()

    def _send_own(self) -> None:
        if self._sharding.nranks == 1:
            return
        parameters = all_parameters(self._inner_opt)
        for owner, rank in enumerate(self._sharding.ranks):
            broadcast_tensors([p for p in parameters if self._owners[id(p)] == owner], rank, self._sharding)

    def _clipped(self, pairs: list[tuple[Any, Tensor]], clip: ClipGradByGlobalNorm) -> list[tuple[Any, Tensor]]:
        """Scaled by the norm over all processes that hold parts of the model; what several of them hold counts once."""
        mine = [(p, g) for p, g in pairs if getattr(p, "need_clip", True)]
        factor = clip_factor([(p, g) for p, g in mine if getattr(p, "is_firstly_shared", True)], clip.clip_norm, self._hcg)
        scaled = {id(p): g * factor.astype(g.dtype) for p, g in mine}
        return [(p, scaled.get(id(p), g)) for p, g in pairs]

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clear the gradients."""
        self._synced = False
        self._inner_opt.clear_grad(set_to_zero)

    clear_gradients = clear_grad


def clip_factor(pairs: list[tuple[Any, Tensor]], limit: float, hcg: HybridCommunicateGroup) -> Tensor:
    """limit / max(norm, limit) for the norm over the processes of one copy of the model."""
    sums = [_squares([g for p, g in pairs if bool(getattr(p, "is_distributed", False)) == divided]) for divided in (True, False)]
    for value, groups in ((sums[0], (hcg.get_model_parallel_group(), hcg.get_pipe_parallel_group())), (sums[1], (hcg.get_pipe_parallel_group(),))):
        for group in groups:
            if group.nranks > 1:
                all_reduce(value, ReduceOp.SUM, group)
    bound = to_tensor(limit, dtype="float32")
    return bound / ops.maximum((sums[0] + sums[1]).sqrt(), bound)


def _squares(grads: list[Tensor]) -> Tensor:
    return ops.sum_of_squares(*grads).astype("float32") if grads else to_tensor(0.0, dtype="float32")


class DygraphShardingOptimizer(HybridParallelOptimizer):
    """An optimizer whose state is divided: each process updates some parameters.

    Source:
        `paddle.distributed.fleet.meta_optimizers.DygraphShardingOptimizer`.
    """

    def __init__(self, optimizer: Any, hcg: HybridCommunicateGroup) -> None:
        super().__init__(optimizer, hcg)

    def reduce_gradients(self, parameter_list: Any = None, hcg: Any = None) -> None:
        """Average the gradients."""
        self.synchronize()

    def filter_parameters(self, parameter_list: list[Any], hcg: Any = None) -> list[Any]:
        """Those that this process updates."""
        return [p for p in parameter_list if self._owners[id(p)] == self._sharding.rank]


class GradientMergeOptimizer(Wrapped):
    """Adds up gradients over `k_steps` steps and lets the optimizer make one.

    Args:
        optimizer: what makes the step.
        k_steps: how many gradients are added.
        avg: divide by `k_steps`.

    Source:
        `paddle.distributed.fleet.DistributedStrategy.gradient_merge`.
    """

    def __init__(self, optimizer: Any, k_steps: int, avg: bool = True) -> None:
        super().__init__(optimizer)
        self._k, self._avg, self._count = k_steps, avg, 0
        self._merged: dict[int, Tensor] = {}

    def step(self) -> None:
        """Add up; the last one of `k_steps` changes parameters."""
        self._count += 1
        parameters = [p for p in all_parameters(self._inner_opt) if not p.stop_gradient]
        with no_grad():
            for p in parameters:
                if p.grad is not None:
                    known = self._merged.get(id(p))
                    self._merged[id(p)] = p.grad.detach().clone() if known is None else known + p.grad
            if self._count % self._k:
                return
            for p in parameters:
                if id(p) in self._merged:
                    total = self._merged[id(p)]
                    p.grad = total * to_tensor(1.0 / self._k, dtype=total.dtype) if self._avg else total
            self._merged.clear()
        self._inner_opt.step()


class LocalSGDOptimizer(Wrapped):
    """Each process makes steps of its own; every `k_steps` of them parameters are averaged.

    Args:
        optimizer: what makes the steps.
        group: of the processes.
        k_steps: between two averages, from step `begin_step` on; before it every step is followed by one.
        adaptive: choose `k_steps` anew after each average, from the losses that `minimize` is given: sqrt(lr_0 loss / (lr loss_0)) times the
            first one (Wang & Joshi, "Adaptive communication strategies", 2019).

    Source:
        `paddle.distributed.fleet.DistributedStrategy.localsgd`; Lin et al., "Don't use large mini-batches, use local SGD" (2018).
    """

    MOST = 16  # steps between two averages that an adaptive run may choose: Paddle's

    def __init__(self, optimizer: Any, group: Group, k_steps: int, begin_step: int = 1, adaptive: bool = False) -> None:
        super().__init__(optimizer)
        self._group, self._k, self._first_k, self._begin, self._adaptive = group, k_steps, k_steps, begin_step, adaptive
        self._count, self._last = 0, 0
        self._start: tuple[float, float] | None = None
        self._loss: float | None = None

    def minimize(self, loss: Tensor, *args: Any, **kwargs: Any) -> Any:
        """A step; an adaptive run looks at the loss."""
        if building.builder is None and self._adaptive:
            total = loss.detach().astype("float32").clone()
            all_reduce(total, ReduceOp.AVG, self._group)
            self._loss = total.item()
        return super().minimize(loss, *args, **kwargs)

    def step(self) -> None:
        """A step of this process alone, and an average where it is time."""
        self._inner_opt.step()
        self._count += 1
        if self._count >= self._begin and self._count - self._last < self._k:
            return
        self._last = self._count
        average_parameters(all_parameters(self._inner_opt), self._group)
        if self._adaptive and self._loss is not None:
            rate = self._inner_opt.get_lr()
            if self._start is None:
                self._start = self._loss, rate
            loss0, rate0 = self._start
            wanted = (rate0 * self._loss / max(rate * loss0, 1e-12)) ** 0.5 * self._first_k
            self._k = max(1, min(self.MOST, -(-int(wanted * 1000) // 1000)))


def average_parameters(parameters: list[Any], group: Group) -> None:
    """Replace parameters by their mean over a group."""
    from wherry_distributed.gradients import buckets, flattened, write_back

    if group.comm is None or group.nranks == 1:
        return
    with no_grad():
        for some in buckets(parameters):
            flat = flattened(some)
            all_reduce(flat, ReduceOp.AVG, group)
            write_back(flat, some)


class HybridParallelGradScaler:
    """A GradScaler of a model that is divided: gradients are exchanged before it looks at them, and all processes skip the same steps.

    Source:
        `paddle.distributed.fleet.distributed_scaler`.
    """

    def __init__(self, scaler: Any, hcg: HybridCommunicateGroup) -> None:
        self._scaler, self._hcg = scaler, hcg
        divide = scaler._divide

        def divide_alike(optimizer: Any) -> Any:
            synchronize = getattr(optimizer, "synchronize", None)
            if synchronize is not None:
                synchronize()
            finite = divide(optimizer)
            bad = to_tensor(1.0 if finite is not False and not bool(finite) else 0.0, dtype="float32")
            for group in (hcg.get_model_parallel_group(), hcg.get_pipe_parallel_group(), hcg.get_sharding_parallel_group()):
                if group.nranks > 1:
                    all_reduce(bad, ReduceOp.MAX, group)
            return to_tensor(bad.item() == 0.0)

        scaler._divide = divide_alike

    def __getattr__(self, name: str) -> Any:
        if name == "_scaler":
            raise AttributeError(name)
        return getattr(self._scaler, name)


def unwrap_optimizer(optimizer: Any, optimizer_instances: Any = ()) -> Any:
    """The innermost optimizer."""
    kinds = tuple(optimizer_instances) or (Wrapped,)
    while isinstance(optimizer, kinds):
        optimizer = getattr(optimizer, "_inner_opt")  # noqa: B009  of whichever class
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"unwrap_optimizer: this is not an optimizer. Got {short(optimizer)}, expected an Optimizer. Pass the optimizer.")
    return optimizer
