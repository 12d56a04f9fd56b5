"""Diagonals and masks."""
from __future__ import annotations

import math
from typing import Any

from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import integer, require_tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.functions.creation import diag_embed
from wherry_tensor.spellings import spelled

__all__ = ["diag_embed", "sequence_mask"]


def sequence_mask(x: Tensor, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """Sequence mask: 1 at positions within sequences of the lengths `x`, 0 after their ends.

    Args:
        x: the lengths, of a real dtype and any shape.
        maxlen: how many positions: an int, or a tensor of one. None and negative numbers take the largest length.
        dtype: of the result.

    Shape:
        `[...]` to `[..., maxlen]`.

    Raises:
        TypeError: `x` is not a Tensor or `maxlen` is not an int (also a ValueError), or there is no such `dtype`.
        ValueError: `maxlen` is 0.

    Source:
        `paddle.nn.functional.sequence_mask`.

    Examples:
        >>> print(wherry.nn.functional.sequence_mask(wherry.to_tensor([1, 0, 3])).numpy())
        [[1 0 0]
         [0 0 0]
         [1 1 1]]
    """
    require_tensor(x, "sequence_mask")
    kind = as_dtype(dtype, "sequence_mask")
    length = -1 if maxlen is None else integer(maxlen, "sequence_mask", "maxlen")
    if type(length) is int and length < 0 and _core.is_symbolic(x):  # the largest length, when the program runs
        length = integer(ops.cast(x.max(), int64), "sequence_mask", "maxlen")
    if type(length) is int and length == 0:
        raise InvalidArgumentError(
            "sequence_mask: maxlen is 0. Got maxlen=0, expected 1 or more. None takes the largest length."
        )
    if type(length) is int and length < 0:
        longest = x.max().item() if x.size else 0
        if isinstance(longest, float) and not math.isfinite(longest):
            raise InvalidArgumentError(
                f"sequence_mask: a length is not finite. Got {longest} in x, expected finite ones. Pass maxlen."
            )
        length = max(int(longest), 0)
    positions = ops.arange(start=0, step=1, length=length, dtype=x.dtype)
    return ops.cast(ops.less_than(positions, ops.unsqueeze(x, (x.ndim,))), kind)


spelled(globals())
