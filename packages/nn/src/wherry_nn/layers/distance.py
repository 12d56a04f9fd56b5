"""Distances as layers."""
from __future__ import annotations

from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = ["PairwiseDistance"]


@documented_by(F.pairwise_distance)
class PairwiseDistance(Layer):
    """Distance of pairs: the `p`-norm of `x - y + epsilon` along the last axis.

    Examples:
        >>> x, y = wherry.to_tensor([[3.0, 4.0]]), wherry.zeros([1, 2])
        >>> print(wherry.nn.PairwiseDistance(epsilon=0.0)(x, y).numpy())
        [5.]
    """

    def __init__(
        self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self.p = p
        self.epsilon = epsilon
        self.keepdim = keepdim
        self.name = name

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim)

    def extra_repr(self) -> str:
        options = {"p": self.p}
        if self.epsilon != 1e-6:
            options["epsilon"] = self.epsilon
        if self.keepdim is not False:
            options["keepdim"] = self.keepdim
        return described(self.name, **options)


explained(globals())
spelled(globals())
