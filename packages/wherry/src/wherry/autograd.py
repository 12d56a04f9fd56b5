"""`paddle.autograd`: gradients, and functions with custom gradients."""
from wherry import _absent
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

Function = PyLayer  # in PyTorch

__all__ = [
    "Function",
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

_absent.explain(__name__)
