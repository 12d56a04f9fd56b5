"""Moving averages of the parameters of a program."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from wherry_graph.static.builder import lasting_variable
from wherry_graph.static.mode import default_main_program, paused, recording_into
from wherry_graph.static.scope import global_scope
from wherry_nn import unique_name
from wherry_program.program.ir import OPTIMIZE
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, float32, int64
from wherry_tensor.arguments import name_of
from wherry_tensor.errors import PreconditionNotMetError
from wherry_tensor.explained import explained

__all__ = ["ExponentialMovingAverage"]


class ExponentialMovingAverage:
    """Exponential moving averages of parameters, for evaluation.

        average = decay * average + (1 - decay) * parameter

    The averages begin with 0; `apply` divides them by `1 - decay ** steps`.

    Args:
        decay: the part of the average that is kept at each step.
        thres_steps: a variable with the number of steps; the decay is then `min(decay, (thres_steps + 1) / (thres_steps + 10))`.
        name: begins the names of the averages.

    Shape:
        thres_steps: `[]` or `[1]`. An average has the shape of its parameter.

    Raises:
        ValueError: `decay` is not a number.

    Source:
        `paddle.static.ExponentialMovingAverage`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     y = wherry.static.nn.fc(wherry.static.data("x", [1, 2]), 1, weight_attr="ema_w", bias_attr=False)
        ...     average = wherry.static.ExponentialMovingAverage(0.5)
        ...     average.update()
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup), exe.run(main, feed={"x": [[1.0, 2.0]]})
        ([], [])
        >>> with average.apply(exe):
        ...     [value] = exe.run(main, feed={"x": [[1.0, 2.0]]}, fetch_list=[y])
        >>> wherry.disable_static()
    """

    def __init__(self, decay: float = 0.999, thres_steps: Tensor | None = None, name: str | None = None) -> None:
        self._decay = float(decay)
        self._thres_steps = thres_steps
        self._name = name_of(name, "ExponentialMovingAverage") or ""
        self._averages: dict[str, tuple[Any, Any]] = {}  # name of a parameter -> itself, its average
        self._kept: dict[str, Tensor] = {}
        self._program = default_main_program()
        with recording_into(self._program):
            for p in self._program.all_parameters():
                if not p.stop_gradient:
                    average = lasting_variable(
                        unique_name.generate(f"{self._name}{p.name}_ema"), partial(ops.full, shape=tuple(p.sizes), value=0.0, dtype=p.dtype)
                    )
                    self._averages[p.name] = p, average
            self._steps = lasting_variable(
                unique_name.generate(f"{self._name}@EMA_STEP_COUNTER@"), partial(ops.full, shape=(1,), value=0, dtype=int64)
            )
            # The weight of the initial zeros: the product of all decays.
            self._left = lasting_variable(
                unique_name.generate(f"{self._name}ema_decay_product"), partial(ops.full, shape=(1,), value=1.0, dtype=float32)
            )

    def update(self) -> None:
        """Add the update of the averages to the program; call it after `minimize`.

        Source:
            `paddle.static.ExponentialMovingAverage.update`.
        """
        with recording_into(self._program, OPTIMIZE):
            before = _core.set_grad_mode(False)
            try:
                decay: Any = ops.full(shape=(1,), value=self._decay, dtype=float32)
                if self._thres_steps is not None:
                    t = ops.reshape(ops.cast(self._thres_steps, dtype=float32), shape=(1,))
                    decay = ops.minimum(decay, (t + 1.0) / (t + 10.0))
                for p, average in self._averages.values():
                    d = ops.reshape(decay, shape=()) if p.dtype is float32 else ops.cast(ops.reshape(decay, shape=()), dtype=p.dtype)
                    ops.copy.into((average,), average * d + p * (1.0 - d))
                ops.copy.into((self._left,), ops.multiply(self._left, decay))
                ops.copy.into((self._steps,), self._steps + 1)
            finally:
                _core.set_grad_mode(before)

    @contextmanager
    def apply(self, executor: Any, need_restore: bool = True) -> Iterator[None]:
        """A context: inside, the parameters hold their averages.

        Args:
            executor: no effect.
            need_restore: restore the parameters at the end; else `restore` does.

        Raises:
            RuntimeError: `update` has not run, or the startup program.

        Source:
            `paddle.static.ExponentialMovingAverage.apply`.
        """
        scope = global_scope()
        with paused():
            left = self._value(self._left, scope)
            share = 1.0 - float(left.item())
            for name, (p, average) in self._averages.items():
                value = self._value(p, scope)
                mean = self._value(average, scope)
                self._kept[name] = ops.copy(value.detach())
                _write(value, mean / share if share > 0.0 else mean)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any) -> None:
        """Restore the parameters.

        Source:
            `paddle.static.ExponentialMovingAverage.restore`.
        """
        scope = global_scope()
        with paused():
            for name, kept in self._kept.items():
                _write(self._value(self._averages[name][0], scope), kept)
        self._kept = {}

    @staticmethod
    def _value(x: Any, scope: Any) -> Tensor:
        found = x.bound if x.bound is not None else scope.value(x.name)
        if found is None:
            raise PreconditionNotMetError(
                f"ExponentialMovingAverage: '{x.name}' has no value. Got a scope without it, expected one in which the startup program has run."
            )
        return found


def _write(target: Tensor, value: Tensor) -> None:
    before = _core.set_grad_mode(False)
    try:
        ops.copy.into((target,), value)
    finally:
        _core.set_grad_mode(before)


explained(globals())
