"""What pictures of bytes say about gradients: they have none."""
from wherry_autograd.rules import not_differentiable
from wherry_tensor import ops

not_differentiable(ops.resample_bytes, "gives integers")
not_differentiable(ops.recolor, "gives integers")
