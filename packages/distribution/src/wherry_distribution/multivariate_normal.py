"""The normal distribution of vectors."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, tensor_of
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import to_dtype
from wherry_tensor.dtype import default_dtype
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.functions import factorization, linalg, movement, reduction

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """The normal distribution of vectors, by its mean and one of three matrices.

    Args:
        loc: the mean, `[..., n]`; a number is a vector of one.
        covariance_matrix: `[..., n, n]`, positive definite.
        precision_matrix: its inverse.
        scale_tril: its Cholesky factor, lower triangular.

    Shape:
        `sample(shape)` is `[*shape, ..., n]`.

    Raises:
        TypeError: a parameter is not a number, or `shape` of `sample` is not a list (also a ValueError).
        ValueError: not exactly one matrix is given, or the shapes do not fit.

    Source:
        `paddle.distribution.MultivariateNormal`.

    Examples:
        >>> from wherry.distribution import MultivariateNormal
        >>> MultivariateNormal(wherry.zeros([2]), covariance_matrix=wherry.eye(2)).sample([3]).shape
        [3, 2]
    """

    def __init__(self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None) -> None:
        owner = "MultivariateNormal"
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise InvalidArgumentError(f"{owner}: one matrix says all. Got {', '.join(named) or 'none'}, expected exactly one. Choose scale_tril, say.")
        matrix = tensor_of(given[named[0]], owner, named[0], default_dtype())
        mean = to_dtype(tensor_of(loc, owner, "loc", matrix.dtype), matrix.dtype)
        mean = movement.reshape(mean, [1]) if not mean.ndim else mean
        if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or matrix.shape[-1] != mean.shape[-1]:
            raise InvalidArgumentError(f"{owner}: the matrix does not fit. Got {matrix.shape} for a mean of shape {mean.shape}, expected [..., n, n] for [..., n].")
        batch = movement.broadcast_shape(mean.shape[:-1], matrix.shape[:-2])
        n = mean.shape[-1]
        self.loc = movement.expand(mean, [*batch, n])
        for name in given:
            setattr(self, name, movement.expand(matrix, [*batch, n, n]) if name == named[0] else None)
        if named[0] == "scale_tril":
            factor = matrix
        elif named[0] == "covariance_matrix":
            factor = factorization.cholesky(matrix)
        else:
            factor = factorization.cholesky(factorization.inv(matrix))
        self._unbroadcasted_scale_tril = factor
        super().__init__(batch, [n])

    @property
    def mean(self) -> Tensor:
        """`loc`."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance matrix."""
        return movement.expand(reduction.sum(ops.square(self._unbroadcasted_scale_tril), -1), self.loc.shape)

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the shape `[*shape, *batch_shape, n]`."""
        return self.rsample(shape).detach()

    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws; gradients reach the parameters."""
        noise = ops.normal(shape=self._extend_shape(shape), mean=0.0, std=1.0, dtype=self.loc.dtype)
        return self.loc + movement.squeeze(linalg.matmul(self._unbroadcasted_scale_tril, movement.unsqueeze(noise, -1)), -1)

    def _log_determinant(self) -> Tensor:
        """Of the factor: half of that of the covariance matrix."""
        from wherry_tensor.functions.positions import diagonal

        return reduction.sum(ops.log(diagonal(self._unbroadcasted_scale_tril, 0, -2, -1)), -1)

    def entropy(self) -> Tensor:
        """Entropy in nats."""
        found = 0.5 * self.event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_determinant()
        return movement.expand(found, list(self.batch_shape)) if self.batch_shape else found

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density at `value`, `[..., n]`."""
        distance = self._value(value, self.loc) - self.loc
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + mahalanobis(self._unbroadcasted_scale_tril, distance)) - self._log_determinant()


def mahalanobis(factor: Tensor, distance: Tensor) -> Tensor:
    """The square of the length of a vector in units of the distribution: |inverse(factor) distance|^2."""
    batch = movement.broadcast_shape(factor.shape[:-2], distance.shape[:-1])
    n = distance.shape[-1]
    lower = movement.expand(factor, [*batch, n, n])
    column = movement.unsqueeze(movement.expand(distance, [*batch, n]), -1)
    return reduction.sum(ops.square(movement.squeeze(factorization.triangular_solve(lower, column, upper=False), -1)), -1)


explained(globals())
