"""Gradient rules of random draws: none has one.

Reparametrised draws are made of these and arithmetic, as in `mean + std * normal`.
"""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

for _op in (ops.uniform, ops.normal, ops.randint, ops.randperm):
    not_differentiable(_op, "the values come from attributes and the generator alone")
for _op in (ops.bernoulli, ops.multinomial, ops.poisson, ops.log_standard_gamma):
    not_differentiable(_op, "a draw is not a smooth function of its probabilities")
