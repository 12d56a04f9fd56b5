"""`paddle.autograd`: gradients on demand, functions with gradients of their own."""
from wherry_autograd import (
    PyLayer,
    PyLayerContext,
    backward,
    hessian,
    jacobian,
    saved_tensors_hooks,
)

__all__ = ["PyLayer", "PyLayerContext", "backward", "hessian", "jacobian", "saved_tensors_hooks"]
