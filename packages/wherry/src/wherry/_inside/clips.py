"""Parts of gradient clipping."""
from __future__ import annotations

import wherry
from wherry_tensor import Tensor


def _squared_l2_norm(x: Tensor) -> Tensor:
    """The sum of the squares of all elements, `[1]` as in Paddle."""
    return wherry.sum(wherry.square(x)).reshape([1])
