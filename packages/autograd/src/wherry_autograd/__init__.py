"""Gradients for Wherry: rules, the engine, and the functions of `paddle.autograd`.

Importing the package installs the recorder into the core and gives Tensor its gradient methods.
"""
import wherry_autograd.vjp  # noqa: F401  fills the vjp column
from wherry_autograd import _engine
from wherry_autograd.backward_mode import at_end_of_backward, backward, grad
from wherry_autograd.functional import Hessian, Jacobian, hessian, jacobian
from wherry_autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from wherry_autograd.py_layer import PyLayer, PyLayerContext, once_differentiable
from wherry_autograd.saved_tensors import saved_tensors_hooks
from wherry_autograd.selected_rows import SelectedRows
from wherry_tensor import flags as _flags
from wherry_tensor._core import is_grad_enabled

__all__ = [
    "Hessian", "Jacobian", "PyLayer", "PyLayerContext", "SelectedRows", "at_end_of_backward", "backward", "enable_grad", "grad", "hessian",
    "is_grad_enabled", "jacobian", "no_grad", "once_differentiable", "saved_tensors_hooks", "set_grad_enabled",
]
__version__ = "0.18.0"

_flags.when_set("FLAGS_call_stack_level", lambda level: _engine.show_frames(int(level) > 1))
