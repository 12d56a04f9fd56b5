"""Random draws do not depend smoothly on anything that could take a gradient."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

for _op in (ops.uniform, ops.normal, ops.randint, ops.randperm):
    not_differentiable(_op, "it has no inputs")
for _op in (ops.bernoulli, ops.multinomial, ops.poisson):
    not_differentiable(_op, "the drawn values are whole numbers; reparametrize to differentiate")
