"""`paddle.incubate.autograd`: derivatives of functions."""
from wherry_autograd.incubate import (
    Hessian,
    Jacobian,
    disable_prim,
    enable_prim,
    forward_grad,
    grad,
    jvp,
    prim_enabled,
    vjp,
)

__all__ = ["Hessian", "Jacobian", "disable_prim", "enable_prim", "forward_grad", "grad", "jvp", "prim_enabled", "vjp"]
