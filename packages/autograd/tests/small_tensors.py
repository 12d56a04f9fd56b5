"""Small tensors for these tests, made without the functions that stand above the vocabulary."""
import numpy as np

from wherry_tensor import _core, ops


def make(values, requires_grad=False, dtype="float32"):
    """A tensor of `values`; the leaf of a graph with `requires_grad`."""
    values = np.asarray(values)
    out = _core.from_values(values.ravel().tolist(), list(values.shape), getattr(_core, dtype))
    out = _core.to_device(out, _core.get_current_device())
    out.stop_gradient = not requires_grad
    return out


def total(x):
    """The sum of all elements."""
    return ops.reduce_sum(x, axes=tuple(range(x.ndim)), keepdim=False)
