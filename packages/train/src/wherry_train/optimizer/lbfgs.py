"""Quasi-Newton methods: `LBFGS`, an optimizer, and `minimize_bfgs` and `minimize_lbfgs` of a function."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from wherry_autograd import grad as gradients_of
from wherry_nn.clip import ClipGradBase
from wherry_nn.param_attr import WeightDecayRegularizer
from wherry_tensor import _core, allclose, concat, eye, matmul, ops, reshape, to_tensor, zeros_like
from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import check_arguments, integer
from wherry_tensor.constructor_arguments import number as a_number
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.tracebacks import warn
from wherry_train.optimizer.line_search import Trial, strong_wolfe
from wherry_train.optimizer.lr import LRScheduler
from wherry_train.optimizer.optimizer import Optimizer, _put

__all__ = ["LBFGS", "minimize_bfgs", "minimize_lbfgs"]

_LEAST_CURVATURE = 1e-10  # of a pair that is remembered


def _dot(a: Tensor, b: Tensor) -> float:
    return float((a * b).sum())


def _largest(a: Tensor) -> float:
    return float(a.abs().max())


class _History:
    """The last steps and changes of the gradient, from which L-BFGS approximates the inverse Hessian."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.steps: list[Tensor] = []
        self.changes: list[Tensor] = []
        self.inverses: list[float] = []
        self.scale = 1.0

    def add(self, step: Tensor, change: Tensor) -> None:
        curvature = _dot(step, change)
        if not curvature > _LEAST_CURVATURE:
            return
        self.steps.append(step)
        self.changes.append(change)
        self.inverses.append(1.0 / curvature)
        for kept in (self.steps, self.changes, self.inverses):
            del kept[: -self.size]  # type: ignore[attr-defined]
        self.scale = curvature / _dot(change, change)

    def direction(self, grad: Tensor, first: Tensor | None = None) -> Tensor:
        """Minus the approximate inverse Hessian times `grad`: two passes over the history. `first` is where it begins."""
        result, parts = -grad, []
        known = list(zip(self.steps, self.changes, self.inverses, strict=True))
        for step, change, inverse in reversed(known):
            part = inverse * _dot(step, result)
            parts.append(part)
            result = result - change * part
        result = result * self.scale if first is None else matmul(first, result)
        for (step, change, inverse), part in zip(known, reversed(parts), strict=True):
            result = result + step * (part - inverse * _dot(change, result))
        return result


class LBFGS(Optimizer):
    """The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno: few steps, each from several evaluations.

    For problems without noise in the gradients. One call of `step` makes up to `max_iter` iterations.

    Args:
        learning_rate: the length of an iteration's step; with a line search, where the search begins.
        max_iter: the most iterations of one call of `step`.
        max_eval: the most evaluations of one call; None means `max_iter * 5 // 4`.
        tolerance_grad: stop where no entry of the gradient is larger.
        tolerance_change: stop where neither the parameters nor the loss change more.
        history_size: how many steps are remembered.
        line_search_fn: None or "strong_wolfe".
        parameters: tensors to change.
        weight_decay: accepted for compatibility. As in Paddle it has no effect, which a warning says: add the penalty to the
            loss in the closure.
        grad_clip: the same.

    Raises:
        RuntimeError: another `line_search_fn`.
        AttributeError: `parameters` is None.
        TypeError, ValueError: an argument of another kind or out of its range.

    Source:
        `paddle.incubate.optimizer.LBFGS`; Nocedal and Wright, "Numerical Optimization" (2006), algorithm 7.5.

    Examples:
        >>> weight = wherry.to_tensor([3.0, -2.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.LBFGS(line_search_fn="strong_wolfe", parameters=[weight])
        >>> def closure():
        ...     optimizer.clear_grad()
        ...     loss = ((weight - 1) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> float(optimizer.step(closure))
        13.0
        >>> print(weight.numpy().round(4))
        [1. 1.]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-07,
        tolerance_change: float = 1e-09,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        check_arguments(
            "LBFGS", locals(), max_iter=integer, max_eval=(lambda x: x is None or integer[0](x), "an int or None"), history_size=integer,
            tolerance_grad=a_number, tolerance_change=a_number,
        )
        if line_search_fn is not None and (not isinstance(line_search_fn, str) or line_search_fn != "strong_wolfe"):
            raise RuntimeError(
                f"LBFGS: only 'strong_wolfe' is supported as line_search_fn. Got {short(line_search_fn)}, expected that or None. "
                f"Leave it out for steps of a fixed length."
            )
        if history_size < 1:
            raise InvalidArgumentError(
                f"LBFGS: history_size is too small. Got {history_size}, expected 1 or more. Leave it out for 100."
            )
        if weight_decay is not None or grad_clip is not None:
            warn(
                "LBFGS: weight_decay and grad_clip have no effect. Got one of them, expected None. Add a penalty to the loss in "
                "the closure instead."
            )
        self.max_iter = int(max_iter)
        self.max_eval = self.max_iter * 5 // 4 if max_eval is None else int(max_eval)
        self.tolerance_grad = float(tolerance_grad)
        self.tolerance_change = float(tolerance_change)
        self.history_size = int(history_size)
        self.line_search_fn = line_search_fn
        self._forget()
        if type(learning_rate) is int:  # which Paddle takes here, unlike in its other optimizers
            learning_rate = float(learning_rate)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _forget(self) -> None:
        self._history = _History(self.history_size)
        self._evaluations = self._iterations = 0
        self._direction: Tensor | None = None
        self._step_length = 1.0
        self._last_grad: Tensor | None = None
        self._last_loss = math.inf

    def step(self, closure: Callable[[], Tensor]) -> Tensor:  # type: ignore[override]
        """Up to `max_iter` iterations.

        Args:
            closure: clears the gradients, computes the loss, calls `backward` on it and returns it.

        Returns:
            The loss as it was at the beginning.

        Raises:
            TypeError: `closure` is not a function, or returns something else than a loss.

        Source:
            `paddle.incubate.optimizer.LBFGS.step`.
        """
        if not callable(closure):
            raise InvalidTypeError(
                f"LBFGS.step: closure is not callable. Got {short(closure)} ({type(closure).__name__}), expected a "
                f"function that clears the gradients, calls backward and returns the loss. Write optimizer.step(closure)."
            )
        params = [p for p in self._all_parameters() if not p.stop_gradient]
        before = _core.set_grad_mode(False)
        try:
            return self._iterate(params, closure)
        finally:
            _core.set_grad_mode(before)

    def _iterate(self, params: list[Tensor], closure: Callable[[], Tensor]) -> Tensor:
        first = self._evaluate(closure)
        loss, grad, evaluations = float(first), _flat_gradients(params), 1
        self._evaluations += 1
        for left in reversed(range(self.max_iter)):
            if not _largest(grad) > self.tolerance_grad:
                break
            self._iterations += 1
            if self._direction is None or self._last_grad is None:
                direction, length = -grad, min(1.0, 1.0 / float(grad.abs().sum())) * self.get_lr()
            else:
                self._history.add(self._direction * self._step_length, grad - self._last_grad)
                direction, length = self._history.direction(grad), self.get_lr()
            self._last_grad, self._last_loss, self._direction, self._step_length = grad, loss, direction, length
            slope = _dot(grad, direction)
            if slope > -self.tolerance_change:
                break
            starts = [ops.copy(p) for p in params]
            if self.line_search_fn is None:
                _move(params, starts, direction, length)
                if not left:
                    break  # the next call evaluates there
                loss, grad, count = float(self._evaluate(closure)), _flat_gradients(params), 1
            else:
                def at(step: float, starts: list[Tensor] = starts, direction: Tensor = direction) -> Trial:
                    _move(params, starts, direction, step)
                    value = float(self._evaluate(closure))
                    there = _flat_gradients(params)
                    return Trial(step, value, _dot(there, direction), there)

                start = Trial(0.0, loss, slope, grad)
                found, count = strong_wolfe(at, start, length, _largest(direction), self.tolerance_change)
                loss, grad, length = found.value, found.grad, found.step
                _move(params, starts, direction, length)
                self._step_length = length
            evaluations += count
            self._evaluations += count
            if (
                evaluations >= self.max_eval
                or _largest(direction) * length <= self.tolerance_change
                or abs(loss - self._last_loss) < self.tolerance_change
            ):
                break
        return first

    def _evaluate(self, closure: Callable[[], Tensor]) -> Tensor:
        before = _core.set_grad_mode(True)
        try:
            loss = closure()
        finally:
            _core.set_grad_mode(before)
        if not hasattr(loss, "__float__") or math.prod(getattr(loss, "shape", ())) != 1:
            raise InvalidTypeError(
                f"LBFGS.step: the closure must return the loss. Got {short(loss)} ({type(loss).__name__}), expected a tensor of one "
                f"element. End the closure with `return loss`."
            )
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The state between steps, with Paddle's names, under the key "state".

        Source:
            `paddle.incubate.optimizer.LBFGS.state_dict`.
        """
        history = self._history
        state: dict[str, Any] = {"func_evals": self._evaluations, "n_iter": self._iterations}
        if self._direction is not None:
            state.update(
                d=self._direction, alpha=self._step_length, old_yk=list(history.changes), old_sk=list(history.steps),
                ro=list(history.inverses), H_diag=history.scale, prev_flat_grad=self._last_grad, prev_loss=self._last_loss,
            )
        return {"state": state}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict()` was taken. (Paddle's does nothing.)

        Raises:
            TypeError: `state_dict` is not a dict.
            ValueError: it is not the state of an LBFGS, or one of other parameters.

        Source:
            `paddle.optimizer.Optimizer.set_state_dict`.
        """
        if not isinstance(state_dict, dict):
            super().set_state_dict(state_dict)
        state = state_dict.get("state")
        if not isinstance(state, dict) or "n_iter" not in state:
            raise InvalidArgumentError(
                f"LBFGS.set_state_dict: this is not its state. Got {', '.join(map(str, state_dict)) or 'no keys'}, expected the key "
                f"'state' with what state_dict() gave. Load the state of an LBFGS."
            )
        held = sum(p.size for p in self._all_parameters() if not p.stop_gradient)
        if "d" in state and math.prod(state["d"].shape) != held:
            raise InvalidArgumentError(
                f"LBFGS.set_state_dict: this state is of other parameters. Got {math.prod(state['d'].shape)} values, expected {held}. "
                f"Build the network as it was."
            )
        self._forget()
        self._evaluations, self._iterations = int(state["func_evals"]), int(state["n_iter"])
        if "d" in state:
            self._direction, self._last_grad = _tensor(state["d"]), _tensor(state["prev_flat_grad"])
            self._step_length, self._last_loss = float(state["alpha"]), float(state["prev_loss"])
            history = self._history
            history.changes, history.steps = list(map(_tensor, state["old_yk"])), list(map(_tensor, state["old_sk"]))
            history.inverses, history.scale = list(map(float, state["ro"])), float(state["H_diag"])

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor] | None = None,
        no_grad_set: Iterable[Tensor] | None = None,
    ) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """Not supported: L-BFGS evaluates the loss at several points. Call `step(closure)`.

        Args:
            loss: unused.
            startup_program: unused.
            parameters: unused.
            no_grad_set: unused.

        Raises:
            NotImplementedError: always; Paddle changes nothing without saying so.

        Source:
            `paddle.incubate.optimizer.LBFGS.minimize`.
        """
        raise NotImplementedError(
            "LBFGS.minimize: it is not supported, as L-BFGS evaluates the loss at several points. Got a loss, expected a function. "
            "Call step(closure)."
        )


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else to_tensor(value)


def _flat_gradients(params: list[Tensor]) -> Tensor:
    """All gradients in one vector; zeros for parameters without."""
    return concat([reshape(zeros_like(p) if p.grad is None else ops.copy(p.grad), [-1]) for p in params])


def _move(params: list[Tensor], starts: list[Tensor], direction: Tensor, step: float) -> None:
    """Put the parameters `step` times the direction away from where they were."""
    begin = 0
    for param, start in zip(params, starts, strict=True):
        part = direction[begin : begin + param.size]
        begin += param.size
        _put(param, start + reshape(part, start.shape) * step)


# minimize_bfgs and minimize_lbfgs.


def minimize_bfgs(
    objective_func: Callable[[Tensor], Tensor],
    initial_position: Tensor,
    max_iters: int = 50,
    tolerance_grad: float = 1e-07,
    tolerance_change: float = 1e-09,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Minimize a function by the BFGS method (Broyden, Fletcher, Goldfarb, Shanno).

    Args:
        objective_func: takes a vector, returns one number.
        initial_position: the vector to begin with.
        max_iters: the most iterations.
        tolerance_grad: stop where no entry of the gradient is larger.
        tolerance_change: stop where no entry of the position changes more.
        initial_inverse_hessian_estimate: symmetric and positive definite `[n, n]`; None is the identity.
        line_search_fn: "strong_wolfe".
        max_line_search_iters: the most evaluations of one iteration.
        initial_step_length: where each line search begins.
        dtype: "float32" or "float64", that of the position.

    Returns:
        Whether a tolerance was reached; the number of evaluations; the position; the value; the gradient there; the estimate of the
        inverse Hessian. The line search is not Paddle's, so that the way to the minimum is another one.

    Shape:
        `[1]` bool; `[1]` int64; `[n]`; `[]`; `[n]`; `[n, n]`.

    Raises:
        ValueError: `dtype`, the position or the estimate is not as above; the function returns more than one number (also an
            AssertionError).
        NotImplementedError: another line search.

    Source:
        `paddle.incubate.optimizer.functional.minimize_bfgs`; Nocedal and Wright, algorithm 6.1.

    Examples:
        >>> found = wherry.incubate.optimizer.functional.minimize_bfgs(lambda x: ((x - 1) ** 2).sum(), wherry.to_tensor([3.0, -2.0]))
        >>> print(bool(found[0]), found[2].numpy().round(4))
        True [1. 1.]
    """
    run = _Minimization("minimize_bfgs", locals())
    estimate = eye(run.size, dtype=dtype) if run.estimate is None else run.estimate

    def update(step: Tensor, change: Tensor) -> None:
        nonlocal estimate
        curvature = _dot(step, change)
        if not curvature > _LEAST_CURVATURE:
            return
        inverse, column = 1.0 / curvature, matmul(estimate, change)
        mixed = reshape(column, [-1, 1]) * step
        squared = reshape(step, [-1, 1]) * step
        estimate = estimate + squared * (inverse * (1.0 + inverse * _dot(change, column))) - (mixed + mixed.t()) * inverse

    run.go(lambda grad: -matmul(estimate, grad), update)
    return (*run.result(), estimate)


def minimize_lbfgs(
    objective_func: Callable[[Tensor], Tensor],
    initial_position: Tensor,
    history_size: int = 100,
    max_iters: int = 50,
    tolerance_grad: float = 1e-08,
    tolerance_change: float = 1e-08,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Minimize a function by L-BFGS: as `minimize_bfgs`, with the last steps in place of a matrix.

    Args:
        objective_func: takes a vector, returns one number.
        initial_position: the vector to begin with.
        history_size: how many steps are remembered.
        max_iters: the most iterations.
        tolerance_grad: stop where no entry of the gradient is larger.
        tolerance_change: stop where no entry of the position changes more.
        initial_inverse_hessian_estimate: symmetric and positive definite `[n, n]`; None is a multiple of the identity.
        line_search_fn: "strong_wolfe".
        max_line_search_iters: the most evaluations of one iteration.
        initial_step_length: where each line search begins.
        dtype: "float32" or "float64", that of the position.

    Returns:
        Whether a tolerance was reached; the number of evaluations; the position; the value; the gradient there.

    Shape:
        `[1]` bool; `[1]` int64; `[n]`; `[]`; `[n]`.

    Raises:
        ValueError, NotImplementedError: as `minimize_bfgs`.

    Source:
        `paddle.incubate.optimizer.functional.minimize_lbfgs`; Nocedal and Wright, algorithm 7.5.

    Examples:
        >>> found = wherry.incubate.optimizer.functional.minimize_lbfgs(lambda x: ((x - 1) ** 2).sum(), wherry.to_tensor([3.0, -2.0]))
        >>> print(bool(found[0]), found[2].numpy().round(4))
        True [1. 1.]
    """
    run = _Minimization("minimize_lbfgs", locals())
    history = _History(max(1, int(history_size)))
    run.go(lambda grad: history.direction(grad, run.estimate), history.add)
    return run.result()


class _Minimization:
    """The search for a minimum, whatever gives the directions.

    Args:
        name: of the public function, for errors.
        arguments: all that it was called with, by name.
    """

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        check_arguments(
            name, arguments, max_iters=integer, max_line_search_iters=integer, tolerance_grad=a_number, tolerance_change=a_number,
            initial_step_length=a_number,
        )
        position, estimate, dtype = (arguments[key] for key in ("initial_position", "initial_inverse_hessian_estimate", "dtype"))
        if dtype not in ("float32", "float64"):
            raise InvalidArgumentError(
                f"{name}: The dtype must be 'float32' or 'float64'. Got {short(dtype)}, expected one of these. Leave it out for 'float32'."
            )
        if (line_search := arguments["line_search_fn"]) != "strong_wolfe":
            raise NotImplementedError(
                f"{name}: Currently only support line_search_fn = 'strong_wolfe'. Got {short(line_search)}, expected that. Leave it out."
            )
        if not isinstance(position, Tensor):
            raise InvalidTypeError(
                f"{name}: initial_position must be a tensor. Got {type(position).__name__}, expected a vector. Use paddle.to_tensor."
            )
        if len(position.shape) != 1 or position.dtype.name != dtype:
            raise InvalidArgumentError(
                f"{name}: initial_position does not fit. Got {position.dtype.name} of shape {position.shape}, expected a vector of dtype "
                f"{dtype!r}. Reshape it and say dtype={position.dtype.name!r}, or cast it."
            )
        self.name, self.function = name, arguments["objective_func"]
        self.most, self.tolerance_grad, self.tolerance_change = (arguments[key] for key in ("max_iters", "tolerance_grad", "tolerance_change"))
        self.most_trials, self.first_step = max(1, int(arguments["max_line_search_iters"])), float(arguments["initial_step_length"])
        self.size = position.size
        self.estimate = None if estimate is None else self._checked(estimate)
        self.position = position.detach()
        self.converged, self.calls = False, 0

    def _checked(self, estimate: Any) -> Tensor:
        fits = isinstance(estimate, Tensor) and estimate.shape == [self.size, self.size] and bool(allclose(estimate, estimate.t()))
        if fits:
            try:
                estimate.cpu().cholesky()  # where errors come at once
            except (ValueError, RuntimeError):
                fits = False
        if not fits:
            raise InvalidArgumentError(
                f"{self.name}: The initial_inverse_hessian_estimate should be symmetric and positive definite. Got "
                f"{short(estimate)}, expected such a matrix of {self.size} rows. Leave it out for the identity."
            )
        return estimate  # type: ignore[no-any-return]

    def _at(self, position: Tensor) -> tuple[Tensor, Tensor]:
        """The value and the gradient."""
        self.calls += 1
        before = _core.set_grad_mode(True)
        try:
            x = position.detach()
            x.stop_gradient = False
            value = self.function(x)
            if not isinstance(value, Tensor) or value.size != 1:
                raise AssertedArgumentError(
                    f"{self.name}: objective_func must return one number. Got {short(value)}, expected a tensor of one element. Sum it up."
                )
            (grad,) = gradients_of([value], [x], allow_unused=True)
        finally:
            _core.set_grad_mode(before)
        return reshape(value.detach(), []), zeros_like(position) if grad is None else grad.detach()

    def go(self, direction_for: Callable[[Tensor], Tensor], update: Callable[[Tensor, Tensor], None]) -> None:
        self.value, self.grad = self._at(self.position)
        self.converged = _largest(self.grad) <= self.tolerance_grad
        for _ in range(self.most):
            if self.converged:
                return
            direction = direction_for(self.grad)
            start = Trial(0.0, float(self.value), _dot(self.grad, direction), self.grad)
            if not start.is_finite() or start.slope >= 0:
                return  # nan, or a gradient that is not that of the value
            values: dict[float, Tensor] = {}

            def at(step: float, direction: Tensor = direction, values: dict[float, Tensor] = values) -> Trial:
                values[step], grad = self._at(self.position + direction * step)
                return Trial(step, float(values[step]), _dot(grad, direction), grad)

            found, _ = strong_wolfe(at, start, self.first_step, _largest(direction), self.tolerance_change, self.most_trials)
            if found.step == 0.0:
                return  # no smaller value in this direction
            step = direction * found.step
            update(step, found.grad - self.grad)
            self.position, self.value, self.grad = self.position + step, values[found.step], found.grad
            self.converged = _largest(self.grad) <= self.tolerance_grad or _largest(step) <= self.tolerance_change

    def result(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        return (
            to_tensor([self.converged]), to_tensor([self.calls], dtype="int64"), self.position, self.value, self.grad,
        )


explained(globals())
