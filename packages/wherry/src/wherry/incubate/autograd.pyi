"""Stub of wherry.incubate.autograd, written by tools/stubs.py: where each public name comes from."""
from wherry_autograd.functional import jvp as jvp
from wherry_autograd.functional import vjp as vjp
from wherry_autograd.incubate import Hessian as Hessian
from wherry_autograd.incubate import Jacobian as Jacobian
from wherry_autograd.incubate import disable_prim as disable_prim
from wherry_autograd.incubate import enable_prim as enable_prim
from wherry_autograd.incubate import forward_grad as forward_grad
from wherry_autograd.incubate import grad as grad
from wherry_autograd.incubate import prim_enabled as prim_enabled
__all__: list[str]
