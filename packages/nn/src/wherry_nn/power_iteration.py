"""The largest singular value of a weight by power iteration: for the layer SpectralNorm and for `utils.spectral_norm`."""
from __future__ import annotations

from wherry_autograd import no_grad
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.functions.creation import full

__all__ = ["as_matrix", "largest_singular_value", "normalized", "power_iteration"]


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with axis `dim` as rows and all others as columns."""
    if dim != 0:
        weight = ops.transpose(weight, (dim, *(axis for axis in range(weight.ndim) if axis != dim)))
    rows = weight.shape[0]
    return weight if weight.ndim == 2 else ops.reshape(weight, (rows, weight.size // rows))


def power_iteration(
    matrix: Tensor, u: Tensor, v: Tensor, times: int, epsilon: float, added: bool = False
) -> tuple[Tensor, Tensor]:
    """Better approximations of the singular vectors of the largest singular value (von Mises iteration).

    Vectors are divided by their norm, which is at least `epsilon`, or to which it is `added`: Paddle's
    function does the one and its layer the other.
    """
    with no_grad():
        for _ in range(times):
            v = normalized(ops.matmul(u, matrix, False, False), epsilon, added)
            u = normalized(ops.matmul(matrix, v, False, False), epsilon, added)
    return u, v


def normalized(x: Tensor, epsilon: float, added: bool = False) -> Tensor:
    """`x` divided by its norm, which is at least `epsilon`, or to which it is `added`."""
    norm = ops.sqrt(ops.reduce_sum(ops.square(x), (0,), False))
    return x / (norm + epsilon if added else ops.maximum(norm, full([], epsilon, norm.dtype)))


def largest_singular_value(matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The singular value that belongs to the vectors; its gradient treats them as constants."""
    return ops.reduce_sum(u * ops.matmul(matrix, v, False, False), (0,), False)
