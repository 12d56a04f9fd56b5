"""Parameter updates end the graph: a step is made outside of what is differentiated."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

_REASON = "an update is not part of the function that is differentiated, as in Paddle"

for _op in (
    ops.sgd, ops.momentum, ops.adam, ops.adamw, ops.adagrad, ops.adadelta, ops.adamax, ops.rmsprop, ops.lamb, ops.nadam, ops.radam, ops.rprop,
):
    not_differentiable(_op, _REASON)

# Clipping by these is not differentiated either; where it should be, wherry.linalg has norms with a gradient.
for _op in (ops.sum_of_squares, ops.all_finite):
    not_differentiable(_op, "it looks at gradients, which an update uses up")
