"""Gradients that travel as less than all of their bytes: in 16 bits, or only the largest ones (DGC)."""
from __future__ import annotations

from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_distributed.collective import all_gather
from wherry_distributed.fleet.optimizers import HybridParallelOptimizer
from wherry_distributed.gradients import dense_gradients, map_gradients, narrow_sum, reduce_gradients
from wherry_distributed.topology import HybridCommunicateGroup
from wherry_distributed.world import Group
from wherry_tensor import Tensor, concat, logical_and, ops, to_tensor, where
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_train.optimizer import SGD, Momentum


def exchange_narrow(parameters: list[Any], group: Group) -> None:
    """Average float32 gradients over a group; they travel as float16."""
    if group.comm is not None and group.nranks > 1:
        factor = 1.0 / group.nranks  # before they become float16, so that sums do not overflow
        map_gradients(parameters, lambda flat: narrow_sum(flat * to_tensor(factor, dtype=flat.dtype), group))


class Compressed:
    """Deep gradient compression: each process sends its largest values; what it does not send stays and is added to the next gradient.

    Momentum is applied before the values are chosen, and stops where they have been sent (Lin et al., "Deep gradient compression", 2018).

    Args:
        momentum: of the velocity that is sent.
        sparsity: the parts that are not sent, one after the other during `rampup_step` steps; the last one from then on.
        begin: the step from which on values are chosen; before it gradients are averaged whole.
        rampup: how many steps the sparsities are spread over.
    """

    LEAST = 16384  # elements of a tensor that is worth it: Paddle's

    def __init__(self, momentum: float, sparsity: list[float], begin: int, rampup: int, least: int = LEAST) -> None:
        self.momentum, self.begin, self.rampup, self.least = momentum, begin, max(1, rampup), least
        self.sparsity = list(sparsity) or [0.999]
        if not all(0.0 <= each < 1.0 for each in self.sparsity):
            raise InvalidArgumentError(f"dgc: sparsity is not fractions. Got {short(sparsity)}, expected numbers in [0, 1). Write [0.75, 0.999].")
        self.steps = 0
        self.velocity: dict[str, Any] = {}  # by the names of parameters
        self.left: dict[str, Any] = {}
        self.sent = self.whole = 0  # elements, of all steps

    @property
    def active(self) -> bool:
        """Are values chosen in this step?"""
        return self.steps >= self.begin

    def ratio(self) -> float:
        """The part that is not sent in this step."""
        place = (self.steps - self.begin) * len(self.sparsity) // self.rampup
        return self.sparsity[min(place, len(self.sparsity) - 1)]

    def exchange(self, parameters: list[Any], group: Group) -> None:
        """Replace gradients by the mean over the group of what each process has chosen."""
        found = dense_gradients(parameters)
        if not self.active:
            reduce_gradients(found, group)
            return
        small = [p for p in found if p.size < self.least]
        with no_grad():
            for p in small:  # momentum of what is sent whole is kept by each process alike
                p.grad = p.grad.detach().clone()
            reduce_gradients(small, group)
            for p in small:
                held = self.velocity.get(p.name, 0.0) * self.momentum + p.grad.numpy()
                self.velocity[p.name] = held
                p.grad.set_value(held)
            for p in found:
                if p.size >= self.least:
                    self._exchange_one(p, group)

    def _exchange_one(self, p: Any, group: Group) -> None:
        gradient = p.grad.astype("float32").numpy().reshape(-1)
        velocity = self.velocity.get(p.name, np.zeros_like(gradient)) * self.momentum + gradient
        left = self.left.get(p.name, np.zeros_like(gradient)) + velocity
        count = max(1, round(left.size * (1.0 - self.ratio())))
        chosen = np.argpartition(np.abs(left), left.size - count)[left.size - count :].astype(np.int32)
        places: list[Tensor] = []
        values: list[Tensor] = []
        all_gather(places, to_tensor(chosen), group)
        all_gather(values, to_tensor(left[chosen]), group)
        self.sent, self.whole = self.sent + count, self.whole + left.size
        velocity[chosen] = left[chosen] = 0.0
        self.velocity[p.name], self.left[p.name] = velocity, left
        total = np.zeros_like(gradient)
        np.add.at(total, concat(places).numpy(), concat(values).numpy())
        p.grad.set_value((total / group.nranks).reshape(p.shape))


class DGCOptimizer(HybridParallelOptimizer):
    """Momentum whose gradients are compressed from a step on.

    Raises:
        TypeError: the optimizer is not a Momentum.

    Source:
        `paddle.distributed.fleet.DistributedStrategy.dgc`.
    """

    def __init__(self, optimizer: Any, hcg: HybridCommunicateGroup, strategy: Any) -> None:
        if type(optimizer) is not Momentum:
            raise InvalidTypeError(
                f"strategy: dgc is for Momentum. Got {type(optimizer).__name__}, expected a paddle.optimizer.Momentum. Switch dgc off, or change the "
                f"optimizer."
            )
        configs = strategy.dgc_configs
        self.compressed = Compressed(optimizer._momentum, configs["sparsity"], configs["rampup_begin_step"], configs["rampup_step"])
        self._plain = SGD(
            optimizer._learning_rate, list(optimizer._all_parameters()), weight_decay=optimizer.regularization, grad_clip=None)
        super().__init__(optimizer, hcg, strategy, self.compressed.exchange)

    def step(self) -> None:
        """With momentum before the first compressed step; from then on it is in what is sent."""
        momentum = self._inner_opt
        if self.compressed.active:
            self._plain._learning_rate = momentum._learning_rate
            self._inner_opt = self._plain
        try:
            super().step()
        finally:
            self._inner_opt = momentum
        self.compressed.steps += 1


class LarsMomentum(Momentum):
    """Momentum whose rate is for each parameter that of the ratio of its norm to that of its gradient.

    `rate = lr * coeff * |p| / (|g| + decay |p| + epsilon)`, `velocity = momentum * velocity + rate * (g + decay p)`, `p -= velocity`.

    Args:
        lars_coeff: of the ratio.
        lars_weight_decay: of the penalty; none for parameters whose names hold one of `exclude_from_weight_decay`.
        epsilon: is added to the norm of the gradient.

    Source:
        `paddle.incubate.optimizer.LarsMomentumOptimizer`; You et al., "Large batch training of convolutional networks" (2017).
    """

    def __init__(
        self, learning_rate: Any = 0.001, momentum: float = 0.9, lars_coeff: float = 0.001, lars_weight_decay: float = 0.0005,
        parameters: Any = None, parameter_list: Any = None, regularization: Any = None, grad_clip: Any = None, name: str | None = None,
        exclude_from_weight_decay: Any = None, epsilon: float = 0.0, multi_precision: bool = False, rescale_grad: float = 1.0,
    ) -> None:
        super().__init__(
            learning_rate, momentum, parameter_list if parameters is None else parameters, weight_decay=regularization, grad_clip=grad_clip,
            multi_precision=multi_precision, rescale_grad=rescale_grad, name=name)
        self._coeff, self._decay, self._epsilon = float(lars_coeff), float(lars_weight_decay), float(epsilon)
        self._excluded = tuple(exclude_from_weight_decay or ())

    _fuses_decay = False

    def _update(self, group: Any, params: list[Any], grads: list[Any]) -> None:
        if group.grad_clip is not None:
            grads = group.grad_clip._clip(params, grads)
        for batch in self._batches(group, params):
            places = range(len(params)) if batch.chosen is None else batch.chosen
            for i, p in zip(places, batch.params, strict=True):
                (gradient,) = self._rescaled([grads[i]])
                if batch.regularizers is not None and batch.regularizers[batch.params.index(p)] is not None:
                    gradient = gradient + batch.regularizers[batch.params.index(p)](p, gradient)
                self._update_one(p, gradient, batch.factor)

    def _update_one(self, p: Any, gradient: Tensor, factor: float) -> None:
        master = self._master_weights.get(p.name)
        x = (p.detach() if master is None else master).astype("float32")
        gradient = gradient.astype("float32")
        velocity = self._accumulators["velocity"][p.name]
        decay = 0.0 if any(part in p.name for part in self._excluded) else self._decay
        rate = self._rate_of(factor).astype("float32")
        length, slope = x.square().sum().sqrt(), gradient.square().sum().sqrt()
        local = rate * self._coeff * length / (slope + decay * length + self._epsilon)
        local = where(logical_and(length > 0, slope > 0), local, rate)
        moved = velocity.astype("float32") * self._momentum + local * (gradient + decay * x)
        ops.copy.into((velocity,), moved.astype(velocity.dtype))
        ops.copy.into((p.detach(),), (x - moved).astype(p.dtype))
        if master is not None:
            ops.copy.into((master,), x - moved)
