"""Gradient rules of creation: there are no inputs to differentiate by."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

for _op in (ops.full, ops.full_like, ops.arange, ops.linspace, ops.eye):
    not_differentiable(_op, "the values come from attributes alone")
