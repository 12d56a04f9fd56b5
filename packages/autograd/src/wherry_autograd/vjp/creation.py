"""Ops that make values out of nothing have no gradients to pass on."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

for _op in (ops.full, ops.arange, ops.linspace, ops.eye):
    not_differentiable(_op, "it has no inputs")
not_differentiable(ops.full_like, "only the shape of its input is used")
