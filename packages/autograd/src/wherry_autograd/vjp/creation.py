"""Gradient rules of creation: there is nothing to go back to."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

for _op in (ops.full, ops.full_like, ops.arange, ops.linspace, ops.eye):
    not_differentiable(_op, "the values come from attributes alone")
