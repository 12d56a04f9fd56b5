"""`paddle.incubate.autograd`: derivatives of functions."""
from wherry_autograd import Hessian, Jacobian
from wherry_autograd.functional import jvp, vjp

__all__ = ["Hessian", "Jacobian", "jvp", "vjp"]
