"""`paddle.autograd`: gradients on demand, functions with gradients of their own."""
from typing import TYPE_CHECKING

from wherry_autograd import (
    PyLayer,
    PyLayerContext,
    backward,
    enable_grad,
    grad,
    hessian,
    is_grad_enabled,
    jacobian,
    no_grad,
    saved_tensors_hooks,
    set_grad_enabled,
)

__all__ = [
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "no_grad",
    "saved_tensors_hooks",
    "set_grad_enabled",
]

if not TYPE_CHECKING:  # checkers find misspelled names themselves
    from wherry._absent import looked_up as _looked_up

    __getattr__ = _looked_up(__name__)
