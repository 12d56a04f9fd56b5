"""`paddle.base.dygraph` and its module `base`."""
from __future__ import annotations

from wherry import _absent
from wherry._inside import framework
from wherry._inside.checks import convert_dtype
from wherry._inside.framework import _dygraph_guard, in_dygraph_mode, to_variable
from wherry._inside.modes import in_to_static_mode, to_static_mode_guard
from wherry_autograd import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from wherry_graph.static import disable_static, enable_static
from wherry_nn import Layer

__all__ = [
    "Layer", "convert_dtype", "disable_dygraph", "enable_dygraph", "enable_grad", "enabled", "framework", "grad", "guard", "in_declarative_mode",
    "in_to_static_mode", "is_grad_enabled", "no_grad", "no_grad_", "set_grad_enabled", "to_variable",
]

_to_static_mode_guard_ = to_static_mode_guard
enabled = in_dygraph_mode
in_declarative_mode = in_to_static_mode
disable_dygraph, enable_dygraph = enable_static, disable_static
no_grad_ = no_grad


def guard(place: object = None) -> object:
    """Dynamic mode inside of a `with` block."""
    return _dygraph_guard()


__getattr__ = _absent.looked_up("wherry.base.dygraph")
