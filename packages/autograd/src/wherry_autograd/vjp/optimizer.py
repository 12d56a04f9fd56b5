"""Parameter updates end the graph: a step is made outside of what is differentiated."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

_REASON = "an update is not part of the function that is differentiated, as in Paddle"

for _op in (ops.sgd, ops.momentum, ops.adam, ops.adamw):
    not_differentiable(_op, _REASON)
