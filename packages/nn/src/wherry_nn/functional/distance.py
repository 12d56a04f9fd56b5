"""Distances between vectors."""
from __future__ import annotations

from wherry_tensor._core import Tensor
from wherry_tensor.arguments import flag, real_number, require_tensor
from wherry_tensor.errors import InvalidTypeError
from wherry_tensor.explained import explained
from wherry_tensor.functions.linalg import norm
from wherry_tensor.functions.math import subtract
from wherry_tensor.spellings import spelled

__all__ = ["pairwise_distance"]


def pairwise_distance(
    x: Tensor, y: Tensor, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """Distance of pairs: the `p`-norm of `x - y + epsilon` along the last axis.

    Args:
        x: floating: `[N, D]` or `[D]`.
        y: floating; broadcasts with `x`. The result has the wider of the two dtypes.
        p: the order of the norm, also 0, negative or infinite.
        epsilon: is added to each difference, which keeps gradients finite where `x` equals `y`.
        keepdim: keep the last axis with size 1.

    Shape:
        `[N, D]` or `[D]` twice to `[N]` or `[]`; `[N, 1]` with `keepdim`.

    Raises:
        TypeError: `x` or `y` is not a Tensor, or not floating, or `p` is not a number (also a ValueError).
        ValueError: the shapes do not broadcast.

    Source:
        `paddle.nn.functional.pairwise_distance`.

    Examples:
        >>> x, y = wherry.to_tensor([[3.0, 4.0]]), wherry.zeros([1, 2])
        >>> print(wherry.nn.functional.pairwise_distance(x, y, epsilon=0.0).numpy())
        [5.]
    """
    require_tensor(x, "pairwise_distance")
    require_tensor(y, "pairwise_distance", "y")
    if not (x.dtype.is_floating and y.dtype.is_floating):
        raise InvalidTypeError(
            f"pairwise_distance: x or y is not floating. Got {x.dtype.name} and {y.dtype.name}, expected floating "
            f"dtypes. Cast them with astype('float32')."
        )
    difference = subtract(x, y)
    if epsilon != 0.0:
        difference = difference + float(epsilon)
    return norm(difference, real_number(p, "pairwise_distance", "p"), -1, flag(keepdim, "pairwise_distance", "keepdim"))


explained(globals())
spelled(globals())
