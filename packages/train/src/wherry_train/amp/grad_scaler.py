"""Loss scaling: keep the small gradients of float16 from becoming zero."""
from __future__ import annotations

from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import check_arguments, flag, number
from wherry_tensor.errors import AssertedArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_tensor.foreach import on_each

__all__ = ["AmpScaler", "GradScaler"]

_UNSCALED, _STEPPED = "unscaled", "stepped"


class GradScaler:
    """Loss scaling: multiplies the loss, divides the gradients, and adapts the factor so that nothing overflows.

    In float16 gradients below 6e-8 are zero. Those of a loss times 65536 are not, as long as the large
    ones stay below 65504. A step whose gradients hold infinity or NaN is skipped. With dynamic scaling the
    factor shrinks after such steps and grows after a long time without.

    Args:
        enable: False makes every method do nothing, or call the optimizer as it is.
        init_loss_scaling: the factor at the beginning.
        incr_ratio: by which the factor grows, > 1.
        decr_ratio: by which it shrinks, < 1.
        incr_every_n_steps: after how many good steps in a row it grows.
        decr_every_n_nan_or_inf: after how many bad steps in a row it shrinks.
        use_dynamic_loss_scaling: False keeps the factor as it is.

    Raises:
        ValueError: a ratio lies on the wrong side of 1 (also an AssertionError).

    Source:
        `paddle.amp.GradScaler`, which does nothing on CPUs. Micikevicius et al., "Mixed precision
        training" (2018), section 3.2.

    Examples:
        >>> model = wherry.nn.Linear(2, 1)
        >>> optimizer = wherry.optimizer.SGD(learning_rate=0.1, parameters=model.parameters())
        >>> scaler = wherry.amp.GradScaler(init_loss_scaling=1024.0)
        >>> with wherry.amp.auto_cast():
        ...     loss = model(wherry.ones([4, 2])).mean()
        >>> scaler.scale(loss).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> optimizer.clear_grad()
        >>> scaler.state_dict()["incr_count"]
        1
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**16,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        check_arguments(
            "GradScaler", locals(), enable=flag, init_loss_scaling=number, incr_ratio=number, decr_ratio=number,
            incr_every_n_steps=number, decr_every_n_nan_or_inf=number, use_dynamic_loss_scaling=flag,
        )
        self._enable = bool(enable)
        self._states: dict[int, str] = {}   # of the optimizers that were touched since the last update, by id
        # Whether their gradients hold infinity or NaN: True, False, or whether they are finite, a tensor nobody has read yet.
        self._bad: dict[int, bool | Tensor] = {}
        self._use_dynamic_loss_scaling = bool(use_dynamic_loss_scaling)
        self._incr_count = 0
        self._decr_count = 0
        self.set_incr_ratio(incr_ratio)
        self.set_decr_ratio(decr_ratio)
        self.set_incr_every_n_steps(incr_every_n_steps)
        self.set_decr_every_n_nan_or_inf(decr_every_n_nan_or_inf)
        self.set_init_loss_scaling(init_loss_scaling)

    def __repr__(self) -> str:
        if not self._enable:
            return f"{type(self).__name__}(enable=False)"
        moves = f"grows after {self._incr_every_n_steps} steps" if self._use_dynamic_loss_scaling else "fixed"
        return f"{type(self).__name__}(scale={self._scale:g}, {moves}, incr_count={self._incr_count}, decr_count={self._decr_count})"

    # Scaling.

    def scale(self, var: Tensor) -> Tensor:
        """The loss times the factor; float32 where the loss has 16 bits.

        Raises:
            TypeError: `var` is not a Tensor.

        Source:
            `paddle.amp.GradScaler.scale`.
        """
        if not self._enable:
            return var
        if not isinstance(var, Tensor):
            raise InvalidTypeError(
                f"GradScaler.scale: the loss must be a Tensor. Got {short(var)} ({type(var).__name__}), expected one. Pass what the "
                f"loss function returned."
            )
        if var.dtype in (_core.float16, _core.bfloat16) or var.dtype.is_integer:
            var = ops.cast(var, dtype=_core.float32)  # a loss of 1 times 65536 is infinite in float16
        return ops.multiply(var, _core.scalar(self._scale, var.dtype))

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of the optimizer's parameters by the factor, in place: to clip them by hand, say.

        `step` and `minimize` do it where it was not done.

        Raises:
            RuntimeError: it was done since the last `update`, or `step` was called.

        Source:
            `paddle.amp.GradScaler.unscale_`.
        """
        self._require_optimizer(optimizer)
        if not self._enable:
            return
        state = self._states.get(id(optimizer))
        if state is not None:
            what = (
                "unscale_() has already been called on this optimizer since the last update()" if state == _UNSCALED
                else "unscale_() is being called after step()"
            )
            raise RuntimeError(
                f"GradScaler: {what}. Got a second call, expected one for each update(). Dividing twice makes gradients too small."
            )
        # Marked as bad until it is done: after an interrupt (Ctrl-C) some gradients are divided and others not. The next
        # step is skipped then.
        self._states[id(optimizer)] = _UNSCALED
        self._bad[id(optimizer)] = True
        self._bad[id(optimizer)] = self._divide(optimizer)

    def _require_optimizer(self, optimizer: Any) -> None:
        if not hasattr(optimizer, "_all_parameters"):
            raise InvalidTypeError(
                f"{type(self).__name__}: the argument is not an optimizer. Got {short(optimizer)} ({type(optimizer).__name__}), "
                f"expected an Optimizer. Pass the one that updates the parameters."
            )

    def _is_bad(self, optimizer: Any) -> bool:
        """Whether the step has to be skipped. Waits for the device, once for each optimizer and step."""
        bad = self._bad[id(optimizer)]
        if not isinstance(bad, bool):
            bad = self._bad[id(optimizer)] = not bad
        return bad

    def _divide(self, optimizer: Any) -> bool | Tensor:
        """Divides; are the gradients finite, a tensor of one bool? False where there is none: nothing is bad."""
        params = [p for p in optimizer._all_parameters() if p.grad is not None]
        grads = [p.grad for p in params]
        if not grads:
            return False
        before = _core.set_grad_mode(False)
        try:
            finite = ops.all_finite(*grads)
            if getattr(optimizer, "_master_grad", False):
                narrow = [p for p in params if p.grad.dtype is not _core.float32]
                for param, grad in zip(narrow, on_each(ops.cast, [p.grad for p in narrow], attrs=(_core.float32,), dtype=_core.float32), strict=True):
                    param.grad = grad
                grads = [p.grad for p in params]
            by_dtype: dict[Any, list[Tensor]] = {}
            for grad in grads:
                by_dtype.setdefault(grad.dtype, []).append(grad)
            for dtype, some in by_dtype.items():
                # As a product: the factor is a power of two, nearly always, and so exact in every dtype that holds it.
                wide = _core.float32 if dtype in (_core.float16, _core.bfloat16) else dtype
                inverse = _core.scalar(1.0 / self._scale, wide)
                if wide is dtype:
                    ops.multiply.each_into((some,), (some, inverse), ())
                else:
                    products = on_each(ops.cast, some, attrs=(wide,), dtype=wide)
                    ops.multiply.each_into((products,), (products, inverse), ())
                    ops.cast.each_into((some,), (products,), (dtype,))
            return finite
        finally:
            _core.set_grad_mode(before)

    def step(self, optimizer: Any) -> None:
        """Let the optimizer make its step, unless gradients hold infinity or NaN. Call `update` after it.

        Raises:
            RuntimeError: it was called since the last `update`, where scaling is dynamic.

        Source:
            `paddle.amp.GradScaler.step`.
        """
        self._require_optimizer(optimizer)
        if not self._enable:
            optimizer.step()
            return
        if self._states.get(id(optimizer)) == _STEPPED:
            raise RuntimeError(
                "GradScaler: step() has already been called since the last update(). Got a second call, expected update() between "
                "two steps. Call scaler.update()."
            )
        if id(optimizer) not in self._states:
            self.unscale_(optimizer)
        if not self._is_bad(optimizer):
            optimizer.step()
        self._states[id(optimizer)] = _STEPPED
        if not self._use_dynamic_loss_scaling:
            self._forget()

    def update(self) -> None:
        """Adapt the factor to what the steps since the last call have met.

        Source:
            `paddle.amp.GradScaler.update`.
        """
        if not self._enable:
            return
        if self._use_dynamic_loss_scaling and self._bad:
            if any(bad if isinstance(bad, bool) else not bad for bad in self._bad.values()):
                self._incr_count = 0
                self._decr_count += 1
                if self._decr_count == self._decr_every_n_nan_or_inf:
                    print(
                        f"Found inf or nan, current scale is: {self._scale}, decrease to: {self._scale}*{self._decr_ratio}"
                    )
                    self._scale *= self._decr_ratio
                    self._decr_count = 0
            else:
                self._decr_count = 0
                self._incr_count += 1
                if self._incr_count == self._incr_every_n_steps:
                    self._scale *= self._incr_ratio
                    self._incr_count = 0
        self._forget()

    def _forget(self) -> None:
        self._states.clear()
        self._bad.clear()

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`step` and `update` in one: `scaler.minimize(optimizer, scaled_loss)` after `scaled_loss.backward()`.

        Args:
            optimizer: whose parameters have gradients.
            args, kwargs: for `optimizer.minimize`: the scaled loss, mainly.

        Returns:
            What `optimizer.minimize` returned; (None, None) where the step was skipped.

        Source:
            `paddle.amp.GradScaler.minimize`.
        """
        self._require_optimizer(optimizer)
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        if id(optimizer) not in self._states:
            self.unscale_(optimizer)
        result = (None, None) if self._is_bad(optimizer) else optimizer.minimize(*args, **kwargs)
        self.update()
        return result

    # Settings.

    def is_enable(self) -> bool:
        """Whether scaling is enabled."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the factor is adapted."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The factor at the beginning."""
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Start over from another factor."""
        self._init_loss_scaling = float(new_init_loss_scaling)
        self._scale = self._init_loss_scaling

    def get_incr_ratio(self) -> float:
        """What the factor is multiplied by when it grows."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Set what the factor is multiplied by when it grows, > 1 (else a ValueError that is also an AssertionError)."""
        if not new_incr_ratio > 1.0:
            raise AssertedArgumentError(
                f"GradScaler: The new_incr_ratio must be > 1.0. Got incr_ratio={short(new_incr_ratio)}, expected more than 1. Write "
                f"incr_ratio=2.0, say."
            )
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        """What the factor is multiplied by when it shrinks."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Set what the factor is multiplied by when it shrinks, < 1 (else a ValueError that is also an AssertionError)."""
        if not new_decr_ratio < 1.0:
            raise AssertedArgumentError(
                f"GradScaler: The new_decr_ratio must be < 1.0. Got decr_ratio={short(new_decr_ratio)}, expected less than 1. Write "
                f"decr_ratio=0.5, say."
            )
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        """After how many good steps in a row the factor grows."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Set after how many good steps in a row the factor grows."""
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        """After how many bad steps in a row the factor shrinks."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Set after how many bad steps in a row the factor shrinks."""
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    # State.

    def state_dict(self) -> dict[str, Any]:
        """The factor (an array of one element, as in Paddle), the settings and the counts; {} where it is not enabled.

        Source:
            `paddle.amp.GradScaler.state_dict`.
        """
        if not self._enable:
            return {}
        return {
            "scale": _core.from_values([self._scale], [1], _core.float32).numpy(),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": self._incr_count,
            "decr_count": self._decr_count,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict()` was taken.

        Raises:
            RuntimeError: it is empty: it was taken from a scaler that was not enabled.
            KeyError: something is missing.

        Source:
            `paddle.amp.GradScaler.load_state_dict`.
        """
        if not self._enable:
            return
        if not state_dict:
            raise RuntimeError(
                "GradScaler.load_state_dict: The input state dict is empty, possibly because it was saved from a disabled instance "
                "of GradScaler. Got {}, expected scale, incr_ratio, ... Load the state of an enabled one."
            )
        scale = state_dict["scale"]
        found = {f"_{key}": state_dict[key] for key in self.state_dict() if key != "scale"}
        self.set_init_loss_scaling(scale.item() if hasattr(scale, "item") else scale)
        self.__dict__.update(found)


AmpScaler = GradScaler


explained(globals())
