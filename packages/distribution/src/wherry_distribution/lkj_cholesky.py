"""The LKJ distribution of Cholesky factors of correlation matrices."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wherry_distribution.distribution import Distribution, parameters
from wherry_tensor import ops
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained
from wherry_tensor.functions import creation, movement, reduction
from wherry_tensor.functions.positions import diagonal

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """The LKJ distribution: of Cholesky factors L of correlation matrices R = L L', with a density proportional to det(R)^(concentration - 1).

    Args:
        dim: the size of the matrices, at least 2.
        concentration: above 0; 1 is uniform over correlation matrices, more prefers those near the identity.
        sample_method: "onion" or "cvine", two ways of drawing.

    Shape:
        `sample(shape)` is `[*shape, ..., dim, dim]`, with the shape of the concentration between.

    Raises:
        TypeError: a parameter is of another kind (also a ValueError).
        ValueError: `dim` is below 2, or the method is unknown.

    Source:
        `paddle.distribution.LKJCholesky`; Lewandowski, Kurowicka and Joe (2009).

    Examples:
        >>> from wherry.distribution import LKJCholesky
        >>> LKJCholesky(3, 1.5).sample([2]).shape
        [2, 3, 3]
    """

    def __init__(self, dim: int = 2, concentration: Any = 1.0, sample_method: str = "onion") -> None:
        self.dim = integer(dim, "LKJCholesky", "dim")
        if self.dim < 2:
            raise InvalidArgumentError(f"LKJCholesky: a correlation matrix has two rows at least. Got dim={self.dim}, expected an int of at least 2.")
        if sample_method not in ("onion", "cvine"):
            raise InvalidArgumentError(f"LKJCholesky: unknown sample_method. Got {short(sample_method)}, expected 'onion' or 'cvine'.")
        (self.concentration,) = parameters("LKJCholesky", concentration=concentration)
        self.sample_method = sample_method
        super().__init__(self.concentration.shape, [self.dim, self.dim])

    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Draws of the shape `[*shape, *batch_shape, dim, dim]`."""
        sizes = list(self._extend_shape(shape))[:-2]
        return (self._onion if self.sample_method == "onion" else self._vine)(sizes).detach()

    def _beta(self, a: Tensor, b: Tensor) -> Tensor:
        """Draws of beta distributions, as quotients of gamma ones, by their logarithms."""
        x, y = ops.log_standard_gamma(a), ops.log_standard_gamma(b)
        return ops.sigmoid(x - y)

    def _onion(self, sizes: list[int]) -> Tensor:
        """Row by row: the squared length of what is left of the diagonal is beta distributed, its direction uniform."""
        n, c = self.dim, movement.expand(self.concentration, sizes)
        rows = [_row(creation.ones([*sizes, 1], c.dtype), n)]
        for i in range(1, n):
            share = self._beta(creation.full_like(c, i / 2), c + (n - 1 - i) / 2)
            normal = ops.normal(shape=(*sizes, i), mean=0.0, std=1.0, dtype=c.dtype)
            direction = normal / ops.sqrt(reduction.sum(ops.square(normal), -1, keepdim=True))
            left = ops.sqrt(movement.unsqueeze(share, -1)) * direction
            rows.append(_row(movement.concat([left, movement.unsqueeze(ops.sqrt(1.0 - share), -1)], -1), n))
        return movement.stack(rows, -2)

    def _vine(self, sizes: list[int]) -> Tensor:
        """Column by column: partial correlations are beta distributed on [-1, 1]."""
        n, c = self.dim, movement.expand(self.concentration, sizes)
        rows = [_row(creation.ones([*sizes, 1], c.dtype), n)]
        for i in range(1, n):
            parts, rest = [], creation.ones_like(c)
            for j in range(i):
                a = c + (n - 2 - j) / 2
                partial = 2.0 * self._beta(a, a) - 1.0
                parts.append(movement.unsqueeze(partial * ops.sqrt(rest), -1))
                rest = rest * (1.0 - ops.square(partial))
            parts.append(movement.unsqueeze(ops.sqrt(rest), -1))
            rows.append(_row(movement.concat(parts, -1), n))
        return movement.stack(rows, -2)

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density of a factor, `[..., dim, dim]`."""
        n, c = self.dim, self.concentration
        below = diagonal(self._value(value, c), 0, -2, -1)[..., 1:]
        order = creation.arange(2, n + 1, dtype=c.dtype)
        powers = 2.0 * (movement.unsqueeze(c, -1) - 1.0) + n - order
        density = reduction.sum(powers * ops.log(below), -1)
        # The normalizer of the LKJ density: of multivariate gamma functions.
        alpha = c + 0.5 * (n - 1)
        k = n - 1
        shifts = creation.arange(k, dtype=c.dtype) * 0.5
        ratio = reduction.sum(ops.lgamma(movement.unsqueeze(alpha - 0.5, -1) - shifts), -1) + k * (k - 1) / 4 * math.log(math.pi)
        return density - (0.5 * k * math.log(math.pi) + ratio - k * ops.lgamma(alpha))


def _row(values: Tensor, n: int) -> Tensor:
    """The beginning of a row, with zeros after it."""
    lacking = n - values.shape[-1]
    return movement.concat([values, creation.zeros([*values.shape[:-1], lacking], values.dtype)], -1) if lacking else values


explained(globals())
