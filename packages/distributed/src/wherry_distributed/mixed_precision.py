"""Gradients of parameters of 16 bits that are added up in float32 (`main_grad`): what many small batches add would be rounded away otherwise."""
from __future__ import annotations

from typing import Any

from wherry_autograd import no_grad
from wherry_autograd.selected_rows import SelectedRows
from wherry_distributed.fleet.optimizers import Wrapped, all_parameters
from wherry_distributed.gradients import dense_gradients
from wherry_nn import Layer
from wherry_tensor.arguments import require
from wherry_tensor.errors import InvalidArgumentError, short

HALF = ("float16", "bfloat16")


class MixPrecisionLayer(Layer):
    """A layer whose parameters get a gradient in float32, `main_grad`, in place of `grad`.

    Args:
        layers: the layer, with parameters of 16 bits.
        dtype: of the parameters, "float16" or "bfloat16".

    Raises:
        TypeError: `layers` is not a Layer (also a ValueError).
        ValueError: `dtype` is another one.

    Source:
        `paddle.distributed.fleet.utils.mix_precision_utils.MixPrecisionLayer`.
    """

    def __init__(self, layers: Layer, dtype: str = "float16") -> None:
        require(layers, Layer, "MixPrecisionLayer", "layers", "Pass the model itself.")
        super().__init__(f"{layers.full_name()}_mix_precision")
        if dtype not in HALF:
            raise InvalidArgumentError(f"MixPrecisionLayer: dtype has not 16 bits. Got {short(dtype)}, expected 'float16' or 'bfloat16'. Choose one.")
        self._layers, self._dtype = layers, dtype
        parameters: list[Any] = list(layers.parameters())
        for p in parameters:
            if not p.stop_gradient and not hasattr(p, "main_grad"):
                p.main_grad = None
                p.register_post_accumulate_hook(_add)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The state of the inner layer."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> tuple[list[str], list[str]]:
        """Set the state of the inner layer."""
        return self._layers.set_state_dict(*args, **kwargs)


def _add(p: Any) -> None:
    """A gradient is complete: it goes into the one of float32."""
    with no_grad():
        given = p.grad.to_dense() if isinstance(p.grad, SelectedRows) else p.grad
        wide = given.detach().astype("float32")
        p.main_grad = wide if p.main_grad is None else p.main_grad + wide
    p.clear_gradient(False)


class MixPrecisionOptimizer(Wrapped):
    """An optimizer that updates by `main_grad` where a parameter has one.

    Source:
        `paddle.distributed.fleet.utils.mix_precision_utils.MixPrecisionOptimizer`.
    """

    def synchronize(self) -> None:
        """Put the gradients where optimizers look for them."""
        dense_gradients(all_parameters(self._inner_opt))
        super().synchronize()

    def step(self) -> None:
        """One step."""
        self.synchronize()
        self._inner_opt.step()

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clear the gradients, those in float32 too."""
        for p in all_parameters(self._inner_opt):
            if hasattr(p, "main_grad"):
                p.main_grad = None
                p.clear_gradient(False)
        self._inner_opt.clear_grad(set_to_zero)

    clear_gradients = clear_grad


class MixPrecisionScaler:
    """A GradScaler that looks at `main_grad`.

    Source:
        `paddle.distributed.fleet.utils.mix_precision_utils.MixPrecisionScaler`.
    """

    def __init__(self, scaler: Any) -> None:
        self._scaler = scaler
        divide = scaler._divide

        def divide_main(optimizer: Any) -> Any:
            synchronize = getattr(optimizer, "synchronize", None)
            if synchronize is not None:
                synchronize()
            return divide(optimizer)

        scaler._divide = divide_main

    def __getattr__(self, name: str) -> Any:
        if name == "_scaler":
            raise AttributeError(name)
        return getattr(self._scaler, name)


__all__ = ["MixPrecisionLayer", "MixPrecisionOptimizer", "MixPrecisionScaler"]
