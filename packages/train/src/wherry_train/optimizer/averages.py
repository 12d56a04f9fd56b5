"""`LookAhead` and `ModelAverage`: averages of parameters beside another optimizer."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from wherry_tensor import _core, ops, to_tensor, zeros_like
from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import check_arguments, integer
from wherry_tensor.errors import AssertedArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.static_builder import building
from wherry_train.optimizer.lr import LRScheduler
from wherry_train.optimizer.optimizer import _HALF, Optimizer, _put, _write, number

__all__ = ["LookAhead", "ModelAverage"]

_STEPS = "LookAhead_steps"  # key of a state


def _refuse_programs(name: str) -> None:
    if building.builder is not None:
        raise NotImplementedError(
            f"{name}.minimize: it counts steps in Python, which a program does not. Got static mode, expected dynamic mode. "
            f"Call disable_static() first."
        )


class LookAhead(Optimizer):
    """Wraps another optimizer: after every `k` steps the slow weights move the part `alpha` of the way to the fast ones.

    `slow += alpha * (fast - slow); fast = slow`, where fast are the parameters as the inner optimizer changes them. The slow
    ones begin as the parameters are after the first step, as in Paddle. Rate and scheduler are those of the inner optimizer
    (in Paddle `get_lr()` is alpha).

    Args:
        inner_optimizer: the optimizer that makes each step.
        alpha: which part of the way is kept, from 0 to 1.
        k: after how many steps.
        name: becomes part of the names of the accumulators.

    Raises:
        ValueError: no inner optimizer; `alpha` outside of 0..1; `k` below 1 (also AssertionErrors).
        TypeError: an argument of another kind.

    Source:
        `paddle.incubate.LookAhead`; Zhang et al., "Lookahead Optimizer: k steps forward, 1 step back" (2019).

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> inner = wherry.optimizer.SGD(learning_rate=0.25, parameters=[weight])
        >>> optimizer = wherry.incubate.LookAhead(inner, alpha=0.5, k=2)
        >>> for _ in range(2):
        ...     (2 * weight).sum().backward()
        ...     optimizer.step()
        ...     optimizer.clear_grad()
        >>> print(weight.numpy())
        [0.25]
    """

    _accumulator_names = ("slow",)

    def __init__(self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        if inner_optimizer is None:
            raise AssertedArgumentError(
                "LookAhead: inner optimizer can not be None. Got None, expected an optimizer. Write LookAhead(SGD(...))."
            )
        if not isinstance(inner_optimizer, Optimizer):
            raise InvalidTypeError(
                f"LookAhead: inner_optimizer is not an optimizer. Got {short(inner_optimizer)} ({type(inner_optimizer).__name__}), "
                f"expected one of paddle.optimizer. Write LookAhead(SGD(...))."
            )
        self.alpha = number("LookAhead", "alpha", alpha, lambda x: True, "a number from 0 to 1")
        if not 0.0 <= self.alpha <= 1.0:
            raise AssertedArgumentError(
                f"LookAhead: alpha should be larger or equal to 0.0, and less or equal than 1.0. Got {short(alpha)}, expected a "
                f"number from 0 to 1. Leave it out for 0.5."
            )
        if not isinstance(k, int) or k < 1:
            raise AssertedArgumentError(
                f"LookAhead: k should be a positive integer. Got {short(k)}, expected 1 or more. Leave it out for 5."
            )
        self.inner_optimizer = inner_optimizer
        self.k = k
        self._steps = 0
        super().__init__(inner_optimizer._learning_rate, list(inner_optimizer._all_parameters()), name=name)

    def get_lr(self) -> float:
        """The learning rate of the inner optimizer.

        Source:
            `paddle.optimizer.Optimizer.get_lr`.
        """
        return self.inner_optimizer.get_lr()

    def set_lr(self, value: float) -> None:
        """Set the learning rate of the inner optimizer.

        Source:
            `paddle.optimizer.Optimizer.set_lr`.
        """
        self.inner_optimizer.set_lr(value)
        self._learning_rate = self.inner_optimizer._learning_rate

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let the inner optimizer take its learning rate from `scheduler`.

        Source:
            `paddle.optimizer.Optimizer.set_lr_scheduler`.
        """
        self.inner_optimizer.set_lr_scheduler(scheduler)
        self._learning_rate = scheduler

    def step(self) -> None:
        """A step of the inner optimizer; after every `k` of them, move the slow weights and go on from there.

        Source:
            `paddle.incubate.LookAhead.step`.
        """
        self.inner_optimizer.step()
        self._follow([p for p in self._all_parameters() if not p.stop_gradient and p.grad is not None])

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor] | None = None,
        no_grad_set: Iterable[Tensor] | None = None,
    ) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """As `step`, of the parameters given; call `loss.backward()` first.

        Args:
            loss: a tensor; it is not used otherwise.
            startup_program: of static mode, which this optimizer does not support.
            parameters: which to change; None means all of the optimizer.
            no_grad_set: which to leave alone.

        Returns:
            An empty list, and the pairs of parameter and gradient that were used.

        Raises:
            NotImplementedError: in static mode.
            TypeError: `loss` is not a tensor (also an AssertionError).

        Source:
            `paddle.incubate.LookAhead.minimize`.
        """
        _refuse_programs("LookAhead")
        made, pairs = self.inner_optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        self._follow([param for param, _ in pairs])
        return made, pairs

    def _follow(self, params: list[Tensor]) -> None:
        self._steps += 1
        back = self._steps % self.k == 0
        before = _core.set_grad_mode(False)
        try:
            for param in params:
                begun = param.name in self._accumulators.get("slow", {})
                self._create_accumulators(param, {})
                slow = self._accumulators["slow"][param.name]
                fast = param if param.dtype is slow.dtype else ops.cast(param, dtype=slow.dtype)
                if not begun and not self._accumulators_holder:
                    _put(slow, fast)
                if back:
                    _put(slow, slow * (1.0 - self.alpha) + fast * self.alpha)
                    _put(param, slow if param.dtype is slow.dtype else ops.cast(slow, dtype=param.dtype))
        finally:
            _core.set_grad_mode(before)

    def state_dict(self) -> dict[str, Any]:
        """The slow parameters and how many steps were made. The state of the inner optimizer is its own: save it, too.

        Source:
            `paddle.optimizer.Optimizer.state_dict`. Paddle does not save the number of steps; a state without it begins at 0.
        """
        state = super().state_dict()
        state.pop("LR_Scheduler", None)  # the inner optimizer's
        return {**state, _STEPS: self._steps} if self._steps else state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict()` was taken.

        Raises:
            ValueError, TypeError: as `Optimizer.set_state_dict`.

        Source:
            `paddle.optimizer.Optimizer.set_state_dict`.
        """
        if not isinstance(state_dict, dict):
            super().set_state_dict(state_dict)
        state = dict(state_dict)
        steps = int(state.pop(_STEPS, 0))
        rate, self._learning_rate = self._learning_rate, 0.0  # the base would ask for the scheduler's state
        try:
            super().set_state_dict(state)
        finally:
            self._learning_rate = rate
        self._steps = steps


_SUMS = ("sum_1", "sum_2", "sum_3")
_COUNTS = ("num_accumulates", "old_num_accumulates", "num_updates")
_MOST_SUMMED = 16384  # into one sum, for the sake of precision


class _Average:
    """The sums and counts of one parameter, over this window and the one before."""

    def __init__(self, param: Tensor) -> None:
        dtype = _core.float32 if param.dtype in _HALF else param.dtype
        self.sums = [ops.full(shape=tuple(param.shape), value=0.0, dtype=dtype) for _ in _SUMS]
        self.counts = dict.fromkeys(_COUNTS, 0)
        self.restore: Tensor | None = None


class ModelAverage(Optimizer):
    """Averages of parameters over the last steps, to evaluate with. Another optimizer makes the steps.

    A window ends when it has `min_average_window` steps or more and as many as `average_window_rate` of all steps, or
    `max_average_window`; the average is over this window and the one before it.

    Args:
        average_window_rate: how long a window is, as a part of all steps.
        parameters: tensors to average.
        min_average_window: the fewest steps of a window.
        max_average_window: the most.
        name: becomes part of the names in `state_dict()`.

    Raises:
        AttributeError: `parameters` is None.
        TypeError: an argument of another kind.

    Source:
        `paddle.incubate.ModelAverage`. A parameter without a gradient is averaged, too; in Paddle its average is nan.

    Examples:
        >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.SGD(learning_rate=0.25, parameters=[weight])
        >>> average = wherry.incubate.ModelAverage(0.15, parameters=[weight], min_average_window=2, max_average_window=10)
        >>> for _ in range(2):
        ...     (2 * weight).sum().backward()
        ...     optimizer.step()
        ...     average.step()
        ...     optimizer.clear_grad()
        >>> with average.apply():
        ...     print(weight.numpy())
        [0.25]
        >>> print(weight.numpy())
        [0.]
    """

    def __init__(
        self,
        average_window_rate: float,
        parameters: Iterable[Any] | None = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        check_arguments("ModelAverage", locals(), min_average_window=integer, max_average_window=integer)
        self.average_window = number("ModelAverage", "average_window_rate", average_window_rate, lambda x: True, "a number")
        self.min_average_window = int(min_average_window)
        self.max_average_window = int(max_average_window)
        self._averages: dict[str, _Average] = {}
        super().__init__(0.0, parameters, name=name)

    def step(self) -> None:
        """Add the parameters as they are now.

        Source:
            `paddle.incubate.ModelAverage.step`.
        """
        before = _core.set_grad_mode(False)
        try:
            for param in self._trained():
                self._add(self._averages.setdefault(param.name, _Average(param)), param)
        finally:
            _core.set_grad_mode(before)

    def _trained(self) -> Iterator[Tensor]:
        return (p for p in self._all_parameters() if not p.stop_gradient)

    def _add(self, average: _Average, param: Tensor) -> None:
        counts, (now, full, last) = average.counts, average.sums
        counts["num_updates"] += 1
        counts["num_accumulates"] += 1
        _put(now, now + (param if param.dtype is now.dtype else ops.cast(param, dtype=now.dtype)))
        if counts["num_updates"] % _MOST_SUMMED == 0:
            _put(full, full + now)
            _put(now, zeros_like(now))
        window = min(self.max_average_window, int(counts["num_updates"] * self.average_window))
        if counts["num_accumulates"] >= max(self.min_average_window, window):
            _put(last, now + full)
            _put(now, zeros_like(now))
            _put(full, zeros_like(full))
            counts["old_num_accumulates"], counts["num_accumulates"] = counts["num_accumulates"], 0

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor] | None = None,
        no_grad_set: Iterable[Tensor] | None = None,
    ) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """As `step`: nothing is minimized here.

        Args:
            loss: a tensor; it is not used otherwise.
            startup_program: of static mode, which this optimizer does not support.
            parameters: not used: those of the optimizer are averaged.
            no_grad_set: not used.

        Returns:
            Two empty lists.

        Raises:
            NotImplementedError: in static mode.

        Source:
            `paddle.incubate.ModelAverage.minimize`.
        """
        _refuse_programs("ModelAverage")
        self.step()
        return [], []

    @contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """A context manager: inside, the parameters hold their averages.

        Args:
            executor: of static mode; unused.
            need_restore: put the parameters back at the end. Otherwise `restore()` does.

        Raises:
            RuntimeError: there was no step.

        Source:
            `paddle.incubate.ModelAverage.apply`.
        """
        if not self._averages:
            raise RuntimeError(
                "ModelAverage.apply: there is no average yet. Got no step, expected one or more. Call step() after each step of "
                "the optimizer."
            )
        before = _core.set_grad_mode(False)
        try:
            for param in self._trained():
                average = self._averages.get(param.name)
                if average is None:
                    continue
                average.restore = ops.copy(param)
                count = average.counts["num_accumulates"] + average.counts["old_num_accumulates"]
                now, full, last = average.sums
                mean = (now + full + last) / float(count)
                _put(param, mean if mean.dtype is param.dtype else ops.cast(mean, dtype=param.dtype))
        finally:
            _core.set_grad_mode(before)
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Restore the parameters that `apply(need_restore=False)` has replaced.

        Args:
            executor: of static mode; unused.

        Raises:
            RuntimeError: `apply` was not called.

        Source:
            `paddle.incubate.ModelAverage.restore`.
        """
        kept = [(p, a.restore) for p in self._trained() if (a := self._averages.get(p.name)) is not None and a.restore is not None]
        if not kept:
            raise RuntimeError(
                "ModelAverage.restore: there is nothing to put back. Got no call of apply(), expected one before. Write "
                "`with average.apply(need_restore=False):` first."
            )
        before = _core.set_grad_mode(False)
        try:
            for param, value in kept:
                _put(param, value)
        finally:
            _core.set_grad_mode(before)

    def state_dict(self) -> dict[str, Any]:
        """The sums and the counts of each parameter, under Paddle's names.

        Source:
            `paddle.optimizer.Optimizer.state_dict`.
        """
        state: dict[str, Any] = {}
        for name, average in self._averages.items():
            state.update({f"{self._stem(name, key)}_0": value for key, value in zip(_SUMS, average.sums, strict=True)})
            if average.restore is not None:
                state[f"{self._stem(name, 'restore')}_0"] = average.restore
            state.update({f"{self._stem(name, key)}_0": to_tensor([value], dtype="int64") for key, value in average.counts.items()})
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict()` was taken.

        Raises:
            ValueError: something is missing or has another shape or dtype (also an AssertionError).
            TypeError: `state_dict` is not a dict.

        Source:
            `paddle.optimizer.Optimizer.set_state_dict`.
        """
        if not isinstance(state_dict, dict):
            super().set_state_dict(state_dict)
        found: dict[str, _Average] = {}
        for param in self._trained() if state_dict else ():
            average = found[param.name] = _Average(param)
            for key, tensor in zip(_SUMS, average.sums, strict=True):
                stem = self._stem(param.name, key)
                _write(tensor, self._loaded(stem, f"{stem}_0", state_dict), stem)
            for key in _COUNTS:
                stem = self._stem(param.name, key)
                average.counts[key] = int(self._loaded(stem, f"{stem}_0", state_dict))
            kept = state_dict.get(f"{self._stem(param.name, 'restore')}_0")
            if kept is not None:
                average.restore = ops.copy(param)
                _write(average.restore, kept, param.name)
        self._averages = found


explained(globals())
