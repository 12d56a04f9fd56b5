"""`paddle.incubate`: masked softmax and identity_loss."""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import mean, ops
from wherry_tensor import sum as sum_
from wherry_tensor._core import Tensor, bool_, int32
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import InvalidArgumentError, short

__all__ = ["identity_loss", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]


def softmax_mask_fuse(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """Masked softmax: `softmax(x + mask)` along the last axis.

    Args:
        x: scores, floating.
        mask: is added: 0 where a key is seen, a large negative number where not.

    Shape:
        `[batch, heads, T, S]` and a mask `[batch, 1, T, S]` to the shape of x.

    Raises:
        ValueError: x does not have four axes, or the mask does not broadcast to it.
        TypeError: one of them is not a Tensor (also a ValueError).

    Source:
        `paddle.incubate.softmax_mask_fuse`.

    Examples:
        >>> x = wherry.zeros([1, 1, 1, 2])
        >>> wherry.incubate.softmax_mask_fuse(x, wherry.to_tensor([[[[0.0, -10000.0]]]])).tolist()
        [[[[1.0, 0.0]]]]
    """
    _four_axes(x, "softmax_mask_fuse")
    require_tensor(mask, "softmax_mask_fuse", "mask")
    return ops.softmax(ops.add(x, mask), axis=3)


def softmax_mask_fuse_upper_triangle(x: Tensor) -> Tensor:
    """Causal softmax along the last axis: row i sees columns 0..i; the others are 0.

    Args:
        x: scores, floating.

    Shape:
        `[batch, heads, T, S]` to the same.

    Raises:
        ValueError: x does not have four axes.
        TypeError: it is not a Tensor (also a ValueError).

    Source:
        `paddle.incubate.softmax_mask_fuse_upper_triangle`.

    Examples:
        >>> wherry.incubate.softmax_mask_fuse_upper_triangle(wherry.zeros([1, 1, 2, 2])).tolist()
        [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    rows, columns = _four_axes(x, "softmax_mask_fuse_upper_triangle").shape[2:]
    seen = ops.cast(ops.tril(ops.full(shape=(rows, columns), value=1, dtype=int32), diagonal=0), dtype=bool_)
    return ops.softmax(ops.where(seen, x, ops.full(shape=(), value=-math.inf, dtype=x.dtype)), axis=3)


def _four_axes(x: Any, op_name: str) -> Tensor:
    if len(require_tensor(x, op_name).shape) != 4:
        raise InvalidArgumentError(
            f"{op_name}: 'x' needs four axes. Got shape {x.shape}, expected [batch, heads, T, S]. Reshape it."
        )
    return x  # type: ignore[no-any-return]


def identity_loss(x: Tensor, reduction: int | str = "none") -> Tensor:
    """Mark x as a loss: its sum, its mean or itself.

    Args:
        x: floating.
        reduction: "sum" or 0, "mean" or 1, "none" or 2.

    Shape:
        `[...]` to `[]`, or to the same with "none".

    Raises:
        ValueError: another `reduction`.
        TypeError: x is not a Tensor (also a ValueError).

    Source:
        `paddle.incubate.identity_loss`.

    Examples:
        >>> float(wherry.incubate.identity_loss(wherry.to_tensor([1.0, 3.0]), "mean"))
        2.0
    """
    require_tensor(x, "identity_loss")
    kinds = ("sum", "mean", "none")
    kind = kinds[reduction] if type(reduction) is int and 0 <= reduction < 3 else reduction
    if kind == "none":
        return x
    if kind not in kinds:
        raise InvalidArgumentError(
            f"identity_loss: Unsupported reduction type. Got {short(reduction)}, expected 'sum' (0), 'mean' (1) or 'none' (2). "
            f"Leave it out for 'none'."
        )
    return sum_(x) if kind == "sum" else mean(x)
