"""Padding."""
from __future__ import annotations

from collections.abc import Sequence

from wherry_tensor._core import Tensor
from wherry_tensor.functions.padding import pad
from wherry_tensor.spellings import spelled

__all__ = ["pad", "zeropad2d"]


def zeropad2d(x: Tensor, padding: Sequence[int] | Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Zero padding of images.

    Args:
        x: 4-D.
        padding: `[left, right, top, bottom]`.
        data_format: "NCHW" or "NHWC".

    Shape:
        `[N, C, H, W]` to `[N, C, top + H + bottom, left + W + right]`.

    Raises:
        TypeError: `x` is not a Tensor, or `padding` is not a list of ints (also a ValueError).
        ValueError: `x` is not 4-D, or there is no such layout.

    Source:
        `paddle.nn.functional.zeropad2d`.

    Examples:
        >>> wherry.nn.functional.zeropad2d(wherry.ones([1, 1, 2, 3]), [1, 2, 1, 0]).shape
        [1, 1, 3, 6]
    """
    return pad(x, padding, "constant", 0.0, data_format)


spelled(globals())
